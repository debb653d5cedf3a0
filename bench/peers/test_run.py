"""Checks of the comparison itself, with small stand-in programs: no simulator is needed."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import programs
import run


@pytest.fixture
def settings(tmp_path: Path) -> programs.Settings:
    return programs.Settings(build_dir=tmp_path, forebay=tmp_path / "forebay")


def stand_in(name: str, text: str, *, code: str = "") -> programs.Program:
    """A program that prints `text` after doing `code`."""
    command = [sys.executable, "-c", f"{code}\nprint({text!r})"]
    return programs.Program(name, lambda _: command, programs.read_peer)


def result(hops: int, loop_s: float, **more: float) -> str:
    return json.dumps({"packet_hops": hops, "run_wall_s": loop_s, **more})


def series(name: str, walls: list[float], hops: int = 1_000_000) -> run.Series:
    samples = [run.Sample(w, w, 10_000_000, programs.Outcome(hops, w, None)) for w in walls]
    return run.Series(name, samples)


def test_runs_take_turns(settings: programs.Settings, tmp_path: Path) -> None:
    """If this fails, a slow spell of the machine falls on one program and biases the ratio."""
    log = tmp_path / "log"
    chosen = [
        stand_in(name, result(10, 0.1), code=f"open({str(log)!r}, 'a').write({name!r})")
        for name in ("A", "B")
    ]
    run.compare("s2-cbr", chosen, settings, runs=3, timeout_s=60)
    assert log.read_text() == "ABABAB"


def test_ratio_is_taken_within_each_turn() -> None:
    """If this fails, a drift of the machine between turns shows as a spread of the ratio."""
    base = series("forebay", [1.0, 2.0, 4.0])
    peer = series("ns-2", [3.0, 6.0, 16.0])
    # 3/1, 6/2, 16/4: least, median and greatest are 3, 3 and 4.
    assert peer.ratio(base, "wall_s") == [3.0, 3.0, 4.0]
    # 8/1, 1/4, 4/2. Least by least, median by median, greatest by greatest would give 1, 2, 2.
    mixed = series("ns-3", [8.0, 1.0, 4.0]).ratio(series("forebay", [1.0, 4.0, 2.0]), "wall_s")
    assert mixed == [0.25, 2.0, 8.0]
    assert base.ratio(base, "wall_s") is None
    assert peer.ratio(None, "wall_s") is None


def test_time_for_each_hop_is_loop_time_over_hops() -> None:
    """If this fails, programs that carry different numbers of packets cannot be compared."""
    sample = run.Sample(
        9.0, 9.0, 0, programs.Outcome(packet_hops=4_000_000, loop_wall_s=2.0, events=1)
    )
    assert sample.ns_per_hop == 500.0  # 2 s / 4e6


def test_memory_and_time_are_those_of_the_process(settings: programs.Settings) -> None:
    """If this fails, the memory and time shown are not those of the simulator."""
    code = (
        "import time\nblock = bytearray(200_000_000)\nblock[::4096] = b'x' * len(block[::4096])\n"
    )
    heavy = stand_in("A", result(10, 0.1), code=code + "time.sleep(0.3)")
    (measured,) = run.compare("s2-cbr", [heavy], settings, runs=1, timeout_s=60)
    sample = measured.samples[0]
    assert 200e6 < sample.peak_rss_bytes < 600e6
    assert sample.wall_s > 0.3
    assert sample.user_s < sample.wall_s  # sleeping is not user time


def test_forebay_is_read_by_the_contract() -> None:
    """If this fails, another benchmark's numbers, or none, are compared with the peers."""
    entry = {
        "name": "s2-cbr",
        "packet_hops": 6_000_000,
        "events": 7_000_000,
        "wall_s": 0.5,
        "ns_per_hop": 83.3,
        "ns_per_event": 71.4,
        "peak_rss_bytes": 30_000_000,
    }
    document = json.dumps({"benchmarks": [{"name": "s1-af", "packet_hops": 1, "wall_s": 9}, entry]})
    outcome = programs.read_forebay("s2-cbr")(document)
    assert (outcome.packet_hops, outcome.loop_wall_s, outcome.events) == (6_000_000, 0.5, 7_000_000)
    with pytest.raises(ValueError, match="s3-mm1"):
        programs.read_forebay("s3-mm1")(document)


def test_missing_programs_are_named_with_the_way_to_get_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """If this fails, who lacks a simulator gets a traceback, or nothing, for an answer."""
    monkeypatch.setenv("PATH", str(tmp_path))
    arguments = ["--only", "s1-tcp-red", "--forebay", str(tmp_path / "forebay"), "--runs", "1"]
    assert run.main(arguments) == 0
    shown = capsys.readouterr().out
    assert "ns-2 is not installed" in shown
    assert shown.count("install.sh") == 2
    assert "make setup" in shown


@pytest.mark.parametrize(
    ("code", "text", "reason"),
    [
        ("import sys; sys.exit('no route')", "", "exit status 1: no route"),
        ("", "not json", "expected one line of JSON"),
        ("", '{"run_wall_s": 1}', "packet_hops"),
        ("import time; time.sleep(60)", "", "stopped after 0.5 s"),
    ],
)
def test_a_failed_run_says_why(
    settings: programs.Settings, code: str, text: str, reason: str
) -> None:
    """If this fails, a crashed simulator counts as a fast one."""
    chosen = [stand_in("forebay", result(10, 0.1)), stand_in("ns-2", text, code=code)]
    base, broken = run.compare("s2-cbr", chosen, settings, runs=1, timeout_s=0.5)
    assert base.status == "ok"
    assert broken.status == "failed"
    assert reason in broken.message
    assert broken.samples == []


def test_table_fits_and_shows_the_ratios() -> None:
    """If this fails, the table wraps in a terminal of 100 columns or hides what it is for."""
    walls = [0.5, 0.25, 1.0]
    all_series = [series("forebay", walls), series("ns-3 device", [w * 1234 for w in walls])]
    all_series.append(run.Series("ns-2", status="unavailable", message="x" * 300))
    lines = run.as_table("s3-mm1", all_series, 1)
    assert max(len(line) for line in lines) <= 100
    row = next(line for line in lines if line.startswith("ns-3 device"))
    assert row.split()[-3:] == ["1,234", "1,234", "1,234"]
    assert any("for each hop, 1,234 (1,234 to 1,234) times forebay" in line for line in lines)


def test_mm1_trace_has_load_of_four_fifths(tmp_path: Path) -> None:
    """If this fails, ns-2 serves another queue than the benchmark's."""
    count = 200_000
    data = programs.write_mm1_trace(tmp_path, count).read_bytes()
    values = struct.unpack(f">{2 * count}I", data)
    gaps, sizes = values[0::2], values[1::2]
    assert min(sizes) >= 1
    # The standard error of an exponential mean is mean / sqrt(n): 0.22 %. Five of them.
    assert sum(gaps) / count == pytest.approx(400, rel=5 * count**-0.5)
    assert sum(sizes) / count == pytest.approx(400, rel=5 * count**-0.5)
    # 400 bytes at 10 Mbit/s are 320 us: load 0.8. Variance of an exponential: the mean squared,
    # with relative standard error sqrt(8 / n).
    mean = sum(gaps) / count
    variance = sum((gap - mean) ** 2 for gap in gaps) / count
    assert variance == pytest.approx(400**2, rel=5 * (8 / count) ** 0.5)


def test_scale_is_refused_beside_forebay(capsys: pytest.CaptureFixture[str]) -> None:
    """If this fails, a short peer run is compared with a full one of forebay."""
    with pytest.raises(SystemExit) as stop:
        run.main(["--scale", "0.1"])
    assert stop.value.code == 2
    assert "--skip-forebay" in capsys.readouterr().err
