"""Texts with expressions in braces: how cells of a suite depend on its parameters.

    rate = "{10 * rate}"                    a rate, a time, a size: exact, with its unit
    count = "{0.036 * packets:whole}"       a number, rounded to a whole one

Parameters are expressions of `forebay.run.expressions`, each of which may name those above it. A
text that is one pair of braces becomes the value, a number if it has no unit; in a longer one the
value is written in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from forebay.errors import UserError
from forebay.run.expressions import Expression, derived, read

__all__ = ["filled", "parameters"]

_BRACES = re.compile(r"\{([^{}]*?)(:whole)?\}")
_FINEST = {
    "s": (1e12, (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1))),
    "bit/s": (1.0, (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3), ("bit/s", 1))),
    "B": (1.0, (("MB", 10**6), ("kB", 10**3), ("B", 1))),
    "packets": (1.0, (("packets", 1),)),
}
"""Of each unit, how many of the smallest steps that scenarios have are in one, and the multiples in
which a whole number of these is written, the largest first."""


def parameters(table: Mapping[str, str], place: str) -> dict[str, Expression]:
    """The parameters of a cell, each of which may name those above it. Raises `UserError`."""
    return derived(table, place)


def filled(value: Any, known: Mapping[str, Expression], place: str) -> Any:
    """A value of TOML in which braces are replaced, at any depth. Raises `UserError` for an
    expression that is wrong or has no value."""
    if isinstance(value, dict):
        return {key: filled(each, known, f"{place}.{key}") for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, known, f"{place}[{at}]") for at, each in enumerate(value)]
    if not isinstance(value, str):
        return value
    whole = _BRACES.fullmatch(value)
    if whole is not None:
        return _value(whole, known, place)
    return _BRACES.sub(lambda found: str(_value(found, known, place)), value)


def _value(found: re.Match[str], known: Mapping[str, Expression], place: str) -> Any:
    expression = read(found[1], place, known)
    answer = expression.of({})
    if answer.value is None:
        raise expression.error(f"has no value: {answer.reason}")
    symbol = expression.unit.symbol
    if symbol in ("share", "number"):
        return _whole(expression, answer.value) if found[2] else answer.value
    if symbol not in _FINEST:
        allowed = ", ".join(_FINEST)
        raise UserError(f'{place}: "{found[1]}" is in {symbol}; allowed are {allowed} and numbers')
    steps, multiples = _FINEST[symbol]
    amount = round(answer.value * steps)
    unit, size = next((unit, size) for unit, size in multiples if amount % size == 0)
    return f"{amount // size} {unit}"


def _whole(expression: Expression, value: float) -> int:
    """A number of things: a part of one is not none, or what a cell is about would be left out."""
    if 0.0 < value < 0.5:
        raise expression.error(f"is {value:.3g}, which is none when rounded; a cell needs some")
    return round(value)
