"""The suite of BBR's test cases: every case runs, a control of the draft passes and others fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import front
import numpy as np
import pytest

from forebay.errors import UserError
from forebay.run.jobs import Run
from forebay.run.measured import Recording, calls_of, measured, part_of, plan_of
from forebay.run.quantities import Measured
from forebay.run.sweep import plan
from forebay.suite.bbr import DOWN, MSS, UP, Trace
from forebay.suite.cells import Asked, Cell, cells_of
from forebay.suite.definition import load_definition
from forebay.suite.folders import suite_folder
from forebay.suite.laws import law_of
from forebay.units import symbolised


@pytest.fixture(autouse=True)
def _own_suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOREBAY_SUITES", raising=False)
    monkeypatch.chdir(tmp_path)


def cells(grid: bool = False) -> list[Cell]:
    """The cells of the suite for its baseline."""
    folder = suite_folder("bbr-draft")
    laws = [law_of("bbr3", "control", "baseline")]
    return cells_of(folder, load_definition(folder), Asked(laws, grid=grid))


def verdicts(forebay: front.Forebay, *words: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The verdicts of a run of the suite, by cell and column."""
    told = forebay("suite", "bbr-draft", "--replications", "2", "--out", "o", "--json", *words)
    document = json.loads(told.out)
    assert document["failed"] == []
    return {(each["cell"], each["column"]): each for each in document["verdicts"]}


def test_every_case_of_the_draft_is_there() -> None:
    """Every one of the 22 cases of the appendix is a cell or is said to be omitted, and each is a
    valid scenario: a case left out in silence would pass for one that holds."""
    found = cells()
    omitted = load_definition(suite_folder("bbr-draft")).omitted
    sections = {cell.file.section for cell in found} | {each.section for each in omitted}
    assert sections == {f"A.{number}" for number in range(1, 23)}
    assert all(plan(cell.sweep) for cell in found)
    assert all(cell.file.judge for cell in found)


def test_a_grid_has_points_below_its_cost() -> None:
    """A grid is varied where a run is small enough, and names each point: 30 points a cell would
    have runs of hours. At 10 Gbit/s 30 s are 25 million packets; at 0.5 ms, 30 s have 1.2 million
    samples, each of which counts as five packets."""
    found = {cell.point: cell for cell in cells(grid=True) if cell.case == "startup-plateau"}
    assert "1Gbit-40ms" in found
    assert "10Mbit-0.5ms" in found
    assert not any(point.startswith("10Gbit") for point in found)
    text = found["100Mbit-200ms"].sweep.scenario.text
    assert 'rate = "100 Mbit/s"' in text
    assert 'delay = "100 ms"' in text
    assert len(found) == 25


@pytest.mark.long
def test_bbr_of_the_draft_passes_and_others_fail(forebay: front.Forebay) -> None:
    """A control as the draft has it passes cases that the same control with other constants, and
    one of another kind, fail: a check that none can fail would say nothing.

    With an interval of 100 s no PROBE_RTT comes within 30 s. CUBIC does not halve its rate when the
    link is full, and has no dips.
    """
    Path("never.toml").write_text('probe_rtt_interval = "100 s"\n')
    words = ("--control", "bbr3:never.toml", "--control", "cubic")
    found = verdicts(forebay, *words, "--cells", "[sp]*-[pr][lt][at]*")
    told = {key: each["verdict"] for key, each in found.items()}
    assert told["startup-plateau", "bbr3"] == "pass"
    assert told["startup-plateau", "cubic"] == "fail"
    assert told["probe-rtt", "bbr3"] == "pass"
    assert told["probe-rtt", "bbr3:never"] == "fail"
    assert told["probe-rtt", "cubic"] == "fail"
    assert told["probe-rtt-skipped", "cubic"] == "not applicable"


@pytest.mark.long
def test_a_stimulus_comes_as_its_phase_is_entered(forebay: front.Forebay) -> None:
    """A pilot run gives the time of a stimulus, and the run with it is the same up to then: DRAIN
    lasts more than three rounds where the link slows down as it begins, and is over in about one
    where it hardly does. A control without state has no such run, and the reason is said."""
    words = ("--cells", "drain-time/*", "--control", "cubic")
    found = verdicts(forebay, *words)
    assert found["drain-time/60", "bbr3"]["verdict"] == "pass"
    assert found["drain-time/10", "bbr3"]["verdict"] == "not applicable"
    assert found["drain-time/60", "cubic"]["verdict"] == "not applicable"
    assert "shows no state" in found["drain-time/60", "cubic"]["told"]
    steps = (Path("o") / "cells/bbr3/drain-time-60.toml").read_text()
    assert 'rate = "4 Mbit/s"' in steps


@pytest.mark.long
def test_cases_decide_the_exit_status(forebay: front.Forebay) -> None:
    """A case that a law under test fails is status 1, and one that only the baseline beside it
    fails is not: programs read it."""
    Path("never.toml").write_text('probe_rtt_interval = "100 s"\n')
    words = ("suite", "bbr-draft", "--replications", "2", "--cells", "probe-rtt")
    assert forebay(*words, "--out", "a").status == 0
    told = forebay(*words, "--out", "b", "--control", "bbr3:never.toml")
    assert told.status == 1
    assert "case fails: probe-rtt, bbr3:never: at 30.000 s: PROBE_RTT is not entered" in told.err
    assert "FAIL" in (Path("b") / "report.html").read_text()
    assert r"PROBE\_RTT is not entered" in (Path("b") / "table.md").read_text()


def trace_of(states: list[int], **columns: list[float]) -> Trace:
    """A trace of samples 1 ms apart, of a link of 12 Mbit/s with 40 ms."""
    size = len(states)
    flow = {
        "time_s": np.arange(1, size + 1) * 1e-3,
        "state": np.array(states, float),
        "full_bandwidth": np.ones(size),
        "mean_flight_packets": np.full(size, 40.0),
        "mean_cwnd_bytes": np.full(size, 40 * MSS),
        "mean_srtt_s": np.full(size, 0.04),
        "bandwidth_bps": np.full(size, 12e6 * MSS / 1500),
        "min_rtt_s": np.full(size, 0.04),
        **{name: np.array(values, float) for name, values in columns.items()},
    }
    link = {"drops": np.zeros(size)}
    run = Run({}, {"series/flows.bulk": flow, "series/links.bottleneck": link})
    return Trace(Recording(run, {"rate": 12e6, "rtt": 0.04}))


def test_stays_are_read_from_series() -> None:
    """Stays have their samples and successors, rounds their times, and an idle flow stays in its
    state: checks are made of these.

    80 samples of 1 ms are 80 ms, 2 round trips of 40 ms. 12 Mbit/s in 40 ms are 60 kB, 40 packets
    of 1500 B.
    """
    nan = float("nan")
    trace = trace_of([nan, *[UP] * 40, *[nan] * 40, *[DOWN] * 10])  # type: ignore[list-item]
    assert [(stay.state, stay.first, stay.end) for stay in trace.stays] == [
        (UP, 1, 81),
        (DOWN, 81, 91),
    ]
    assert trace.rounds(1, 81) == pytest.approx(2.0)
    assert trace.next(trace.stays[0]) == DOWN
    assert trace.next(trace.stays[1]) is None
    assert [stay.state for stay in trace.of(UP, DOWN)] == [UP]
    assert trace.bdp(10) == pytest.approx(40 * MSS)
    assert trace.fails(81, "x").told == "at 0.082 s: x [0.002 UP, 0.082 DOWN]"


FUNCTIONS = """
from forebay.run.measured import Finding

def twice(run):
    return 2.0 * run.parameters["rate"]

def lacking(run):
    return Finding(None, "why not " + run.of)

def broken(run):
    return run.row("links", "nowhere")
"""


def test_functions_measure_runs(tmp_path: Path) -> None:
    """Functions of a folder are called by name with parameters, and give values or reasons: suites
    have them for what expressions cannot say. A changed file is another part of the journal."""
    (tmp_path / "some.py").write_text(FUNCTIONS)
    assert set(calls_of(tmp_path)) == {"twice", "lacking", "broken"}
    calls = {"a": ("twice", ""), "b": ("lacking", "bulk")}
    first = plan_of(tmp_path, calls, {"rate": 4.0})
    document = {"measured": measured(Run({"links": []}), first)}
    number = symbolised("number")
    assert Measured("a", number).of(document).value == 8.0
    assert Measured("b", number).of(document).value is None
    assert Measured("b", number).of(document).reason == "why not bulk"
    (tmp_path / "some.py").write_text(FUNCTIONS + "# another\n")
    assert part_of(plan_of(tmp_path, calls, {"rate": 4.0})) != part_of(first)
    assert part_of("") == ""


def test_wrong_functions_are_refused(tmp_path: Path) -> None:
    """A wrong name or file of functions is refused by its place, and a function that fails says
    which it is: suites are written by hand."""
    (tmp_path / "some.py").write_text(FUNCTIONS)
    with pytest.raises(UserError, match=r'no function "twic" .did you mean "twice"'):
        plan_of(tmp_path, {"a": ("twic", "")}, {})
    broken = plan_of(tmp_path, {"a": ("broken", "")}, {})
    with pytest.raises(UserError, match=r"broken: KeyError: .*nowhere"):
        measured(Run({"links": []}), broken)
    (tmp_path / "more.py").write_text("def twice(run):\n    return 1.0\n")
    with pytest.raises(UserError, match="another file has a function twice"):
        calls_of(tmp_path)
    (tmp_path / "more.py").write_text("1 +")
    with pytest.raises(UserError, match=r"more\.py: SyntaxError"):
        calls_of(tmp_path)
