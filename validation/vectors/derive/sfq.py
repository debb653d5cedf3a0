"""SFQ as McKenney (1990) and Linux have it, without perturbation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from link import Log, Packet, quantity


class Sfq:
    """Queues by flow in one ring."""

    def __init__(self, parameters: dict[str, Any], log: Log) -> None:
        """All queues empty."""
        get = parameters.get
        self.parameters = parameters
        self.quantum = quantity(get("quantum", "1514 B"))
        self.depth, self.head_drop = get("depth", 127), get("head_drop", False)
        self.limit = get("limit", "127 packets")
        self.log = log
        self.queues: dict[int, list[Packet]] = {}
        self.allotments: dict[int, Fraction] = {}
        self.ring: list[int] = []
        self.counters = dict.fromkeys(("activations", "depth_drops", "overflow_drops"), 0)
        self.counters["collisions"] = 0

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """Append to its queue, unless that is full; then make room if there is too much."""
        index = self.key(packet) % self.parameters.get("queues", 1024)
        queue = self.queues.setdefault(index, [])
        full = len(queue) >= self.depth
        if full and not self.head_drop:
            self.counters["depth_drops"] += 1
            self.log.drop(packet, now, "overflow")
            return
        if queue and self.key(queue[-1]) != self.key(packet):
            self.counters["collisions"] += 1
        queue.append(packet)
        if index not in self.ring:
            self.ring.append(index)
            self.allotments[index] = self.quantum
            self.counters["activations"] += 1
        if full:
            self.counters["depth_drops"] += 1
            self.drop(index, now)
        while idle is None and self.too_much():
            self.counters["overflow_drops"] += 1
            self.drop(max(self.queues, key=lambda index: len(self.queues[index])), now)

    def key(self, packet: Packet) -> int:
        """Returns the key of a queue: a 5-tuple, or a source host."""
        if self.parameters.get("keys") == "src" and packet.hosts is not None:
            return packet.hosts[packet.ack]
        return 2 * packet.flow + packet.ack

    def too_much(self) -> bool:
        """Returns True if more waits than may."""
        sizes = [packet.size for packet in self.waiting()]
        number = len(sizes) if self.limit.endswith("packets") else sum(sizes)
        return number > quantity(self.limit)

    def drop(self, index: int, now: Fraction) -> None:
        """Drop the first or the last packet of a queue."""
        packet = self.queues[index].pop(0 if self.head_drop else -1)
        self.log.drop(packet, now, "overflow")
        if not self.queues[index]:
            self.ring.remove(index)

    def dequeue(self, now: Fraction) -> Packet | None:
        """The next packet in turn; an empty queue leaves the ring at once."""
        while self.ring:
            index = self.ring[0]
            if self.allotments[index] <= 0:
                self.allotments[index] += self.quantum
                self.ring.append(self.ring.pop(0))
                continue
            packet = self.queues[index].pop(0)
            self.allotments[index] -= packet.size
            if not self.queues[index]:
                self.ring.pop(0)
            return packet
        return None

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait."""
        return [packet for queue in self.queues.values() for packet in queue]

    def state(self) -> dict[str, Fraction]:
        """Names of the reference page."""
        counts = self.counters | {"active_queues": len(self.ring)}
        return {name: Fraction(count) for name, count in counts.items()}
