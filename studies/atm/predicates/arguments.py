"""Predicates of what the thesis argues in chapters 1 to 7 without showing it: sources that break
their contract, the peak rate controller, excess capacity, starts, bucket depths, link sizes."""

from __future__ import annotations

from collections.abc import Sequence

from forebay.study import (
    CLOSE,
    Bounds,
    Point,
    Quantities,
    Truth,
    all_of,
    at,
    every,
    values,
)
from forebay_studies.atm.criteria import (
    ALL_THREE,
    CASES,
    DATA,
    DISCARD_BASED,
    MAX_SOURCES,
    MIX,
    NEAR_ZERO_LATE,
    NEAR_ZERO_LOSS,
    RATE_BASED,
    REALTIME,
    UNCONTROLLED,
    setting,
)

OFFENDED = 96
"""Voice and video sources of the runs in which some break their contract: the fewest that exceed
the capacity."""
BROKEN = ("above-average", "flood")
BOTH_SIZES = ("", "true-size")


def _offended(case: int, change: str = "") -> Point:
    return setting(REALTIME, case, OFFENDED, change)


# Sources that break their contract.


def violators_lose_first(run: Quantities) -> Truth:
    """Of the cells that enter the network, a greater share is discarded of sources above their
    contract than of the others: four at their peak rate throughout, or one far above it; in Case 3,
    where cells are discarded."""
    return all_of(
        at(run, point, "offenders_loss_ratio") > at(run, point, "kept_loss_ratio")
        for point in (_offended(DISCARD_BASED, change) for change in BROKEN)
    )


def clp1_lost_first(run: Quantities) -> Truth:
    """Of cells with CLP=1 a greater share is discarded than of those with CLP=0: voice and video in
    Case 3, with sources above their contract and with none."""
    return all_of(
        at(run, point, "realtime_clp1_loss_ratio") > at(run, point, "realtime_clp0_loss_ratio")
        for point in (_offended(DISCARD_BASED, change) for change in ("", *BROKEN))
    )


def kept_protected(run: Quantities) -> Truth:
    """In Case 2 those who keep their contract have near zero loss, in so many runs that three of
    them may all have it, and near no late cells: with four sources at their peak rate throughout
    and with one far above it."""
    points = [_offended(RATE_BASED, change) for change in BROKEN]
    lossless = every(at(run, point, "kept_near_zero_ratio") for point in points) >= ALL_THREE
    return lossless & (
        every(at(run, point, "kept_late_ratio") for point in points) <= NEAR_ZERO_LATE
    )


def kept_keep_their_rate(run: Quantities) -> Truth:
    """In Case 2 video sources that keep their contract send at no less than 90 % of the rate that
    they have where all do."""
    due = (1.0 - CLOSE) * at(run, _offended(RATE_BASED), "video_rate_ratio")
    points = [_offended(RATE_BASED, change) for change in BROKEN]
    return every(at(run, point, "video_rate_ratio") for point in points) >= due


def excess_by_nominal_rate(run: Quantities) -> Truth:
    """In Case 2 data sources of 500 and of 250 kbit/s send above their nominal rates, and by the
    same share of these, within 10 %."""
    point = setting(DATA, RATE_BASED, 15, "two-nominal-rates")
    above = every(values(run, point, "{rate}_excess_ratio", rate=("slow", "fast"))) > 0.0
    return above & at(run, point, "excess_balance_ratio").within(1.0 / (1.0 + CLOSE), 1.0 + CLOSE)


# The peak rate controller against a second leaky bucket, in Case 2.


def _jitter(run: Quantities, change: str) -> Bounds:
    return at(run, _offended(RATE_BASED, change), "kept_jitter_s")


def peak_controller_reduces_jitter(run: Quantities) -> Truth:
    """The 99th percentile of the delay of the other video sources, where half of them send bursts
    above their peak rate, is less above their least delay with peak rate controllers than with
    second leaky buckets, which mark."""
    return _jitter(run, "bursty") < _jitter(run, "two-buckets")


def peak_controller_improves_every_jitter(run: Quantities) -> Truth:
    """The same, and the bursty sources themselves have no more late cells."""
    own = [
        at(run, _offended(RATE_BASED, change), "offenders_late_ratio")
        for change in ("bursty", "two-buckets")
    ]
    return peak_controller_reduces_jitter(run) & (own[0] <= own[1])


def peak_controller_beats_dropping(run: Quantities) -> Truth:
    """The jitter of the others is also less than with second leaky buckets that drop."""
    return _jitter(run, "bursty") < _jitter(run, "two-buckets-drop")


def bursts_above_peak_add_jitter(run: Quantities) -> Truth:
    """Without peak rate controllers, the jitter of the others is greater where half of the video
    sources send bursts above their peak rate than where none does."""
    return _jitter(run, "two-buckets") > _jitter(run, "two-buckets-kept")


# Starts, buckets, sizes.


def slow_start_smooths(run: Quantities) -> Truth:
    """With data alone, whose rates change by nothing else as much, the largest rise of the load
    from one 50 ms to the next, after the first 5 s, is less with slow start than without; 29
    sources, each case."""

    def rises(change: str) -> list[Bounds]:
        return [
            at(run, setting(DATA, case, MAX_SOURCES[DATA], change), "load_rise_ratio")
            for case in CASES
        ]

    return every(rises("fine")) < rises("no-slow-start")


def startup_effects_eliminated(run: Quantities) -> Truth:
    """In Case 2 no more cells are dropped in the first 5 s than in as much of the rest of the run,
    with the most sources of each scenario."""
    points = [setting(scenario, RATE_BASED, most) for scenario, most in MAX_SOURCES.items()]
    return every(at(run, point, "startup_excess_count") for point in points) <= 0.0


def startup_effects_reduced(run: Quantities) -> Truth:
    """In Case 2 fewer cells are dropped in the first 5 s than if all sources began active: the
    mixture with the most sources."""
    ours, all_at_once = (
        at(run, setting(MIX, RATE_BASED, MAX_SOURCES[MIX], change), "startup_dropped_count")
        for change in ("", "all-at-once")
    )
    return ours < all_at_once


def deeper_buckets_mark_less(run: Quantities) -> Truth:
    """Of voice and of video, fewer cells are marked with deeper leaky buckets: half the depth of
    the study, that, and twice as deep; 120 sources in Case 2."""

    def fewer(kind: str) -> Truth:
        half, whole, double = (
            at(
                run,
                setting(REALTIME, RATE_BASED, MAX_SOURCES[REALTIME], change),
                f"clp_{kind}_ratio",
            )
            for change in ("half-depth", "", "double-depth")
        )
        return (double < whole) & (whole < half)

    return all_of(fewer(kind) for kind in ("voice", "video"))


def _by_case(run: Quantities, change: str, quantity: str) -> Sequence[Bounds]:
    return [at(run, setting(MIX, case, MAX_SOURCES[MIX], change), quantity) for case in CASES]


def _conclusions(run: Quantities, change: str) -> Truth:
    """Conclusions of section 8.3 on its cases with the most sources, but for jitter."""
    none, ours, theirs = (case - 1 for case in (UNCONTROLLED, RATE_BASED, DISCARD_BASED))
    lost, data_lost, used, got, times = (
        _by_case(run, change, quantity)
        for quantity in (
            "realtime_loss_ratio",
            "data_loss_ratio",
            "utilization_ratio",
            "throughput_ratio",
            "file_time_s",
        )
    )
    return all_of(
        [
            lost[ours] <= NEAR_ZERO_LOSS,
            every([lost[none], lost[theirs]]) > NEAR_ZERO_LOSS,
            data_lost[ours] < data_lost[theirs],
            data_lost[theirs] < data_lost[none],
            used[ours] < used[theirs],
            used[theirs] < used[none],
            every([got[none], got[theirs]]) < got[ours],
            times[none] < times[ours],
            times[ours] < times[theirs],
        ]
    )


def _jitter_only_case2(run: Quantities, change: str) -> Truth:
    """Near no cell of voice and video is late in Case 2, and more are in the others."""
    late = _by_case(run, change, "realtime_late_ratio")
    others = [late[case - 1] for case in (UNCONTROLLED, DISCARD_BASED)]
    return (late[RATE_BASED - 1] <= NEAR_ZERO_LATE) & (every(others) > NEAR_ZERO_LATE)


def sizes_alike(run: Quantities) -> Truth:
    """The mixture with the most sources at 6 Mbit/s, and with 7.5 times as many at 45 Mbit/s: both
    times Case 2 alone has near zero loss of voice and video and near no late cells, it loses the
    fewest data cells, Case 1 the most, and likewise in utilisation; data get the most in Case 2;
    files take longer in Case 2 than in Case 1, and longest in Case 3."""
    return all_of(_conclusions(run, one) & _jitter_only_case2(run, one) for one in BOTH_SIZES)


def sizes_alike_but_for_jitter(run: Quantities) -> Truth:
    """The same without late cells."""
    return all_of(_conclusions(run, change) for change in BOTH_SIZES)
