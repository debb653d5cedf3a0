"""Predicates of section 8.1: voice and video alone."""

from __future__ import annotations

from forebay.study.grades import (
    CLOSE,
    Quantities,
    Truth,
    all_of,
    surely_at_least,
    surely_greater,
    surely_less,
    surely_within,
)
from forebay_studies.atm.readings import (
    DISCARD_BASED,
    HALF_POINT,
    MIX,
    MOST,
    NEAR_ZERO_LATE,
    NEAR_ZERO_LOSS,
    OVERLOADED,
    POINT,
    RATE_BASED,
    REALTIME,
    UNCONTROLLED,
    Setting,
    around,
    at,
    curve,
    exceeds_by_points,
    fails_somewhere,
    grows,
    higher_everywhere,
    on_the_order_of_unacceptable,
    only_case2_satisfies,
    overloaded_from,
    slowed_before_discard,
)

AROUND = 0.5
FACTOR = 2.0
KINDS = ("voice_rate_ratio", "video_rate_ratio")


def realtime_overload_from_96(run: Quantities) -> Truth:
    """The calculated load is above 1 from 96 sources on, and not below."""
    return overloaded_from(run, REALTIME)


def realtime_case2_load(run: Quantities) -> Truth:
    """At every number of sources the load is between 70 and 80 %, to the printed digits."""
    return all_of(
        surely_within(load, 0.70 - HALF_POINT, 0.80 + HALF_POINT)
        for load in curve(run, REALTIME, RATE_BASED, "load_ratio")
    )


def voice_and_video_slowed(run: Quantities) -> Truth:
    """Voice and video each send at a lower share of their nominal rates than in Case 1, at every
    overloaded number of sources."""
    return all_of(
        higher_everywhere(run, REALTIME, kind, (UNCONTROLLED, RATE_BASED)) for kind in KINDS
    )


def realtime_case3_load_between(run: Quantities) -> Truth:
    """At every overloaded number the load of Case 3 is above that of Case 2, and by more than 10 %
    below that of Case 1."""
    return higher_everywhere(run, REALTIME, "load_ratio", (DISCARD_BASED, RATE_BASED)) & (
        higher_everywhere(run, REALTIME, "load_ratio", (UNCONTROLLED, DISCARD_BASED), CLOSE)
    )


def realtime_controlled_below_capacity(run: Quantities) -> Truth:
    """The load is below 1 in Cases 2 and 3 at every number of sources."""
    return all_of(
        surely_less(load, 1.0)
        for case in (RATE_BASED, DISCARD_BASED)
        for load in curve(run, REALTIME, case, "load_ratio")
    )


def realtime_case1_loss_grows(run: Quantities) -> Truth:
    """Each third of the loss curve of Case 1 is higher than the one before."""
    return grows(curve(run, REALTIME, UNCONTROLLED, "realtime_loss_ratio"))


def realtime_case1_seeds_differ(run: Quantities) -> Truth:
    """With 120 sources, for which the thesis prints 13 %, the cell loss ratio of some runs is by
    more than 5 % below that and of some by more than 5 % above it: 10 % and more apart."""
    most = Setting(REALTIME, UNCONTROLLED, MOST[REALTIME])
    return all_of(
        surely_greater(at(run, most, f"realtime_loss_{side}_ratio"), 0.0)
        for side in ("lower", "higher")
    )


def realtime_case1_late_grows(run: Quantities) -> Truth:
    """Each third of the curve of late cells of Case 1 is higher than the one before."""
    return grows(curve(run, REALTIME, UNCONTROLLED, "realtime_late_ratio"))


def realtime_case1_fails(run: Quantities) -> Truth:
    """In Case 1 cell loss and late cells are beyond near zero at some number of sources, each."""
    return _fails(run, UNCONTROLLED)


def realtime_case3_fails(run: Quantities) -> Truth:
    """The same in Case 3."""
    return _fails(run, DISCARD_BASED)


def _fails(run: Quantities, case: int) -> Truth:
    loss = curve(run, REALTIME, case, "realtime_loss_ratio")
    late = curve(run, REALTIME, case, "realtime_late_ratio")
    return fails_somewhere(loss, NEAR_ZERO_LOSS) & fails_somewhere(late, NEAR_ZERO_LATE)


def realtime_slowed_before_discard(run: Quantities) -> Truth:
    """Under overload Case 2 notifies sources of the input rate, and discards no cell."""
    return slowed_before_discard(run, REALTIME)


def realtime_occasionally_at_half(run: Quantities) -> Truth:
    """In Case 2 voice and video spend some of their sessions at the floor of 50 % of the nominal
    rate, but less than half, at every overloaded number of sources."""
    return all_of(
        surely_greater(share, 0.0) & surely_less(share, 0.5)
        for kind in ("voice_floor_ratio", "video_floor_ratio")
        for share in curve(run, REALTIME, RATE_BASED, kind, OVERLOADED[REALTIME])
    )


def realtime_case3_worse_than_case2(run: Quantities) -> Truth:
    """Case 3 loses more cells and has more late ones than Case 2, at every overloaded number."""
    return all_of(
        higher_everywhere(run, REALTIME, quantity, (DISCARD_BASED, RATE_BASED))
        for quantity in ("realtime_loss_ratio", "realtime_late_ratio")
    )


def realtime_case3_superior_to_case1(run: Quantities) -> Truth:
    """Case 3 has at most half the loss and half the late cells of Case 1 ("clearly"), at every
    overloaded number."""
    return all_of(
        higher_everywhere(run, REALTIME, quantity, (UNCONTROLLED, DISCARD_BASED), FACTOR - 1.0)
        for quantity in ("realtime_loss_ratio", "realtime_late_ratio")
    )


def realtime_case3_overflows(run: Quantities) -> Truth:
    """In Case 3 cells are discarded, and the mean delay is longer than in Case 2, at every
    overloaded number."""
    lost = curve(run, REALTIME, DISCARD_BASED, "realtime_loss_ratio", OVERLOADED[REALTIME])
    return all_of(surely_greater(loss, 0.0) for loss in lost) & (
        higher_everywhere(run, REALTIME, "realtime_delay_s", (DISCARD_BASED, RATE_BASED))
    )


def realtime_case3_load_10_higher(run: Quantities) -> Truth:
    """The load of Case 3 is by approximately 10 points of the capacity above that of Case 2: by 5
    to 15 in the mean over the overloaded numbers."""
    difference = exceeds_by_points(run, REALTIME, "load_ratio")
    return around(difference, 10 * POINT, AROUND)


def realtime_case3_slowed_less(run: Quantities) -> Truth:
    """In Case 3 voice, video, and what the link carries are each above Case 2, at every overloaded
    number."""
    return all_of(
        higher_everywhere(run, REALTIME, quantity, (DISCARD_BASED, RATE_BASED))
        for quantity in (*KINDS, "throughput_ratio")
    )


def realtime_case3_utilisation_higher(run: Quantities) -> Truth:
    """The link is utilised more in Case 3 than in Case 2, at every overloaded number."""
    return higher_everywhere(run, REALTIME, "utilization_ratio", (DISCARD_BASED, RATE_BASED))


def realtime_case3_loss_order(run: Quantities) -> Truth:
    """The highest cell loss ratio of Case 3 is on the order of 10^-4."""
    return on_the_order_of_unacceptable(curve(run, REALTIME, DISCARD_BASED, "realtime_loss_ratio"))


def realtime_only_case2_satisfies(run: Quantities) -> Truth:
    """Case 2 satisfies the requirement at every number of sources, the others at none that is
    overloaded."""
    return only_case2_satisfies(run, REALTIME)


def realtime_keeps_half(run: Quantities) -> Truth:
    """No voice or video source is ever slowed below half of its nominal rate, in Cases 2 and 3 with
    the most sources."""
    return all_of(
        surely_at_least(at(run, Setting(scenario, case, MOST[scenario]), kind), 0.5)
        for scenario in (REALTIME, MIX)
        for case in (RATE_BASED, DISCARD_BASED)
        for kind in ("voice_rate_min_ratio", "video_rate_min_ratio")
    )
