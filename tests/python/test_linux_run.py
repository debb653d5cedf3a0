"""`forebay linux --run`: what the counters of Linux mean, and what a run leaves behind."""

# ruff: noqa: TID251 (waits no longer than for a time)

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
from forebay.linux.machine import _failed, image, run_script
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
pytestmark = pytest.mark.long

needs_kernel = pytest.mark.skipif(
    not (TOOLS and os.access(image(), os.X_OK)),
    reason="validation/linux/install.sh and validation/linux/kernel.sh have not been run here",
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
    """Returns rows of `ip -s -j link` for a host's device."""
    both = {"packets": packets, "bytes": size}
    return [{"stats64": {"rx": both, "tx": both}}]


def line(size: int, drops: int, marks: int) -> list[object]:
    """Returns rows of `tc -s -j qdisc` for a shaper around a queue that marks."""
    tbf = {"kind": "tbf", "root": True, "bytes": size, "drops": drops}
    return [
        tbf,
        {"kind": "codel", "parent": "1:1", "bytes": size, "drops": drops, "ecn_mark": marks},
        {"kind": "clsact", "bytes": 0, "drops": 2 * drops},
    ]


def connections(sent: int, again: int, acknowledged: int) -> str:
    """Returns /proc/net/snmp and the rows of `ss -tinHO` of a host with iperf3 and one stream."""
    where = "ESTAB 0      0      10.128.0.1:{} 10.128.1.1:5201 cubic wscale:7,7 rto:204 {}"
    rows = [
        "Ip: Forwarding DefaultTTL",
        "Ip: 1 64",
        "Tcp: RtoAlgorithm OutSegs RetransSegs",
        f"Tcp: 1 {sent} {again}",
        where.format(40000, "mss:1448 bytes_sent:400 bytes_acked:401 segs_out:4"),
        where.format(40002, f"mss:1448 bytes_retrans:7 bytes_acked:{acknowledged} segs_out:4"),
    ]
    return "\n".join(rows) + "\n"


def test_delays(scenario: Path, tmp_path: Path) -> None:
    """Delays are those of packets within the measured time: their mean and percentile, and the rate
    of each source."""
    flow = {"udp": "{}", "tcp": None, "traffic.cbr": '{ rate = "80 kbit/s", size = "100 B" }'}
    text = scenario.read_text(encoding="utf-8").replace("tcp = { control = { reno = {} } }", "")
    text += "count = 2\n" + "\n".join(f"{key} = {value}" for key, value in flow.items() if value)
    scenario.write_text(text, encoding="utf-8")
    values = check(load(scenario))["resolved"]
    put(tmp_path, "time.*", "100.0", "102.0")
    for end in "ab":
        put(tmp_path, f"fb-f0{end}.*.json", host(0, 0), host(40, 40 * 114))
    for device, far in (("l0a", "l0bw"), ("l0b", "l0aw")):
        put(tmp_path, f"{device}.*.json", line(0, 0, 0), line(0, 0, 0))
        put(tmp_path, f"{far}.*.json", [], [])
    # Delays of 1 to 40 ms within the time, of which the 38th is 95 %; source 1 has 10 of them.
    rows = [f"{100 + n / 20:.9f} {n / 1000:.9f} {int(n <= 10)} 100\n" for n in range(1, 40)]
    rows += ["100.000000000 0.040000000 0 100\n", "99.9 9.0 0 100\n", "102.0 9.0 0 100\n"]
    (tmp_path / "flow0.delays").write_text("".join(rows), encoding="ascii")
    (flow_,) = read_counters(tmp_path, values)["flows"]
    assert flow_["mean_delay_s"] == pytest.approx(0.0205)
    assert flow_["p95_delay_s"] == 0.038
    # 30 and 10 packets of 100 B in 2 s.
    assert flow_["shares_bps"] == [12_000, 4_000]


def test_counters(scenario: Path, tmp_path: Path) -> None:
    """Counters are of the same headers and the same window as the simulator's, so that a difference
    is one of Linux."""
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
    put(tmp_path, "fb-f0a.tcp.*", connections(10, 2, 500), connections(30, 9, 1_250_500))
    found = read_counters(tmp_path, values)
    assert found["measured_s"] == 2.0
    flow = {"name": "bulk", "sent_packets": 1010, "delivered_packets": 1000}
    # 1,250,000 B in 2 s are 5 Mbit/s; the connection with port 40000 is iperf3's own.
    counted = {"throughput_bps": 6e6, "retransmissions": 7, "shares_bps": [5e6]}
    assert found["flows"] == [{**flow, **counted}]
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


def test_the_command_that_failed() -> None:
    """The command that failed is named, out of a script of a hundred."""
    script = (
        "tc -n n -batch - <<'END'\nqdisc add dev d root fq\nqdisc add dev e root dualpi2\nEND\n"
    )
    log = "+ ip -n n link set d up\n+ tc -n n -batch -\nError: Unknown qdisc.\nCommand failed -:2\n"
    assert _failed(log, script) == "tc -n n qdisc add dev e root dualpi2: Error: Unknown qdisc."
    log = "+ id -u\n+ tc -n n qdisc add dev d root x\nError: kind is unknown.\n+ clean\n+ trap x\n"
    assert _failed(log, "") == "tc -n n qdisc add dev d root x: Error: kind is unknown."
    log = "+ exec ip netns add n\nFile exists\n+ echo gone\ngone\n+ exit 1\n+ clean\nx\n"
    assert _failed(log, "") == "ip netns add n: File exists: gone"
    assert _failed("", "") == ""


def test_refusals(
    scenario: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A missing kernel and a wrong place are refused without a traceback."""
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
        assert "validation/linux/kernel.sh builds it" in capsys.readouterr().err
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert main(["linux", str(scenario), "--run"]) == 2
    assert "--run: no ip on this machine; validation/linux/install.sh" in capsys.readouterr().err


@needs_kernel
def test_simulated_time(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The kernel in simulated time builds what the script says and keeps the scenario's clock."""
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
    """A run that is broken off leaves no processes and no files behind."""
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
    """A script that fails, or is interrupted, leaves no namespaces behind."""
    if not TOOLS or os.geteuid() != 0:
        pytest.skip("needs root and the packages of validation/linux/install.sh")
    if subprocess.run(["ip", "netns", "add", "fb-probe"], check=False).returncode != 0:
        pytest.skip("no network namespaces here")
    subprocess.run(["ip", "netns", "del", "fb-probe"], check=True)
    # Other runs on this machine have namespaces of the same names.
    if "fb-" in _namespaces():
        pytest.skip("a network of another run is there")
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
    assert "fb-" not in _namespaces()


def _namespaces() -> str:
    return subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout


ALL_QUEUES = """
adaptive_red = { min_threshold = "5 packets", max_threshold = "15 packets", weight = 0.002 }
cake = { rate = "9 Mbit/s", tins = "diffserv4", overhead = "18 B", ack_filter = "aggressive" }
choke = { of = { red = { limit = "50 packets", ecn = true } } }
codel = { ecn = true, limit = "80 packets" }
drr = { dscp = ["EF", "AF1x"], classes = ["droptail", "codel", "pie"] }
ets = { strict = 1, dscp = ["EF"], classes = [{ red = { weight = 0.25 } }, "codel", "fq_codel"] }
fq_codel = { queues = 64, ce_threshold = "1 ms", ecn = true }
fq_pie = { ecn = true }
pie = { ecn = true, target = "20 ms", delay = "departure_rate" }
priority = { ecn_classes = [0, 1, 1, 1], classes = ["droptail", { red = { ecn = true } }] }
red = { min_threshold = "9 packets", max_threshold = "30 packets", limit = "60 packets" }
sfq = { depth = 9, perturb = "10 s", head_drop = true }
tbf = { rate = "1 Mbit/s", burst = "3 kB", queue = { droptail = { limit = "9 kB" } } }
tbf = { rate = "2 Mbit/s", burst = "3 kB", peak_rate = "4 Mbit/s", queue = "fq_codel" }
tbf = { rate = "3 Mbit/s", burst = "3 kB", queue = { red = { weight = 0.125 } } }
"""
HTB = """{ htb = { dscp = ["EF", "AF1x"], classes = [
{ name = "all", rate = "9 Mbit/s" },
{ name = "a", parent = "all", rate = "3 Mbit/s", ceil = "9 Mbit/s", queue = "codel" },
{ name = "b", parent = "all", rate = "6 Mbit/s", priority = 1, quantum = "3 kB", queue = "pie" },
] } }"""
POLICERS = """[
{ only = { dscp = ["EF", "CS5"],
of = { token_bucket = { cir = "1 Mbit/s", cbs = "3 kB", excess = "drop" } } } },
{ trtcm = { cir = "1 Mbit/s", cbs = "4 kB", pir = "3 Mbit/s", pbs = "5 kB", excess = "drop" } },
]"""


SHOWN = (
    "cake 10: parent 1:1 bandwidth 9Mbit diffserv4 triple-isolate nonat nowash "
    "ack-filter-aggressive split-gso rtt 100ms noatm overhead 18",
    "choke 11: parent 10:1 limit 50p min 5p max 15p ecn ewma 9 ",
    "codel 10: parent 1:1 limit 80p target 5ms interval 100ms ecn",
    "drr 10: parent 1:1",
    "ets 10: parent 1:1 bands 3 strict 1 quanta 1500 1500 priomap 2 2",
    # A quarter is 2^-2, and 0.002, the default, nearest to 2^-9.
    "red 12: parent 11:1 limit 500000000b min 2500b max 7500b ewma 2 ",
    "red 11: parent 10:1 limit 500000000b min 2500b max 7500b adaptive ewma 9 ",
    "red 11: parent 10:1 limit 30000b min 4500b max 15000b ewma 9 ",
    "fq_codel 10: parent 1:1 limit 10240p flows 64 quantum 1514 target 5ms ce_threshold 999us",
    # 15 ms are a tick and a half of 100 Hz: two ticks.
    "fq_pie 10: parent 1:1 limit 10240p flows 1024 target 15ms tupdate 20ms alpha 2 beta 20",
    "pie 10: parent 1:1 limit 1000000p target 20ms tupdate 20ms alpha 2 beta 20 ecn dq_rate",
    "sfq 10: parent 1:1 limit 127p quantum 1514b depth 9 headdrop",
    # 3 kB at once, and 6 kB more at 1 Mbit/s.
    "tbf 10: parent 1:1 rate 1Mbit burst 3000b/1 mpu 0b lat 48ms",
    "tbf 10: parent 1:1 rate 2Mbit burst 3000b/1 mpu 0b peakrate 4Mbit mtu 1500b/1 mpu 0b",
    "fq_codel 11: parent 10:1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms",
    "red 12: parent 11:1 limit 500000000b min 2500b max 7500b ewma 3 ",
    "htb 10: parent 1:1 r2q 10 default 0x2",
    "pfifo 10: parent 1:1 limit 50p",
)
"""Words of `tc -d` of queues that it has been given."""


@needs_kernel
def test_all_words(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """tc accepts all words of scripts and builds the qdiscs that they name."""
    given = [f"queue={{ {line} }}" for line in ALL_QUEUES.strip().splitlines()]
    given += [f"queue={HTB}", f"conditioners={POLICERS}"]
    script = ["set -eu"]
    for text in given:
        words = ["--set", f"links.line.{text}"]
        words += ["--allow", "gentle"] if "adaptive_red" in text else []
        assert main(["linux", str(scenario), "--link", "line", "--dev", "d0", *words]) == 0
        script += ["ip link add d0 type veth peer name d1", capsys.readouterr().out]
        script += ["tc -d qdisc show dev d0 >>/run/out/shown", "ip link del d0"]
    shown = _shown(script)
    for words in SHOWN:
        assert f"qdisc {words}" in shown
    # The header that Linux counts and the scenario does not.
    assert shown.count("overhead -14") == len(given)


def _shown(script: list[str]) -> str:
    with run_script("\n".join(script), "uml", 0) as (folder, _):
        return (folder / "shown").read_text(encoding="utf-8")


BY_HASH = """{ htb = { classify = "flow_hash", perturb = "10 s", classes = [
{ name = "a", rate = "3 Mbit/s", queue = "codel" },
{ name = "b", rate = "6 Mbit/s", queue = "codel" },
] } }"""
REMARK = """[
{ remark = { found = ["EF", "CS5"], to = ["AF11", "EF"] } },
{ only = { dscp = ["AF11"], of = { remark = { to = ["AF12"] } } } },
]"""

ANSWER = """
import socket, threading, time
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
raw.bind(("d1", 0))
raw.settimeout(2)
for dscp in (46, 40, 10, 12, 0):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2 | 2)
    sender.sendto(b"x", ("10.9.9.2", 9))
    header = raw.recv(100)[14:34]
    words = [int.from_bytes(header[at : at + 2], "big") for at in range(0, 20, 2)]
    total = sum(words)
    total = (total & 0xFFFF) + (total >> 16)
    print(dscp, header[1] >> 2, header[1] & 3, hex(total))
"""


@needs_kernel
def test_filters(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Packets behind a marker have its codepoint, their ECN bits and a right checksum."""
    config = image().with_suffix(".config").read_text(encoding="utf-8")
    if not {"CONFIG_NET_CLS_FLOW=y", "CONFIG_NET_ACT_PEDIT=y"} <= set(config.splitlines()):
        pytest.skip("validation/linux/kernel.sh has a newer configuration than the kernel here")
    given = ["--set", f"links.line.queue={BY_HASH}", "--set", f"links.line.conditioners={REMARK}"]
    assert main(["linux", str(scenario), "--link", "line", "--dev", "d0", *given]) == 0
    script = ["set -eu", "ip link add d0 type veth peer name d1", capsys.readouterr().out]
    script += ["ip addr add 10.9.9.1/24 dev d0", "ip link set d0 up", "ip link set d1 up"]
    script += ["ip neigh add 10.9.9.2 lladdr 02:00:00:00:00:07 dev d0 nud permanent"]
    script += ["tc filter show dev d0 parent 10: >/run/out/shown"]
    script += ["python3 - >>/run/out/shown <<'END'", *ANSWER.strip().splitlines(), "END"]
    shown = _shown(script)
    keys = "keys src,dst,proto,proto-src,proto-dst divisor 2 baseclass 10:1 perturb 10sec"
    assert f" hash {keys}" in " ".join(shown.split())
    # CS5 (40) becomes EF, EF (46) AF11 and then AF12 (12), AF11 (10) AF12; ECT(0) stays. The sum
    # of a header with its checksum is 0xffff (RFC 1071).
    rows = [line.split() for line in shown.splitlines()[-5:]]
    assert [[int(word) for word in row[:3]] for row in rows] == [
        [46, 12, 2],
        [40, 46, 2],
        [10, 12, 2],
        [12, 12, 2],
        [0, 0, 2],
    ]
    assert {row[3] for row in rows} == {"0xffff"}
