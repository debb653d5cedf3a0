"""The largest values that figures of gateways show, which the ends of their axes bound, and what
section 4.1 computes."""

from __future__ import annotations

from math import log

import numpy as np

from forebay.study import Point, Run
from forebay_studies.redn import network
from forebay_studies.redn.criteria import COLOURS, STATIC
from forebay_studies.redn.series import Array, Gate

WEIGHT = 0.002
"""The queue weight (section 4.1)."""

EDGE_S = 5
"""Seconds over which the queue is averaged where its growth is judged."""


def axis_quantities(run: Run, point: Point) -> dict[str, float]:
    """Largest queuing delay and drop ratio of any second, largest dynamic maximum probability of
    any sample, by gateway, and whether that is above the initial one; how the queue grows in U.

    Computed are the share of packets marked at the maximum probability, with a mean gap of
    0.5 / p + 0.5, and the packets in which an average makes 63 % of a change."""
    found = {
        "marked_at_maximum_ratio": 1.0 / (0.5 / STATIC + 0.5),
        "average_follows_count": -1.0 / log(1.0 - WEIGHT),
    }
    for gateway in network.gateways(point):
        gate = Gate(run, gateway.link, gateway.mbps)
        found[f"{gateway.prefix}delay_top_s"] = float(gate.delay.max())
        found[f"{gateway.prefix}drop_top_ratio"] = float(gate.early.max())
        for number, colour in enumerate(COLOURS):
            top = float(gate.dynamic[number].max())
            found[f"{gateway.prefix}{colour}_dynamic_top_ratio"] = top
            found[f"{gateway.prefix}{colour}_dynamic_above_ratio"] = float(top > STATIC)
        for phase in network.phases(point):
            if phase.name == "u":
                found |= growth(gate.delay[phase.steady], gateway.prefix)
    return found


def growth(delay: Array, prefix: str) -> dict[str, float]:
    """Growth of the queuing delay in the first and in the second half of some seconds."""
    middle = (len(delay) - EDGE_S) // 2
    start, half, end = (
        float(np.mean(part))
        for part in (delay[:EDGE_S], delay[middle : middle + EDGE_S], delay[-EDGE_S:])
    )
    return {f"{prefix}u_rise_first_s": half - start, f"{prefix}u_rise_second_s": end - half}
