"""aioquic as a host: it downloads, moves, repeats in processes of its own, and fills tables."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from stacks_alone import Scripted, idle, line

import forebay
from forebay import Network
from forebay.errors import StackError, UserError
from forebay.host import attach, connect, download, repeat, reports, run_cell, serve

pytest.importorskip("aioquic")

from forebay.host import aioquic

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "host-aioquic"


def quic(
    congestion: str = "reno", size: str | None = "500 kB", duration: str = "3 s", **others: Any
) -> Network:
    """A download with aioquic over 8 Mbit/s and 20 ms."""
    net = line(duration)
    server = attach(net, "a", aioquic.server(congestion, **others), serve())
    attach(net, "b", aioquic.client(**others), download(server, size))
    return net


def test_aioquic_downloads() -> None:
    """A download with aioquic delivers each byte, in not less than the line takes for them with
    their headers and five round trips' worth of handshake and slow start, and uses most of it."""
    results = quic(mtu=1472).run(replications=2)
    for hosts in reports(results):
        client, server = hosts["b"], hosts["a"]
        assert client.delivered == 500_000
        assert client.failed is None
        assert client.finished_s is not None
        # 500 kB at 1 B a us, and one round trip of 20 ms before the first of them.
        assert 0.520 < client.finished_s < 1.5
        assert client.figures["connected_s"] >= 0.020
        assert server.sent_bytes > 500_000
    assert results.interval("groups", "a-b", "goodput_bps").mean == pytest.approx(4e6 / 3)


def test_aioquic_serves_several_clients_without_end() -> None:
    """A server of two clients, with different IDs of connections, sends to both until the end: the
    line is full, and of what was written no more than 1 MiB waits."""
    net = line("3 s")
    server = attach(net, "a", aioquic.server("cubic", mtu=1472), serve())
    first = attach(net, "b", aioquic.client(mtu=1472), download(server))
    second = attach(net, "b", aioquic.client(mtu=1472), download(server), start="100 ms")
    connect(server, first)
    connect(server, second)
    results = net.run()
    hosts = reports(results)[0]
    assert hosts["b"].delivered > 100_000
    assert hosts["b2"].delivered > 100_000
    assert results.values("links", "wire", "utilization")[0] > 0.9


def test_aioquic_tells_its_window() -> None:
    """Recorded series have the window of a stack that tells it: from 10 packets on (RFC 9002,
    section 7.2, of 1200 B)."""
    net = quic().record(series="100 ms")
    table = net.run().series["flows.a-b"].to_pydict()
    assert 12_000 <= max(value for value in table["cwnd_bytes"] if value is not None) < 1e6


def test_aioquic_survives_a_move_of_the_client() -> None:
    """A client that changes its address keeps its connection: the server validates the new path
    (RFC 9000, section 9) and sends there."""
    net = line("3 s")
    server = attach(net, "a", aioquic.server(mtu=1200), serve())
    client = attach(net, "b", aioquic.client(mtu=1200), download(server, "1 MB"))
    client.move("b", "500 ms")
    report = reports(net.run())[0]["b"]
    assert report.delivered == 1_000_000
    assert report.missed > 0


def test_aioquic_has_controls_of_ones_own() -> None:
    """A congestion control in Python that was registered with aioquic is chosen by its name: with
    a window of four packets of 1200 B there are never more in flight."""
    from aioquic.quic.congestion.base import QuicCongestionControl, register_congestion_control

    class Four(QuicCongestionControl):
        def __init__(self, *, max_datagram_size: int) -> None:
            super().__init__(max_datagram_size=max_datagram_size)
            self.congestion_window = 4 * max_datagram_size

        def on_packet_acked(self, *, now: float, packet: Any) -> None:
            self.bytes_in_flight -= packet.sent_bytes

        def on_packet_sent(self, *, packet: Any) -> None:
            self.bytes_in_flight += packet.sent_bytes

        def on_packets_expired(self, *, packets: Any) -> None:
            self.bytes_in_flight -= sum(packet.sent_bytes for packet in packets)

        def on_packets_lost(self, *, now: float, packets: Any) -> None:
            self.on_packets_expired(packets=packets)

        def on_persistent_congestion(self) -> None:
            pass

        def on_rtt_measurement(self, *, now: float, rtt: float) -> None:
            pass

    register_congestion_control("four", Four)
    goodput = reports(quic("four", None).run())[0]["b"].goodput_bps
    # Four packets of 1200 B a round trip of 20 ms, and their own 1.2 ms each at most.
    assert 0.5 * 4 * 1200 * 8 / 0.025 < goodput < 4 * 1200 * 8 / 0.020
    with pytest.raises(UserError, match="Unknown congestion control algorithm: bbr; aioquic has"):
        aioquic.server("bbr")
    with pytest.raises(UserError, match="mtu: read 100; allowed are 1200 B and more"):
        aioquic.server(mtu=100)
    with pytest.raises(UserError, match="speed: is no field of aioquic's"):
        aioquic.client(speed=1)


def test_a_lost_connection_is_an_outcome() -> None:
    """A client whose server is gone fails as its connection times out, 1 s after the last
    datagram; the run has a result."""
    net = line("3 s")
    silent = attach(net, "a", lambda now: Scripted(), idle)
    attach(net, "b", aioquic.client(idle_timeout=1.0), download(silent, "1 kB"))
    failed = reports(net.run())[0]["b"].failed
    assert failed is not None
    assert failed[0] >= 1.0
    assert failed[1] == "connection lost: Idle timeout"


REPEATED = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_host_aioquic import quic
print(json.dumps([repeat for c in ("reno", "cubic") for repeat in quic(c).run().digests]))
"""


def test_aioquic_repeats_in_processes_of_its_own() -> None:
    """Five processes have the same digests of aioquic with NewReno and with CUBIC, although its
    connection IDs and keys are random: only times and sizes count, and these follow the seed."""
    words = [sys.executable, "-c", REPEATED, str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = {
        subprocess.run(
            words, env=environment, capture_output=True, text=True, check=True, timeout=120
        ).stdout
        for _ in range(5)
    }
    assert len(found) == 1
    assert len(set(json.loads(found.pop()))) == 2


def test_aioquic_passes_the_invariants() -> None:
    """What must hold in any run holds with a stack's real datagrams, and the second run has the
    same ones."""
    assert repeat(quic("cubic")).documents[0]["checks"]["invariants"] > 0


INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
from test_host_aioquic import quic
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
quic(size=None, duration="1000 s").run()
"""


def test_ctrl_c_ends_a_run() -> None:
    """Ctrl-C ends a run of minutes at once, with KeyboardInterrupt."""
    words = [sys.executable, "-c", INTERRUPTED, str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0
    assert ended.stderr.rstrip().endswith("KeyboardInterrupt")


CELL = """
name = "cell"
duration = "3 s"
[links.bottleneck]
from = "server"
to = "client"
rate = "8 Mbit/s"
delay = "10 ms"
queue.droptail.limit = "40 packets"
reverse.queue.droptail.limit = "40 packets"
[flows.stack]
from = "server"
to = "client"
start = { uniform = ["0 s", "100 ms"] }
tcp = {}
"""

OWN = """
from forebay.host import aioquic
def mine(transfer):
    assert transfer.size is None
    return aioquic.pair("cubic", mtu=1472)(transfer)
"""


def test_a_stack_takes_the_place_of_flows(tmp_path: Path) -> None:
    """The group `stack` of a network becomes connections of a stack, named as a table names it or
    by a file: start times are those of the replication, and the goodput is what was read."""
    path, own = tmp_path / "cell.toml", tmp_path / "own.py"
    path.write_text(CELL, encoding="utf-8")
    own.write_text(OWN, encoding="utf-8")
    for stack in ("aioquic", "forebay.host.aioquic:cubic", f"{own}:mine"):
        document = run_cell(stack, str(path), [], None, 1)
        again = run_cell(stack, str(path), ["duration=3 s"], None, 1)
        assert document["digest"] == again["digest"]
        group = next(row for row in document["groups"] if row["name"] == "stack")
        assert 2e6 < group["goodput_bps"] < 8e6
        client = next(row for row in document["stacks"] if row["name"] == "stack.client")
        assert 0 < client["started_s"] < 0.1
        assert client["delivered"] * 8 / 3 == pytest.approx(group["goodput_bps"])
    assert run_cell("aioquic", str(path), [], 7)["seed"] == 7
    assert run_cell("aioquic", "bufferbloat", ["duration=1 s", "warm_up=0 s"])["digest"]
    with pytest.raises(UserError, match="no_such:thing: cannot be loaded"):
        run_cell("no_such:thing", str(path))
    with pytest.raises(StackError, match=r"host stack.\w+ at 0.\d+ s: its \w+ raised ZeroDivision"):
        run_cell(lambda transfer: 1 / 0, str(path))  # type: ignore[arg-type, return-value]


def test_a_lacking_aioquic_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who lacks aioquic reads what to install; `forebay.host` itself needs no library."""
    monkeypatch.setitem(sys.modules, "aioquic", None)
    monkeypatch.delitem(sys.modules, "forebay.host.aioquic")
    monkeypatch.delattr(forebay.host, "aioquic")
    with pytest.raises(UserError, match=r"pip install 'forebay\[stacks\]'"):
        forebay.host.run_cell("aioquic", "bufferbloat")


def test_the_example_prints_what_its_readme_says() -> None:
    """The example prints a line for each congestion control, with a share of the line between a
    quarter and a half and digests that repeat. The README names those of aioquic 1.7.2."""
    words = [sys.executable, str(EXAMPLE / "download.py")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    printed = ended.stdout.splitlines()
    assert [each.split(":")[0] for each in printed] == ["aioquic reno", "aioquic cubic"]
    for each in printed:
        share = re.search(r"(\d+)% of the line", each)
        assert share is not None
        assert 25 <= int(share[1]) <= 50
    if version("aioquic") == "1.7.2":
        readme = (EXAMPLE / "README.md").read_text(encoding="utf-8").splitlines()
        assert set(printed) <= set(readme)
