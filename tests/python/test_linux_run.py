"""`forebay linux --run`: what the counters of Linux mean, and what a run leaves behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forebay.cli.commands import main
from forebay.errors import MachineError
from forebay.linux.counters import read_counters
from forebay.linux.machine import image
from forebay.run.jobs import check, load

SCENARIO = """
name = "one flow at a tail drop queue"
duration = "3 s"
warm_up = "1 s"
[links.line]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "{delay}"
queue = {{ droptail = {{ limit = "50 packets" }} }}
[flows.bulk]
from = "a"
to = "b"
tcp = {{ control = {{ reno = {{}} }} }}
"""

TOOLS = all(map(shutil.which, ("ip", "tc", "ethtool", "iperf3")))
needs_kernel = pytest.mark.skipif(
    not (TOOLS and os.access(image(), os.X_OK)),
    reason="bench/linux/install.sh and bench/linux/kernel.sh have not been run here",
)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A link of 10 Mbit/s and 10 ms under one flow."""
    file = tmp_path / "line.toml"
    file.write_text(SCENARIO.format(delay="10 ms"), encoding="utf-8")
    return file


def put(folder: Path, name: str, begin: object, end: object) -> None:
    """A counter's two readings, as the script writes them."""
    for when, value in (("begin", begin), ("end", end)):
        text = value if isinstance(value, str) else json.dumps(value)
        (folder / f"{name.replace('*', when)}").write_text(text, encoding="utf-8")


def host(packets: int, size: int) -> list[object]:
    """What `ip -s -j link` says of a host's device."""
    both = {"packets": packets, "bytes": size}
    return [{"stats64": {"rx": both, "tx": both}}]


def line(size: int, drops: int, marks: int) -> list[object]:
    """What `tc -s -j qdisc` says of a shaper around a queue that marks."""
    tbf = {"kind": "tbf", "root": True, "bytes": size, "drops": drops}
    return [
        tbf,
        {"kind": "codel", "parent": "1:1", "bytes": size, "drops": drops, "ecn_mark": marks},
        {"kind": "clsact", "bytes": 0, "drops": 2 * drops},
    ]


def test_counters(scenario: Path, tmp_path: Path) -> None:
    """A difference would be one of headers, or of the warm-up, and not of Linux."""
    values = check(load(scenario))["resolved"]
    put(tmp_path, "time.*", "100.5", "102.5")
    # 1000 packets of 1500 B in 2 s are 6 Mbit/s; a host's device counts 14 B more of each.
    put(tmp_path, "fb-f0a.*.json", host(10, 15_140), host(1020, 1_544_280))
    put(tmp_path, "fb-f0b.*.json", host(10, 15_140), host(1010, 1_529_140))
    for device, far in (("l0a", "l0bw"), ("l0b", "l0aw")):
        put(tmp_path, f"{device}.*.json", line(500, 1, 4), line(1_500_500, 6, 9))
        put(tmp_path, f"{far}.*.json", [], [{"kind": "netem", "drops": 0}])
    netem = [
        [{"kind": "netem", "drops": count}, {"kind": "ingress", "drops": 9}] for count in (1, 4)
    ]
    put(tmp_path, "l0bw.*.json", *netem)
    found = read_counters(tmp_path, values)
    assert found["measured_s"] == 2.0
    flow = {"name": "bulk", "sent_packets": 1010, "delivered_packets": 1000}
    assert found["flows"] == [{**flow, "throughput_bps": 6e6}]
    # The shaper counts its queue's 5 drops; the policer has 10, the wire 3, the way back no netem
    # that loses.
    row = {"throughput_bps": 6e6, "marks": 5}
    assert found["links"] == [
        {"name": "line", "drops": 18, **row},
        {"name": "line.reverse", "drops": 15, **row},
    ]
    (tmp_path / "time.end").unlink()
    with pytest.raises(MachineError, match="has left no counters"):
        read_counters(tmp_path, values)


def test_refusals(
    scenario: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who has no kernel, or writes a place wrongly, would see a traceback."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for words, told in (
        (["--in", "uml"], "--in: only with --run"),
        (["--run", "--in", "umk"], '--in: no place "umk"'),
        (["--run", "--link", "line", "--dev", "eth0"], "--run, --link: "),
    ):
        assert main(["linux", str(scenario), *words]) == 2
        assert told in capsys.readouterr().err
    if TOOLS:
        assert main(["linux", str(scenario), "--run"]) == 2
        assert "bench/linux/kernel.sh builds it" in capsys.readouterr().err
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert main(["linux", str(scenario), "--run"]) == 2
    assert "--run: no ip on this machine; bench/linux/install.sh" in capsys.readouterr().err


@needs_kernel
def test_simulated_time(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The kernel would not build what the script says, or another clock would count."""
    assert main(["linux", str(scenario), "--run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    linux = document["linux"]
    assert (linux["clock"], linux["kept_pace"]) == ("simulated", True)
    # In simulated time no command takes time: the window is the scenario's to a millisecond.
    assert abs(linux["measured_s"] - 2.0) < 1e-3
    # A window that fills the link: 10 Mbit/s of IP packets, at most one packet more or less.
    (flow,) = linux["flows"]
    assert abs(flow["throughput_bps"] - 10e6) <= 2 * 1500 * 8 / 2.0
    names = [row["name"] for row in document["simulated"]["links"]]
    assert [row["name"] for row in linux["links"]] == names == ["line", "line.reverse"]


@needs_kernel
def test_interrupted(scenario: Path, tmp_path: Path) -> None:
    """A run that is broken off would leave processes and files behind."""
    words = [sys.executable, "-m", "forebay", "linux", str(scenario), "--run"]
    room = tmp_path / "room"
    room.mkdir()
    long = ["--set", 'duration="600 s"']
    process = subprocess.Popen([*words, *long], env={**os.environ, "TMPDIR": str(room)})
    try:
        deadline = time.time() + 60
        while not list(room.glob("*/out/kernel")) and time.time() < deadline:
            time.sleep(0.1)
        (folder,) = room.iterdir()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 130
    finally:
        process.kill()
    assert list(room.iterdir()) == []
    running = [
        file.read_bytes()
        for file in Path("/proc").glob("[0-9]*/cmdline")
        if os.access(file, os.R_OK)
    ]
    assert not any(str(folder).encode() in command for command in running)


def test_namespaces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A script that fails, or is interrupted, would leave namespaces behind."""
    if not TOOLS or os.geteuid() != 0:
        pytest.skip("needs root and the packages of bench/linux/install.sh")
    if subprocess.run(["ip", "netns", "add", "fb-probe"], check=False).returncode != 0:
        pytest.skip("no network namespaces here")
    subprocess.run(["ip", "netns", "del", "fb-probe"], check=True)
    file = tmp_path / "line.toml"
    file.write_text(SCENARIO.format(delay="0 s"), encoding="utf-8")
    script = tmp_path / "line.sh"
    assert main(["linux", str(file), "--out", str(script)]) == 0
    process = subprocess.Popen(
        ["sh", str(script), str(tmp_path / "results")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    time.sleep(1.0)
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=30)
    names = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    assert "fb-" not in names
