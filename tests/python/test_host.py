"""Stacks in Python as hosts: they are told exact times, and faults name host and time."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from stacks_alone import HEADERS, WIRE, Scripted, idle, line

from forebay import Network, queue
from forebay.errors import StackError, UserError
from forebay.host import Failed, attach, connect, download, repeat, reports
from forebay.run.jobs import Job


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
    """A network with hosts is checked with their flows, and its copy has them too. No job of it can
    be sent to another process, which has none of its stacks: the error says so."""
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


def test_jobs_without_hosts_are_written_as_ever() -> None:
    """A job without hosts goes to other processes as before, and comes back the same."""
    job = line().flows("bulk", "a", "b").job()
    assert "hosts" not in json.loads(job.line)
    assert Job.read(job.line) == job
