"""Predicates of marks and clusters of packets, and of runs with other conditioners or loads."""

from __future__ import annotations

from forebay.study import CLOSE, Quantities, Truth, all_of, any_of, at
from forebay_studies.redn.criteria import (
    ADAPTIVE,
    DUAL,
    DUAL_LOAD,
    FACTOR,
    SELF_CONFIGURING,
    TIME_SLIDING_WINDOW,
    VERY_CLOSE,
    WITHOUT_CONDITIONING,
    flows,
)

PEAK, TROUGH = 1.33, 0.66
"""Bounds between which a throughput oscillates, in means of it (section 4.1)."""

FULL = 1.0 - CLOSE


def green_clusters_bounded(run: Quantities) -> Truth:
    """No more green packets of a flow of 120 ms and more pass its conditioner within a round trip
    than its baseline expected throughput times the smoothed round-trip time, in any run."""
    return at(run, ADAPTIVE, "green_cluster_max_ratio") <= 1.0


def yellow_clusters_bounded(run: Quantities) -> Truth:
    """The same of yellow packets and the higher expected throughput."""
    return at(run, ADAPTIVE, "yellow_cluster_max_ratio") <= 1.0


def multiple_marks_in_slow_start(run: Quantities) -> Truth:
    """Of the marks beyond the first of a window more than half fall into the beginnings of the
    baseline and the oversubscribed case, where flows are in slow start."""
    return at(run, ADAPTIVE, "multiple_marks_start_ratio") > 0.5


def conditioning_costs_nothing(run: Quantities) -> Truth:
    """Of what Table 4.1 assures, every flow gets at least 90 % of what it gets of it without
    conditioners, in every phase."""
    return all_of(
        at(run, ADAPTIVE, name) >= VERY_CLOSE * at(run, WITHOUT_CONDITIONING, name)
        for name in (f"{flow.name}_assured_bps" for flow in flows())
    )


def time_sliding_window_fails(run: Quantities) -> Truth:
    """Some flow reaches less than 90 % of its line behind a time sliding window marker, where it
    reaches at least that behind the adaptive token bucket."""
    return any_of(
        (at(run, TIME_SLIDING_WINDOW, f"{flow.name}_reached_bps") < VERY_CLOSE * flow.assured)
        & (at(run, ADAPTIVE, f"{flow.name}_reached_bps") >= VERY_CLOSE * flow.assured)
        for flow in flows()
    )


def window_oscillates(run: Quantities) -> Truth:
    """Over the second halves of phases windows are halved at 1.33 times their mean on average, and
    so begin again at 0.66 times it, to 10 % each."""
    before = at(run, ADAPTIVE, "window_before_mean_ratio").around(PEAK)
    return before & at(run, ADAPTIVE, "window_after_mean_ratio").around(TROUGH)


def first_gateway_marks_the_start(run: Quantities) -> Truth:
    """In the beginning of the baseline case 10 Mbit/s flows through two gateways have a timeout at
    least once a run; packets risk a mark at the first gateway more than at the second, and what the
    first marks is mostly yellow."""
    late = at(run, DUAL, "two_10mbps_timeouts_start_count") >= 1.0
    first = at(run, DUAL, "start_first_risk_ratio") > 0.5
    return late & first & (at(run, DUAL, "first_yellow_marked_ratio") > 0.5)


def dual_load_is_transient(run: Quantities) -> Truth:
    """Under Self-Configuring REDn, when the load falls back after it has driven the average of all
    packets, red's, beyond the maximum threshold, red's probability is divided again, and the steady
    state of the undersubscribed case has the link at least 90 % full."""
    raised = at(run, DUAL_LOAD, "o_red_increments_count") >= 1.0
    divided = at(run, DUAL_LOAD, "u_red_decrements_count") >= 1.0
    return raised & divided & (at(run, DUAL_LOAD, "u_utilization_ratio") >= FULL)


def queue_grows_quadratically(run: Quantities) -> Truth:
    """Under Self-Configuring REDn the queue grows in U, and in the second half of the steady state
    at least twice as much as in the first: three times would be quadratic, once linear."""
    first = at(run, SELF_CONFIGURING, "u_rise_first_s")
    return (first > 0.0) & (at(run, SELF_CONFIGURING, "u_rise_second_s") >= FACTOR * first)
