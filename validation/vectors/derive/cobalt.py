"""COBALT as Linux (net/sched/sch_cake.c) and Palmei et al. (2019) have it, with exact roots."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from link import Log, Packet, fits, quantity, root


class Cobalt:
    """One queue. Where BLUE decides, only probabilities of 0 and 1 are accepted."""

    def __init__(self, parameters: dict[str, Any], link_bps: int, log: Log) -> None:
        """An empty queue at a link of `link_bps`."""
        get = parameters.get
        packet = 8 * quantity(get("mtu", "1500 B")) / link_bps
        target = quantity(get("target", "5 ms"))
        self.target = max(target, packet * 3 / 2)
        interval = quantity(get("interval", "100 ms")) + self.target - target
        self.interval = max(interval, 2 * self.target)
        self.spared = 4 * packet
        self.increment = Fraction(str(get("increment", 1 / 256)))
        self.decrement = Fraction(str(get("decrement", 1 / 4096)))
        self.ecn, self.limit = get("ecn", False), get("limit")
        self.log = log
        self.queue: list[Packet] = []
        self.count, self.dropping = 0, False
        self.drop_next, self.blue_timer = Fraction(0), Fraction(0)
        self.p_drop = Fraction(0)
        self.sojourn = Fraction(0)

    def control(self, time: Fraction) -> Fraction:
        """Returns the time at which the signal after one at `time` is due."""
        return time + self.interval / root(Fraction(max(self.count, 1)))

    def full(self, now: Fraction) -> None:
        """A packet found no room."""
        if now - self.blue_timer > self.target:
            self.p_drop = min(self.p_drop + self.increment, Fraction(1))
            self.blue_timer = now
        self.dropping, self.drop_next = True, now
        self.count = max(self.count, 1)

    def empty(self, now: Fraction) -> None:
        """The queue was to be served and was empty."""
        if self.p_drop > 0 and now - self.blue_timer > self.target:
            self.p_drop = max(self.p_drop - self.decrement, Fraction(0))
            self.blue_timer = now
        self.dropping = False
        if self.count and now >= self.drop_next:
            self.count -= 1
            self.drop_next = self.control(self.drop_next)

    def decide(self, packet: Packet, now: Fraction) -> str:
        """Decides if a packet that leaves is passed, marked or dropped."""
        sojourn = now - packet.entered
        schedule = now - self.drop_next
        due = self.count > 0 and schedule >= 0
        over = sojourn > self.target and sojourn > self.spared
        if over and not self.dropping:
            self.drop_next = self.control(now)
        self.dropping = over
        if over and not self.count:
            self.count = 1
        fate = "pass"
        if due and self.dropping:
            fate = "mark" if self.ecn and packet.capable else "forced"
            self.count += 1
            self.drop_next = self.control(self.drop_next)
            schedule = now - self.drop_next
        while due and not self.dropping:
            self.count -= 1
            self.drop_next = self.control(self.drop_next)
            schedule = now - self.drop_next
            due = self.count > 0 and schedule >= 0
        if self.p_drop and fate != "forced":
            assert self.p_drop == 1, f"{self.p_drop} is left to chance"
            fate = "early"
        if not self.count:
            self.drop_next = now + self.interval
        elif schedule > 0 and fate in ("pass", "mark"):
            self.drop_next = now
        return fate

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """Tail drop; a link that is idle has found the queue empty when it became so."""
        if idle is not None:
            self.empty(idle)
        if idle is None and not fits(self.limit, packet.size, self.queue):
            self.full(now)
            self.log.drop(packet, now, "overflow")
            return
        self.queue.append(packet)

    def dequeue(self, now: Fraction) -> Packet | None:
        """The next packet, after drops, but for the last, which is not dropped."""
        while self.queue:
            packet = self.queue.pop(0)
            self.sojourn = now - packet.entered
            fate = self.decide(packet, now)
            if fate == "mark":
                self.log.mark(packet, now)
            if fate in ("forced", "early") and self.queue:
                self.log.drop(packet, now, fate)
                continue
            return packet
        return None

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait."""
        return self.queue

    def state(self) -> dict[str, Fraction]:
        """Names of the reference page."""
        return {
            "sojourn_s": self.sojourn,
            "dropping": Fraction(self.dropping),
            "drop_count": Fraction(self.count),
            "blue_probability": self.p_drop,
        }
