"""Quantities of gateways: queues, delays, utilisation, early drops, probabilities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from forebay.study import Point, Run
from forebay_studies.redn import network
from forebay_studies.redn.criteria import COLOURS, MBPS, PHASES, STARTING, STATIC
from forebay_studies.redn.series import PACKET_BITS, PER_SECOND, Array, Gate, by_second

SHORT_S = 1.1 * network.MEAN_DELAY_S
"""15 ms, or around it."""

AROUND_MIDDLE = 1.1
FIXED = 0.1
CHANGES = {"green": 21, "yellow": 20, "red": 19}
"""Rows of Table 3.1 by colour."""


def gateway_quantities(run: Run, point: Point) -> dict[str, float]:
    """Everything about gateways that claims, predicates and figures of a grid point may need."""
    found: dict[str, float] = {}
    for gateway in network.gateways(point):
        gate = Gate(run, gateway.link, gateway.mbps)
        found |= {
            f"{gateway.prefix}{key}": value for key, value in _one(gate, gateway, point).items()
        }
        reasons: Mapping[str, int] = run.link(gateway.link)["drop_reasons"]
        found[f"{gateway.prefix}overflow_count"] = float(reasons["overflow"])
    reverse = [link for link in run.document["links"] if link["name"].endswith(".reverse")]
    found["reverse_dropped_count"] = float(sum(link["drops"] for link in reverse))
    return found


def _one(gate: Gate, gateway: network.Gateway, point: Point) -> dict[str, float]:
    found: dict[str, float] = {}
    starts = np.zeros(len(gate.delay), dtype=bool)
    for phase in network.phases(point):
        found |= _delays(gate, phase)
        found |= _queues(gate, gateway, phase)
        if phase.name in ("b", "o"):
            starts[phase.beginning] = True
            drops = float(gate.early[phase.beginning].max())
            found[f"{phase.name}_drop_start_max_ratio"] = drops
    steady = gate.early[~starts]
    for name, ratio in (("max", steady.max()), ("min", steady.min()), ("mean", steady.mean())):
        found[f"drop_steady_{name}_ratio"] = float(ratio)
    used = [found[f"{phase.name}_utilization_ratio"] for phase in network.phases(point)]
    found["least_utilization_ratio"] = min(used)
    for number, colour in enumerate(COLOURS):
        above = gate.effective[number] > gate.dynamic[number]
        found[f"{colour}_static_ratio"] = float(above.mean())
        still = np.isclose(gate.effective[number], STATIC, rtol=1e-9)
        found[f"{colour}_effective_static_ratio"] = float(still.mean())
        middle = by_second(gate.average[number]) > gateway.middle
        found[f"{colour}_above_middle_ratio"] = float(middle.mean())
    return found


def _delays(gate: Gate, phase: network.Phase) -> dict[str, float]:
    """Queuing delay and utilisation by the second, in the beginning and the rest of a phase."""
    first, delay = gate.delay[phase.beginning], gate.delay[phase.steady]
    mean = delay.mean()
    found = {
        "delay_mean_s": mean,
        "delay_max_s": max(first.max(), delay.max()),
        "delay_min_s": delay.min(),
        "delay_start_max_s": first.max(),
        "delay_start_min_s": first.min(),
        "delay_steady_max_s": delay.max(),
        "delay_short_ratio": (delay <= SHORT_S).mean(),
        "delay_fixed_ratio": (np.abs(delay - mean) <= FIXED * mean).mean(),
        "utilization_ratio": gate.utilization[phase.steady].mean(),
        "utilization_start_min_ratio": gate.utilization[phase.beginning].min(),
    }
    return {f"{phase.name}_{name}": float(value) for name, value in found.items()}


def _queues(gate: Gate, gateway: network.Gateway, phase: network.Phase) -> dict[str, float]:
    """Average queue lengths by colour: by the second, the greatest and least over all samples."""
    start, begun, end = (round(at * PER_SECOND) for at in (phase.start, phase.begun, phase.end))
    found: dict[str, float] = {}
    for number, colour in enumerate(COLOURS):
        whole: Array = gate.average[number][start:end]
        steady = by_second(gate.average[number][begun:end])
        below = steady <= AROUND_MIDDLE * gateway.middle
        prefix = f"{phase.name}_{colour}"
        found |= {
            f"{prefix}_average_mean_packets": float(steady.mean()),
            f"{prefix}_average_max_packets": float(whole.max()),
            f"{prefix}_average_min_packets": float(by_second(whole).min()),
            f"{prefix}_below_middle_ratio": float(below.mean()),
            f"{prefix}_effective_mean_ratio": float(gate.effective[number][start:end].mean()),
        }
    return found


def table_3_1(run: Run, point: Point) -> dict[str, float]:
    """Changes of the dynamic maximum probability, in their order (Table 3.1)."""
    table = run.tables["adjustments"]
    time = np.asarray(table["time_s"], dtype=np.float64)
    precedence = np.asarray(table["precedence"], dtype=np.int64)
    dynamic = np.asarray(table["dynamic_probability"], dtype=np.float64)
    last = network.phases(point)[-1][2]
    found: dict[str, float] = {}
    for number, colour in enumerate(COLOURS):
        mine = precedence == number
        values = np.concatenate([[STATIC], dynamic[mine]])
        times = np.concatenate([[0.0], time[mine]])
        # A row tells any change of state; those of the probability are meant here.
        changed = np.flatnonzero(np.diff(values) != 0.0) + 1
        for row in range(1, CHANGES[colour] + 1):
            known = row <= len(changed)
            at = changed[row - 1] if known else -1
            found[f"{colour}_change{row:02d}_time_s"] = float(times[at]) if known else last
            found[f"{colour}_change{row:02d}_maxp_ratio"] = float(values[at])
        grown = values[changed] > values[changed - 1]
        early = values[times <= 5.0]
        found[f"{colour}_dynamic_5s_ratio"] = float(early[-1])
        for name, start, end in network.phases(point):
            within = (times[changed] >= start) & (times[changed] < end)
            found[f"{name}_{colour}_increments_count"] = float((within & grown).sum())
            found[f"{name}_{colour}_decrements_count"] = float((within & ~grown).sum())
            found[f"{name}_{colour}_dynamic_end_ratio"] = float(values[times < end][-1])
    return found


def mix_quantities(run: Run, point: Point) -> dict[str, float]:
    """Section 4.3: what TCP and UDP get of the link, and the colours of UDP."""
    (gateway,) = network.gateways(point)
    share = {"udp": 0.0, "tcp": 0.0}
    baselines = {"udp": 0.0, "tcp": 0.0}
    colours = np.zeros(3)
    for row in run.document["groups"]:
        baseline = int(row["name"].split("-")[0])
        kind = "udp" if baseline in network.UDP_RATES else "tcp"
        share[kind] += float(row["throughput_bps"]) / (gateway.mbps * MBPS)
        baselines[kind] += baseline
        if kind == "udp":
            departed = run.link("in-" + row["name"].rsplit("-", 1)[0])["departed_bytes"]
            colours += 8.0 * np.asarray(departed[:3], dtype=np.float64)
    colours /= float(run.document["measured_s"])
    return {
        "udp_share_ratio": share["udp"],
        "tcp_share_ratio": share["tcp"],
        "udp_sent_bps": float(colours.sum()),
        "udp_fair_share_ratio": baselines["udp"] / (baselines["udp"] + baselines["tcp"]),
        **{f"udp_{name}_bps": float(bps) for name, bps in zip(COLOURS, colours, strict=True)},
    }


def rules(point: Point) -> dict[str, float]:
    """Values that section 4's guidelines give for the configured networks; no measurement."""
    due = network.max_min_mbps("o")
    found = {
        "rule_rate_bps": network.network_rate_bps(point),
        "twice_largest_window_packets": network.twice_largest_window_packets(point),
        # Of the flows that start with O, in what Table 4.1 gives out.
        "target_starting_share_ratio": sum(due[rate] for rate in STARTING["o"]) / sum(due.values()),
    }
    for phase in PHASES:
        for rate, mbps in network.max_min_mbps(phase).items():
            found[f"target_{phase}_{rate}mbps_bps"] = mbps * MBPS
    for gateway in network.gateways(point):
        pps = gateway.mbps * MBPS / PACKET_BITS
        middle = float(int(pps * network.MEAN_DELAY_S + 1e-9))
        # The first gateway of two is that of one bottleneck: rules are asked of the other.
        if gateway.prefix != "first_":
            prefix = gateway.prefix
            found |= {
                f"{prefix}rule_maximum_packets": float(int(pps * 0.5 * 2 * STATIC + 1e-9)),
                f"{prefix}rule_middle_packets": middle,
                f"{prefix}rule_minimum_packets": float(int(middle / 2)),
            }
        found[f"{gateway.prefix}middle_delay_s"] = gateway.middle / pps
    return found
