"""`forebay find`: values that theory knows, what is kept, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import front
import pytest

pytestmark = pytest.mark.long

ERLANG = """
duration = "1600 s"
warm_up = "100 s"

[links.trunk]
from = "A"
to = "B"
rate = "1 Mbit/s"
duplex = false

[aggregates.lines]
admission = { capacity = { calls = 10 } }

[flows.telephones]
from = "A"
to = "B"
aggregate = "lines"
calls = { rate = "1 /s", holding = "10 s" }
traffic = { cbr = { rate = "800 bit/s", size = "100 B" } }
"""

CIRCUITS = """
scenario = "erlang.toml"
quantities = ["calls.telephones.mean_present", "left"]
[derived]
left = "10 - calls.telephones.mean_present"
[find]
parameter = "aggregates.lines.admission.capacity.calls"
between = [5, 30]
condition = "calls.telephones.blocking_ratio < 5 %"
goal = "smallest"
confidence = 0.999
max_replications = 200
"""

MM1 = """
duration = "30 s"
warm_up = "1 s"

[links.server]
from = "A"
to = "B"
rate = "10 Mbit/s"
duplex = false

[flows.arrivals]
from = "A"
to = "B"
udp = {}
traffic = { poisson = { rate = "8 Mbit/s", size = "400 B", sizes = "exponential" } }
"""

LOAD = """
scenario = "mm1.toml"
[derived]
arriving = "flows.arrivals.delivered_packets / measured_s"
[find]
parameter = "flows.arrivals.traffic.poisson.rate"
between = ["4 Mbit/s", "9 Mbit/s"]
condition = "links.server.mean_queue_packets / arriving < 0.5 ms"
precision = "200 kbit/s"
confidence = 0.999
max_replications = 200
"""


def write(folder: Path, text: str) -> Path:
    """A file for `find`, beside the scenarios."""
    (folder / "erlang.toml").write_text(ERLANG, encoding="utf-8")
    (folder / "mm1.toml").write_text(MM1, encoding="utf-8")
    path = folder / "limit.toml"
    path.write_text(text, encoding="utf-8")
    return path


def blocking(erlangs: float, lines: int) -> float:
    """Erlang's formula B (1917), by its recursion B(m) = a B(m-1) / (m + a B(m-1)), B(0) = 1."""
    found = 1.0
    for number in range(1, lines + 1):
        found = erlangs * found / (number + erlangs * found)
    return found


def test_the_number_of_lines_is_that_of_erlang(forebay: front.Forebay, tmp_path: Path) -> None:
    """The number of lines that is found for a blocking of 5 % is that of Erlang's formula.

    10 erlang on 14 lines are blocked with 5.68 %, on 15 with 3.65 %. The search is wrong with a
    probability of 0.1 %. 100 s of warm-up are ten holding times, after which exp(-10) of the
    transient is left.
    """
    lines = next(number for number in range(5, 31) if blocking(10.0, number) < 0.05)
    path = write(tmp_path, CIRCUITS)
    answer = forebay("find", path, "--out", tmp_path / "o", "--json")
    assert answer.status == 0, answer.err
    document = answer.document()
    assert (document["status"], document["value"], document["holds_at"]) == ("found", lines, lines)
    assert (document["low"], document["high"]) == (lines - 1, lines)
    assert document["first_failing"] == lines - 1
    assert document["parameter"] == "aggregates.lines.admission.capacity.calls"
    assert (document["goal"], document["between"]) == ("smallest", [5, 30])
    for point in document["points"]:
        (row,) = point["comparisons"]
        truth = blocking(10.0, point["value"]) - 0.05
        assert point["decision"] == ("holds" if truth < 0 else "fails")
        assert point["replications"] in document["looks"]
        assert row["comparison"] == "calls.telephones.blocking_ratio < 5 %"
        assert [each["quantity"] for each in point["quantities"]] == [
            "calls.telephones.mean_present", "left",
        ]  # fmt: skip
        # Of 10 erlang those that are not blocked are present.
        present = point["quantities"][0]["mean"]
        assert math.isclose(present, 10.0 * (1 - blocking(10.0, point["value"])), rel_tol=0.1)
    assert json.loads((tmp_path / "o" / "find.json").read_text(encoding="utf-8")) == document
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert "is the smallest value at which the condition holds" in page


def test_the_load_is_that_of_a_queue_with_one_server(
    forebay: front.Forebay, tmp_path: Path
) -> None:
    """The load that is found for a mean wait of 0.5 ms is that of M/M/1.

    With the mean service time s = 3200 bit / 10 Mbit/s = 0.32 ms, the mean wait is s rho /
    (1 - rho), which is 0.48 ms at 6 Mbit/s and 0.522 ms at 6.2. It is measured as Little's law has
    it, the mean queue over the rate of arrivals.
    """
    waits = {rate: 0.32e-3 * rate / (10 - rate) for rate in (6.0, 6.2)}
    assert waits[6.0] < 0.5e-3 < waits[6.2]
    path = write(tmp_path, LOAD)
    document = forebay("find", path, "--out", tmp_path / "o", "--json").document()
    found = (document["status"], document["value"], document["first_failing"])
    assert found == ("found", "6 Mbit/s", "6.2 Mbit/s")
    assert document["units"] == {}
    (row,) = document["points"][0]["comparisons"]
    assert row["unit"] == "s"
    # The first point is 4 Mbit/s: 0.32 ms 4/6 are 0.21 ms.
    assert math.isclose(row["mean"], 0.32e-3 * 4 / 6 - 0.5e-3, rel_tol=0.05)


def test_what_was_run_is_kept(forebay: front.Forebay, tmp_path: Path) -> None:
    """What was run is kept: the same search makes no run again, one that is more precise those
    that it needs, and options change what is run as they do a sweep."""
    path, out = write(tmp_path, LOAD.replace("200 kbit/s", "1 Mbit/s")), tmp_path / "o"
    options = ("--out", out, "--until", "5 s", "--jobs", 2)
    assert "no such file" in forebay.refused("find", path, *options, "--resume")
    first = forebay("find", path, *options, "--json").document()
    runs = front.runs_kept(out)
    assert runs == sum(point["replications"] for point in first["points"])
    assert forebay("find", path, *options, "--resume", "--json").document() == first
    assert front.runs_kept(out) == runs
    assert first["command"] == f"forebay find {path} --until '5 s'"
    shown = forebay("find", path, *options)
    assert f"report: {out / 'report.html'}" in shown.out
    assert "links.server.mean_queue_packets / arriving < 0.5 ms, by means" in shown.out
    (out / "report.html").unlink()
    assert forebay("report", out).status == 0
    assert (out / "report.html").exists()
    forebay("find", path, *options, "--set", "links.server.rate=11 Mbit/s")
    assert front.runs_kept(out) > runs
    assert forebay("find", path, *options, "--fresh").status == 0
    assert front.runs_kept(out) == runs


@pytest.mark.parametrize(
    ("condition", "status", "code", "value", "said"),
    [
        ("links.server.utilization < 1 %", "none", 1, None, "not seen to hold even at 4 Mbit/s"),
        ("links.server.utilization > 1 %", "bound", 0, "9 Mbit/s", "the condition holds at both"),
        ("links.server.drops / links.server.marks < 1", "none", 1, None, "division by zero"),
        # Nothing is dropped at any load: the queue has no limit.
        ("links.server.drops <= 0 packets", "bound", 0, "9 Mbit/s", "may have been missed"),
        ("flows.arrivals.loss < 1 % and links.server.utilization < 1", "bound", 0, "9 Mbit/s", ""),
        ("not links.server.utilization < 1 %", "bound", 0, "9 Mbit/s", "at both ends"),
    ],
)
def test_ends_decide_alone(
    forebay: front.Forebay,
    tmp_path: Path,
    condition: str,
    status: str,
    code: int,
    value: str | None,
    said: str,
) -> None:
    """Where the condition holds at no end, or at both, the end is the answer: with the status 1, or
    0."""
    lines = LOAD.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("condition"))
    lines[at] = f'condition = "{condition}"'
    path = write(tmp_path, "\n".join(lines).replace("= 200\n", "= 20\n"))
    options = ("--out", tmp_path / "o", "--until", "2 s")
    answer = forebay("find", path, *options)
    assert answer.status == code, answer.err
    assert said in answer.out
    document = forebay("find", path, *options, "--json").document()
    assert (document["status"], document["value"]) == (status, value)
    assert len(document["points"]) == (1 if status == "none" else 2)


def test_a_run_that_fails_leaves_its_value_undecided(
    forebay: front.Forebay, tmp_path: Path
) -> None:
    """A run that fails leaves its value undecided, with the reason; it is made again on demand."""
    path = write(tmp_path, LOAD)
    options = ("--out", tmp_path / "o", "--until", "2 s", "--json")
    answer = forebay("find", path, *options, "--max-packets", 2000)
    assert answer.status == 1
    (point,) = answer.document()["points"]
    assert point["decision"] == "undecided"
    assert "a run failed: " in point["reason"]
    assert forebay("find", path, *options).status == 1
    assert forebay("find", path, *options, "--retry").document()["status"] == "found"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[find]", "[fnd]", 'did you mean "find"'),
        ("precision =", "precison =", 'did you mean "precision"'),
        ("condition =", "x =", "find.condition: missing"),
        ("< 0.5 ms", "+ 0.5 ms", "compares nothing; a condition has"),
        ("< 0.5 ms", "< 0.5 Mbit/s", "both sides of < must have one unit; read s and bit/s"),
        ("links.server.", "links.srv.", "no link 'srv'; there are server"),
        ("poisson.rate", "poisson.rte", 'did you mean "rate"'),
        ('"9 Mbit/s"', '"9 s"', "are not units of one kind"),
        ("confidence = 0.999", "confidence = 1.0", "find.confidence: read 1.0"),
        ("confidence = 0.999", 'goal = "most"', "find.goal: read 'most'"),
        ("[find]", "[grid]\na = [1]\n[find]", "find varies one parameter"),
        ("max_replications = 200", "max_replications = 1", "find.max_replications: read 1"),
    ],
)
def test_wrong_files_are_refused(
    forebay: front.Forebay, tmp_path: Path, old: str, new: str, message: str
) -> None:
    """Wrong files are refused before any run."""
    path = write(tmp_path, LOAD.replace(old, new))
    long = ("--until", "8000000 s", "--out", tmp_path / "o")
    assert message in forebay.refused("find", path, *long)


def test_a_file_for_find_is_no_sweep(forebay: front.Forebay, tmp_path: Path) -> None:
    """A file for `find` is no sweep, and what varies the duration has no `--until`."""
    path = write(tmp_path, LOAD)
    assert f"is for `forebay find {path}`" in forebay.refused("sweep", path)
    text = LOAD.replace("flows.arrivals.traffic.poisson.rate", "duration")
    path = write(tmp_path, text.replace("Mbit/s", "s").replace("200 kbit/s", "1 s"))
    assert "varies duration" in forebay.refused("find", path, "--until", "3 s")


def test_a_scenario_without_chance_takes_one_look(forebay: front.Forebay, tmp_path: Path) -> None:
    """A scenario without chance takes one look at each value: all of its runs are the same."""
    scenario = MM1.replace("poisson", "cbr").replace(', sizes = "exponential"', "")
    scenario = scenario.replace('"400 B"', '"400 B", random_phase = false')
    condition = "links.server.mean_queue_packets / arriving < 0.5 ms"
    text = LOAD.replace("poisson", "cbr").replace(condition, "links.server.utilization < 61 %")
    path = write(tmp_path, text)
    (tmp_path / "mm1.toml").write_text(scenario, encoding="utf-8")
    document: dict[str, Any] = forebay(
        "find", path, "--out", tmp_path / "o", "--until", "2 s", "--json"
    ).document()
    assert document["value"] == "6 Mbit/s"
    assert {point["replications"] for point in document["points"]} == {10}
    assert {point["decision"] for point in document["points"]} == {"holds", "fails"}
