"""PIE as RFC 8033, appendix A, defines it, with the enhancements of its section 5 as options.

Delays are measured by timestamps (section 4.3): that of the packet that left last, and 0 while none
waits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from link import Log, Packet, fits, quantity


def number(value: float | int) -> Fraction:
    """A number of a scenario, as it is written."""
    return Fraction(str(value))


class Pie:
    """One queue. Where chance decides, only probabilities of 0 and 1 are accepted."""

    def __init__(self, parameters: dict[str, Any], log: Log) -> None:
        """An empty queue."""
        get = parameters.get
        self.target = quantity(get("target", "15 ms"))
        self.interval = quantity(get("update_interval", "15 ms"))
        self.max_burst = quantity(get("max_burst", "150 ms"))
        self.alpha, self.beta = number(get("alpha", 0.125)), number(get("beta", 1.25))
        self.mean_packet = quantity(get("mean_packet", "1024 B"))
        self.mark_limit = number(get("mark_limit", 0.1))
        self.given = parameters
        self.log = log
        self.queue: list[Packet] = []
        self.p, self.former, self.burst = Fraction(0), Fraction(0), Fraction(0)
        self.due = self.interval
        self.sum = Fraction(0)
        self.sojourn = Fraction(0)
        self.by_rate = get("delay", "timestamps") == "departure_rate"
        self.threshold = quantity(get("rate_threshold", "16384 B"))
        self.start: Fraction | None = None
        self.count, self.average = 0, Fraction(0)
        self.active = "active_from" not in parameters

    def size(self) -> int:
        """Bytes that wait."""
        return sum(packet.size for packet in self.queue)

    def delay(self) -> Fraction:
        """Returns the known delay (section 4.3, or section 5.2 by the departure rate)."""
        if self.by_rate:
            return self.size() * self.average / self.threshold
        return self.sojourn if self.queue else Fraction(0)

    def scale(self) -> Fraction:
        """The factor of a step for the current probability (section 4.2)."""
        for exponent, divisor in enumerate((2048, 512, 128, 32, 8, 2)):
            if self.p < Fraction(1, 10 ** (6 - exponent)):
                return Fraction(1, divisor)
        return Fraction(1)

    def update(self, now: Fraction) -> None:
        """The updates that are due (appendix A, calculate_drop_prob)."""
        while self.due <= now:
            if not self.active:
                self.due += self.interval
                continue
            delay = self.delay()
            step = self.alpha * (delay - self.target) + self.beta * (delay - self.former)
            step *= self.scale()
            if self.given.get("cap", True) and self.p >= Fraction(1, 10):
                step = min(step, Fraction(2, 100))
            high = self.given.get("high_delay")
            if high and delay > quantity(high):
                step += Fraction(2, 100)
            self.p += step
            if delay < self.target / 2 and self.former < self.target / 2:
                self.p *= Fraction(98, 100)
            self.p = min(max(self.p, Fraction(0)), Fraction(1))
            self.former = delay
            self.burst = max(self.burst - self.interval, Fraction(0))
            self.due += self.interval

    def early(self, size: int) -> bool:
        """Returns True if a packet that arrives is dropped early (appendix A, drop_early)."""
        if self.former < self.target / 2 and self.p < Fraction(2, 10):
            return False
        if self.size() <= 2 * self.mean_packet:
            return False
        p = self.p
        if self.given.get("bytemode", False):
            p *= min(size / self.mean_packet, Fraction(1))
        if p == 0:
            self.sum = Fraction(0)
        self.sum += p
        derandomize = self.given.get("derandomize", True)
        if derandomize and self.sum < Fraction(85, 100):
            return False
        if not (derandomize and self.sum >= Fraction(85, 10)):
            assert p in (0, 1), f"{p} is left to chance"
            if p == 0:
                return False
        self.sum = Fraction(0)
        return True

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """Admit, mark or drop (appendix A, enque)."""
        self.update(now)
        if idle is None and not fits(self.given.get("limit"), packet.size, self.queue):
            self.sum = Fraction(0)
            self.log.drop(packet, now, "overflow")
            return
        early = self.active and self.burst == 0 and self.early(packet.size)
        self.turn_on_or_off()
        if early:
            if not (self.given.get("ecn", False) and packet.capable and self.p <= self.mark_limit):
                self.log.drop(packet, now, "early")
                return
            self.log.mark(packet, now)
        self.queue.append(packet)

    def turn_on_or_off(self) -> None:
        """Renew the burst allowance; become inactive or active (sections 4.4 and 5.3)."""
        quiet = self.delay() < self.target / 2 and self.former < self.target / 2
        if self.active and self.p == 0 and quiet:
            self.burst = self.max_burst
            self.active = "active_from" not in self.given
        if not self.active and self.size() >= quantity(self.given["active_from"]):
            self.active, self.burst = True, self.max_burst
            self.p, self.former, self.sum = Fraction(0), Fraction(0), Fraction(0)

    def departed(self, packet: Packet, now: Fraction) -> None:
        """Measure the departure rate (section 5.2, appendix B)."""
        if self.start is not None:
            self.count += packet.size
            if self.count >= self.threshold:
                taken, weight = now - self.start, min(self.threshold / 2**16, Fraction(1))
                first = self.average == 0
                self.average = taken if first else taken * weight + self.average * (1 - weight)
                self.start = None
        if self.start is None and self.size() >= self.threshold:
            self.start, self.count = now, 0

    def dequeue(self, now: Fraction) -> Packet | None:
        """The next packet."""
        self.update(now)
        packet = self.queue.pop(0)
        self.sojourn = now - packet.entered
        self.departed(packet, now)
        return packet

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait."""
        return self.queue

    def state(self) -> dict[str, Fraction]:
        """Names of the reference page."""
        return {
            "drop_probability": self.p,
            "sojourn_s": self.sojourn,
            "burst_allowance_s": self.burst,
        }
