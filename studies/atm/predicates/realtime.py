"""Predicates of section 8.1: voice and video alone."""

from __future__ import annotations

from forebay.study import CLOSE, Quantities, Truth, all_of, at, every, for_each, some
from forebay_studies.atm.criteria import (
    DISCARD_BASED,
    HALF_POINT,
    MAX_SOURCES,
    MIX,
    NEAR_ZERO_LATE,
    NEAR_ZERO_LOSS,
    POINT,
    RATE_BASED,
    REALTIME,
    UNCONTROLLED,
    case3_above_case2,
    curve,
    exceeds_by,
    higher,
    overloaded,
    setting,
)

AROUND = 0.5
FACTOR = 2.0
LOSS, LATE = "realtime_loss_ratio", "realtime_late_ratio"
KINDS = ("voice_rate_ratio", "video_rate_ratio")


def realtime_case2_load(run: Quantities) -> Truth:
    """At every number of sources the load is between 70 and 80 %, to the printed digits."""
    loads = curve(run, REALTIME, RATE_BASED, "load_ratio")
    return every(loads).within(0.70 - HALF_POINT, 0.80 + HALF_POINT)


def voice_and_video_slowed(run: Quantities) -> Truth:
    """Voice and video each send at a lower share of their nominal rates than in Case 1, at every
    overloaded number of sources."""
    return all_of(higher(run, REALTIME, kind, (UNCONTROLLED, RATE_BASED)) for kind in KINDS)


def realtime_case3_load_between(run: Quantities) -> Truth:
    """At every overloaded number the load of Case 3 is above that of Case 2, and by more than 10 %
    below that of Case 1."""
    below_case1 = higher(run, REALTIME, "load_ratio", (UNCONTROLLED, DISCARD_BASED), CLOSE)
    return case3_above_case2(run, REALTIME, "load_ratio") & below_case1


def realtime_controlled_below_capacity(run: Quantities) -> Truth:
    """The load is below 1 in Cases 2 and 3 at every number of sources."""
    return all_of(
        every(curve(run, REALTIME, case, "load_ratio")) < 1.0
        for case in (RATE_BASED, DISCARD_BASED)
    )


def realtime_case1_seeds_differ(run: Quantities) -> Truth:
    """With 120 sources, for which the thesis prints 13 %, the cell loss ratio of some runs is by
    more than 5 % below that and of some by more than 5 % above it: 10 % and more apart."""
    most = setting(REALTIME, UNCONTROLLED, MAX_SOURCES[REALTIME])
    sides = [at(run, most, f"realtime_loss_{side}_ratio") for side in ("lower", "higher")]
    return every(sides) > 0.0


def realtime_case1_late_grows(run: Quantities) -> Truth:
    """Each third of the curve of late cells of Case 1 is higher than the one before."""
    return curve(run, REALTIME, UNCONTROLLED, LATE).grow()


@for_each({"realtime_case1": UNCONTROLLED, "realtime_case3": DISCARD_BASED})
def fails(run: Quantities, case: int) -> Truth:
    """Cell loss and late cells are beyond near zero at some number of sources, each."""
    losing = some(curve(run, REALTIME, case, LOSS)) > NEAR_ZERO_LOSS
    return losing & (some(curve(run, REALTIME, case, LATE)) > NEAR_ZERO_LATE)


def realtime_occasionally_at_half(run: Quantities) -> Truth:
    """In Case 2 voice and video spend some of their sessions at the floor of 50 % of the nominal
    rate, but less than half, at every overloaded number of sources."""
    kinds = ("voice_floor_ratio", "video_floor_ratio")
    shares = [every(overloaded(run, REALTIME, RATE_BASED, kind)) for kind in kinds]
    return all_of((share > 0.0) & (share < 0.5) for share in shares)


def realtime_case3_worse_than_case2(run: Quantities) -> Truth:
    """Case 3 loses more cells and has more late ones than Case 2, at every overloaded number."""
    return case3_above_case2(run, REALTIME, LOSS, LATE)


def realtime_case3_superior_to_case1(run: Quantities) -> Truth:
    """Case 3 has at most half the loss and half the late cells of Case 1 ("clearly"), at every
    overloaded number."""
    cases = (UNCONTROLLED, DISCARD_BASED)
    return all_of(higher(run, REALTIME, one, cases, FACTOR - 1.0) for one in (LOSS, LATE))


def realtime_case3_overflows(run: Quantities) -> Truth:
    """In Case 3 cells are discarded, and the mean delay is longer than in Case 2, at every
    overloaded number."""
    lost = every(overloaded(run, REALTIME, DISCARD_BASED, LOSS)) > 0.0
    return lost & case3_above_case2(run, REALTIME, "realtime_delay_s")


def realtime_case3_load_10_higher(run: Quantities) -> Truth:
    """The load of Case 3 is by approximately 10 points of the capacity above that of Case 2: by 5
    to 15 in the mean over the overloaded numbers."""
    return exceeds_by(run, REALTIME, "load_ratio").around(10 * POINT, AROUND)


def realtime_case3_slowed_less(run: Quantities) -> Truth:
    """In Case 3 voice, video, and what the link carries are each above Case 2, at every overloaded
    number."""
    return case3_above_case2(run, REALTIME, *KINDS, "throughput_ratio")


def realtime_keeps_half(run: Quantities) -> Truth:
    """No voice or video source is ever slowed below half of its nominal rate, in Cases 2 and 3 with
    the most sources."""
    points = [
        setting(scenario, case, MAX_SOURCES[scenario])
        for scenario in (REALTIME, MIX)
        for case in (RATE_BASED, DISCARD_BASED)
    ]
    kinds = ("voice_rate_min_ratio", "video_rate_min_ratio")
    return every(at(run, point, kind) for point in points for kind in kinds) >= 0.5
