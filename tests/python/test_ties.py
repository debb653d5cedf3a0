"""`--ties shuffle`: results that rest on the order of simultaneous events are found."""

from __future__ import annotations

from pathlib import Path

import front
import pytest

SCENARIO = """
duration = "10 s"

[links.core]
from = "x"
to = "y"
rate = "128 kbit/s"
queue = { droptail = { limit = "1 packets" } }
"""

SOURCE = """
[flows.NAME.traffic.cbr]
rate = "100 kbit/s"
size = "125 B"
random_phase = false

[links.NAME]
from = "NAME"
to = "x"
rate = "1 Mbit/s"

[flows.NAME]
from = "NAME"
to = "y"
start = "START"
udp = {}
"""


def write(path: Path, start: str) -> Path:
    """Two sources of a packet every 10 ms, the second from `start` on, into a link that serves one
    in 7.8125 ms and holds one more."""
    sources = [("a", "0 s"), ("b", start)]
    text = [SOURCE.replace("NAME", name).replace("START", at) for name, at in sources]
    path.write_text(SCENARIO + "".join(text), encoding="utf-8")
    return path


def test_results_that_rest_on_ties_are_named(forebay: front.Forebay, tmp_path: Path) -> None:
    """Results that rest on ties, which the order of sections in the file decides, are named. Both
    sources are in step: every one of 1000 pairs ties, and of four pairs the source that is first
    has all packets served and the other one."""
    scenario = write(tmp_path / "step.toml", "0 s")
    document = forebay("run", scenario, "--ties", "shuffle", "--json").document()
    assert document["command"].endswith("--ties shuffle")
    ties = document["ties"]
    assert ties["packets"] == 1000
    assert ties["links"] == {"core": 1000}
    rows = {row["quantity"]: row for row in ties["differing"]}
    first = rows["flows.a.delivered_packets"]
    assert (first["listed"], first["low"]) == (999, 250)
    assert rows["flows.b.delivered_packets"]["high"] == 999
    shown = forebay("run", scenario, "--ties", "shuffle").out
    assert "numbers that rest on the order most" in shown
    assert "flows.b.delivered_packets" in shown


def test_results_without_ties_are_the_same(forebay: front.Forebay, tmp_path: Path) -> None:
    """Results without ties are the same, and none is named: the second source is 3 ms late."""
    scenario = write(tmp_path / "late.toml", "3 ms")
    ties = forebay("run", scenario, "--ties", "shuffle", "--json").document()["ties"]
    assert (ties["packets"], ties["links"], ties["differing"]) == (0, {}, [])
    assert ties["quantities"] > 50
    lines = forebay("run", scenario, "--ties", "shuffle").out.splitlines()
    (row,) = [line for line in lines if "numbers that rest on the order" in line]
    assert row.split()[-1] == "0"


@pytest.mark.parametrize("word", ["", "shuffled", "3"])
def test_other_words_are_refused(forebay: front.Forebay, tmp_path: Path, word: str) -> None:
    """Words other than `shuffle` are refused."""
    answer = forebay("run", write(tmp_path / "x.toml", "0 s"), "--ties", word)
    assert answer.status == 2
    assert "allowed is shuffle" in answer.err
