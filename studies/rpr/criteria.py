"""Definitions that the predicates of this study share: the runs, and how quantities are read."""

from __future__ import annotations

from typing import NamedTuple

from forebay.study.grades import CLOSE, Bounds, Quantities, Truth, surely_at_least, surely_at_most

HIGH = 1.0 - CLOSE
SWING = 0.5
STEADY = CLOSE
LOW = 0.1
WELL = 0.9
FOLLOWS = 1e-3
FIFTY_FIVE = (0.545, 0.555)

OC12, OC48 = "oc12", "oc48"
LINES = (OC12, OC48)
SCENARIOS = (1, 3, 4)
BURSTY = (1, 4)
SETS = ("rfc", "small")

RATES = {OC12: 622.08e6, OC48: 2488.32e6}
"""Line rates in bit/s."""

PACKET_S = {line: 1500 * 8 / rate for line, rate in RATES.items()}
"""Transmission time of a packet of 1500 bytes in s."""

ON_S, OFF_S = 0.001, 0.02
"""ON and OFF state times of D's bursts in s."""


MAP_DELAYS_US = (5, 50, 250, 500, 1000, 1500, 2000, 3000)
MAP_THRESHOLDS_KB = (20, 40, 80, 160, 320)
MAP_LP_ALLOW = (32, 64, 96, 128, 192, 256)
MAP_LP_THRESHOLDS_KB = (20, 40, 160, 320)
MAP_HOPS = (1, 4, 14, 30, 61)
MAP_HOP_US = 50
"""The map of what the slides leave open: one-way delay from F to D, TB_LO_THRESHOLD, LP_ALLOW, and
spans of 50 us between F and D (61 of them make a ring of 64 stations)."""


class Setting(NamedTuple):
    """One run on the ring of the slides: a grid point of paper.toml."""

    scenario: int
    line: str
    law: str
    buffers: str


def gandalf(buffers: str, scenarios: tuple[int, ...] = SCENARIOS) -> tuple[Setting, ...]:
    """The runs of SRP-fa with one set of buffers."""
    return tuple(Setting(s, line, "srp-fa", buffers) for s in scenarios for line in LINES)


def voq(scenarios: tuple[int, ...] = SCENARIOS) -> tuple[Setting, ...]:
    """The runs of VoQ."""
    return tuple(Setting(s, line, "voq", "single") for s in scenarios for line in LINES)


def at(run: Quantities, setting: Setting, quantity: str) -> Bounds:
    """A quantity of one run on the ring of the slides."""
    return run.value(
        quantity,
        family="slides",
        scenario=setting.scenario,
        line=setting.line,
        law=setting.law,
        buffers=setting.buffers,
    )


def mapped(
    run: Quantities,
    quantity: str,
    scenario: int,
    line: str,
    *,
    threshold_kb: int,
    lp_allow: int = 64,
    fd_us: int = 5,
    hops: int = 1,
) -> Bounds:
    """A quantity of the map: F, D and the hub under SRP-fa with dual transit buffers."""
    return run.value(
        quantity,
        family="model",
        scenario=scenario,
        line=line,
        law="srp-fa",
        transit="dual",
        threshold_kb=threshold_kb,
        lp_allow=lp_allow,
        fd_us=fd_us,
        hops=hops,
    )


def over_distance(run: Quantities) -> list[Bounds]:
    """Utilisation on the map of distance and threshold, in the bursty scenarios."""
    return [
        mapped(run, "utilization_ratio", scenario, line, threshold_kb=threshold, fd_us=delay)
        for scenario in BURSTY
        for line in LINES
        for threshold in MAP_THRESHOLDS_KB
        for delay in MAP_DELAYS_US
    ]


def over_stations(run: Quantities) -> list[Bounds]:
    """Utilisation on the map of stations and threshold."""
    return [
        mapped(
            run,
            "utilization_ratio",
            scenario,
            line,
            threshold_kb=threshold,
            fd_us=MAP_HOP_US * hops,
            hops=hops,
        )
        for scenario in BURSTY
        for line in LINES
        for threshold in (20, 40, 320)
        for hops in MAP_HOPS
    ]


def over_lp_allow(run: Quantities) -> list[Bounds]:
    """Utilisation on the map of LP_ALLOW and threshold, on a short ring."""
    return [
        mapped(run, "utilization_ratio", scenario, line, threshold_kb=threshold, lp_allow=lp_allow)
        for scenario in BURSTY
        for line in LINES
        for threshold in MAP_LP_THRESHOLDS_KB
        for lp_allow in MAP_LP_ALLOW
    ]


def fills(run: Quantities, setting: Setting) -> Truth:
    """The link behind D is as good as full: within 10 % of its rate."""
    return surely_at_least(at(run, setting, "utilization_ratio"), HIGH)


def waits(wait: Bounds, line: str) -> Truth:
    """High priority waits longer than for one low-priority packet and one of its own.

    A station that has priority without preemption waits for the packet in transmission, and may
    for a packet of its own class in front: that is no effect of load.
    """
    return ~surely_at_most(wait, 2 * PACKET_S[line])
