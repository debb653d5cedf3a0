"""Stacks in Python as hosts: they are told exact times, faults name host and time, runs repeat."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import forebay
from forebay import Network, queue
from forebay.errors import StackError, UserError
from forebay.host import Failed, attach, connect, download, repeat, reports, run_cell, serve
from forebay.run.jobs import Job

pytest.importorskip("aioquic")

from forebay.host import aioquic

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "host-aioquic"

HEADERS = 28
"""Bytes of the headers of UDP (RFC 768) and IPv4 (RFC 791)."""


WIRE: dict[str, Any] = {
    "rate": "8 Mbit/s",
    "delay": "10 ms",
    "queue": queue.droptail(limit="100 packets"),
    "reverse": {"queue": queue.droptail(limit="100 packets")},
}
"""A link of a byte each microsecond, and 10 ms."""


def line(duration: str = "1 s") -> Network:
    """Two nodes and a link."""
    return Network("line", duration=duration).link("wire", "a", "b", **WIRE)


class Scripted:
    """A stack that sends `size` bytes to `peer` at each of `times`, and notes all calls."""

    def __init__(self, peer: Any = None, times: Sequence[float] = (), size: int = 972) -> None:
        self.peer = peer
        self.times = list(times)
        self.size = size
        self.calls: list[tuple[str, float]] = []
        self.heard: list[tuple[bytes, Any, float]] = []
        self.out: list[Any] = []

    def receive_datagram(self, data: bytes, addr: Any, now: float) -> None:
        self.calls.append(("receive", now))
        self.heard.append((data, addr, now))

    def datagrams_to_send(self, now: float) -> list[Any]:
        self.calls.append(("send", now))
        out, self.out = self.out, []
        return out

    def get_timer(self) -> float | None:
        return self.times[0] if self.times else None

    def handle_timer(self, now: float) -> None:
        self.calls.append(("timer", now))
        while self.times and now >= self.times[0]:
            self.out.append((bytes(self.size), self.peer))
            self.times.pop(0)


def waits(now: float, connection: Any) -> None:
    """An application that does nothing."""


def idle() -> Any:
    """Makes the application that does nothing."""
    return waits


def between(make: Callable[[Any], Any], net: Network | None = None) -> tuple[Network, Scripted]:
    """A network on which `make(address of b)` is the stack at a, and the stack at b."""
    net = line() if net is None else net
    other = Scripted()
    far = attach(net, "b", lambda now: other, idle)
    attach(net, "a", lambda now: make(far.address), idle)
    return net, other


def test_a_timer_is_answered_with_the_very_number_that_was_asked_for() -> None:
    """A stack that compares times is woken when `now >= timer`, once for each, although simulated
    time is counted in picoseconds and most of these are not whole ones; and arrivals are exact:
    1000 B at 1 B a us and 10 ms."""
    times = [0.1 + n / 3e4 for n in range(300)]
    stacks: list[Scripted] = []

    def make(peer: Any) -> Scripted:
        stacks.append(Scripted(peer, times, 1000 - HEADERS))
        return stacks[0]

    # 1000 B every 33 us fill a queue of 1 ms: with none, they would be lost.
    net = line()
    net.set("links.wire.queue.droptail.limit", "1000 packets")
    net, other = between(make, net)
    net.run()
    woken = [now for call, now in stacks[0].calls if call == "timer"]
    assert woken == times
    everything = [now for _, now in stacks[0].calls]
    assert everything == sorted(everything)
    arrivals = [now for _, _, now in other.heard]
    # The first leaves at once, the others wait for the one before: 1 ms each.
    assert arrivals == pytest.approx([0.1 + 0.001 * (n + 1) + 0.010 for n in range(300)], abs=2e-12)
    assert {addr for _, addr, _ in other.heard} == {("10.0.0.2", 4433)}


def test_an_application_is_woken_at_its_time_and_counts_its_bytes() -> None:
    """An application that gives a time is asked again at exactly that, what it has read is the
    goodput, and what it cannot do is an outcome that the report has."""

    class Counts:
        delivered = 0

        def __init__(self) -> None:
            self.asked: list[float] = []

        def advance(self, now: float, connection: Scripted) -> Any:
            self.asked.append(now)
            self.delivered = sum(len(data) for data, _, _ in connection.heard)
            if now < 0.3:
                return 0.3
            return Failed("too late") if self.delivered else None

        def figures(self) -> dict[str, float]:
            return {"asked": float(len(self.asked))}

    made: list[Counts] = []

    def make() -> Counts:
        made.append(Counts())
        return made[-1]

    net = line()
    far = attach(net, "b", lambda now: Scripted(), make)
    attach(net, "a", lambda now: Scripted(far.address, [0.1, 0.2]), idle)
    results = net.run(replications=2)
    # At its start, after each datagram of 1000 B (1 ms and 10 ms), and at its own time.
    for app in made:
        assert app.asked == pytest.approx([0.0, 0.111, 0.211, 0.3], abs=1e-12)
        assert app.asked[-1] == 0.3
    assert len(made) == 2
    report = reports(results)[1]["b"]
    assert report.delivered == 2 * 972
    assert report.figures == {"asked": 4.0}
    assert report.failed is not None
    assert report.failed[1] == "too late"
    assert results.values("groups", "a-b", "goodput_bps") == [8 * 2 * 972.0] * 2
    assert results.digests[0] == results.digests[1]


class Marks(Scripted):
    """A stack that knows ECN: it sends ECT(1)."""

    ecn = True

    def handle_timer(self, now: float) -> None:
        super().handle_timer(now)
        self.out = [(data, addr, 1) for data, addr in self.out]

    def receive_datagram(self, data: bytes, addr: Any, now: float, ecn: int = -1) -> None:
        super().receive_datagram(data, ecn, now)


def test_ecn_goes_both_ways() -> None:
    """A stack that knows ECN sends what it says and hears what the network has made of it: of
    ten packets at once at a queue that marks from one waiting on, some have CE (3 of RFC 3168) and
    the first ECT(1)."""
    net = Network("line", duration="1 s")
    net.link("wire", "a", "b", **{**WIRE, "queue": queue.step(threshold="1 packet")})
    other = Marks()
    far = attach(net, "b", lambda now: other, idle)
    attach(net, "a", lambda now: Marks(far.address, [0.1] * 10), idle)
    results = net.run()
    heard = [ecn for _, ecn, _ in other.heard]
    assert heard[0] == 1
    assert set(heard) == {1, 3}
    assert reports(results)[0]["b"].marked == heard.count(3)


def test_hosts_start_move_and_know_their_peers() -> None:
    """A host starts when it is to, misses what came before, is told its new address as it moves,
    and reaches those alone with which it is connected."""
    moved: list[tuple[float, Any]] = []

    class Mobile(Scripted):
        def moved(self, now: float, addr: Any) -> None:
            moved.append((now, addr))

    net = line()
    net.link("other", "a", "c", **WIRE)
    begun: list[float] = []

    def late(now: float) -> Scripted:
        begun.append(now)
        return Mobile()

    mobile = attach(net, "b", late, idle, start="500 ms").move("c", "700 ms")
    sender = attach(net, "a", lambda now: Scripted(mobile.address, [0.1, 0.6, 0.8]), idle)
    attach(net, "c", lambda now: Scripted(), idle)
    connect(mobile, sender)
    report = reports(net.run())[0]
    assert begun == [0.5]
    # Addresses are numbered as hosts are attached; the move takes one, too.
    assert [now for now, _ in moved] == [0.7]
    assert report["b"].nodes == ["b", "c"]
    assert report["b"].received == 1
    assert report["b"].missed == 2
    assert report["c"].received == 0


class Endless(Scripted):
    """Sends at once, again and again."""

    def get_timer(self) -> float:
        return 0.05

    def handle_timer(self, now: float) -> None:
        self.out.append((b"x", self.peer))


class Past(Scripted):
    """Wants to be woken at a time that has passed, for ever."""

    def get_timer(self) -> float:
        return 0.05

    def handle_timer(self, now: float) -> None:
        pass


class Raises(Scripted):
    """Raises as its timer expires."""

    def handle_timer(self, now: float) -> None:
        raise LookupError("no such stream")


class Stray(Scripted):
    """Sends to where no host is."""

    def handle_timer(self, now: float) -> None:
        self.times.clear()
        self.out.append((b"x", ("192.0.2.1", 9)))


class Wrong(Scripted):
    """Gives what is no datagram."""

    def handle_timer(self, now: float) -> None:
        self.times.clear()
        self.out.append("hello")


class NoTime(Scripted):
    """Gives what is no time."""

    def get_timer(self) -> Any:
        return self.times[0] if self.times else "soon"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda peer: Endless(peer), "its stack does not stop transmitting: 65536 datagrams"),
        (lambda peer: Past(peer), "its stack asks to be called again at once, 1000 times without"),
        (lambda peer: Raises(peer, [0.05]), "its stack raised LookupError: no such stream"),
        (
            lambda peer: Scripted(peer, [0.05], 1473),
            "its stack sends a datagram of 1473 B, 1501 B with headers; the MTU is 1500 B",
        ),
        (lambda peer: Stray(peer, [0.05]), "its stack sends to 192.0.2.1:9, where no host is"),
        (
            lambda peer: Wrong(peer, [0.05]),
            "its stack gave 'hello' to be sent; allowed are (data, addr)",
        ),
        (
            lambda peer: NoTime(peer, [0.05]),
            "its stack gave 'soon' from get_timer; allowed are a time in seconds, and None",
        ),
    ],
    ids=["endless", "past", "raises", "jumbo", "stray", "wrong", "no time"],
)
def test_faults_of_stacks_end_the_run_and_name_host_and_time(
    fault: Callable[[Any], Any], message: str
) -> None:
    """What no host may do ends the run, with the host and the simulated time: the author of a stack
    looks there. What it raised is the cause, with its traceback."""
    net, _ = between(fault)
    with pytest.raises(StackError, match=re.escape(f"line: host a at 0.05 s: {message}")) as found:
        net.run()
    assert found.value.reason.startswith("host a at 0.05 s: ")
    if "raised" in message:
        assert isinstance(found.value.__cause__, LookupError)
        assert found.value.__cause__.__traceback__ is not None
    else:
        assert found.value.__cause__ is None


@pytest.mark.parametrize(
    ("gives", "message"),
    [
        (lambda: lambda now, connection: "soon", "its application gave 'soon' from advance"),
        (lambda: lambda now, connection: False, "its application gave False from advance"),
        (lambda: lambda now, connection: -1.0, "its stack asks to be called again at once"),
        (lambda: lambda now, connection: 1 / 0, "its application raised ZeroDivisionError"),
        (lambda: 3, "its application is 3; it is to have advance"),
        (lambda: {}["x"], "its application raised KeyError: 'x'"),
    ],
)
def test_faults_of_applications_end_the_run(gives: Callable[[], Any], message: str) -> None:
    """An application that gives what is not allowed, or raises, ends the run likewise."""
    net = line()
    attach(net, "b", lambda now: Scripted(), gives)
    attach(net, "a", lambda now: Scripted(), idle)
    with pytest.raises(StackError, match=re.escape(f"host b at 0 s: {message}")):
        net.run()


def test_what_is_no_stack_is_refused() -> None:
    """An object without the calls is named with what it lacks, and what is no factory, no size or
    no time at once."""
    net = line()
    attach(net, "a", lambda now: object(), idle)
    attach(net, "b", lambda now: Scripted(), idle)
    with pytest.raises(StackError, match="has no receive_datagram; it is to have receive_dat"):
        net.run()
    with pytest.raises(UserError, match="endpoint of the host at a: read 3; allowed is a function"):
        attach(net, "a", 3, idle)  # type: ignore[arg-type]
    with pytest.raises(UserError, match='size: "5" has no unit'):
        download(("10.0.0.1", 4433), "5")
    with pytest.raises(UserError, match="start of the host at a"):
        _ = attach(net, "a", lambda now: Scripted(), idle, start="soon").address
    with pytest.raises(UserError, match="are of two networks"):
        connect(attach(line(), "a", Scripted, idle), attach(line(), "a", Scripted, idle))


def test_failed_replications_leave_the_results_of_others() -> None:
    """A stack that fails in one of three replications leaves the results of the two others."""
    count = itertools.count()

    def make(peer: Any) -> Scripted:
        return (Raises if next(count) == 1 else Scripted)(peer, [0.05])

    net, _ = between(make)
    with pytest.raises(StackError, match="replication 1") as found:
        net.run(replications=3)
    assert [each["replication"] for each in found.value.finished.documents] == [0, 2]


def test_random_numbers_of_a_stack_are_found() -> None:
    """A stack whose sizes differ from run to run is found by `repeat`, which names the first
    datagram that does; one that repeats has the results of a plain run."""
    count = itertools.count(100)
    net, _ = between(lambda peer: Scripted(peer, [0.05], next(count)))
    with pytest.raises(StackError) as found:
        repeat(net)
    expected = (
        f"line: two runs of the same seed differ in datagram 0: {100 + HEADERS} B from a at 0.05 s "
        f"(DSCP 0, not ECT) in the first, {101 + HEADERS} B from a at 0.05 s (DSCP 0, not ECT) in "
        "the second"
    )
    assert str(found.value).startswith(expected)
    net, _ = between(lambda peer: Scripted(peer, [0.05]))
    assert repeat(net).digests == net.run().digests


def test_hosts_stay_in_their_process_and_are_part_of_a_check() -> None:
    """A network with hosts is checked with their flows, its copy has them too, and what would be
    sent to another process says why it is not."""
    net, _ = between(lambda peer: Scripted(peer, [0.05]))
    assert "flows.a-b.stack.mtu" in net.check()["resolved"]
    copied = net.copy()
    assert copied.run().digests == net.run().digests
    attach(copied, "a", lambda now: Scripted(), idle)
    assert len(net.attached.members) == 2
    with pytest.raises(UserError, match="stay in a process"):
        _ = net.job().line
    with pytest.raises(UserError, match="a sweep runs in processes"):
        net.sweep(["links.wire.utilization"], out="never")
    with pytest.raises(UserError, match="without stacks"):
        reports(line().flows("bulk", "a", "b").run())
    attach(copied, "nowhere", lambda now: Scripted(), idle)
    with pytest.raises(UserError, match="nowhere"):
        copied.run()


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
    """A client that changes its address goes on: the server validates the new path (RFC 9000,
    section 9) and sends there."""
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
from test_host import quic
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
from test_host import quic
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


def test_jobs_without_hosts_are_written_as_ever() -> None:
    """A job without hosts goes to other processes as before, and comes back the same."""
    job = line().flows("bulk", "a", "b").job()
    assert "hosts" not in json.loads(job.line)
    assert Job.read(job.line) == job


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
    from importlib.metadata import version

    if version("aioquic") == "1.7.2":
        readme = (EXAMPLE / "README.md").read_text(encoding="utf-8").splitlines()
        assert set(printed) <= set(readme)
