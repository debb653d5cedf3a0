"""The section of a page that says what was run, from the folder of results alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import front
import pytest

from forebay.run.jobs import Job
from forebay.run.resolved import resolved_scenario

HOMES = """
duration = "2 s"
warm_up = "1 s"

[links.core]
from = "hub"
to = "server"
rate = "50 Mbit/s"
queue = { fq_codel = { limit = "500 packets" } }

[sites]
each = [SITES]

[sites.links."{site}"]
from = "{site}"
to = "hub"
rate = "5 Mbit/s"
queue = { droptail = { limit = "60 packets" } }

[sites.flows."up-{site}"]
from = "{site}"
to = "server"
tcp = {}
"""


def homes(number: int) -> str:
    """A scenario with as many homes, all alike."""
    return HOMES.replace("SITES", ", ".join(f'"home{n}"' for n in range(1, number + 1)))


def unfolded(page: str) -> str:
    """The section of the scenario as it is read without opening anything, as text."""
    found = re.search(r'<section id="part-scenario">.*?</section>', page, re.DOTALL)
    assert found is not None
    text = re.sub(r"<details>.*?</details>", "", found[0], flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))


@pytest.fixture
def kept(forebay: front.Forebay, tmp_path: Path) -> Path:
    """The folder of a run with another rate than the file's."""
    path = tmp_path / "small.toml"
    path.write_text(front.SCENARIO, encoding="utf-8")
    out = tmp_path / "kept"
    assert forebay("run", path, "--out", out, "--set", "links.wire.rate=8 Mbit/s").status == 0
    path.unlink()
    (out / "scenario.toml").unlink()
    return out


def test_queue_limit_and_profile_are_read_without_unfolding(
    forebay: front.Forebay, kept: Path
) -> None:
    """Queue, limit, rate and TCP's profile are read without unfolding, though no scenario file is
    there any more: that is what a result depends on first."""
    assert forebay("report", kept).status == 0
    page = (kept / "report.html").read_text(encoding="utf-8")
    told = unfolded(page)
    for words in ("A → B", "8 Mbit/s", "2 ms", "droptail (limit 50 packets)", "profile linux",
                  "cubic", "poisson (rate 2 Mbit/s, size 500 B)", "5 s simulated"):  # fmt: skip
        assert words in told, words
    # Defaults that held are there too, below what opens.
    assert "flows bulk" in page
    assert "tcp.rto_min" in page


def test_given_and_default_values_are_told_apart() -> None:
    """Values given in the file and on the command line are told apart from defaults."""
    text = front.SCENARIO.replace("{ droptail = { limit", "{ red = { min_threshold").replace(
        '"50 packets" }', '"20 packets", max_threshold = "60 packets" }'
    )
    assignments = ("flows.bulk.tcp.control=reno", "record.delays=true")
    found = resolved_scenario(Job(text, "small.toml", assignments, seed=7, until="3 s"))
    assert found["settings"]["given"] == {
        "duration": "3 s", "name": "small", "record.delays": "true", "seed": "7", "warm_up": "1 s",
    }  # fmt: skip
    wire = found["sections"]["links"][0]
    assert wire["given"] == {
        "delay": "2 ms",
        "queue.red": "chosen",
        "queue.red.max_threshold": "60 packets",
        "queue.red.min_threshold": "20 packets",
        "rate": "10 Mbit/s",
    }
    bulk = found["sections"]["flows"][0]
    assert bulk["given"] == {"count": "2", "tcp.control.reno": "chosen"}
    assert found["defaults"][bulk["defaults"]]["tcp.profile"] == "linux"
    assert (wire["names"], wire["ends"]) == (["wire"], [["A", "B"]])


def test_homes_that_are_alike_are_one_line(forebay: front.Forebay, tmp_path: Path) -> None:
    """Two hundred homes that are alike are one line, and take no more than their names in
    run.json."""
    sizes = {}
    for number in (2, 200):
        path = tmp_path / f"homes{number}.toml"
        path.write_text(homes(number), encoding="utf-8")
        out = tmp_path / f"out{number}"
        assert forebay("run", path, "--out", out, "--until", "1.1 s").status == 0
        sizes[number] = len(json.dumps(json.loads((out / "run.json").read_text())["scenario"]))
    # A link and a group of 198 further homes: two names and two pairs of ends, 100 letters at most.
    assert sizes[200] - sizes[2] < 198 * 100
    assert forebay("report", tmp_path / "out200").status == 0
    told = unfolded((tmp_path / "out200" / "report.html").read_text(encoding="utf-8"))
    assert "home1 to home200 (200 alike)" in told
    assert "up-home1 to up-home200 (200 alike)" in told
    assert "fq_codel (limit 500 packets)" in told
    assert told.count("droptail (limit 60 packets)") == 1


def test_a_sweep_says_what_it_varied(forebay: front.Forebay, tmp_path: Path) -> None:
    """The page of a sweep says what it varied, and what each variant sets, without unfolding."""
    (tmp_path / "small.toml").write_text(front.SCENARIO, encoding="utf-8")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'scenario = "small.toml"\nreplications = 1\nquantities = ["links.wire.utilization"]\n'
        '[variants]\n"as it is" = {}\nreno = { "flows.bulk.tcp.control" = "reno" }\n'
        '[grid]\n"links.wire.rate" = ["5 Mbit/s", "10 Mbit/s"]\n',
        encoding="utf-8",
    )
    out = tmp_path / "out"
    assert forebay("sweep", sweep, "--out", out).status == 0
    document = json.loads((out / "sweep.json").read_text(encoding="utf-8"))
    assert document["varied"] == ["flows.bulk.tcp.control", "links.wire.rate"]
    assert document["variants"] == {"as it is": {}, "reno": {"flows.bulk.tcp.control": "reno"}}
    told = unfolded((out / "report.html").read_text(encoding="utf-8"))
    for words in ("links.wire.rate 5 Mbit/s, 10 Mbit/s", "as it is as given",
                  "reno flows.bulk.tcp.control = reno", "wire A → B varied 2 ms",
                  "TCP, profile linux varied"):  # fmt: skip
        assert words in told, words
