"""Contracts, starts and ends of axes: quantities of a run beside those of measure.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from forebay.study import Point, Run
from forebay_studies.atm.changes import FAST, NOMINAL_BPS, OFFENDERS, SLOW, TRUE_BPS
from forebay_studies.atm.criteria import AXIS_ENDS, NEAR_ZERO_LOSS, axis
from forebay_studies.atm.measure import LATER_S, paced
from forebay_studies.atm.network import BY_PRIORITY, CELL_BITS, LINK_BPS

Found = dict[str, float]
KEPT = ("voice", "video")
"""Those that keep their contract, beside the offenders."""
CAPACITY_RATIOS = (
    "sent_ratio",
    "data_sent_ratio",
    "throughput_ratio",
    "realtime_throughput_ratio",
    "data_throughput_ratio",
)
"""Quantities that measure.py has in shares of the scaled link."""


def more_quantities(run: Run, point: Point, found: Mapping[str, float]) -> Found:
    """Further quantities: of sources that break their contract, of starts, and whether the run
    stays within the axes of the thesis; `found` is what measure.py found."""
    more = _starts(run) | _axes(point, found)
    groups = {row["name"] for row in run.document["groups"]}
    change = str(point.get("change", ""))
    if not change.startswith("two-buckets"):  # their marks are not counted
        more |= _by_priority(run)
    if OFFENDERS in groups:
        more |= _offenders(run)
    elif groups & set(KEPT):
        more |= _kept(run, KEPT)
    if groups >= NOMINAL_BPS.keys():
        more |= _excess(run)
    if change == "true-size":
        more |= {name: found[name] * LINK_BPS / TRUE_BPS for name in CAPACITY_RATIOS}
        more["load_ratio"] = more["sent_ratio"]
    return more


def _by_priority(run: Run) -> Found:
    """The loss of cells with CLP=0 and with CLP=1, of those that entered the network so, by
    priority, where there are policers."""
    policed = {row["name"]: row for row in run.document["policing"]}
    if not policed:
        return {}
    dropped = run.link("satellite")["dropped_packets"]
    found: Found = {}
    for name, (plain, marked) in BY_PRIORITY.items():
        mine = [row for group, row in policed.items() if (group in _data(run)) == (name == "data")]
        if not mine:
            continue
        ones = float(sum(row["marked_by_peak"] + row["marked_by_bucket"] for row in mine))
        zeros = float(sum(_admitted(run, row["name"]) for row in mine)) - ones
        # The link counts what policers drop, before they would mark it.
        before = sum(row["dropped"] for row in mine)
        found[f"{name}_clp0_loss_ratio"] = (dropped[plain] - before) / max(zeros, 1.0)
        found[f"{name}_clp1_loss_ratio"] = dropped[marked] / max(ones, 1.0)
    return found


def _data(run: Run) -> set[str]:
    """The groups of data sources."""
    return {row["name"] for row in run.document["groups"]} & {"data", *NOMINAL_BPS}


def _policed(run: Run, group: str) -> float:
    """Cells of a group that its policers dropped."""
    rows = run.document["policing"]
    return float(sum(row["dropped"] for row in rows if row["name"] == group))


def _admitted(run: Run, group: str) -> float:
    """Cells of a group that its policers let into the network."""
    return float(run.group(group)["sent_packets"]) - _policed(run, group)


def _lost(run: Run, groups: Iterable[str]) -> float:
    """Of the cells of some groups that entered the network, the share that it dropped."""
    groups = tuple(groups)
    dropped = sum(run.group(group)["dropped_packets"] - _policed(run, group) for group in groups)
    return float(dropped) / max(sum(_admitted(run, group) for group in groups), 1.0)


def _kept(run: Run, names: Iterable[str]) -> Found:
    """Loss, late cells and jitter of the sources that keep their contract."""
    rows = [row for row in run.document["groups"] if row["name"] in set(names)]
    sent = max(sum(row["sent_packets"] for row in rows), 1)
    kept = {row["name"] for row in rows}
    loss = _lost(run, kept)
    late = sum(row["late_packets"] for row in run.document["lateness"] if row["name"] in kept)
    return {
        "kept_loss_ratio": loss,
        "kept_near_zero_ratio": float(loss <= NEAR_ZERO_LOSS),
        "kept_late_ratio": late / sent,
        "kept_jitter_s": max(row["p99_delay_s"] - row["min_delay_s"] for row in rows),
    }


def _offenders(run: Run) -> Found:
    """Treatment of sources that break their contract by the network, and its cost to others."""
    late = {row["name"]: row["late_packets"] for row in run.document["lateness"]}[OFFENDERS]
    measured = float(run.document["measured_s"])
    return {
        **_kept(run, KEPT),
        "offenders_loss_ratio": _lost(run, [OFFENDERS]),
        "offenders_late_ratio": late / max(run.group(OFFENDERS)["sent_packets"], 1),
        "offenders_admitted_bps": _admitted(run, OFFENDERS) * CELL_BITS / measured,
    }


def _excess(run: Run) -> Found:
    """Excess of what data sources of two nominal rates send above these, over the nominal rate; and
    that of the faster over that of the slower."""
    found = {
        f"{group}_excess_ratio": float(paced(run)[group]["mean_scale"]) - 1.0
        for group in (SLOW, FAST)
    }
    slow, fast = found.values()
    return {**found, "excess_balance_ratio": fast / slow}


def _starts(run: Run) -> Found:
    """Number of cells dropped in the first 5 s above that in as much of the rest; the largest rise
    of the load from one sample of the series to the next after these."""
    series = run.tables["series/links.satellite"]
    times, drops, arrived = (
        np.asarray(series[column], dtype=np.float64)
        for column in ("time_s", "drops", "arrived_bps")
    )
    first = float(drops[times <= LATER_S].sum())
    rest = float(drops[times > LATER_S].sum())
    duration = float(run.document["measured_s"])
    rises = np.diff(arrived[times > LATER_S])
    return {
        "startup_excess_count": first - rest * LATER_S / (duration - LATER_S),
        "startup_dropped_count": first,
        "load_rise_ratio": float(rises.max(initial=0.0)) / LINK_BPS,
    }


def _axes(point: Point, found: Mapping[str, float]) -> Found:
    """1 for a value within the axis of its figure, else 0; over several runs, their share."""
    ends = AXIS_ENDS.get(axis(point), {}) if "change" not in point else {}
    return {
        f"{quantity}_in_axis_ratio": float(found[quantity] <= end)
        for quantity, end in ends.items()
        if quantity in found
    }
