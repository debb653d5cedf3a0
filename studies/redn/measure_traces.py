"""Quantities of the traces of flows: whether they reach a line, how high they rise, how long their
packets wait. The figures of the thesis show such traces, by the second."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from forebay.study import Point, Run
from forebay_studies.redn.criteria import ASSURED, BEST_S, MBPS
from forebay_studies.redn.measure_flows import SHOWN, run_flows
from forebay_studies.redn.network import Flow, Phase, TransitPath, gateways, phases
from forebay_studies.redn.series import PACKET_BITS, PER_SECOND, Array, by_second, column

ACCESS_BPS = 100e6
"""Rate of the access links, and of those to the receivers (section 4.1)."""


class Trace(NamedTuple):
    """Rate that a flow receives in a phase, by the second, in bit/s; without its beginning if the
    flow sent before, since its trace still shows the phase before."""

    phase: Phase
    path: TransitPath
    received: Array

    @property
    def best(self) -> float:
        """Mean over the best seconds in a row, `BEST_S` of them."""
        window = np.ones(BEST_S) / BEST_S
        return float(np.convolve(self.received, window, "valid").max())


def trace_quantities(run: Run, point: Point) -> dict[str, float]:
    """Everything about traces that claims and predicates of a grid point may need."""
    received = {
        flow: by_second(column(run, f"series/flows.{flow.name}", "throughput_bps"))
        for flow in run_flows(run, point)
    }
    traces = [
        Trace(phase, flow.path, received[flow][_own(phase, flow)])
        for phase in phases(point)
        for flow in received
        if phase.name in flow.phases
    ]
    found = reached(traces) | unreached(traces)
    for flow, series in received.items():
        if flow.path.replica == SHOWN:
            name = f"top_{flow.path.route}{flow.path.rtt}ms_bps"
            found[name] = max(found.get(name, 0.0), float(series.max()))
    if point["network"] == "single":
        found |= _waits(run, point)
    return found


def _own(phase: Phase, flow: Flow) -> slice:
    return phase.whole if flow.start_s == phase.start else phase.steady


def reached(traces: list[Trace]) -> dict[str, float]:
    """Rates that pairs of replicas reach of what Table 4.1 assures, and in U of twice the baseline:
    of each its best seconds, up to that."""
    found: dict[str, list[float]] = defaultdict(list)
    for trace in traces:
        phase, path, best = trace.phase.name, trace.path, trace.best
        due = ASSURED[phase].get(path.rate, path.rate) * MBPS
        found[f"{phase}_{path.pair}_reached_bps"].append(min(best, due))
        if phase == "u":
            higher = min(best, 2.0 * path.rate * MBPS)
            found[f"{phase}_{path.pair}_reached_higher_bps"].append(higher)
    return {name: float(np.mean(values)) for name, values in found.items()}


def unreached(traces: list[Trace]) -> dict[str, float]:
    """Shortfall of the best seconds of a flow that is shown below Table 4.1, as a share of it, in
    the phase in which they lack most; 0 of a flow that reaches it in all."""
    found: dict[str, float] = defaultdict(float)
    for phase, path, _ in traces:
        if path.replica == SHOWN and path.rate in ASSURED[phase.name]:
            found[f"unreached_{path.pair}_ratio"] = 0.0
    for trace in traces:
        name = f"unreached_{trace.path.pair}_ratio"
        if trace.path.replica == SHOWN and name in found:
            due = ASSURED[trace.phase.name].get(trace.path.rate)
            if due:
                found[name] = max(found[name], 1.0 - trace.best / (due * MBPS))
    return dict(found)


def _waits(run: Run, point: Point) -> dict[str, float]:
    """The least and the greatest mean queuing delay of any flow at the gateway, by phase: what
    packets take, less propagation, transmission and waiting at the access link."""
    found: dict[str, list[float]] = defaultdict(list)
    for flow in run_flows(run, point):
        wait, packets = _waiting(run, point, flow)
        for phase in phases(point):
            if phase.name in flow.phases:
                within = slice(round(phase.begun * PER_SECOND), round(phase.end * PER_SECOND))
                total = packets[within].sum()
                if total > 0.0:
                    mean = float((wait[within] * packets[within]).sum() / total)
                    found[phase.name].append(mean)
    ends = {"min": min, "max": max}
    return {
        f"{phase}_flow_delay_{end}_s": of(means)
        for phase, means in found.items()
        for end, of in ends.items()
    }


def _waiting(run: Run, point: Point, flow: Flow) -> tuple[Array, Array]:
    """Mean wait of a flow's packets at the gateway by sample, and how many there are."""
    table = f"series/flows.{flow.name}"
    packets = column(run, table, "throughput_bps") / PACKET_BITS
    taken = np.nan_to_num(column(run, table, "mean_delay_s"))
    fixed = flow.path.rtt / 2e3 + 2 * PACKET_BITS / ACCESS_BPS
    fixed += sum(PACKET_BITS / (gateway.mbps * MBPS) for gateway in gateways(point))
    access = f"series/links.in-{flow.path.name}"
    sent = column(run, access, "throughput_bps") / PACKET_BITS
    queued = column(run, access, "mean_queue_packets")
    before = np.divide(queued, sent, out=np.zeros_like(queued), where=sent > 0.0)
    return taken - fixed - before, packets
