"""Grades: how a measured value is compared with a published one, the same for every study.

This is the only place that knows the rule. A numeric claim is

- `exact`: within the printed rounding or 2 %,
- `close`: within 10 %,
- `consistent`: published from a stated number of runs, and neither of these, but inside the 95 %
  prediction interval for a mean (or the highest, lowest or median) of that many runs,
- `trend`: outside all of these, but the paper's ordering across the claim's row or column holds,
- `deviates`: none of these,
- `imprecise`: more replications would have to decide.

A qualitative claim `holds` if its predicate is true also at the unfavourable ends of the
intervals, `fails` if it is false also at the favourable ones, and is `imprecise` otherwise.

A grade counts only when the interval's half-width is at most that grade's own tolerance: a cell
within 2 % that is known only to 6 % is `close`. A prediction interval counts when more
replications would not make it much narrower (see `forebay.study.prediction`). No tolerance depends
on the cell being graded, except the absolute ones that paper.toml states, with a reason, for values
at or near zero, where a percentage means nothing.

Predicates are written with `Bounds` and the comparisons below, which answer with a `Truth`:
true, false or unknown. Arithmetic on `Bounds` always covers every combination of values the
operands may take, so a predicate can only err towards `imprecise`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Protocol

from forebay.errors import nearest
from forebay.stats import Interval

if TYPE_CHECKING:
    from forebay.study.prediction import Prediction

__all__ = [
    "CLOSE",
    "EXACT",
    "Bounds",
    "Grade",
    "Grid",
    "Kind",
    "Measurements",
    "MissingMeasurementError",
    "Parameter",
    "Point",
    "Predicate",
    "Quantities",
    "Statistic",
    "Summary",
    "Tolerance",
    "Truth",
    "UnknownPointError",
    "all_of",
    "any_of",
    "at_least_count",
    "grade_number",
    "grade_statement",
    "most_of",
    "ordering_holds",
    "points_needed",
    "surely_at_least",
    "surely_at_most",
    "surely_greater",
    "surely_less",
    "surely_within",
    "total",
]

EXACT = 0.02
"""Relative tolerance of the grade `exact`."""

CLOSE = 0.10
"""Relative tolerance of the grade `close`."""


class Grade(StrEnum):
    """The verdict on one claim; the values are the words used in result.json."""

    EXACT = "exact"
    CLOSE = "close"
    CONSISTENT = "consistent"
    TREND = "trend"
    HOLDS = "holds"
    FAILS = "fails"
    DEVIATES = "deviates"
    IMPRECISE = "imprecise"


class Kind(StrEnum):
    """Basis of a claim; only results are counted, the others are checks."""

    RESULT = "result"
    """A value that the document prints, or states, as an outcome of its experiments."""
    INPUT = "input"
    """A parameter of the paper, echoed."""
    FORMULA = "formula"
    """A closed form, evaluated."""
    REPEAT = "repeat"
    """A result counted already: in another unit, or one sentence repeated at every point."""
    RECONSTRUCTION = "reconstruction"
    """A value of ours, which the document does not print."""


class Statistic(StrEnum):
    """Statistic of several runs that a published value is."""

    MEAN = "mean"
    HIGHEST = "highest"
    LOWEST = "lowest"
    MEDIAN = "median"


class Truth(Enum):
    """Kleene's three-valued logic: `unknown` is what intervals that overlap a threshold leave.

    `&`, `|` and `~` combine truths. A Truth has no boolean value: `if` would have to guess what
    to do with `UNKNOWN`, so it raises `TypeError`.
    """

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"

    def __and__(self, other: Truth) -> Truth:
        return all_of((self, other))

    def __or__(self, other: Truth) -> Truth:
        return any_of((self, other))

    def __invert__(self) -> Truth:
        if self is Truth.UNKNOWN:
            return self
        return Truth.FALSE if self is Truth.TRUE else Truth.TRUE

    def __bool__(self) -> bool:
        raise TypeError("a Truth may be unknown; combine truths with &, |, ~, all_of or any_of")


def grade_number(
    measured: Interval,
    tolerance: Tolerance,
    ordering: Truth,
    prediction: Prediction | None = None,
) -> Grade:
    """Grade one numeric claim; `measured` is in the unit of the published value.

    `ordering` says whether the paper's ordering holds along the claim's line (`ordering_holds`);
    it matters only where the value itself is off. For a line without an ordering pass `FALSE`.

    A mean outside `close` is known to be outside when its interval is no wider than the tolerance
    or lies outside altogether; a mean of 20 +- 1 against a published 2 needs no more replications
    to be told apart. With a `prediction`, of a value published from a stated number of runs, it is
    outside when it is not to be expected. `exact` and `close` always compare the mean, also of a
    published highest, lowest or median. Raises `ValueError` for a mean that is not a number.
    """
    if not math.isfinite(measured.mean):
        raise ValueError(f"the measured mean is {measured.mean}; it must be a finite number")
    error = abs(measured.mean - tolerance.published)
    if error <= tolerance.exact and measured.half_width <= tolerance.exact:
        return Grade.EXACT
    known = measured.half_width <= tolerance.close
    if error <= tolerance.close and known:
        return Grade.CLOSE
    if prediction is None:
        outside = known or error - measured.half_width > tolerance.close
    else:
        expected = prediction.expects(tolerance.published)
        if expected is Truth.TRUE:
            return Grade.CONSISTENT
        outside = expected is Truth.FALSE
    # A mean within `close` may yet turn out to be there.
    if error <= tolerance.close or not outside or ordering is Truth.UNKNOWN:
        return Grade.IMPRECISE
    return Grade.TREND if ordering is Truth.TRUE else Grade.DEVIATES


def grade_statement(truth: Truth) -> Grade:
    """Grade one qualitative claim from what its predicate answered."""
    return {Truth.TRUE: Grade.HOLDS, Truth.FALSE: Grade.FAILS, Truth.UNKNOWN: Grade.IMPRECISE}[
        truth
    ]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Distances from `published` at which a measured value is still `exact` or `close`.

    All in the published unit. Build it with `around`; the two distances follow from the published
    value and how precisely it is printed, never from the measurement.
    """

    published: float
    exact: float
    close: float

    @classmethod
    def around(
        cls,
        published: float,
        rounding: float,
        absolute_exact: float = 0.0,
        absolute_close: float = 0.0,
    ) -> Tolerance:
        """The larger of the relative tolerance, the rounding and any stated absolute tolerance.

        `rounding` is half a unit of the last printed digit, or how far off a value read from a
        graph may be. Raises `ValueError` for a negative or non-finite argument.
        """
        for name, value in (
            ("rounding", rounding),
            ("absolute_exact", absolute_exact),
            ("absolute_close", absolute_close),
        ):
            if not (math.isfinite(value) and value >= 0.0):
                raise ValueError(f"{name} is {value}; it must be a finite number, at least 0")
        if not math.isfinite(published):
            raise ValueError(f"published is {published}; it must be a finite number")
        exact = max(EXACT * abs(published), rounding, absolute_exact)
        return cls(published, exact, max(CLOSE * abs(published), exact, absolute_close))


def ordering_holds(published: Sequence[float], measured: Sequence[Interval | None]) -> Truth:
    """True if the values along one line (a row or a column) are ordered as in the paper.

    Every pair counts whose published values differ by more than 2 % of the larger: a single
    printed run says nothing about the order of values closer than what `exact` calls the same.
    A pair is ordered as published only if its intervals do not overlap. `None` stands for a cell
    not measured and leaves its pairs unknown. Without any pair to order there is no trend to
    reproduce, and the answer is `FALSE`.
    """
    if len(published) != len(measured):
        raise ValueError(f"{len(published)} published values against {len(measured)} measured")
    verdicts = []
    for i, first in enumerate(published):
        for j in range(i + 1, len(published)):
            second = published[j]
            if abs(first - second) <= EXACT * max(abs(first), abs(second)):
                continue
            high, low = (i, j) if first > second else (j, i)
            verdicts.append(_interval_above(measured[high], measured[low]))
    return all_of(verdicts) if verdicts else Truth.FALSE


def _interval_above(high: Interval | None, low: Interval | None) -> Truth:
    if high is None or low is None:
        return Truth.UNKNOWN
    return surely_greater(Bounds.of(high), Bounds.of(low))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and greatest value a measured quantity may have: the ends of its interval.

    `+`, `-` and multiplication by a number give the bounds of the result whatever combination of
    values the operands take. The operands of a sum are treated as unrelated, which is wider than
    need be when they rise and fall together, never narrower. `>`, `<`, `>=` and `<=` against
    another or a number answer with a `Truth`, as `surely_greater` and its relatives do.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"low is {self.low}, high is {self.high}; low must not exceed high")

    @classmethod
    def of(cls, interval: Interval) -> Bounds:
        """The ends of a confidence interval."""
        return cls(interval.low, interval.high)

    @classmethod
    def exactly(cls, value: float) -> Bounds:
        """A number known without error, such as a threshold or a configured rate."""
        return cls(value, value)

    def __add__(self, other: Bounds | float) -> Bounds:
        other = _bounds(other)
        return Bounds(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Bounds | float) -> Bounds:
        other = _bounds(other)
        return Bounds(self.low - other.high, self.high - other.low)

    def __mul__(self, factor: float) -> Bounds:
        if not math.isfinite(factor):
            raise ValueError(f"factor is {factor}; it must be a finite number")
        # Zero times an unbounded end is zero here, not NaN: nothing of it is taken.
        ends = [factor * end if factor else 0.0 for end in (self.low, self.high)]
        return Bounds(min(ends), max(ends))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: float) -> Bounds:
        return _bounds(other) - self

    def __gt__(self, other: Bounds | float) -> Truth:
        return surely_greater(self, other)

    def __lt__(self, other: Bounds | float) -> Truth:
        return surely_less(self, other)

    def __ge__(self, other: Bounds | float) -> Truth:
        return surely_at_least(self, other)

    def __le__(self, other: Bounds | float) -> Truth:
        return surely_at_most(self, other)

    def within(self, low: Bounds | float, high: Bounds | float) -> Truth:
        """`low <= self <= high`."""
        return surely_within(self, low, high)

    def around(self, number: float, share: float = CLOSE) -> Truth:
        """Within the given share of a number, by default the 10 % of the grade `close`."""
        return self.within((1.0 - share) * number, (1.0 + share) * number)

    def similar(self, other: Bounds | float, share: float = CLOSE) -> Truth:
        """The two differ by at most the given share of the smaller, by default 10 %."""
        other = _bounds(other)
        return (self <= (1.0 + share) * other) & (other <= (1.0 + share) * self)

    def clamped(self, low: float) -> Bounds:
        """max(value, low): for example the shortfall max(CIR - throughput, 0)."""
        return Bounds(max(self.low, low), max(self.high, low))


def total(parts: Iterable[Bounds]) -> Bounds:
    """The sum of several quantities."""
    terms = list(parts)
    return Bounds(math.fsum(part.low for part in terms), math.fsum(part.high for part in terms))


def surely_greater(first: Bounds | float, second: Bounds | float) -> Truth:
    """`first > second`: true or false for every combination of values, else unknown."""
    a, b = _bounds(first), _bounds(second)
    if a.low > b.high:
        return Truth.TRUE
    return Truth.FALSE if a.high <= b.low else Truth.UNKNOWN


def surely_less(first: Bounds | float, second: Bounds | float) -> Truth:
    """`first < second`, three-valued."""
    return surely_greater(second, first)


def surely_at_least(first: Bounds | float, second: Bounds | float) -> Truth:
    """`first >= second`, three-valued."""
    return ~surely_less(first, second)


def surely_at_most(first: Bounds | float, second: Bounds | float) -> Truth:
    """`first <= second`, three-valued."""
    return ~surely_greater(first, second)


def surely_within(value: Bounds | float, low: Bounds | float, high: Bounds | float) -> Truth:
    """`low <= value <= high`, three-valued."""
    return surely_at_least(value, low) & surely_at_most(value, high)


def all_of(truths: Iterable[Truth]) -> Truth:
    """True if all are, false if any is false, else unknown. Nothing to check is an error."""
    found = _some(truths)
    if Truth.FALSE in found:
        return Truth.FALSE
    return Truth.UNKNOWN if Truth.UNKNOWN in found else Truth.TRUE


def any_of(truths: Iterable[Truth]) -> Truth:
    """True if any is, false if all are false, else unknown. Nothing to check is an error."""
    return ~all_of(~truth for truth in truths)


def at_least_count(count: int, truths: Iterable[Truth]) -> Truth:
    """True if at least `count` of the truths are true. Raises `ValueError` for a `count` that is
    not between 1 and their number."""
    found = _some(truths)
    if not 1 <= count <= len(found):
        raise ValueError(f"count is {count}; it lies between 1 and {len(found)}")
    if found.count(Truth.TRUE) >= count:
        return Truth.TRUE
    possible = len(found) - found.count(Truth.FALSE)
    return Truth.UNKNOWN if possible >= count else Truth.FALSE


def most_of(truths: Iterable[Truth]) -> Truth:
    """True if more than half are true: what "in most cases" means, here as everywhere."""
    found = _some(truths)
    return at_least_count(len(found) // 2 + 1, found)


Parameter = bool | int | float | str
"""The value of one parameter of a grid point."""

Point = Mapping[str, Parameter]
"""A grid point of a study: the parameters of one run, by name. The order of names is immaterial."""


class Quantities(Protocol):
    """Measured quantities of a study as bounds: the argument of a predicate."""

    def value(self, quantity: str, /, **point: Parameter) -> Bounds:
        """The bounds of one run quantity, in its SI unit, at one grid point."""


Predicate = Callable[[Quantities], Truth]
"""A qualitative claim as a function. It asks for the same quantities whatever their values."""


Grid = Mapping[str, Sequence[Parameter]]
"""The values that each parameter of a study's grid points has, by its name."""


class UnknownPointError(LookupError):
    """A quantity was asked for at a point that is not on the study's grid."""

    def __init__(self, name: str, value: Parameter, grid: Grid) -> None:
        words = [str(known) for known in grid.get(name, grid)]
        near = nearest(str(value) if name in grid else name, words)
        there = ", ".join(words[:MAX_SHOWN]) or "none"
        if len(words) > MAX_SHOWN:
            there += f" and {len(words) - MAX_SHOWN} more"
        what = f"{name} is {value!r}, as at" if name in grid else f'"{name}" is a parameter of'
        super().__init__(
            f"{what} no grid point of paper.toml{near}; there are {there}; a value that statements "
            f"alone look at stands there below [grid]: {name} = [{json.dumps(value)}]"
        )


MAX_SHOWN = 12
"""Maximum number of values of a parameter that a message lists."""


class MissingMeasurementError(LookupError):
    """A run quantity was asked for at a grid point where it was not measured."""

    def __init__(self, quantity: str, point: Point) -> None:
        super().__init__(f"{quantity} was not measured at {dict(point)}")
        self.quantity = quantity
        self.point = dict(point)


class Measurements:
    """Intervals of run quantities by grid point, in SI units; what predicates are judged on."""

    def __init__(self) -> None:
        self._intervals: dict[tuple[str, tuple[tuple[str, object], ...]], Interval] = {}

    def record(self, point: Point, quantity: str, interval: Interval) -> None:
        """Store an interval; a later one for the same quantity and point replaces it."""
        self._intervals[_key(quantity, point)] = interval

    def interval(self, point: Point, quantity: str) -> Interval | None:
        """The interval stored, or `None` where nothing was measured."""
        return self._intervals.get(_key(quantity, point))

    def value(self, quantity: str, /, **point: Parameter) -> Bounds:
        """The ends of the interval stored; raises `MissingMeasurementError` where there is none."""
        interval = self.interval(point, quantity)
        if interval is None:
            raise MissingMeasurementError(quantity, point)
        return Bounds.of(interval)


def points_needed(
    predicate: Predicate, grid: Grid | None = None
) -> list[tuple[dict[str, Parameter], str]]:
    """The (point, quantity) pairs a predicate looks at, each once, in the order it asks.

    Found by running it on quantities of which nothing is known, so that a study can plan its
    runs from the claims alone. Raises `UnknownPointError` for a point that is not on the `grid`.
    """
    recorder = _Recorder(grid)
    predicate(recorder)
    return list(recorder.asked.values())


class _Recorder:
    def __init__(self, grid: Grid | None) -> None:
        self.asked: dict[object, tuple[dict[str, Parameter], str]] = {}
        self._grid = grid

    def value(self, quantity: str, /, **point: Parameter) -> Bounds:
        grid = self._grid
        if grid is not None:
            for name, known in point.items():
                if known not in grid.get(name, ()):
                    raise UnknownPointError(name, known, grid)
        self.asked.setdefault(_key(quantity, point), (point, quantity))
        return Bounds(-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Summary:
    """Number of claims by grade, and of all."""

    exact: int = 0
    close: int = 0
    consistent: int = 0
    trend: int = 0
    holds: int = 0
    fails: int = 0
    deviates: int = 0
    imprecise: int = 0
    total: int = 0

    @classmethod
    def of(cls, grades: Iterable[Grade]) -> Summary:
        """Count the grades."""
        counts = {field.name: 0 for field in fields(cls)}
        for grade in grades:
            counts[grade.value] += 1
            counts["total"] += 1
        return cls(**counts)

    def as_dict(self) -> dict[str, int]:
        """The counts under the keys of result.json's "summary"."""
        return asdict(self)


def _key(quantity: str, point: Point) -> tuple[str, tuple[tuple[str, object], ...]]:
    return quantity, tuple(sorted(point.items(), key=lambda item: item[0]))


def _bounds(value: Bounds | float) -> Bounds:
    return value if isinstance(value, Bounds) else Bounds.exactly(value)


def _some(truths: Iterable[Truth]) -> list[Truth]:
    # A vacuous truth is how a predicate over a mistyped grid would quietly hold.
    found = list(truths)
    if not found:
        raise ValueError("no truths to combine; a predicate must look at something")
    return found
