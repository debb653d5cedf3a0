"""DualPI2 as RFC 9332, appendix A, and Linux define it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from link import Log, Packet, fits, quantity


def number(value: float | int) -> Fraction:
    """A number of a scenario, as it is written."""
    return Fraction(str(value))


class Lane:
    """The L or the C queue."""

    def __init__(self) -> None:
        """An empty queue."""
        self.queue: list[Packet] = []
        self.steps: list[bool] = []
        self.sum = Fraction(0)

    def delay(self, time: Fraction) -> Fraction:
        """Returns the time that the packet at the head has waited."""
        return time - self.queue[0].entered if self.queue else Fraction(0)

    def recur(self, likelihood: Fraction) -> bool:
        """Appendix A.1, recur(); certain where the likelihood is 1."""
        if likelihood >= 1:
            return True
        self.sum += likelihood
        if self.sum > 1:
            self.sum -= 1
            return True
        return False


class DualPi2:
    """Two queues. Where chance decides, only probabilities of 0 and 1 are accepted."""

    def __init__(self, parameters: dict[str, Any], log: Log) -> None:
        """Both queues empty."""
        get = parameters.get
        self.target = quantity(get("target", "15 ms"))
        self.interval = quantity(get("update_interval", "16 ms"))
        self.alpha, self.beta = number(get("alpha", 0.16)), number(get("beta", 3.2))
        self.k = number(get("coupling", 2.0))
        self.step, self.ramp = quantity(get("step", "1 ms")), quantity(get("ramp", "0 s"))
        self.step_packets = get("step_packets")
        self.share = get("classic_share", 10)
        self.mtu = quantity(get("mtu", "1500 B"))
        self.given = parameters
        self.log = log
        self.low, self.classic = Lane(), Lane()
        self.p, self.former, self.due = Fraction(0), Fraction(0), self.interval
        self.credit = self.initial_credit()
        self.counters = dict.fromkeys(("step_marks", "coupled_marks", "aqm_drops"), 0)

    def initial_credit(self) -> Fraction:
        """MTU times the difference of the weights."""
        return self.mtu * (2 * self.share - 100) / 100

    def update(self, now: Fraction) -> None:
        """The updates that are due (appendix A.1, dualpi2_update)."""
        while self.due <= now:
            delay = self.classic.delay(self.due)
            if self.given.get("delay", "larger") == "larger":
                delay = max(delay, self.low.delay(self.due))
            self.p += self.alpha * (delay - self.target) + self.beta * (delay - self.former)
            most = Fraction(1) if self.given.get("drop_overload", True) else 1 / self.k
            self.p = min(max(self.p, Fraction(0)), most)
            self.former = delay
            self.due += self.interval

    def hit(self, lane: Lane, probability: Fraction) -> bool:
        """Returns True if an event of this probability happens."""
        if self.given.get("decisions", "random") == "recurrent":
            return lane.recur(probability)
        assert probability in (0, 1) or probability > 1, f"{probability} is left to chance"
        return probability > 0

    def is_low(self, packet: Packet) -> bool:
        """Returns True if a packet has the L queue."""
        low = ("ect1", "ce") if self.given.get("low_latency", "ect1") == "ect1" else None
        return packet.ecn in low if low else packet.capable

    def short(self) -> bool:
        """Returns True if less than two MTUs wait."""
        return sum(packet.size for packet in self.waiting()) < 2 * self.mtu

    def fate(self, packet: Packet, native: Fraction, coupled: bool) -> str:
        """Returns the fate of a packet by the probabilities."""
        overload = self.k * self.p > 1
        coupled = coupled and not self.short()
        if not self.is_low(packet):
            if not coupled or not self.hit(self.classic, self.p**2):
                return "pass"
            return "mark" if packet.capable and not overload else "drop"
        if coupled and overload:
            drops = self.given.get("drop_overload", True) and self.hit(self.low, self.p**2)
            return "drop" if drops else "mark"
        likelihood = max(native, self.k * self.p) if coupled else native
        return "mark" if self.hit(self.low, likelihood) else "pass"

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """Classify and append."""
        self.update(now)
        if idle is not None:
            self.credit = self.initial_credit()
        if idle is None and not fits(self.given.get("limit"), packet.size, self.waiting()):
            self.log.drop(packet, now, "overflow")
            return
        if self.given.get("drop_early", False):
            fate = self.fate(packet, Fraction(0), True)
            self.counters["coupled_marks"] += fate == "mark"
            if fate == "drop":
                self.counters["aqm_drops"] += 1
                self.log.drop(packet, now, "early")
                return
            if fate == "mark":
                self.log.mark(packet, now)
        lane = self.low if self.is_low(packet) else self.classic
        lane.steps.append(len(lane.queue) >= self.given.get("min_step_queue", 0))
        lane.queue.append(packet)

    def native(self, packet: Packet, step: bool, now: Fraction) -> Fraction:
        """The probability of the L queue's own AQM (laqm)."""
        if not step:
            return Fraction(0)
        if self.step_packets is not None:
            return Fraction(len(self.low.queue) > self.step_packets)
        excess = now - packet.entered - self.step
        if self.ramp == 0 or excess <= 0:
            return Fraction(excess > 0)
        return min(excess / self.ramp, Fraction(1))

    def dequeue(self, now: Fraction) -> Packet | None:
        """The next packet by weighted round robin, after drops."""
        self.update(now)
        while self.waiting():
            both = bool(self.low.queue and self.classic.queue)
            low = bool(self.low.queue) and (not self.classic.queue or self.credit <= 0)
            lane = self.low if low else self.classic
            packet, step = lane.queue.pop(0), lane.steps.pop(0)
            native = self.native(packet, step, now) if low else Fraction(0)
            fate = self.fate(packet, native, not self.given.get("drop_early", False))
            if fate == "drop":
                self.counters["aqm_drops"] += 1
                self.log.drop(packet, now, "early")
                continue
            if fate == "mark":
                self.counters["step_marks" if native > 0 else "coupled_marks"] += 1
                self.log.mark(packet, now)
            if both:
                weight = self.share if low else self.share - 100
                self.credit += Fraction(weight * packet.size, 100)
            return packet
        return None

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait."""
        return self.low.queue + self.classic.queue

    def state(self) -> dict[str, Fraction]:
        """Names of the reference page."""
        counts = {key: Fraction(value) for key, value in self.counters.items()}
        return counts | {
            "probability": self.p,
            "delay_s": self.former,
            "l_packets": Fraction(len(self.low.queue)),
            "c_packets": Fraction(len(self.classic.queue)),
            "credit_bytes": self.credit,
        }
