"""The grading rule, case by case, as design and papers demand it."""

import itertools
import math
import operator

import pytest

from forebay.stats import Interval
from forebay.study.grades import (
    Bounds,
    Grade,
    Measurements,
    MissingMeasurementError,
    Quantities,
    Summary,
    Tolerance,
    Truth,
    all_of,
    any_of,
    at_least_count,
    grade_number,
    grade_statement,
    most_of,
    ordering_holds,
    points_needed,
    surely_at_least,
    surely_at_most,
    surely_greater,
    surely_less,
    surely_within,
    total,
)

T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


def measured(mean: float, half_width: float = 0.0) -> Interval:
    """An interval of ten replications."""
    return Interval(mean, mean - half_width, mean + half_width, half_width, 10)


# Published 10.00: exact within 0.2, close within 1.0.
CASES = [
    # value, half-width, ordering, grade
    (10.0, 0.0, F, Grade.EXACT),
    (10.19, 0.1, F, Grade.EXACT),
    (9.81, 0.2, F, Grade.EXACT),
    (10.21, 0.1, F, Grade.CLOSE),
    (10.1, 0.6, F, Grade.CLOSE),  # within 2 % but known only to 6 %
    (10.99, 1.0, T, Grade.CLOSE),
    (10.0, 1.01, T, Grade.IMPRECISE),  # not even known to 10 %
    (9.5, math.inf, T, Grade.IMPRECISE),  # one replication
    (11.5, 0.1, T, Grade.TREND),
    (11.5, 0.1, F, Grade.DEVIATES),
    (11.5, 0.1, U, Grade.IMPRECISE),
    (11.5, 0.9, F, Grade.DEVIATES),  # half-width within 10 %: the mean counts
    (11.5, 1.1, F, Grade.IMPRECISE),  # reaches into 10 % and is too wide
    (20.0, 5.0, F, Grade.DEVIATES),  # wide, but outside altogether
    (20.0, 5.0, T, Grade.TREND),
    (-10.0, 0.1, F, Grade.DEVIATES),
]


@pytest.mark.parametrize(("mean", "half_width", "ordering", "grade"), CASES)
def test_numeric_grades(mean: float, half_width: float, ordering: Truth, grade: Grade) -> None:
    """Numeric grades follow from the measured interval, the tolerance and the ordering."""
    tolerance = Tolerance.around(10.0, rounding=0.005)
    assert grade_number(measured(mean, half_width), tolerance, ordering) is grade


def test_negative_values_have_tolerances_too() -> None:
    """Negative values have positive tolerances: two percent of the magnitude."""
    tolerance = Tolerance.around(-10.0, rounding=0.005)
    assert (tolerance.exact, tolerance.close) == (0.2, 1.0)
    assert grade_number(measured(-10.1, 0.1), tolerance, F) is Grade.EXACT


def test_rounding_counts_where_it_is_wider_than_two_percent() -> None:
    """Rounding counts where it is wider than two percent: a paper that prints 0.1 is held to no
    further digits.

    0.1 printed with one decimal is anything from 0.05 to 0.15: rounding 0.05 against 2 % = 0.002.
    """
    tolerance = Tolerance.around(0.1, rounding=0.05)
    assert grade_number(measured(0.149), tolerance, F) is Grade.EXACT
    assert grade_number(measured(0.151), tolerance, F) is Grade.DEVIATES


def test_zero_needs_an_absolute_tolerance() -> None:
    """A published zero needs an absolute tolerance: without one, only an exact zero reproduces
    it."""
    bare = Tolerance.around(0.0, rounding=0.0)
    assert grade_number(measured(0.0), bare, F) is Grade.EXACT
    assert grade_number(measured(1e-9), bare, F) is Grade.DEVIATES
    stated = Tolerance.around(0.0, rounding=0.0, absolute_exact=0.001, absolute_close=0.005)
    assert grade_number(measured(0.0009, 0.001), stated, F) is Grade.EXACT
    assert grade_number(measured(0.004, 0.001), stated, F) is Grade.CLOSE
    assert grade_number(measured(0.006, 0.001), stated, F) is Grade.DEVIATES


def test_more_replications_never_change_a_settled_deviation() -> None:
    """More replications never change a settled deviation, so that the stopping rule ends on such a
    cell.

    Shrinking the half-width at the same mean may turn `imprecise` into something, but never
    one settled verdict into a worse one.
    """
    rank = [Grade.DEVIATES, Grade.TREND, Grade.CLOSE, Grade.EXACT]
    tolerance = Tolerance.around(10.0, rounding=0.005)
    for mean, ordering in itertools.product([10.1, 10.5, 11.5, 20.0], [T, F]):
        seen = [
            grade_number(measured(mean, width), tolerance, ordering)
            for width in (20.0, 5.0, 1.0, 0.5, 0.2, 0.0)
        ]
        settled = [rank.index(grade) for grade in seen if grade is not Grade.IMPRECISE]
        assert settled == sorted(settled)
        assert seen[-1] is not Grade.IMPRECISE


def test_nonsense_is_refused() -> None:
    """Values that are not finite and negative roundings are refused: a failed run is not graded as
    a deviation of the model."""
    with pytest.raises(ValueError, match="nan"):
        grade_number(measured(math.nan), Tolerance.around(1.0, 0.0), F)
    with pytest.raises(ValueError, match="rounding"):
        Tolerance.around(1.0, -0.1)
    with pytest.raises(ValueError, match="published"):
        Tolerance.around(math.inf, 0.1)


def test_statement_grades() -> None:
    """An undecided sentence is graded imprecise, neither confirmed nor refuted."""
    assert [grade_statement(t) for t in (T, F, U)] == [Grade.HOLDS, Grade.FAILS, Grade.IMPRECISE]


def test_ordering_needs_intervals_apart() -> None:
    """An ordering needs intervals apart: overlap neither confirms nor refutes the paper's trend."""
    published = [1.0, 2.0, 3.0]
    assert ordering_holds(published, [measured(x) for x in (10, 20, 30)]) is T
    assert ordering_holds(published, [measured(x, 6) for x in (10, 20, 30)]) is U
    assert ordering_holds(published, [measured(x) for x in (10, 30, 20)]) is F
    assert ordering_holds(published, [measured(10), None, measured(30)]) is U
    assert ordering_holds(published, [measured(30), None, measured(10)]) is F
    assert ordering_holds(published[::-1], [measured(x) for x in (30, 20, 10)]) is T
    assert ordering_holds([1.0, 2.0], [measured(5), measured(5)]) is F


def test_published_ties_order_nothing() -> None:
    """Published values that tie order nothing: the last digit of a single run does not decide a
    trend.

    28.61 and 28.70 differ by 0.3 %; 28.61 and 29.30 by 2.4 %.
    """
    assert ordering_holds([5.0, 28.61, 28.70], [measured(x) for x in (1, 9, 8)]) is T
    assert ordering_holds([5.0, 28.61, 29.30], [measured(x) for x in (1, 9, 8)]) is F
    assert ordering_holds([28.61, 28.70], [measured(x) for x in (8, 9)]) is F
    with pytest.raises(ValueError, match="2 published"):
        ordering_holds([1.0, 2.0], [None])


def test_comparisons_at_the_unfavourable_ends() -> None:
    """Comparisons are made at the unfavourable ends: an interval that reaches across the threshold
    decides nothing."""
    low, high, across = Bounds(1.0, 2.0), Bounds(3.0, 4.0), Bounds(1.5, 3.5)
    assert surely_greater(high, low) is T
    assert surely_greater(low, high) is F
    assert surely_greater(across, high) is U
    assert surely_less(low, 2.5) is T
    assert surely_less(low, 1.0) is F
    assert surely_at_least(low, 1.0) is T
    assert surely_at_most(low, 2.0) is T
    assert surely_at_most(across, 2.0) is U
    assert surely_within(low, 1.0, 2.0) is T
    assert surely_within(low, 1.5, 2.0) is U
    assert surely_within(high, 1.0, 2.0) is F
    # Two numbers without error obey ordinary arithmetic, ties included.
    for a, b in itertools.product([1.0, 2.0], repeat=2):
        assert surely_greater(a, b) is (T if a > b else F)
        assert surely_at_least(a, b) is (T if a >= b else F)


def test_bounds_cover_every_corner() -> None:
    """Arithmetic on bounds covers every corner, so that no possible value is lost."""
    a, b = Bounds(-1.0, 2.0), Bounds(3.0, 5.0)
    for operation in (operator.add, operator.sub):
        corners = [operation(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        assert operation(a, b) == Bounds(min(corners), max(corners))
    assert -2.0 * b == Bounds(-10.0, -6.0)
    assert a * 0.5 == Bounds(-0.5, 1.0)
    assert 1.0 + a == Bounds(0.0, 3.0)
    assert a.clamped(0.0) == Bounds(0.0, 2.0)
    assert total([a, b, b]) == Bounds(5.0, 12.0)
    assert 0.0 * Bounds(-math.inf, math.inf) == Bounds(0.0, 0.0)
    with pytest.raises(ValueError, match="low"):
        Bounds(2.0, 1.0)
    with pytest.raises(ValueError, match="low"):
        Bounds(math.nan, 1.0)


def test_three_valued_logic_is_consistent_with_two() -> None:
    """Three-valued logic is consistent with two: an unknown decides nothing unless both of its
    values agree.

    Kleene: a combination is known exactly when every way to settle the unknowns agrees.
    """
    ways = {T: [True], F: [False], U: [True, False]}
    for truths in itertools.product((T, F, U), repeat=3):
        outcomes = list(itertools.product(*(ways[truth] for truth in truths)))
        for combine, plain in (
            (all_of, all),
            (any_of, any),
            (most_of, lambda values: sum(values) >= 2),
            (lambda found: at_least_count(1, found), any),
        ):
            results = {plain(outcome) for outcome in outcomes}
            expected = U if len(results) == 2 else (T if results == {True} else F)
            assert combine(truths) is expected
        a, b, _ = truths
        assert (a & b) is all_of((a, b))
        assert (a | b) is any_of((a, b))
        assert (~a is a) == (a is U)


def test_unknown_has_no_boolean_value() -> None:
    """An unknown has no boolean value: `if truth` raises."""
    with pytest.raises(TypeError, match="unknown"):
        bool(U)


def test_nothing_to_check_is_an_error() -> None:
    """A predicate over no cells is an error: a mistyped grid holds nothing."""
    for combine in (all_of, any_of, most_of):
        with pytest.raises(ValueError, match="look at something"):
            combine([])
    with pytest.raises(ValueError, match="count is 2"):
        at_least_count(2, [T])


def predicate(run: Quantities) -> Truth:
    """Two rates of UDP, one compared with the other and with a number."""
    slow, fast = (run.value("udp_bps", precedences=2, udp_mbps=rate) for rate in (5, 60))
    return surely_greater(fast, slow) & surely_greater(
        run.value("udp_bps", udp_mbps=5, precedences=2), 1.0
    )


def test_points_needed_are_found_without_measuring() -> None:
    """Points that a predicate needs are found without measuring, each once."""
    assert points_needed(predicate) == [
        ({"precedences": 2, "udp_mbps": 5}, "udp_bps"),
        ({"precedences": 2, "udp_mbps": 60}, "udp_bps"),
    ]


def test_measurements_are_found_by_point_and_quantity() -> None:
    """Measurements are found by point and quantity, and one that is missing is named."""
    runs = Measurements()
    runs.record({"udp_mbps": 5, "precedences": 2}, "udp_bps", measured(4.0, 1.0))
    assert runs.value("udp_bps", precedences=2, udp_mbps=5) == Bounds(3.0, 5.0)
    assert runs.interval({"precedences": 3, "udp_mbps": 5}, "udp_bps") is None
    assert runs.interval({"precedences": 2, "udp_mbps": 5}, "tcp_sum_bps") is None
    with pytest.raises(MissingMeasurementError, match=r"udp_mbps.*60"):
        predicate(runs)


def test_summary_counts_every_grade_once() -> None:
    """A summary counts every grade once, so that the totals of result.json add up."""
    grades = [Grade.EXACT, Grade.EXACT, Grade.FAILS, Grade.IMPRECISE]
    assert Summary.of(grades).as_dict() == {
        "exact": 2,
        "close": 0,
        "consistent": 0,
        "trend": 0,
        "holds": 0,
        "fails": 1,
        "deviates": 0,
        "imprecise": 1,
        "total": 4,
    }
    assert sum(Summary.of(Grade).as_dict().values()) == 2 * len(Grade)
