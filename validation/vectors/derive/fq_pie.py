"""FQ-PIE: the queues of FQ-CoDel (RFC 8290, section 4), each under PIE (RFC 8033)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from link import Log, Packet, fits, quantity
from pie import Pie


class FqPie:
    """Queues by flow, as in Linux: the packet that arrives is the one that is dropped."""

    def __init__(self, parameters: dict[str, Any], log: Log) -> None:
        """All queues empty."""
        self.parameters = parameters
        self.quantum = quantity(parameters.get("quantum", "1514 B"))
        self.log = log
        self.queues: dict[int, Pie] = {}
        self.deficits: dict[int, Fraction] = {}
        self.new: list[int] = []
        self.old: list[int] = []
        self.sojourn = Fraction(0)
        self.counters = dict.fromkeys(("activations", "collisions"), 0)

    def pie(self, packet: Packet) -> tuple[int, Pie]:
        """The queue of a packet: 2 f, or 2 f + 1 for an acknowledgement, modulo the number."""
        index = (2 * packet.flow + packet.ack) % self.parameters.get("queues", 1024)
        given = self.parameters | {"limit": None}
        return index, self.queues.setdefault(index, Pie(given, self.log))

    def has_room(self, packet: Packet) -> bool:
        """Returns True if both limits leave room."""
        memory = self.parameters.get("memory_limit", "33554432 B")
        limits = (self.parameters.get("limit", "10240 packets"), memory)
        return all(fits(limit, packet.size, self.waiting()) for limit in limits)

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """Let the packet's queue decide on it."""
        index, pie = self.pie(packet)
        last = pie.queue[-1] if pie.queue else packet
        if idle is None and not self.has_room(packet):
            pie.update(now)
            pie.sum = Fraction(0)
            self.log.drop(packet, now, "overflow")
            return
        pie.enqueue(packet, now, idle)
        if not pie.queue or pie.queue[-1] is not packet:
            return
        self.counters["collisions"] += (last.flow, last.ack) != (packet.flow, packet.ack)
        if index not in self.new and index not in self.old:
            self.new.append(index)
            self.deficits[index] = self.quantum
            self.counters["activations"] += 1

    def dequeue(self, now: Fraction) -> Packet | None:
        """The next packet of the first queue that may send and has one."""
        while self.new or self.old:
            source = self.new if self.new else self.old
            index = source[0]
            pie = self.queues[index]
            if self.deficits[index] <= 0:
                self.deficits[index] += self.quantum
                self.old.append(source.pop(0))
            elif pie.queue:
                packet = pie.dequeue(now)
                assert packet is not None
                self.deficits[index] -= packet.size
                self.sojourn = pie.sojourn
                return packet
            else:
                source.pop(0)
                if source is self.new and self.old:
                    self.old.append(index)
        return None

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait."""
        return [packet for queue in self.queues.values() for packet in queue.queue]

    def state(self) -> dict[str, Fraction]:
        """Names of the reference page."""
        reasons = [row[2] for row in self.log.drops]
        counts = {"new_queues": len(self.new), "old_queues": len(self.old)} | self.counters
        counts |= {"pie_drops": reasons.count("early"), "overflow_drops": reasons.count("overflow")}
        counts["marks"] = len(self.log.marks)
        largest = max((pie.p for pie in self.queues.values()), default=Fraction(0))
        state = {"sojourn_s": self.sojourn, "largest_probability": largest}
        return state | {key: Fraction(count) for key, count in counts.items()}
