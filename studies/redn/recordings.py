"""Runs whose series are kept for the figures: one of each setting that the thesis shows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from forebay.study.definition import Point, Recording, Run
from forebay_studies.redn.network import flows, gateways, phases
from forebay_studies.redn.readings import (
    ADAPTIVE,
    ARCHITECTURE,
    COLOURS,
    CONDITIONED,
    MIX,
    REDN,
    SELF_CONFIGURING,
    Setting,
)
from forebay_studies.redn.samples import Array, Gate, Path, by_second, column, link_series

__all__ = ["CLUSTERS", "CLUSTERS_S", "RECORDINGS", "recording_id"]

Columns = dict[str, Array]

CLUSTERS = "clusters"
"""Recording of one conditioner, fine enough to see a roundtrip."""

CLUSTERED = "in-3-200-a"
CLUSTERS_S = (92.0, 93.1)
"""Five roundtrips of the flow of 3 Mbit/s and 200 ms, while it sends all three colours."""


def recording_id(setting: Setting) -> str:
    """What the recording of a setting is called."""
    return "-".join(setting)


def _point(setting: Setting) -> Point:
    return setting._asdict()


def _keep(run: Run, point: Point) -> Mapping[str, Columns]:
    """Throughputs of flows, what gateways do by the second, and their adjustments."""
    tables = {"flows": _throughputs(run, point), "adjustments": _adjustments(run)}
    for gateway in gateways(point):
        gate = Gate(run, gateway.link, gateway.mbps)
        seconds = np.arange(1.0, len(gate.delay) + 1.0)
        averages = {
            f"average_{colour}_packets": by_second(series)
            for colour, series in zip(COLOURS, gate.average, strict=True)
        }
        tables[gateway.link] = {
            "time_s": seconds,
            **averages,
            "delay_s": gate.delay,
            "utilization": gate.utilization,
            "early_ratio": gate.early,
        }
    if point == _point(ADAPTIVE):
        tables["conditioners"] = _conditioners(run)
    return tables


def _throughputs(run: Run, point: Point) -> Columns:
    """What one of each two replicas receives in bit/s, by the second; NaN while it is disabled."""
    length = round(phases(point)[-1][2])
    found: Columns = {"time_s": np.arange(1.0, length + 1.0)}
    spans = {name: slice(round(start), round(end)) for name, start, end in phases(point)}
    for flow in flows(point):
        if flow.path.replica != "a":
            continue
        got = by_second(column(run, f"series/flows.{flow.name}", "throughput_bps"))
        kept = found.setdefault(flow.path.pair, np.full(length, np.nan))
        for phase in flow.phases:
            kept[spans[phase]] = got[spans[phase]]
    return found


def _adjustments(run: Run) -> dict[str, Array]:
    """Rows in which a dynamic or an effective maximum probability moves."""
    recorded = run.tables.get("adjustments")
    if recorded is None:
        return {}
    names = ("time_s", "precedence", "dynamic_probability", "max_probability")
    links = np.asarray(recorded["link"])
    rows = [column(run, "adjustments", name) for name in names]
    moved = np.zeros(len(links), dtype=bool)
    for link in sorted(set(links.tolist())):
        for precedence in range(len(COLOURS)):
            mine = np.flatnonzero((links == link) & (rows[1] == precedence))
            for values in rows[2:]:
                moved[mine[1:]] |= np.diff(values[mine]) != 0.0
            moved[mine[:1]] = True
    kept = {name: values[moved] for name, values in zip(names, rows, strict=True)}
    return {"link": links[moved], **kept}


def _conditioners(run: Run) -> Columns:
    """What the conditioners of Figure 4.2 let through in bit/s, by the second."""
    found: Columns = {}
    for rtt in CONDITIONED:
        seen = Path(run, f"in-3-{rtt}-a")
        found["time_s"] = np.arange(1.0, len(seen.sent) + 1.0)
        for colour, series in zip(COLOURS, seen.colour, strict=True):
            found[f"{colour}_{rtt}ms_bps"] = series
        found[f"total_{rtt}ms_bps"] = seen.sent
    return found


def _keep_clusters(run: Run, _: Point) -> Mapping[str, Columns]:
    time = link_series(run, CLUSTERED, "time_s")
    within = (time > CLUSTERS_S[0]) & (time <= CLUSTERS_S[1])
    rates = {
        f"{colour}_bps": link_series(run, CLUSTERED, f"throughput_bps.{precedence}")[within]
        for precedence, colour in enumerate(COLOURS)
    }
    return {"conditioner": {"time_s": time[within], **rates}}


SHOWN = (REDN, SELF_CONFIGURING, *ARCHITECTURE, MIX)

# Sampled as all runs of the study are: `samples` counts on it, and no run is done twice.
RECORDINGS = [Recording(recording_id(shown), _point(shown), None, keep=_keep) for shown in SHOWN]
RECORDINGS.append(
    Recording(
        CLUSTERS,
        _point(ADAPTIVE),
        "5 ms",
        (f'record.series_of=["links.{CLUSTERED}"]',),
        keep=_keep_clusters,
    )
)
