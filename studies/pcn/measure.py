"""Measurements of a run of the study: times, loads and shares from its time series and counters.

Loads are rates of packets that arrive at a link, in bit/s or as a fraction of SR, over windows of
the length that each figure of the draft needs. Times count from the reroute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.study.definition import Point, Run
from forebay_studies.pcn.draft import MBPS

Array = NDArray[np.float64]

SURGE_S = {"single": 5.0, "row": 5.0, "parking": 5.0, "voice": 3.0, "video": 3.0}
"""Time of the reroute, by family of grid points."""

AGAIN_S = {"steps": 25.0, "video": 24.0}
"""Time of the second reroute (sections 4.1 and 4.7)."""

STAGES = {"stage75_s": 1.75, "stage50_s": 1.5, "stage25_s": 1.25, "stage5_s": 1.05}
"""The ends of the stages of Figure 9, as load over SR."""


def load(run: Run, link: str, window_s: float, column: str = "arrived_bps") -> Array:
    """Mean of a column of a link's series over consecutive windows, from time zero."""
    table = run.tables[f"series/links.{link}"]
    values = np.asarray(table[column], dtype=float)
    step = float(table["time_s"][0])
    many = max(round(window_s / step), 1)
    whole = len(values) // many
    mean: Array = values[: whole * many].reshape(whole, many).mean(axis=1)
    return mean


def after(series: Array, start_s: float, window_s: float, end_s: float | None = None) -> Array:
    """The windows from `start_s` on, up to `end_s`."""
    end = None if end_s is None else round(end_s / window_s)
    return series[round(start_s / window_s) : end]


def first_at_or_below(series: Array, level: float) -> int:
    """The first window at or below a level; the number of windows if there is none."""
    below = np.flatnonzero(series <= level * (1.0 + 1e-9))
    return int(below[0]) if len(below) else len(series)


def single(run: Run, point: Point) -> dict[str, float]:
    """Figures 3 to 8: windows of 50 ms, the tail from 5 s to 17 s after the reroute."""
    window, start = 0.05, SURGE_S["single"]
    supportable = float(point["sr_mbps"]) * MBPS
    series = load(run, "ab", window)
    loaded = after(series, start, window) / supportable
    found = {
        f"to{percent}_s": first_at_or_below(loaded, percent / 100) * window
        for percent in (150, 125, 110, 100)
    }
    tail = after(series, start + 5.0, window, start + 17.0)
    found["tail_mean_bps"] = float(tail.mean())
    found["tail_max_bps"] = float(tail.max())
    found["tail_min_bps"] = float(tail.min())
    found["tail_spread_bps"] = float(tail.max() - tail.min())
    return found


def settling(loaded: Array, window: float) -> tuple[float, dict[str, float]]:
    """Figure 9: time to the end of the first window with at most 5 % overload, and its stages."""
    ends = [(first_at_or_below(loaded, level) + 1) * window for level in STAGES.values()]
    starts = [0.0, *ends[:-1]]
    stages = {name: end - start for name, end, start in zip(STAGES, ends, starts, strict=True)}
    return ends[-1], stages


def row(run: Run, point: Point) -> dict[str, float]:
    """Figures 9 and 10: the first node, windows of 40 ms, the tail from 5 s after the reroute."""
    window, start = 0.04, SURGE_S["row"]
    supportable = float(point["sr_mbps"]) * MBPS
    series = load(run, "ab", window) / supportable
    tail = float(after(series, start + 5.0, window).mean())
    settled, stages = settling(after(series, start, window), window)
    return {
        "tail_bps": tail * supportable,
        "tail_ratio": tail,
        "tail_delta_ratio": tail - 1.0,
        "settling_s": settled,
        **stages,
    }


def parking(run: Run, point: Point) -> dict[str, float]:
    """Figures 12 and 13: every link, and what is left of each aggregate; settling at Link 1."""
    window, start = 0.04, SURGE_S["parking"]
    base = float(point["sr_mbps"]) * MBPS
    found: dict[str, float] = {}
    for number, (link, units) in enumerate((("ab", 2), ("bc", 3), ("cd", 2)), start=1):
        series = load(run, link, window) / (units * base)
        tail = float(after(series, start + 5.0, window).mean())
        found[f"link{number}_delta_ratio"] = tail - 1.0
        if number == 1:
            found["settling_s"] = settling(after(series, start, window), window)[0]
    for aggregate in ("eh", "eg", "fh"):
        rate = 0.0
        for flows in (aggregate, f"{aggregate}_added"):
            table = run.tables[f"series/flows.{flows}"]
            step = float(table["time_s"][0])
            rates = np.asarray(table["throughput_bps"], dtype=float)
            rate += float(after(rates, start + 5.0, step).mean())
        found[f"{aggregate}_bps"] = rate
    return found


def admission(run: Run, base_bps: float, aggregate: str) -> dict[str, float]:
    """The table of section 3.2.1 but for its overshoot: after the warm-up of 99 s, at the first
    node."""
    window, warm_up = 0.05, 99.0
    calls = [row for row in run.document["calls"] if row["aggregate"] == aggregate]
    admitted = sum(row["admitted"] for row in calls)
    blocked = sum(row["blocked"] for row in calls)
    series = after(load(run, "ab", window), warm_up, window)
    return {
        "blocking_ratio": blocked / max(admitted + blocked, 1),
        "utilization_ratio": float(series.mean()) / base_bps,
        "data_bps": float(series.mean()),
    }


def erlang_b(offered: float, servers: int) -> float:
    """Blocking of Erlang's loss system (recursion over the servers)."""
    blocking = 1.0
    for busy in range(1, servers + 1):
        blocking = offered * blocking / (busy + offered * blocking)
    return blocking


def voice(run: Run, supportable: float) -> dict[str, float]:
    """Section 4.2 to 4.6: the first reroute, its decay, and what is left in the last 12 s."""
    start, fine, window = SURGE_S["voice"], 0.02, 0.05
    coarse = after(load(run, "ab", window), start, window) / supportable
    found = {
        f"to{percent}_s": first_at_or_below(coarse, percent / 100) * window
        for percent in (150, 125, 110, 105, 100)
    }
    seconds = coarse[: len(coarse) // 20 * 20].reshape(-1, 20).mean(axis=1)
    found["tail_ratio"] = float(coarse[-240:].mean())
    found["low_ratio"] = float(seconds.min())
    found["swing_ratio"] = float(np.ptp(seconds[-12:]))
    found |= _decay(run, after(load(run, "ab", fine), start, fine) / supportable, start)
    found["loss_ratio"] = _largest_loss(run, start)
    present = np.asarray(run.tables["series/aggregates.eh"]["present_flows"], dtype=float)
    active = np.asarray(run.tables["series/aggregates.eh"]["active_flows"], dtype=float)
    step = float(run.tables["series/aggregates.eh"]["time_s"][0])
    found["before_flows_count"] = float(present[round(start / step) - 2])
    found["after_flows_count"] = float(present[-1])
    found["rise_s"] = float(np.argmax(after(active, start, step))) * step
    found |= _terminated_by_codec(run.document["calls"])
    return found


def _decay(run: Run, loaded: Array, start: float) -> dict[str, float]:
    """Fall of the excess over SR, and how often packets are marked meanwhile."""
    fine = 0.02
    peak = float(loaded[:5].mean())
    excess = max(peak - 1.0, 1e-9)
    half = first_at_or_below(loaded, 1.0 + excess / 2) * fine
    quarter = first_at_or_below(loaded, 1.0 + excess / 4) * fine
    marks = after(load(run, "ab", fine, "marks"), start, fine)
    seen = np.flatnonzero(marks)
    found = {"half_s": half, "quarter_s": quarter}
    settled = first_at_or_below(loaded, 1.05) * fine
    if len(seen):
        # Marks until half of the excess is gone, and from then until 5 % of SR are left.
        halfway, end = round(half / fine), round(settled / fine)
        often = float(marks[seen[0] : max(halfway, int(seen[0])) + 1].mean())
        later = np.append(marks[halfway + 1 : end + 1], 0.0)
        found["marks_per_s_slowing_ratio"] = often / max(float(later.mean()), 1.0 / len(later))
    if len(seen) > 2 and seen[0] + 1 < len(marks):
        # Until the first terminations take effect the excess is at its highest.
        wide = 3
        early = float(marks[seen[0] + 1 : seen[0] + 1 + wide].mean())
        at = min(round(quarter / fine), len(marks) - 1)
        late = float(marks[max(at - wide, 0) : at + wide].mean())
        found["marks_per_s_early_ratio"] = early / late if late > 0.0 else float("nan")
    return found


def _largest_loss(run: Run, start: float) -> float:
    arrived = after(load(run, "ab", 0.05), start, 0.05)
    served = after(load(run, "ab", 0.05, "throughput_bps"), start, 0.05)
    return float(np.max(1.0 - served / np.maximum(arrived, 1.0), initial=0.0))


def _terminated_by_codec(calls: list[Mapping[str, Any]]) -> dict[str, float]:
    """Share of the flows of a codec that were terminated, of all that were there at once."""
    found = {}
    for codec, name in (("dual_rate", "high_rate"), ("g729_20ms", "low_rate")):
        rows = [row for row in calls if row["name"].removesuffix("_added") == codec]
        if rows:
            terminated = sum(row["terminated"] for row in rows)
            left = sum(row["present"] for row in rows)
            found[f"{name}_terminated_ratio"] = terminated / max(terminated + left, 1)
    return found


def steps(run: Run, supportable: float) -> dict[str, float]:
    """Section 4.1: a sudden reroute, then a slow one, of which 80 % has come after a second. The
    time to settle again counts from its beginning; the largest loads are means over a second."""
    window, first, again = 0.05, SURGE_S["voice"], AGAIN_S["steps"]
    series = load(run, "ab", window) / supportable
    once = after(series, first, window, again)
    seconds = after(load(run, "ab", 1.0), first, 1.0) / supportable
    slow = round(again - first)
    rerouted = after(series, again + 1.0, window)
    return {
        "settling_s": first_at_or_below(once, 1.05) * window,
        "again_settling_s": 1.0 + first_at_or_below(rerouted, 1.05) * window,
        "peak_ratio": float(seconds[:slow].max()),
        "again_peak_ratio": float(seconds[slow:].max()),
        "between_ratio": float(once[-240:].mean()),
        "left_ratio": float(series[-240:].mean()),
    }


def video(run: Run, supportable: float, flow_bps: float) -> dict[str, float]:
    """Section 4.7: from the first reroute to the second, and from the second on."""
    first, again = SURGE_S["video"], AGAIN_S["video"]
    present = np.asarray(run.tables["series/aggregates.eh"]["present_flows"], dtype=float)
    found = _surge_of_video(run, (first, again), present, supportable, flow_bps)
    end = again + (again - first)
    later = _surge_of_video(run, (again, end), present, supportable, flow_bps)
    return found | {f"again_{name}": value for name, value in later.items()}


def _surge_of_video(
    run: Run, between: tuple[float, float], present: Array, supportable: float, flow_bps: float
) -> dict[str, float]:
    """Effects of a reroute until the next one: load, and flows terminated of those there at once.

    A flow is heard up to two frames after it has come, as it sends each at the end of its interval.
    """
    start, end = between
    step, unheard = 0.05, 0.1
    tail = after(load(run, "ab", 1.0), start, 1.0, end)[-10:] / supportable
    heard = after(load(run, "ab", step), start + unheard, step, end) / supportable
    # Counts stand for the end of their step; the one at `end` has the next reroute in it.
    flows = after(present, start - step, step, end - step)
    most, left = float(flows.max()), float(flows[-1])
    return {
        "tail_ratio": float(tail.mean()),
        "tail_spread_ratio": float(np.ptp(tail)),
        "to110_s": unheard + first_at_or_below(heard, 1.1) * step,
        "terminated_ratio": (most - left) / most,
        "excess_terminated_ratio": (most - left) * flow_bps / (most * flow_bps - supportable),
    }
