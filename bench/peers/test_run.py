"""Checks of the comparison itself, with small stand-in programs: no simulator is needed."""

from __future__ import annotations

import json
import struct
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import daytone
import programs
import run


@pytest.fixture
def settings(tmp_path: Path) -> programs.Settings:
    """Programs below a temporary folder."""
    return programs.Settings(build_dir=tmp_path, forebay=tmp_path / "forebay")


def stand_in(name: str, text: str, *, code: str = "") -> programs.Program:
    """A program that prints `text` after doing `code`."""
    command = [sys.executable, "-c", f"{code}\nprint({text!r})"]
    return programs.Program(name, lambda _: command, programs.read_peer)


def result(hops: int, loop_s: float, **more: float) -> str:
    """The line that a program ends with."""
    return json.dumps({"packet_hops": hops, "run_wall_s": loop_s, **more})


def series(name: str, walls: list[float], hops: int = 1_000_000) -> run.Series:
    """Runs of a program that took so many seconds each."""
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
    ballast = bytearray(700_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    light = stand_in("B", result(10, 0.1))
    (measured,) = run.compare("s2-cbr", [light], settings, runs=1, timeout_s=60)
    assert measured.samples[0].peak_rss_bytes < 200e6  # not that of the process that starts it
    del ballast


def test_forebay_is_read_by_the_contract() -> None:
    """If this fails, other numbers than those of the run are compared with the peers."""
    document = {"digest": "0", "events": 7_000_000, "packet_hops": 6_000_000, "wall_s": 0.5}
    outcome = programs.read_forebay(json.dumps({**document, "flows": [], "links": []}))
    assert (outcome.packet_hops, outcome.loop_wall_s, outcome.events) == (6_000_000, 0.5, 7_000_000)


def test_missing_programs_are_named_with_the_way_to_get_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """If this fails, who lacks a simulator gets a traceback, or nothing, for an answer."""
    monkeypatch.setenv("PATH", str(tmp_path))
    arguments = ["--only", "s1-tcp-red", "--forebay", str(tmp_path / "forebay"), "--runs", "1"]
    arguments += ["--venv", str(tmp_path / "none")]
    assert run.main(arguments) == 0
    shown = capsys.readouterr().out
    assert "ns-2 is not installed" in shown
    assert shown.count("install.sh") == 3
    assert "make setup" in shown


@pytest.mark.parametrize(
    ("code", "text", "reason"),
    [
        ("import sys; sys.exit('no route')", "", "exit status 1: no route"),
        ("", "not json", "expected one line of JSON"),
        ("", '{"run_wall_s": 1}', "packet_hops"),
        ("import time; time.sleep(60)", "", "stopped after 4 s"),
    ],
)
def test_a_failed_run_says_why(
    settings: programs.Settings, code: str, text: str, reason: str
) -> None:
    """If this fails, a crashed simulator counts as a fast one."""
    chosen = [stand_in("forebay", result(10, 0.1)), stand_in("ns-2", text, code=code)]
    base, broken = run.compare("s2-cbr", chosen, settings, runs=1, timeout_s=4)
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


def test_runs_of_another_length_are_compared_by_hop_alone() -> None:
    """If this fails, a short run of a peer is taken for a fast one."""
    base = series("forebay", [1.0, 1.0], hops=10_000_000)
    peer = series("ns.py", [2.0, 2.0], hops=200_000)
    peer.share = 0.02
    assert peer.ratio(base, "wall_s") is None
    # 2 s / 2e5 over 1 s / 1e7: 10 us over 0.1 us.
    assert peer.ratio(base, "ns_per_hop") == pytest.approx([100.0] * 3)
    text = "\n".join(run.as_table("s2-cbr", [base, peer], 1))
    assert "ns.py: ran 0.02 of the length" in text
    # 2e5 hops in a fiftieth are 1e7 in all: the same work, nothing to warn of.
    assert "hops against forebay" not in text


def test_quick_shortens_the_peers(settings: programs.Settings) -> None:
    """If this fails, the quick comparison takes as long as the full one."""
    options = run.parse(["--quick"])
    assert (options.scale, options.runs) == (0.1, 3)
    quick = programs.Settings(settings.build_dir, settings.forebay, options.scale)
    chosen = [stand_in("forebay", result(10, 0.1)), stand_in("ns-2", result(10, 0.1))]
    shares = [s.share for s in run.compare("s2-cbr", chosen, quick, runs=1, timeout_s=60)]
    assert shares == [1.0, 0.1]


DAYTONE_LOG = """\
[INFO  daytone::utils::logger] Total packets processed: 30
[INFO  daytone::topos::topo] Simulation completed at time 2.000 seconds in simulation time.
[INFO  daytone::topos::topo] Elapsed wall-clock time: 0.500 seconds.
id,flow_id,start_time,end_time,received_packets,received_sizes,queueing_delay_mean
3,0,0.0,2.0,20,10240,0.0
9,30,0.0,2.0,10,5760,0.0
"""


def test_daytone_is_read_by_its_log_and_table() -> None:
    """If this fails, daytone's time is divided by packets that it never carried."""
    found = daytone.read("s1-tcp-red", DAYTONE_LOG)
    # Three links for 30 packets, and for 20 acknowledgements back.
    assert found["packet_hops"] == 3 * (30 + 20)
    assert found["run_wall_s"] == 0.5
    assert found["tcp_bps"] == 8 * 10240 / 2.0
    assert found["udp_bps"] == 8 * 5760 / 2.0
    assert daytone.read("s3-mm1", DAYTONE_LOG)["packet_hops"] == 30


def test_daytone_after_a_panic_is_a_failure() -> None:
    """If this fails, a run that carried nothing counts as infinitely fast or slow."""
    empty = "\n".join(line for line in DAYTONE_LOG.splitlines() if not line[0].isdigit())
    with pytest.raises(ValueError, match="no packets"):
        daytone.read("s3-mm1", empty)
    panic = (
        "thread 'main' panicked at src/source.rs:1:2:\ncalled `unwrap()`: InvalidScheduledTime\n"
    )
    with pytest.raises(ValueError, match=r"panicked: .*InvalidScheduledTime"):
        daytone.read("s3-mm1", panic + DAYTONE_LOG)
    with pytest.raises(ValueError, match="no end"):
        daytone.read("s3-mm1", "id,flow_id,start_time,received_packets,received_sizes\n")


@pytest.mark.parametrize("benchmark", daytone.BENCHMARKS)
def test_daytone_is_offered_the_load_of_the_benchmark(benchmark: str) -> None:
    """If this fails, daytone runs another scenario than the others."""
    text = daytone.configuration(benchmark, 2.0, "logs")
    document = tomllib.loads(text)
    assert document["duration"] == 2.0
    flows = document["flow"]
    udp = [flow["traffic"] for flow in flows if flow["flow_type"] == "PacketDistribution"]

    def mean(law: dict[str, float]) -> float:
        return 1 / law["lambda"] if "lambda" in law else (law["low"] + law["high"]) / 2

    load = sum(8 * mean(law["pkt_size_dist"]) / mean(law["arr_dist"]) for law in udp)
    # As README.md describes the scenarios: 30 Mbit/s; 2000 times 80 kbit/s; 0.8 of 10 Mbit/s.
    offered = {"s1-tcp-red": 30e6, "s2-cbr": 160e6, "s3-mm1": 8e6}
    assert load == pytest.approx(offered[benchmark])
    assert len(flows) - len(udp) == (30 if benchmark == "s1-tcp-red" else 0)
