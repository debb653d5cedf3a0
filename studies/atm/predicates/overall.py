"""Predicates of the abstract, of chapters 4 to 7 and of chapter 9, the scheme as a whole, and of
what section 8 says in the same words of several traffic scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from forebay.study import EXACT, Point, Quantities, Truth, all_of, at, every, for_each, some
from forebay_studies.atm.criteria import (
    CASES,
    COUNTS,
    DATA,
    DISCARD_BASED,
    HALF_POINT,
    LIGHT,
    MAX_SOURCES,
    MIX,
    NEAR_ZERO_LATE,
    NEAR_ZERO_LOSS,
    POINT,
    RATE_BASED,
    REALTIME,
    ROUND_TRIP_S,
    UNACCEPTABLE_LOSS,
    UNCONTROLLED,
    ZERO_LOSS,
    case3_above_case2,
    curve,
    exceeds_by,
    fails_overloaded,
    losses,
    near_zero_everywhere,
    overloaded,
    satisfies,
    satisfies_loss,
    setting,
)

NAMED = {"realtime": REALTIME, "data": DATA, "mix": MIX}
"""The traffic scenarios, by what predicates call them."""
SCENARIOS = (REALTIME, DATA, MIX)
WITH_DATA = (DATA, MIX)
WITH_REALTIME = (REALTIME, MIX)


# Said of several scenarios.


def overload_begins(run: Quantities, scenario: int) -> Truth:
    """The unconstrained load exceeds the capacity at the overloaded numbers and at no other."""
    over = overloaded(run, scenario, UNCONTROLLED, "load_ratio")
    under = curve(run, scenario, UNCONTROLLED, "load_ratio", LIGHT[scenario])
    return (every(over) > 1.0) & (every(under) <= 1.0)


realtime_overload_from_96 = partial(overload_begins, scenario=REALTIME)
data_overload_from_25 = partial(overload_begins, scenario=DATA)
mix_overload_from_57 = partial(overload_begins, scenario=MIX)


def satisfies_everywhere(run: Quantities, scenario: int) -> Truth:
    """Case 2 satisfies the requirement at every number of sources."""
    points = [setting(scenario, RATE_BASED, count) for count in COUNTS[scenario]]
    return all_of(satisfies(run, point) for point in points)


@for_each(NAMED)
def only_case2_satisfies(run: Quantities, scenario: int) -> Truth:
    """Case 2 satisfies the requirement at every number of sources, the others at none that is
    overloaded."""
    others = [fails_overloaded(run, scenario, case) for case in (UNCONTROLLED, DISCARD_BASED)]
    return satisfies_everywhere(run, scenario) & all_of(others)


@for_each({"realtime": REALTIME, "data": DATA})
def slowed_before_discard(run: Quantities, scenario: int) -> Truth:
    """In Case 2 notifications of a high input rate go out at every overloaded number of sources,
    and no cell is discarded."""
    sent = overloaded(run, scenario, RATE_BASED, "rate_notifications_count")
    lost = [overloaded(run, scenario, RATE_BASED, quantity) for quantity in losses(scenario)]
    return (every(sent) > 0.0) & all_of(every(loss) <= ZERO_LOSS for loss in lost)


@for_each(NAMED)
def case1_loss_grows(run: Quantities, scenario: int) -> Truth:
    """Each third of the loss curve of Case 1 is higher than the one before."""
    return curve(run, scenario, UNCONTROLLED, losses(scenario)[0]).grow()


@for_each(NAMED)
def case3_loss_order(run: Quantities, scenario: int) -> Truth:
    """The highest cell loss ratio of Case 3, that of voice and video in the mixture, is on the
    order of 10^-4: nearest to it among powers of ten, or printed as a number times 10^-4."""
    highest = curve(run, scenario, DISCARD_BASED, losses(scenario)[0]).highest()
    return (highest >= UNACCEPTABLE_LOSS / 10**0.5) & (highest < 10 * UNACCEPTABLE_LOSS)


@for_each({"data": DATA, "mix": MIX})
def case3_load_10_higher(run: Quantities, scenario: int) -> Truth:
    """The load of Case 3 is by more than 10 points of the capacity above that of Case 2, in the
    mean over the overloaded numbers."""
    return exceeds_by(run, scenario, "load_ratio") > 10 * POINT


@for_each({"realtime": REALTIME, "mix": MIX})
def case3_utilisation_higher(run: Quantities, scenario: int) -> Truth:
    """The link is utilised more in Case 3 than in Case 2, at every overloaded number."""
    return case3_above_case2(run, scenario, "utilization_ratio")


@for_each({"data": DATA, "mix": MIX})
def case2_file_time_grows(run: Quantities, scenario: int) -> Truth:
    """Each third of the curve of file times of Case 2 is higher than the one before, as data send
    at an ever lower share of their nominal rate."""
    return curve(run, scenario, RATE_BASED, "file_time_s").grow()


@for_each({"data": DATA, "mix": MIX})
def case2_best_given_loss(run: Quantities, scenario: int) -> Truth:
    """At every number of sources Case 2 has near zero loss of data, and each other case either has
    not or has no more throughput (to 2 %)."""

    def lossless(case: int, count: int) -> Truth:
        return satisfies_loss(run, setting(scenario, case, count), "data_loss_ratio")

    def throughput(case: int, count: int, share: float = 1.0) -> Truth:
        ours = at(run, setting(scenario, RATE_BASED, count), "throughput_ratio")
        return at(run, setting(scenario, case, count), "throughput_ratio") <= share * ours

    return all_of(
        lossless(case, count)
        if case == RATE_BASED
        else ~lossless(case, count) | throughput(case, count, 1.0 + EXACT)
        for count in COUNTS[scenario]
        for case in CASES
    )


# Said of the whole.


def case2_satisfies_everywhere(run: Quantities) -> Truth:
    """In Case 2 near zero loss and near no late cells, in every scenario and at every number."""
    return all_of(satisfies_everywhere(run, scenario) for scenario in SCENARIOS)


def case2_no_loss_everywhere(run: Quantities) -> Truth:
    """In Case 2 near zero loss of all traffic, in every scenario and at every number."""
    return all_of(
        near_zero_everywhere(run, scenario, quantity)
        for scenario in SCENARIOS
        for quantity in losses(scenario)
    )


def case2_jitter_and_throughput(run: Quantities) -> Truth:
    """In Case 2 near no cells of voice and video are late, and no case with near zero loss has more
    throughput of data, at every number."""
    late = [curve(run, one, RATE_BASED, "realtime_late_ratio") for one in WITH_REALTIME]
    return all_of(every(curve) <= NEAR_ZERO_LATE for curve in late) & all_of(
        case2_best_given_loss(run, scenario) for scenario in WITH_DATA
    )


def utilisation_80_to_90(run: Quantities, scenarios: Sequence[int] = SCENARIOS) -> Truth:
    """In Case 2 the link is utilised to 80 to 90 %, to the printed digits, in every scenario and at
    every overloaded number."""
    used = [overloaded(run, one, RATE_BASED, "utilization_ratio") for one in scenarios]
    return all_of(every(values).within(0.80 - HALF_POINT, 0.90 + HALF_POINT) for values in used)


utilisation_80_to_90_with_data = partial(utilisation_80_to_90, scenarios=WITH_DATA)
"""In the scenarios with data, whose throughput the sentence speaks of."""


def higher_loads(run: Quantities) -> Truth:
    """At every overloaded number the unconstrained load is above 90 %, and the link is utilised to
    80 to 90 % in Case 2."""
    loads = [overloaded(run, one, UNCONTROLLED, "load_ratio") for one in SCENARIOS]
    return utilisation_80_to_90(run) & all_of(every(load) > 0.90 for load in loads)


def video_share(run: Quantities) -> Truth:
    """Video is 80 to 85 % of the calculated load of Scenario 1, to the printed digits, at every
    number."""
    return every(curve(run, REALTIME, UNCONTROLLED, "video_share_ratio")).within(0.795, 0.855)


def _most_sources(*cases: int) -> list[Point]:
    """The runs with the most sources of each scenario."""
    return [
        setting(scenario, case, MAX_SOURCES[scenario]) for scenario in SCENARIOS for case in cases
    ]


def notifications_spaced(run: Quantities) -> Truth:
    """No source gets two notifications within 50 ms, in any run with the most sources: the closest
    two of a run are closer than that by nothing."""
    points = _most_sources(RATE_BASED, DISCARD_BASED)
    return every(at(run, point, "notification_shortfall_s") for point in points) <= 0.0


def user_node_never_drops(run: Quantities) -> Truth:
    """No cell is dropped in the user node, in any run with the most sources."""
    return every(at(run, point, "user_dropped_count") for point in _most_sources(*CASES)) <= 0.0


def control_delay_near_zero(run: Quantities) -> Truth:
    """A notification takes at most 2 % of the round trip to its source, in the mean."""
    points = _most_sources(RATE_BASED, DISCARD_BASED)
    return every(at(run, one, "notification_delay_s") for one in points) <= EXACT * ROUND_TRIP_S


def bucket_queue_breaks_jitter(run: Quantities) -> Truth:
    """With queues at the leaky buckets the mean delay of voice and video is longer, and at some of
    84, 96 and 120 sources more than near none of their cells are late; Scenario 1, Case 2."""
    plain = [setting(REALTIME, RATE_BASED, count) for count in (84, 96, 120)]
    queued = [{**point, "change": "bucket-queue"} for point in plain]
    longer = every(at(run, point, "realtime_delay_s") for point in queued)
    late = some(at(run, point, "realtime_late_ratio") for point in queued)
    shorter = [at(run, point, "realtime_delay_s") for point in plain]
    return (longer > shorter) & (late > NEAR_ZERO_LATE)


def case2_superior_to_case3(run: Quantities) -> Truth:
    """Case 3 loses more cells than Case 2, and has more late ones, at every overloaded number:
    voice and video alone, and data. In the mixture voice and video lose and have more than near
    none at some number in Case 3."""
    return (
        case3_above_case2(run, REALTIME, "realtime_loss_ratio", "realtime_late_ratio")
        & case3_above_case2(run, DATA, "data_loss_ratio")
        & case3_above_case2(run, MIX, "data_loss_ratio")
        & (some(curve(run, MIX, DISCARD_BASED, "realtime_loss_ratio")) > NEAR_ZERO_LOSS)
        & (some(curve(run, MIX, DISCARD_BASED, "realtime_late_ratio")) > NEAR_ZERO_LATE)
    )


def case3_more_realtime_but_fails(run: Quantities) -> Truth:
    """Case 3 carries more voice and video than Case 2 at every overloaded number, and does not
    satisfy the requirement."""
    return all_of(
        case3_above_case2(run, scenario, "realtime_throughput_ratio")
        & fails_overloaded(run, scenario, DISCARD_BASED)
        for scenario in WITH_REALTIME
    )


def others_fail_everywhere_overloaded(run: Quantities) -> Truth:
    """Neither Case 1 nor Case 3 satisfies the requirement at any overloaded number, in any
    scenario; Case 2 does at all."""
    return all_of(only_case2_satisfies(run, scenario) for scenario in SCENARIOS)


def many_retransmissions_needed(run: Quantities) -> Truth:
    """In Cases 1 and 3 at least one cell of every file is discarded, in the mean, in both scenarios
    with data and at every overloaded number."""
    return all_of(
        every(overloaded(run, scenario, case, "data_dropped_per_file_count")) >= 1.0
        for scenario in WITH_DATA
        for case in (UNCONTROLLED, DISCARD_BASED)
    )
