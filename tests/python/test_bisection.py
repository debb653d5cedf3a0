"""The search of a value: its rule of stopping against models whose answer is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forebay.errors import UserError
from forebay.run.bisection import Decision, Rule, combined, looks, most_points, search
from forebay.run.expressions import read
from forebay.run.parameter import read_parameter

TRIALS = 400
ALLOWED = 35
"""Wrong searches that are allowed of 400, where 5 % may be wrong: P(X > 35) is below 0.1 % for X
binomial with 400 trials of 5 %, which is the false-alarm rate of each test (computed below)."""


def test_so_many_wrong_searches_are_unlikely() -> None:
    """More wrong searches than allowed are as unlikely as stated."""
    chance = sum(math.comb(TRIALS, k) * 0.05**k * 0.95 ** (TRIALS - k) for k in range(ALLOWED + 1))
    assert 1.0 - chance < 0.001


NOISES: dict[str, Callable[[Any], float]] = {
    "normal": lambda stream: stream.normal(),
    "skewed up": lambda stream: stream.exponential() - 1.0,
    "skewed down": lambda stream: 1.0 - stream.exponential(),
}


def _wrong(noise: str, seed: int, rule: Rule, steps: int) -> bool:
    """Whether a search of a known value goes wrong: it says that the condition holds beyond it, or
    fails before it.

    The margin at place k is (k - x) / 10 and noise of the same variance, the same at all places:
    common random numbers. x is drawn.
    """
    stream = np.random.default_rng(seed)
    x = stream.uniform(5.0, steps - 5.0)
    noises = [NOISES[noise](stream) for _ in range(rule.looks[-1])]

    def evaluate(place: int) -> Decision:
        decision: Decision = "undecided"
        for number in rule.looks:
            decision, _ = rule.decide([(place - x) / 10 + each for each in noises[:number]])
            if decision != "undecided":
                break
        return decision

    found = search(steps, evaluate)
    assert found.value is None or found.after is None or found.after == found.value + 1
    above = found.value is not None and found.value > x
    return above or (found.failing is not None and found.failing <= x)


@pytest.mark.parametrize("noise", NOISES)
def test_a_search_is_right_with_its_confidence(noise: str) -> None:
    """A search is right with its confidence, 95 %, also where margins are skewed; one with a rule
    that is not corrected for looks and values is not."""
    steps = 100
    right = Rule(0.95, looks(10, 100), most_points(steps))
    assert sum(_wrong(noise, seed, right, steps) for seed in range(TRIALS)) <= ALLOWED

    class Uncorrected(Rule):
        @property
        def allowance(self) -> float:
            return 0.05

    wrong = Uncorrected(0.95, right.looks, right.points)
    assert sum(_wrong(noise, seed, wrong, steps) for seed in range(TRIALS)) > ALLOWED


def test_looks_and_points_are_counted_as_the_confidence_is_divided() -> None:
    """As the confidence is divided, looks and points are counted beforehand: each look is half as
    large again as the one before, and a bisection of N steps takes log2 N values and both ends."""
    assert looks(10, 100) == (10, 15, 23, 35, 53, 80, 100)
    assert looks(5, 5) == looks(9, 5) == (5,)
    assert [most_points(steps) for steps in (1, 2, 3, 4, 100)] == [2, 3, 4, 4, 9]
    rule = Rule(0.95, looks(10, 100), 9, 2)
    assert math.isclose(rule.allowance, 0.05 / (7 * 9 * 2))
    for steps in (1, 2, 3, 7, 100, 1000):
        for last in {0, 1, steps // 3, steps}:
            seen: list[int] = []

            def holds(place: int, last: int = last, seen: list[int] = seen) -> Decision:
                seen.append(place)
                return "holds" if place <= last else "fails"

            found = search(steps, holds)
            assert found.value == last
            assert found.failing == (None if last == steps else last + 1)
            assert len(seen) == len(set(seen)) <= most_points(steps)


def test_what_is_undecided_does_not_hold() -> None:
    """What is undecided is taken as not holding, and no later value is said to fail with the
    confidence."""
    found = search(8, lambda place: "holds" if place < 2 else "undecided" if place > 3 else "fails")
    assert [each.place for each in found.decided] == [0, 8, 4, 2, 1]
    assert (found.value, found.after, found.failing) == (1, 2, None)
    found = search(
        8, lambda place: "holds" if place < 3 else "undecided" if place == 3 else "fails"
    )
    assert (found.value, found.after, found.failing) == (2, 3, 4)
    found = search(8, lambda _: "undecided")
    assert (found.value, found.after, found.failing) == (None, 0, None)


def test_margins_that_are_all_the_same_decide_last() -> None:
    """Margins that are all the same decide at the last look, or at once where the runs are the same
    run: an event that is rare enough is in none of the first ones.

    After n equal margins it may have the probability p with (1 - p)^n = a, the allowance.
    """
    rule = Rule(0.95, looks(10, 100), 9)
    assert rule.decide([-1.0] * 10)[0] == "undecided"
    assert rule.decide([-1.0] * 10, alike=True)[0] == "holds"
    assert rule.decide([-1.0] * 100)[0] == "holds"
    assert rule.decide([1.0] * 100)[0] == "fails"
    assert rule.decide([0.0] * 100, strict=True)[0] == "fails"
    assert rule.decide([0.0] * 100, strict=False)[0] == "holds"
    assert math.isclose((1.0 - rule.missed(100)) ** 100, rule.allowance)


def test_conditions_are_decided_by_their_comparisons() -> None:
    """Conditions are decided as soon as their comparisons leave no doubt."""
    assert len(read("events < 1 and not (seed >= 2 or regions > 3)", "find").comparisons) == 3
    found = read("1 < events < 2 or seed <= 3", "find")
    a, b, c = found.comparisons
    assert [each.strict for each in (a, b, c)] == [True, True, False]
    assert found.condition is not None
    for decisions, expected in (
        (("holds", "holds", "fails"), "holds"),
        (("holds", "undecided", "fails"), "undecided"),
        (("undecided", "fails", "fails"), "fails"),
        (("undecided", "fails", "holds"), "holds"),
        (("fails", "holds", "undecided"), "undecided"),
    ):
        table: Any = dict(zip((a, b, c), decisions, strict=True))
        assert combined(found.condition, table) == expected


@pytest.mark.parametrize(
    ("between", "precision", "steps", "some"),
    [
        ([1, 50], None, 49, {0: 1, 1: 2, 49: 50}),
        ([0, 100], 7, 15, {1: 7, 15: 100}),
        ([0.0, 1.0], None, 100, {0: 0.0, 1: 0.01, 100: 1.0}),
        ([0, 1], 0.5, 2, {1: 0.5}),
        (["1 Mbit/s", "10 Mbit/s"], None, 100, {0: "1 Mbit/s", 1: "1.09 Mbit/s"}),
        (["500 kbit/s", "10 Mbit/s"], "10 %", 10, {0: "0.5 Mbit/s", 1: "1.45 Mbit/s"}),
        (["1 Mbit/s", "2 Mbit/s"], "300 kbit/s", 4, {1: "1.25 Mbit/s"}),
        (["10 packets", "20 packets"], None, 10, {1: "11 packets"}),
        (["1 ms", "2 ms"], "0.3 ms", 4, {3: "1.75 ms"}),
        # No finer than the engine: a bit a second, a byte.
        (["1 bit/s", "4 bit/s"], None, 3, {1: "2 bit/s"}),
        (["1 B", "1500 B"], "100 B", 15, {1: "101 B", 14: "1400 B"}),
        (["1 /s", "3 /s"], "50 %", 2, {1: "2 /s"}),
    ],
)
def test_values_are_those_of_the_parameter(
    between: list[Any], precision: Any, steps: int, some: dict[int, Any]
) -> None:
    """Values are those that the parameter can have, in its unit, in steps of the precision."""
    found = read_parameter("f: find", "key", between, precision)
    assert found.steps == steps
    for place, value in some.items():
        assert found.value(place) == value
        assert type(found.value(place)) is type(value)
    assert found.value(0) != found.value(1)
    assert Fraction(found.high) > found.low


@pytest.mark.parametrize(
    ("between", "precision", "message"),
    [
        ([1], None, "a list of two values"),
        ([2, 1], None, "the first is the smaller one"),
        (["1 Mbit/s", "2 s"], None, "Mbit/s and s are not units of one kind"),
        ([1, "2 s"], None, "no unit and s are not"),
        (["red", "blue"], None, "allowed is a number, or one with a unit"),
        ([True, 2], None, "read True"),
        ([1.0, 2.0], 0, "allowed is more than 0"),
        ([1.0, 2.0], 3, "up to the interval"),
        ([1.0, 2.0], 1e-12, "steps; allowed are"),
    ],
)
def test_wrong_intervals_are_refused(between: list[Any], precision: Any, message: str) -> None:
    """Wrong intervals are refused."""
    with pytest.raises(UserError, match=message):
        read_parameter("f: find", "key", between, precision)
