"""Predicates of section 8.2: data alone."""

from __future__ import annotations

from forebay.study.grades import (
    CLOSE,
    Bounds,
    Quantities,
    Truth,
    all_of,
    surely_at_most,
    surely_greater,
    surely_less,
)
from forebay_studies.atm.readings import (
    DATA,
    DISCARD_BASED,
    MOST,
    POINT,
    RATE_BASED,
    UNCONTROLLED,
    Setting,
    around,
    at,
    best_given_loss,
    curve,
    exceeds_by_points,
    grows,
    higher_everywhere,
    highest,
    lowest,
    on_the_order_of_unacceptable,
    only_case2_satisfies,
    overloaded_from,
    slowed_before_discard,
)

FILE_S = 16.0
LOSS = "data_loss_ratio"
CONSTANT = 10 * POINT
"""What section 8.1 calls fairly constant: between 70 and 80 %."""


def data_overload_from_25(run: Quantities) -> Truth:
    """The load of Case 1, which was measured, is above 1 from 25 sources on, and not below."""
    return overloaded_from(run, DATA)


def data_case2_load_constant(run: Quantities) -> Truth:
    """In Case 2 the loads of all numbers of sources are within 10 % of 75 % of the capacity, and
    within 10 points of each other."""
    loads = curve(run, DATA, RATE_BASED, "load_ratio")
    return all_of(around(load, 0.75) for load in loads) & surely_at_most(
        highest(loads) - lowest(loads), CONSTANT
    )


def data_case3_load_10_higher(run: Quantities) -> Truth:
    """The load of Case 3 is by more than 10 points of the capacity above that of Case 2, in the
    mean over the overloaded numbers."""
    return surely_greater(exceeds_by_points(run, DATA, "load_ratio"), 10 * POINT)


def data_case3_throughput_10_higher(run: Quantities) -> Truth:
    """The same of the throughput."""
    return surely_greater(exceeds_by_points(run, DATA, "throughput_ratio"), 10 * POINT)


def data_case1_loss_grows(run: Quantities) -> Truth:
    """Each third of the loss curve of Case 1 is higher than the one before."""
    return grows(curve(run, DATA, UNCONTROLLED, LOSS))


def data_case3_superior_to_case1(run: Quantities) -> Truth:
    """Case 3 loses at most half as many cells as Case 1 ("clearly"), at every overloaded number."""
    return higher_everywhere(run, DATA, LOSS, (UNCONTROLLED, DISCARD_BASED), 1.0)


def data_only_case2_satisfies(run: Quantities) -> Truth:
    """Case 2 satisfies the requirement at every number of sources, the others at none that is
    overloaded."""
    return only_case2_satisfies(run, DATA)


def data_slowed_before_discard(run: Quantities) -> Truth:
    """Under overload Case 2 notifies sources of the input rate, and discards no cell."""
    return slowed_before_discard(run, DATA)


def data_case1_file_time_slightly_above(run: Quantities) -> Truth:
    """In Case 1 a file takes more than 16 s, by at most 10 %, at every number of sources."""
    times = curve(run, DATA, UNCONTROLLED, "file_time_s")
    return all_of(
        surely_greater(time, FILE_S) & surely_at_most(time, (1.0 + CLOSE) * FILE_S)
        for time in times
    )


def data_case2_file_time_grows(run: Quantities) -> Truth:
    """Each third of the curve of file times of Case 2 is higher than the one before."""
    return grows(curve(run, DATA, RATE_BASED, "file_time_s"))


def data_case3_files_faster(run: Quantities) -> Truth:
    """Files take less time in Case 3 than in Case 2 with 29 sources, at which the text compares
    them."""
    slow, fast = (Setting(DATA, case, MOST[DATA]) for case in (RATE_BASED, DISCARD_BASED))
    return surely_greater(at(run, slow, "file_time_s"), at(run, fast, "file_time_s"))


def data_case2_best_given_loss(run: Quantities) -> Truth:
    """Case 2 has near zero loss, and no case with near zero loss has more throughput, at every
    number of sources."""
    return best_given_loss(run, DATA)


def data_case3_loss_order(run: Quantities) -> Truth:
    """The highest cell loss ratio of Case 3 is on the order of 10^-4."""
    return on_the_order_of_unacceptable(curve(run, DATA, DISCARD_BASED, LOSS))


def larger_data_queue_slight_delay(run: Quantities) -> Truth:
    """With 29 sources in Case 3, queues and thresholds of half the length lose more cells, and make
    the mean end-to-end delay shorter, by at most 10 %."""
    whole, half = (_one(run, DISCARD_BASED, change) for change in ("", "half-queues"))
    return (
        surely_less(whole[0], half[0])
        & surely_greater(whole[1], half[1])
        & surely_at_most(whole[1], (1.0 + CLOSE) * half[1])
    )


def longer_queues_delay_more_and_lose_less(run: Quantities) -> Truth:
    """The same in Case 1, whatever the difference of the delays."""
    whole, half = (_one(run, UNCONTROLLED, change) for change in ("", "half-queues"))
    return surely_less(whole[0], half[0]) & surely_greater(whole[1], half[1])


def _one(run: Quantities, case: int, change: str) -> tuple[Bounds, Bounds]:
    """Cell loss ratio and mean delay of 29 sources."""
    setting = Setting(DATA, case, 29, change)
    return at(run, setting, LOSS), at(run, setting, "data_delay_s")
