"""Grades of a cell's quantities, each with an interval of its difference."""

from __future__ import annotations

import fnmatch
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, variance
from typing import Any

from forebay.errors import UserError
from forebay.stats import Interval, t_quantile

DIFFERENCES = Path(__file__).with_name("differences.toml")


@dataclass(frozen=True)
class Quantity:
    """A quantity as it is shown, and how near is near: the larger of a share and an amount.

    `unit` is what a value is divided by to be shown, with so many `places`. `share` is one of the
    value on Linux, and `amount` is in the shown unit.
    """

    title: str
    unit: float
    places: int
    share: float
    amount: float

    def tolerance(self, linux: float) -> float:
        """Returns the distance from `linux`, a mean in the shown unit, within which a value is near
        it."""
        return max(self.share * abs(linux), self.amount)


QUANTITIES: dict[str, Quantity] = {
    "throughput_bps": Quantity("throughput, Mbit/s", 1e6, 2, 0.02, 0.0),
    "jain_index": Quantity("Jain's index", 1.0, 3, 0.0, 0.05),
    # One transmission takes 1.2 ms.
    "mean_delay_s": Quantity("mean delay, ms", 1e-3, 1, 0.1, 1.2),
    "p95_delay_s": Quantity("p95 delay, ms", 1e-3, 1, 0.1, 1.2),
    "drops": Quantity("drops", 1.0, 0, 0.15, 10.0),
    "marks": Quantity("marks", 1.0, 0, 0.15, 10.0),
    "retransmissions": Quantity("retransmissions", 1.0, 0, 0.15, 10.0),
}
"""Quantities by their name in the record. Throughput within 2 %, delays and counts as in the
table."""

GRADES = {
    "agrees": "the interval of the difference contains 0, and is no wider than the tolerance",
    "close": "the difference is within the tolerance, though the interval does not contain 0",
    "imprecise": "the interval contains 0, but is wider than the tolerance",
    "explained": "the difference is larger, and differences.toml says why",
    "unexplained": "the difference is larger, and no reason is known",
}
"""Meanings of the grades."""


DIFFERING = ("explained", "unexplained")
"""The grades of what differs by more than its tolerance."""


@dataclass(frozen=True)
class Graded:
    """One quantity of one cell: both means, their difference (Linux less simulated), its grade."""

    cell: str
    key: str
    simulated: Interval
    linux: Interval
    difference: Interval
    grade: str
    reason: str = ""


def difference(linux: Sequence[float], simulated: Sequence[float]) -> Interval:
    """The 95 % interval of the difference of two means of independent runs.

    Welch, "The generalization of Student's problem when several different population variances are
    involved", Biometrika 34 (1947) 28-35. The degrees of freedom are rounded down.
    """
    mean = fmean(linux) - fmean(simulated)
    if min(len(linux), len(simulated)) < 2:
        return Interval(mean, -math.inf, math.inf, math.inf, 1)
    parts = [variance(side) / len(side) for side in (linux, simulated)]
    total = sum(parts)
    half = 0.0
    if total > 0.0:
        below = sum(
            part**2 / (len(side) - 1) for part, side in zip(parts, (linux, simulated), strict=True)
        )
        half = t_quantile(max(1, int(total**2 / below))) * math.sqrt(total)
    return Interval(mean, mean - half, mean + half, half, len(linux))


def read_reasons(file: Path = DIFFERENCES) -> list[dict[str, Any]]:
    """The known reasons: cells by patterns, quantities, and why."""
    reasons: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))["difference"]
    for entry in reasons:
        if unknown := [key for key in entry["quantities"] if key not in QUANTITIES]:
            raise UserError(f"{file.name}: no quantity {unknown[0]}; there are {[*QUANTITIES]}")
    return reasons


def read_before(file: Path = DIFFERENCES) -> list[tuple[str, str]]:
    """The quantities that differed in an earlier record: cell and quantity."""
    before: dict[str, list[str]] = tomllib.loads(file.read_text(encoding="utf-8"))["before"]
    pairs = [(cell, key) for cell, keys in before.items() for key in keys]
    if unknown := [key for _, key in pairs if key not in QUANTITIES]:
        raise UserError(f"{file.name}: no quantity {unknown[0]}; there are {[*QUANTITIES]}")
    return pairs


def grade(cells: Iterable[Mapping[str, Any]], reasons: Sequence[Mapping[str, Any]]) -> list[Graded]:
    """All quantities of all cells; those that are 0 everywhere on both sides are left out."""
    found = []
    for cell in cells:
        for key, quantity in QUANTITIES.items():
            sides = {
                side: [value / quantity.unit for value in cell[key][side]]
                for side in ("simulated", "linux")
            }
            if any(sides["simulated"]) or any(sides["linux"]):
                found.append(_graded(cell["name"], key, sides, reasons))
    return found


def _graded(
    cell: str,
    key: str,
    sides: Mapping[str, Sequence[float]],
    reasons: Sequence[Mapping[str, Any]],
) -> Graded:
    gap = difference(sides["linux"], sides["simulated"])
    means = {side: difference(values, [0.0, 0.0]) for side, values in sides.items()}
    tolerance = QUANTITIES[key].tolerance(means["linux"].mean)
    name, reason = "unexplained", ""
    if gap.low <= 0.0 <= gap.high:
        name = "agrees" if gap.half_width <= tolerance else "imprecise"
    elif abs(gap.mean) <= tolerance:
        name = "close"
    else:
        for entry in reasons:
            if key in entry["quantities"] and _named(cell, entry["cells"]):
                name, reason = "explained", entry["name"]
                break
    return Graded(cell, key, means["simulated"], means["linux"], gap, name, reason)


def _named(cell: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(cell, pattern) for pattern in patterns)


def counts(rows: Iterable[Graded]) -> dict[str, int]:
    """Counts the quantities of each grade."""
    found = Counter(row.grade for row in rows)
    return {name: found[name] for name in GRADES}
