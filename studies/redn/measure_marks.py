"""Quantities of marks: how many hit a flow at a time, how long clusters of a colour are, where
windows stand when they are halved, and which of two gateways marks first."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from forebay.study import Point, Run
from forebay_studies.redn.criteria import SLOW
from forebay_studies.redn.measure_flows import run_flows
from forebay_studies.redn.network import Flow, Phase, paths, phases
from forebay_studies.redn.series import PER_SECOND, Array, column

Flags = NDArray[np.bool_]

SAMPLE_S = 1.0 / PER_SECOND

WITHIN_RTT = {120: 1, 160: 1, 200: 2}
"""So many samples of 100 ms are no longer than a round trip, by roundtrip transit delay in ms."""


def mark_quantities(run: Run, point: Point) -> dict[str, float]:
    """Everything about marks that claims and predicates of a grid point may need."""
    if point["network"] == "dual":
        return _first_gateway(run, point)
    if point["network"] == "single" and point["marking"] == "drop":
        return _clusters(run, point) | _multiple(run, point) | _sawtooth(run, point)
    return {}


def _clusters(run: Run, point: Point) -> dict[str, float]:
    """The longest cluster of green, and of yellow packets of any slow flow, relative to the product
    of expected throughput and round-trip time, and the share of clusters that are longer. What
    passes the conditioner in at most a round trip counts as a cluster."""
    longest = {"green": 0.0, "yellow": 0.0}
    longer: dict[str, list[Flags]] = defaultdict(list)
    for path in paths(point):
        if path.rtt not in SLOW:
            continue
        table = f"series/links.in-{path.name}"
        window = np.ones(WITHIN_RTT[path.rtt])
        for number, (colour, rate) in enumerate((("green", path.rate), ("yellow", 2 * path.rate))):
            bits = SAMPLE_S * column(run, table, f"throughput_bps.{number}")
            cluster = np.convolve(bits, window, "valid")
            srtt = column(run, table, "told_srtt_s")[: len(cluster)]
            product = rate * 1e6 * np.maximum(np.nan_to_num(srtt), path.rtt / 1e3)
            lengths = cluster / product
            longest[colour] = max(longest[colour], float(lengths.max()))
            longer[colour].append(lengths[lengths > 0.0] > 1.0)
    found = {f"{colour}_cluster_max_ratio": value for colour, value in longest.items()}
    for colour, parts in longer.items():
        every = np.concatenate(parts)
        found[f"{colour}_cluster_longer_ratio"] = float(every.mean()) if len(every) else 0.0
    return found


def _beginning(phase: Phase, times: Array) -> Flags:
    within: Flags = (times >= phase.start) & (times < phase.begun)
    return within


def _multiple(run: Run, point: Point) -> dict[str, float]:
    """Of the marks beyond the first of a window, the share in the beginnings of B and O, where
    flows are in slow start. A window with any number of marks is halved once."""
    at = column(run, "series/links.core", "time_s")
    drops = column(run, "series/links.core", "early_drops")
    table = run.tables["reductions"]
    halved = np.asarray(table["time_s"], dtype=np.float64)[np.asarray(table["signal"]) != "timeout"]
    beyond = float(drops.sum()) - len(halved)
    early = 0.0
    for phase in phases(point):
        if phase.name in ("b", "o"):
            # A sample is told at its end.
            early += float(drops[_beginning(phase, at - SAMPLE_S / 2)].sum())
            early -= float(_beginning(phase, halved).sum())
    return {
        "multiple_marks_ratio": beyond / max(float(drops.sum()), 1.0),
        "multiple_marks_start_ratio": early / beyond if beyond > 0.0 else 0.0,
    }


def _sawtooth(run: Run, point: Point) -> dict[str, float]:
    """Windows before and after they are halved, relative to their mean, over the second halves of
    phases: what a throughput oscillates between where the round-trip time stays."""
    table = run.tables["reductions"]
    time = np.asarray(table["time_s"], dtype=np.float64)
    names = np.asarray(table["flow"])
    halved = np.asarray(table["signal"]) != "timeout"
    before = np.asarray(table["before_bytes"], dtype=np.float64)
    after = np.asarray(table["ssthresh_bytes"], dtype=np.float64)
    tops: list[Array] = []
    troughs: list[Array] = []
    for flow, phase in _active(run, point):
        half = slice(phase.half.start * PER_SECOND, phase.half.stop * PER_SECOND)
        windows = column(run, f"series/flows.{flow.name}", "mean_cwnd_bytes")[half]
        mean = float(np.nanmean(windows))
        mine = halved & (names == flow.name)
        mine &= (time >= phase.half.start) & (time < phase.half.stop)
        tops.append(before[mine] / mean)
        troughs.append(after[mine] / mean)
    every, least = np.concatenate(tops), np.concatenate(troughs)
    if not len(every):
        return {}
    return {
        "window_before_mean_ratio": float(every.mean()),
        "window_after_mean_ratio": float(least.mean()),
    }


def _active(run: Run, point: Point) -> list[tuple[Flow, Phase]]:
    return [
        (flow, phase)
        for flow in run_flows(run, point)
        for phase in phases(point)
        if phase.name in flow.phases
    ]


def _first_gateway(run: Run, point: Point) -> dict[str, float]:
    """Of the marks that a packet of a flow through two gateways risks in the beginning of B, the
    share of the first gateway; yellow packets' part in what that marks; timeouts of the 10 Mbit/s
    flows through both in that time."""
    first = phases(point)[0]
    risks = []
    for link in ("core", "core2"):
        table = f"series/links.{link}"
        at = column(run, table, "time_s") - SAMPLE_S / 2
        within = _beginning(first, at)
        hit = column(run, table, "early_drops") + column(run, table, "marks")
        risks.append(float(hit[within].sum() / column(run, table, "arrived_packets")[within].sum()))
    core = run.link("core")
    dropped = core["dropped_packets"]
    reductions = run.tables["reductions"]
    time = np.asarray(reductions["time_s"], dtype=np.float64)
    names = {
        flow.name
        for flow in run_flows(run, point)
        if flow.path.route == "two_" and flow.path.rate == 10
    }
    mine = np.isin(np.asarray(reductions["flow"]), sorted(names))
    late = (np.asarray(reductions["signal"]) == "timeout") & mine & _beginning(first, time)
    found = {
        "start_first_risk_ratio": risks[0] / sum(risks) if sum(risks) > 0.0 else 0.0,
        "two_10mbps_timeouts_start_count": float(late.sum()),
    }
    if sum(dropped):
        found["first_yellow_marked_ratio"] = dropped[1] / sum(dropped)
    return found
