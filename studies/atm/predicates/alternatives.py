"""Predicates of chapters 4 and 5 on what the thesis describes beside its own choices."""

from __future__ import annotations

from itertools import pairwise

from forebay.study import EXACT, Bounds, Point, Quantities, Truth, all_of, at, every
from forebay_studies.atm.criteria import (
    DATA,
    INTERVAL_S,
    MAX_SOURCES,
    MIX,
    NEAR_ZERO_LATE,
    NEAR_ZERO_LOSS,
    POINT,
    RATE_BASED,
    REALTIME,
    losses,
    setting,
)

SCENARIOS = (REALTIME, DATA, MIX)
WITH_REALTIME = (REALTIME, MIX)
LATE = "realtime_late_ratio"
CUT = 0.04
ORDER = {REALTIME: (3, 1), DATA: (4, 2), MIX: (3, 2, 1)}
"""The classes that there are in each scenario, those to be penalized first at first."""
COUNTS_OF_ORDER = {REALTIME: 120, DATA: 19, MIX: 113}
"""Numbers of sources at which each of them is there; data sources exceed their nominal rates when
they are few."""


def _most(scenario: int, change: str = "", case: int = RATE_BASED) -> Point:
    """The run with the most sources of a scenario."""
    return setting(scenario, case, MAX_SOURCES[scenario], change)


def _lost(run: Quantities, scenario: int, change: str = "", case: int = RATE_BASED) -> list[Bounds]:
    return [at(run, _most(scenario, change, case), quantity) for quantity in losses(scenario)]


# Chapter 4: exact selective discard.


def discards_differ(run: Quantities) -> Truth:
    """Of the same arrivals another share of cells is late with exact selective discard than with a
    threshold: with the most voice and video sources, policed and not controlled."""
    threshold, exact = (
        at(run, _most(REALTIME, change), LATE) for change in ("policed", "policed-exact")
    )
    return (threshold < exact) | (threshold > exact)


# Section 5.1: detection by queue length; the order of the classes.


def _in_time(run: Quantities, change: str) -> Truth:
    return all_of(every(_lost(run, scenario, change)) <= NEAR_ZERO_LOSS for scenario in SCENARIOS)


def queue_length_in_time(run: Quantities) -> Truth:
    """With detection at 90 % of a queue near zero cells are lost with the most sources of each
    scenario."""
    return _in_time(run, "queue-length")


def queue_length_in_time_without_threshold(run: Quantities) -> Truth:
    """The same where queues drop no cell with CLP=1 before they are full."""
    return _in_time(run, "queue-length-shared")


def rates_before_queue_length(run: Quantities) -> Truth:
    """With detection by input rate fewer cells are lost than with detection at 90 % of a queue, and
    fewer of voice and video are late, with the most sources of each scenario."""
    lost = all_of(
        every(_lost(run, scenario)) < _lost(run, scenario, "queue-length") for scenario in SCENARIOS
    )
    return lost & all_of(
        at(run, _most(scenario), LATE) < at(run, _most(scenario, "queue-length"), LATE)
        for scenario in WITH_REALTIME
    )


def classes_in_order(run: Quantities) -> Truth:
    """Of the intervals in which the port is congested and cells of a class arrive, sources of that
    class are notified in no smaller a share than those of any higher class that there is."""

    def ordered(scenario: int) -> Truth:
        point = setting(scenario, RATE_BASED, COUNTS_OF_ORDER[scenario], "sampled")
        shares = [at(run, point, f"class{number}_told_ratio") for number in ORDER[scenario]]
        return all_of(low >= high for low, high in pairwise(shares))

    return all_of(ordered(scenario) for scenario in SCENARIOS)


def class1_last(run: Quantities) -> Truth:
    """In the mixture with the most sources class 1 is notified in at most half the share of
    congested intervals in which classes 2 and 3 are, each."""
    point = _most(MIX, "sampled")
    first, *others = (at(run, point, f"class{number}_told_ratio") for number in (1, 2, 3))
    return all_of(first <= 0.5 * other for other in others)


# Section 5.2: forward notification.


def backward_sooner(run: Quantities) -> Truth:
    """From a port back to its source a notification takes less time than from the destination, not
    counting the way of the marked cells to there; in every scenario with the most sources."""
    return all_of(
        at(run, _most(scenario), "notification_delay_s")
        < at(run, _most(scenario, "forward"), "notification_delay_s")
        for scenario in SCENARIOS
    )


def _spared(run: Quantities, change: str) -> Bounds:
    """The share of runs of the mixture with the most sources that lose near zero data cells."""
    return at(run, _most(MIX, change), "data_near_zero_ratio")


def backward_better(run: Quantities) -> Truth:
    """With backward notification fewer cells of voice and video alone are late than with forward
    notification, more runs of the mixture lose near zero data cells, and with data alone near zero
    cells are lost; each with the most sources. (Means of losses hang on single runs.)"""
    late = at(run, _most(REALTIME), LATE) < at(run, _most(REALTIME, "forward"), LATE)
    spared = _spared(run, "") > _spared(run, "forward")
    return late & spared & (every(_lost(run, DATA)) <= NEAR_ZERO_LOSS)


def backward_better_near(run: Quantities) -> Truth:
    """The lead of backward over forward notification in runs of the mixture with near zero loss of
    data is larger where the port is near the sources than where the satellite link is in between.
    """
    near = _spared(run, "") - _spared(run, "forward")
    return near > _spared(run, "far-port") - _spared(run, "far-forward")


def notifications_overflow(run: Quantities) -> Truth:
    """Notifications are lost where others send more than the way back carries, at their priority,
    and none is where no others do."""
    quantity = "notifications_lost_count"
    busy, quiet = (at(run, _most(MIX, change), quantity) for change in ("busy-way-back", ""))
    return (busy > 0.0) & (quiet <= 0.0)


def next_notification_after_50_ms(run: Quantities) -> Truth:
    """Of the notifications that such a queue lets through, no two reach a source within less than
    50 ms, but for what the wait of one differs from that of the next: at most the queue of 512
    cells at 21 Mbit/s."""
    wait = 512 * 424 / 21e6
    return at(run, _most(MIX, "busy-way-back"), "notification_gap_min_s") >= INTERVAL_S - wait


# Section 5.3: rate control.


def on_off_underutilises(run: Quantities) -> Truth:
    """With sources that are turned off the link is utilised less than with the thesis's control, by
    more than 2 %, in every scenario with the most sources."""
    quantity = "utilization_ratio"
    return all_of(
        at(run, _most(scenario, "on-off"), quantity)
        < (1.0 - EXACT) * at(run, _most(scenario), quantity)
        for scenario in SCENARIOS
    )


def on_off_acceptable(run: Quantities) -> Truth:
    """With sources that are turned off near zero cells are lost, and near none of voice and video
    is late, with the most sources of each scenario."""
    return all_of(
        every(_lost(run, scenario, "on-off")) <= NEAR_ZERO_LOSS for scenario in SCENARIOS
    ) & all_of(
        at(run, _most(scenario, "on-off"), LATE) <= NEAR_ZERO_LATE for scenario in WITH_REALTIME
    )


def on_off_below_capacity(run: Quantities) -> Truth:
    """With sources that are turned off the load is below the capacity in every scenario with the
    most sources."""
    loads = [at(run, _most(scenario, "on-off"), "load_ratio") for scenario in SCENARIOS]
    return every(loads) < 1.0


def cut_by_4(run: Quantities) -> Truth:
    """The rate at which sources send falls by at least 4 % of the link within two intervals when
    the port becomes congested, on average, in every scenario with the most sources."""
    cuts = [at(run, _most(scenario, "sampled"), "cut_ratio") for scenario in SCENARIOS]
    return every(cuts) >= CUT


def constant_favours_slow(run: Quantities) -> Truth:
    """With one increase for all, voice sends at a share of its nominal rate that is by more than 10
    points above that of video; with increases by nominal rates the two differ by less than with one
    increase. Voice and video alone and in the mixture, with the most sources."""

    def gap(scenario: int, change: str = "") -> Bounds:
        point = _most(scenario, change)
        return at(run, point, "voice_rate_ratio") - at(run, point, "video_rate_ratio")

    return all_of(
        (gap(scenario, "constant-increase") > 10 * POINT)
        & (gap(scenario) < gap(scenario, "constant-increase"))
        for scenario in WITH_REALTIME
    )
