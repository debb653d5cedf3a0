"""Queues that hold packets back: token bucket filter and hierarchical token bucket."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from link import Log, Packet, fits, quantity

__all__ = ["Htb", "Tbf"]


class Bucket:
    """Tokens in bytes, which may be owed."""

    def __init__(self, rate: Fraction, depth: Fraction) -> None:
        """A full bucket."""
        self.rate, self.depth, self.level, self.at = rate / 8, depth, depth, Fraction(0)

    def tokens(self, now: Fraction) -> Fraction:
        """Returns the tokens in the bucket."""
        return min(self.depth, self.level + self.rate * (now - self.at))

    def take(self, size: int, now: Fraction) -> None:
        """Take tokens out."""
        self.level, self.at = self.tokens(now) - size, now

    def covers_at(self, size: int, now: Fraction) -> Fraction:
        """Returns the time at which it has tokens for `size`."""
        return now + max(Fraction(0), size - self.tokens(now)) / self.rate


class Tbf:
    """Linux tc-tbf(8): a packet leaves when both buckets have tokens for it.

    Around priority the head is the first packet of the first class that has one, at each instant
    anew (net/sched/sch_prio.c: prio_peek).
    """

    def __init__(self, parameters: dict[str, Any], link_bps: int, log: Log) -> None:
        """Full buckets."""
        self.link_bps, self.ends = link_bps, Fraction(0)
        rates = [("rate", "burst"), ("peak_rate", "peak_burst")]
        given = [(rate, depth) for rate, depth in rates if rate in parameters]
        self.buckets = [
            Bucket(quantity(parameters[rate]), quantity(parameters.get(depth, "1500 B")))
            for rate, depth in given
        ]
        queue = parameters["queue"]
        bands = queue["priority"]["classes"] if "priority" in queue else [queue]
        self.limits = [None if band == "droptail" else band["droptail"]["limit"] for band in bands]
        self.log = log
        self.bands: list[list[Packet]] = [[] for _ in bands]

    def enqueue(self, packet: Packet, now: Fraction, idle: object) -> None:
        """Drop what could never leave, and what finds no room and no tokens."""
        free = now >= self.ends and not self.waiting()
        band = min(packet.precedence, len(self.bands) - 1)
        leaves = free and self.ready_for(packet, now) == now
        if any(packet.size > bucket.depth for bucket in self.buckets):
            self.log.drop(packet, now, "shaper")
        elif leaves or fits(self.limits[band], packet.size, self.bands[band]):
            self.bands[band].append(packet)
        else:
            self.log.drop(packet, now, "overflow")

    def ready_for(self, packet: Packet, now: Fraction) -> Fraction:
        """Returns the time at which there are tokens for `packet`."""
        return max(bucket.covers_at(packet.size, now) for bucket in self.buckets)

    def ready(self, now: Fraction) -> Fraction:
        """Returns the time at which the head may leave."""
        return self.ready_for(self.waiting()[0], now)

    def dequeue(self, now: Fraction) -> Packet | None:
        """The head, if there are tokens for it."""
        if not self.waiting() or self.ready(now) > now:
            return None
        packet = next(band for band in self.bands if band).pop(0)
        self.ends = now + Fraction(8 * packet.size, self.link_bps)
        for bucket in self.buckets:
            bucket.take(packet.size, now)
        return packet

    def waiting(self) -> list[Packet]:
        """The queue, from its head."""
        return [packet for band in self.bands for packet in band]

    def state(self) -> dict[str, Fraction]:
        """Nothing but the backlog."""
        return {}


class Class:
    """A class of the tree."""

    def __init__(self, row: dict[str, Any], parent: Class | None) -> None:
        """Full buckets."""
        rate = quantity(row["rate"])
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1
        self.children = 0
        self.rate = Bucket(rate, quantity(row.get("burst", "1600 B")))
        self.ceil = Bucket(quantity(row.get("ceil", row["rate"])), quantity("1600 B"))
        self.priority = row.get("priority", 0)
        usual = min(max(rate // 80, Fraction(1000)), Fraction(200_000))
        self.quantum = quantity(row["quantum"]) if "quantum" in row else usual
        self.deficits: dict[int, Fraction] = {}
        self.queue: list[Packet] = []

    def chain(self) -> list[Class]:
        """The class and its ancestors."""
        return [self, *(self.parent.chain() if self.parent else [])]


class Htb:
    """Devera 2002: the lowest class within its rate lends, if all below it are within their
    ceilings; of leaves that borrow alike, each a quantum in its turn."""

    def __init__(self, parameters: dict[str, Any], log: Log) -> None:
        """Full buckets."""
        self.log = log
        names: dict[str, Class] = {}
        for row in parameters["classes"]:
            parent = names[row["parent"]] if "parent" in row else None
            names[row["name"]] = Class(row, parent)
            if parent is not None:
                parent.children += 1
        self.classes = list(names.values())
        self.leaves = [one for one in self.classes if not one.children]
        self.deepest = max((one.depth for one in self.classes if one.children), default=0)
        self.turns: dict[tuple[int, int], int] = {}

    def level(self, one: Class) -> int:
        """0 for leaves; of others the greater, the nearer to the root."""
        return self.deepest + 1 - one.depth if one.children else 0

    def enqueue(self, packet: Packet, now: Fraction, idle: object) -> None:
        """Append it to its leaf."""
        self.leaves[packet.precedence].queue.append(packet)

    def lender(self, leaf: Class, now: Fraction) -> int | None:
        """The level that lends to a leaf."""
        for one in leaf.chain():
            if one.ceil.tokens(now) < 0:
                return None
            if one.rate.tokens(now) >= 0:
                return self.level(one)
        return None

    def dequeue(self, now: Fraction) -> Packet | None:
        """The leaf of the lowest level, then of the lowest priority, whose turn it is."""
        busy = [number for number, leaf in enumerate(self.leaves) if leaf.queue]
        levels = {number: self.lender(self.leaves[number], now) for number in busy}
        keys = [
            (level, self.leaves[number].priority)
            for number, level in levels.items()
            if level is not None
        ]
        if not keys:
            return None
        best = min(keys)
        alike = [n for n in busy if (levels[n], self.leaves[n].priority) == best]
        turn = self.turns.get(best, 0)
        number = next((n for n in alike if n >= turn), alike[0])
        self.turns[best] = number
        return self.send(number, best, now)

    def send(self, number: int, key: tuple[int, int], now: Fraction) -> Packet:
        """Charge the packet to its chain, and to the turn of its leaf."""
        leaf, level = self.leaves[number], key[0]
        packet = leaf.queue.pop(0)
        for one in leaf.chain():
            one.ceil.take(packet.size, now)
            if self.level(one) >= level:
                one.rate.take(packet.size, now)
        left = leaf.deficits.get(level, Fraction(0)) - packet.size
        if left < 0:
            left += leaf.quantum
            self.turns[key] = (number + 1) % len(self.leaves)
        leaf.deficits[level] = left
        return packet

    def ready(self, now: Fraction) -> Fraction:
        """Returns the first time at which a bucket that is in debt no longer is."""
        buckets = [bucket for one in self.classes for bucket in (one.rate, one.ceil)]
        times = [bucket.covers_at(0, now) for bucket in buckets]
        return min(time for time in times if time > now)

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait in all leaves."""
        return [packet for leaf in self.leaves for packet in leaf.queue]

    def state(self) -> dict[str, Fraction]:
        """Packets of each leaf."""
        return {f"queue_packets.{i}": Fraction(len(x.queue)) for i, x in enumerate(self.leaves)}
