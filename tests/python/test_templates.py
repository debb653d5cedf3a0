"""Scenarios in several files and with sites, from the command line and from Python."""

from __future__ import annotations

from pathlib import Path

import front
import pytest

from forebay import Network
from forebay.errors import UserError

TOP = """
include = ["parts/core.toml"]
duration = "2 s"

[sites]
each = [{ site = "north", calls = 2 }, { site = "south", calls = 3 }]

[sites.links."{site}"]
from = "{site}"
to = "hub"
rate = "1 Mbit/s"

[sites.flows."calls-{site}"]
from = "{site}"
to = "center"
count = "{calls}"
udp = {}
traffic = { voice = { codec = "g711_20ms" } }
"""

CORE = """
[links.core]
from = "hub"
to = "center"
rate = "10 Mbit/s"
trace = "core.trace"
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A scenario of two files and a trace."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "core.toml").write_text(CORE, encoding="utf-8")
    (tmp_path / "parts" / "core.trace").write_text("1\n2\n", encoding="utf-8")
    path = tmp_path / "top.toml"
    path.write_text(TOP, encoding="utf-8")
    return path


def test_all_commands_read_several_files(forebay: front.Forebay, top: Path, tmp_path: Path) -> None:
    """All commands read scenarios of several files."""
    found = forebay("check", top, "--json").document()
    assert (found["links"], found["flows"]) == (6, 5)
    run = forebay("run", top, "--json").document()
    assert run["scenario_hash"] == found["scenario_hash"]
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'scenario = "top.toml"\nreplications = 1\nquantities = ["links.core.utilization"]\n'
        '[grid]\n"sites.each.1.calls" = [3, 4]\n',
        encoding="utf-8",
    )
    swept = forebay("sweep", sweep, "--out", tmp_path / "o", "--json").document()
    (core,) = (link for link in run["links"] if link["name"] == "core")
    assert swept["summary"][0]["mean"] == core["utilization"]


def test_python_reads_what_results(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python reads the network that templates result in, with its names."""
    monkeypatch.chdir(tmp_path)
    network = Network.from_toml("top.toml")
    assert network.section("flows")["calls-south"]["count"] == 3
    network.set("links.north.rate", "2 Mbit/s")
    assert "sites" not in network.to_toml()
    (tmp_path / "parts" / "core.toml").write_text("[links.core\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"^parts/core\.toml: line 1: not valid TOML"):
        Network.from_toml("top.toml")


@pytest.mark.parametrize(
    ("file", "was", "becomes", "message"),
    [
        ("parts/core.toml", "10 Mbit/s", "10 Mbit", "parts/core.toml: line 5: links.core.rate"),
        ("parts/core.toml", "core.trace", "cor.trace", '"parts/cor.trace" cannot be read'),
        ("parts/core.toml", "[links", 'duration = "1 s"\n[links', "also at"),
        ("parts/core.toml", "[links", 'include = ["../top.toml"]\n[links', "in a circle"),
        ("top.toml", "parts/core", "part/core", 'include: "part/core.toml" cannot be read'),
        ("top.toml", "{calls}", "{cals}", 'did you mean "calls"?'),
        ("top.toml", "include", "inclde", 'did you mean "include"?'),
    ],
)
def test_what_is_wrong_is_named(
    forebay: front.Forebay, top: Path, file: str, was: str, becomes: str, message: str
) -> None:
    """Slips in templates are refused at their file and place, without a traceback."""
    path = top.parent / file
    path.write_text(path.read_text(encoding="utf-8").replace(was, becomes, 1), encoding="utf-8")
    assert message in forebay.refused("check", top)


def test_a_kept_scenario_stands_by_itself(forebay: front.Forebay, top: Path) -> None:
    """A kept scenario stands by itself: it is run again without its parts, with the same digest."""
    out = top.parent / "kept"
    first = forebay("run", top, "--json", "--out", out).document()
    kept = out / "scenario.toml"
    assert "include" not in kept.read_text(encoding="utf-8")
    for path in (top, top.parent / "parts" / "core.toml"):
        path.unlink()
    again = forebay("run", kept, "--json").document()
    assert (again["scenario_hash"], again["digest"]) == (first["scenario_hash"], first["digest"])
    forebay("report", out)
    assert (out / "report.html").exists()
