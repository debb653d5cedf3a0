"""Predicates of section 8.3: the mixture of voice, video and data."""

from __future__ import annotations

from forebay.study import CLOSE, Bounds, Quantities, Truth, Values, all_of, at, every, some
from forebay_studies.atm.criteria import (
    CELL_S,
    DISCARD_BASED,
    MAX_SOURCES,
    MIX,
    NEAR_ZERO_LATE,
    NEAR_ZERO_LOSS,
    RATE_BASED,
    UNCONTROLLED,
    ZERO_LATE,
    ZERO_LOSS,
    case3_above_case2,
    curve,
    last_third,
    near_zero_everywhere,
    overloaded,
    setting,
)

HALF = 0.5
REALTIME_KINDS = ("voice_rate_ratio", "video_rate_ratio")
LATE = "realtime_late_ratio"
REALTIME_LOSS, DATA_LOSS = "realtime_loss_ratio", "data_loss_ratio"
THROUGHPUT = "throughput_ratio"
OTHERS = (UNCONTROLLED, DISCARD_BASED)
COMPARED = (57, 85, 113)
"""Numbers of sources at which runs without the data sources are made."""


def _curve(run: Quantities, case: int, quantity: str) -> Values:
    return curve(run, MIX, case, quantity)


def _overloaded(run: Quantities, case: int, quantity: str) -> Values:
    return overloaded(run, MIX, case, quantity)


def mix_case2_load_levels_off(run: Quantities) -> Truth:
    """In Case 2 every load of the last third is within 10 % of 80 % of the capacity, and the curve
    rises less from the middle third to the last than before."""
    loads = _curve(run, RATE_BASED, "load_ratio")
    first, middle, last = loads.thirds()
    level = every(loads[-len(last_third(MIX)) :]).around(0.80)
    return level & (last - middle < middle - first)


def mix_slowed_before_discard(run: Quantities) -> Truth:
    """In Case 3 every notification follows a discard, in Case 2 sources are notified of the input
    rate, at every overloaded number."""
    ours, rated = (
        every(_overloaded(run, case, "rate_notifications_count"))
        for case in (RATE_BASED, DISCARD_BASED)
    )
    return (ours > 0.0) & (rated <= 0.0)


def mix_all_slowed(run: Quantities) -> Truth:
    """Voice, video and data send at a lower share of their nominal rates in Cases 2 and 3 than in
    Case 1, each in the mean over the overloaded numbers."""
    return all_of(
        _overloaded(run, case, kind).mean() < _overloaded(run, UNCONTROLLED, kind).mean()
        for case in (RATE_BASED, DISCARD_BASED)
        for kind in (*REALTIME_KINDS, "data_rate_ratio")
    )


def mix_data_slowed_more(run: Quantities) -> Truth:
    """In Cases 2 and 3 data send at most at half the share of their nominal rate that voice and
    video do, each in the mean over the overloaded numbers."""
    return all_of(
        _overloaded(run, case, "data_rate_ratio").mean()
        <= HALF * _overloaded(run, case, kind).mean()
        for case in (RATE_BASED, DISCARD_BASED)
        for kind in REALTIME_KINDS
    )


def mix_case2_no_data_loss(run: Quantities) -> Truth:
    """In Case 2 near zero data cells are lost, at every number of sources."""
    return near_zero_everywhere(run, MIX, DATA_LOSS)


def mix_others_lose(run: Quantities) -> Truth:
    """In Cases 1 and 3 the loss of data is beyond near zero at every overloaded number, that of
    voice and video at some."""
    return all_of(
        (every(_overloaded(run, case, DATA_LOSS)) > NEAR_ZERO_LOSS)
        & (some(_curve(run, case, REALTIME_LOSS)) > NEAR_ZERO_LOSS)
        for case in OTHERS
    )


def mix_jitter_only_case2(run: Quantities) -> Truth:
    """In Case 2 near no cells are late at any number of sources; in Cases 1 and 3 at some number
    more."""
    ours = every(_curve(run, RATE_BASED, LATE)) <= NEAR_ZERO_LATE
    return ours & all_of(some(_curve(run, case, LATE)) > NEAR_ZERO_LATE for case in OTHERS)


def mix_data_harmless(run: Quantities) -> Truth:
    """In Case 2 voice and video lose no cells and have no late ones, and the same without the data
    sources, with 57, 85 and 113 sources."""
    points = [
        setting(MIX, RATE_BASED, count, change)
        for count in COMPARED
        for change in ("", "without-data")
    ]
    lost = every(at(run, point, REALTIME_LOSS) for point in points) <= ZERO_LOSS
    return lost & (every(at(run, point, LATE) for point in points) <= ZERO_LATE)


def mix_case3_file_time_grows(run: Quantities) -> Truth:
    """Each third of the curve of file times of Case 3 is higher than the one before."""
    return _curve(run, DISCARD_BASED, "file_time_s").grow()


def mix_case3_files_slower(run: Quantities) -> Truth:
    """Files take longer in Case 3 than in Case 2 with 113 sources, at which the text compares
    them."""
    cases = (DISCARD_BASED, RATE_BASED)
    slow, fast = (at(run, setting(MIX, case, MAX_SOURCES[MIX]), "file_time_s") for case in cases)
    return slow > fast


def mix_case2_no_loss_and_faster(run: Quantities) -> Truth:
    """Case 2 has near zero loss of all traffic at every number of sources, and shorter file times
    than Case 3 with 113."""
    kept = [near_zero_everywhere(run, MIX, quantity) for quantity in (REALTIME_LOSS, DATA_LOSS)]
    return all_of(kept) & mix_case3_files_slower(run)


def mix_case2_throughput_superior(run: Quantities) -> Truth:
    """At every number of the last third Case 2 has more than 10 % more throughput than each other
    case ("clearly")."""
    counts = last_third(MIX)
    ours = every(curve(run, MIX, RATE_BASED, THROUGHPUT, counts))
    others = [curve(run, MIX, case, THROUGHPUT, counts) for case in OTHERS]
    return all_of(ours > [(1.0 + CLOSE) * value for value in other] for other in others)


def mix_deterioration_by_discards(run: Quantities) -> Truth:
    """In Cases 1 and 3, of what the throughput of 113 sources lacks to the highest one, discarded
    data cells are more than half."""

    def explained(case: int) -> Truth:
        got = _curve(run, case, THROUGHPUT)
        sent = at(run, setting(MIX, case, MAX_SOURCES[MIX]), "data_sent_ratio")
        fall = got.highest() - got[-1]
        return (fall > 0.0) & (sent - got[-1] > HALF * fall)

    return all_of(explained(case) for case in OTHERS)


def mix_throughput_sometimes_higher(run: Quantities) -> Truth:
    """In each of Cases 1 and 3 the throughput is above that of Case 2 at some number of sources."""
    ours = _curve(run, RATE_BASED, THROUGHPUT)
    return all_of(some(_curve(run, case, THROUGHPUT)) > ours for case in OTHERS)


def mix_case2_input_around_90(run: Quantities) -> Truth:
    """In Case 2 the traffic sent to the link is within 10 % of 90 % of its rate at every overloaded
    number."""
    return every(_overloaded(run, RATE_BASED, "load_ratio")).around(0.90)


def mix_realtime_slowed_more_in_case2(run: Quantities) -> Truth:
    """Voice and video send at a lower share of their nominal rates in Case 2 than in Case 3, at
    every overloaded number."""
    return case3_above_case2(run, MIX, *REALTIME_KINDS)


def data_slowed_first(run: Quantities) -> Truth:
    """In Case 2, at every overloaded number, a data source gets more notifications than a voice or
    video source, and data send at a lower share of their nominal rate. (Before voice and video, not
    earlier in the run: at its beginning no data source exceeds its nominal rate.)"""
    data, realtime = (
        _overloaded(run, RATE_BASED, f"{kind}_notified_per_source_count")
        for kind in ("data", "realtime")
    )
    slowed = every(_overloaded(run, RATE_BASED, "data_rate_ratio"))
    others = [_overloaded(run, RATE_BASED, kind) for kind in REALTIME_KINDS]
    return (every(data) > realtime) & all_of(slowed < other for other in others)


def low_priority_harmless(run: Quantities) -> Truth:
    """In Case 1 with 29 and 43 sources data make the mean delay of voice and video longer by at
    most the transmission of one cell, and the share of late cells by nothing."""

    def more(quantity: str, count: int) -> Bounds:
        whole, alone = (setting(MIX, UNCONTROLLED, count, one) for one in ("", "without-data"))
        return at(run, whole, quantity) - at(run, alone, quantity)

    return all_of(
        (more("realtime_delay_s", count) <= CELL_S) & (more(LATE, count) <= ZERO_LATE)
        for count in (29, 43)
    )


def priorities_help(run: Quantities) -> Truth:
    """In Case 1 with 57 sources one queue for all traffic delays voice and video longer, and makes
    more of their cells late."""
    two, one = (setting(MIX, UNCONTROLLED, 57, change) for change in ("", "one-queue"))
    return all_of(
        at(run, two, quantity) < at(run, one, quantity) for quantity in ("realtime_delay_s", LATE)
    )


def realtime_share(run: Quantities) -> Truth:
    """Voice and video are 60 to 70 % of the unconstrained load, to the printed digits, at every
    number of sources."""
    return every(_curve(run, UNCONTROLLED, "realtime_share_ratio")).within(0.595, 0.705)
