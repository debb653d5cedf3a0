"""The words that predicates are made of, on bounds whose truth can be read off."""

from __future__ import annotations

import pytest

from forebay.stats import Interval
from forebay.study import Bounds, Quantities, Truth, Values, at, every, for_each, most, some, values
from forebay.study.grades import Measurements, Point

TRUE, FALSE, UNKNOWN = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


def known(*numbers: float) -> Values:
    """Quantities known without error."""
    return Values(map(Bounds.exactly, numbers))


def measured() -> Measurements:
    """Delays of two phases and two loads at one grid point: 1, 2, 3 and 4 s."""
    found = Measurements()
    for number, name in enumerate(("a_load1", "a_load2", "b_load1", "b_load2"), 1):
        found.record({"law": "red"}, f"{name}_delay_s", Interval.known(float(number)))
    return found


def test_comparisons_of_bounds_are_three_valued() -> None:
    """Comparisons of bounds are three-valued, since an interval that holds the limit does not
    decide: 1 to 2 is above 0.9, not above 2, and of 1.5 nothing is known."""
    bounds = Bounds(1.0, 2.0)
    assert [bounds > limit for limit in (0.9, 2.0, 1.5)] == [TRUE, FALSE, UNKNOWN]
    assert [bounds < limit for limit in (2.1, 1.0, 1.5)] == [TRUE, FALSE, UNKNOWN]
    assert [bounds >= limit for limit in (1.0, 2.1, 1.5)] == [TRUE, FALSE, UNKNOWN]
    assert [bounds <= limit for limit in (2.0, 0.9, 1.5)] == [TRUE, FALSE, UNKNOWN]
    assert (bounds > 0.9) is TRUE
    assert 3.0 - bounds == Bounds(1.0, 2.0)
    with pytest.raises(TypeError):
        bool(bounds > 1.5)


def test_around_and_similar_are_within_ten_per_cent() -> None:
    """Around and similar are within ten per cent: 110 is around 100 and similar to it, and so is
    100 to 110; 111 is neither, and 91 is similar to 100 while 90 is not (100 / 90 = 1.11)."""
    assert Bounds.exactly(110.0).around(100.0) is TRUE
    assert Bounds.exactly(111.0).around(100.0) is FALSE
    for less, more, truth in ((100.0, 109.9, TRUE), (91.0, 100.0, TRUE), (90.0, 100.0, FALSE)):
        assert Bounds.exactly(less).similar(more) is truth
        assert Bounds.exactly(more).similar(less) is truth
    assert known(91.0, 95.0, 100.0).alike() is TRUE
    assert known(90.0, 95.0, 100.0).alike() is FALSE


def test_every_some_and_most_count_what_holds() -> None:
    """Every, most and some count the values for which a sentence holds: of 1, 2 and 3 two are above
    1.5, none above 3."""
    three = known(1.0, 2.0, 3.0)
    limits = (0.5, 1.5, 2.5, 3.0)
    assert [every(three) > limit for limit in limits] == [TRUE, FALSE, FALSE, FALSE]
    assert [most(three) > limit for limit in limits] == [TRUE, TRUE, FALSE, FALSE]
    assert [some(three) > limit for limit in limits] == [TRUE, TRUE, TRUE, FALSE]
    assert (every([Bounds(1.0, 3.0)]) > 2.0) is UNKNOWN


def test_each_is_compared_with_its_own_counterpart() -> None:
    """Each value is compared with its own counterpart: 1 < 2 and 5 < 6, though 5 > 2."""
    assert (every(known(1.0, 5.0)) < [2.0, 6.0]) is TRUE
    assert (every(known(1.0, 5.0)) < known(2.0, 4.0)) is FALSE
    assert every(known(1.0, 5.0)).within([0.0, 4.0], [2.0, 6.0]) is TRUE
    with pytest.raises(ValueError, match="shorter"):
        assert every(known(1.0, 5.0)) < [2.0]


def test_a_curve_grows_by_its_thirds() -> None:
    """A curve grows by its thirds, so that one value out of line does not decide: 1 2 | 4 3 | 6 9
    grows, as its thirds have the means 1.5, 3.5 and 7.5; and of two values there is no curve."""
    curve = known(1.0, 2.0, 4.0, 3.0, 6.0, 9.0)
    assert curve.thirds() == (Bounds(1.5, 1.5), Bounds(3.5, 3.5), Bounds(7.5, 7.5))
    assert curve.grow() is TRUE
    assert known(3.0, 2.0, 1.0).grow() is FALSE
    assert (curve.highest(), curve.lowest()) == known(9.0, 1.0)
    assert curve.mean().low == curve.mean().high == pytest.approx(25 / 6)
    with pytest.raises(ValueError, match="at least 3"):
        known(1.0, 2.0).grow()


def test_values_are_named_by_their_parts() -> None:
    """Values are named by their parts, each combination once and in order."""
    found = values(measured(), {"law": "red"}, "{p}_load{n}_delay_s", p="ab", n=(1, 2))
    assert found == known(1.0, 2.0, 3.0, 4.0)
    assert at(measured(), {"law": "red"}, "b_load1_delay_s") == Bounds.exactly(3.0)
    with pytest.raises(KeyError):
        values(measured(), {"law": "red"}, "{p}_load{n}_delay_s", p="ab")


def test_a_function_gives_a_predicate_for_each_run() -> None:
    """A function gives a predicate for each run named, each judged by its own values."""

    @for_each({"red": {"law": "red"}, "codel": {"law": "codel"}})
    def delay_is_short(run: Quantities, point: Point) -> Truth:
        """The delay is below 2 s."""
        return at(run, point, "a_load1_delay_s") < 2.0

    found = measured()
    found.record({"law": "codel"}, "a_load1_delay_s", Interval.known(2.5))
    judged = {name: predicate(found) for name, predicate in delay_is_short.predicates.items()}
    assert judged == {"red_delay_is_short": TRUE, "codel_delay_is_short": FALSE}
    assert delay_is_short(found, {"law": "red"}) is TRUE
    assert delay_is_short.__doc__ == "The delay is below 2 s."
