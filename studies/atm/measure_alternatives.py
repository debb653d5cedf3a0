"""Measurements of the runs of alternatives.py, beside the quantities of measure.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.study import Point, Run
from forebay_studies.atm.measure import paced
from forebay_studies.atm.network import BY_PRIORITY, LINK_BPS

Found = dict[str, float]
SESSION_BPS = {"voice": 32e3, "video": 352e3, "data": 500e3}
"""Rate that a source in a session sends on average at its nominal rate (section 6.2.1)."""
CLASSES = {0: "class1", 1: "class2", 2: "class3", 3: "class4"}
"""The classes of section 5.1 by precedence."""
WEIGHT = 0.8
"""Of the current input rate in the filter (section 5.1)."""
SOME = 0.005
"""A class is there if it has this part of the link: three or four cells in 50 ms."""
AFTER = 2
"""So many intervals after a port has become congested its sources have heard of it: the first is
that in which it tells them."""


def of_alternatives(run: Run, point: Point) -> Found:
    """Cells lost with and without CLP, when the first source hears of congestion, notifications
    lost; of runs recorded finely, what follows when a port becomes congested."""
    dropped = run.link("satellite")["dropped_packets"]
    clp0, clp1 = (float(sum(dropped[by[clp]] for by in BY_PRIORITY.values())) for clp in (0, 1))
    rows = paced(run)
    first = [row["first_notice_s"] for row in rows.values() if row["first_notice_s"] is not None]
    told = sum(run.group(kind)["sent_acks"] for kind in rows)
    lost = sum(run.group(kind)["dropped_acks"] for kind in rows)
    found = {
        "clp0_lost_count": clp0,
        "clp1_lost_count": clp1,
        "first_notification_s": min(first, default=math.inf),
        "notifications_lost_count": float(lost),
        "notifications_lost_ratio": lost / max(told, 1),
    }
    return found | (_sampled(run) if point.get("change") == "sampled" else {})


def _sampled(run: Run) -> Found:
    link = {
        name: np.asarray(column, dtype=np.float64)
        for name, column in run.tables["series/links.satellite"].items()
    }
    return _cuts(run, link) | _order(link)


def _cuts(run: Run, link: Mapping[str, NDArray[np.float64]]) -> Found:
    """Slowing of sources when the port becomes congested, as a part of the link: what they would
    send before and after on average, by their rates; and what arrives then."""
    would = np.zeros_like(link["time_s"])
    for kind in paced(run):
        series: Any = run.tables[f"series/flows.{kind}"]
        scale = np.nan_to_num(np.asarray(series["mean_scale"], dtype=np.float64))
        would += np.asarray(series["sessions"]) * scale * SESSION_BPS[kind] / LINK_BPS
    congested = link["congested"] > 0.0
    begins = np.flatnonzero(congested[1:] & ~congested[:-1]) + 1
    begins = begins[begins + AFTER < len(congested)]
    if not len(begins):
        return {}
    arrived = link["arrived_bps"] / LINK_BPS
    return {
        "congested_count": float(len(begins)),
        "cut_ratio": float((would[begins - 1] - would[begins + AFTER - 1]).mean()),
        "before_cut_ratio": float(arrived[begins - 1].mean()),
        "after_cut_ratio": float(arrived[begins + AFTER].mean()),
    }


def _order(link: Mapping[str, NDArray[np.float64]]) -> Found:
    """Of the intervals in which the port is congested and cells of a class arrive, the share in
    which sources of that class are notified."""
    found: Found = {}
    congested = link["congested"][1:-1] > 0.0
    for precedence, name in CLASSES.items():
        # A sample at the end of an interval still has the filtered rate of the one before.
        filtered = link[f"input_ratio.{precedence}"]
        arrives = (filtered[2:] - (1.0 - WEIGHT) * filtered[1:-1]) / WEIGHT
        there = congested & (arrives >= SOME)
        told = np.diff(link[f"rate_notices.{precedence}"])[:-1] > 0.0
        found[f"{name}_there_count"] = float(there.sum())
        if there.any():
            found[f"{name}_told_ratio"] = float(told[there].mean())
    return found
