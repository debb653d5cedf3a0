"""Readings of series, sampled once in each decay interval: steps of laws, cuts, ramps, bursts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.study.definition import Point, Run
from forebay_studies.rpr.criteria import BURSTY, OFF_S, ON_S, RATES
from forebay_studies.rpr.network import INTERVAL_S, starts

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

PERIOD_S = ON_S + OFF_S
"""From one burst of D to the next."""

ABOUT_A_MS = 10
"""Samples that throughputs are means over: 1.03 ms."""

CUT = 0.25
"""A fall of the allowed rate by more than this part of the line in one step is a cut."""

SETTLED_S = 0.002
"""For so long after a change of D's traffic nothing is said of oscillation."""

QUIET = 3
"""A step is one without message if the neighbour sent no limit in so many samples: what it told
in the one before may still have been under way."""

NEAR = 1e-9
"""Parts of the line by which equal rates differ through rounding."""


def window_of(run: Run) -> tuple[float, float]:
    """The window of measurement in s: whole periods of D from the end of the warm-up on."""
    end = float(run.document["simulated_s"])
    return end - float(run.document["measured_s"]), end


def moving(series: Array, count: int = ABOUT_A_MS) -> Array:
    """Means over `count` samples in a row; entry k begins with sample k."""
    sums = np.concatenate([[0.0], np.cumsum(series)])
    means: Array = (sums[count:] - sums[:-count]) / count
    return means


@dataclass(frozen=True, slots=True)
class Burst:
    """An ON state of D: when it begins and ends, and when the next begins."""

    start: float
    end: float
    next: float


class Samples:
    """The series of one run with F and D; rates are parts of the line."""

    def __init__(self, run: Run, point: Point) -> None:
        """Reads what `run` recorded at `point`."""
        self.scenario = int(point["scenario"])
        self.voq = point.get("law") == "voq" or point["family"] == "model-voq"
        self.line = RATES[str(point["line"])]
        self._tables = run.tables
        self.time = self.span("F", "time_s")
        self.start, self.end = window_of(run)
        self.window: Flags = (self.time > self.start) & (self.time <= self.end)

    def span(self, station: str, column: str) -> Array:
        """A column of the span that leaves a station."""
        return np.asarray(self._tables[f"series/links.ring.outer.{station}"][column], float)

    def throughput(self, flow: str) -> Array:
        """Throughput of a flow at the hub, as shares of the line."""
        series = np.asarray(self._tables[f"series/flows.{flow}"]["throughput_bps"], float)
        shares: Array = series / self.line
        return shares

    def allowed(self) -> Array:
        """Rate that F may send to the hub, 5 spans away under VoQ, as shares of the line."""
        column = "allow_bps.low.5" if self.voq else "allow_bps"
        shares: Array = self.span("F", column) / self.line
        return shares

    def bursts(self) -> list[Burst]:
        """Those whose period lies within the window; none in scenario 3."""
        if self.scenario not in BURSTY:
            return []
        _, first = starts(self.scenario)
        count = int((self.end - first) / PERIOD_S)
        all_of_them = [first + number * PERIOD_S for number in range(count)]
        return [
            Burst(start, start + ON_S, start + PERIOD_S)
            for start in all_of_them
            if start >= self.start
        ]

    def settled(self) -> Array:
        """F's throughputs over a millisecond in which D's traffic does not change, nor did shortly
        before."""
        means = moving(self.throughput("f"))
        begins = self.time[: len(means)] - INTERVAL_S
        ends = begins + ABOUT_A_MS * INTERVAL_S
        if self.scenario not in BURSTY:
            return means[(begins >= self.start) & (ends <= self.end)]
        keep = np.zeros(len(means), bool)
        for burst in self.bursts():
            keep |= (begins >= burst.end + SETTLED_S) & (ends <= burst.next)
        return means[keep]

    def cuts(self) -> list[int]:
        """Samples of the window at which F was cut."""
        falls = -np.diff(self.allowed(), prepend=np.nan)
        return [int(at) for at in np.flatnonzero((falls > CUT) & self.window)]

    def onsets(self) -> list[int]:
        """Samples of the window at which D became congested."""
        congested = self.span("D", "congested")
        began = np.diff(congested, prepend=0.0) > 0.5
        return [int(at) for at in np.flatnonzero(began & self.window)]

    def expected_ramp(self, lp_allow: float = 64.0) -> Array:
        """Allowed rate that the formula makes of that of the sample before; of the first, nothing
        is expected."""
        before = np.concatenate([[np.nan], self.allowed()[:-1]])
        ramped: Array = before + (1.0 - before) / lp_allow
        return ramped

    def without_message(self) -> Flags:
        """Steps of F that no message can have set: E sent no limit for some samples."""
        limited = self.span("E", "told_bps") < (1.0 - NEAR) * self.line
        recent = np.convolve(limited, np.ones(QUIET))[: len(limited)]
        silent: Flags = recent < 0.5
        silent[:QUIET] = False
        return silent

    def ramps(self) -> list[tuple[int, int]]:
        """First and last sample of each rise of F that the window holds: the first was set by a
        message, the others were not."""
        allowed = self.allowed()
        follows = np.abs(allowed - self.expected_ramp()) <= NEAR
        found = []
        first: int | None = None
        for at in np.flatnonzero(self.window):
            if not follows[at]:
                if first is not None and at - 1 > first:
                    found.append((first, int(at) - 1))
                first = int(at)
        if first is not None:
            found.append((first, int(np.flatnonzero(self.window)[-1])))
        return found
