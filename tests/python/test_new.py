"""`forebay new`: scenarios to start from are sound, and show what their comments say."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.cli.new import kinds, template
from forebay.run.jobs import Job, check, run_jobs
from forebay.run.results import run_replications


def run_of(kind: str, *overrides: str) -> Any:
    """The document of one run of a template."""
    found: list[Any] = []
    run_jobs([Job(template(kind), kind, overrides)], lambda _, run: found.append(run))
    return found[0]


def commands(kind: str) -> list[list[str]]:
    """The words of each `forebay run` in a template's comments."""
    lines = [line.removeprefix("#").strip() for line in template(kind).splitlines()]
    return [
        shlex.split(line.split("   ")[0])
        for line in lines
        if line.startswith("forebay run ") and "..." not in line
    ]


@pytest.mark.parametrize("kind", kinds())
def test_the_file_runs_and_so_do_its_commands(
    kind: str, forebay: front.Forebay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new file and the commands that it proposes are accepted."""
    monkeypatch.chdir(tmp_path)
    assert forebay("new", kind).status == 0
    assert commands(kind)
    for words in commands(kind):
        assert words[2] == f"{kind}.toml"
        assignments = [words[at + 1] for at, word in enumerate(words) if word == "--set"]
        text = (tmp_path / words[2]).read_text(encoding="utf-8")
        assert check(Job(text, kind, tuple(assignments)))["links"] > 0
    assert forebay("run", f"{kind}.toml", "--until", "0.2 s", "--set", "warm_up='0 s'").status == 0


def test_the_buffer_delays_the_ping_by_what_it_holds() -> None:
    """The buffer delays the ping by what it holds: one that four uploads keep between 70 and 100 %
    full (CUBIC leaves 0.7 of its window) holds 614 ms; FQ-CoDel keeps the ping below its target of
    5 ms and a packet of 2.4 ms, beside 20 ms of the wire."""
    ping = run_of("bufferbloat").row("flows", "ping")
    assert 0.7 * 0.614 + 0.02 < ping["mean_delay_s"] < 0.614 + 0.021
    managed = run_of("bufferbloat", "links.access.queue=fq_codel").row("flows", "ping")
    assert managed["mean_delay_s"] < 0.02 + 0.005 + 0.0024


def test_classes_get_what_the_edge_promises() -> None:
    """Classes get what the quanta of the edge promise: voice of 1.6 Mbit/s loses nothing and waits
    for one packet of 1.2 ms in transmission at most, behind other voice; of the 8.4 Mbit/s left
    business has 3/4 = 6.3."""
    run = run_of("edge")
    voice = run.group("voice")
    assert voice["dropped_packets"] == 0
    assert voice["mean_delay_s"] < 0.005 + 0.0012 + 20 * 0.00016
    assert run.group("business")["throughput_bps"] == pytest.approx(6.3e6, rel=0.02)
    assert run.group("best-effort")["throughput_bps"] == pytest.approx(2.1e6, rel=0.05)


def test_cake_shapes_and_shares() -> None:
    """CAKE shapes and shares: the call does not wait behind uploads, and no more than 19 Mbit/s
    pass."""
    run = run_of("access")
    call = run.row("flows", "call")
    assert call["dropped_packets"] == 0
    assert call["mean_delay_s"] < 0.010 + 0.002
    assert run.link("up")["throughput_bps"] <= 19e6 * 1.001
    assert run.link("down")["utilization"] > 0.95


def test_the_rack_keeps_its_queue_at_the_threshold() -> None:
    """The queue of the rack is that of DCTCP's analysis: at most about K + N = 65 + 8 packets once
    it stands; with delayed acknowledgements a flow's segments come in pairs, N more."""
    port = run_of("datacenter").link("port")
    assert port["utilization"] > 0.999
    assert port["drops"] == 0
    assert 45 < port["mean_queue_packets"] < 73
    assert port["max_queue_packets"] <= 65 + 2 * 8


def test_bbr_uses_the_satellite_and_cubic_does_not() -> None:
    """BBR uses the satellite link and CUBIC does not, as random loss parts the two."""
    cubic, bbr = (
        run_of("satellite", f'flows.transfer.tcp.control="{name}"').link("satellite")
        for name in ("cubic", "bbr")
    )
    assert cubic["utilization"] < 0.6
    assert bbr["utilization"] > 0.9


def test_calls_are_blocked_as_erlang_says() -> None:
    """Calls are blocked as the formula in the comment says: B of 90 erlang and 100 lines by B(0) =
    1, B(n) = a B(n-1) / (n + a B(n-1)); 99 % interval of ten replications."""
    blocking = 1.0
    for line in range(1, 101):
        blocking = 90 * blocking / (line + 90 * blocking)
    assert blocking == pytest.approx(0.0270, abs=5e-5)
    found = run_replications(Job(template("calls"), "calls"), "calls", range(10))
    values = found.values("calls", "telephones", "blocking_ratio")
    mean = sum(values) / 10
    error = (sum((value - mean) ** 2 for value in values) / 90) ** 0.5
    assert abs(mean - blocking) < 3.25 * error  # t(9; 0.995)


def test_kinds_are_listed_and_nothing_is_overwritten(
    forebay: front.Forebay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kinds are listed, slips are answered with the nearest, and no file of the user's is
    overwritten."""
    monkeypatch.chdir(tmp_path)
    listed = forebay("new")
    assert all(kind in listed.out for kind in kinds())
    assert '(did you mean "satellite"?)' in forebay.refused("new", "sattelite")
    (tmp_path / "mine.toml").write_text("mine", encoding="utf-8")
    assert "exists already" in forebay.refused("new", "calls", "mine.toml")
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == "mine"
    assert "cannot be written" in forebay.refused("new", "calls", "no/such/folder.toml")
    assert forebay("new", "calls", "my calls.toml").status == 0
    text = (tmp_path / "my calls.toml").read_text(encoding="utf-8")
    assert "forebay run 'my calls.toml'" in text
