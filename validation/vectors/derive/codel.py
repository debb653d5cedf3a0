"""CoDel as RFC 8289, section 5, defines it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from link import Log, Packet, fits, quantity, root


class CoDel:
    """One queue. `drop_next` is exact but for square roots, which have 40 digits."""

    def __init__(self, parameters: dict[str, Any], log: Log) -> None:
        """An empty queue."""
        self.target = quantity(parameters.get("target", "5 ms"))
        self.interval = quantity(parameters.get("interval", "100 ms"))
        self.maxpacket = quantity(parameters.get("mtu", "1500 B"))
        self.ecn = parameters.get("ecn", False)
        self.limit = parameters.get("limit")
        self.log = log
        self.queue: list[Packet] = []
        self.first_above: Fraction | None = None
        self.dropping = False
        self.drop_next = Fraction(0)
        self.count = 0
        self.lastcount = 0
        self.sojourn = Fraction(0)

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """Tail drop."""
        if idle is not None or fits(self.limit, packet.size, self.queue):
            self.queue.append(packet)
        else:
            self.log.drop(packet, now, "overflow")

    def head(self, now: Fraction) -> tuple[Packet | None, bool]:
        """The packet at the head, removed, and whether it may be dropped (section 5.6)."""
        if not self.queue:
            self.first_above = None
            return None, False
        packet = self.queue.pop(0)
        self.sojourn = now - packet.entered
        if self.sojourn < self.target or sum(p.size for p in self.queue) <= self.maxpacket:
            self.first_above = None
            return packet, False
        if self.first_above is None:
            self.first_above = now + self.interval
            return packet, False
        return packet, now >= self.first_above

    def control_law(self, time: Fraction) -> Fraction:
        """Returns the time at which the drop after one at `time` is due (section 5.5)."""
        return time + self.interval / root(Fraction(self.count))

    def dequeue(self, now: Fraction) -> Packet | None:
        """The next packet, after the drops that are due before it (section 5.5)."""
        packet, ok_to_drop = self.head(now)
        if self.dropping:
            return self.keep_dropping(packet, ok_to_drop, now)
        if packet is None or not ok_to_drop:
            return packet
        if self.ecn and packet.capable:
            self.log.mark(packet, now)
        else:
            self.log.drop(packet, now, "forced")
            packet, _ = self.head(now)
        self.dropping = True
        delta = self.count - self.lastcount
        recent = now - self.drop_next < 16 * self.interval
        self.count = delta if delta > 1 and recent else 1
        self.drop_next = self.control_law(now)
        self.lastcount = self.count
        return packet

    def keep_dropping(self, packet: Packet | None, ok: bool, now: Fraction) -> Packet | None:
        """The dropping state, until it ends or no drop is due."""
        if not ok:
            self.dropping = False
            return packet
        while self.dropping and now >= self.drop_next:
            assert packet is not None
            self.count += 1
            if self.ecn and packet.capable:
                self.log.mark(packet, now)
                self.drop_next = self.control_law(self.drop_next)
                return packet
            self.log.drop(packet, now, "forced")
            packet, ok = self.head(now)
            if ok:
                self.drop_next = self.control_law(self.drop_next)
            else:
                self.dropping = False
        return packet

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait."""
        return self.queue

    def state(self) -> dict[str, Fraction]:
        """Names of the reference page."""
        return {
            "sojourn_s": self.sojourn,
            "dropping": Fraction(self.dropping),
            "drop_count": Fraction(self.count),
        }
