"""The axes along which cost may grow, and the scenario of each point.

Every point of an axis is given about the same work, counted in packet hops, so that times for each
hop compare. Where more flows or a higher rate need more than that (each flow some packets, each
path some round trips), the point does more work rather than something else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import homes

from forebay import Network, queue, tcp, traffic

__all__ = ["AXES", "Axis", "Curve", "Task"]

WORK = 2_000_000
"""Packet hops of a point at scale 1."""

PACKET_B = 500
SEGMENT_B = 1000
LOAD = 0.8

HOME_HOPS = 2800
"""Packet hops of a home in a second. It has 5.25 Mbit/s of its cable both ways, 438 packets of
1500 B; each crosses four links, and so does an acknowledgement for every second one: 2,630. A game
in every third home makes 133 packets a second: 180 more."""


@dataclass(frozen=True, slots=True)
class Task:
    """Task of one point: a scenario, its number of replications, and of threads (0: all cores)."""

    text: str
    replications: int = 1
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Curve:
    """A kind of scenario along an axis; `task(x, work)` makes the one at `x`.

    Where its start would weigh too much, `start(x)` makes the same network for a moment: its time
    and its hops are taken off.
    """

    name: str
    task: Callable[[int, float], Task]
    start: Callable[[int], Task] | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """Axis of growth, with its values and the kinds of scenario that grow along it."""

    name: str
    label: str
    values: Sequence[int]
    curves: Sequence[Curve]


def _bottleneck(name: str, rate_bps: float, delay_ms: float, seconds: float) -> Network:
    """A link with a drop-tail buffer of one round trip's worth, 20 packets at least."""
    limit = max(20 * SEGMENT_B, round(rate_bps * 2e-3 * delay_ms / 8))
    return Network(name, duration=f"{seconds:.9f} s").link(
        "line",
        "a",
        "b",
        rate=f"{rate_bps:.0f} bit/s",
        delay=f"{delay_ms} ms",
        queue=queue.droptail(limit=f"{limit} B"),
    )


def _udp_flows(count: int, work: float) -> Task:
    """Flows of constant rate that share one link: the more there are, the less each sends."""
    rate = 400e6
    # At least 20 packets a flow, beside which its set-up is small.
    packets = max(work, 20 * count)
    seconds = packets * 8 * PACKET_B / (LOAD * rate)
    net = _bottleneck(f"{count} UDP flows", rate, 10, seconds)
    each = traffic.cbr(rate=f"{LOAD * rate / count:.3f} bit/s", size=f"{PACKET_B} B")
    net.flows("load", "a", "b", count=count, udp={}, traffic=each)
    return Task(net.to_toml())


def _tcp_flows(count: int, work: float) -> Task:
    """Greedy flows with 250 kbit/s each in the mean, round trips of 100 ms without queues."""
    rate = 250e3 * count
    # A segment and its ACK are two hops. At least 25 segments a flow, eight round trips.
    hops = max(work, 50 * count)
    net = _bottleneck(f"{count} TCP flows", rate, 50, hops / 2 * 8 * SEGMENT_B / rate)
    segment = tcp(profile="rfc", mss=f"{SEGMENT_B - 40} B")
    net.flows("load", "a", "b", count=count, start={"uniform": ["0 s", "0.1 s"]}, tcp=segment)
    return Task(net.to_toml())


def _chain(law: object) -> Callable[[int, float], Task]:
    def task(links: int, work: float) -> Task:
        """One Poisson stream through so many links of 100 Mbit/s and 0.1 ms, one after another."""
        rate = 100e6
        seconds = work / links * 8 * PACKET_B / (LOAD * rate)
        net = Network(f"{links} links", duration=f"{seconds:.9f} s")
        for number in range(links):
            ends = f"n{number}", f"n{number + 1}"
            net.link(
                f"l{number}", *ends, rate="100 Mbit/s", delay="0.1 ms", duplex=False, queue=law
            )
        net.flows("load", "n0", f"n{links}", udp={}, traffic=_poisson(rate))
        return Task(net.to_toml())

    return task


def _udp_rate(mbps: int, work: float) -> Task:
    """One Poisson stream over one link: the faster it is, the more packets are on the wire."""
    rate = 1e6 * mbps
    # At least 0.1 s, ten times the delay.
    seconds = max(work * 8 * PACKET_B / (LOAD * rate), 0.1)
    net = _bottleneck(f"UDP at {mbps} Mbit/s", rate, 10, seconds)
    net.flows("load", "a", "b", udp={}, traffic=_poisson(rate))
    return Task(net.to_toml())


def _tcp_rate(mbps: int, work: float) -> Task:
    """Ten greedy flows over one link: the faster it is, the larger their windows."""
    rate = 1e6 * mbps
    # At least 1 s, fifty round trips without queues, so that windows have grown.
    seconds = max(work / 2 * 8 * SEGMENT_B / rate, 1.0)
    net = _bottleneck(f"TCP at {mbps} Mbit/s", rate, 10, seconds)
    net.flows("load", "a", "b", count=10, tcp=tcp(profile="rfc", mss=f"{SEGMENT_B - 40} B"))
    return Task(net.to_toml())


def _replications(threads: int) -> Callable[[int, float], Task]:
    def task(count: int, work: float) -> Task:
        """The same work cut into so many replications: ten greedy flows over 10 Mbit/s."""
        net = _bottleneck("replications", 10e6, 10, work / 2 / count * 8 * SEGMENT_B / 10e6)
        net.flows("load", "a", "b", count=10, tcp=tcp(profile="rfc", mss=f"{SEGMENT_B - 40} B"))
        return Task(net.to_toml(), count, threads)

    return task


def _homes(count: int, work: float) -> Task:
    """Homes of benchmark s9-access, each 200 of them on a cable."""
    # At least 2 s, in which flows have their first round trips.
    return Task(homes.scenario(count, max(2 * work / (HOME_HOPS * count), 2.0)))


def _homes_start(count: int) -> Task:
    return Task(homes.scenario(count, 1e-3))


def _poisson(rate_bps: float) -> object:
    return traffic.poisson(rate=f"{LOAD * rate_bps:.0f} bit/s", size=f"{PACKET_B} B")


AXES = (
    Axis(
        "flows",
        "flows",
        [10**exponent for exponent in range(1, 7)],
        [Curve("UDP, constant rate", _udp_flows), Curve("TCP", _tcp_flows)],
    ),
    Axis(
        "hops",
        "links on the path",
        [1, 2, 5, 10, 20, 50, 100],
        [
            Curve("drop tail", _chain("droptail")),
            Curve("RED", _chain(queue.red(limit="1000 packets"))),
            Curve("priority, two classes", _chain(queue.priority(classes=["droptail"] * 2))),
        ],
    ),
    Axis(
        "rate",
        "link rate, Mbit/s",
        [10**exponent for exponent in range(6)],
        [Curve("UDP, Poisson", _udp_rate), Curve("ten TCP flows", _tcp_rate)],
    ),
    Axis(
        "replications",
        "replications",
        [1, 10, 100, 1000],
        [Curve("one thread", _replications(1)), Curve("all cores", _replications(0))],
    ),
    Axis(
        "homes",
        "homes of an access network",
        [20, 50, 100, 200, 400, 10_000],
        [Curve("a cable for each 200", _homes, _homes_start)],
    ),
)
