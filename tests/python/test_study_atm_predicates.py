"""Predicates of the atm study on made-up worlds: one in which the thesis is right in every
sentence, and for each predicate one in which a single fact is different and it must be false."""

from collections.abc import Callable

import pytest

from forebay.study.definition import Study
from forebay.study.grades import Bounds, Parameter, Truth
from forebay.study.loading import load_study

World = Callable[[str, int, int, int, str], float]

FIRST = {1: 96, 2: 25, 3: 57}
START = {1: 72, 2: 15, 3: 29}
STEP = {1: 6, 2: 2, 3: 7}
SIZE = {1: 9, 2: 8, 3: 13}


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("atm")


class Numbers:
    """A world as the quantities that predicates ask for; every number is known without error."""

    def __init__(self, world: World) -> None:
        self._world = world

    def value(self, quantity: str, /, **point: Parameter) -> Bounds:
        """The number of the world at one grid point."""
        scenario, case = int(point["scenario"]), int(point["case"])
        sources, change = int(point["sources"]), str(point.get("change", ""))
        return Bounds.exactly(self._world(quantity, scenario, case, sources, change))


CONSTANT = {
    "realtime_loss_lower_ratio": 0.6,
    "realtime_loss_higher_ratio": 0.2,
    "voice_floor_ratio": 0.2,
    "video_floor_ratio": 0.3,
    "voice_rate_min_ratio": 0.5,
    "video_rate_min_ratio": 0.5,
    "video_share_ratio": 0.82,
    "realtime_share_ratio": 0.65,
    "notification_shortfall_s": 0.0,
    "notification_delay_s": 0.005,
    "user_dropped_count": 0.0,
    "data_notified_per_source_count": 200.0,
    "realtime_notified_per_source_count": 50.0,
    "data_delay_s": 0.31,
    "offenders_loss_ratio": 0.02,
    "offenders_late_ratio": 0.01,
    "kept_loss_ratio": 1e-4,
    "kept_near_zero_ratio": 1.0,
    "kept_late_ratio": 0.0,
    "kept_jitter_s": 0.001,
    "realtime_clp0_loss_ratio": 1e-5,
    "realtime_clp1_loss_ratio": 1e-3,
    "slow_excess_ratio": 0.6,
    "fast_excess_ratio": 0.6,
    "excess_balance_ratio": 1.0,
    "load_rise_ratio": 0.05,
    "startup_excess_count": -1.0,
    "startup_dropped_count": 0.0,
    "clp_voice_ratio": 0.1,
    "clp_video_ratio": 0.002,
    "data_loss_ratio_in_axis_ratio": 0.7,
    "file_time_s_in_axis_ratio": 1.0,
    "realtime_loss_ratio_in_axis_ratio": 1.0,
    "class1_told_ratio": 0.1,
    "class2_told_ratio": 0.9,
    "class3_told_ratio": 0.95,
    "class4_told_ratio": 1.0,
    "notifications_lost_count": 0.0,
    "notification_gap_min_s": 0.05,
    "cut_ratio": 0.05,
}
"""Quantities that are the same at every grid point."""


def thesis(quantity: str, scenario: int, case: int, sources: int, change: str) -> float:
    """A world as the thesis describes it."""
    along = (sources - START[scenario]) / STEP[scenario] / (SIZE[scenario] - 1)
    over = sources >= FIRST[scenario]
    unconstrained = 1.02 + 0.2 * (sources - FIRST[scenario]) / sources if over else 0.8
    by_case: dict[str, tuple[float, float, float]] = {
        "load_ratio": (unconstrained, (0.73, 0.75, 0.815 + 0.02 * along**0.5)[scenario - 1], 0.0),
        "realtime_loss_ratio": (0.001 + 0.1 * along, 0.0, 2e-4),
        "data_loss_ratio": (0.001 + 0.2 * along, 0.0, 4e-4),
        "realtime_near_zero_ratio": (0.0, 1.0, 0.0),
        "data_near_zero_ratio": (0.0, 1.0, 0.0),
        "realtime_late_ratio": (0.02 + 0.8 * along, 0.0, 0.06 if scenario == 1 else 0.015),
        "voice_rate_ratio": (0.95, 0.7, 0.8),
        "video_rate_ratio": (0.95, 0.7, 0.8),
        "data_rate_ratio": (0.95, 0.3 - 0.1 * along, 0.2),
        "file_time_s": (16.8, 20 + 60 * along, 25 + 80 * along if scenario == 3 else 16 + along),
        "throughput_ratio": (0.3 - 0.2 * along, 0.24, 0.3 - 0.12 * along),
        "realtime_throughput_ratio": (0.9, 0.6, 0.7),
        "realtime_delay_s": (0.3, 0.28, 0.29),
        "utilization_ratio": (0.99, 0.85, 0.95),
        "rate_notifications_count": (0.0, 900.0, 0.0),
        "data_dropped_per_file_count": (500.0, 0.0, 5.0),
        "data_sent_ratio": (0.5, 0.3, 0.3),
    }
    if quantity == "load_ratio" and case == 3:
        return by_case["load_ratio"][1] + (0.1 if scenario == 1 else 0.12)
    if quantity == "throughput_ratio" and scenario != 3:
        return (0.9, 0.75, 0.87)[case - 1]
    if change and (change, quantity) in CHANGED:
        return CHANGED[change, quantity](case)
    if quantity in by_case:
        return by_case[quantity][case - 1]
    return CONSTANT[quantity]


CHANGED: dict[tuple[str, str], Callable[[int], float]] = {
    ("without-data", "realtime_delay_s"): lambda case: 0.29999,
    ("one-queue", "realtime_delay_s"): lambda case: 0.33,
    ("one-queue", "realtime_late_ratio"): lambda case: 0.5,
    ("bucket-queue", "realtime_delay_s"): lambda case: 0.35,
    ("bucket-queue", "realtime_late_ratio"): lambda case: 0.2,
    ("half-queues", "data_loss_ratio"): lambda case: 0.3 if case == 1 else 8e-4,
    ("half-queues", "data_delay_s"): lambda case: 0.3,
    ("two-buckets", "kept_jitter_s"): lambda case: 0.01,
    ("two-buckets", "offenders_late_ratio"): lambda case: 0.02,
    ("two-buckets-drop", "kept_jitter_s"): lambda case: 0.002,
    ("no-slow-start", "load_rise_ratio"): lambda case: 0.1,
    ("all-at-once", "startup_dropped_count"): lambda case: 900.0,
    ("half-depth", "clp_voice_ratio"): lambda case: 0.2,
    ("half-depth", "clp_video_ratio"): lambda case: 0.004,
    ("double-depth", "clp_voice_ratio"): lambda case: 0.05,
    ("double-depth", "clp_video_ratio"): lambda case: 0.001,
    ("policed-exact", "realtime_late_ratio"): lambda case: 0.2,
    ("queue-length", "realtime_loss_ratio"): lambda case: 5e-6,
    ("queue-length", "data_loss_ratio"): lambda case: 5e-6,
    ("queue-length", "realtime_late_ratio"): lambda case: 0.01,
    ("forward", "notification_delay_s"): lambda case: 0.28,
    ("forward", "realtime_late_ratio"): lambda case: 0.01,
    ("forward", "data_near_zero_ratio"): lambda case: 0.0,
    ("far-forward", "data_near_zero_ratio"): lambda case: 0.5,
    ("busy-way-back", "notifications_lost_count"): lambda case: 900.0,
    ("on-off", "utilization_ratio"): lambda case: 0.5,
    ("constant-increase", "voice_rate_ratio"): lambda case: 0.9,
}
"""Numbers that differ with one queue, with queues at the buckets, with half queues, without data,
and with the changes of changes.py and alternatives.py."""


Fact = tuple[str, int | None, int | None, float]
"""A quantity, the scenario and the case in which it is different (None: in all), and its value."""

OTHERWISE: dict[str, Fact] = {
    "backward_better": ("data_near_zero_ratio", 3, None, 0.5),
    "backward_better_near": ("data_near_zero_ratio", 3, None, 0.5),
    "backward_sooner": ("notification_delay_s", 1, None, 0.3),
    "bucket_queue_breaks_jitter": ("realtime_delay_s", 1, None, 0.28),
    "bursts_above_peak_add_jitter": ("kept_jitter_s", 1, None, 0.01),
    "case2_jitter_and_throughput": ("realtime_late_ratio", 1, 2, 0.01),
    "case2_no_loss_everywhere": ("data_near_zero_ratio", 2, 2, 0.2),
    "case2_satisfies_everywhere": ("data_near_zero_ratio", 3, 2, 0.2),
    "case2_superior_to_case3": ("data_loss_ratio", 3, 3, 0.0),
    "case3_more_realtime_but_fails": ("realtime_throughput_ratio", 3, 3, 0.5),
    "class1_last": ("class1_told_ratio", 3, None, 0.6),
    "classes_in_order": ("class4_told_ratio", 2, None, 0.5),
    "clp1_lost_first": ("realtime_clp1_loss_ratio", 1, 3, 1e-6),
    "constant_favours_slow": ("voice_rate_ratio", 1, None, 0.7),
    "control_delay_near_zero": ("notification_delay_s", 2, 3, 0.275),
    "cut_by_4": ("cut_ratio", 3, None, 0.03),
    "data_case1_file_time_slightly_above": ("file_time_s", 2, 1, 18.5),
    "data_case1_loss_grows": ("data_loss_ratio", 2, 1, 0.1),
    "data_case2_best_given_loss": ("data_loss_ratio", 2, 3, 0.0),
    "data_case2_file_time_grows": ("file_time_s", 2, 2, 35.0),
    "data_case2_load_constant": ("load_ratio", 2, 2, 0.6),
    "data_case3_files_faster": ("file_time_s", 2, 3, 90.0),
    "data_case3_load_10_higher": ("load_ratio", 2, 3, 0.84),
    "data_case3_loss_order": ("data_loss_ratio", 2, 3, 2e-3),
    "data_case3_superior_to_case1": ("data_loss_ratio", 2, 3, 0.15),
    "data_case3_throughput_10_higher": ("throughput_ratio", 2, 3, 0.8),
    "data_only_case2_satisfies": ("data_loss_ratio", 2, 3, 1e-6),
    "data_overload_from_25": ("load_ratio", 2, 1, 0.99),
    "data_slowed_before_discard": ("rate_notifications_count", 2, 2, 0.0),
    "data_slowed_first": ("data_notified_per_source_count", 3, 2, 40.0),
    "deeper_buckets_mark_less": ("clp_video_ratio", 1, 2, 5e-4),
    "discards_differ": ("realtime_late_ratio", 1, None, 0.3),
    "excess_by_nominal_rate": ("excess_balance_ratio", 2, None, 1.2),
    "f23_within_its_axis": ("data_loss_ratio_in_axis_ratio", 2, 1, 0.2),
    "f26_within_its_axis": ("data_loss_ratio_in_axis_ratio", 2, 2, 0.2),
    "f29_within_its_axis": ("data_loss_ratio_in_axis_ratio", 2, 3, 0.2),
    "f30_within_its_axis": ("file_time_s_in_axis_ratio", 2, 3, 0.2),
    "f45_within_its_axis": ("realtime_loss_ratio_in_axis_ratio", 3, 3, 0.2),
    "higher_loads": ("load_ratio", 1, 1, 0.89),
    "kept_keep_their_rate": ("video_rate_ratio", 1, 2, 0.8),
    "kept_protected": ("kept_late_ratio", 1, None, 0.01),
    "larger_data_queue_slight_delay": ("data_delay_s", 2, 3, 0.34),
    "longer_queues_delay_more_and_lose_less": ("data_loss_ratio", 2, 1, 0.31),
    "low_priority_harmless": ("realtime_delay_s", 3, 1, 0.301),
    "many_retransmissions_needed": ("data_dropped_per_file_count", 2, 3, 0.4),
    "mix_all_slowed": ("voice_rate_ratio", 3, 3, 0.95),
    "mix_case2_best_given_loss": ("data_loss_ratio", 3, 1, 0.0),
    "mix_case2_file_time_grows": ("file_time_s", 3, 2, 85.0),
    "mix_case2_input_around_90": ("load_ratio", 3, 2, 0.8),
    "mix_case2_load_levels_off": ("load_ratio", 3, 2, 0.9),
    "mix_case2_no_data_loss": ("data_near_zero_ratio", 3, 2, 0.2),
    "mix_case2_no_loss_and_faster": ("file_time_s", 3, 3, 20.0),
    "mix_case2_throughput_superior": ("throughput_ratio", 3, 3, 0.23),
    "mix_case3_file_time_grows": ("file_time_s", 3, 3, 150.0),
    "mix_case3_files_slower": ("file_time_s", 3, 3, 60.0),
    "mix_case3_load_10_higher": ("load_ratio", 3, 3, 0.9),
    "mix_case3_loss_order": ("realtime_loss_ratio", 3, 3, 1e-5),
    "mix_case3_utilisation_higher": ("utilization_ratio", 3, 3, 0.85),
    "mix_data_harmless": ("realtime_late_ratio", 3, 2, 1e-3),
    "mix_data_slowed_more": ("data_rate_ratio", 3, 2, 0.5),
    "mix_deterioration_by_discards": ("data_sent_ratio", 3, 3, 0.19),
    "mix_jitter_only_case2": ("realtime_late_ratio", 3, 3, 0.0),
    "mix_only_case2_satisfies": ("realtime_late_ratio", 3, 2, 0.01),
    "mix_others_lose": ("data_loss_ratio", 3, 3, 0.0),
    "mix_overload_from_57": ("load_ratio", 3, 1, 1.01),
    "mix_realtime_slowed_more_in_case2": ("video_rate_ratio", 3, 3, 0.6),
    "mix_slowed_before_discard": ("rate_notifications_count", 3, 3, 5.0),
    "mix_throughput_sometimes_higher": ("throughput_ratio", 3, 1, 0.2),
    "next_notification_after_50_ms": ("notification_gap_min_s", 3, None, 0.03),
    "notifications_overflow": ("notifications_lost_count", 3, None, 0.0),
    "notifications_spaced": ("notification_shortfall_s", 3, 2, 0.001),
    "on_off_acceptable": ("realtime_late_ratio", 1, None, 0.05),
    "on_off_below_capacity": ("load_ratio", 2, None, 1.1),
    "on_off_underutilises": ("utilization_ratio", 3, None, 0.85),
    "others_fail_everywhere_overloaded": ("data_loss_ratio", 2, 3, 0.0),
    "peak_controller_beats_dropping": ("kept_jitter_s", 1, None, 0.002),
    "peak_controller_improves_every_jitter": ("kept_jitter_s", 1, None, 0.01),
    "peak_controller_reduces_jitter": ("kept_jitter_s", 1, None, 0.01),
    "priorities_help": ("realtime_late_ratio", 3, 1, 0.6),
    "queue_length_in_time": ("data_loss_ratio", 3, None, 1e-4),
    "queue_length_in_time_without_threshold": ("data_loss_ratio", 3, None, 1e-4),
    "rates_before_queue_length": ("data_loss_ratio", 2, None, 1e-5),
    "realtime_case1_fails": ("realtime_loss_ratio", 1, 1, 0.0),
    "realtime_case1_late_grows": ("realtime_late_ratio", 1, 1, 0.7),
    "realtime_case1_loss_grows": ("realtime_loss_ratio", 1, 1, 0.13),
    "realtime_case1_seeds_differ": ("realtime_loss_higher_ratio", 1, 1, 0.0),
    "realtime_case2_load": ("load_ratio", 1, 2, 0.69),
    "realtime_case3_fails": ("realtime_late_ratio", 1, 3, 0.0),
    "realtime_case3_load_10_higher": ("load_ratio", 1, 3, 0.9),
    "realtime_case3_load_between": ("load_ratio", 1, 3, 0.95),
    "realtime_case3_loss_order": ("realtime_loss_ratio", 1, 3, 1.1e-3),
    "realtime_case3_overflows": ("realtime_delay_s", 1, 3, 0.28),
    "realtime_case3_slowed_less": ("throughput_ratio", 1, 3, 0.7),
    "realtime_case3_superior_to_case1": ("realtime_loss_ratio", 1, 3, 0.06),
    "realtime_case3_utilisation_higher": ("utilization_ratio", 1, 3, 0.8),
    "realtime_case3_worse_than_case2": ("realtime_loss_ratio", 1, 3, 0.0),
    "realtime_controlled_below_capacity": ("load_ratio", 1, 3, 1.0),
    "realtime_keeps_half": ("voice_rate_min_ratio", 3, 3, 0.49),
    "realtime_occasionally_at_half": ("video_floor_ratio", 1, 2, 0.6),
    "realtime_only_case2_satisfies": ("realtime_late_ratio", 1, 2, 0.02),
    "realtime_overload_from_96": ("load_ratio", 1, 1, 0.99),
    "realtime_share": ("realtime_share_ratio", 3, 1, 0.58),
    "realtime_slowed_before_discard": ("realtime_loss_ratio", 1, 2, 5e-6),
    "sizes_alike": ("realtime_late_ratio", 3, 3, 0.0),
    "sizes_alike_but_for_jitter": ("throughput_ratio", 3, 3, 0.3),
    "slow_start_smooths": ("load_rise_ratio", 2, None, 0.1),
    "startup_effects_eliminated": ("startup_excess_count", 3, 2, 100.0),
    "startup_effects_reduced": ("startup_dropped_count", 3, None, 900.0),
    "user_node_never_drops": ("user_dropped_count", 2, 2, 1.0),
    "utilisation_80_to_90": ("utilization_ratio", 1, 2, 0.75),
    "utilisation_80_to_90_with_data": ("utilization_ratio", 2, 2, 0.75),
    "video_share": ("video_share_ratio", 1, 1, 0.86),
    "violators_lose_first": ("offenders_loss_ratio", 1, None, 1e-5),
    "voice_and_video_slowed": ("voice_rate_ratio", 1, 2, 0.95),
}


def test_every_predicate_has_a_world_in_which_it_is_false(study: Study) -> None:
    """Every predicate has a world in which it is false."""
    assert set(OTHERWISE) == {statement.predicate for statement in study.paper.statements}


def test_a_world_as_the_thesis_describes_it(study: Study) -> None:
    """All predicates hold in a world as the thesis describes it, so that no sentences exclude each
    other."""
    bound = study.predicates.items()
    wrong = [name for name, holds in bound if holds(Numbers(thesis)) is not Truth.TRUE]
    assert not wrong


@pytest.mark.parametrize("name", sorted(OTHERWISE))
def test_a_world_that_differs(study: Study, name: str) -> None:
    """A predicate fails in a world that differs in the fact that it is about."""
    quantity, scenario, case, value = OTHERWISE[name]

    def world(asked: str, in_scenario: int, in_case: int, sources: int, change: str) -> float:
        here = scenario in (None, in_scenario) and case in (None, in_case)
        if asked == quantity and here and (not change or case is None):
            return value
        return thesis(asked, in_scenario, in_case, sources, change)

    named = [entry.id for entry in study.paper.statements if entry.predicate == name]
    assert study.predicates[named[0]](Numbers(world)) is Truth.FALSE


@pytest.mark.parametrize(("share", "verdict"), [(0.3, Truth.TRUE), (0.29, Truth.FALSE)])
def test_what_three_runs_may_show(study: Study, share: float, verdict: Truth) -> None:
    """Three runs without loss, which the thesis saw (section 7.4), count as possible where they
    have a probability above 2.5 % (0.3^3 = 2.7 %), and as impossible where they have not (0.29^3 =
    2.4 %)."""

    def world(asked: str, scenario: int, case: int, sources: int, change: str) -> float:
        if (asked, scenario, case, sources) == ("data_near_zero_ratio", 3, 2, 113):
            return share
        return thesis(asked, scenario, case, sources, change)

    assert study.predicates["s8.3/only-case2"](Numbers(world)) is verdict
