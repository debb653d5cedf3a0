"""Quantities of gateways: queues, delays, utilisation, early drops, probabilities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from forebay.study.definition import Point, Run
from forebay_studies.redn.network import (
    MEAN_DELAY_S,
    Gateway,
    gateways,
    max_min_mbps,
    network_rate_bps,
    phases,
)
from forebay_studies.redn.network import twice_largest_window_packets as largest_windows
from forebay_studies.redn.readings import COLOURS, PHASES, STARTING
from forebay_studies.redn.samples import PER_SECOND, Array, Gate, by_second

__all__ = ["gateway_quantities", "mix_quantities", "rules", "table_3_1"]

SHORT_S = 1.1 * MEAN_DELAY_S
"""15 ms, or around it."""

AROUND_MIDDLE = 1.1
FIXED = 0.1
STATIC = 0.1
CHANGES = {"green": 21, "yellow": 20, "red": 19}
"""Rows of Table 3.1 by colour."""


def gateway_quantities(run: Run, point: Point) -> dict[str, float]:
    """Everything about gateways that claims, predicates and figures of a grid point may need."""
    found: dict[str, float] = {}
    for gateway in gateways(point):
        gate = Gate(run, gateway.link, gateway.mbps)
        found |= {f"{gateway.prefix}{key}": value for key, value in _one(gate, gateway, point)}
        reasons: Mapping[str, int] = run.link(gateway.link)["drop_reasons"]
        found[f"{gateway.prefix}overflow_count"] = float(reasons["overflow"])
    reverse = [link for link in run.document["links"] if link["name"].endswith(".reverse")]
    found["reverse_dropped_count"] = float(sum(link["drops"] for link in reverse))
    return found


def _one(gate: Gate, gateway: Gateway, point: Point) -> list[tuple[str, float]]:
    found: dict[str, float] = {}
    spans = phases(point)
    starts = np.zeros(len(gate.delay), dtype=bool)
    for name, start, end in spans:
        begun = start + (end - start) / 5
        beginning, steady = slice(int(start), int(begun)), slice(int(begun), int(end))
        found |= _delays(gate, name, beginning, steady)
        found |= _queues(gate, gateway, name, (start, begun, end))
        if name in ("b", "o"):
            starts[beginning] = True
            found[f"{name}_drop_start_max_ratio"] = float(gate.early[beginning].max())
    found["drop_steady_max_ratio"] = float(gate.early[~starts].max())
    found["drop_steady_min_ratio"] = float(gate.early[~starts].min())
    found["drop_steady_mean_ratio"] = float(gate.early[~starts].mean())
    found["least_utilization_ratio"] = min(found[f"{name}_utilization_ratio"] for name, *_ in spans)
    for number, colour in enumerate(COLOURS):
        above = gate.effective[number] > gate.dynamic[number]
        found[f"{colour}_static_ratio"] = float(above.mean())
        still = np.isclose(gate.effective[number], STATIC, rtol=1e-9)
        found[f"{colour}_effective_static_ratio"] = float(still.mean())
        middle = by_second(gate.average[number]) > gateway.middle
        found[f"{colour}_above_middle_ratio"] = float(middle.mean())
    return list(found.items())


def _delays(gate: Gate, name: str, beginning: slice, steady: slice) -> dict[str, float]:
    """Queuing delay and utilisation by the second, in the beginning and the rest of a phase."""
    delay = gate.delay[steady]
    mean = float(delay.mean())
    return {
        f"{name}_delay_mean_s": mean,
        f"{name}_delay_max_s": float(max(gate.delay[beginning].max(), delay.max())),
        f"{name}_delay_min_s": float(delay.min()),
        f"{name}_delay_start_max_s": float(gate.delay[beginning].max()),
        f"{name}_delay_start_min_s": float(gate.delay[beginning].min()),
        f"{name}_delay_steady_max_s": float(delay.max()),
        f"{name}_delay_short_ratio": float((delay <= SHORT_S).mean()),
        f"{name}_delay_fixed_ratio": float((np.abs(delay - mean) <= FIXED * mean).mean()),
        f"{name}_utilization_ratio": float(gate.utilization[steady].mean()),
        f"{name}_utilization_start_min_ratio": float(gate.utilization[beginning].min()),
    }


def _queues(
    gate: Gate, gateway: Gateway, name: str, span: tuple[float, float, float]
) -> dict[str, float]:
    """Average queue lengths by colour: by the second, the greatest and least over all samples."""
    start, begun, end = (round(at * PER_SECOND) for at in span)
    found: dict[str, float] = {}
    for number, colour in enumerate(COLOURS):
        phase: Array = gate.average[number][start:end]
        steady = by_second(gate.average[number][begun:end])
        below = steady <= AROUND_MIDDLE * gateway.middle
        prefix = f"{name}_{colour}"
        found |= {
            f"{prefix}_average_mean_packets": float(steady.mean()),
            f"{prefix}_average_max_packets": float(phase.max()),
            f"{prefix}_average_min_packets": float(by_second(phase).min()),
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
    last = phases(point)[-1][2]
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
        for name, start, end in phases(point):
            within = (times[changed] >= start) & (times[changed] < end)
            found[f"{name}_{colour}_increments_count"] = float((within & grown).sum())
            found[f"{name}_{colour}_decrements_count"] = float((within & ~grown).sum())
            found[f"{name}_{colour}_dynamic_end_ratio"] = float(values[times < end][-1])
    return found


def mix_quantities(run: Run, point: Point) -> dict[str, float]:
    """Section 4.3: what TCP and UDP get of the link, and the colours of UDP."""
    (gateway,) = gateways(point)
    rate = gateway.mbps * 1e6
    groups = run.document["groups"]
    share = {"udp": 0.0, "tcp": 0.0}
    baselines = {"udp": 0.0, "tcp": 0.0}
    sent = 0.0
    for row in groups:
        baseline = int(str(row["name"]).split("-")[0])
        kind = "udp" if baseline in (3, 5) else "tcp"
        share[kind] += float(row["throughput_bps"]) / rate
        baselines[kind] += baseline
    colours = np.zeros(3)
    for row in groups:
        name = str(row["name"])
        if int(name.split("-")[0]) in (3, 5):
            departed = run.link("in-" + name.rsplit("-", 1)[0])["departed_bytes"]
            colours += 8.0 * np.asarray(departed[:3], dtype=np.float64)
    colours /= float(run.document["measured_s"])
    sent = float(colours.sum())
    found = {
        "udp_share_ratio": share["udp"],
        "tcp_share_ratio": share["tcp"],
        "udp_sent_bps": sent,
        "udp_fair_share_ratio": baselines["udp"] / (baselines["udp"] + baselines["tcp"]),
    }
    return found | {
        f"udp_{colour}_bps": float(value) for colour, value in zip(COLOURS, colours, strict=True)
    }


def rules(point: Point) -> dict[str, float]:
    """What section 4's guidelines give for the configured networks; no measurement."""
    found = {
        "rule_rate_bps": network_rate_bps(point),
        "twice_largest_window_packets": largest_windows(point),
        "target_starting_share_ratio": _starting_share(),
    }
    for phase in PHASES:
        for rate, mbps in max_min_mbps(phase).items():
            found[f"target_{phase}_{rate}mbps_bps"] = mbps * 1e6
    for gateway in gateways(point):
        pps = gateway.mbps * 1e6 / 8000.0
        middle = float(int(pps * MEAN_DELAY_S + 1e-9))
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


def _starting_share() -> float:
    """Share of the flows that start with O in what Table 4.1 gives out."""
    due = max_min_mbps("o")
    return sum(due[rate] for rate in STARTING["o"]) / sum(due.values())
