"""`--check`: what must hold in any run is checked, changes nothing, and is never passed over."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import front
import pytest

import forebay as package
from forebay.run import jobs
from manual.program import invariants


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """A run's document without what a clock, the command line and the checks put there."""
    clocked = ("wall_s", "setup_s", "command", "checks")
    return {key: value for key, value in document.items() if key not in clocked}


def test_a_checked_run_is_the_run(forebay: front.Forebay, scenario: Path) -> None:
    """A checked run is the run: digest and all results are the same."""
    checked = forebay("run", scenario, "--check", "--json").document()
    assert plain(checked) == plain(forebay("run", scenario, "--json").document())
    assert checked["command"].endswith("--check")
    checks = checked["checks"]
    assert checks["invariants"] == len(checks["each"]) >= 40
    assert checks["each"]["link-order"] > 1000


def test_a_checked_run_says_how_often_it_was_checked(
    forebay: front.Forebay, scenario: Path
) -> None:
    """A checked run says how often each invariant was checked, and a run without `--check` says
    nothing of it."""
    answer = forebay("run", scenario, "--check")
    assert answer.status == 0
    assert "none broken" in answer.out
    assert "link-work-conserving" in answer.out
    assert "none broken" not in forebay("run", scenario).out


def broken(runs: Any, threads: int, done: Any, failed: Any, *_: Any) -> None:
    """The engine runs all of `runs`, each of which breaks an invariant."""
    for index, run in enumerate(runs):
        assert run["check"]
        failed(
            index, RuntimeError("it broke what must hold in any run:\n  link-order at links.wire")
        )


def test_a_breach_is_our_bug(
    forebay: front.Forebay, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A breach of an invariant is reported as a bug of Forebay, with the command that repeats it,
    and gives no result."""
    monkeypatch.setattr(jobs.native(), "run_batch", broken)
    answer = forebay("run", scenario, "--seed", "7", "--check")
    assert (answer.status, answer.out) == (1, "")
    assert "bug in Forebay, please report it" in answer.err
    assert "link-order at links.wire" in answer.err
    assert f"repeat: forebay run {scenario} --seed 7 --check" in answer.err


def test_the_command_that_repeats_a_failure_has_all_options(
    forebay: front.Forebay, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that repeats a failure has all options: threads decide how a run is executed, and
    so does what is recorded."""
    monkeypatch.setattr(jobs.native(), "run_batch", broken)
    options = ["--seed", "7", "--until", "2 s", "--replication", "3", "--set", "warm_up='1 s'"]
    options += ["--threads", "2", "--check", "--max-packets", "99", "--max-memory", "4000000 B"]
    options += ["--timeout", "60.0", "--out", str(scenario.parent / "an out")]
    answer = forebay("run", scenario, *options, "--json")
    assert answer.status == 1
    repeated = shlex.split(answer.err.split("repeat: ")[1].split("; ")[0].splitlines()[0])
    pairs = {"forebay", "run", str(scenario), *options}
    assert set(repeated) == pairs
    captured = ["--capture", f"wire={scenario.parent / 'wire.pcapng'}"]
    answer = forebay("run", scenario, "--check", *captured)
    repeated = shlex.split(answer.err.split("repeat: ")[1].split("; ")[0].splitlines()[0])
    assert repeated[-2:] == captured
    answer = forebay("run", scenario, "--check", "--replications", "2", "--threads", "4")
    for number in ("", " --replication 1"):
        assert f"repeat: forebay run {scenario}{number} --threads 2 --check" in answer.err


def test_networks_and_sweeps_are_checked(forebay: front.Forebay, scenario: Path) -> None:
    """Networks built in Python and sweeps can be checked too."""
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
    """The page on invariants lists every one that a message can name."""
    page = invariants()
    known = json.loads(jobs.native().invariants())
    assert len(known) >= 40
    for entry in known:
        assert f"| `{entry['name']}` | {entry['sentence']} |" in page
