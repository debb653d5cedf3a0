"""What the predicates of this study share: the runs, Table 4.1, and how quantities are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from forebay.study.grades import (
    CLOSE,
    EXACT,
    Bounds,
    Quantities,
    Truth,
    all_of,
    surely_at_least,
    surely_at_most,
)

MBPS = 1e6
REACHED = 1.0 - EXACT
VERY_CLOSE = 1.0 - CLOSE
AROUND = 0.5
MUCH = 0.5
FACTOR = 2.0


class Setting(NamedTuple):
    """One run of the thesis: a grid point of paper.toml."""

    network: str
    gateway: str
    marking: str
    scenario: str


REDN = Setting("single", "redn", "drop", "b-u-o")
SELF_CONFIGURING = Setting("single", "self-configuring", "drop", "b-u-o")
ADAPTIVE = Setting("single", "adaptive", "drop", "b-u-o")
ADAPTIVE_ECN = Setting("single", "adaptive", "ecn", "b-u-o")
ADAPTIVE_BOU = Setting("single", "adaptive", "drop", "b-o-u")
ADAPTIVE_BOU_ECN = Setting("single", "adaptive", "ecn", "b-o-u")
DUAL = Setting("dual", "adaptive", "drop", "b-u-o")
DUAL_ECN = Setting("dual", "adaptive", "ecn", "b-u-o")
DUAL_BOU = Setting("dual", "adaptive", "drop", "b-o-u")
DUAL_BOU_ECN = Setting("dual", "adaptive", "ecn", "b-o-u")
MIX = Setting("mix", "adaptive", "mixed", "b")
# Adaptive REDn without one of its two parts: runs that the thesis argues about but does not show.
WITHOUT_ACTUAL = Setting("single", "without-actual", "drop", "b-u-o")
WITHOUT_MIDDLE = Setting("single", "without-middle", "drop", "b-u-o")

ARCHITECTURE = (
    ADAPTIVE,
    ADAPTIVE_ECN,
    ADAPTIVE_BOU,
    ADAPTIVE_BOU_ECN,
    DUAL,
    DUAL_ECN,
    DUAL_BOU,
    DUAL_BOU_ECN,
)
"""The eight runs of Adaptive REDn with conditioned TCP."""

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


def at(run: Quantities, setting: Setting, quantity: str) -> Bounds:
    """A quantity of one run."""
    return run.value(
        quantity,
        network=setting.network,
        gateway=setting.gateway,
        marking=setting.marking,
        scenario=setting.scenario,
    )


def routes(setting: Setting) -> tuple[str, ...]:
    """Name parts of the sets of flows: through both bottlenecks, and through the second alone."""
    return ("two_", "one_") if setting.network == "dual" else ("",)


def gateways(setting: Setting) -> tuple[str, ...]:
    """Name parts of the bottleneck gateways."""
    return ("first_", "second_") if setting.network == "dual" else ("",)


class Flow(NamedTuple):
    """A pair of replicated flows in one phase; `rate` and `rtt` in Mbit/s and ms."""

    phase: str
    rate: int
    rtt: int
    route: str = ""

    @property
    def name(self) -> str:
        """What the names of its quantities start with."""
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


def throughput(run: Quantities, setting: Setting, flow: Flow) -> Bounds:
    """What a flow gets, in bit/s."""
    return at(run, setting, f"{flow.name}_bps")


def attains(run: Quantities, setting: Setting, flow: Flow, share: float = REACHED) -> Truth:
    """A pair of flows gets at least the given share of what Table 4.1 assures.

    Judged on the assured throughput, of which what a flow gets beyond Table 4.1 is not part: one
    flow's excess does not make up for what its replica lacks.
    """
    return surely_at_least(at(run, setting, f"{flow.name}_assured_bps"), share * flow.assured)


def misses(run: Quantities, setting: Setting, flow: Flow, share: float = REACHED) -> Truth:
    """The reverse of `attains`."""
    return ~attains(run, setting, flow, share)


def class_attains(run: Quantities, setting: Setting, share: float) -> Truth:
    """The flows of each baseline expected throughput, over all RTTs, get the share on average."""
    return all_of(
        surely_at_least(
            at(run, setting, f"{phase}_{route}{rate}mbps_assured_bps"), share * mbps * MBPS
        )
        for route in routes(setting)
        for phase in PHASES
        for rate, mbps in ASSURED[phase].items()
    )


def similar(first: Bounds | float, second: Bounds | float, share: float = CLOSE) -> Truth:
    """Two values differ by at most the given share of the smaller."""
    return surely_at_most(first, (1.0 + share) * _bounds(second)) & surely_at_most(
        second, (1.0 + share) * _bounds(first)
    )


def _bounds(value: Bounds | float) -> Bounds:
    return value if isinstance(value, Bounds) else Bounds.exactly(value)
