"""CUBIC (RFC 9438) and what Linux has otherwise (net/ipv4/tcp_cubic.c), in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from search import Search

__all__ = ["Cubic"]

DIGITS = 10**60
MS = Fraction(1, 1000)


def rounded(value: Fraction) -> Fraction:
    """`value` to 60 digits: each step of growth would double the length of an exact one."""
    return Fraction(round(value * DIGITS), DIGITS)


def cube_root(value: Fraction) -> Fraction:
    """The cube root to 60 digits, by bisection on whole numbers."""
    wanted = int(value * DIGITS**3)
    low, high = 0, 1 << (wanted.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= wanted else (low, middle - 1)
    return Fraction(low, DIGITS)


class HyStart:
    """hystart_update of Linux: the state of a connection, times in seconds."""

    def __init__(self) -> None:
        """A connection that has measured nothing."""
        self.delay_min: Fraction | None = None
        self.end = 0
        self.found = False
        self.round_start = self.last_ack = Fraction(0)
        self.delays: list[Fraction] = []

    def ends(self, now: Fraction, rtt: Fraction, window: Fraction, una: int, nxt: int) -> bool:
        """Returns True if an acknowledgement ends slow start at a window in segments; smss is 1."""
        self.delay_min = rtt if self.delay_min is None else min(self.delay_min, rtt)
        if una > self.end:
            self.end, self.round_start, self.last_ack, self.delays = nxt, now, now, []
        if window < 16:
            return False
        self.found = self._train(now, rtt, window) | self._delay(rtt)
        return self.found

    def _train(self, now: Fraction, rtt: Fraction, window: Fraction) -> bool:
        """Acknowledgements at most 2 ms apart, for longer than half of the path and of the wait in
        the host: 4 * 64 KiB at two windows (of segments of 1000 B here) in a round trip."""
        assert self.delay_min is not None
        if now - self.last_ack > 2 * MS:
            return False
        self.last_ack = now
        wait = min(MS, 4 * 65536 * rtt / (2 * 1000 * window))
        return now - self.round_start > (self.delay_min + wait) / 2

    def _delay(self, rtt: Fraction) -> bool:
        """The least of more than eight round-trip times of a round has grown."""
        assert self.delay_min is not None
        self.delays.append(rtt)
        grown = min(max(self.delay_min / 8, 4 * MS), 16 * MS)
        return len(self.delays) > 8 and min(self.delays) > self.delay_min + grown


class Cubic:
    """The law of one connection; windows are in segments, of 1000 B where HyStart is on."""

    C, BETA = Fraction(2, 5), Fraction(7, 10)

    def __init__(self, case: dict[str, Any]):
        """A connection with the first window of a case."""
        get, self.mss = case["parameters"].get, case["mss_bytes"]
        self.by_rfc = get("alpha_law", "linux") == "rfc9438"
        law = get("hystart_law", "linux") if get("hystart", True) else None
        assert law != "rfc9406", "HyStart++ has no model here"
        self.hystart = HyStart() if law == "linux" else None
        self.search = Search() if law == "search" else None
        # Linux: until a loss has told what the path holds, one for 20 acknowledged.
        self.least = Fraction(0 if get("hystart_law", "linux") == "search" else 1, 20)
        self.rtt = Fraction(case["rtt_ns"], 10**9)
        self.window = Fraction(case["window_bytes"], self.mss)
        threshold = case.get("ssthresh_bytes")
        self.threshold = threshold and Fraction(threshold, self.mss)
        self.largest = self.prior = Fraction(0)
        self.start: Fraction | None = None
        self.una = 0

    @property
    def slow_start(self) -> bool:
        """Returns True if the window is below the threshold."""
        return self.threshold is None or self.window < self.threshold

    def acknowledge(self, now: Fraction, row: dict[str, int]) -> None:
        """An acknowledgement, with what it reports."""
        acked = Fraction(row.get("acked_bytes", self.mss), self.mss)
        rtt = Fraction(row["rtt_ns"], 10**9) if "rtt_ns" in row else self.rtt
        self.una += -(-acked.numerator // acked.denominator)
        if self.hystart and not self.hystart.found and self.slow_start:
            following = self.una + row["outstanding"]
            if self.hystart.ends(now, rtt, self.window, self.una, following):
                self.threshold = self.window
        if self.search and self.slow_start:
            overshoot = self.search.overshoot(now, rtt, acked)
            if overshoot is not None:
                self.window -= overshoot
                self.threshold = self.window
        if self.slow_start:
            self.window += min(acked, Fraction(1))
        else:
            self._avoid(now, min(acked, self.window), rtt)

    def _avoid(self, now: Fraction, acked: Fraction, rtt: Fraction) -> None:
        """Sections 4.2 to 4.5 of the RFC."""
        if self.start is None:
            self.start, self.estimate = now, self.window
            self.top = max(self.largest, self.window)
            self.k = cube_root((self.top - self.window) / self.C)
        alpha = 3 * (1 - self.BETA) / (1 + self.BETA)
        if self.by_rfc and self.estimate >= self.prior:
            alpha = Fraction(1)
        window = self.window
        self.estimate = rounded(self.estimate + alpha * acked / window)
        if self._curve(now - self.start) < self.estimate:
            grown = max(self.estimate, window)
        else:
            ahead = self._curve(now - self.start + rtt)
            target = min(max(ahead, window), window * Fraction(3, 2))
            grown = window + (target - window) / window * acked
        least = window + acked * self.least if self.largest == 0 else window
        self.window = rounded(max(grown, least))

    def _curve(self, t: Fraction) -> Fraction:
        return self.C * (t - self.k) ** 3 + self.top

    def signal(self, now: Fraction, kind: str, flight: int) -> None:
        """Sections 4.6 and 4.7: a loss leaves beta of what is in flight."""
        assert kind == "loss", "timeouts have no model here"
        self.prior = self.window
        less = self.window < self.largest
        self.largest = self.window * (1 + self.BETA) / 2 if less else self.window
        self.threshold = self.window = max(Fraction(flight, self.mss) * self.BETA, Fraction(2))
        self.start = None

    def state(self) -> dict[str, Fraction]:
        """Its named quantities."""
        return {
            "cwnd_bytes": self.window * self.mss,
            "ssthresh_bytes": (self.threshold or Fraction(0)) * self.mss,
        }
