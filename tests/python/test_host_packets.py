"""`forebay.host`: what a network and a stack tell each other of packets, and how a stack ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forebay import Network, queue
from forebay.errors import StackError
from forebay.host import attach

EF = 46
"""Expedited forwarding (RFC 3246)."""


class Burst:
    """A stack that sends `count` datagrams of `size` bytes to `peer` at 0.1 s, of EF and ECT(1)."""

    tos = True

    def __init__(self, peer: Any = None, size: int = 972, count: int = 0) -> None:
        self.out = [(bytes(size), peer, EF << 2 | 1)] * count
        self.due = 0.1 if count else None
        self.heard: list[tuple[int, int, float]] = []
        self.closed = 0

    def receive_datagram(self, data: bytes, addr: Any, now: float, tos: int = -1) -> None:
        """Note the size, the octet and the time."""
        self.heard.append((len(data), tos, now))

    def datagrams_to_send(self, now: float) -> list[Any]:
        """All of them, once the time has come."""
        if self.due is not None:
            return []
        out, self.out = self.out, []
        return out

    def get_timer(self) -> float | None:
        """The time of the datagrams."""
        return self.due

    def handle_timer(self, now: float) -> None:
        """The time has come."""
        self.due = None

    def close(self) -> None:
        """The run is over."""
        self.closed += 1


class Raises(Burst):
    """One that raises at 0.1 s."""

    def handle_timer(self, now: float) -> None:
        """Raise."""
        raise LookupError("not here")


def idle() -> Callable[[float, Any], None]:
    """An application that does nothing."""
    return lambda now, connection: None


def wire(law: Any) -> Network:
    """A link of a byte each microsecond, and 10 ms."""
    net = Network("wire", duration="1 s")
    net.link("wire", "a", "b", rate="8 Mbit/s", delay="10 ms", queue=law)
    return net.set("links.wire.reverse.queue.droptail.limit", "100 packets")


def test_class_goes_both_ways() -> None:
    """A stack with `tos` says DSCP and ECN, and hears what the network has made of them: the queue
    that is for EF alone gets its packets, and marks those that come while one waits."""
    marks = queue.step(threshold="1 packet")
    net = wire(queue.priority(dscp=["EF"], classes=[marks, "droptail"]))
    other = Burst()
    far = attach(net, "b", lambda now: other, idle)
    attach(net, "a", lambda now: Burst(far.address, count=10), idle)
    net.run()
    assert other.heard[0][1] == EF << 2 | 1
    assert {tos for _, tos, _ in other.heard} == {EF << 2 | 1, EF << 2 | 3}


def test_packets_without_headers() -> None:
    """A host without headers sends whole packets: 1500 B pass the MTU and take 1.5 ms on the wire,
    as a datagram of 1472 B with its headers; one of 1501 B is refused."""
    for headers, size in ((True, 1472), (False, 1500)):
        net, other = wire(queue.droptail(limit="100 packets")), Burst()
        far = attach(net, "b", lambda now, other=other: other, idle)
        attach(
            net,
            "a",
            lambda now, far=far, size=size: Burst(far.address, size, 1),
            idle,
            headers=headers,
        )
        net.run()
        ((found, _, now),) = other.heard
        assert found == size
        assert now == pytest.approx(0.1 + 0.0015 + 0.01, abs=1e-12)
    net = wire(queue.droptail(limit="100 packets"))
    far = attach(net, "b", lambda now: Burst(), idle)
    attach(net, "a", lambda now: Burst(far.address, 1501, 1), idle, headers=False)
    with pytest.raises(StackError, match="1501 B with headers; the MTU is 1500 B"):
        net.run()


@pytest.mark.parametrize(("kind", "error"), [(Burst, None), (Raises, LookupError)])
def test_stacks_are_closed_when_the_run_is_over(
    kind: type[Burst], error: type[Exception] | None
) -> None:
    """Each stack of each run is closed once, also when one of them ends the run: what it holds,
    such as processes, would else be left behind."""
    made: list[Burst] = []

    def keep(stack: Burst) -> Burst:
        made.append(stack)
        return stack

    net = wire(queue.droptail(limit="100 packets"))
    far = attach(net, "b", lambda now: keep(Burst()), idle)
    attach(net, "a", lambda now: keep(kind(far.address, count=1)), idle)
    if error is None:
        net.run(replications=2)
    else:
        with pytest.raises(StackError) as found:
            net.run()
        assert isinstance(found.value.__cause__, error)
    assert [stack.closed for stack in made] == [1] * (4 if error is None else 2)
