"""Schedulers with classes, each from the paper that defines it.

Classes are numbers of precedence. Each class is a FIFO queue without limit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from link import Log, Packet, quantity

__all__ = ["SCHEDULERS", "Scheduler"]


class Scheduler:
    """The queues of the classes; which is served next, a subclass says."""

    def __init__(self, parameters: dict[str, Any], link_bps: int, log: Log) -> None:
        """Empty queues."""
        self.log = log
        self.rate = link_bps
        self.queues: list[list[Packet]] = [[] for _ in parameters["classes"]]
        weights = parameters.get("weights", [1] * len(self.queues))
        self.weights = [Fraction(weight) for weight in weights]
        self.ends = Fraction(0)

    def enqueue(self, packet: Packet, now: Fraction, idle: object) -> None:
        """Append it to its class; the first packet of a class activates it."""
        queue = self.queues[packet.precedence]
        self.arrived(packet, now)
        if not queue:
            self.activate(packet.precedence, now)
        queue.append(packet)

    def dequeue(self, now: Fraction) -> Packet | None:
        """Serve the class that is chosen."""
        if not any(self.queues):
            return None
        number = self.select(now)
        packet = self.queues[number].pop(0)
        self.ends = now + Fraction(8 * packet.size, self.rate)
        self.served(number, packet, now)
        return packet

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait in all classes."""
        return [packet for queue in self.queues for packet in queue]

    def state(self) -> dict[str, Fraction]:
        """Packets of each class."""
        return {f"queue_packets.{i}": Fraction(len(q)) for i, q in enumerate(self.queues)}

    def cost(self, packet: Packet) -> Fraction:
        """Returns the share of the virtual time of its class that a packet takes."""
        return 8 * packet.size / self.weights[packet.precedence]

    def busy(self) -> list[int]:
        """The classes that have packets."""
        return [number for number, queue in enumerate(self.queues) if queue]

    def arrived(self, packet: Packet, now: Fraction) -> None:
        """A packet arrives."""

    def activate(self, number: int, now: Fraction) -> None:
        """A class has a packet, and had none."""

    def select(self, now: Fraction) -> int:
        """The class to serve."""
        raise NotImplementedError

    def served(self, number: int, packet: Packet, now: Fraction) -> None:
        """A packet has been taken from its queue."""


class RoundRobin(Scheduler):
    """Deficit round robin: Shreedhar and Varghese 1995, section 3. Weighted round robin is the same
    with packets in place of bytes."""

    def __init__(self, parameters: dict[str, Any], link_bps: int, log: Log) -> None:
        """Empty queues."""
        super().__init__(parameters, link_bps, log)
        self.packets = "packets" in parameters
        count = len(self.queues) - parameters.get("strict", 0)
        quanta = parameters.get("packets") or [
            quantity(text) for text in parameters.get("quanta", ["1500 B"] * count)
        ]
        self.quanta = [Fraction(0)] * (len(self.queues) - count) + [Fraction(q) for q in quanta]
        self.deficits = [Fraction(0)] * len(self.queues)
        self.active: list[int] = []
        self.granted = False

    def size(self, packet: Packet) -> int:
        """Returns the share of a deficit that a packet takes."""
        return 1 if self.packets else packet.size

    def activate(self, number: int, now: Fraction) -> None:
        """At the end of the list."""
        self.active.append(number)

    def select(self, now: Fraction) -> int:
        """The class at the front, if its deficit pays for its packet; else the next."""
        while True:
            number = self.active[0]
            if not self.granted:
                self.deficits[number] += self.quanta[number]
                self.granted = True
            if self.size(self.queues[number][0]) <= self.deficits[number]:
                return number
            self.active.append(self.active.pop(0))
            self.granted = False

    def served(self, number: int, packet: Packet, now: Fraction) -> None:
        """An empty class leaves the list and loses its deficit."""
        self.deficits[number] -= self.size(packet)
        if not self.queues[number]:
            self.deficits[number] = Fraction(0)
            self.active.pop(0)
            self.granted = False


class Ets(RoundRobin):
    """Strict priority before deficit round robin: IEEE 802.1Q-2018, clause 37."""

    def __init__(self, parameters: dict[str, Any], link_bps: int, log: Log) -> None:
        """Empty queues."""
        super().__init__(parameters, link_bps, log)
        self.strict = parameters.get("strict", 0)

    def activate(self, number: int, now: Fraction) -> None:
        """Strict classes are in no list."""
        if number >= self.strict:
            super().activate(number, now)

    def select(self, now: Fraction) -> int:
        """The first strict class with packets, else that of the round."""
        first = self.busy()[0]
        return first if first < self.strict else super().select(now)

    def served(self, number: int, packet: Packet, now: Fraction) -> None:
        """Strict classes pay nothing."""
        if number >= self.strict:
            super().served(number, packet, now)


class Tagged(Scheduler):
    """Start and finish tags of the heads of classes."""

    def __init__(self, parameters: dict[str, Any], link_bps: int, log: Log) -> None:
        """Empty queues."""
        super().__init__(parameters, link_bps, log)
        self.start = [Fraction(0)] * len(self.queues)
        self.finish = [Fraction(0)] * len(self.queues)
        self.virtual = Fraction(0)

    def at(self, now: Fraction) -> Fraction:
        """Virtual time."""
        if not self.busy() and now >= self.ends:
            self.virtual = max([self.virtual, *self.finish])
        return self.virtual

    def activate(self, number: int, now: Fraction) -> None:
        """A packet starts at the virtual time, or where the one before it ends."""
        self.start[number] = max(self.finish[number], self.at(now))

    def end(self, number: int) -> Fraction:
        """Finish tag of the head."""
        return self.start[number] + self.cost(self.queues[number][0])

    def served(self, number: int, packet: Packet, now: Fraction) -> None:
        """The next packet of the class starts where this one ends."""
        self.finish[number] = self.start[number] + self.cost(packet)
        self.start[number] = self.finish[number]


class SelfClocked(Tagged):
    """Golestani 1994, section 4: virtual time is the finish tag of the packet in service."""

    def select(self, now: Fraction) -> int:
        """The least finish tag."""
        return min(self.busy(), key=self.end)

    def served(self, number: int, packet: Packet, now: Fraction) -> None:
        """Its tag is the virtual time."""
        super().served(number, packet, now)
        self.virtual = self.finish[number]


class StartTime(Tagged):
    """Goyal, Vin and Cheng 1997, section 2: virtual time is the start tag of the packet in service,
    and the largest finish tag at the end of a busy period."""

    def select(self, now: Fraction) -> int:
        """The least start tag."""
        return min(self.busy(), key=lambda number: self.start[number])

    def served(self, number: int, packet: Packet, now: Fraction) -> None:
        """Its tag is the virtual time."""
        self.virtual = self.start[number]
        super().served(number, packet, now)


class Wf2qPlus(Tagged):
    """Bennett and Zhang 1997, section IV: of the packets that are eligible, the least finish tag;
    virtual time grows with the work done over the sum of weights, and is never below the least
    start tag."""

    since = Fraction(0)
    bits = Fraction(0)

    def at(self, now: Fraction) -> Fraction:
        """Virtual time at `now`."""
        done = min((now - self.since) * self.rate, self.bits) / sum(self.weights)
        if not self.busy() and now >= self.ends:
            self.virtual = max([self.virtual + done, *self.finish])
            self.bits = Fraction(0)
            return self.virtual
        return self.virtual + done

    def select(self, now: Fraction) -> int:
        """The least finish tag among those whose service has begun under fluid sharing."""
        least = min(self.start[number] for number in self.busy())
        self.virtual = max(self.at_work(now), least)
        self.since, self.bits = now, Fraction(0)
        eligible = [number for number in self.busy() if self.start[number] <= self.virtual]
        return min(eligible, key=self.end)

    def at_work(self, now: Fraction) -> Fraction:
        """Virtual time while packets wait."""
        return self.virtual + min((now - self.since) * self.rate, self.bits) / sum(self.weights)

    def served(self, number: int, packet: Packet, now: Fraction) -> None:
        """Its transmission is the work that virtual time grows with."""
        super().served(number, packet, now)
        self.bits = Fraction(8 * packet.size)


class Wfq(Scheduler):
    """Parekh and Gallager 1993, section III: the order in which fluid sharing would finish. The
    fluid system is followed in real time, by the bits that it has left of each class."""

    def __init__(self, parameters: dict[str, Any], link_bps: int, log: Log) -> None:
        """Empty queues."""
        super().__init__(parameters, link_bps, log)
        self.tags: dict[int, Fraction] = {}
        self.ending = [Fraction(0)] * len(self.queues)
        self.virtual = Fraction(0)
        self.now = Fraction(0)

    def advance(self, now: Fraction) -> None:
        """Bring the fluid system to `now`."""
        while self.now < now:
            busy = [n for n, end in enumerate(self.ending) if end > self.virtual]
            if not busy:
                break
            pace = self.rate / sum((self.weights[n] for n in busy), Fraction(0))
            first = min(self.ending[n] for n in busy)
            step = min(now - self.now, (first - self.virtual) / pace)
            self.virtual, self.now = self.virtual + step * pace, self.now + step
        self.now = now

    def arrived(self, packet: Packet, now: Fraction) -> None:
        """Its tag is when the fluid system finishes it, in virtual time."""
        self.advance(now)
        number = packet.precedence
        self.ending[number] = max(self.ending[number], self.virtual) + self.cost(packet)
        self.tags[packet.number] = self.ending[number]

    def select(self, now: Fraction) -> int:
        """The least tag."""
        return min(self.busy(), key=lambda number: self.tags[self.queues[number][0].number])


SCHEDULERS: dict[str, type[Scheduler]] = {
    "drr": RoundRobin,
    "ets": Ets,
    "scfq": SelfClocked,
    "stfq": StartTime,
    "wf2q_plus": Wf2qPlus,
    "wfq": Wfq,
    "wrr": RoundRobin,
}
"""Schedulers by their name in Forebay."""
