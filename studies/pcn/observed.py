"""Quantities that the sentences of sections 1 and 3 look at beside the tables: when marking starts,
how many flows are re-marked, how long admission control takes to react, how many flows are in the
system."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forebay.study.definition import Point, Run
from forebay_studies.pcn.draft import MBPS, PEAK_BPS, codec_bps
from forebay_studies.pcn.measure import SURGE_S, after, first_at_or_below, load
from forebay_studies.pcn.network import BASE_FLOWS, CODECS, UNITS

Array = NDArray[np.float64]

OBSERVED_S = 0.05
"""The "observation interval of 50 milliseconds" of section 3.2."""
WARM_UP_S = 99.0
WORST_S = 10.0
"""The longer window in which overshoot is counted beside that interval."""
LATE_S = 40.0
"""The tail of what the network gains back: the last 40 of the 90 s of section 3.1.2."""
ACROSS = {"link1": ("eh", "eg"), "link2": ("eh", "eg", "fh"), "link3": ("eh", "fh")}
"""The aggregates that each link of the parking lot carries (Figure 11)."""


def single(run: Run, point: Point) -> dict[str, float]:
    """Sections 3.1.1 and 3.1.3: the first mark after the reroute, how long the load falls from then
    on until it is at 110 % of SR, and what the overload until there sums to, in seconds of SR: in
    the mean, how long a flow in excess stays."""
    start = SURGE_S["single"]
    supportable = float(point["sr_mbps"]) * MBPS
    marks = after(load(run, "ab", OBSERVED_S, "marks"), start, OBSERVED_S)
    loaded = after(load(run, "ab", OBSERVED_S), start, OBSERVED_S) / supportable
    first = int(np.argmax(marks > 0.0)) if marks.any() else len(marks)
    settled = first_at_or_below(loaded, 1.1)
    found = {
        "first_mark_s": first * OBSERVED_S,
        "fall_s": first_at_or_below(loaded[first:], 1.1) * OBSERVED_S,
        "overload_s": float((loaded[:settled] - 1.0).sum()) * OBSERVED_S,
    }
    if point["traffic"] == "mix" and point["load_pct"] == 150:  # no flow ends before the reroute
        found["peak_low_ratio"] = _call_bps(run, "dual_rate") / _call_bps(run, "g729_20ms")
    return found


def _call_bps(run: Run, codec: str) -> float:
    """The mean data rate of a flow of the mix before the reroute, from 1 s on."""
    table = run.tables[f"series/flows.{codec}"]
    rates = np.asarray(table["throughput_bps"], dtype=float)
    sent = after(rates, 1.0, float(table["time_s"][0]), SURGE_S["single"])
    first = next(row for row in run.document["calls"] if row["name"] == codec)
    return float(sent.mean()) / float(first["max_present"])


def row(run: Run, point: Point) -> dict[str, float]:
    """Section 3.1.2.1: packets re-marked at the nodes together, over the flows that are in excess
    of SR after the reroute; the load left in the last 40 s."""
    flows = float(point["sr_mbps"]) * MBPS / PEAK_BPS["g711_20ms"]
    marks = sum(int(link["marks"]) for link in run.document["links"])
    found = {"late_delta_ratio": _late(run, "ab", float(point["sr_mbps"]) * MBPS) - 1.0}
    if point["traffic"] == "cbr":
        found["remarked_ratio"] = marks / (0.95 * flows)
    return found


def parking(run: Run, point: Point) -> dict[str, float]:
    """Section 3.1.2.2: flows ended on each link, in units of M, the excess of one aggregate; the
    load left in the last 40 s."""
    base = float(point["sr_mbps"]) * MBPS
    calls = run.document["calls"]
    found: dict[str, float] = {}
    (codec,) = CODECS[str(point["traffic"])]
    excess = 0.95 * base / codec_bps(*codec)
    for (link, aggregates), (name, units) in zip(ACROSS.items(), UNITS.items(), strict=True):
        ended = sum(row["terminated"] for row in calls if row["aggregate"] in aggregates)
        found[f"{link}_remarked_ratio"] = ended / excess
        found[f"{link}_late_delta_ratio"] = _late(run, name, units * base) - 1.0
    return found


def _late(run: Run, link: str, supportable: float) -> float:
    series = load(run, link, 0.04) / supportable
    return float(series[-round(LATE_S / 0.04) :].mean())


def admission(run: Run, point: Point, base_bps: float) -> dict[str, float]:
    """Section 3.2.1: the worst overshoot counted in four ways, the flows carried, and how long
    admission takes to stop once the flows that send are above AR.

    The base load is "the number of the targeted flows" (section 3.2); a flow has started before
    its first packet, which the media delay defers (section 2.1).
    """
    flows = BASE_FLOWS[str(point["size"])]
    table = run.tables["series/aggregates.eh"]
    first = round(WARM_UP_S / float(table["time_s"][0]))
    present, active, blocking = (
        np.asarray(table[name], dtype=float)[first:]
        for name in ("present_flows", "active_flows", "blocking")
    )
    loads = after(load(run, "ab", OBSERVED_S), WARM_UP_S, OBSERVED_S) / base_bps
    many = round(WORST_S / OBSERVED_S)
    means = loads[: len(loads) // many * many].reshape(-1, many).mean(axis=1)
    worst = {
        "overshoot_ratio": present / flows,
        "overshoot_sending_ratio": active / flows,
        "overshoot_50ms_ratio": loads,
        "overshoot_10s_ratio": means,
    }
    found = {name: max(float(series.max()) - 1.0, 0.0) for name, series in worst.items()}
    found["carried_count"] = float(active.mean())
    found["reaction_s"] = reaction(active > _admissible_flows(point), blocking > 0.0)
    return found


def _admissible_flows(point: Point) -> float:
    """AR in flows: N - 1 of the N of the base load, or a share of them."""
    flows = BASE_FLOWS[str(point["size"])]
    return flows * int(point["ar_pct"]) / 100 if "ar_pct" in point else flows - 1.0


def reaction(above: NDArray[np.bool_], blocking: NDArray[np.bool_]) -> float:
    """Mean time from the sample at which flows come to be above AR, and stay there, to the one at
    which admission is blocked; not a number where it never is."""
    times, since = [], -1
    for sample, (over, blocked) in enumerate(zip(above, blocking, strict=True)):
        if blocked and since >= 0:
            times.append(sample - since)
        if blocked or not over:
            since = -1
        elif since < 0:
            since = sample
    return float(np.mean(times)) * OBSERVED_S if times else float("nan")
