"""The suite of RFC 8867: every case runs, and its measures are those of RFC 8868."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import front
import numpy as np
import pytest

from forebay.run.jobs import Job, Run, run_jobs
from forebay.run.measured import Finding, Recording, calls_of
from forebay.run.sweep import plan
from forebay.suite.cells import Asked, Cell, cells_of
from forebay.suite.definition import load_definition
from forebay.suite.folders import suite_folder
from forebay.suite.laws import law_of

CASES = {f"5.{number}" for number in range(1, 9)} | {"6.1", "6.3"}
"""Sections of RFC 8867 with a case of their own; 6.2 is the basic ones with ECN."""


@pytest.fixture(autouse=True)
def _own_suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOREBAY_SUITES", raising=False)
    monkeypatch.chdir(tmp_path)


def cells(*queues: str) -> dict[str, Cell]:
    """The cells of the suite for its baseline, and with other queues."""
    folder = suite_folder("rfc8867")
    laws = [law_of("nada", "adaptation", "baseline")]
    controls = [law_of(name, "control", "baseline") for name in ("reno", "cubic")]
    named = [law_of(name, "queue", "--queue") for name in queues]
    asked = Asked(laws, controls, named)
    return {cell.name: cell for cell in cells_of(folder, load_definition(folder), asked)}


def text_of(cell: Cell) -> str:
    """The scenario of a cell's first column."""
    return cell.scenario(cell.sweep.axes[0][0])


def test_every_case_is_there_and_runs() -> None:
    """Every case of RFC 8867 is there, the basic ones with ECN too (6.2), and the scenario of each
    cell runs: a cell that is refused would fail after minutes of others."""
    found = cells()
    assert {cell.file.section for cell in found.values()} == CASES
    basic = [name for name in found if name.startswith("5.") and not name.endswith("/ecn")]
    assert all(f"{name}/ecn" in found for name in basic)
    jobs = [Job(text_of(cell), name) for name, cell in found.items()]
    events: list[int] = []
    run_jobs(jobs, lambda _, run: events.append(run.document["events"]))
    assert len(events) == len(found) == 38
    assert min(events) > 0
    assert all(plan(cell.sweep) for cell in found.values())


def test_capacities_are_ratios_to_the_reference() -> None:
    """Capacities are the ratios of RFC 8867, on the link or as what UDP leaves of 4 Mbit/s.

    5.2: 2 Mbit/s times 2.0, 1.0, 1.75, 0.5, 1.0; UDP sends 4 Mbit/s less that. The queue holds
    300 ms: 1 Mbit/s x 300 ms = 37.5 kB in 5.1.
    """
    found = cells()
    text = text_of(found["5.2/link"])
    for rate in ('"4 Mbit/s"', '"2 Mbit/s"', '"3500 kbit/s"', '"1 Mbit/s"'):
        assert f"rate = {rate}" in text
    text = text_of(found["5.2/udp"])
    for rate in ('"2 Mbit/s"', '"500 kbit/s"', '"3 Mbit/s"'):
        assert f"rate = {rate}" in text
    assert "cross0" not in text
    assert 'limit = "37500 B"' in text_of(found["5.1/link/50ms"])


def test_queues_make_cells_of_their_own() -> None:
    """A queue that is named makes a cell beside that with tail drop, and one with its ECN, each
    with the buffer of the cell: RFC 8867 encourages others than tail drop."""
    found = cells("codel")
    assert len(found) == 2 * 38
    assert "droptail" in text_of(found["5.4"])
    plain, marked = text_of(found["5.4/codel"]), text_of(found["5.4/codel/ecn"])
    # 3.5 Mbit/s x 300 ms = 131,250 B.
    for text in (plain, marked):
        assert text.count('limit = "131250 B"') == 2
        assert "codel" in text
        assert "pie" not in text
    assert "ecn = true" not in plain
    # The queue and three flows.
    assert marked.count("ecn = true") == 4


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("rfc8867", "--rate", "2 Mbit/s"), "--rate: this suite has no rate of the bottleneck"),
        (("rfc8867", "--queue", "codl"), '--queue: no queue "codl" (did you mean "codel"'),
        (("bbr-draft", "--queue", "codel"), "--queue: the suite tests control laws"),
    ],
)
def test_options_that_a_suite_does_not_take_are_refused(
    forebay: front.Forebay, words: tuple[str, ...], why: str
) -> None:
    """An option that a suite does not take is refused: a run without its effect would be taken for
    one with it."""
    assert why in forebay.refused("suite", *words)


def recording(
    rates: dict[str, Any], parameters: dict[str, float], of: str = "", step: float = 0.1
) -> Recording:
    """A run with these rates of flows, in bit/s, one value for each sample."""
    tables = {
        f"series/flows.{name}": {
            "time_s": step * np.arange(1, len(rate) + 1),
            "throughput_bps": np.asarray(rate, float),
            "mean_encoder_bps": np.asarray(rate, float),
        }
        for name, rate in rates.items()
    }
    groups = [{"name": name, "transport": "media"} for name in rates]
    length = step * max(len(rate) for rate in rates.values())
    times = {
        f"{edge}_{name}": at for name in rates for edge, at in (("start", 0), ("stop", length))
    }
    given = {"together": 0.0, "audio": 20e3, **times, **parameters}
    return Recording(Run({"groups": groups}, tables), given, of)


def function(name: str) -> Any:
    """A function of the suite."""
    return calls_of(suite_folder("rfc8867"))[name]


def value(name: str, run: Recording) -> float | None:
    """The value of a function of the suite."""
    found = function(name)(run)
    return found.value if isinstance(found, Finding) else float(found)


def test_ratios_are_over_static_windows() -> None:
    """Ratios of throughputs are over windows of static periods, and take no account of the 5 s
    after a change; a flow that gets nothing has none.

    Flows have 1 and 2 Mbit/s, but in the first 5 s 1 and 20. With a second phase from 30 s on at
    1 : 6, windows of 20 s have the mean of 2 and 6.
    """
    one = np.full(600, 1e6)
    two = np.concatenate(
        [np.full(50, 20e6), np.full(250, 2e6), np.full(50, 30e6), np.full(250, 6e6)]
    )
    run = recording({"v1": one, "v2": two}, {"change1": 30.0})
    assert value("ratio_20", run) == pytest.approx(4.0)
    assert value("ratio_1", run) == pytest.approx(4.0)
    assert value("ratio_20", recording({"v1": one, "v2": np.zeros(600)}, {})) is None


def test_convergence_is_from_when_a_rate_stays_near_its_mean() -> None:
    """A rate has converged from when it is near its mean of the phase for 5 s, and one that swings
    has not, so that its phase counts whole.

    From 30 s on it is 0.5 Mbit/s for 4 s, then 1 Mbit/s to 60 s: the mean is 0.933 Mbit/s, of which
    1 Mbit/s is within 15 %, and so are means over 1 s above 0.793 Mbit/s, from 0.6 s on. Before it
    is constant.
    """
    steps = np.concatenate([np.full(300, 1e6), np.full(40, 0.5e6), np.full(260, 1e6)])
    run = recording({"v1": steps}, {"change1": 30.0}, of="v1")
    first, second = 1.9, 4.5
    assert value("convergence", run) == pytest.approx((first + second) / 2.0, abs=0.11)
    assert value("unconverged", run) == 0.0
    swings = np.tile(np.repeat([0.5e6, 1.5e6], 20), 15)
    run = recording({"v1": swings}, {"change1": 30.0}, of="v1")
    assert value("convergence", run) == pytest.approx(30.0)
    assert value("unconverged", run) == 2.0


def test_crossings_go_from_mark_to_mark() -> None:
    """Crossings are between the marks of 0.5 and 2 Mbit/s, of all media; what stays between them
    counts for nothing.

    Two flows together have 0.4, 3, 1 (neither), 3, 0.4 Mbit/s for 1 s each: up once, down once.
    """
    # The first sample is at time zero, and covers nothing.
    rates = np.concatenate([[0.0], np.repeat([0.2e6, 1.5e6, 0.5e6, 1.5e6, 0.2e6], 10)])
    assert value("crossings", recording({"v1": rates, "v2": rates}, {})) == 2.0


def test_utilization_is_of_what_media_may_have() -> None:
    """Utilization is what encoders and audio send over the capacity of each phase: 0.48 and
    0.02 Mbit/s of 1 Mbit/s for 10 s, and of 0.25 Mbit/s for 10 s, are 10 / 12.5 = 80 %."""
    given = {"change1": 10.0, "capacity0": 1e6, "capacity1": 0.25e6}
    run = recording({"v1": np.full(200, 0.48e6)}, given)
    assert value("utilization", run) == pytest.approx(0.8)


def test_late_packets_are_discarded() -> None:
    """Packets that come after 400 ms are discarded, of those that arrive: 10 of 80, of 100 sent, so
    that 30 % are lost or late."""
    delays = {
        "group": ["v1", "v1", "a1"],
        "from_s": np.array([0.1, 0.45, 0.5]),
        "packets": np.array([70, 10, 99]),
    }
    row = {"name": "v1", "sent_packets": 100, "delivered_packets": 80, "dropped_packets": 20}
    run = Recording(Run({"groups": [row]}, {"delays": delays}), {}, "v1")
    assert value("discards", run) == pytest.approx(0.125)
    assert value("residual", run) == pytest.approx(0.3)


@pytest.mark.long
def test_a_law_that_does_not_share_fails(
    forebay: front.Forebay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flows that begin at unlike rates fail the check of shares if they do not adapt, and pass it
    with NADA: a check that none can fail would say nothing.

    The third flow begins at 1.2 Mbit/s, the others at 150 kbit/s: without adaptation a ratio of 8,
    on a link of 3.5 Mbit/s on which nothing is lost. Over 20 s it is known to 3 %: 600 frames with
    a standard deviation of 21 % each, twice.
    """
    shutil.copytree(suite_folder("rfc8867"), "suites/unlike")
    path = Path("suites/unlike/suite.toml")
    head, rest = path.read_text().split('[cells."5.4"]\n')
    path.write_text(
        f'{head}[cells."5.4"]\nsettings = {{ "flows.v3.media.start_rate" = "1.2 Mbit/s" }}\n{rest}'
    )
    monkeypatch.setenv("FOREBAY_SUITES", "suites")
    words = ("suite", "unlike", "--media", "constant", "--cells", "5.4", "--quick", "--json")
    told = forebay(*words)
    assert told.status == 1
    document = json.loads(told.out)
    checks = {each["column"]: each for each in document["checks"]}
    assert checks["constant"]["mean"] == pytest.approx(8.0, rel=0.03)
    assert not checks["constant"]["holds"]
    assert checks["nada"]["holds"]
    assert "Not simulated" in next(Path().glob("**/report.html")).read_text()
