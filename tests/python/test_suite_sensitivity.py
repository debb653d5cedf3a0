"""Sensitivity to parameters in suites: Morris's elementary effects."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import front
import pytest
import small_suite
from numpy.random import default_rng

from forebay.suite.morris import Screening, effects, screened, trajectory

LEVELS = 4


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small suite; the current folder is empty."""
    return small_suite.placed(tmp_path, monkeypatch)


def screening(
    of: Callable[[Sequence[float]], float], parameters: int, trajectories: int
) -> list[Screening]:
    """The screening of a function of the unit cube."""
    random = default_rng(11)
    found: list[list[float]] = [[] for _ in range(parameters)]
    for _ in range(trajectories):
        points = trajectory(parameters, LEVELS, random)
        for number, effect in effects(points, [of(point) for point in points]).items():
            found[number].append(effect)
    return [screened(each) for each in found]


def test_trajectories_change_each_parameter_once() -> None:
    """A trajectory stays on the grid and changes each parameter once, by 2/3 of its range with four
    levels (p / (2 (p - 1)), Morris 1991): else an effect would have no cause."""
    random = default_rng(5)
    for _ in range(50):
        points = trajectory(3, LEVELS, random)
        assert len(points) == 4
        assert {round(3 * u, 9) for point in points for u in point} <= {0.0, 1.0, 2.0, 3.0}
        moved = [[n for n in range(3) if a[n] != b[n]] for a, b in pairwise(points)]
        assert sorted(moved) == [[0], [1], [2]]
        for (number,), a, b in zip(moved, points[:-1], points[1:], strict=True):
            assert abs(a[number] - b[number]) == pytest.approx(2 / 3)


def test_linear_effects_are_exact() -> None:
    """Of a linear function each effect is its coefficient, without deviation, and a parameter that
    has no effect has none: what a screening is to tell apart."""
    first, second, third = screening(lambda x: 3 * x[0] - 2 * x[1] + 7, 3, 4)
    assert (first.mean, first.size) == pytest.approx((3, 3))
    assert (second.mean, second.size) == pytest.approx((-2, 2))
    assert (third.mean, third.size, third.deviation) == (0, 0, 0)
    assert first.deviation == pytest.approx(0, abs=1e-12)


def test_interaction_and_curvature_are_seen() -> None:
    """An interaction and a bend show as deviations, and a bend that cancels in the mean as a size:
    a parameter with mu = 0 may matter most.

    x0 x1 has the effect x1 of x0, which is uniform on 0, 1/3, 2/3, 1: mean 1/2, deviation
    sqrt(5) / 6. (x2 - 1/2)^2 has (1/36 - 1/4) / (2/3) = -1/3 between 0 and 2/3, and 1/3 between 1/3
    and 1, which are as likely. With 4000 trajectories four standard errors of the means are
    4 sqrt(5) / 6 / sqrt(4000) < 0.024 and 4 / 3 / sqrt(4000) < 0.022.
    """
    first, second, third = screening(lambda x: x[0] * x[1] + (x[2] - 0.5) ** 2, 3, 4000)
    for each in (first, second):
        assert each.mean == pytest.approx(0.5, abs=0.024)
        assert each.deviation == pytest.approx(math.sqrt(5) / 6, rel=0.05)
    assert third.mean == pytest.approx(0, abs=0.022)
    assert third.size == pytest.approx(1 / 3)


def test_an_output_without_a_value_costs_its_effects_alone() -> None:
    """A run without a value takes the effects beside it with it, and no other."""
    points = [(0.0, 0.0, 0.0), (2 / 3, 0.0, 0.0), (2 / 3, 2 / 3, 0.0), (2 / 3, 2 / 3, 2 / 3)]
    assert effects(points, [None, 1.0, 2.0, 4.0]) == pytest.approx({1: 1.5, 2: 3.0})


@pytest.mark.long
@pytest.mark.usefixtures("small")
def test_a_screening_ranks_the_parameters_of_a_law(forebay: front.Forebay) -> None:
    """A screening varies the parameters of a law that the suite does not set, and ranks them.

    The delay under CoDel follows target and interval (RFC 8289, section 4); `mtu` is a threshold of
    one packet. Its 4 + 4 x 3 points are the only runs, and tail drop has nothing to vary.
    """
    told = forebay("suite", "small", "--queue", "codel", "--cells", "vary/*", "--json")
    document = json.loads(told.out)
    assert document["runs"] == 16
    found = document["screening"]
    names = [row["parameter"] for row in found["rows"]]
    assert sorted(names) == ["interval", "mtu", "target"]
    assert names[-1] == "mtu"
    for row in found["rows"]:
        assert row["mu_star"] >= abs(row["mu"])
        assert row["low"] <= row["mu_star"] <= row["high"]
    assert "| codel | one | " in (Path("out") / "small" / "table.md").read_text()
    told = forebay("suite", "small", "--cells", "vary/*")
    assert "none of the laws has a parameter that could be varied" in told.err


@pytest.mark.usefixtures("small")
def test_a_law_that_refuses_its_parameters_is_drawn_anew(forebay: front.Forebay) -> None:
    """Trajectories with a point that a law refuses are drawn anew: such a point is no reason to
    give up.

    Of factors up to 16 between RED's two thresholds, which are 3 apart, some make them cross."""
    words = ("suite", "small", "--queue", "red", "--cells", "vary/*", "--json")
    found = json.loads(forebay(*words).out)
    assert found["failed"] == []
    assert {row["trajectories"] for row in found["screening"]["rows"]} == {4}


def test_a_screening_names_cells_with_their_rows(small: Path, forebay: front.Forebay) -> None:
    """A screening is of one cell, so that of a grid it names a row; a name of several is refused
    with the nearest, before anything runs."""
    path = small / "suite.toml"
    told = path.read_text()
    path.write_text(told.replace('cells = ["one"]', 'cells = ["two/fast"]'))
    assert "vary/two/fast" in forebay("suite", "small", "--list").out
    words = ("suite", "small", "--queue", "codel", "--cells", "vary/*", "--quick", "--json")
    rows = json.loads(forebay(*words).out)["screening"]["rows"]
    assert {(row["law"], row["cell"]) for row in rows} == {("codel", "two/fast")}
    path.write_text(told.replace('cells = ["one"]', 'cells = ["two"]'))
    refused = forebay.refused("suite", "small", "--list")
    assert 'screening.cells: no cell "two"' in refused
