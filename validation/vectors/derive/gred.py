"""GRED as Linux (net/sched/sch_gred.c) has it, with RED as Floyd and Jacobson (1993) do."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from link import Log, Packet, fits, quantity


class Virtual:
    """A virtual queue."""

    def __init__(self) -> None:
        """An empty one."""
        self.queue: list[Packet] = []
        self.average = Fraction(0)
        self.idle_since = Fraction(0)
        self.drops = 0


class Gred:
    """One FIFO. Averages between the thresholds, where chance decides, are refused."""

    def __init__(self, parameters: dict[str, Any], link_bps: int, log: Log) -> None:
        """An empty queue at a link of `link_bps`."""
        self.given = parameters
        self.weight = Fraction(str(parameters["weight"]))
        self.unit = 8 * quantity(parameters.get("mean_packet", "500 B")) / link_bps
        self.count = len(parameters["min_threshold"])
        self.priorities = parameters.get("priorities", list(range(self.count)))
        self.log = log
        self.virtual = [Virtual() for _ in range(self.count)]
        self.queue: list[Packet] = []

    def amount(self, packets: list[Packet]) -> int:
        """Packets, or bytes where thresholds are in bytes."""
        in_bytes = not self.given["min_threshold"][0].endswith("packets")
        return sum(packet.size for packet in packets) if in_bytes else len(packets)

    def of(self, packet: Packet) -> int:
        """The virtual queue of a packet."""
        return min(packet.precedence, self.count - 1)

    def update(self, virtual: Virtual, now: Fraction) -> None:
        """The average (Floyd and Jacobson 1993, section 4)."""
        if virtual.queue:
            excess = self.amount(virtual.queue) - virtual.average
            virtual.average += self.weight * excess
            return
        packets = (now - virtual.idle_since) / self.unit
        if virtual.average:
            assert packets.denominator == 1, "an idle time is no whole number of packets"
            virtual.average *= (1 - self.weight) ** int(packets)
        virtual.idle_since = now

    def judged(self, index: int) -> Fraction:
        """The average that decides."""
        average = self.virtual[index].average
        if self.given.get("grio", False):
            for other, priority in zip(self.virtual, self.priorities, strict=True):
                if priority < self.priorities[index] and other.queue:
                    average += other.average
        return average

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """RED's decision, then the limits."""
        index = self.of(packet)
        virtual = self.virtual[index]
        self.update(virtual, now)
        average = self.judged(index)
        least = quantity(self.given["min_threshold"][index])
        most = quantity(self.given["max_threshold"][index])
        assert average < least or average >= most, f"{average} is left to chance"
        limit = self.given["limits"][index] if "limits" in self.given else None
        if average >= most:
            self.log.drop(packet, now, "forced")
        elif idle is None and not fits(self.given.get("limit"), packet.size, self.queue):
            self.log.drop(packet, now, "overflow")
        elif idle is None and not fits(limit, packet.size, virtual.queue):
            virtual.drops += 1
            self.log.drop(packet, now, "overflow")
        else:
            self.queue.append(packet)
            virtual.queue.append(packet)

    def dequeue(self, now: Fraction) -> Packet | None:
        """The next packet."""
        packet = self.queue.pop(0)
        virtual = self.virtual[self.of(packet)]
        virtual.queue.pop(0)
        if not virtual.queue:
            virtual.idle_since = now
        return packet

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait."""
        return self.queue

    def state(self) -> dict[str, Fraction]:
        """Names of the reference page."""
        state = {}
        for index, virtual in enumerate(self.virtual):
            state[f"average.{index}"] = virtual.average
            state[f"waiting.{index}"] = Fraction(self.amount(virtual.queue))
            state[f"limit_drops.{index}"] = Fraction(virtual.drops)
        return state
