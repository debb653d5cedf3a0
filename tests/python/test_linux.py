"""The command `linux`: a scenario as commands of tc and ip.

Expected words are the options of tc's man pages with the numbers of the scenario.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forebay.cli.commands import main
from forebay.linux import datagrams
from forebay.linux.fold import fold

EXAMPLES = Path(__file__).parents[2] / "examples"
RED = EXAMPLES / "red.toml"


def tc(capsys: pytest.CaptureFixture[str], queue: str, *more: str) -> str:
    """The command for the queue of the bottleneck of `red.toml` with another one."""
    words = ["--set", f"links.bottleneck.queue={queue}", "--link", "bottleneck", "--dev", "eth0"]
    assert main(["linux", str(RED), *words, *more]) == 0
    return capsys.readouterr().out.splitlines()[-1]


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is said about input that has no script."""
    assert main(["linux", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ('{ droptail = { limit = "20 packets" } }', "pfifo limit 20"),
        ('{ droptail = { limit = "45 kB" } }', "bfifo limit 45000"),
        (
            '{ codel = { target = "7 ms", interval = "90 ms", ecn = true, limit = "80 packets" } }',
            "codel limit 80 target 7000us interval 90000us ecn",
        ),
        # RFC 8033: alpha 1/8 and beta 1 1/4 are 2 and 20 sixteenths.
        (
            '{ pie = { target = "20 ms", limit = "90 packets" } }',
            "pie limit 90 target 20000us tupdate 15000us alpha 2 beta 20",
        ),
        ("{ pie = { bytemode = true } }", "alpha 2 beta 20 bytemode noecn"),
        (
            '{ fq_codel = { queues = 64, quantum = "300 B" } }',
            "fq_codel limit 10240 flows 64 quantum 300 target 5000us interval 100000us",
        ),
        ("{ fq_pie = { ecn = true } }", "fq_pie limit 10240 flows 1024 target 15000us"),
        (
            '{ sfq = { depth = 9, perturb = "10 s", head_drop = true } }',
            "sfq limit 127 divisor 1024 quantum 1514 depth 9 perturb 10 headdrop",
        ),
        (
            '{ cake = { rate = "9 Mbit/s", tins = "diffserv4", overhead = "18 B" } }',
            "cake bandwidth 9000000bit rtt 100000us diffserv4 triple-isolate overhead 18",
        ),
        ('{ cake = { ack_filter = "aggressive" } }', "nowash ack-filter-aggressive"),
        ("dualpi2", "dualpi2 limit 10000 target 15000us tupdate 16000us alpha 0.16 beta 3.2"),
        (
            '{ tbf = { rate = "1 Mbit/s", burst = "3 kB", '
            'queue = { droptail = { limit = "9 kB" } } } }',
            "tbf rate 1000000bit burst 3000 limit 9000",
        ),
    ],
)
def test_queue_words(capsys: pytest.CaptureFixture[str], queue: str, words: str) -> None:
    """An engineer would configure another queue than the one that was simulated."""
    assert words in tc(capsys, queue)


def test_red_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Linux's RED would average, or drop, at other lengths than the scenario's."""
    line = tc(
        capsys,
        '{ red = { min_threshold = "10 packets", max_threshold = "30 packets", '
        'mean_packet = "1000 B", weight = 0.25, limit = "60 packets", ecn = true } }',
    )
    # W = 1/4. tc takes the least exponent with burst + 1 - 10 <= (1 - (1 - W)^burst) / W: with a
    # burst of 11 that is 2 against 1.999 for W = 1/2, which fails, and 3.83 for 1/4, which holds.
    words = "red min 10000 max 30000 limit 60000 avpkt 1000 burst 11 probability 0.1 ecn harddrop"
    # How long a packet takes while the queue is idle follows from the rate of the link.
    assert line.endswith(f"{words} bandwidth 10000000bit")


def test_impairments(capsys: pytest.CaptureFixture[str]) -> None:
    """A lossy link would lose another share of its packets on Linux."""
    for law, words in (
        ("{ loss = { probability = 0.01 } }", "netem limit 1000000 delay 20000us loss random 1%"),
        (
            "{ gilbert_elliott = { to_bad = 0.01, to_good = 0.1 } }",
            "loss gemodel 1% 10% 100% 0%",
        ),
        ("{ duplication = { probability = 0.5 } }", "duplicate 50%"),
        # Uniform on 0 to 4 ms behind 20 ms is 22 ms plus or minus 2 ms, behind the transmission.
        # In order with a rate, here one at which packets take no time, else as they draw.
        (
            '{ jitter = { mean = "2 ms" } }',
            "parent 1:1 handle 2: netem limit 1000000 delay 22000us 2000us rate 100000000000bit\n",
        ),
        ('{ jitter = { mean = "2 ms", reorder = true } }', "delay 22000us 2000us\n"),
    ):
        given = ["--set", f"links.bottleneck.impairment={law}", "--allow", "gentle"]
        assert main(["linux", str(RED), *given]) == 0
        assert words in capsys.readouterr().out


def test_dumbbell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The network on Linux would have other nodes, wires or ways."""
    file = tmp_path / "red.sh"
    assert main(["linux", str(RED), "--allow", "gentle", "--out", str(file)]) == 0
    assert capsys.readouterr().out == ""
    script = file.read_text()
    # Three nodes, two wires and two hosts; two veth pairs a link and one a host; each host has a
    # default route, and is known to the two nodes that it is not at.
    assert len(re.findall(r"^ip netns add", script, re.M)) == 7
    assert len(re.findall(r"type veth peer", script)) == 6
    assert len(re.findall(r"route add", script)) == 6
    # Without the 14 B of an Ethernet header; 100 B of room let no second packet go at once.
    assert "stab overhead -14 tbf rate 10000000bit burst 1600" in script
    # A packet that tbf lets go arrives when it is transmitted, and has come the way.
    wire = "root handle 1: netem limit 1000000 delay 20000us rate 10000000bit -14"
    assert wire in script
    assert "-C reno -M 1460 -P 8" in script
    # RFC 3390: min(4 MSS, max(2 MSS, 4380 B)) are three segments of 1460 B.
    assert "initcwnd 3 rto_min 1000ms" in script
    for setting in ("tcp_ecn=0", "tcp_sack=1", "tcp_timestamps=0", "tcp_recovery=0"):
        assert script.count(f"net.ipv4.{setting}") == 2
    assert subprocess.run(["bash", "-n", str(file)], check=False).returncode == 0
    if shutil.which("shellcheck"):
        assert subprocess.run(["shellcheck", str(file)], check=False).returncode == 0


def test_shaper(capsys: pytest.CaptureFixture[str]) -> None:
    """A queue that is asked which packet is next would see each wait a transmission less."""
    words = [
        "--set",
        "links.bottleneck.queue={ codel = {} }",
        "--link",
        "bottleneck",
        "--dev",
        "eth0",
    ]
    assert main(["linux", str(EXAMPLES / "red.toml"), *words]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("tc ")]
    assert lines[0].endswith("root handle 1: stab overhead -14 htb default 1")
    assert "parent 1: classid 1:1 htb rate 10000000bit burst 1 cburst 1 quantum 1500" in lines[1]
    assert " parent 1:1 handle 10: codel " in lines[2]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A program could not tell what is approximated."""
    assert main(["linux", str(RED), "--allow", "links.bottleneck.queue.red.gentle", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"script", "notes", "approximations"}
    # include/net/red.h: below the minimum the count is -1; where it becomes 0 nothing is dropped.
    crossing = 'never drops the packet with which the average crosses min_threshold, as "linux"'
    assert any(note.endswith(crossing) for note in document["notes"])
    assert document["approximations"][0].startswith("links.bottleneck.queue.red.gentle: ")


@pytest.mark.parametrize(
    ("tcp", "told"),
    [
        ("{}", []),
        ('{ control = "highspeed" }', []),
        ('{ control = "cubic", profile = "rfc" }', ["hystart", "alpha_law", "rtt_gain"]),
        ('{ control = { cubic = { hystart_law = "rfc9406" } } }', ["hystart_law"]),
        ('{ control = "highspeed", profile = "rfc" }', ["law", "rtt_gain"]),
    ],
)
def test_laws_of_senders(capsys: pytest.CaptureFixture[str], tcp: str, told: list[str]) -> None:
    """A sender that is not Linux's would be taken for one, or one that is for another: those of the
    profile "linux" have nothing to note, those of the RFCs what Linux has otherwise."""
    given = ["--set", f"flows.upload.tcp={tcp}"]
    assert main(["linux", str(EXAMPLES / "codel.toml"), *given, "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    keys = {note.split(": ")[0].rpartition(".")[2] for note in notes}
    assert {"hystart", "hystart_law", "alpha_law", "law", "rtt_gain"} & keys == set(told)


def test_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    """Something else than the scenario would be built without a word."""
    assert "links.bottleneck.queue.red.gentle: " in refused(capsys, str(RED))
    one = ["--link", "bottleneck", "--dev", "eth0"]
    for queue, told in (
        ("cobalt", "links.bottleneck.queue.cobalt: Linux has no COBALT alone; the nearest is cake"),
        (
            "{ priority = { classes = [{ priority = { classes = ["
            '{ droptail = {} }, { droptail = {} }], flow_groups = [["bulk"]] } }] } }',
            "links.bottleneck.queue.priority.classes[0].priority.flow_groups: not mapped",
        ),
        (
            '{ rio = { min_threshold = ["5 packets"], max_threshold = ["9 packets"], '
            "max_probability = [0.1] } }",
            "links.bottleneck.queue.rio: Linux has no RIO; the nearest is gred",
        ),
    ):
        given = ["--set", f"links.bottleneck.queue={queue}"]
        assert told in refused(capsys, str(RED), *given, *one)
    assert 'no link "botleneck"' in refused(capsys, str(RED), "--link", "botleneck", "--dev", "e0")
    assert "allowed is the name of a device" in refused(
        capsys, str(RED), "--link", "bottleneck", "--dev", "eth0; reboot"
    )
    assert "--link, --dev: " in refused(capsys, str(RED), "--link", "bottleneck")
    assert '--allow: no approximation "gentel"' in refused(
        capsys, str(EXAMPLES / "codel.toml"), "--allow", "gentel"
    )


def tree(capsys: pytest.CaptureFixture[str], scenario: Path, *given: str) -> list[str]:
    """The commands for the one link of a scenario that has classes."""
    link = "edge" if scenario.stem in ("diffserv", "police") else "line"
    assert main(["linux", str(scenario), "--link", link, "--dev", "eth0", *given]) == 0
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("tc ")]


def test_priority(capsys: pytest.CaptureFixture[str]) -> None:
    """Calls would wait behind data on Linux, or acknowledgements of data before calls."""
    lines = tree(capsys, EXAMPLES / "priority.toml")
    # Two classes: precedence 0, and 1 and above. Precedence p is codepoint CSp: p times 32.
    assert "prio bands 2 priomap " + " ".join(["0"] * 16) in lines[1]
    matches = [re.search(r"dsfield (0x\w+) 0xfc flowid 10:(\d)", line) for line in lines]
    assert {m[1]: m[2] for m in matches if m} == {f"{32 * p:#04x}": "2" for p in range(1, 8)}
    assert lines[-3].endswith("parent 10:1 handle 11: pfifo limit 20")
    # RED is asked for packets by ets, since prio and tbf only look at those that it has.
    assert lines[-2].endswith("parent 10:2 handle 12: ets bands 1 strict 1")
    assert "parent 12:1 handle 13: red min 7500 max 22500 limit 75000 avpkt 1500" in lines[-1]


def test_ets_and_police(capsys: pytest.CaptureFixture[str]) -> None:
    """A class would have another share, or a contract another rate."""
    no_colours = ["--set", 'links.edge.queue.ets.classes=["droptail", "codel", "codel"]']
    no_colours += ["--set", 'links.edge.queue.ets.dscp=["EF", "AF4x"]']
    no_colours += ["--set", 'links.edge.queue.ets.quanta=["6 kB", "1500 B"]']
    no_colours += [
        "--set",
        'links.edge.conditioners=[{ only = { dscp = ["EF", "CS5"], of = { token_bucket = '
        '{ cir = "1 Mbit/s", cbs = "3 kB", excess = "drop" } } } }, '
        '{ trtcm = { cir = "1 Mbit/s", cbs = "4 kB", pir = "3 Mbit/s", pbs = "5 kB", '
        'excess = "drop" } }]',
    ]
    lines = tree(capsys, EXAMPLES / "diffserv.toml", *no_colours)
    # RFC 3246: EF is 46, that is 0xb8 in the field with ECN; RFC 2474: CS5 is 40, 0xa0.
    shared = "tc filter add dev eth0 egress protocol ip prio 1 u32 match ip dsfield"
    police = "action police rate 1000000bit burst 3000 conform-exceed drop/continue index 1"
    assert lines[:4] == [
        "tc qdisc replace dev eth0 clsact",
        f"{shared} 0xb8 0xfc {police}",
        f"{shared} 0xa0 0xfc action police index 1",
        "tc filter add dev eth0 egress protocol ip prio 2 matchall "
        "action police rate 3000000bit burst 5000 conform-exceed drop/continue index 2",
    ]
    assert "ets bands 3 strict 1 quanta 6000 1500 priomap 2 " in lines[5]
    # RFC 2597: AF41, AF42, AF43 are 34, 36 and 38.
    ways = [line.partition("dsfield ")[2] for line in lines[6:10]]
    assert ways == [
        f"{f} 0xfc flowid 10:{c}"
        for f, c in zip(("0xb8", "0x88", "0x90", "0x98"), "1222", strict=True)
    ]


def test_htb(capsys: pytest.CaptureFixture[str]) -> None:
    """An office would borrow other than its contract says."""
    lines = tree(capsys, EXAMPLES / "borrow.toml")
    assert lines[1].endswith("parent 1:1 handle 10: htb default 5")
    # A tenth of a second at 9 Mbit/s are 112,500 B.
    bulk = "parent 10:2 classid 10:4 htb rate 9000000bit ceil 20000000bit burst 1600 cburst 1600"
    assert f"tc class replace dev eth0 {bulk} prio 0 quantum 112500" in lines
    assert lines[-1].startswith("tc qdisc replace dev eth0 parent 10:5 handle 13: codel ")


def test_drr(capsys: pytest.CaptureFixture[str]) -> None:
    """What no filter classifies, as questions for addresses, would be dropped."""
    queue = (
        '{ drr = { dscp = ["EF"], quanta = ["300 B", "1500 B"], classes = ["droptail", "codel"] } }'
    )
    lines = tree(capsys, EXAMPLES / "priority.toml", "--set", f"links.line.queue={queue}")
    assert lines[2:6] == [
        "tc class replace dev eth0 parent 10: classid 10:1 drr quantum 300",
        "tc class replace dev eth0 parent 10: classid 10:2 drr quantum 1500",
        "tc filter add dev eth0 parent 10: protocol ip prio 1 "
        "u32 match ip dsfield 0xb8 0xfc flowid 10:1",
        "tc filter add dev eth0 parent 10: protocol all prio 2 matchall flowid 10:2",
    ]


def test_choke_and_adaptive_red(capsys: pytest.CaptureFixture[str]) -> None:
    """A queue beside RED would have other thresholds."""
    red = '{ red = { limit = "50 packets", mean_packet = "1000 B" } }'
    line = tc(capsys, f"{{ choke = {{ of = {red} }} }}")
    assert "choke limit 50 min 5 max 15 avpkt 1000 burst " in line
    law = 'min_threshold = "5 packets", max_threshold = "15 packets", weight = 0.002'
    adaptive = f'{{ adaptive_red = {{ {law}, mean_packet = "1000 B" }} }}'
    line = tc(capsys, adaptive, "--allow", "gentle")
    assert "red min 5000 max 15000 " in line
    assert " adaptive" in line
    told = refused(
        capsys,
        *[str(RED), "--set", "links.bottleneck.queue=adaptive_red"],
        *["--link", "bottleneck", "--dev", "eth0"],
    )
    assert "queue.adaptive_red.min_threshold: tc derives none; the nearest is a number" in told


def test_datagrams(capsys: pytest.CaptureFixture[str]) -> None:
    """A source on Linux would send at another rate, or with another codepoint."""
    assert main(["linux", str(EXAMPLES / "borrow.toml")]) == 0
    # 80 kbit/s of 200 B are a packet each 20 ms, of 172 B without the headers of UDP and IP; for
    # 20 s, ten sources, no jitter, a random phase each; EF is 46, times 4 is 184.
    out = capsys.readouterr().out
    assert '"$out/datagrams.py" send 10.128.5.1 5203 cbr 0.02 172 20 10 0.0 1 184)' in out
    assert '"$out/datagrams.py" receive 5203 22 "$out/flow2.delays" &' in out
    given = ["--set", 'flows.voice.traffic={ poisson = { rate = "80 kbit/s", size = "39 B" } }']
    assert "flows.voice.traffic.poisson.size: a datagram has 12 B at least" in refused(
        capsys, str(EXAMPLES / "borrow.toml"), *given
    )


def _sent(folder: Path, port: int, *law: str) -> list[list[float]]:
    """What a receiver notes of the datagrams of a sender: when they came, and of which source."""
    program = [sys.executable, datagrams.__file__]
    file = folder / "delays"
    words = ["receive", str(port), "1.5", str(file)]
    with subprocess.Popen([*program, *words]) as receiver:
        time.sleep(0.3)
        subprocess.run([*program, "send", "127.0.0.1", str(port), *law], check=True)
        assert receiver.wait(10) == 0
    return [[float(word) for word in line.split()] for line in file.read_text().splitlines()]


def test_sender_of_datagrams(tmp_path: Path) -> None:
    """Sources on Linux would send more or less, all at once, or with wrong times."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    rows = _sent(tmp_path, port, "cbr", "0.02", "172", "0.5", "3", "0.0", "1", "184")
    # Every 20 ms for 0.5 s, each from within its first 20 ms: 25, or 24 if the last is late.
    for source in range(3):
        times = [when for when, _, index in rows if index == source]
        assert len(times) in (24, 25)
    assert all(0.0 <= delay < 1.0 for _, delay, _ in rows)
    rows = _sent(tmp_path, port, "poisson", "0.002", "12", "0.5", "1")
    # 250 on average. A Poisson number is beyond 5 standard deviations of 16 once in a million.
    assert 170 < len(rows) < 330


def test_folded_script() -> None:
    """In a kernel of its own a device would be used before it is there, or a setting be lost."""
    lines = [
        "echo begin",
        "ip netns add n",
        "ip -n n link add d type veth peer name e netns m",
        "ip -n n link set d up",
        "ip netns add m",
        "ip netns exec n sysctl -qw a=1",
        "ip netns exec n ethtool -K d tso off",
        "trap clean EXIT",
        "count() {",
        "  ip -n n -s link",
        "}",
        "ip netns exec n sysctl -qw b=2",
        "tc -n n qdisc add dev d root fq",
        "ip netns exec n iperf3 -s",
    ]
    assert fold("\n".join(lines)).splitlines() == [
        "echo begin",
        *["ip -batch - <<'END'", "netns add n", "netns add m", "END"],
        *["ip -n n -batch - <<'END'", "link add d type veth peer name e netns m", "END"],
        *["ip netns exec n sh -e <<'END'", "sysctl -qw a=1 b=2", "ethtool -K d tso off", "END"],
        *["ip -n n -batch - <<'END'", "link set d up", "END"],
        *["tc -n n -batch - <<'END'", "qdisc add dev d root fq", "END"],
        *["count() {", "  ip -n n -s link", "}", "ip netns exec n iperf3 -s"],
    ]
    assert fold("echo\n") == "echo\n"


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_examples(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    """A scenario would give neither a script nor the key path for which it has none."""
    status = main(["linux", str(example)])
    told = capsys.readouterr()
    if status == 0:
        done = subprocess.run(["bash", "-n"], input=told.out, text=True, check=False)
        assert done.returncode == 0
        if shutil.which("shellcheck"):
            done = subprocess.run(["shellcheck", "-"], input=told.out, text=True, check=False)
            assert done.returncode == 0
        return
    assert status == 2
    assert re.match(r"forebay: error: (links|flows|rings|aggregates)\.[\w.\-\[\]]+: ", told.err)
