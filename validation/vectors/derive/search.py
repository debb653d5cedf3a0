"""SEARCH (draft-chung-ccwg-search, section 3, version 3.0), line by line in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["Search"]

W, EXTRA_BINS = 10, 15
THRESH = Fraction(35, 100)


class Search:
    """The bins of a connection; times in seconds, what is delivered in segments."""

    def __init__(self) -> None:
        """A connection that has measured nothing."""
        self.bin: list[Fraction] = []
        self.duration: Fraction | None = None
        self.delivered = self.bin_end = Fraction(0)

    def overshoot(self, now: Fraction, rtt: Fraction, acked: Fraction) -> Fraction | None:
        """Returns the segments to take off the window if an acknowledgement ends slow start."""
        self.delivered += acked
        if self.duration is None:
            self.initial_rtt, self.duration = rtt, rtt * Fraction(7, 2) / W
            self.bin_end, self.delivered = now + self.duration, Fraction(0)
            return None
        if now <= self.bin_end:
            return None
        passed = int((now - self.bin_end) / self.duration) + 1
        self.bin_end += passed * self.duration
        self.bin += [Fraction(0)] * (passed - 1) + [self.delivered]
        self.delivered = Fraction(0)
        current = len(self.bin) - 1
        previous = current - int(rtt / self.duration)
        if previous < W or current - previous > EXTRA_BINS:
            return None
        fraction = rtt % self.duration / self.duration
        expected = 2 * self._sum(previous - W, previous, fraction)
        if expected - self._sum(current - W, current) < THRESH * expected:
            return None
        return self._sum(current - int(2 * self.initial_rtt / self.duration), current)

    def _sum(self, first: int, last: int, fraction: Fraction = Fraction(0)) -> Fraction:
        """Lines 32 to 38, with a fraction of the bins at both ends."""
        middle = sum(self.bin[first + 1 : last], Fraction(0))
        return middle + self.bin[first] * fraction + self.bin[last] * (1 - fraction)
