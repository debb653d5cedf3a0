"""Number of replications that the grade of each claim takes, by which `--quick` is planned.

A full run knows the mean and the spread of every quantity. Samples that have both are made up for
each number of replications, and graded by the rule itself; so it needs no second rule, whatever a
grade looks at: intervals of means, of prediction, orderings, sentences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from forebay.study.grades import Grade, Point
from forebay.study.plan import shares_of_time
from forebay.study.results import Cell, Outcome, Samples

if TYPE_CHECKING:
    from forebay.study.definition import Study

__all__ = ["replications_needed"]

CONFIDENCE = 0.9
"""In how many of all quick runs the planned number gives an interval narrow enough."""

EVEN = 0.5
"""The same for claims of which that is asked too much."""


def replications_needed(outcome: Outcome) -> dict[str, int]:
    """Number of replications that each claim wants of `--quick`, by claim id.

    The least number from which on its grade is the same up to the most that `--quick` makes, if
    means and standard deviations stay as measured; the latter with allowance for how far one may be
    off that is estimated from so few runs (its upper 90 % limit), and for a shorter duration of
    quick runs. A claim that would be `imprecise` then gets the number at which it has an even
    chance not to be, or 2 if there is none.
    """
    study = outcome.study
    spreads = [_Spread(outcome, cell, names) for cell, names in _judged(outcome).items()]
    caps = [study.replications.most(dict(spread.cell.point), quick=True) for spread in spreads]
    counts = range(2, max([2, *caps]) + 1)
    found: dict[str, int] = {}
    for confidence in (CONFIDENCE, EVEN):
        grades = []
        for count in counts:
            samples = Samples()
            for spread in spreads:
                spread.imagine(samples, count, confidence)
            grades.append(Outcome(study, samples).grades())
        for name, last in grades[-1].items():
            if name not in found and last is not Grade.IMPRECISE:
                other = [n for n, each in zip(counts, grades, strict=True) if each[name] != last]
                found[name] = max(other, default=counts[0] - 1) + 1
        if found.keys() >= grades[-1].keys():
            break
    return dict.fromkeys(outcome.grades(), 2) | found


def _judged(outcome: Outcome) -> dict[Cell, set[str]]:
    """The quantities that claims look at, by grid point; of those measured."""
    paper = outcome.study.paper
    pairs: list[tuple[Point, str]] = [(claim.point, claim.quantity) for claim in paper.claims]
    for statement in paper.statements:
        pairs += outcome.statement_points(statement)
    found: dict[Cell, set[str]] = {}
    for point, quantity in pairs:
        cell = Cell.of(point)
        if outcome.samples.values(cell, quantity):
            found.setdefault(cell, set()).add(quantity)
    return found


class _Spread:
    """The means of a grid point, and how runs of `--quick` scatter about them."""

    def __init__(self, outcome: Outcome, cell: Cell, names: Iterable[str]) -> None:
        self.cell = cell
        self._width = _widening(outcome.study, dict(cell.point))
        self._values = {
            name: sorted(outcome.samples.values(cell, name).values()) for name in sorted(names)
        }
        self._means = {name: math.fsum(v) / len(v) for name, v in self._values.items()}

    def imagine(self, samples: Samples, count: int, confidence: float) -> None:
        """Add as many replications as would give the same means, and the same shape of their
        distribution, with the spread that is not exceeded with this confidence."""
        from scipy.special import chdtri

        width = self._width * math.sqrt(chdtri(count - 1, 1.0 - confidence) / (count - 1))
        columns = {
            name: self._resized(values, self._means[name], count, width)
            for name, values in self._values.items()
        }
        for replication in range(count):
            facts = {name: c[replication] for name, c in columns.items() if replication < len(c)}
            if facts:
                samples.add(self.cell, replication, facts)

    @staticmethod
    def _resized(values: Sequence[float], mean: float, count: int, width: float) -> Sequence[float]:
        if len(values) < 2 or not math.isfinite(mean):
            # No spread to go by.
            return values
        import numpy as np

        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
        evenly = _middles(count)
        for shape in (np.interp(evenly, _middles(len(values)), values), evenly):
            scale = float(shape.std(ddof=1))
            if scale > 0.0:
                found: list[float] = (
                    mean + width * deviation / scale * (shape - shape.mean())
                ).tolist()
                return found
        raise RuntimeError("evenly spaced numbers have a spread")


@lru_cache
def _middles(count: int) -> Any:
    """The middles of so many equal parts of the unit interval."""
    import numpy as np

    return (np.arange(count) + 0.5) / count


def _widening(study: Study, point: Point) -> float:
    """Factor by which a quick run's standard deviation is larger: it goes with 1/sqrt(time)."""
    return math.sqrt(
        1.0 / shares_of_time(study.job(point, 0), study.replications.quick_overrides)[1]
    )
