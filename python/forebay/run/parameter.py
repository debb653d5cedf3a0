"""The parameter that a search varies: the values between two ends, in steps."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from forebay.errors import UserError
from forebay.run.dimensions import LITERALS
from forebay.units import UNITS

__all__ = ["Parameter", "read_parameter"]

MOST_STEPS = 10**9

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S.*?)?\s*")

DECIMALS = {
    **{unit: round(math.log10(size)) for unit, size in UNITS["bps"].multiples.items()},
    **{unit: round(math.log10(size)) for unit, size in UNITS["bytes"].multiples.items()},
    **{unit: 12 + round(math.log10(size)) for unit, size in UNITS["s"].multiples.items()},
    **dict.fromkeys(("packets", "packet", "cells", "calls", "frames"), 0),
}
"""Decimals that a value may have in the units of which there is a smallest part: 1 B, 1 ps."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A key path and the values of it that are looked at: `steps` of the same size from `low` to
    `high`, in `unit`; whole numbers without a unit are so too."""

    path: str
    low: Fraction
    high: Fraction
    unit: str
    whole: bool
    steps: int
    decimals: int

    def value(self, place: int) -> int | float | str:
        """The value after so many steps, as a scenario has it."""
        if self.whole and not self.unit:
            return int(self._exact(place))
        number = self._exact(place)
        shown = f"{float(number):.{self.decimals}f}"
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
        return f"{shown} {self.unit}" if self.unit else float(shown)

    def number(self, place: int) -> float:
        """The value after so many steps, in its unit."""
        return float(self._exact(place))

    def _exact(self, place: int) -> Fraction:
        exact = self.low + (self.high - self.low) * place / self.steps
        return Fraction(round(exact * 10**self.decimals), 10**self.decimals)


def read_parameter(place: str, path: str, between: list[Any], precision: Any) -> Parameter:
    """The parameter of a search between two values, with a precision in its unit, or in percent of
    the interval; without one, 1 % or, of whole numbers, 1. Raises `UserError`."""
    if len(between) != 2:
        raise UserError(f"{place}.between: read {between!r}; allowed is a list of two values")
    (low, unit), (high, other) = (_read(f"{place}.between", value) for value in between)
    if unit != other:
        low, unit = _converted(f"{place}.between", low, unit, other), other
    if low >= high:
        raise UserError(f"{place}.between: read {between!r}; the first is the smaller one")
    finest = DECIMALS.get(unit)
    whole = all(isinstance(v, int) for v in between) and not isinstance(precision, float)
    whole = whole or (finest == 0 and low.denominator == high.denominator == 1)
    step = _step(f"{place}.precision", precision, high - low, unit, whole)
    if whole or finest is not None:
        step = max(step, Fraction(1) if whole else Fraction(1, 10 ** (finest or 0)))
    steps = math.ceil((high - low) / step)
    if steps > MOST_STEPS:
        raise UserError(f"{place}.precision: asks for {steps} steps; allowed are {MOST_STEPS}")
    decimals = 0 if whole else 3 - math.floor(math.log10((high - low) / steps))
    decimals = max(decimals, 0) if finest is None else min(max(decimals, 0), finest)
    return Parameter(path, low, high, unit, whole, steps, decimals)


def _step(place: str, precision: Any, width: Fraction, unit: str, whole: bool) -> Fraction:
    if precision is None:
        return Fraction(1) if whole else width / 100
    number, other = _read(place, precision)
    if other == "%":
        number = width * number / 100
    elif other != unit:
        number = _converted(place, number, other, unit)
    if not 0 < number <= width:
        raise UserError(f"{place}: read {precision!r}; allowed is more than 0, up to the interval")
    return number


def _read(place: str, value: Any) -> tuple[Fraction, str]:
    """Number and unit of a value."""
    found = _QUANTITY.fullmatch(str(value))
    if isinstance(value, bool) or found is None:
        raise UserError(
            f"{place}: read {value!r}; allowed is a number, or one with a unit such as "
            '"5 Mbit/s", as the parameter has it'
        )
    return Fraction(found[1]), found[2] or ""


def _converted(place: str, number: Fraction, unit: str, other: str) -> Fraction:
    """A number in another unit of the same kind."""
    one, two = LITERALS.get(unit), LITERALS.get(other)
    if one is None or two is None or one[0] != two[0]:
        told = [name or "no unit" for name in (unit, other)]
        raise UserError(f"{place}: {told[0]} and {told[1]} are not units of one kind")
    return number * Fraction(repr(one[1])) / Fraction(repr(two[1]))
