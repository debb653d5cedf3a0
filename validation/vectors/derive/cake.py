"""CAKE as Linux (net/sched/sch_cake.c) has it, without noise in the quanta.

Flows are told by their numbers (classifier number), so that collisions are those of the arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any

from cobalt import Cobalt
from link import Log, Packet, quantity

WAYS = 8
QUANTA = {
    "besteffort": [65535],
    "diffserv3": [1024, 64, 256],
    "diffserv4": [1024, 64, 512, 256],
}
SHIFTS = {"besteffort": [0], "diffserv3": [0, 4, 2], "diffserv4": [0, 4, 1, 2]}
VIDEO = (4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38)


def tin_of(mode: str, codepoint: int) -> int:
    """The tin of a codepoint."""
    if mode == "besteffort":
        return 0
    if codepoint in (1, 8):
        return 1
    if mode == "diffserv3":
        return 2 if codepoint in (4, 44, 46, 48, 56) else 0
    if codepoint in VIDEO:
        return 2
    return 3 if codepoint in (32, 40, 44, 46, 48, 56) else 0


@dataclass
class Flow:
    """A queue of a tin, and whose it is."""

    cobalt: Cobalt
    tag: int = 0
    source: int = -1
    destination: int = -1
    deficit: Fraction = Fraction(0)
    set: str = "none"


@dataclass
class Tin:
    """A tin: its queues by number, and its lists."""

    share: int
    flows: dict[int, Flow] = field(default_factory=dict)
    new: list[int] = field(default_factory=list)
    old: list[int] = field(default_factory=list)
    decaying: list[int] = field(default_factory=list)
    deficit: int = 0
    rate: Fraction | None = None
    next: Fraction = Fraction(0)
    hits: int = 0
    collisions: int = 0
    filtered: int = 0
    overflow_drops: int = 0

    def count(self, *sets: str) -> int:
        """Counts the flows in some of the sets."""
        return sum(flow.set in sets for flow in self.flows.values())


class Cake:
    """All tins."""

    def __init__(self, parameters: dict[str, Any], link_bps: int, log: Log) -> None:
        """All queues empty."""
        get = parameters.get
        self.given, self.link_bps, self.log = parameters, link_bps, log
        self.mode = get("tins", "diffserv3")
        self.isolation = get("isolation", "triple_isolate")
        self.size = get("queues", 1024)
        self.rate = quantity(parameters["rate"]) if "rate" in parameters else None
        self.next, self.failsafe = Fraction(0), Fraction(0)
        self.limit = get("limit", "15503360 B")
        self.tins = [Tin(share) for share in QUANTA[self.mode]]
        for tin, shift in zip(self.tins, SHIFTS[self.mode], strict=True):
            tin.rate = None if self.rate is None else Fraction(self.rate // 2**shift)
        self.current = 0
        self.sojourn = Fraction(0)

    def quantum(self, tin: Tin) -> Fraction:
        """Returns the bytes that a flow of a tin may send in a round."""
        scaled = 1514 if tin.rate is None else min(max(tin.rate // 8 // 4096, 300), 1514)
        return quantity(self.given["quantum"]) if "quantum" in self.given else Fraction(scaled)

    def ready(self, now: Fraction) -> Fraction:
        """Returns the time at which the shaper lets the next packet leave that waits at `now`."""
        return max(now, min(self.next, self.failsafe))

    def cobalt(self, tin: Tin) -> Cobalt:
        """The law of a queue: packets are spared for their size under a shaper alone."""
        given = {key: self.given[key] for key in ("target", "interval") if key in self.given}
        given |= {"mtu": "0 B", "ecn": self.given.get("ecn", True)}
        if tin.rate is not None:
            given["mtu"] = self.given.get("mtu", "1514 B")
        return Cobalt(given, int(tin.rate or self.link_bps), self.log)

    def hosts(self, packet: Packet) -> tuple[int, int]:
        """The source and the destination host of a packet."""
        if packet.hosts is not None:
            return packet.hosts[packet.ack], packet.hosts[not packet.ack]
        source = packet.flow // self.given.get("flows_per_source", 1)
        destination = packet.flow // self.given.get("flows_per_destination", 1)
        if packet.ack:
            return 2 * destination + 1, 2 * source
        return 2 * source, 2 * destination + 1

    def hash(self, packet: Packet) -> int:
        """Returns the value that tells flows apart."""
        source, destination = self.hosts(packet)
        return {
            "none": 0,
            "srchost": source,
            "dsthost": destination,
            "hosts": source ^ destination,
        }.get(self.isolation, 2 * packet.flow + packet.ack)

    def queue_of(self, tin: Tin, packet: Packet) -> int:
        """The queue of a packet: the first in its set that is the flow's, is free, or the first."""
        tag = self.hash(packet)
        first = tag % self.size
        outer, inner = first - first % WAYS, first % WAYS
        ways = [outer + (inner + step) % WAYS for step in range(WAYS)]
        for way in ways:
            tin.flows.setdefault(way, Flow(self.cobalt(tin)))
        index = next((way for way in ways if tin.flows[way].tag == tag), None)
        if index is not None:
            tin.hits += index != first
        else:
            index = next((way for way in ways if tin.flows[way].set == "none"), None)
        if index is None:
            index = first
            tin.collisions += 1
            tin.flows[index].tag = tag
            tin.flows[index].source, tin.flows[index].destination = self.hosts(packet)
        flow = tin.flows[index]
        if flow.set == "none":
            flow.tag = tag
            flow.source, flow.destination = self.hosts(packet)
        return index

    def load(self, tin: Tin, flow: Flow) -> int:
        """The bulk flows of the busier of the hosts of a flow that count."""
        bulk = [other for other in tin.flows.values() if other.set == "bulk"]
        load = 1
        if self.isolation in ("dual_srchost", "triple_isolate"):
            load = max(load, sum(other.source == flow.source for other in bulk))
        if self.isolation in ("dual_dsthost", "triple_isolate"):
            load = max(load, sum(other.destination == flow.destination for other in bulk))
        return load

    def filter_acks(self, tin: Tin, flow: Flow, now: Fraction) -> None:
        """Drop an acknowledgement before the last that is superfluous."""
        mode, last = self.given.get("ack_filter", "off"), flow.cobalt.queue[-1]
        if mode == "off" or not last.ack:
            return
        before = flow.cobalt.queue[:-1]
        found = [packet for packet in before if packet.ack and packet.flow == last.flow]
        single = mode == "aggressive" and found and found[0] is before[-1]
        if len(found) > 1 or single:
            flow.cobalt.queue.remove(found[0])
            tin.filtered += 1
            self.log.drop(found[0], now, "forced")

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """Append a packet, give its flow a place, and make room."""
        tin = self.tins[tin_of(self.mode, packet.dscp)]
        if not self.waiting() and self.next < now:
            self.next, self.failsafe = now, now
        if not any(flow.cobalt.queue for flow in tin.flows.values()):
            tin.next = max(tin.next, now)
        index = self.queue_of(tin, packet)
        flow = tin.flows[index]
        flow.cobalt.queue.append(packet)
        self.filter_acks(tin, flow, now)
        if flow.set in ("none", "decaying"):
            if flow.set == "decaying":
                tin.decaying.remove(index)
            tin.new.append(index)
            flow.set = "sparse"
            flow.deficit = self.quantum(tin) / self.load(tin, flow)
        elif flow.set == "sparse_wait":
            flow.set = "bulk"
        while idle is None and self.too_much():
            self.overflow(now)

    def too_much(self) -> bool:
        """Returns True if more waits than may."""
        sizes = [packet.size for packet in self.waiting()]
        number = len(sizes) if self.limit.endswith("packets") else sum(sizes)
        return number > quantity(self.limit)

    def overflow(self, now: Fraction) -> None:
        """Drop the head of the queue with the most bytes."""
        flows = [(tin, flow) for tin in self.tins for flow in tin.flows.values()]
        size = {id(flow): sum(p.size for p in flow.cobalt.queue) for _, flow in flows}
        tin, flow = max(flows, key=lambda pair: size[id(pair[1])])
        flow.cobalt.full(now)
        tin.overflow_drops += 1
        self.log.drop(flow.cobalt.queue.pop(0), now, "overflow")

    def on_wire(self, size: int) -> int:
        """Returns the length of a packet on the wire."""
        get = self.given.get
        length = max(size + quantity(get("overhead", "0 B")), quantity(get("mpu", "0 B")))
        framing = get("framing", "none")
        if framing == "atm":
            return ceil(length / 48) * 53
        return int(length) + (ceil(length / 64) if framing == "ptm" else 0)

    def choose(self, now: Fraction) -> Tin:
        """The tin in turn, or under a shaper the last whose schedule allows a packet."""
        if self.rate is not None:
            best = None
            for at, tin in enumerate(self.tins):
                waits = tin.count("sparse", "sparse_wait", "bulk")
                if waits and (best is None or tin.next <= now or tin.next <= best):
                    best, self.current = tin.next, at
            return self.tins[self.current]
        tin = self.tins[self.current]
        while tin.deficit < 0 or not tin.count("sparse", "sparse_wait", "bulk"):
            if tin.deficit <= 0:
                tin.deficit += tin.share
            self.current = (self.current + 1) % len(self.tins)
            tin = self.tins[self.current]
        return tin

    def dequeue(self, now: Fraction) -> Packet | None:
        """The next packet."""
        if self.rate is not None and self.ready(now) > now:
            return None
        first = True
        while self.waiting():
            tin = self.choose(now)
            index, source = self.pick(tin, first)
            first = False
            flow = tin.flows[index]
            if self.given.get("spared") == "flows":
                flow.cobalt.spared = tin.count("bulk") * self.cobalt(tin).spared
            packet = self.send(flow, now)
            if packet is None:
                source.remove(index)
                flow.cobalt.empty(now)
                law = flow.cobalt
                rest = not law.p_drop and not law.count and now >= law.drop_next
                flow.set = "none" if rest else "decaying"
                if not rest:
                    tin.decaying.append(index)
                continue
            self.sojourn = now - packet.entered
            self.charge(tin, self.on_wire(packet.size), now)
            tin.deficit -= self.on_wire(packet.size)
            flow.deficit -= self.on_wire(packet.size)
            return packet
        return None

    def charge(self, tin: Tin, size: int, now: Fraction) -> None:
        """Move the schedules on (cake_advance_shaper)."""
        if self.rate is None or tin.rate is None:
            return
        span = 8 * size / tin.rate
        tin.next = tin.next + span if tin.next < now else max(tin.next, now + span)
        self.next += 8 * size / self.rate
        self.failsafe += Fraction(3, 2) * 8 * size / self.rate

    def pick(self, tin: Tin, first: bool) -> tuple[int, list[int]]:
        """The queue to be served, and its list."""
        if first and tin.decaying:
            return tin.decaying[0], tin.decaying
        while True:
            source = tin.new or tin.old or tin.decaying
            index = source[0]
            flow = tin.flows[index]
            if flow.deficit > 0:
                return index, source
            if flow.set == "sparse":
                flow.set = "bulk" if flow.cobalt.queue else "sparse_wait"
            flow.deficit += self.quantum(tin) / self.load(tin, flow)
            tin.old.append(source.pop(0))

    def send(self, flow: Flow, now: Fraction) -> Packet | None:
        """The next packet of a queue, after drops."""
        return flow.cobalt.dequeue(now)

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait."""
        flows = [flow for tin in self.tins for flow in tin.flows.values()]
        return [packet for flow in flows for packet in flow.cobalt.queue]

    def state(self) -> dict[str, Fraction]:
        """Names of the reference page."""
        state = {"sojourn_s": self.sojourn}
        for at, tin in enumerate(self.tins):
            held = sum(len(flow.cobalt.queue) for flow in tin.flows.values())
            counts = {
                "packets": held,
                "sparse_flows": tin.count("sparse", "sparse_wait"),
                "bulk_flows": tin.count("bulk"),
                "decaying_flows": tin.count("decaying"),
                "overflow_drops": tin.overflow_drops,
                "filtered_acks": tin.filtered,
                "way_hits": tin.hits,
                "way_collisions": tin.collisions,
            }
            state |= {f"{name}.{at}": Fraction(count) for name, count in counts.items()}
        return state
