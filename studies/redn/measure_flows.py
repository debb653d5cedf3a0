"""Quantities of flows: throughputs, windows, marks, retransmissions (quantities by phase)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np

from forebay.study import Point, Run
from forebay_studies.redn.criteria import ASSURED, FAST, MBPS, SLOW
from forebay_studies.redn.network import (
    Flow,
    Phase,
    TransitPath,
    flows,
    is_udp,
    paths,
    phases,
    sent_flows,
)
from forebay_studies.redn.series import Array, Path, by_second, column

ALIKE = 1.1
"""Two replicas are alike if neither gets more than so many times what the other gets."""

SHOWN = "a"
"""Of two replicated flows, the one that the figures show."""

EXACTLY = 0.02
"""Conditioned exactly: as grades call a number exact."""


class Half(NamedTuple):
    """Rate that a flow receives in the second half of a phase in which it sends, in bit/s by
    second."""

    phase: Phase
    flow: Flow
    received: Array


def run_flows(run: Run, point: Point) -> list[Flow]:
    """All connections of a grid point, under the names that they have in a run of it."""
    return sent_flows({row["name"] for row in run.document["groups"]}, point)


class _Connections:
    """Rows of the results and series of every flow, by its name."""

    def __init__(self, run: Run, point: Point) -> None:
        self.rows: dict[str, Mapping[str, Any]] = {
            row["name"]: row for row in run.document["groups"]
        }
        self.flows = run_flows(run, point)
        self.received = {
            flow.name: by_second(column(run, f"series/flows.{flow.name}", "throughput_bps"))
            for flow in self.flows
        }
        self.halves = [
            Half(phase, flow, self.received[flow.name][phase.half])
            for phase, flow in product(phases(point), self.flows)
            if phase.name in flow.phases
        ]

    def total(self, some: Iterable[Flow], *columns: str) -> float:
        """The sum of columns of the results over some flows."""
        names = dict.fromkeys(flow.name for flow in some)
        return float(sum(self.rows[flow][name] for flow in names for name in columns))


def flow_quantities(run: Run, point: Point) -> dict[str, float]:
    """Everything about flows that claims, predicates and figures of a grid point may need."""
    known = _Connections(run, point)
    tcp = [flow for flow in known.flows if not is_udp(point, flow.path)]
    found = _throughputs(known) | _lacking(known.halves) | _shares(known.halves)
    found |= _marks(known, run, tcp) | _windows(run, point, tcp)
    return found


def _throughputs(known: _Connections) -> dict[str, float]:
    """Received throughput in the second half of each phase, and up to what Table 4.1 assures."""
    found: dict[str, float] = {}
    rates: dict[str, list[float]] = defaultdict(list)
    alike: list[bool] = []
    for (phase, pair), some in groupby(
        known.halves, lambda half: (half.phase, half.flow.path.pair)
    ):
        replicas = list(some)
        path = replicas[0].flow.path
        due = ASSURED[phase.name].get(path.rate, path.rate) * MBPS
        got = [float(half.received.mean()) for half in replicas]
        for name in (f"{phase.name}_{pair}", f"{phase.name}_{path.route}{path.rate}mbps"):
            rates[f"{name}_bps"] += got
            rates[f"{name}_assured_bps"] += [min(value, due) for value in got]
        alike.append(max(got) <= ALIKE * min(got))
        series = np.mean([known.received[half.flow.name] for half in replicas], axis=0)
        reached = np.flatnonzero(series[phase.whole] >= due)
        length = phase.end - phase.start
        found[f"{phase.name}_{pair}_attain_s"] = float(reached[0] + 1) if len(reached) else length
    found |= {name: float(np.mean(values)) for name, values in rates.items()}
    return found | {"replicas_alike_ratio": float(np.mean(alike))}


def _lacking(halves: Iterable[Half]) -> dict[str, float]:
    """Shortfall of a flow that is shown below Table 4.1, as a share of it, in the second half of
    the phase in which it lacks most; 0 of a flow that attains its throughput in all."""
    found: dict[str, float] = defaultdict(float)
    for phase, flow, received in halves:
        due = ASSURED[phase.name].get(flow.path.rate)
        if due and flow.path.replica == SHOWN:
            name = f"lack_{flow.path.pair}_ratio"
            found[name] = max(found[name], 1.0 - float(received.mean()) / (due * MBPS))
    return found


def _shares(halves: Sequence[Half]) -> dict[str, float]:
    """Share of the 10 Mbit/s flows in what all flows get, second half of B; and the largest
    coefficient of variation of the throughput by the second over slow flows."""
    rates: dict[int, float] = defaultdict(float)
    largest = 0.0
    for phase, flow, received in halves:
        mean = float(received.mean())
        if phase.name == "b":
            rates[flow.path.rate] += mean
        if flow.path.rtt in SLOW and mean > 0:
            largest = max(largest, float(received.std(ddof=1) / mean))
    share = rates[10] / sum(rates.values())
    return {"b_10mbps_share_ratio": share, "slow_variation_ratio": largest}


def _marks(known: _Connections, run: Run, tcp: Sequence[Flow]) -> dict[str, float]:
    """Spread of marks (drops, or CE marks under ECN) over flows, and what was sent twice."""
    every = known.flows

    def of(some: Iterable[Flow]) -> float:
        return known.total(some, "dropped_packets", "marked_packets")

    marks, packets = of(every), known.total(every, "sent_packets")
    fast = of(flow for flow in every if flow.path.rtt in FAST)
    found = {
        "marked_ratio": marks / packets,
        "fast_marked_ratio": fast / marks if marks else 0.0,
    }
    for rate in sorted({flow.path.rate for flow in every}):
        some = [flow for flow in every if flow.path.rate == rate]
        share = of(some) / marks if marks else 0.0
        sent = known.total(some, "sent_packets") / packets
        found[f"{rate}mbps_marks_per_share_ratio"] = share / sent
    core = run.link("core")
    lost = core["dropped_packets"]
    if sum(lost):
        found["green_marked_ratio"] = lost[0] / sum(lost)
    through_two = of(flow for flow in every if flow.path.route == "two_")
    if through_two:
        found["two_marked_first_ratio"] = float(core["drops"] + core["marks"]) / through_two
    delivered = known.total(tcp, "throughput_bps")
    # Goodput is payload: headers and timestamps are 52 of 1000 bytes.
    found["goodput_ratio"] = known.total(tcp, "goodput_bps") * 1000.0 / 948.0 / delivered
    found["retransmissions_count"] = known.total(tcp, "retransmissions")
    found["timeouts_count"] = known.total(tcp, "timeouts")
    return found


def _windows(run: Run, point: Point, tcp: Sequence[Flow]) -> dict[str, float]:
    """Reductions of windows: when, why, and how large they were the first time."""
    table = run.tables["reductions"]
    time = np.asarray(table["time_s"], dtype=np.float64)
    names = np.asarray(table["flow"])
    before = np.asarray(table["before_bytes"], dtype=np.float64)
    timeout = np.asarray(table["signal"]) == "timeout"
    starts: dict[str, list[float]] = defaultdict(list)
    halvings: dict[str, int] = defaultdict(int)
    for flow in tcp:
        mine = names == flow.name
        need = flow.path.rate * MBPS * flow.path.rtt / 1e3 / 8.0
        own = before[mine & (time >= flow.start_s)]
        first = own[0] if len(own) else _largest_window(run, flow)
        starts[f"{flow.first}_{flow.path.pair}"].append(float(first) / need)
        for phase in phases(point):
            if phase.name in flow.phases:
                within = mine & ~timeout & (time >= phase.start) & (time < phase.end)
                halvings[f"{phase.name}_{flow.path.pair}"] += int(within.sum())
    found = {f"{pair}_first_window_ratio": min(ratios) for pair, ratios in starts.items()}
    found |= {f"{pair}_halvings_count": float(count) for pair, count in halvings.items()}
    at = time[timeout]
    beginning = dict.fromkeys("bo", 0)
    for phase in phases(point):
        beginning[phase.name] = int(((at >= phase.start) & (at < phase.begun)).sum())
    found["timeouts_start_count"] = float(beginning["b"])
    found["timeouts_later_count"] = float(len(at) - beginning["b"] - beginning["o"])
    return found


def _largest_window(run: Run, flow: Flow) -> float:
    return float(np.nanmax(column(run, f"series/flows.{flow.name}", "mean_cwnd_bytes")))


def conditioner_quantities(run: Run, point: Point) -> dict[str, float]:
    """Colours at the conditioners of TCP flows, second half of each phase."""
    found: dict[str, float] = {}
    exact: list[bool] = []
    for path in (path for path in paths(point) if not is_udp(point, path)):
        active = {name for flow in flows(point) if flow.path == path for name in flow.phases}
        seen = Path(run, f"in-{path.name}")
        shown = path.rate == 3 and path.replica == SHOWN
        if shown:
            found |= _without_red(seen, path, phases(point))
        for phase in (phase for phase in phases(point) if phase.name in active):
            parts = _conditioned(seen, phase.half, path.rate * MBPS)
            matches = {name: parts[name] / parts[f"{name}_due"] for name in ("green", "conforming")}
            exact.append(all(abs(match - 1.0) <= EXACTLY for match in matches.values()))
            if shown:
                # Ratios within a run: both vary alike from run to run.
                matches["sum"] = (parts["conforming"] + parts["red"]) / parts["sent"]
                prefix = f"{phase.name}_{path.pair}"
                found |= {f"{prefix}_{part}_bps": value for part, value in parts.items()}
                found |= {f"{prefix}_{part}_match_ratio": got for part, got in matches.items()}
    found["conditioned_exactly_ratio"] = float(np.mean(exact)) if exact else 0.0
    return found


def _without_red(seen: Path, path: TransitPath, spans: Sequence[Phase]) -> dict[str, float]:
    """Green, and green with yellow, against what conforms, over the seconds of second halves of
    phases in which nothing is red; 1 where there is no such second."""
    half = np.zeros(len(seen.sent), dtype=bool)
    for phase in spans:
        half[phase.half] = True
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
    parts = {
        "green": green,
        "conforming": green + yellow,
        "red": red,
        "sent": sent,
        "green_due": np.minimum(sent, cir),
        "conforming_due": np.minimum(sent, 2 * cir),
    }
    return {name: float(part.mean()) for name, part in parts.items()}
