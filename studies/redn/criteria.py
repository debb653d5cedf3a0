"""The thesis's sentences in numbers: its runs, Table 4.1, the words of predicates.

The readings are fixed from the thesis's own words and tables:

- The *beginning* of a phase is its first fifth (10 s of 50 s, 5 s of 25 s); the *steady state* of
  queues, delays, utilisation and drop ratios is the rest.
- A flow *attains* a throughput, or makes it, where its trace reaches that line within the phase:
  the mean of its best five seconds is at least 98 % of it (what grades call exact). Flows "took
  longer time than the others to attain" it (4.1.1), or do so "in a short period" (4.2.1), and their
  throughputs are a "zigzag" then; averages are spoken of only where flows do not attain (3.1.1,
  3.1.2). A flow that sent before is not judged by the beginning of a phase, in which its trace
  still shows the phase before.
- The line is that of Table 4.1 in every phase: "according to Table 4.1 [...] attain the expected
  throughputs" (3.1.1, 3.1.2).
- An *average* of what a flow gets is that of the second half of a phase: 90 % (close) is *very
  close*; what is *well below* is not very close. What a flow gets is counted up to the line: the
  excess that fast flows take is no part of it.
- *Around* a number is within half of it. *Around or below* allows 10 %. *Mostly* is more than half
  of the 1 s samples. *Roughly* 100 % of the link, and *approximately equal*, is within 10 %.
- *Similar* differs by at most 10 % of the smaller; *no bias* is the same between two averages.
- *Greatly*, *resolved*, *extreme*: by a factor of two. *Roughly proportional*: within one.
- A transient is a 1 s sample in the beginning above all of the steady state.
- *Low* of a drop ratio is at most 0.1 %: the thesis calls up to 0.066 % low. Its *norm* is the
  mean.
- *Matched* is within 10 %, *exactly matched* within 2 %.
- *Almost the entire run* is at least 90 % of it.

Sentences on single packets of single runs ("at seconds 1, 15, 29, and 39") are judged on whether
such events occur to the flow they name. Rates are in bit/s, times in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from forebay.study import CLOSE, EXACT, Bounds, Point, Quantities, Truth, at

MBPS = 1e6
REACHED = 1.0 - EXACT
VERY_CLOSE = 1.0 - CLOSE
BEST_S = 5
AROUND = 0.5
MUCH = 0.5
FACTOR = 2.0


def setting(
    network: str = "single",
    gateway: str = "adaptive",
    marking: str = "drop",
    scenario: str = "b-u-o",
) -> Point:
    """One run of the thesis: a grid point of paper.toml."""
    return {"network": network, "gateway": gateway, "marking": marking, "scenario": scenario}


REDN = setting(gateway="redn")
SELF_CONFIGURING = setting(gateway="self-configuring")
ADAPTIVE = setting()
DUAL = setting("dual")
MIX = setting("mix", marking="mixed", scenario="b")
# Adaptive REDn without one of its two parts: runs that the thesis argues about but does not show.
WITHOUT_ACTUAL = setting(gateway="without-actual")
WITHOUT_MIDDLE = setting(gateway="without-middle")
# Other conditioners, and a load that rises and falls back: runs for single sentences.
WITHOUT_CONDITIONING = setting(gateway="without-conditioning")
TIME_SLIDING_WINDOW = setting(gateway="time-sliding-window")
DUAL_LOAD = setting(gateway="self-configuring", scenario="b-o-u")

ARCHITECTURE = {
    "adaptive": ADAPTIVE,
    "ecn": setting(marking="ecn"),
    "bou": setting(scenario="b-o-u"),
    "bou_ecn": setting(marking="ecn", scenario="b-o-u"),
    "dual": DUAL,
    "dual_ecn": setting("dual", marking="ecn"),
    "dual_bou": setting("dual", scenario="b-o-u"),
    "dual_bou_ecn": setting("dual", marking="ecn", scenario="b-o-u"),
}
"""The eight runs of Adaptive REDn with conditioned TCP, by what predicates call them."""

RTTS = (30, 60, 70, 120, 160, 200)
FAST = (30, 60, 70)
SLOW = (120, 160, 200)
SHORT = (30, 60, 70, 120)
LONG = (160, 200)
"""Roundtrip transit delays in ms: 4.1.1 calls those of 70 and below fast, of 120 and above slow;
3.1.1 those of 120 and below short, of 160 and above long."""

PHASES = ("b", "u", "o")
COLOURS = ("green", "yellow", "red")

ASSURED = {
    "b": {1: 1.0, 3: 3.0, 10: 10.0},
    "u": {1: 5.0, 3: 9.0},
    "o": {1: 1.0, 3: 3.0, 5: 5.0, 10: 5.0},
}
"""Table 4.1: assured throughput in Mbit/s by phase and baseline expected throughput."""

STARTING = {"b": (1, 3, 10), "o": (5, 10)}
"""Baseline expected throughputs of the flows that start with a phase of B-U-O."""

CONDITIONED = (30, 120, 200)
"""Roundtrip transit delays of the conditioners of Figure 4.2; all have a baseline of 3 Mbit/s."""

MID_DELAY = 0.015
STATIC = 0.1
MAXIMUM = 2520.0
MINIMUM = 189.0
MIDDLE = 378.0


def routes(point: Point) -> tuple[str, ...]:
    """Name parts of the sets of flows: through both bottlenecks, and through the second alone."""
    return ("two_", "one_") if point["network"] == "dual" else ("",)


def gateways(point: Point) -> tuple[str, ...]:
    """Name parts of the bottleneck gateways."""
    return ("first_", "second_") if point["network"] == "dual" else ("",)


class Flow(NamedTuple):
    """A pair of replicated flows in one phase; `rate` and `rtt` in Mbit/s and ms."""

    phase: str
    rate: int
    rtt: int
    route: str = ""

    @property
    def name(self) -> str:
        """Beginning of the names of its quantities."""
        return f"{self.phase}_{self.route}{self.rate}mbps_{self.rtt}ms"

    @property
    def assured(self) -> float:
        """Table 4.1's throughput in bit/s."""
        return ASSURED[self.phase][self.rate] * MBPS


def flows(
    rtts: Sequence[int] = RTTS,
    phases: Sequence[str] = PHASES,
    rates: Sequence[int] = (1, 3, 5, 10),
    route: str = "",
) -> Iterator[Flow]:
    """The flows that Table 4.1 gives a throughput, among the given phases, rates and delays."""
    for phase, rtt in product(phases, rtts):
        yield from (Flow(phase, rate, rtt, route) for rate in ASSURED[phase] if rate in rates)


def throughput(run: Quantities, point: Point, flow: Flow) -> Bounds:
    """Throughput of a flow, in bit/s."""
    return at(run, point, f"{flow.name}_bps")


def attains(run: Quantities, point: Point, flow: Flow, share: float = REACHED) -> Truth:
    """A pair of flows reaches at least the given share of what Table 4.1 assures, in its best five
    seconds."""
    return at(run, point, f"{flow.name}_reached_bps") >= share * flow.assured


def attains_higher(run: Quantities, point: Point, flow: Flow, share: float = REACHED) -> Truth:
    """The same, but of the higher expected throughput in the undersubscribed case: "in excess of
    its higher expected throughput" (section 4.1)."""
    if flow.phase != "u":
        return attains(run, point, flow, share)
    line = 2.0 * flow.rate * MBPS
    return at(run, point, f"{flow.name}_reached_higher_bps") >= share * line


def averages(run: Quantities, point: Point, flow: Flow, share: float = REACHED) -> Truth:
    """A pair of flows gets at least the given share of what Table 4.1 assures, on average.

    Judged on the assured throughput, of which what a flow gets beyond Table 4.1 is not part: one
    flow's excess does not make up for what its replica lacks.
    """
    return at(run, point, f"{flow.name}_assured_bps") >= share * flow.assured
