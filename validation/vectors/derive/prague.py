"""Prague as its draft defines it: draft-briscoe-iccrg-prague-congestion-control-04, section 2.4."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from link import quantity

__all__ = ["Prague"]

DIGITS = 10**60


def number(value: float | int) -> Fraction:
    """A number of a scenario, as it is written."""
    return Fraction(str(value))


def rounded(value: Fraction) -> Fraction:
    """`value` to 60 digits: each step of growth would double the length of an exact one."""
    return Fraction(round(value * DIGITS), DIGITS)


@dataclass
class Round:
    """The start of a round trip: its time, and the next segment to be sent then."""

    start: Fraction
    end: int


class Prague:
    """The law of one connection; windows are in bytes."""

    def __init__(self, case: dict[str, Any]):
        """A connection with the first window of a case."""
        get, mss, threshold = case["parameters"].get, case["mss_bytes"], case.get("ssthresh_bytes")
        self.rtt = Fraction(case["rtt_ns"], 10**9)
        self.gain = number(get("gain", 0.0625))
        self.initial_share = number(get("initial_share", 1.0))
        self.reference = quantity(get("reference_rtt", "25 ms"))
        self.transition = get("rtt_transition", 500)
        self.beta = number(get("beta", 0.5))
        self.least = number(get("least_window", 2.0)) * mss
        self.mss = mss
        self.window = Fraction(case["window_bytes"])
        self.threshold = threshold and Fraction(threshold)
        self.share: Fraction | None = None
        self.arrived = self.marked = 0
        self.averaged = Round(Fraction(0), 0)
        self.reduced: Round | None = None
        self.credit = Fraction(0)
        self.srtt: Fraction | None = None
        self.rounds = self.round_end = self.una = self.outstanding = 0

    @property
    def slow_start(self) -> bool:
        """Returns True if the window is below the threshold."""
        return self.threshold is None or self.window < self.threshold

    @property
    def virtual(self) -> Fraction:
        """Section 2.4.4: the reference, once enough round trips have passed since slow start."""
        assert self.srtt is not None
        independent = not self.slow_start and self.rounds >= self.transition
        return max(self.srtt, self.reference) if independent else self.srtt

    def _passed(self, since: Round, now: Fraction) -> bool:
        """Returns True if both a window of data and a virtual round trip are over."""
        return self.una > since.end and now - since.start >= self.virtual

    def _round(self, now: Fraction) -> Round:
        return Round(now, self.una + self.outstanding)

    def acknowledge(self, now: Fraction, row: dict[str, int]) -> None:
        """An acknowledgement, with what it reports."""
        acked, marked = row.get("acked_bytes", self.mss), row.get("marked_bytes", 0)
        self.una += -(-acked // self.mss)
        self.outstanding = row["outstanding"]
        self.srtt = self.rtt
        if self.una > self.round_end:
            self.round_end = self.una + self.outstanding
            self.rounds += not self.slow_start
        self._average(now, acked, marked)
        # Section 2.4.1: what arrived unmarked, also in the round trip after a reduction.
        unmarked = max(min(acked, self._given()) - marked, 0)
        if self.slow_start:
            self.window += min(unmarked, self.mss)
        else:
            ratio = self.srtt / self.virtual
            self.window = rounded(self.window + ratio**2 * unmarked * self.mss / self.window)
        if marked:
            self._mark(now)

    def _average(self, now: Fraction, acked: int, marked: int) -> None:
        """Section 2.4.2: the share of what was marked, 1 with the first mark."""
        if self.share is None:
            if marked:
                self.share, self.averaged = self.initial_share, self._round(now)
                self.arrived = self.marked = 0
            return
        self.arrived, self.marked = self.arrived + acked, self.marked + marked
        if self._passed(self.averaged, now):
            latest = min(Fraction(self.marked, self.arrived), Fraction(1))
            self.share = rounded(self.share + self.gain * (latest - self.share))
            self.averaged, self.arrived, self.marked = self._round(now), 0, 0

    def _mark(self, now: Fraction) -> None:
        """Section 2.4.2: half the share, once in a virtual round trip."""
        if self.reduced and not self._passed(self.reduced, now):
            return
        share = self.initial_share if self.share is None else self.share
        left = max(self.window * (1 - share / 2), min(self.least, self.window))
        self.credit, self.window = self.window - left, left
        self.threshold = max(left, Fraction(2 * self.mss))
        self.reduced = self._round(now)

    def signal(self, now: Fraction, kind: str, flight: int) -> None:
        """Section 2.4.3: a loss takes what is in flight to its half, with what marks took."""
        again = self.reduced is not None and not self._passed(self.reduced, now)
        credit = self.credit if again else 0
        left = min((flight + credit) * self.beta, Fraction(flight))
        self.threshold = max(left, Fraction(2 * self.mss))
        self.window = Fraction(self.mss) if kind == "timeout" else self.threshold
        self.credit, self.reduced = Fraction(0), self._round(now)

    def _given(self) -> int:
        """The window in whole segments."""
        return ceil(self.window / self.mss) * self.mss

    def state(self) -> dict[str, Fraction]:
        """Its named quantities."""
        assert self.srtt is not None
        rate = (2 if self.slow_start else 1) * self.window / self.srtt
        return {
            "cwnd_bytes": Fraction(self._given()),
            "ssthresh_bytes": self.threshold or Fraction(0),
            "fractional_window_bytes": self.window,
            "marked_share": self.share or Fraction(0),
            "virtual_rtt_s": self.virtual,
            "pacing_rate_bps": 8 * rate,
        }
