"""FQ-CoDel as RFC 8290, sections 4.1 and 4.2, defines it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from codel import CoDel
from link import Log, Packet, quantity


class FqCoDel:
    """Queues by flow: none collide, unless there are too few for their numbers."""

    def __init__(self, parameters: dict[str, Any], log: Log) -> None:
        """All queues empty."""
        self.parameters = parameters
        self.quantum = quantity(parameters.get("quantum", "1514 B"))
        self.limit = parameters.get("limit", "10240 packets")
        self.memory = quantity(parameters.get("memory_limit", "33554432 B"))
        self.batch = parameters.get("drop_batch", 64)
        self.log = log
        self.queues: dict[int, CoDel] = {}
        self.deficits: dict[int, Fraction] = {}
        self.new: list[int] = []
        self.old: list[int] = []
        self.sojourn = Fraction(0)
        self.counters = dict.fromkeys(("activations", "collisions", "overflow_drops"), 0)

    def index(self, packet: Packet) -> int:
        """The queue of a packet: 2 f, or 2 f + 1 for an acknowledgement, modulo the number."""
        return (2 * packet.flow + packet.ack) % self.parameters.get("queues", 1024)

    def codel(self, index: int) -> CoDel:
        """The queue with CoDel."""
        given = {"ecn": True} | self.parameters | {"limit": None}
        return self.queues.setdefault(index, CoDel(given, self.log))

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """Append it to its queue; then make room if there is too much (section 4.1)."""
        index = self.index(packet)
        queue = self.codel(index).queue
        if queue and (queue[-1].flow, queue[-1].ack) != (packet.flow, packet.ack):
            self.counters["collisions"] += 1
        queue.append(packet)
        if index not in self.new and index not in self.old:
            self.new.append(index)
            self.deficits[index] = self.quantum
            self.counters["activations"] += 1
        while idle is None and self.too_much():
            self.drop(now)

    def too_much(self) -> bool:
        """Returns True if more waits than may."""
        waiting = self.waiting()
        size = sum(packet.size for packet in waiting)
        number = len(waiting) if self.limit.endswith("packets") else size
        return number > quantity(self.limit) or size > self.memory

    def drop(self, now: Fraction) -> None:
        """Drop from the head of the longest queue until half of its bytes are gone."""
        sizes = {index: sum(p.size for p in q.queue) for index, q in self.queues.items()}
        fattest = max(sizes, key=lambda index: sizes[index])
        codel, dropped, gone = self.queues[fattest], 0, 0
        while dropped < self.batch and (dropped == 0 or gone < sizes[fattest] // 2):
            packet = codel.queue.pop(0)
            self.log.drop(packet, now, "overflow")
            dropped, gone = dropped + 1, gone + packet.size
        codel.count += dropped
        self.counters["overflow_drops"] += dropped

    def dequeue(self, now: Fraction) -> Packet | None:
        """The next packet of the first queue that may send and has one (section 4.2)."""
        while self.new or self.old:
            source = self.new if self.new else self.old
            index = source[0]
            if self.deficits[index] <= 0:
                self.deficits[index] += self.quantum
                self.old.append(source.pop(0))
                continue
            codel = self.queues[index]
            packet = codel.dequeue(now)
            if packet is None:
                source.pop(0)
                if source is self.new and self.old:
                    self.old.append(index)
                continue
            self.deficits[index] -= packet.size
            self.sojourn = now - packet.entered
            self.ce_threshold(packet, now)
            return packet
        return None

    def ce_threshold(self, packet: Packet, now: Fraction) -> None:
        """Mark what waited longer than the threshold, if CoDel has not (section 5.2.7)."""
        threshold = self.parameters.get("ce_threshold")
        marked = self.log.marks and self.log.marks[-1][0] == packet.number
        if threshold and packet.capable and not marked and self.sojourn > quantity(threshold):
            self.log.mark(packet, now)

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait."""
        return [packet for queue in self.queues.values() for packet in queue.queue]

    def state(self) -> dict[str, Fraction]:
        """Names of the reference page."""
        drops = sum(row[2] == "forced" for row in self.log.drops)
        counts = {"new_queues": len(self.new), "old_queues": len(self.old), "codel_drops": drops}
        counts |= self.counters | {"marks": len(self.log.marks)}
        return {"sojourn_s": self.sojourn} | {key: Fraction(n) for key, n in counts.items()}
