"""The slides' formulas of VoQ against what stations worked out in a run.

The sums of RCF run over active sources, which are told from traffic: a source is surely active
while packets wait in its host before and after a sample, and surely not when none of its packets
has come for longer than T_ACT. Samples at which neither is sure are left out.
"""

from __future__ import annotations

import numpy as np

from forebay_studies.rpr.criteria import BURSTY, OC12, OC48, RATES
from forebay_studies.rpr.network import RESERVED, STATIONS, burst_bps
from forebay_studies.rpr.series import Array, Flags, Samples

SILENT = 8
"""Samples without a packet of D at the hub, 0.8 ms, after which it is not active: T_ACT, and the
way to the hub."""

LAG = 4
"""Of each span a station may know the RCF of this sample or of up to three earlier ones: messages
take 50 us a span, and laws step at their own times."""


def formula_quantities(samples: Samples) -> dict[str, float]:
    """The greatest departures from RCF = (C - SUM r)/SUM w and from f = r + w min RCF."""
    return {
        "rcf_error_max_ratio": _rcf_error(samples),
        "allocation_error_max_ratio": max(_allocation_errors(samples)),
    }


def _reserved(samples: Samples) -> float:
    """Reservation of D, as a part of the line."""
    if samples.scenario == 1:
        return 0.0
    line = OC12 if samples.line == RATES[OC12] else OC48
    factor = 1.0 if samples.scenario in BURSTY else RESERVED
    return factor * burst_bps(samples.scenario, line) / samples.line


def _rcf_error(samples: Samples) -> float:
    share = samples.span("D", "share_bps") / samples.line
    waits = samples.span("F", "host_low_bytes") > 0
    level = "low" if samples.scenario == 1 else "high"
    active, idle = _known(samples, samples.span("D", f"host_{level}_bytes") > 0)
    reserved = _reserved(samples)
    weight = 1.0 if samples.scenario == 1 else 0.0
    with_d = (1.0 - reserved) / (1.0 + weight)
    errors = np.where(active, np.abs(share - with_d), np.abs(share - 1.0))
    return float(errors[(active | idle) & waits & samples.window].max())


def _known(samples: Samples, waiting: Flags) -> tuple[Flags, Flags]:
    """Samples at which D's source was active when its station took a step, and at which not."""
    before = np.concatenate([[False], waiting[:-1]])
    came = np.convolve(samples.throughput("d") > 0, np.ones(2 * SILENT + 1), mode="same") > 0
    steady = samples.scenario not in BURSTY
    active: Flags = np.ones_like(waiting) if steady else waiting & before
    idle: Flags = ~came & ~waiting & ~before
    return active, idle


def _allocation_errors(samples: Samples) -> list[float]:
    """For F and D: the least departure of f from what the RCF of the spans ahead give, which it
    may know since this sample or the ones before."""
    shares = {name: samples.span(name, "share_bps") / samples.line for name in STATIONS[:-1]}
    level, reserved = ("low", 0.0) if samples.scenario == 1 else ("high", _reserved(samples))
    cases = {
        "F": ("allow_bps.low.5", 0.0, 1.0, STATIONS[:-1]),
        "D": (f"allow_bps.{level}.3", reserved, 1.0 if level == "low" else 0.0, STATIONS[2:-1]),
    }
    errors = []
    for station, (column, committed, weight, spans) in cases.items():
        allowed = samples.span(station, column) / samples.line
        low, high = _recent([shares[name] for name in spans])
        least = np.minimum(committed + weight * low, 1.0)
        most = np.minimum(committed + weight * high, 1.0)
        outside = np.maximum(np.maximum(least - allowed, allowed - most), 0.0)
        errors.append(float(outside[samples.window].max()))
    return errors


def _recent(shares: list[Array]) -> tuple[Array, Array]:
    """The least and the most that the least RCF of a path can be, by what is known of each span."""
    lows, highs = [], []
    for share in shares:
        known = np.stack(
            [np.concatenate([share[:back], share[: len(share) - back]]) for back in range(LAG)]
        )
        lows.append(known.min(axis=0))
        highs.append(known.max(axis=0))
    return np.min(lows, axis=0), np.min(highs, axis=0)
