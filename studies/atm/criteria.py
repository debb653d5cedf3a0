"""The thesis's sentences in numbers: its runs, limits, and the words of the predicates.

The readings are fixed from the thesis's own words and graphs:

- *Overloaded* numbers of sources are those whose unconstrained traffic exceeds the capacity: from
  96, 25 and 57 on (chapter 8). They are also the *higher loads*. A sentence that compares two
  curves is judged at each of them, because below there is nothing to control; one that compares
  file times, where the text does: with 29 and with 113 sources.
- The thesis finds a cell loss ratio of 10^-4 not acceptable and calls 1.5 % of late cells a
  violation. *Near zero* is a tenth of these, *zero* a fiftieth: what grades call close and exact,
  of these full scales. The requirement is satisfied with near zero of both. The thesis saw three
  runs of each number of sources (section 7.4). That Case 2 loses near nothing is judged as what
  three runs may show: true of a share of runs of which three all lose near nothing with a
  probability of 2.5 % or more. (The mean loss of data in the mixture is that of few runs.) That
  another case does lose is judged by the mean.
- *On the order of 10^-4* is from 10^-4.5 up to, not including, 10^-3: the axis of Figure 29, of
  which it is said, ends at 0.08 %.
- Loads and throughput are percentages of the link capacity, and "10 % higher" is 10 points of it,
  in the mean over the overloaded numbers. *Approximately* is within half; *around* a load or a
  throughput within 10 %.
- *Clearly* superior is by a factor of two in losses and late cells, by 10 % in throughput;
  *considerably* more slowed is at most half the rate; *significantly lower* is by 10 %.
- A curve *increases* if each third of it is higher than the one before. *Fairly constant* is within
  10 points: what section 8.1 says of 70 to 80 %.
- How much a kind of traffic is *slowed* shows in its rate over its nominal rate, averaged over its
  sessions (slow start is part of them, in all cases).

Rates are in bit/s, times in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from forebay.study import (
    CLOSE,
    EXACT,
    Bounds,
    Point,
    Quantities,
    Truth,
    Values,
    all_of,
    at,
    every,
)

REALTIME, DATA, MIX = 1, 2, 3
"""Traffic scenarios of chapter 7."""
UNCONTROLLED, RATE_BASED, DISCARD_BASED = 1, 2, 3
"""Simulation cases of Table 1."""

COUNTS = {REALTIME: range(72, 121, 6), DATA: range(15, 30, 2), MIX: range(29, 114, 7)}
"""Numbers of traffic sources: five voice for each video (and each data) source added."""
OVERLOADED = {
    scenario: [count for count in COUNTS[scenario] if count >= first]
    for scenario, first in ((REALTIME, 96), (DATA, 25), (MIX, 57))
}
"""Numbers of sources whose unconstrained traffic exceeds the link capacity, as chapter 8 says."""
LIGHT = {
    scenario: [count for count in counts if count not in OVERLOADED[scenario]]
    for scenario, counts in COUNTS.items()
}
MAX_SOURCES = {scenario: counts[-1] for scenario, counts in COUNTS.items()}

UNACCEPTABLE_LOSS = 1e-4
"""The cell loss ratio of Case 3, which the thesis finds not acceptable."""
UNACCEPTABLE_LATE = 0.015
"""The share of late cells that "violates the users' jitter requirement" (section 8.3)."""
ZERO_LOSS, NEAR_ZERO_LOSS = EXACT * UNACCEPTABLE_LOSS, CLOSE * UNACCEPTABLE_LOSS
ZERO_LATE, NEAR_ZERO_LATE = EXACT * UNACCEPTABLE_LATE, CLOSE * UNACCEPTABLE_LATE
ALL_THREE = 0.025 ** (1 / 3)
"""The least share of runs with near zero loss of which three ("completed for three different random
seeds", section 7.4) all have it with a probability of 2.5 %, the end of a 95 % interval."""

CELL_S = 424 / 6e6
"""Transmission time of a cell on the satellite link."""
ROUND_TRIP_S = 0.56
INTERVAL_S = 0.05
PRINTED_LOSS = 0.13
"""The highest of three cell loss ratios of 120 sources in Case 1 (section 8.1)."""
CLOSE_SEEDS = CLOSE / 2
"""Maximum distance from a value of two runs that follow each other closely: within 10 %."""
POINT = 0.01
HALF_POINT = 0.005


CASES = (UNCONTROLLED, RATE_BASED, DISCARD_BASED)

AXIS_ENDS: dict[tuple[int, int], dict[str, float]] = {
    (DATA, UNCONTROLLED): {"data_loss_ratio": 0.20},
    (DATA, RATE_BASED): {"data_loss_ratio": 1e-5},
    (DATA, DISCARD_BASED): {"data_loss_ratio": 8e-4, "file_time_s": 30.0},
    (MIX, DISCARD_BASED): {"realtime_loss_ratio": 3e-4},
}
"""The highest printed ticks of Figures 23, 26, 29, 30 and 45, by scenario and case: no value that
a figure shows is above that of its axis. Axes end with the first tick above the largest value."""


def axis(point: Point) -> tuple[int, int]:
    """Scenario and case of a grid point, which a figure shows."""
    return int(point["scenario"]), int(point["case"])


def setting(scenario: int, case: int, sources: int, change: str = "") -> Point:
    """One run of the thesis, a grid point of paper.toml; `change` names what it does not show."""
    point: Point = {"scenario": scenario, "case": case, "sources": sources}
    return {**point, "change": change} if change else point


def curve(
    run: Quantities, scenario: int, case: int, quantity: str, counts: Sequence[int] = ()
) -> Values:
    """A quantity by number of sources: all of them, or the given ones."""
    counts = counts or COUNTS[scenario]
    return Values(at(run, setting(scenario, case, count), quantity) for count in counts)


def overloaded(run: Quantities, scenario: int, case: int, quantity: str) -> Values:
    """A quantity at the overloaded numbers of sources."""
    return curve(run, scenario, case, quantity, OVERLOADED[scenario])


def last_third(scenario: int) -> list[int]:
    """The numbers of sources of the last third of a curve."""
    counts = list(COUNTS[scenario])
    return counts[-(len(counts) // 3) :]


def losses(scenario: int) -> tuple[str, ...]:
    """The cell loss ratios that exist in a scenario."""
    named = {REALTIME: ("realtime",), DATA: ("data",), MIX: ("realtime", "data")}
    return tuple(f"{name}_loss_ratio" for name in named[scenario])


def satisfies(run: Quantities, point: Point) -> Truth:
    """Near zero cell loss for all traffic, and near no late cells of voice and video."""
    met = [satisfies_loss(run, point, quantity) for quantity in losses(int(point["scenario"]))]
    if point["scenario"] != DATA:
        met.append(at(run, point, "realtime_late_ratio") <= NEAR_ZERO_LATE)
    return all_of(met)


def satisfies_loss(run: Quantities, point: Point, quantity: str) -> Truth:
    """Near zero cell loss of one kind of traffic: in Case 2 in so many runs that three of them may
    all have it; in the others, of which it is denied, in the mean of all runs."""
    if point["case"] == RATE_BASED:
        return at(run, point, quantity.replace("_loss_", "_near_zero_")) >= ALL_THREE
    return at(run, point, quantity) <= NEAR_ZERO_LOSS


def near_zero_everywhere(run: Quantities, scenario: int, quantity: str) -> Truth:
    """Near zero cell loss of one kind of traffic in Case 2, at every number of sources."""
    points = [setting(scenario, RATE_BASED, count) for count in COUNTS[scenario]]
    return all_of(satisfies_loss(run, point, quantity) for point in points)


def fails_overloaded(run: Quantities, scenario: int, case: int) -> Truth:
    """A case does not satisfy the requirement at any overloaded number of sources."""
    points = [setting(scenario, case, count) for count in OVERLOADED[scenario]]
    return all_of(~satisfies(run, point) for point in points)


def higher(
    run: Quantities, scenario: int, quantity: str, cases: tuple[int, int], margin: float = 0.0
) -> Truth:
    """At every overloaded number of sources a quantity is higher, by more than a share `margin`,
    in the first case than in the second."""
    above, below = (overloaded(run, scenario, case, quantity) for case in cases)
    return every(above) > [(1.0 + margin) * value for value in below]


def exceeds_by(run: Quantities, scenario: int, quantity: str) -> Bounds:
    """Excess of a quantity in Case 3 over Case 2: mean over the overloaded numbers."""
    ours, theirs = (overloaded(run, scenario, c, quantity) for c in (RATE_BASED, DISCARD_BASED))
    return theirs.mean() - ours.mean()


def case3_above_case2(run: Quantities, scenario: int, *quantities: str) -> Truth:
    """At every overloaded number of sources some quantities are higher in Case 3 than in Case 2."""
    cases = (DISCARD_BASED, RATE_BASED)
    return all_of(higher(run, scenario, quantity, cases) for quantity in quantities)
