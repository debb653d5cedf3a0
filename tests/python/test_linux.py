"""The command `linux`: a scenario as commands of tc and ip.

Expected words are the options of tc's man pages with the numbers of the scenario.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from forebay.cli.commands import main
from forebay.linux.fold import fold
from forebay.linux.guard import GUARD

EXAMPLES = Path(__file__).parents[2] / "examples"
RED = EXAMPLES / "red.toml"


def tc(capsys: pytest.CaptureFixture[str], queue: str, *more: str) -> str:
    """The command for the queue of the bottleneck of `red.toml` with another one."""
    words = ["--set", f"links.bottleneck.queue={queue}", "--link", "bottleneck", "--dev", "eth0"]
    assert main(["linux", str(RED), *words, *more]) == 0
    return capsys.readouterr().out.splitlines()[-1]


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Returns the message about input that has no script."""
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
    """tc configures the queue that the scenario has."""
    assert words in tc(capsys, queue)


def test_red_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Linux's RED averages and drops at the lengths of the scenario."""
    red = (
        '{ red = { min_threshold = "10 packets", max_threshold = "30 packets", '
        'mean_packet = "1000 B", weight = 0.25, limit = "60 packets", ecn = true } }'
    )
    line = tc(capsys, red)
    # W = 1/4. tc takes the least exponent with burst + 1 - 10 <= (1 - (1 - W)^burst) / W: with a
    # burst of 11 that is 2 against 1.999 for W = 1/2, which fails, and 3.83 for 1/4, which holds.
    words = "red min 10000 max 30000 limit 60000 avpkt 1000 burst 11 probability 0.1 ecn harddrop"
    # How long a packet takes while the queue is idle follows from the rate of the link.
    assert line.endswith(f"{words} bandwidth 10000000bit")
    marking = tc(capsys, red.replace("ecn = true", "ecn = true, harddrop = false"))
    assert marking.endswith(f"{words.removesuffix(' harddrop')} bandwidth 10000000bit")


def test_impairments(capsys: pytest.CaptureFixture[str]) -> None:
    """Impairments become the words of netem with the same laws and shares."""
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
    """The network on Linux has the nodes, wires and routes of the scenario."""
    file = tmp_path / "red.sh"
    assert main(["linux", str(RED), "--allow", "gentle", "--out", str(file)]) == 0
    assert capsys.readouterr().out == ""
    script = file.read_text()
    # Three nodes, two wires and two hosts; two veth pairs a link and one a host; each host has a
    # default route, and is known to the two nodes that it is not at.
    assert len(re.findall(r"^namespace fb-", script, re.M)) == 7
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
    """A shaper is HTB, which takes a packet from its queue when it may leave: a queue that is asked
    before sees each packet wait a transmission less."""
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


def test_the_way_back(capsys: pytest.CaptureFixture[str]) -> None:
    """The way back of a link has commands of its own."""
    words = ["--link", "bottleneck.reverse", "--dev", "eth0"]
    back = '{ rate = "3 Mbit/s", queue = { codel = {} } }'
    assert main(["linux", str(RED), *words, "--set", f"links.bottleneck.reverse={back}"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("tc ")]
    assert "htb rate 3000000bit" in lines[1]
    assert " codel " in lines[2]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The document in JSON lists what is approximated."""
    assert main(["linux", str(RED), "--allow", "links.bottleneck.queue.red.gentle", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"script", "notes", "approximations"}
    # include/net/red.h: below the minimum the count is -1; where it becomes 0 nothing is dropped.
    crossing = 'never drops the packet with which the average crosses min_threshold, as "linux"'
    assert any(note.endswith(crossing) for note in document["notes"])
    assert document["approximations"][0].startswith("links.bottleneck.queue.red.gentle: ")


def test_recovery_remarks(capsys: pytest.CaptureFixture[str]) -> None:
    """Remarks on recovery name the differences of the chosen law, and only those."""
    told = []
    for window in ("prr", "rfc6675"):
        words = ["--set", f"flows.bulk.tcp.recovery_window={window}", "--json"]
        words += ["--set", "links.bottleneck.queue.red.gentle=false"]
        assert main(["linux", str(RED), *words]) == 0
        told.append(" ".join(json.loads(capsys.readouterr().out)["notes"]))
    assert "flows.bulk.tcp.undo: Linux undoes recoveries" in told[0]
    assert "PRR" not in told[0]
    assert "flows.bulk.tcp.recovery_window: Linux has PRR, not rfc6675" in told[1]


@pytest.mark.parametrize(
    ("tcp", "told"),
    [
        ("{}", []),
        ('{ control = "highspeed" }', []),
        ('{ control = "cubic", profile = "rfc" }', ["hystart", "alpha_law", "rtt_gain"]),
        ('{ control = { cubic = { hystart_law = "rfc9406" } } }', ["hystart_law"]),
        ('{ control = { cubic = { hystart_law = "search" } } }', ["hystart_law"]),
        ("{ control = { reno = { beta_ecn = 0.8 } } }", ["beta_ecn"]),
        ('{ control = "highspeed", profile = "rfc" }', ["law", "rtt_gain"]),
    ],
)
def test_laws_of_senders(capsys: pytest.CaptureFixture[str], tcp: str, told: list[str]) -> None:
    """Laws of senders that differ from Linux's are noted: those of the profile "linux" have nothing
    to note, those of the RFCs what Linux has otherwise."""
    given = ["--set", f"flows.upload.tcp={tcp}"]
    assert main(["linux", str(EXAMPLES / "codel.toml"), *given, "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    keys = {note.split(": ")[0].rpartition(".")[2] for note in notes}
    of_laws = {"hystart", "hystart_law", "alpha_law", "beta_ecn", "law", "rtt_gain"}
    assert of_laws & keys == set(told)


def test_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario that Linux cannot build is refused with the key path, never replaced by
    another."""
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
    periodic = "links.bottleneck.impairment={ periodic_loss = { period = 100 } }"
    told = "netem has no periodic_loss; the nearest is loss"
    assert told in refused(capsys, str(RED), "--set", periodic, "--allow", "gentle")
    assert 'no link "botleneck"' in refused(capsys, str(RED), "--link", "botleneck", "--dev", "e0")
    assert "allowed is the name of a device" in refused(
        capsys, str(RED), "--link", "bottleneck", "--dev", "eth0; reboot"
    )
    assert "--link, --dev: " in refused(capsys, str(RED), "--link", "bottleneck")
    video = '{ adaptive_video = { rates = ["1 Mbit/s", "2 Mbit/s"] } }'
    given = ["--set", f"flows.bulk.traffic={video}", "--allow", "gentle"]
    assert "flows.bulk.traffic.adaptive_video: iperf3 has no client that asks for chunks" in (
        refused(capsys, str(RED), *given)
    )
    assert '--allow: no approximation "gentel"' in refused(
        capsys, str(EXAMPLES / "codel.toml"), "--allow", "gentel"
    )


def tree(capsys: pytest.CaptureFixture[str], scenario: Path, *given: str) -> list[str]:
    """The commands for the one link of a scenario that has classes."""
    link = "edge" if scenario.stem in ("diffserv", "police") else "line"
    assert main(["linux", str(scenario), "--link", link, "--dev", "eth0", *given]) == 0
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("tc ")]


def test_priority(capsys: pytest.CaptureFixture[str]) -> None:
    """Priorities are kept on Linux: each codepoint goes to the band of its class."""
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
    """Classes of ETS keep their shares, and policers their rates."""
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


def test_tbf_around_others(capsys: pytest.CaptureFixture[str]) -> None:
    """The usual shaper of an access line, TBF around another queue, has a script."""

    def shaped(inner: str, more: str = "") -> list[str]:
        law = f'{{ tbf = {{ rate = "8 Mbit/s", burst = "3 kB", queue = {inner}{more} }} }}'
        given = ["--set", f"links.bottleneck.queue={law}"]
        words = ["--link", "bottleneck", "--dev", "eth0", *given]
        assert main(["linux", str(RED), *words]) == 0
        lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("tc ")]
        assert "parent 1:1 handle 10: tbf rate 8000000bit burst 3000 limit " in "\n".join(lines)
        return lines

    # tbf asks fq_codel which packet is next, and has taken it: so it is asked by htb, which asks
    # when it may send.
    lines = shaped('"fq_codel"')
    assert " root handle 1: stab overhead -14 htb default 1" in lines[0]
    assert lines[-1].startswith(
        "tc qdisc replace dev eth0 parent 10:1 handle 11: fq_codel limit 10240 flows 1024 "
    )
    lines = shaped('{ droptail = { limit = "20 packets" } }')
    assert " root handle 1: stab overhead -14 tbf rate 10000000bit " in lines[0]
    assert lines[-1].endswith("parent 10:1 handle 11: pfifo limit 20")
    red = '{ red = { min_threshold = "5 packets", max_threshold = "15 packets", weight = 0.25 } }'
    lines = shaped(red)
    assert lines[-2].endswith("parent 10:1 handle 11: ets bands 1 strict 1")
    assert " parent 11:1 handle 12: red min 2500 max 7500 " in lines[-1]
    lines = shaped('{ priority = { dscp = ["EF"], classes = ["droptail", "codel"] } }')
    assert lines[-4].partition("handle ")[2].startswith("11: prio bands 2 ")
    assert lines[-3].endswith(
        "parent 11: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 11:1"
    )
    assert " parent 11:2 handle 13: codel " in lines[-1]
    # tc-tbf(8): mtu is the size of the bucket of the peak rate.
    lines = shaped("{ codel = {} }", ', peak_rate = "9 Mbit/s", peak_burst = "1600 B"')
    assert lines[-2].endswith(" peakrate 9000000bit mtu 1600")


def test_average_in_a_class_that_is_not_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """RED in a class of DRR is refused: Linux keeps its average over idle times, behind another
    qdisc, too."""
    red = '{ red = { min_threshold = "5 packets", max_threshold = "15 packets", weight = 0.25 } }'
    tbf = f'{{ tbf = {{ rate = "8 Mbit/s", burst = "3 kB", queue = {red} }} }}'
    queue = f'links.bottleneck.queue={{ drr = {{ dscp = ["EF"], classes = ["codel", {tbf}] }} }}'
    words = [str(RED), "--link", "bottleneck", "--dev", "eth0", "--set", queue]
    told = refused(capsys, *words)
    assert "drr.classes[1].tbf.queue.red.idle_correction: in a class of Linux" in told


def test_classes_by_hash(capsys: pytest.CaptureFixture[str]) -> None:
    """Flows are spread by hash over the classes that have queues."""
    keys = "flow hash keys src,dst,proto,proto-src,proto-dst"
    classes = (
        '{ name = "all", rate = "9 Mbit/s" }, '
        '{ name = "a", parent = "all", rate = "3 Mbit/s", queue = "codel" }, '
        '{ name = "b", parent = "all", rate = "3 Mbit/s", queue = "codel" }, '
        '{ name = "c", rate = "1 Mbit/s", queue = "droptail" }'
    )
    law = f'{{ htb = {{ classify = "flow_hash", perturb = "10 s", classes = [{classes}] }} }}'
    lines = tree(capsys, EXAMPLES / "priority.toml", "--set", f"links.line.queue={law}")
    # tc-flow(8): class baseclass + hash mod divisor. Three classes have queues, 10:1 to 10:3.
    assert lines[-4].endswith(
        f" parent 10: protocol ip prio 1 handle 1 {keys} divisor 3 baseclass 10:1 perturb 10"
    )
    heads = [line.partition(" htb ")[0].partition("parent ")[2] for line in lines[2:6]]
    assert heads == [
        "10: classid 10:4",
        "10:4 classid 10:1",
        "10:4 classid 10:2",
        "10: classid 10:3",
    ]
    assert [line.partition("parent ")[2][:15] for line in lines[-3:]] == [
        f"10:{n} handle 1{n}:" for n in (1, 2, 3)
    ]
    by_host = law.replace('"flow_hash"', '"flow_hash", keys = "src,dst"')
    lines = tree(capsys, EXAMPLES / "priority.toml", "--set", f"links.line.queue={by_host}")
    assert " flow hash keys src,dst divisor 3 " in lines[-4]
    law = '{ drr = { classify = "flow_hash", classes = ["codel", "codel"] } }'
    lines = tree(capsys, EXAMPLES / "priority.toml", "--set", f"links.line.queue={law}")
    assert lines[4].endswith(f" handle 1 {keys} divisor 2 baseclass 10:1")


def test_remark(capsys: pytest.CaptureFixture[str]) -> None:
    """Markers write the codepoint of the scenario, and the checksum with it."""

    def written(conditioners: str) -> list[str]:
        given = ["--set", f"links.line.conditioners={conditioners}"]
        given += ["--set", "links.line.queue=codel"]
        lines = tree(capsys, EXAMPLES / "priority.toml", *given)
        assert lines[0] == "tc qdisc replace dev eth0 clsact"
        start = "tc filter add dev eth0 egress protocol ip prio "
        return [line.removeprefix(start) for line in lines if line.startswith(start)]

    # RFC 2597: AF11 is 10, AF12 is 12 and CS1 8, in the upper six bits of their field. A packet
    # that was AF11 and is AF12 would be taken for one of those that become CS1.
    law = '{ remark = { found = ["AF11", ["AF12", "AF13"]], to = ["AF12", "CS1"] } }'
    csum = "pipe action csum ip4h continue"
    assert written(f"[{law}]") == [
        f"1 u32 match ip dsfield {found} 0xfc "
        f"action pedit ex munge ip dsfield set {to} retain 0xfc {csum}"
        for found, to in (("0x30", "0x20"), ("0x38", "0x20"), ("0x28", "0x30"))
    ]
    one = '{ remark = { to = ["BE"] } }'
    field = "action pedit ex munge ip dsfield set 0x00 retain 0xfc"
    assert written(f"[{one}]") == [f"1 matchall {field} {csum}"]
    only = f'{{ only = {{ dscp = ["EF", "CS5"], of = {one} }} }}'
    police = '{ token_bucket = { cir = "1 Mbit/s", cbs = "3 kB", excess = "drop" } }'
    lines = written(f"[{only}, {police}]")
    assert lines[:2] == [
        f"1 u32 match ip dsfield {point} 0xfc {field} {csum}" for point in ("0xb8", "0xa0")
    ]
    assert lines[2].startswith("2 matchall action police rate 1000000bit burst 3000 ")
    for law, told in (
        ('{ remark = { to = ["AF11", "AF12"] } }', "remark.to: tc carries no colours"),
        (
            '{ remark = { found = ["AF11", "AF12"], to = ["AF12", "AF11"] } }',
            "remark.found: codepoints that become each other",
        ),
    ):
        given = ["--set", f"links.line.conditioner={law}"]
        assert f"links.line.conditioner.{told}" in refused(
            capsys, str(EXAMPLES / "priority.toml"), *given
        )


def test_htb(capsys: pytest.CaptureFixture[str]) -> None:
    """Classes of HTB borrow as the scenario says."""
    lines = tree(capsys, EXAMPLES / "borrow.toml")
    # Three classes have queues, then come those that hold them.
    assert lines[1].endswith("parent 1:1 handle 10: htb default 3")
    # A tenth of a second at 9 Mbit/s are 112,500 B.
    bulk = "parent 10:5 classid 10:2 htb rate 9000000bit ceil 20000000bit burst 1600 cburst 1600"
    assert f"tc class replace dev eth0 {bulk} prio 0 quantum 112500" in lines
    assert lines[-1].startswith("tc qdisc replace dev eth0 parent 10:3 handle 13: codel ")


def test_drr(capsys: pytest.CaptureFixture[str]) -> None:
    """A last filter of DRR takes what no other classifies, such as questions for addresses, which
    DRR drops otherwise."""
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
    """CHOKe and adaptive RED have the thresholds of the scenario."""
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


def test_folded_script() -> None:
    """A folded script keeps every command in its order: no device is used before it is there, and
    no setting is lost."""
    lines = [
        "echo begin",
        "namespace n",
        "ip -n n link add d type veth peer name e netns m",
        "ip -n n link set d up",
        "namespace m",
        "ip netns exec n sysctl -qw a=1",
        "ip netns exec n ethtool -K d tso off",
        GUARD,
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
    """Every example gives a script, or the key path for which it has none."""
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
    sections = "links|flows|rings|fabrics|aggregates"
    assert re.match(rf"forebay: error: ({sections})\.[\w.\-\[\]]+: ", told.err)
