"""Measurements of a run: loads, losses, late cells, file times, rates and notifications.

Loads and throughput are shares of the satellite link's 6 Mbit/s and count whole cells; a share of
cells is one of those that the sources sent (section 7.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from forebay.study import Point, Run
from forebay_studies.atm.criteria import (
    CLOSE_SEEDS,
    INTERVAL_S,
    NEAR_ZERO_LOSS,
    PRINTED_LOSS,
    ROUND_TRIP_S,
    UNCONTROLLED,
)
from forebay_studies.atm.network import (
    BY_PRIORITY,
    CELL_BITS,
    DURATION_S,
    KINDS,
    LINK_BPS,
    sources,
)

FILE_BITS = 8e6
NOMINAL_DATA_BPS = 500e3
LATER_S = 5.0
"""After the first sessions have begun, all at once and slowly."""

MEAN_BPS = {"voice": 16e3, "video": 176e3}
"""Rate of a source that nothing slows down: half of the time in sessions (section 6.2.1)."""

NOTICES = ("accepted_rate", "accepted_discard", "ignored_rate", "ignored_discard")

Row = Mapping[str, Any]


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Loads, losses, late cells, file times, rates and notifications of one run; in SI units."""
    by_name = {row["name"]: row for row in run.document["groups"]}
    groups = {kind: by_name[kind] for kind in KINDS if kind in by_name}
    realtime = [groups[kind] for kind in ("voice", "video") if kind in groups]
    data = [groups["data"]] if "data" in groups else []
    found = _loads(run, point, groups)
    found |= _link(run, groups.get("data"))
    for name, rows in (("realtime", realtime), ("data", data)):
        if rows:
            found |= _traffic(run, name, rows)
    found |= _rates(run) | _notified(run)
    if data:
        found |= _files(run, data[0])
    return found


def capacity_cells(run: Run, bps: float = LINK_BPS) -> float:
    """Number of cells that a link, by default the satellite link, could carry while the run was
    measured."""
    return bps * float(run.document["measured_s"]) / CELL_BITS


def paced(run: Run) -> dict[str, Row]:
    """Results of the rate control of each group, by its name."""
    return {row["name"]: row for row in run.document["paced"]}


def _total(rows: Sequence[Row], column: str) -> float:
    return float(sum(row[column] for row in rows))


def _loads(run: Run, point: Point, groups: Mapping[str, Row]) -> dict[str, float]:
    """Load sent; in Case 1 that of voice and video is calculated, as in section 8.1."""
    capacity = capacity_cells(run)
    sent = {name: row["sent_packets"] / capacity for name, row in groups.items()}
    loads = dict(sent)
    if point["case"] == UNCONTROLLED:
        numbers = dict(zip(KINDS, sources(point), strict=True))
        calculated = [name for name in MEAN_BPS if name in groups]
        loads |= {name: MEAN_BPS[name] * numbers[name] / LINK_BPS for name in calculated}
    found = {"load_ratio": sum(loads.values()), "sent_ratio": sum(sent.values())}
    if "video" in loads:
        realtime = loads["voice"] + loads["video"]
        found["video_share_ratio"] = loads["video"] / realtime
        found["realtime_share_ratio"] = realtime / found["load_ratio"]
    if "data" in sent:
        found["data_sent_ratio"] = sent["data"]
    carried = [groups["data"]] if "data" in groups else list(groups.values())
    found["throughput_ratio"] = _total(carried, "delivered_packets") / capacity
    found["round_trips_count"] = DURATION_S / ROUND_TRIP_S
    return found


def _link(run: Run, data: Row | None) -> dict[str, float]:
    """The satellite link, and when it dropped cells; the user's. The later loss is that of data, as
    long as no other cells are dropped (Case 2)."""
    series = run.tables["series/links.satellite"]
    drops = np.asarray(series["drops"], dtype=np.float64)
    later = drops[np.asarray(series["time_s"]) > LATER_S]
    satellite = run.link("satellite")
    sent = max(data["sent_packets"], 1) if data else math.inf
    return {
        "data_loss_later_ratio": float(later.sum()) / sent,
        "utilization_ratio": float(satellite["utilization"]),
        "dropped_count": float(satellite["drops"]),
        "dropped_later_count": float(later.sum()),
        "user_dropped_count": float(run.link("user")["drops"]),
    }


def _traffic(run: Run, name: str, rows: Sequence[Row]) -> dict[str, float]:
    """Loss at the satellite link, late cells, delay and throughput of one priority; whether the
    loss is near zero, and below or above what the thesis prints of its Figure 14: over several
    runs, the shares of those."""
    dropped = run.link("satellite")["dropped_packets"]
    lost = float(sum(dropped[precedence] for precedence in BY_PRIORITY[name]))
    sent = max(_total(rows, "sent_packets"), 1.0)
    names = {row["name"] for row in rows}
    late = sum(row["late_packets"] for row in run.document["lateness"] if row["name"] in names)
    delays = sum(row["mean_delay_s"] * row["delivered_packets"] for row in rows)
    loss = lost / sent
    return {
        f"{name}_loss_ratio": loss,
        f"{name}_near_zero_ratio": float(loss <= NEAR_ZERO_LOSS),
        f"{name}_loss_lower_ratio": float(loss < (1.0 - CLOSE_SEEDS) * PRINTED_LOSS),
        f"{name}_loss_higher_ratio": float(loss > (1.0 + CLOSE_SEEDS) * PRINTED_LOSS),
        f"{name}_late_ratio": late / sent,
        f"{name}_delay_s": delays / max(_total(rows, "delivered_packets"), 1.0),
        f"{name}_throughput_ratio": _total(rows, "delivered_packets") / capacity_cells(run),
    }


def _rates(run: Run) -> dict[str, float]:
    """Rates in sessions over their nominal value, and the pattern that sources follow."""
    found: dict[str, float] = {}
    periods = count = 0.0
    for row in run.document["paced"]:
        name = row["name"]
        if name == "data":
            continue
        found |= {
            f"{name}_rate_ratio": float(row["mean_scale"]),
            f"{name}_floor_ratio": float(row["floor_ratio"]),
            f"{name}_rate_min_ratio": float(row["least_scale"] or 0.0),
            f"{name}_pattern_bps": float(row["nominal_bps"]),
        }
        periods += row["periods"]
        count += row["sources"]
    for row in run.document["policing"]:
        marked = row["marked_by_peak"] + row["marked_by_bucket"]
        sent = max(run.group(row["name"])["sent_packets"], 1)
        found[f"clp_{row['name']}_ratio"] = marked / sent
    if count:
        found["periods_count"] = periods / count
    return found


def _notified(run: Run) -> dict[str, float]:
    """Notifications that arrived: how many, after what delay, how far apart."""
    rows = run.document["paced"]
    heard = [sum(row[f"{kind}_notices"] for kind in NOTICES) for row in rows]
    gaps = [row["least_notice_gap_s"] for row in rows if row["least_notice_gap_s"] is not None]
    # Without two at one source there is no gap within the run.
    least = min(gaps, default=DURATION_S)
    delays = sum(row["notice_delay_s"] * of for row, of in zip(rows, heard, strict=True))
    rated = _total(rows, "accepted_rate_notices") + _total(rows, "ignored_rate_notices")
    found = {
        "rate_notifications_count": rated,
        "notification_gap_min_s": least,
        "notification_shortfall_s": max(INTERVAL_S - least, 0.0),
        "notification_delay_s": delays / max(sum(heard), 1),
    }
    for kind, named in (("realtime", ("voice", "video")), ("data", ("data",))):
        mine = [
            (row["sources"], of)
            for row, of in zip(rows, heard, strict=True)
            if row["name"] in named
        ]
        if mine:
            number = sum(count for count, _ in mine)
            found[f"{kind}_notified_per_source_count"] = sum(of for _, of in mine) / number
    return found


def _files(run: Run, group: Row) -> dict[str, float]:
    """File times: of all that was sent, so that the files unfinished at the end count as well, and
    of the completed files."""
    row = paced(run)["data"]
    bits = max(group["sent_packets"], 1) * CELL_BITS
    taken = float(row["session_s"]) / bits * FILE_BITS
    dropped = run.link("satellite")["dropped_packets"]
    lost = sum(dropped[precedence] for precedence in BY_PRIORITY["data"])
    return {
        "file_time_s": taken,
        "file_time_completed_s": float(row["transfer_s"]),
        "data_rate_bps": FILE_BITS / taken,
        "data_rate_ratio": FILE_BITS / taken / NOMINAL_DATA_BPS,
        "data_dropped_per_file_count": lost / max(row["transfers"], 1),
        "files_per_source_count": row["transfers"] / row["sources"],
    }
