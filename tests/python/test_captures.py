"""Captures of simulated links, as tshark reads them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from forebay.cli.commands import main

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tests/install.sh has not been run here: no tshark"
)

LINKS = """
name = "captured"
duration = "{duration}"
[links.access]
from = "client"
to = "router"
rate = "100 Mbit/s"
delay = "5 ms"
duplex = true
[links.bottleneck]
from = "router"
to = "server"
rate = "5 Mbit/s"
delay = "10 ms"
duplex = true
queue = {queue}
[record]
capture = ["access", "bottleneck"]
"""

BULK = """
[flows.bulk]
from = "client"
to = "server"
tcp = {}
stop = "4 s"
[flows.file]
from = "client"
to = "server"
dscp = "AF11"
tcp = { ecn = true, ecn_echo = "accecn" }
traffic = { file = { size = "200 kB" } }
[flows.voice]
from = "server"
to = "client"
dscp = "EF"
stop = "4 s"
udp = {}
traffic = { cbr = { rate = "80 kbit/s", size = "200 B" } }
"""


def run(folder: Path, text: str) -> dict[str, dict[str, float]]:
    """Run a scenario into `folder`; the rows of flows and links by name."""
    scenario = folder / "captured.toml"
    scenario.write_text(text, encoding="utf-8")
    assert main(["run", str(scenario), "--out", str(folder / "out")]) == 0
    document = json.loads((folder / "out" / "run.json").read_text(encoding="utf-8"))
    return {row["name"]: row for row in document["flows"] + document["links"]}


def tshark(folder: Path, link: str, *options: str) -> list[str]:
    """Lines of tshark on the capture of a link."""
    file = folder / "out" / f"capture-{link}.pcapng"
    done = subprocess.run(
        ["tshark", "-r", str(file), *options], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def fields(folder: Path, link: str, filtered: str, *names: str) -> list[list[str]]:
    """Fields of the packets that a display filter passes."""
    options = [part for name in names for part in ("-e", name)]
    rows = tshark(folder, link, "-Y", filtered, "-T", "fields", *options)
    return [row.split("\t") for row in rows]


@needs_tshark
def test_an_analyser_agrees_on_packets_losses_and_retransmissions(tmp_path: Path) -> None:
    """An analyser reads from a capture what the results say. All flows end before the run does, so
    each packet is seen; each drop of the bottleneck is a hole behind it."""
    queue = '{ droptail = { limit = "20 packets" } }'
    rows = run(tmp_path, LINKS.format(duration="5 s", queue=queue) + BULK)
    again = (
        "tcp.analysis.retransmission or tcp.analysis.fast_retransmission"
        " or tcp.analysis.spurious_retransmission or tcp.analysis.out_of_order"
    )
    for stream, name in enumerate(("bulk", "file")):
        # What has no data and is no FIN is a SYN, which is counted among the packets too.
        sent = fields(tmp_path, "access", f"ip.src==10.0.0.1 and tcp.stream=={stream}", "tcp.len")
        assert len(sent) == rows[name]["sent_packets"]
        repeated = fields(
            tmp_path, "access", f"tcp.stream=={stream} and tcp.len>0 and ({again})", "tcp.seq"
        )
        assert len(repeated) == rows[name]["retransmissions"] > 0
    lost = fields(tmp_path, "bottleneck", "ip.src==10.0.0.1", "tcp.seq", "tcp.len")
    arrived = fields(tmp_path, "access", "ip.src==10.0.0.1", "tcp.seq", "tcp.len")
    assert len(arrived) - len(lost) == rows["bottleneck"]["drops"] > 0
    voice = fields(tmp_path, "access", "udp", "ip.dsfield.dscp", "ip.len")
    assert voice == [["46", "200"]] * int(rows["voice"]["delivered_packets"])
    marked = fields(tmp_path, "access", "tcp.stream==1 and tcp.len>0", "ip.dsfield.dscp")
    assert set(map(tuple, marked)) == {("10",)}
    assert fields(tmp_path, "access", "tcp.options.sack_le", "tcp.options.sack_le")


@needs_tshark
def test_an_analyser_finds_nothing_wrong(tmp_path: Path) -> None:
    """An analyser finds nothing wrong with a capture: no packet is malformed, no expert item is an
    error, checksums of whole packets are right, and time never goes back."""
    queue = '{ droptail = { limit = "20 packets" } }'
    run(tmp_path, LINKS.format(duration="5 s", queue=queue) + BULK)
    checks = ("-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE")
    wrong = "_ws.malformed or _ws.expert.severity==error or frame.time_delta<0"
    sums = "ip.checksum.status!=1 or (tcp.len==0 and tcp.checksum.status!=1)"
    for link in ("access", "bottleneck"):
        assert tshark(tmp_path, link, *checks, "-Y", f"{wrong} or {sums}") == []


@needs_tshark
def test_round_trip_times_are_those_of_the_model(tmp_path: Path) -> None:
    """An analyser measures the round-trip times of the model. With one segment in flight a round
    trip is 1500 B at 100 and 5 Mbit/s, 120 us and 2.4 ms; an acknowledgement of 52 B at both, 87.36
    us; and 30 ms of propagation: 32.60736 ms. That of the SYN and its answer, 52 B each: 30.17472
    ms."""
    flow = """
[flows.one]
from = "client"
to = "server"
tcp = { window = "1448 B", delayed_ack = false }
"""
    run(tmp_path, LINKS.format(duration="2 s", queue="{ droptail = {} }") + flow)
    times = fields(tmp_path, "access", "tcp.analysis.ack_rtt", "tcp.analysis.ack_rtt")
    assert times[0] == ["0.030174720"]
    data = fields(
        tmp_path, "access", "tcp.analysis.ack_rtt and tcp.flags.syn==0", "tcp.analysis.ack_rtt"
    )
    # The handshake takes 30.17 ms; what is left of 2 s holds 60 whole round trips.
    assert data == [["0.032607360"]] * 60


@needs_tshark
def test_marks_are_those_of_the_queue(tmp_path: Path) -> None:
    """The ECN field and its echo are those of the simulated packets: the queue marks what its link
    sends, and each mark reaches the receiver before the run ends."""
    flow = """
[flows.marked]
from = "client"
to = "server"
tcp = { ecn = true }
stop = "4 s"
"""
    rows = run(tmp_path, LINKS.format(duration="5 s", queue="{ codel = { ecn = true } }") + flow)
    marked = fields(tmp_path, "bottleneck", "ip.dsfield.ecn==3", "ip.src")
    assert len(marked) == rows["bottleneck"]["marks"] > 0
    assert fields(tmp_path, "access", "tcp.flags.ece==1 and ip.src==10.0.0.3", "ip.src")
    reduced = fields(tmp_path, "access", "tcp.flags.cwr==1 and ip.src==10.0.0.1", "ip.src")
    assert len(reduced) >= 1


def test_recording_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A captured run is the same as the run without a capture."""
    text = LINKS.format(duration="2 s", queue="{ droptail = {} }") + BULK
    run(tmp_path, text)
    capsys.readouterr()
    assert main(["run", str(tmp_path / "captured.toml"), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    document = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    same = ("digest", "events", "packet_hops", "scenario_hash", "flows", "links")
    assert {key: document[key] for key in same} == {key: plain[key] for key in same}


def test_a_capture_that_was_not_asked_for_again_goes(tmp_path: Path) -> None:
    """A capture of an earlier run goes if it was not asked for again, and a file of the user's
    stays."""
    text = LINKS.format(duration="1 s", queue="{ droptail = {} }") + BULK
    run(tmp_path, text)
    out = tmp_path / "out"
    (out / "mine.pcapng").write_bytes(b"not ours")
    text = text.replace('["access", "bottleneck"]', '["access"]\ncapture_packets = 3')
    run(tmp_path, text)
    assert sorted(path.name for path in out.glob("*.pcapng")) == [
        "capture-access.pcapng",
        "mine.pcapng",
    ]
    # Section header and interface, and three packets with 52 to 94 B of headers in 44 B of block.
    assert 3 * 80 < (out / "capture-access.pcapng").stat().st_size < 3 * 140 + 200


def test_what_is_no_link_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt link in `record.capture` is refused with the links that there are."""
    text = LINKS.format(duration="1 s", queue="{ droptail = {} }") + BULK
    scenario = tmp_path / "captured.toml"
    scenario.write_text(text.replace('"access", "bott', '"acess", "bott'), encoding="utf-8")
    assert main(["run", str(scenario)]) == 2
    said = capsys.readouterr().err
    assert "record.capture" in said
    assert '"acess" is not a link' in said
    assert '"access"' in said
