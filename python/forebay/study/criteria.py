"""Vocabulary of a study's predicates: the sentences of a paper in numbers.

A predicate is a function of the measured quantities that answers with a `Truth`. It reads as the
sentence does:

    def delay_is_short(run: Quantities) -> Truth:
        \"\"\"At every load and in every phase the mean queuing delay is at most 15 ms.\"\"\"
        delays = values(run, POINT, "{phase}_load{load}_delay_s", phase="ab", load=LOADS)
        return every(delays) <= 0.015

A single quantity is a `Bounds` (see `forebay.study.grades`), compared by `>`, `<`, `>=`, `<=`,
`within`, `around` and `similar`. Several are `Values`; `every`, `some` and `most` of them are
compared the same way, with one number or with as many others. What an interval leaves open stays
unknown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Generic, TypeVar

from forebay.study.grades import (
    CLOSE,
    Bounds,
    Point,
    Predicate,
    Quantities,
    Truth,
    all_of,
    any_of,
    most_of,
    total,
)

__all__ = ["Each", "ForEach", "Values", "at", "every", "for_each", "most", "some", "values"]


Argument = TypeVar("Argument")


class Values(tuple[Bounds, ...]):
    """Several quantities in their order: those of a curve, of a row, of all flows."""

    __slots__ = ()

    def mean(self) -> Bounds:
        """The bounds of their mean."""
        return total(self) * (1.0 / len(self))

    def highest(self) -> Bounds:
        """The bounds of the greatest of them."""
        return Bounds(max(value.low for value in self), max(value.high for value in self))

    def lowest(self) -> Bounds:
        """The bounds of the least of them."""
        return Bounds(min(value.low for value in self), min(value.high for value in self))

    def thirds(self) -> tuple[Bounds, Bounds, Bounds]:
        """The means of the first, middle and last third; the middle one gets what is left over.

        Raises `ValueError` for fewer than three.
        """
        size = len(self) // 3
        if size == 0:
            raise ValueError(f"there are {len(self)} values; thirds need at least 3")
        parts = self[:size], self[size:-size], self[-size:]
        first, middle, last = (Values(part).mean() for part in parts)
        return first, middle, last

    def grow(self) -> Truth:
        """Each third is higher than the one before: what "increases" means of a curve."""
        first, middle, last = self.thirds()
        return (first < middle) & (middle < last)

    def alike(self, share: float = CLOSE) -> Truth:
        """No two of them differ by more than the given share of the smaller, by default 10 %."""
        pairs = [(a, b) for n, a in enumerate(self) for b in self[n + 1 :]]
        return all_of(a.similar(b, share) for a, b in pairs)


class Each:
    """Several quantities of which each is compared, and their truths combined."""

    __slots__ = ("_combine", "_values")

    def __init__(
        self, several: Iterable[Bounds], combine: Callable[[Iterable[Truth]], Truth]
    ) -> None:
        self._values = tuple(several)
        self._combine = combine

    def __gt__(self, other: Against) -> Truth:
        return self._compared(operator.gt, other)

    def __lt__(self, other: Against) -> Truth:
        return self._compared(operator.lt, other)

    def __ge__(self, other: Against) -> Truth:
        return self._compared(operator.ge, other)

    def __le__(self, other: Against) -> Truth:
        return self._compared(operator.le, other)

    def within(self, low: Against, high: Against) -> Truth:
        """`low <= value <= high` of each."""
        limits = zip(self._others(low), self._others(high), strict=True)
        pairs = zip(self._values, limits, strict=True)
        return self._combine(value.within(*between) for value, between in pairs)

    def around(self, number: float, share: float = CLOSE) -> Truth:
        """Each within the given share of a number."""
        return self._combine(value.around(number, share) for value in self._values)

    def similar(self, other: Against, share: float = CLOSE) -> Truth:
        """Each differs from the other by at most the given share of the smaller."""
        pairs = zip(self._values, self._others(other), strict=True)
        return self._combine(value.similar(theirs, share) for value, theirs in pairs)

    def _compared(
        self, compare: Callable[[Bounds, Bounds | float], Truth], other: Against
    ) -> Truth:
        pairs = zip(self._values, self._others(other), strict=True)
        return self._combine(compare(value, theirs) for value, theirs in pairs)

    def _others(self, other: Against) -> Sequence[Bounds | float]:
        if isinstance(other, Bounds | int | float):
            return [other] * len(self._values)
        return list(other)


Against = Bounds | float | Iterable[Bounds | float]
"""Values that several quantities are compared with: the same for all, or one for each in their
order."""


def every(several: Iterable[Bounds]) -> Each:
    """All of some quantities: `every(losses) <= 0.01`."""
    return Each(several, all_of)


def some(several: Iterable[Bounds]) -> Each:
    """At least one of some quantities: `some(losses) > 0.01`."""
    return Each(several, any_of)


def most(several: Iterable[Bounds]) -> Each:
    """More than half of some quantities: `most(losses) > 0.01`."""
    return Each(several, most_of)


def at(run: Quantities, point: Point, quantity: str) -> Bounds:
    """A quantity at one grid point, in its SI unit."""
    return run.value(quantity, **point)


def values(run: Quantities, point: Point, pattern: str, **names: Iterable[object]) -> Values:
    """Several quantities of one grid point, by the parts that their names are made of.

    `pattern` is a quantity's name with `{part}` for what differs; each of `names` lists what it
    stands for. All combinations are taken, the last name changing fastest; names that the pattern
    does not have are passed over. Raises `KeyError` for a part that is not listed.
    """
    used = {name: found for name, found in names.items() if f"{{{name}}}" in pattern}
    parts = [dict(zip(used, found, strict=True)) for found in product(*used.values())]
    return Values(at(run, point, pattern.format(**part)) for part in parts)


class ForEach(Generic[Argument]):
    """A function of a run and an argument, and the predicates that it gives of several arguments.

    Made by `for_each`. It can be called as before.
    """

    def __init__(
        self, judge: Callable[[Quantities, Argument], Truth], named: Mapping[str, Argument]
    ) -> None:
        self._judge = judge
        self.__doc__ = judge.__doc__
        self.predicates: dict[str, Predicate] = {
            f"{name}_{judge.__name__}": partial(_judged, judge, argument)
            for name, argument in named.items()
        }

    def __call__(self, run: Quantities, argument: Argument) -> Truth:
        """Returns the answer of the function itself."""
        return self._judge(run, argument)


def for_each(
    named: Mapping[str, Argument],
) -> Callable[[Callable[[Quantities, Argument], Truth]], ForEach[Argument]]:
    """Make a predicate `NAME_FUNCTION` of a function of a run and one argument, for each of the
    named arguments: what a paper says in the same words of several of its runs.

        @for_each({"red": RED, "codel": CODEL})
        def delay_is_short(run: Quantities, point: Point) -> Truth: ...

    gives `red_delay_is_short` and `codel_delay_is_short`; paper.toml's statements name them.
    """
    return lambda judge: ForEach(judge, named)


def _judged(
    judge: Callable[[Quantities, Argument], Truth], argument: Argument, run: Quantities
) -> Truth:
    return judge(run, argument)
