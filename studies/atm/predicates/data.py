"""Predicates of section 8.2: data alone."""

from __future__ import annotations

from forebay.study import CLOSE, Bounds, Quantities, Truth, at, every
from forebay_studies.atm.criteria import (
    DATA,
    DISCARD_BASED,
    MAX_SOURCES,
    POINT,
    RATE_BASED,
    UNCONTROLLED,
    curve,
    exceeds_by,
    higher,
    setting,
)

FILE_S = 16.0
CONSTANT = 10 * POINT
"""Width of the range that section 8.1 calls fairly constant: between 70 and 80 %."""


def data_case2_load_constant(run: Quantities) -> Truth:
    """In Case 2 the loads of all numbers of sources are within 10 % of 75 % of the capacity, and
    within 10 points of each other."""
    loads = curve(run, DATA, RATE_BASED, "load_ratio")
    return every(loads).around(0.75) & (loads.highest() - loads.lowest() <= CONSTANT)


def data_case3_throughput_10_higher(run: Quantities) -> Truth:
    """The throughput of Case 3 is by more than 10 points of the capacity above that of Case 2, in
    the mean over the overloaded numbers."""
    return exceeds_by(run, DATA, "throughput_ratio") > 10 * POINT


def data_case3_superior_to_case1(run: Quantities) -> Truth:
    """Case 3 loses at most half as many cells as Case 1 ("clearly"), at every overloaded number."""
    return higher(run, DATA, "data_loss_ratio", (UNCONTROLLED, DISCARD_BASED), 1.0)


def data_case1_file_time_slightly_above(run: Quantities) -> Truth:
    """In Case 1 a file takes more than 16 s, by at most 10 %, at every number of sources."""
    times = every(curve(run, DATA, UNCONTROLLED, "file_time_s"))
    return (times > FILE_S) & (times <= (1.0 + CLOSE) * FILE_S)


def data_case3_files_faster(run: Quantities) -> Truth:
    """Files take less time in Case 3 than in Case 2 with 29 sources, at which the text compares
    them."""
    cases = (RATE_BASED, DISCARD_BASED)
    slow, fast = (at(run, setting(DATA, case, MAX_SOURCES[DATA]), "file_time_s") for case in cases)
    return slow > fast


def larger_data_queue_slight_delay(run: Quantities) -> Truth:
    """With 29 sources in Case 3, queues and thresholds of half the length lose more cells, and make
    the mean end-to-end delay shorter, by at most 10 %."""
    loss, shorter, delay, half_delay = _halved(run, DISCARD_BASED)
    return loss & shorter & (delay <= (1.0 + CLOSE) * half_delay)


def longer_queues_delay_more_and_lose_less(run: Quantities) -> Truth:
    """The same in Case 1, whatever the difference of the delays."""
    loss, shorter, *_ = _halved(run, UNCONTROLLED)
    return loss & shorter


def _halved(run: Quantities, case: int) -> tuple[Truth, Truth, Bounds, Bounds]:
    """With 29 sources: whether half queues lose more, whether they delay less, and both delays."""
    whole, half = (setting(DATA, case, 29, change) for change in ("", "half-queues"))
    delay, half_delay = (at(run, point, "data_delay_s") for point in (whole, half))
    loss = at(run, whole, "data_loss_ratio") < at(run, half, "data_loss_ratio")
    return loss, delay > half_delay, delay, half_delay
