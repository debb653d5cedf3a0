"""Operators and functions of expressions, on numbers and on lists of them, one for each row.

A value that is not there (`Lack`) makes what is computed of it one that is not there either, with
the same reason; so do a division by zero and whatever else has no finite result.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from forebay.run.rows import Document, Lack, Number, Rows, Value
from forebay.samples import rank

__all__ = ["MAPPED", "OPERATORS", "REDUCERS", "applied", "by_zero_as", "percentile", "reduced"]


BY_ZERO = "a division by zero"
"""The reason why a quotient has no value."""


def applied(function: Callable[..., float], what: str, values: Sequence[Value]) -> Value:
    """A function of numbers; of lists, element by element. Raises `ValueError` for lists of
    different rows."""
    lists = [value for value in values if isinstance(value, Rows)]
    if not lists:
        return _number(function, what, [v for v in values if not isinstance(v, Rows)])
    names = lists[0].names
    other = next((each.names for each in lists if each.names != names), None)
    if other is not None:
        raise ValueError(f"lists of different rows: {_listed(names)} and {_listed(other)}")
    columns = [v.values if isinstance(v, Rows) else [v] * len(names) for v in values]
    return Rows(names, tuple(_number(function, what, each) for each in zip(*columns, strict=True)))


def by_zero_as(of: Callable[[Document], Value], reason: str) -> Callable[[Document], Value]:
    """The same with a reason in the place of a division by zero."""

    def put(value: Number) -> Number:
        return Lack(reason) if value == BY_ZERO else value

    def told(document: Document) -> Value:
        found = of(document)
        if isinstance(found, Rows):
            return Rows(found.names, tuple(map(put, found.values)))
        return put(found)

    return told


def reduced(function: Callable[[Sequence[float]], float], what: str, value: Value) -> Number:
    """A function of the values of a list, of which each must be there."""
    if not isinstance(value, Rows):
        return value
    lacking = next((each for each in value.values if isinstance(each, Lack)), None)
    if lacking is not None:
        return lacking
    numbers = [each for each in value.values if not isinstance(each, Lack)]
    if not numbers and function not in (len, math.fsum):
        return Lack(f"{what} of no rows")
    return _number(lambda: function(numbers), what, [])


def _listed(names: Iterable[str]) -> str:
    return f"({', '.join(names)})"


def _number(function: Callable[..., float], what: str, values: Sequence[Number]) -> Number:
    lacking = next((value for value in values if isinstance(value, Lack)), None)
    if lacking is not None:
        return Lack(lacking)
    try:
        found = function(*values)
    except ZeroDivisionError:
        return Lack(BY_ZERO)
    except (ValueError, OverflowError):
        found = math.nan
    if isinstance(found, complex) or not math.isfinite(found):
        told = ", ".join(f"{value:.4g}" for value in values if not isinstance(value, Lack))
        return Lack(f"{what} has no value for {told}" if told else f"{what} has no value")
    return float(found)


OPERATORS: Mapping[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}

MAPPED: Mapping[str, Callable[..., float]] = {
    "abs": abs,
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "min": min,
    "max": max,
}
"""Functions of one number; `min` and `max` of several."""


def _jain(values: Sequence[float]) -> float:
    """Jain's index (Jain, Chiu and Hawe 1984): 1 if all are equal, 1/n if one has everything."""
    return math.fsum(values) ** 2 / (len(values) * math.fsum(value**2 for value in values))


REDUCERS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "mean": statistics.fmean,
    "median": statistics.median,
    "jain": _jain,
    "min": min,
    "max": max,
}
"""Functions of a list that give one value."""


def percentile(share: float) -> Callable[[Sequence[float]], float]:
    """The function that gives the quantile of a share, by the rank of the engine."""
    return lambda values: sorted(values)[rank(share, len(values)) - 1]


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rows of a list, also of those without a value."""

    of: Callable[[Document], Value]

    def __call__(self, document: Document) -> Value:
        """The number."""
        found = self.of(document)
        return float(len(found.values)) if isinstance(found, Rows) else 1.0
