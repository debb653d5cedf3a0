"""Checks of the measurement of growth, at a thousandth of its work."""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import axes
import grow
import homes

from forebay import Network
from forebay.run.jobs import Job, Run, check, run_jobs

WORK = 20_000.0
SMALL = {"flows": 1000, "hops": 20, "rate": 100, "replications": 10, "homes": 20}


def hops(task: axes.Task) -> int:
    """Packet hops of all replications of a task."""
    runs: list[Run] = []
    jobs = [Job(task.text)] * task.replications
    run_jobs(jobs, lambda _index, run: runs.append(run), 1)
    return sum(run.document["packet_hops"] for run in runs)


CURVES = [(axis, curve) for axis in axes.AXES for curve in axis.curves]


@pytest.mark.parametrize(("axis", "curve"), CURVES, ids=[f"{a.name}-{c.name}" for a, c in CURVES])
def test_points_of_an_axis_do_the_work_they_are_given(axis: axes.Axis, curve: axes.Curve) -> None:
    """Points of an axis do the work that they are given, so that set-up, or the start of the
    network, does not pass for growth of the cost of a hop."""
    for x in axis.values:
        if x > SMALL[axis.name]:
            break
        if "TCP" in curve.name:
            # Least work of a TCP flow, and one second of a link: segments and their ACKs.
            least = {"flows": 50 * x, "rate": 2 * 1e6 * x / (8 * axes.SEGMENT_B)}[axis.name]
            # Slow start, drops and the end of the run cost TCP some of the link.
            assert 0.3 * least < hops(curve.task(x, WORK)) < 1.2 * max(least, WORK)
        elif axis.name == "homes":
            # At least 2 s, and flows start within 5 s.
            least = 2 * axes.HOME_HOPS * x
            assert 0.5 * least < hops(curve.task(x, WORK)) < 1.1 * max(least, 2 * WORK)
        elif axis.name == "replications":
            assert 0.5 * WORK < hops(curve.task(x, WORK)) < 1.1 * WORK
        else:
            # Poisson: 1e3 packets and more at the first link, whose relative standard error is
            # 3 %; the packets on their way at the end have not made all their hops.
            assert hops(curve.task(x, WORK)) == pytest.approx(WORK, rel=0.15)


def test_axes_reach_as_far_as_they_claim() -> None:
    """Axes reach as far as they claim: a million flows and 100 Gbit/s."""
    ends = {axis.name: (axis.values[0], axis.values[-1]) for axis in axes.AXES}
    assert ends == {
        "flows": (10, 10**6),
        "hops": (1, 100),
        "rate": (1, 10**5),
        "replications": (1, 1000),
        "homes": (20, 10_000),
    }
    for axis, curve in CURVES:
        document = tomllib.loads(curve.task(axis.values[-1], 2e6).text)
        if axis.name == "homes":
            assert len(document["sites"][1]["each"]) == 10_000
            continue
        load = document["flows"]["load"]
        if axis.name == "flows":
            assert load["count"] == 10**6
        elif axis.name == "hops":
            assert len(document["links"]) == 100
        elif axis.name == "rate":
            assert float(document["links"]["line"]["rate"].removesuffix(" bit/s")) == 100e9
        else:
            assert curve.task(1000, 2e6).replications == 1000


def test_two_hundred_homes_are_the_benchmark() -> None:
    """Two hundred homes are the benchmark, to its hash, so that the axis grows what is measured."""
    found = check(Job(homes.scenario(200)))
    assert found["scenario_hash"] == check(Job(homes.FILE.read_text()))["scenario_hash"]


def test_each_home_has_the_same_share_of_a_cable() -> None:
    """Each home has the same share of a cable, which at most 200 have in common: the work of a home
    is the same however many there are."""
    # 450 homes are two cables and a quarter.
    document = tomllib.loads(homes.scenario(450, 1.0))
    cables, all_homes, *_ = (block["each"] for block in document["sites"])
    assert [cable["down"] for cable in cables] == ["1000 Mbit/s", "1000 Mbit/s", "250 Mbit/s"]
    assert [cable["up"] for cable in cables] == ["50 Mbit/s", "50 Mbit/s", "12.5 Mbit/s"]
    counts = Counter(home["cable"] for home in all_homes)
    assert counts == {"": 200, "1": 200, "2": 50}
    assert len({home["site"] for home in all_homes}) == 450


def test_time_for_a_hop_leaves_out_a_start_that_was_measured() -> None:
    """Time for a hop leaves out a start that was measured: that of a city takes longer than what
    its flows do in seconds."""
    run = {"packet_hops": 12, "wall_s": 5.0, "total_s": 6.0, "peak_rss_bytes": 1}
    whole = grow.Point(1, [run]).as_json()
    # 5 s over twelve hops; 2 s over ten of them.
    assert whole["ns_per_hop"] == pytest.approx([5e9 / 12] * 3, rel=1e-3)
    started = grow.Point(1, [run | {"start": {"wall_s": 3.0, "packet_hops": 2}}]).as_json()
    assert started["ns_per_hop"] == [2e8] * 3
    assert started["start_s"] == [3.0] * 3
    assert "start_s" not in whole


def options(tmp_path: Path, *more: str) -> list[str]:
    """A command line for a measurement of moments, with all its files in one place."""
    files = ["--result", str(tmp_path / "result.json"), "--images", str(tmp_path)]
    return ["--scale", "0.001", "--repeats", "2", *files, *more]


def test_it_is_measured_written_and_drawn(tmp_path: Path) -> None:
    """Points are measured, written and drawn."""
    assert grow.main(options(tmp_path, "--axis", "hops", "--largest", "2")) == 0
    entry = json.loads((tmp_path / "result.json").read_text())["axes"]["hops"]
    assert (entry["work_hops"], entry["repeats"]) == (2000, 2)
    for points in entry["curves"].values():
        assert [point["x"] for point in points] == [1, 2]
        for point in points:
            low, middle, high = point["ns_per_hop"]
            assert 0 < low <= middle <= high
            # A process with Python and the engine takes some megabytes, and less than a gigabyte.
            assert 5e6 < point["peak_rss_bytes"] < 1e9
    text = (tmp_path / "growth-hops.svg").read_text(encoding="utf-8")
    assert all(word in text for word in ("drop tail", "RED", "links on the path"))


def made_up(run: Callable[[int], Network]) -> axes.Axis:
    """An axis whose points are all the same small network, or what `run` says."""
    curve = axes.Curve("made up", lambda x, _work: axes.Task(run(x).to_toml()))
    return axes.Axis("hops", "made up", [1, 2, 3], [curve])


def test_a_point_over_its_budget_is_noted_and_larger_ones_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A point over its budget is noted and larger ones are left out: one slow point does not hold
    up the rest."""

    def run(x: int) -> Network:
        # 10^12 packets are not sent within a second or two.
        seconds = 1 if x == 1 else 1_000_000
        return (
            Network("x", duration=f"{seconds} s")
            .link("l", "a", "b", rate="1 Gbit/s", duplex=False)
            .flows("f", "a", "b", udp={}, traffic={"cbr": {"rate": "224 Mbit/s", "size": "28 B"}})
        )

    monkeypatch.setattr(grow, "AXES", [made_up(run)])
    assert grow.main(options(tmp_path, "--budget", "5")) == 0
    points = json.loads((tmp_path / "result.json").read_text())["axes"]["hops"]["curves"]["made up"]
    assert "note" not in points[0]
    assert points[1]["note"] == "stopped after 5 s"
    assert points[2]["note"] == "left out: 2 took longer than 5 s"


def test_a_point_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A point that fails is noted and the command fails: a bug in the engine is no mere gap in a
    curve."""
    monkeypatch.setattr(grow, "AXES", [made_up(lambda x: Network("x", duration="no time"))])
    assert grow.main(options(tmp_path)) == 1
    points = json.loads((tmp_path / "result.json").read_text())["axes"]["hops"]["curves"]["made up"]
    assert points[0]["note"].startswith("failed: ")
