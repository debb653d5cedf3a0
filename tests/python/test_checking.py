"""`--check`: what must hold in any run is checked, changes nothing, and is never passed over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import front
import pytest

import forebay as package
from forebay.run import jobs

ROOT = Path(__file__).parents[2]


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """A run's document without what a clock, the command line and the checks put there."""
    clocked = ("wall_s", "setup_s", "command", "checks")
    return {key: value for key, value in document.items() if key not in clocked}


def test_a_checked_run_is_the_run(forebay: front.Forebay, scenario: Path) -> None:
    """Looking closely would change what is seen: digest and all results are the same."""
    checked = forebay("run", scenario, "--check", "--json").document()
    assert plain(checked) == plain(forebay("run", scenario, "--json").document())
    assert checked["command"].endswith("--check")
    checks = checked["checks"]
    assert checks["invariants"] == len(checks["each"]) >= 40
    assert checks["each"]["link-order"] > 1000


def test_a_checked_run_says_how_often_it_was_checked(
    forebay: front.Forebay, scenario: Path
) -> None:
    """A run would seem checked of which nothing was."""
    answer = forebay("run", scenario, "--check")
    assert answer.status == 0
    assert "none broken" in answer.out
    assert "link-work-conserving" in answer.out
    assert "none broken" not in forebay("run", scenario).out


class Broken:
    """An engine in which every run breaks an invariant."""

    ScenarioError = ValueError
    LimitError = KeyError

    def run_batch(self, runs: Any, threads: int, done: Any, failed: Any, *_: Any) -> None:
        """Fail all of `runs`."""
        broken = "it broke what must hold in any run:\n  link-order at links.wire, 1.5 s"
        for index, run in enumerate(runs):
            assert run["check"]
            failed(index, RuntimeError(broken))


def test_a_breach_is_our_bug(
    forebay: front.Forebay, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong result would be reported as a right one, or blamed on the user."""
    monkeypatch.setattr(jobs, "native", Broken)
    answer = forebay("run", scenario, "--seed", "7", "--check")
    assert (answer.status, answer.out) == (1, "")
    assert "bug in Forebay, please report it" in answer.err
    assert "link-order at links.wire, 1.5 s" in answer.err
    assert f"repeat: forebay run {scenario} --seed 7 --check" in answer.err


def test_networks_and_sweeps_are_checked(forebay: front.Forebay, scenario: Path) -> None:
    """What is built in Python, or run over a grid, could not be checked."""
    network = package.Network.from_toml(scenario)
    results = network.run(replications=2, until="2 s", check=True)
    assert all(document["checks"]["invariants"] >= 40 for document in results.documents)
    sweep = scenario.parent / "sweep.toml"
    sweep.write_text(
        'scenario = "small.toml"\nreplications = 2\nquantities = ["events"]\n'
        '[grid]\nduration = ["2 s"]\n',
        encoding="utf-8",
    )
    out = scenario.parent / "out"
    assert forebay("sweep", sweep, "--check", "--out", out).status == 0
    assert b"link-order" in (out / "runs.sqlite").read_bytes()


def test_the_page_lists_every_invariant() -> None:
    """A message would name an invariant that no page explains."""
    page = (ROOT / "docs" / "reference" / "invariants.md").read_text(encoding="utf-8")
    known = json.loads(jobs.native().invariants())
    assert len(known) >= 40
    for entry in known:
        assert f"| `{entry['name']}` | {entry['sentence']} |" in page
