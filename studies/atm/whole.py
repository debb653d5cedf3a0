"""Predicates of the abstract, of chapters 4 to 7 and of chapter 9: the scheme as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from forebay.study.grades import (
    EXACT,
    Quantities,
    Truth,
    all_of,
    surely_at_least,
    surely_at_most,
    surely_greater,
    surely_within,
)
from forebay_studies.atm.readings import (
    COUNTS,
    DATA,
    DISCARD_BASED,
    HALF_POINT,
    MIX,
    MOST,
    NEAR_ZERO_LATE,
    NEAR_ZERO_LOSS,
    OVERLOADED,
    RATE_BASED,
    REALTIME,
    ROUND_TRIP_S,
    UNCONTROLLED,
    Setting,
    at,
    best_given_loss,
    curve,
    fails_somewhere,
    higher_everywhere,
    losses,
    near_zero_everywhere,
    satisfies,
)

SCENARIOS = (REALTIME, DATA, MIX)
WITH_DATA = (DATA, MIX)
WITH_REALTIME = (REALTIME, MIX)


def case2_satisfies_everywhere(run: Quantities) -> Truth:
    """In Case 2 near zero loss and near no late cells, in every scenario and at every number."""
    return all_of(
        satisfies(run, Setting(scenario, RATE_BASED, count))
        for scenario in SCENARIOS
        for count in COUNTS[scenario]
    )


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
    return all_of(
        surely_at_most(late, NEAR_ZERO_LATE)
        for scenario in WITH_REALTIME
        for late in curve(run, scenario, RATE_BASED, "realtime_late_ratio")
    ) & all_of(best_given_loss(run, scenario) for scenario in WITH_DATA)


def utilisation_80_to_90(run: Quantities) -> Truth:
    """In Case 2 the link is utilised to 80 to 90 %, to the printed digits, in every scenario and at
    every overloaded number."""
    return _utilised(run, SCENARIOS)


def utilisation_80_to_90_with_data(run: Quantities) -> Truth:
    """The same in the scenarios with data, whose throughput the sentence speaks of."""
    return _utilised(run, WITH_DATA)


def _utilised(run: Quantities, scenarios: Sequence[int]) -> Truth:
    return all_of(
        surely_within(value, 0.80 - HALF_POINT, 0.90 + HALF_POINT)
        for scenario in scenarios
        for value in curve(run, scenario, RATE_BASED, "utilization_ratio", OVERLOADED[scenario])
    )


def higher_loads(run: Quantities) -> Truth:
    """At every overloaded number the unconstrained load is above 90 %, and the link is utilised to
    80 to 90 % in Case 2."""
    return utilisation_80_to_90(run) & all_of(
        surely_greater(load, 0.90)
        for scenario in SCENARIOS
        for load in curve(run, scenario, UNCONTROLLED, "load_ratio", OVERLOADED[scenario])
    )


def video_share(run: Quantities) -> Truth:
    """Video is 80 to 85 % of the calculated load of Scenario 1, to the printed digits, at every
    number."""
    return all_of(
        surely_within(share, 0.795, 0.855)
        for share in curve(run, REALTIME, UNCONTROLLED, "video_share_ratio")
    )


def notifications_spaced(run: Quantities) -> Truth:
    """No source gets two notifications within 50 ms, in any run with the most sources: the closest
    two of a run are closer than that by nothing."""
    return all_of(
        surely_at_most(at(run, setting, "notification_shortfall_s"), 0.0)
        for setting in _controlled()
    )


def user_node_never_drops(run: Quantities) -> Truth:
    """No cell is dropped in the user node, in any run with the most sources."""
    return all_of(
        surely_at_most(at(run, Setting(scenario, case, MOST[scenario]), "user_dropped_count"), 0.0)
        for scenario in SCENARIOS
        for case in (UNCONTROLLED, RATE_BASED, DISCARD_BASED)
    )


def control_delay_near_zero(run: Quantities) -> Truth:
    """A notification takes at most 2 % of the round trip to its source, in the mean."""
    return all_of(
        surely_at_most(at(run, setting, "notification_delay_s"), EXACT * ROUND_TRIP_S)
        for setting in _controlled()
    )


def _controlled() -> list[Setting]:
    return [
        Setting(scenario, case, MOST[scenario])
        for scenario in SCENARIOS
        for case in (RATE_BASED, DISCARD_BASED)
    ]


def bucket_queue_breaks_jitter(run: Quantities) -> Truth:
    """With queues at the leaky buckets the mean delay of voice and video is longer, and at some of
    84, 96 and 120 sources more than near none of their cells are late; Scenario 1, Case 2."""
    counts = (84, 96, 120)
    with_queue = [Setting(REALTIME, RATE_BASED, count, "bucket-queue") for count in counts]
    without = [Setting(REALTIME, RATE_BASED, count) for count in counts]
    return all_of(
        surely_greater(at(run, queued, "realtime_delay_s"), at(run, plain, "realtime_delay_s"))
        for queued, plain in zip(with_queue, without, strict=True)
    ) & fails_somewhere(
        [at(run, setting, "realtime_late_ratio") for setting in with_queue], NEAR_ZERO_LATE
    )


def case2_superior_to_case3(run: Quantities) -> Truth:
    """Case 3 loses more cells than Case 2, and has more late ones, at every overloaded number:
    voice and video alone, and data. In the mixture voice and video lose and have more than near
    none at some number in Case 3."""
    apart = [
        higher_everywhere(run, scenario, quantity, (DISCARD_BASED, RATE_BASED))
        for scenario, quantity in (
            (REALTIME, "realtime_loss_ratio"),
            (REALTIME, "realtime_late_ratio"),
            (DATA, "data_loss_ratio"),
            (MIX, "data_loss_ratio"),
        )
    ]
    return all_of(apart) & all_of(
        fails_somewhere(curve(run, MIX, DISCARD_BASED, quantity), limit)
        for quantity, limit in (
            ("realtime_loss_ratio", NEAR_ZERO_LOSS),
            ("realtime_late_ratio", NEAR_ZERO_LATE),
        )
    )


def case3_more_realtime_but_fails(run: Quantities) -> Truth:
    """Case 3 carries more voice and video than Case 2 at every overloaded number, and does not
    satisfy the requirement."""
    return all_of(
        higher_everywhere(run, scenario, "realtime_throughput_ratio", (DISCARD_BASED, RATE_BASED))
        for scenario in WITH_REALTIME
    ) & _fails_overloaded(run, DISCARD_BASED, WITH_REALTIME)


def others_fail_everywhere_overloaded(run: Quantities) -> Truth:
    """Neither Case 1 nor Case 3 satisfies the requirement at any overloaded number, in any
    scenario; Case 2 does at all."""
    return case2_satisfies_everywhere(run) & all_of(
        _fails_overloaded(run, case, SCENARIOS) for case in (UNCONTROLLED, DISCARD_BASED)
    )


def _fails_overloaded(run: Quantities, case: int, scenarios: Sequence[int]) -> Truth:
    return all_of(
        ~satisfies(run, Setting(scenario, case, count))
        for scenario in scenarios
        for count in OVERLOADED[scenario]
    )


def many_retransmissions_needed(run: Quantities) -> Truth:
    """In Cases 1 and 3 at least one cell of every file is discarded, in the mean, in both scenarios
    with data and at every overloaded number."""
    return all_of(
        surely_at_least(number, 1.0)
        for scenario in WITH_DATA
        for case in (UNCONTROLLED, DISCARD_BASED)
        for number in curve(
            run, scenario, case, "data_dropped_per_file_count", OVERLOADED[scenario]
        )
    )
