"""The suites `ccwg` and `bufferbloat`: every cell runs, and checks tell a law that must fail."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import front
import pytest
import tomli_w

from forebay.run.expressions import read
from forebay.run.jobs import Job, Run, run_jobs
from forebay.run.sweep import plan
from forebay.suite.cells import Asked, Cell, cells_of
from forebay.suite.definition import load_definition
from forebay.suite.folders import suite_folder
from forebay.suite.laws import law_of

SUITES = ("ccwg", "bufferbloat")

UNYIELDING = '''
import forebay


@forebay.law(kind="control", source="none")
class unyielding:
    """Keeps one window, whatever happens.

    segments: That window, in segments.
    """

    segments: float = 40.0

    def acknowledged(law, at):
        at.cwnd = law.segments * at.smss

    def congested(law, at):
        at.ssthresh = law.segments * at.smss
        at.cwnd = at.ssthresh
'''


@pytest.fixture(autouse=True)
def own_suites_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suites of the package, whatever the environment names."""
    monkeypatch.delenv("FOREBAY_SUITES", raising=False)


def cells(name: str) -> list[Cell]:
    """All cells of a suite, with its baselines."""
    folder = suite_folder(name)
    suite = load_definition(folder)
    laws = [law_of(word, suite.suite.law, "baseline") for word in suite.suite.baseline]
    controls = [law_of(word, "control", "--control") for word in suite.suite.controls]
    return cells_of(folder, suite, Asked(laws, controls=controls))


def shortened(scenario: str) -> str:
    """A scenario that ends 0.3 s after the start of its last flow, measured for the last 0.1 s."""
    tables = tomllib.loads(scenario)
    starts = [flow.get("start", "0 s") for flow in tables["flows"].values()]
    times = [each["uniform"][1] if isinstance(each, dict) else each for each in starts]
    last = max(read(each, "start").of({}).value or 0.0 for each in times)
    ends = {"duration": f"{last + 0.3:.6f} s", "warm_up": f"{last + 0.2:.6f} s"}
    return tomli_w.dumps(tables | ends)


@pytest.mark.parametrize("name", SUITES)
def test_every_cell_is_valid(name: str) -> None:
    """Every cell has a valid scenario for each baseline, and quantities that these can have: a
    user would else learn of it after the other runs."""
    for cell in cells(name):
        assert len(plan(cell.sweep)) == 3, cell.name


@pytest.mark.long
@pytest.mark.parametrize("name", SUITES)
def test_every_cell_runs(name: str) -> None:
    """Every cell runs under its last baseline, until 0.3 s after its flows began here, and its
    quantities are numbers or say why there is none."""
    found = cells(name)
    jobs = [Job(shortened(cell.scenario(cell.sweep.axes[0][-1])), cell.name) for cell in found]
    runs: dict[int, Run] = {}
    run_jobs(jobs, runs.__setitem__)
    assert len(runs) == len(found)
    for at, cell in enumerate(found):
        for measure in cell.measures:
            answer = measure.quantity.of(runs[at].document)
            assert answer.value is not None or answer.reason, (cell.name, measure.key)


def test_ccwg_has_the_list_of_the_rfc() -> None:
    """Sections 5.1.1 to 7.11 of RFC 9743 have a cell, or a line that says why not."""
    suite = load_definition(suite_folder("ccwg"))
    sections = {part for cell in suite.cells.values() for part in cell.section.split(", ")}
    told = {each.section for each in suite.omitted}
    wanted = {
        *(f"5.1.{n}" for n in range(1, 6)),
        *(f"5.2.{n}" for n in range(1, 4)),
        "5.3",
        *(f"6.{n}" for n in range(1, 5)),
        *(f"7.{n}" for n in range(1, 12)),
    }
    assert wanted <= sections | told
    assert {"5.3", "7.10"} <= told


def test_paths_are_a_latin_square() -> None:
    """Section 6 is seen on all pairs of four rates and three round-trip times; each rate has each
    buffer once, so that no quantity of the three stands for another."""
    rows = load_definition(suite_folder("ccwg")).grids["paths"]
    rates = {row["rate"] for row in rows}
    trips = {row["rtt"] for row in rows}
    assert (len(rates), len(trips)) == (4, 3)
    assert len({(row["rate"], row["rtt"]) for row in rows}) == len(rows) == 12
    for rate in rates:
        assert len({row["depth"] for row in rows if row["rate"] == rate}) == 3
    for trip in trips:
        assert len({row["depth"] for row in rows if row["rtt"] == trip}) == 3


@pytest.mark.long
def test_a_control_that_never_backs_off_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window of forty segments whatever happens fails both checks of 5.1.1, where Reno holds
    both: full back-off is what the section is about.

    Nothing is acknowledged for 30 s. Reno's timeouts double from 200 ms at least: at 0.2 (2^k - 1)
    s, seven of them in 30 s, one in the second half. The other sends its window at each timeout.
    """
    monkeypatch.chdir(tmp_path)
    Path("unyielding.py").write_text(UNYIELDING)
    words = ("--laws", "unyielding.py", "--control", "unyielding", "--control", "reno")
    words += ("--cells", "collapse/*", "--quick", "--json")
    told = front.Typed(tmp_path)("suite", "ccwg", *words, status=1)
    checks = {
        (each["column"], each["cell"]): (each["of"], each["holds"])
        for each in json.loads(told.out)["checks"]
    }
    for cell in ("collapse/dead", "collapse/dead-late"):
        assert checks["unyielding", cell] == ("laws", False)
        assert checks["reno", cell] == ("laws", True)
        assert checks["bbr3", cell] == ("baseline", True)


@pytest.mark.long
def test_starvation_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that never shrinks starves CUBIC and fails the check of 5.2.1; Reno holds it.

    120 segments are three times the 33 of the bandwidth-delay product and buffer each: the queue
    is always full, so that CUBIC loses whenever it grows.
    """
    monkeypatch.chdir(tmp_path)
    Path("unyielding.py").write_text(UNYIELDING)
    Path("wide.toml").write_text("segments = 120.0\n")
    words = ("--laws", "unyielding.py", "--control", "unyielding:wide.toml", "--control", "reno")
    words += ("--cells", "versus/1-1/cubic", "--quick", "--json")
    told = front.Typed(tmp_path)("suite", "ccwg", *words, status=1)
    document = json.loads(told.out)
    holds = {each["column"]: each["holds"] for each in document["checks"]}
    assert (holds["unyielding:wide"], holds["reno"]) == (False, True)
    harm = {
        row["column"]: row["mean"] for row in document["rows"] if row["quantity"] == "harm_goodput"
    }
    assert harm["unyielding:wide"] > harm["reno"]


def test_harm_is_what_is_lost_against_being_alone() -> None:
    """Harm is (alone - with) / alone of goodput, and of delay and loss, where less is better,
    (with - alone) over the larger of both: Ware et al., HotNets 2019, with a benefit above -1.

    8 alone and 2 with: 6 / 8. Of delay 40 ms with and 30 ms alone: 10 / 40; the reverse: -10 / 40.
    Of loss, none in both: none.
    """
    suite = load_definition(suite_folder("ccwg"))

    def harm(name: str, other: Mapping[str, float], alone: Mapping[str, float]) -> float | None:
        groups = [{"name": "other", **other}, {"name": "alone", **alone}]
        return read(suite.metrics[name].quantity, name).of({"groups": groups}).value

    assert harm("harm_goodput", {"goodput_bps": 2e6}, {"goodput_bps": 8e6}) == pytest.approx(0.75)
    long, short = {"mean_delay_s": 0.04}, {"mean_delay_s": 0.03}
    assert harm("harm_delay", long, short) == pytest.approx(0.25)
    assert harm("harm_delay", short, long) == pytest.approx(-0.25)
    none = {"dropped_packets": 0, "sent_packets": 1000}
    assert harm("harm_loss", none, none) == 0.0


@pytest.mark.long
def test_queues_of_flows_shorten_the_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forebay: front.Forebay
) -> None:
    """Pings wait far less behind FQ-CoDel and CAKE than behind tail drop in RRUL: what the suite is
    for.

    1000 packets of 1500 B take 240 ms at 50 Mbit/s and 1.2 s at 10. A queue of its own lets a small
    packet wait for one of the packets in transmission or a few rounds: 1.2 ms a packet upwards.
    """
    monkeypatch.chdir(tmp_path)
    told = forebay("suite", "bufferbloat", "--cells", "rrul_be/50-10", "--quick", "--json")
    rows = {
        row["column"]: row["mean"]
        for row in json.loads(told.out)["rows"]
        if row["quantity"] == "trip"
    }
    assert rows["droptail"] > 0.1
    assert max(rows["fq_codel"], rows["cake"]) < 0.01
