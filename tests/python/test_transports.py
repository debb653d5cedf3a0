"""A study under other transports: which of its conclusions hold, and what its numbers become."""

from __future__ import annotations

import json
from pathlib import Path

import front
import pytest

from forebay.errors import UserError
from forebay.study.transports import load_transports

# One connection over a round trip of 100 ms and links far faster than its window needs: what gets
# through in whole pairs of segments, which are acknowledged at once, is window / round trip:
# 12 kB / 100 ms = 0.96 Mbit/s and 6 kB / 100 ms = 0.48 Mbit/s.
SCENARIO = """
duration = "21 s"
warm_up = "1 s"

[links.wire]
from = "A"
to = "B"
rate = "1 Gbit/s"
delay = "50 ms"

[flows.bulk]
from = "A"
to = "B"

[flows.bulk.tcp]
profile = "rfc"
mss = "1000 B"
window = "12 kB"
ecn = true

[flows.noise]
from = "A"
to = "B"
udp = {}
traffic = { poisson = { rate = "1 Mbit/s", size = "500 B" } }
"""

PAPER = (
    front.STUDY_CITATION
    + """
[[table]]
id = "t1"
place = "Table 1"
how_read = "printed"
unit = "Mbit/s"
decimals = 2
trend = "none"
row_id = "rtt{rtt_ms}"
row_label = "{rtt_ms} ms"
columns = [{ id = "got", label = "throughput", quantity = "got_bps" }]
rows = [{ point = { rtt_ms = 100 }, values = [0.96] }]

[[statement]]
id = "fast"
place = "section 3"
how_read = "quoted"
text = "more than 0.6 Mbit/s"
predicate = "fast"

[[statement]]
id = "some"
place = "section 3"
how_read = "quoted"
text = "something gets through"
predicate = "some"
"""
)

PREDICATES = '''
"""Predicates of the tiny study."""
from forebay.study.grades import surely_greater

def fast(run):
    """More than 0.6 Mbit/s."""
    return surely_greater(run.value("got_bps", rtt_ms=100), 0.6e6)

def some(run):
    """More than 1 kbit/s."""
    return surely_greater(run.value("got_bps", rtt_ms=100), 1e3)
'''

MODULE = '''
"""The tiny study."""
from forebay.study import Replications

REPLICATIONS = Replications(first=2, cap=2, quick_first=2, quick_cap=2, variant=2)

def grid_point(network, point):
    network.set("links.wire.delay", f"{point['rtt_ms'] / 2} ms")

def quantities(run, point):
    return {"got_bps": run.group("bulk")["goodput_bps"]}
'''

TRANSPORTS = """
replications = 2

[[transport]]
id = "half"
title = "half the window"
about = "To see it halve."
tcp = { profile = "rfc", mss = "1000 B", window = "6 kB" }
keep = ["ecn"]

[why]
fast = "A window a round trip."
"""


FILES = {
    "paper.toml": PAPER,
    "scenario.toml": SCENARIO,
    "predicates.py": PREDICATES,
    "study.py": MODULE,
    "transports.toml": TRANSPORTS,
}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The study, found by the command line instead of the real ones; its folder."""
    folder = front.write_study(tmp_path / "studies", FILES)
    monkeypatch.setenv("FOREBAY_STUDIES", str(folder.parent))
    monkeypatch.chdir(tmp_path)
    return folder


def test_conclusions_and_numbers_are_those_of_each_transport(
    study: Path, forebay: front.Forebay
) -> None:
    """Conclusions and numbers are those of each transport, so that one that a transport overturns
    is seen."""
    document = json.loads(forebay("transports", "tiny", "--out", "found", "--json").out)
    grades = {row["id"]: row["grades"] for row in document["statements"]}
    assert grades == {
        "fast": {"": "holds", "half": "fails"},
        "some": {"": "holds", "half": "holds"},
    }
    (number,) = document["numbers"]
    assert number["measured"] == pytest.approx(0.96, rel=0.01)
    assert number["with"]["half"]["mean"] == pytest.approx(0.48, rel=0.01)
    assert number["with"]["half"]["moved"]
    assert document["unexplained"] == []
    page = (study.parent.parent / "found" / "transports.md").read_text(encoding="utf-8")
    assert "| more than 0.6 Mbit/s | section 3 | holds | fails |" in page
    assert "A window a round trip." in page
    assert "| the study's own | 2 hold |" in page
    assert "| half the window | 1 hold, 1 fail |" in page


def test_what_has_no_reason_is_said(study: Path, forebay: front.Forebay) -> None:
    """A conclusion that has changed without a stated reason is named."""
    told = "no [why] of fast: it holds with the study's own, not with another"
    assert told not in forebay("transports", "tiny", "--out", "found").out
    path = study / "transports.toml"
    path.write_text(path.read_text(encoding="utf-8").partition("[why]")[0], encoding="utf-8")
    assert told in forebay("transports", "tiny", "--out", "found").out


def test_finished_runs_are_kept(study: Path, forebay: front.Forebay) -> None:
    """Finished runs are kept: a resumed comparison makes none again and has the same numbers."""
    first = json.loads(forebay("transports", "tiny", "--out", "found", "--json").out)
    again = forebay("transports", "tiny", "--out", "found", "--resume", "--json")
    assert json.loads(again.out) == first
    assert front.runs_kept(study.parent.parent / "found") == 4


def test_an_interrupt_says_how_to_continue(
    study: Path, forebay: front.Forebay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt says that finished runs are kept, and how to continue."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("forebay.study.runs.run_jobs", interrupted)
    answer = forebay("transports", "tiny", "--out", "my folder", "--jobs", 2)
    assert answer.status == 130
    assert answer.err.strip() == (
        "forebay: error: interrupted; finished runs are in my folder; to continue: "
        "forebay transports tiny --jobs 2 --out 'my folder' --resume"
    )


def test_a_transport_is_run_where_it_is_meant_to(study: Path, forebay: front.Forebay) -> None:
    """A transport is run at the grid points that it is meant for, and a condition that holds at
    none is refused."""
    path = study / "transports.toml"
    text = path.read_text(encoding="utf-8")
    elsewhere = text.replace("keep = [", "where = { rtt_ms = 200 }\nkeep = [")
    path.write_text(elsewhere, encoding="utf-8")
    message = forebay.refused("transports", "tiny", "--out", "found")
    assert "transport 'half': no grid point has {'rtt_ms': 200}" in message
    path.write_text(elsewhere.replace("200 }", "100 }"), encoding="utf-8")
    document = json.loads(forebay("transports", "tiny", "--out", "found", "--json").out)
    assert document["statements"][0]["grades"] == {"": "holds", "half": "fails"}


def test_all_but_what_is_kept_is_replaced(study: Path) -> None:
    """A transport replaces all options of TCP but those that it keeps, and gives flows of UDP
    none."""
    transports = load_transports("tiny")
    (half,) = transports.study.variants
    flows = transports.study.network({"rtt_ms": 100}, half.change).section("flows")
    assert flows["bulk"]["tcp"] == {
        "profile": "rfc", "mss": "1000 B", "window": "6 kB", "ecn": True,
    }  # fmt: skip
    assert "tcp" not in flows["noise"]


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ("replications = 2", "replications = 1", "replications"),
        ('id = "half"', "", "transport.0.id"),
        ('keep = ["ecn"]', "kept = []", "kept"),
        ('fast = "A', 'fas = "A', "no statement 'fas' (did you mean \"fast\"?)"),
        ("[why]", '[[transport]]\nid = "half"\ntitle = "x"\nabout = "x"\ntcp = {}\n[why]', "two"),
        ('window = "6 kB"', 'windw = "6 kB"', "flows.bulk.tcp.windw"),
    ],
)
def test_what_is_wrong_is_named(
    study: Path, forebay: front.Forebay, was: str, becomes: str, message: str
) -> None:
    """Slips in transports.toml are refused by name, without a traceback."""
    path = study / "transports.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(was, becomes), encoding="utf-8")
    assert message in forebay.refused("transports", "tiny")


def test_a_study_without_transports_says_so(study: Path) -> None:
    """A study without transports says so."""
    (study / "transports.toml").unlink()
    with pytest.raises(UserError, match="names no other transports"):
        load_transports("tiny")
