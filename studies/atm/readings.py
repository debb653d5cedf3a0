"""What the predicates of this study share: the runs, and how quantities are read at them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from forebay.study.grades import (
    CLOSE,
    EXACT,
    Bounds,
    Quantities,
    Truth,
    all_of,
    any_of,
    surely_at_least,
    surely_at_most,
    surely_greater,
    surely_less,
    surely_within,
    total,
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
MOST = {scenario: counts[-1] for scenario, counts in COUNTS.items()}

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
"""How far from a value two runs may be that follow each other closely: within 10 %."""
POINT = 0.01
HALF_POINT = 0.005


class Setting(NamedTuple):
    """One run of the thesis, a grid point of paper.toml; `change` names what it does not show."""

    scenario: int
    case: int
    sources: int
    change: str = ""


def at(run: Quantities, setting: Setting, quantity: str) -> Bounds:
    """A quantity of one run."""
    if setting.change:
        return run.value(
            quantity,
            scenario=setting.scenario,
            case=setting.case,
            sources=setting.sources,
            change=setting.change,
        )
    return run.value(
        quantity, scenario=setting.scenario, case=setting.case, sources=setting.sources
    )


def curve(
    run: Quantities, scenario: int, case: int, quantity: str, counts: Iterable[int] | None = None
) -> list[Bounds]:
    """A quantity by number of sources: all of them, or the given ones."""
    counts = COUNTS[scenario] if counts is None else counts
    return [at(run, Setting(scenario, case, count), quantity) for count in counts]


def mean(values: Sequence[Bounds]) -> Bounds:
    """The mean of several quantities."""
    return total(values) * (1.0 / len(values))


def highest(values: Sequence[Bounds]) -> Bounds:
    """The greatest of several quantities."""
    return Bounds(max(value.low for value in values), max(value.high for value in values))


def lowest(values: Sequence[Bounds]) -> Bounds:
    """The least of several quantities."""
    return Bounds(min(value.low for value in values), min(value.high for value in values))


def thirds(values: Sequence[Bounds]) -> tuple[Bounds, Bounds, Bounds]:
    """The means of the first, middle and last third of a curve; the middle one gets the rest."""
    size = len(values) // 3
    return mean(values[:size]), mean(values[size:-size]), mean(values[-size:])


def last_third(scenario: int) -> list[int]:
    """The numbers of sources of the last third of a curve."""
    counts = list(COUNTS[scenario])
    return counts[-(len(counts) // 3) :]


def grows(values: Sequence[Bounds]) -> Truth:
    """Each third of a curve is higher than the one before."""
    first, middle, last = thirds(values)
    return surely_less(first, middle) & surely_less(middle, last)


def around(value: Bounds, number: float, share: float = CLOSE) -> Truth:
    """A value is within the given share of a number."""
    return surely_within(value, (1.0 - share) * number, (1.0 + share) * number)


def losses(scenario: int) -> tuple[str, ...]:
    """The cell loss ratios that exist in a scenario."""
    named = {
        REALTIME: ("realtime_loss_ratio",),
        DATA: ("data_loss_ratio",),
        MIX: ("realtime_loss_ratio", "data_loss_ratio"),
    }
    return named[scenario]


def satisfies(run: Quantities, setting: Setting) -> Truth:
    """Near zero cell loss for all traffic, and near no late cells of voice and video."""
    met = [satisfies_loss(run, setting, quantity) for quantity in losses(setting.scenario)]
    if setting.scenario != DATA:
        met.append(surely_at_most(at(run, setting, "realtime_late_ratio"), NEAR_ZERO_LATE))
    return all_of(met)


def only_case2_satisfies(run: Quantities, scenario: int) -> Truth:
    """Case 2 satisfies the requirement at every number of sources, the others at none that is
    overloaded."""
    ours = all_of(satisfies(run, Setting(scenario, RATE_BASED, n)) for n in COUNTS[scenario])
    others = [
        ~satisfies(run, Setting(scenario, case, count))
        for case in (UNCONTROLLED, DISCARD_BASED)
        for count in OVERLOADED[scenario]
    ]
    return ours & all_of(others)


def satisfies_loss(run: Quantities, setting: Setting, quantity: str) -> Truth:
    """Near zero cell loss of one kind of traffic: in Case 2 in so many runs that three of them may
    all have it; in the others, of which it is denied, in the mean of all runs."""
    if setting.case == RATE_BASED:
        share = at(run, setting, quantity.replace("_loss_", "_near_zero_"))
        return surely_at_least(share, ALL_THREE)
    return surely_at_most(at(run, setting, quantity), NEAR_ZERO_LOSS)


def near_zero_everywhere(run: Quantities, scenario: int, quantity: str) -> Truth:
    """Near zero cell loss of one kind of traffic in Case 2, at every number of sources."""
    return all_of(
        satisfies_loss(run, Setting(scenario, RATE_BASED, count), quantity)
        for count in COUNTS[scenario]
    )


def higher_everywhere(
    run: Quantities, scenario: int, quantity: str, cases: tuple[int, int], margin: float = 0.0
) -> Truth:
    """At every overloaded number of sources a quantity is higher, by more than a share `margin`,
    in the first case than in the second."""
    high, low = cases
    counts = OVERLOADED[scenario]
    return all_of(
        surely_greater(above, (1.0 + margin) * below)
        for above, below in zip(
            curve(run, scenario, high, quantity, counts),
            curve(run, scenario, low, quantity, counts),
            strict=True,
        )
    )


def exceeds_by_points(run: Quantities, scenario: int, quantity: str) -> Bounds:
    """How much higher a quantity is in Case 3 than in Case 2: mean over the overloaded numbers."""
    counts = OVERLOADED[scenario]
    return mean(curve(run, scenario, DISCARD_BASED, quantity, counts)) - mean(
        curve(run, scenario, RATE_BASED, quantity, counts)
    )


def overloaded_from(run: Quantities, scenario: int) -> Truth:
    """The unconstrained load exceeds the capacity at the overloaded numbers and at no other."""
    over = curve(run, scenario, UNCONTROLLED, "load_ratio", OVERLOADED[scenario])
    under = curve(run, scenario, UNCONTROLLED, "load_ratio", LIGHT[scenario])
    return all_of(surely_greater(load, 1.0) for load in over) & all_of(
        surely_at_most(load, 1.0) for load in under
    )


def on_the_order_of_unacceptable(values: Sequence[Bounds]) -> Truth:
    """The highest of some cell loss ratios is nearest to 10^-4 among powers of ten, or printed as
    a number times 10^-4."""
    return surely_at_least(highest(values), UNACCEPTABLE_LOSS / 10**0.5) & surely_less(
        highest(values), 10 * UNACCEPTABLE_LOSS
    )


def slowed_before_discard(run: Quantities, scenario: int) -> Truth:
    """In Case 2 notifications of a high input rate go out at every overloaded number of sources,
    and no cell is discarded."""
    counts = OVERLOADED[scenario]
    sent = curve(run, scenario, RATE_BASED, "rate_notifications_count", counts)
    lost = [
        loss
        for quantity in losses(scenario)
        for loss in curve(run, scenario, RATE_BASED, quantity, counts)
    ]
    return all_of(surely_greater(number, 0.0) for number in sent) & all_of(
        surely_at_most(loss, ZERO_LOSS) for loss in lost
    )


def best_given_loss(run: Quantities, scenario: int) -> Truth:
    """At every number of sources Case 2 has near zero loss of data, and each other case either has
    not or has no more throughput (to 2 %)."""
    verdicts = []
    for count in COUNTS[scenario]:
        ours = Setting(scenario, RATE_BASED, count)
        verdicts.append(satisfies_loss(run, ours, "data_loss_ratio"))
        for case in (UNCONTROLLED, DISCARD_BASED):
            other = Setting(scenario, case, count)
            verdicts.append(
                ~satisfies_loss(run, other, "data_loss_ratio")
                | surely_at_most(
                    at(run, other, "throughput_ratio"),
                    (1.0 + EXACT) * at(run, ours, "throughput_ratio"),
                )
            )
    return all_of(verdicts)


def fails_somewhere(values: Sequence[Bounds], limit: float) -> Truth:
    """Some value of a curve is above the limit."""
    return any_of(surely_greater(value, limit) for value in values)
