"""Predicates of section 8.3: the mixture of voice, video and data."""

from __future__ import annotations

from forebay.study.grades import (
    CLOSE,
    Bounds,
    Quantities,
    Truth,
    all_of,
    any_of,
    surely_at_least,
    surely_at_most,
    surely_greater,
    surely_less,
)
from forebay_studies.atm.readings import (
    CELL_S,
    DISCARD_BASED,
    MIX,
    MOST,
    NEAR_ZERO_LATE,
    NEAR_ZERO_LOSS,
    OVERLOADED,
    POINT,
    RATE_BASED,
    UNCONTROLLED,
    ZERO_LATE,
    ZERO_LOSS,
    Setting,
    around,
    at,
    best_given_loss,
    curve,
    exceeds_by_points,
    fails_somewhere,
    grows,
    higher_everywhere,
    highest,
    last_third,
    mean,
    near_zero_everywhere,
    on_the_order_of_unacceptable,
    only_case2_satisfies,
    overloaded_from,
    thirds,
)

HALF = 0.5
KINDS = ("voice_rate_ratio", "video_rate_ratio", "data_rate_ratio")
LATE = "realtime_late_ratio"
REALTIME_LOSS, DATA_LOSS = "realtime_loss_ratio", "data_loss_ratio"
THROUGHPUT = "throughput_ratio"
COMPARED = (57, 85, 113)
"""Numbers of sources at which runs without the data sources are made."""


def mix_overload_from_57(run: Quantities) -> Truth:
    """The load of Case 1 is above 1 from 57 sources on, and not below."""
    return overloaded_from(run, MIX)


def mix_case2_load_levels_off(run: Quantities) -> Truth:
    """In Case 2 every load of the last third is within 10 % of 80 % of the capacity, and the curve
    rises less from the middle third to the last than before."""
    loads = curve(run, MIX, RATE_BASED, "load_ratio")
    first, middle, last = thirds(loads)
    return all_of(around(load, 0.80) for load in loads[-len(last_third(MIX)) :]) & surely_less(
        last - middle, middle - first
    )


def mix_case3_load_10_higher(run: Quantities) -> Truth:
    """The load of Case 3 is by more than 10 points of the capacity above that of Case 2, in the
    mean over the overloaded numbers."""
    return surely_greater(exceeds_by_points(run, MIX, "load_ratio"), 10 * POINT)


def mix_case3_utilisation_higher(run: Quantities) -> Truth:
    """The link is utilised more in Case 3 than in Case 2, at every overloaded number."""
    return higher_everywhere(run, MIX, "utilization_ratio", (DISCARD_BASED, RATE_BASED))


def mix_slowed_before_discard(run: Quantities) -> Truth:
    """In Case 3 every notification follows a discard, in Case 2 sources are notified of the input
    rate, at every overloaded number."""
    ours, rated = (
        curve(run, MIX, case, "rate_notifications_count", OVERLOADED[MIX])
        for case in (RATE_BASED, DISCARD_BASED)
    )
    return all_of(surely_greater(number, 0.0) for number in ours) & all_of(
        surely_at_most(number, 0.0) for number in rated
    )


def mix_all_slowed(run: Quantities) -> Truth:
    """Voice, video and data send at a lower share of their nominal rates in Cases 2 and 3 than in
    Case 1, each in the mean over the overloaded numbers."""
    return all_of(
        surely_less(_mean(run, case, kind), _mean(run, UNCONTROLLED, kind))
        for case in (RATE_BASED, DISCARD_BASED)
        for kind in KINDS
    )


def mix_data_slowed_more(run: Quantities) -> Truth:
    """In Cases 2 and 3 data send at most at half the share of their nominal rate that voice and
    video do, each in the mean over the overloaded numbers."""
    return all_of(
        surely_at_most(_mean(run, case, "data_rate_ratio"), HALF * _mean(run, case, kind))
        for case in (RATE_BASED, DISCARD_BASED)
        for kind in KINDS[:2]
    )


def _mean(run: Quantities, case: int, quantity: str) -> Bounds:
    """The mean over the overloaded numbers."""
    return mean(curve(run, MIX, case, quantity, OVERLOADED[MIX]))


def mix_case2_no_data_loss(run: Quantities) -> Truth:
    """In Case 2 near zero data cells are lost, at every number of sources."""
    return near_zero_everywhere(run, MIX, DATA_LOSS)


def mix_others_lose(run: Quantities) -> Truth:
    """In Cases 1 and 3 the loss of data is beyond near zero at every overloaded number, that of
    voice and video at some."""
    return all_of(
        all_of(
            surely_greater(loss, NEAR_ZERO_LOSS)
            for loss in curve(run, MIX, case, DATA_LOSS, OVERLOADED[MIX])
        )
        & fails_somewhere(curve(run, MIX, case, REALTIME_LOSS), NEAR_ZERO_LOSS)
        for case in (UNCONTROLLED, DISCARD_BASED)
    )


def mix_jitter_only_case2(run: Quantities) -> Truth:
    """In Case 2 near no cells are late at any number of sources; in Cases 1 and 3 at some number
    more."""
    return all_of(
        surely_at_most(late, NEAR_ZERO_LATE) for late in curve(run, MIX, RATE_BASED, LATE)
    ) & all_of(
        fails_somewhere(curve(run, MIX, case, LATE), NEAR_ZERO_LATE)
        for case in (UNCONTROLLED, DISCARD_BASED)
    )


def mix_data_harmless(run: Quantities) -> Truth:
    """In Case 2 voice and video lose no cells and have no late ones, and the same without the data
    sources, with 57, 85 and 113 sources."""
    return all_of(
        surely_at_most(at(run, setting, REALTIME_LOSS), ZERO_LOSS)
        & surely_at_most(at(run, setting, LATE), ZERO_LATE)
        for count in COMPARED
        for setting in (
            Setting(MIX, RATE_BASED, count),
            Setting(MIX, RATE_BASED, count, "without-data"),
        )
    )


def mix_case2_file_time_grows(run: Quantities) -> Truth:
    """Each third of the curve of file times of Case 2 is higher than the one before, as data send
    at an ever lower share of their nominal rate."""
    return grows(curve(run, MIX, RATE_BASED, "file_time_s"))


def mix_case3_file_time_grows(run: Quantities) -> Truth:
    """The same in Case 3."""
    return grows(curve(run, MIX, DISCARD_BASED, "file_time_s"))


def mix_case3_files_slower(run: Quantities) -> Truth:
    """Files take longer in Case 3 than in Case 2 with 113 sources, at which the text compares
    them."""
    slow, fast = (Setting(MIX, case, MOST[MIX]) for case in (DISCARD_BASED, RATE_BASED))
    return surely_greater(at(run, slow, "file_time_s"), at(run, fast, "file_time_s"))


def mix_case2_no_loss_and_faster(run: Quantities) -> Truth:
    """Case 2 has near zero loss of all traffic at every number of sources, and shorter file times
    than Case 3 with 113."""
    kept = [near_zero_everywhere(run, MIX, quantity) for quantity in (REALTIME_LOSS, DATA_LOSS)]
    return all_of(kept) & mix_case3_files_slower(run)


def mix_case2_throughput_superior(run: Quantities) -> Truth:
    """At every number of the last third Case 2 has more than 10 % more throughput than each other
    case ("clearly")."""
    counts = last_third(MIX)
    ours = curve(run, MIX, RATE_BASED, THROUGHPUT, counts)
    return all_of(
        surely_greater(value, (1.0 + CLOSE) * other)
        for case in (UNCONTROLLED, DISCARD_BASED)
        for value, other in zip(ours, curve(run, MIX, case, THROUGHPUT, counts), strict=True)
    )


def mix_case2_best_given_loss(run: Quantities) -> Truth:
    """Case 2 has near zero loss of data, and no case with near zero loss has more throughput, at
    every number of sources."""
    return best_given_loss(run, MIX)


def mix_deterioration_by_discards(run: Quantities) -> Truth:
    """In Cases 1 and 3, of what the throughput of 113 sources lacks to the highest one, discarded
    data cells are more than half."""
    return all_of(_discards_explain(run, case) for case in (UNCONTROLLED, DISCARD_BASED))


def _discards_explain(run: Quantities, case: int) -> Truth:
    values = curve(run, MIX, case, THROUGHPUT)
    sent = at(run, Setting(MIX, case, MOST[MIX]), "data_sent_ratio")
    fall = highest(values) - values[-1]
    return surely_greater(fall, 0.0) & surely_greater(sent - values[-1], HALF * fall)


def mix_throughput_sometimes_higher(run: Quantities) -> Truth:
    """In each of Cases 1 and 3 the throughput is above that of Case 2 at some number of sources."""
    ours = curve(run, MIX, RATE_BASED, THROUGHPUT)
    return all_of(
        any_of(
            surely_greater(other, value)
            for value, other in zip(ours, curve(run, MIX, case, THROUGHPUT), strict=True)
        )
        for case in (UNCONTROLLED, DISCARD_BASED)
    )


def mix_case2_input_around_90(run: Quantities) -> Truth:
    """In Case 2 the traffic sent to the link is within 10 % of 90 % of its rate at every overloaded
    number."""
    return all_of(
        around(load, 0.90) for load in curve(run, MIX, RATE_BASED, "load_ratio", OVERLOADED[MIX])
    )


def mix_realtime_slowed_more_in_case2(run: Quantities) -> Truth:
    """Voice and video send at a lower share of their nominal rates in Case 2 than in Case 3, at
    every overloaded number."""
    return all_of(
        higher_everywhere(run, MIX, kind, (DISCARD_BASED, RATE_BASED)) for kind in KINDS[:2]
    )


def mix_case3_loss_order(run: Quantities) -> Truth:
    """The highest cell loss ratio of voice and video in Case 3 is on the order of 10^-4."""
    return on_the_order_of_unacceptable(curve(run, MIX, DISCARD_BASED, REALTIME_LOSS))


def mix_only_case2_satisfies(run: Quantities) -> Truth:
    """Case 2 satisfies the requirement at every number of sources, the others at none that is
    overloaded."""
    return only_case2_satisfies(run, MIX)


def data_slowed_first(run: Quantities) -> Truth:
    """In Case 2, at every overloaded number, a data source gets more notifications than a voice or
    video source, and data send at a lower share of their nominal rate. (Before voice and video, not
    earlier in the run: at its beginning no data source exceeds its nominal rate.)"""
    counts = OVERLOADED[MIX]
    settings = [Setting(MIX, RATE_BASED, count) for count in counts]
    return all_of(
        surely_greater(
            at(run, setting, "data_notified_per_source_count"),
            at(run, setting, "realtime_notified_per_source_count"),
        )
        for setting in settings
    ) & all_of(
        surely_less(at(run, setting, "data_rate_ratio"), at(run, setting, kind))
        for setting in settings
        for kind in KINDS[:2]
    )


def low_priority_harmless(run: Quantities) -> Truth:
    """In Case 1 with 29 and 43 sources data make the mean delay of voice and video longer by at
    most the transmission of one cell, and the share of late cells by nothing."""
    verdicts = []
    for count in (29, 43):
        whole = Setting(MIX, UNCONTROLLED, count)
        alone = Setting(MIX, UNCONTROLLED, count, "without-data")
        longer = at(run, whole, "realtime_delay_s") - at(run, alone, "realtime_delay_s")
        later = at(run, whole, LATE) - at(run, alone, LATE)
        verdicts.append(surely_at_most(longer, CELL_S) & surely_at_most(later, ZERO_LATE))
    return all_of(verdicts)


def priorities_help(run: Quantities) -> Truth:
    """In Case 1 with 57 sources one queue for all traffic delays voice and video longer, and makes
    more of their cells late."""
    two, one = (Setting(MIX, UNCONTROLLED, 57, change) for change in ("", "one-queue"))
    return all_of(
        surely_less(at(run, two, quantity), at(run, one, quantity))
        for quantity in ("realtime_delay_s", LATE)
    )


def realtime_share(run: Quantities) -> Truth:
    """Voice and video are 60 to 70 % of the unconstrained load, to the printed digits, at every
    number of sources."""
    return all_of(
        surely_at_least(share, 0.595) & surely_at_most(share, 0.705)
        for share in curve(run, MIX, UNCONTROLLED, "realtime_share_ratio")
    )
