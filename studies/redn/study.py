"""Adaptive REDn gateway and adaptive token bucket conditioner: grid points and quantities.

scenario.toml shows one path; `network.py` lays the 48 or 96 of a grid point after it. Flows are
measured in `measure_flows.py`, their traces in `measure_traces.py`, marks in `measure_marks.py`,
gateways in `measure_gateways.py` and `measure_axes.py`; `short.py` adds short-lived flows and
measures them; `series.py` reads what was recorded. `criteria.py` and `predicates/` hold what the
sentences mean; `figures.py` redraws the figures.
"""

from __future__ import annotations

from forebay.study import Network, Point, Replications, Run
from forebay_studies.redn.figures import RECORDINGS, figures
from forebay_studies.redn.measure_axes import axis_quantities
from forebay_studies.redn.measure_flows import conditioner_quantities, flow_quantities
from forebay_studies.redn.measure_gateways import (
    gateway_quantities,
    mix_quantities,
    rules,
    table_3_1,
)
from forebay_studies.redn.measure_marks import mark_quantities
from forebay_studies.redn.measure_traces import trace_quantities
from forebay_studies.redn.network import grid_point as lay
from forebay_studies.redn.network import kept_connections
from forebay_studies.redn.short import NETWORKS, short_network, short_quantities

__all__ = [
    "RECORDINGS",
    "REPLICATIONS",
    "figures",
    "grid_point",
    "kept_connections",
    "quantities",
]

RECORD_RUNS = True

ARGUED = (("self-configuring", "b-o-u"), ("time-sliding-window", "b-u-o"))
"""Section 1.1.2's load that rises and falls back, and section 2.3's other marker."""


def _most(point: Point) -> int:
    """Replications at most: numbers from a single run are judged by quantiles where runs do not
    look normal, which takes 39 (`forebay.study.prediction`); none are printed of runs that the
    thesis does not show, of which those that one argument needs have five."""
    if (point["gateway"], point["scenario"]) in ARGUED:
        return 5
    return 12 if str(point["gateway"]).startswith("without") else 39


REPLICATIONS = Replications(
    first=5, cap=_most, quick_first=2, quick_cap=3, quick_events=1_000_000_000, variant=3
)


def grid_point(network: Network, point: Point) -> None:
    """Gateways, paths and flows of a grid point, after the one path that scenario.toml shows."""
    if point["network"] in NETWORKS:
        short_network(network, point)
    else:
        lay(network, point)


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Throughputs, windows and marks of flows; queues, delays and probabilities of gateways."""
    if point["network"] in NETWORKS:
        return short_quantities(run)
    found = flow_quantities(run, point) | conditioner_quantities(run, point)
    found |= trace_quantities(run, point) | mark_quantities(run, point)
    found |= gateway_quantities(run, point) | axis_quantities(run, point) | rules(point)
    if point["gateway"] == "self-configuring":
        found |= table_3_1(run, point)
    if point["network"] == "mix":
        found |= mix_quantities(run, point)
    return found
