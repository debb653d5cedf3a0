"""The state of a BBR over a run, as test cases of draft-ietf-ccwg-bbr look at it.

A control shows its state by these probes of its series: `state` (0 STARTUP, 1 DRAIN, 2 DOWN,
3 CRUISE, 4 REFILL and 5 UP of ProbeBW, 6 PROBE_RTT), `pacing_gain`, `full_bandwidth`,
`bandwidth_bps`, `max_bandwidth_bps`, `min_rtt_s`, `inflight_bytes`, `extra_acked_bytes`, and while
there is such a bound `inflight_longterm_bytes`, `inflight_shortterm_bytes` and
`bandwidth_shortterm_bps`. One without `full_bandwidth` shows none, and is judged by what is seen of
it from outside, where a case can be.

State is sampled, so that times and amounts in flight are known to a sample; rounds are counted by
the smoothed round-trip time.
"""

# ruff: noqa: TID253 (who reads series has imported numpy)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from forebay.run.measured import Finding, Recording

__all__ = [
    "CLOSE", "CRUISE", "DOWN", "DRAIN", "HIDDEN", "LATE_ROUNDS", "MSS", "NAMES", "PAYLOAD",
    "PROBE_BW", "PROBE_RTT", "REFILL", "STARTUP", "UP", "Stay", "Trace", "inapplicable", "mbps",
    "passes", "share_lost",
]  # fmt: skip

STARTUP, DRAIN, DOWN, CRUISE, REFILL, UP, PROBE_RTT = range(7)
NAMES = ("STARTUP", "DRAIN", "DOWN", "CRUISE", "REFILL", "UP", "PROBE_RTT")
PROBE_BW = (DOWN, CRUISE, REFILL, UP)

MSS = 1448.0
PACKET = 1500.0
PAYLOAD = MSS / PACKET

CLOSE = 0.02
"""How close the estimated bandwidth is to that of the link: "within 2%"."""
LATE_ROUNDS = 2.5
"""Rounds by which a transition may come after it is due: a round ends with the first
acknowledgement of what was sent in it, and the smoothed round-trip time lags behind a queue that
grows."""
SHOWN = 4
"""Transitions before and after an event in its time line."""


class Stay(NamedTuple):
    """A stay in a state: from the sample `first` to before `end`, which is that of the next."""

    state: int
    first: int
    end: int
    ends: bool


class Trace:
    """What was recorded of the flow and its bottleneck, with the state's stays."""

    def __init__(self, run: Recording) -> None:
        self.run = run
        self._flow = run.series("flows.bulk")
        self._link = run.series("links.bottleneck")
        self.time: Any = self._flow["time_s"]
        self.dt = float(self.time[1] - self.time[0])
        self.rate = run.parameters["rate"]
        self.per_rtt = max(1, round(run.parameters["rtt"] / self.dt))
        self.visible = "full_bandwidth" in self._flow
        # What a sender has not had acknowledged counts what was lost as well.
        outside = MSS * self._flow["mean_flight_packets"]
        self.flight = self._flow.get("inflight_bytes", outside)
        self.cwnd = self._flow["mean_cwnd_bytes"]
        self.srtt = self._flow["mean_srtt_s"]
        self.drops = np.cumsum(self._link["drops"])
        self.stays = list(self._stays()) if self.visible else []

    def column(self, name: str) -> Any:
        """A series of the flow; without values if it never had one."""
        return self._flow.get(name, np.full(len(self.time), np.nan))

    def link(self, name: str) -> Any:
        """A series of the bottleneck."""
        return self._link[name]

    def _stays(self) -> Iterator[Stay]:
        # An idle flow shows nothing, and stays in its state.
        state = self.column("state").copy()
        known = np.flatnonzero(~np.isnan(state))
        first = int(known[0]) if len(known) else len(state)
        latest = np.maximum.accumulate(np.where(np.isnan(state), -1, np.arange(len(state))))
        state[first:] = state[latest[first:]]
        for at in range(first, len(state)):
            if at + 1 == len(state) or state[at + 1] != state[at]:
                yield Stay(int(state[at]), first, at + 1, at + 1 < len(state))
                first = at + 1

    def of(self, *states: int, after: float = 0.0) -> list[Stay]:
        """The stays in some states that begin after a time and end before the run does."""
        return [
            stay
            for stay in self.stays
            if stay.state in states and stay.ends and self.time[stay.first] >= after
        ]

    def next(self, stay: Stay) -> int | None:
        """The state after a stay; none at the end."""
        at = self.stays.index(stay) + 1
        return self.stays[at].state if at < len(self.stays) else None

    def stay(self, at: int) -> Stay:
        """The stay that a sample is in."""
        return next(stay for stay in self.stays if stay.end > at)

    def drains(self, stay: Stay, by: int) -> bool:
        """Whether a stay is followed by DRAIN or DOWN (`by`), or with no more than the BDP in
        flight by what follows that: an acknowledgement can take a flow through several states, of
        which a series shows the last."""
        after = self.next(stay)
        drained = self.flight[stay.end] <= self.bdp(stay.end) + self.slack()
        return after == by or (after in (DOWN, CRUISE) and drained)

    def rounds(self, first: int, end: int) -> float:
        """Round trips between two samples."""
        srtt = self.srtt[first:end]
        return float(np.sum(self.dt / srtt[srtt > 0.0]))

    def index(self, time: float) -> int:
        """The first sample at or after a time."""
        return int(np.searchsorted(self.time, time))

    def bdp(self, at: int) -> float:
        """BBRInflight(1.0): the product of bandwidth and least round-trip time, at least four
        segments."""
        product = self.column("bandwidth_bps")[at] * self.column("min_rtt_s")[at] / 8.0
        return max(float(product), 4.0 * MSS)

    def slack(self) -> float:
        """What can arrive or leave in a sample, and a segment: how well an amount in flight is
        known."""
        return self.rate * self.dt / 8.0 + 2.0 * MSS

    def lost(self, first: int, end: int) -> float:
        """Packets that the bottleneck lost between two samples."""
        return float(self.drops[min(end, len(self.drops) - 1)] - self.drops[first])

    def fails(self, at: int, told: str) -> Finding:
        """A failure at a sample, with the state around it."""
        at = min(at, len(self.time) - 1)
        near = next((n for n, stay in enumerate(self.stays) if stay.end > at), len(self.stays))
        shown = self.stays[max(0, near - SHOWN) : near + SHOWN]
        line = ", ".join(f"{self.time[stay.first]:.3f} {NAMES[stay.state]}" for stay in shown)
        return Finding(0.0, f"at {self.time[at]:.3f} s: {told}" + (f" [{line}]" if line else ""))


def passes(told: str) -> Finding:
    """A case that is passed."""
    return Finding(1.0, told)


def inapplicable(told: str) -> Finding:
    """A case that this run does not decide."""
    return Finding(None, told)


HIDDEN = inapplicable("the control shows no state, and the case is not seen from outside")


def mbps(value: float) -> str:
    """A rate in Mbit/s."""
    return f"{value / 1e6:.3g} Mbit/s"


def share_lost(trace: Trace, at: int) -> float:
    """Packets that the bottleneck lost from a sample on, of those that arrived."""
    sent = float(np.sum(trace.link("arrived_packets")[at:]))
    return trace.lost(at, len(trace.time) - 1) / max(1.0, sent)
