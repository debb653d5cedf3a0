"""Quantities of flows: throughputs, windows, marks, retransmissions (quantities by phase)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from forebay.study.definition import Point, Run
from forebay_studies.redn.network import Flow, TransitPath, flows, is_udp, phases
from forebay_studies.redn.readings import ASSURED, FAST, SLOW
from forebay_studies.redn.samples import Array, Path, by_second, column

__all__ = ["conditioner_quantities", "flow_quantities"]

MBPS = 1e6
PACKET_BITS = 8000
ALIKE = 1.1
"""Two replicas are alike if neither gets more than so many times what the other gets."""

SHOWN = "a"
"""Of two replicated flows, the one that the figures show."""

EXACTLY = 0.02
"""Conditioned exactly: as grades call a number exact."""


class _Connections:
    """Rows of the results and series of every flow, by its name."""

    def __init__(self, run: Run, point: Point) -> None:
        self.rows: dict[str, Mapping[str, Any]] = {
            row["name"]: row for row in run.document["groups"]
        }
        self.flows = list(flows(point))
        self.received = {
            flow.name: by_second(column(run, f"series/flows.{flow.name}", "throughput_bps"))
            for flow in self.flows
        }

    def active(self, phase: str) -> list[Flow]:
        """Flows that send in a phase."""
        return [flow for flow in self.flows if phase in flow.phases]


def flow_quantities(run: Run, point: Point) -> dict[str, float]:
    """Everything about flows that claims, predicates and figures of a grid point may need."""
    known = _Connections(run, point)
    tcp = [flow for flow in known.flows if not is_udp(point, flow.path)]
    found: dict[str, float] = {}
    alike: list[bool] = []
    for name, start, end in phases(point):
        found |= _throughputs(known, name, start, end, alike)
    found |= _lacking(known, point)
    found["replicas_alike_ratio"] = float(np.mean(alike)) if alike else 0.0
    found |= _shares(known, point)
    found |= _marks(known, run, tcp)
    found |= _windows(known, run, point, tcp)
    found["slow_variation_ratio"] = _variation(known, point)
    return found


def _throughputs(
    known: _Connections, phase: str, start: float, end: float, alike: list[bool]
) -> dict[str, float]:
    """Received throughput in the second half of a phase, and up to what Table 4.1 assures."""
    found: dict[str, float] = {}
    half = slice(int(np.ceil((start + end) / 2)), int(end))
    assured: dict[str, list[float]] = defaultdict(list)
    whole: dict[str, list[float]] = defaultdict(list)
    pairs: dict[str, list[Flow]] = defaultdict(list)
    for flow in known.active(phase):
        pairs[flow.path.pair].append(flow)
    for pair, members in pairs.items():
        got = [float(known.received[flow.name][half].mean()) for flow in members]
        path = members[0].path
        due = ASSURED[phase].get(path.rate, path.rate) * MBPS
        capped = [min(value, due) for value in got]
        found[f"{phase}_{pair}_bps"] = float(np.mean(got))
        found[f"{phase}_{pair}_assured_bps"] = float(np.mean(capped))
        kind = f"{path.route}{path.rate}mbps"
        assured[kind] += capped
        whole[kind] += got
        alike.append(max(got) <= ALIKE * min(got))
        series = np.mean([known.received[flow.name] for flow in members], axis=0)
        reached = np.flatnonzero(series[int(start) : int(end)] >= due)
        found[f"{phase}_{pair}_attain_s"] = float(reached[0] + 1) if len(reached) else end - start
    for kind in whole:
        found[f"{phase}_{kind}_bps"] = float(np.mean(whole[kind]))
        found[f"{phase}_{kind}_assured_bps"] = float(np.mean(assured[kind]))
    return found


def _lacking(known: _Connections, point: Point) -> dict[str, float]:
    """What a flow that is shown lacks of Table 4.1, as a share of it, in the second half of the
    phase in which it lacks most; 0 of a flow that attains its throughput in all."""
    found: dict[str, float] = {}
    for phase, start, end in phases(point):
        half = slice(int(np.ceil((start + end) / 2)), int(end))
        for flow in known.active(phase):
            path = flow.path
            if path.replica == SHOWN and path.rate in ASSURED[phase]:
                got = float(known.received[flow.name][half].mean())
                lacks = max(0.0, 1.0 - got / (ASSURED[phase][path.rate] * MBPS))
                name = f"lack_{path.pair}_ratio"
                found[name] = max(found.get(name, 0.0), lacks)
    return found


def _shares(known: _Connections, point: Point) -> dict[str, float]:
    """Share of the 10 Mbit/s flows in what all flows get, second half of B."""
    found: dict[str, float] = {}
    for name, start, end in phases(point):
        half = slice(int(np.ceil((start + end) / 2)), int(end))
        rates: dict[int, float] = defaultdict(float)
        for flow in known.active(name):
            rates[flow.path.rate] += float(known.received[flow.name][half].mean())
        if name == "b":
            found["b_10mbps_share_ratio"] = rates[10] / sum(rates.values())
    return found


def _marks(known: _Connections, run: Run, tcp: Sequence[Flow]) -> dict[str, float]:
    """How marks (drops, or CE marks under ECN) are spread over flows, and what was sent twice."""

    def of(flow: Flow) -> float:
        row = known.rows[flow.name]
        return float(row["dropped_packets"] + row["marked_packets"])

    def sent(some: Iterable[Flow]) -> float:
        return sum(float(known.rows[flow.name]["sent_packets"]) for flow in some)

    marks, packets = sum(map(of, known.flows)), sent(known.flows)
    fast = [flow for flow in known.flows if flow.path.rtt in FAST]
    found = {
        "marked_ratio": marks / packets,
        "fast_marked_ratio": sum(map(of, fast)) / marks if marks else 0.0,
    }
    for rate in sorted({flow.path.rate for flow in known.flows}):
        some = [flow for flow in known.flows if flow.path.rate == rate]
        share = sum(map(of, some)) / marks if marks else 0.0
        found[f"{rate}mbps_marks_per_share_ratio"] = share / (sent(some) / packets)
    core = run.link("core")
    lost = core["dropped_packets"]
    total = sum(lost)
    if total:
        found["green_marked_ratio"] = lost[0] / total
    two = [flow for flow in known.flows if flow.path.route == "two_"]
    if two and sum(map(of, two)):
        first = float(core["drops"] + core["marks"])
        found["two_marked_first_ratio"] = first / sum(map(of, two))
    rows = [known.rows[flow.name] for flow in tcp]
    delivered = sum(row["throughput_bps"] for row in rows)
    # Goodput is payload: headers and timestamps are 52 of 1000 bytes.
    goodput = sum(row["goodput_bps"] for row in rows) * 1000.0 / 948.0
    found["goodput_ratio"] = goodput / delivered
    found["retransmissions_count"] = float(sum(row["retransmissions"] for row in rows))
    found["timeouts_count"] = float(sum(row["timeouts"] for row in rows))
    return found


def _windows(known: _Connections, run: Run, point: Point, tcp: Sequence[Flow]) -> dict[str, float]:
    """When windows were reduced, why, and how large the first time."""
    table = run.tables["reductions"]
    time = np.asarray(table["time_s"], dtype=np.float64)
    names = np.asarray(table["flow"])
    signal = np.asarray(table["signal"])
    before = np.asarray(table["before_bytes"], dtype=np.float64)
    timeout = signal == "timeout"
    found: dict[str, float] = {}
    starts: dict[str, list[float]] = defaultdict(list)
    halvings: dict[str, int] = defaultdict(int)
    for flow in tcp:
        mine = names == flow.name
        need = flow.path.rate * MBPS * flow.path.rtt / 1e3 / 8.0
        own = before[mine]
        first = own[0] if len(own) else _largest_window(run, flow)
        starts[f"{flow.first}_{flow.path.pair}"].append(float(first) / need)
        for name, start, end in phases(point):
            if name in flow.phases:
                within = mine & ~timeout & (time >= start) & (time < end)
                halvings[f"{name}_{flow.path.pair}"] += int(within.sum())
    for pair, ratios in starts.items():
        found[f"{pair}_first_window_ratio"] = min(ratios)
    for pair, count in halvings.items():
        found[f"{pair}_halvings_count"] = float(count)
    at = time[timeout]
    beginning = {name: (start, start + (end - start) / 5) for name, start, end in phases(point)}

    def during(name: str) -> int:
        low, high = beginning.get(name, (0.0, 0.0))
        return int(((at >= low) & (at < high)).sum())

    found["timeouts_start_count"] = float(during("b"))
    found["timeouts_later_count"] = float(len(at) - during("b") - during("o"))
    return found


def _largest_window(run: Run, flow: Flow) -> float:
    return float(np.nanmax(column(run, f"series/flows.{flow.name}", "mean_cwnd_bytes")))


def _variation(known: _Connections, point: Point) -> float:
    """Largest coefficient of variation of the throughput by the second, second halves of phases,
    over slow flows."""
    largest = 0.0
    for name, start, end in phases(point):
        half = slice(int(np.ceil((start + end) / 2)), int(end))
        for flow in known.active(name):
            if flow.path.rtt in SLOW:
                values: Array = known.received[flow.name][half]
                if values.mean() > 0:
                    largest = max(largest, float(values.std(ddof=1) / values.mean()))
    return largest


def conditioner_quantities(run: Run, point: Point) -> dict[str, float]:
    """Colours at the conditioners of TCP flows, second half of each phase."""
    found: dict[str, float] = {}
    exact: list[bool] = []
    spans = phases(point)
    for path in dict.fromkeys(flow.path for flow in flows(point)):
        if is_udp(point, path):
            continue
        seen = Path(run, f"in-{path.name}")
        active = {name for flow in flows(point) if flow.path == path for name in flow.phases}
        if path.rate == 3 and path.replica == SHOWN:
            found |= _without_red(seen, path, spans)
        for name, start, end in spans:
            if name not in active:
                continue
            half = slice(int(np.ceil((start + end) / 2)), int(end))
            parts = _conditioned(seen, half, path.rate * MBPS)
            exact.append(_is_exact(parts))
            if path.rate == 3 and path.replica == SHOWN:
                prefix = f"{name}_{path.pair}"
                found |= {f"{prefix}_{part}_bps": value for part, value in parts.items()}
                # Ratios within a run: both vary alike from run to run.
                for part in ("green", "conforming"):
                    found[f"{prefix}_{part}_match_ratio"] = parts[part] / parts[f"{part}_due"]
                colours = parts["conforming"] + parts["red"]
                found[f"{prefix}_sum_match_ratio"] = colours / parts["sent"]
    found["conditioned_exactly_ratio"] = float(np.mean(exact)) if exact else 0.0
    return found


def _without_red(
    seen: Path, path: TransitPath, spans: Sequence[tuple[str, float, float]]
) -> dict[str, float]:
    """Green, and green with yellow, against what conforms, over the seconds of second halves of
    phases in which nothing is red; 1 where there is no such second."""
    half = np.zeros(len(seen.sent), dtype=bool)
    for _, start, end in spans:
        half[int(np.ceil((start + end) / 2)) : int(end)] = True
    green, yellow, red = seen.colour
    nil = half & (red == 0.0)
    found: dict[str, float] = {}
    for part, got, multiple in (("green", green, 1), ("conforming", green + yellow, 2)):
        due = np.minimum(seen.sent[nil], multiple * path.rate * MBPS).sum()
        match = float(got[nil].sum() / due) if due > 0.0 else 1.0
        found[f"{path.pair}_{part}_without_red_ratio"] = match
    return found


def _conditioned(seen: Path, half: slice, cir: float) -> dict[str, float]:
    green, yellow, red = (colour[half] for colour in seen.colour)
    sent = seen.sent[half]
    return {
        "green": float(green.mean()),
        "conforming": float((green + yellow).mean()),
        "red": float(red.mean()),
        "sent": float(sent.mean()),
        "green_due": float(np.minimum(sent, cir).mean()),
        "conforming_due": float(np.minimum(sent, 2 * cir).mean()),
    }


def _is_exact(parts: Mapping[str, float]) -> bool:
    return all(
        abs(parts[part] - parts[f"{part}_due"]) <= EXACTLY * parts[f"{part}_due"]
        for part in ("green", "conforming")
    )
