"""Quantities of one run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.study import Point, Run
from forebay_studies.dctcp.formulas import cycle, largest_gain, least_threshold
from forebay_studies.dctcp.network import LATE_S, STEP_S, packet_time_s, rtt_s

__all__ = ["quantities", "timeouts_ratio"]

Array = NDArray[np.float64]

FAIR = 0.99
"""Jain's index of two flows that have converged."""

SETTLED_S = 1.0
"""Time after a start or stop of figure 16 from which a period is judged."""

PORT = "receiver.reverse"


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Quantities that a grid point's claims and figures look at."""
    match point["experiment"]:
        case "analysis":
            return _formulas(point) | _sawtooth(run, point)
        case "converge":
            return _convergence(run)
        case "long":
            return _port(run)
        case "many":
            return {"jain_ratio": float(run.group("long")["jain_index"])} | _port(run)
        case "steps":
            return _steps(run)
        case "hops":
            return _hops(run)
        case "pressure":
            return _queries(run) | _background(run)
        case _:
            return _queries(run)


def _formulas(point: Point) -> dict[str, float]:
    """The analysis, evaluated."""
    path, threshold = rtt_s(point) / packet_time_s(point), float(point["k"])
    expected = cycle(path, threshold, float(point["flows"]))
    return {
        "alpha_expected_ratio": expected.alpha,
        "amplitude_expected_packets": expected.amplitude,
        "period_expected_ratio": expected.period,
        "highest_expected_packets": expected.highest,
        "lowest_expected_packets": expected.lowest,
        "least_threshold_packets": least_threshold(path),
        "largest_gain_ratio": largest_gain(path, threshold),
    }


def _sawtooth(run: Run, point: Point) -> dict[str, float]:
    """The same of the queue and of one flow, as simulated."""
    queue = _series(run, f"links.{PORT}")
    flow = _series(run, "flows.long[0]")
    late = queue["time_s"] > float(run.document["simulated_s"]) - float(run.document["measured_s"])
    packets = queue["queue_packets"][late]
    highest, lowest = np.quantile(packets, (0.99, 0.01))
    falls = np.flatnonzero(np.diff(flow["cwnd_bytes"][late]) < 0)
    found = {
        "highest_packets": float(highest),
        "lowest_packets": float(lowest),
        "amplitude_packets": float(highest - lowest),
        "mean_queue_packets": float(packets.mean()),
    }
    # Controls that do not reduce by the share of marks have no alpha.
    if "marked_share" in flow:
        found["alpha_ratio"] = float(flow["marked_share"][late].mean())
    if len(falls) > 1:
        spacing = np.diff(queue["time_s"][late][falls]).mean()
        # A round trip of these times: the empty one, and what waits on average.
        trip = rtt_s(point) + packets.mean() * packet_time_s(point)
        found["period_ratio"] = float(spacing / trip)
    return found


def _convergence(run: Run) -> dict[str, float]:
    """Time from the start of the second flow to the first 10 ms in which both get the same."""
    first, second = (_series(run, f"flows.{name}") for name in ("first", "second"))
    time = first["time_s"]
    rates = np.stack([first["goodput_bps"], second["goodput_bps"]])
    rates = (rates[:, 1:] + rates[:, :-1]) / 2.0
    ends = time[1:]
    begun = np.flatnonzero(second["goodput_bps"] > 0)[0]
    start = time[begun] - (time[1] - time[0])
    jain = rates.sum(axis=0) ** 2 / np.maximum(2.0 * (rates**2).sum(axis=0), 1.0)
    fair = ends[(jain >= FAIR) & (ends > max(start, LATE_S[0]))]
    after = float(fair[0] - start) if len(fair) else float(time[-1] - start)
    return {"convergence_s": after}


def _port(run: Run) -> dict[str, float]:
    """What the receiver's port carries, and its queue."""
    link, flows = run.link(PORT), run.group("long")
    return {
        "goodput_bps": float(flows["goodput_bps"]),
        "mean_queue_packets": float(link["mean_queue_packets"]),
        "max_queue_packets": float(link["max_queue_packets"]),
        "marked_ratio": flows["marked_packets"] / max(flows["delivered_packets"], 1),
    }


def _steps(run: Run) -> dict[str, float]:
    """Fairness and variation of the flows that send in each period of figure 16."""
    series = [_series(run, f"flows.step{number}") for number in range(1, 6)]
    time = series[0]["time_s"]
    jains, swings = [], []
    for period in range(2 * len(series) - 1):
        inside = (time > period * STEP_S + SETTLED_S) & (time <= (period + 1) * STEP_S)
        active = range(max(0, period - len(series) + 1), min(period + 1, len(series)))
        rates = np.stack([series[flow]["goodput_bps"][inside] for flow in active])
        means = rates.mean(axis=1)
        jains.append(means.sum() ** 2 / (len(means) * (means**2).sum()))
        if len(active) > 1:
            swings.append((rates.std(axis=1) / means).mean())
    return {"jain_ratio": float(np.mean(jains)), "variation_ratio": float(np.mean(swings))}


def _hops(run: Run) -> dict[str, float]:
    """Throughput of a sender of each of the groups of figure 17."""
    groups = [run.group(name) for name in ("s1", "s3")]
    middle = [run.group(f"s2x{number}") for number in range(1, 21)]
    every = [*groups, *middle]
    return {
        "s1_bps": float(groups[0]["throughput_bps"]) / groups[0]["flows"],
        "s3_bps": float(groups[1]["throughput_bps"]) / groups[1]["flows"],
        "s2_bps": float(np.mean([group["throughput_bps"] for group in middle])),
        "timeouts_count": float(sum(group["timeouts"] for group in every)),
    }


def _queries(run: Run) -> dict[str, float]:
    """Completion times of queries, and how many of them had a timeout in a part."""
    done, row = run.tables["transfers"], run.row("transfers", "query")
    times = np.asarray(done["completion_s"])
    if not len(times):
        return {}
    found = {
        "queries_count": float(len(times)),
        "mean_s": float(times.mean()),
        "shortest_s": float(times.min()),
        "timeouts_ratio": timeouts_ratio(run, int(row["completed"])),
    }
    for name, share in (("median", 0.5), ("p95", 0.95)):
        found[f"{name}_s"] = float(np.quantile(times, share))
    return found


def timeouts_ratio(run: Run, completed: int) -> float:
    """Share of queries in which a retransmission timer ran out."""
    cut, done = run.tables["reductions"], run.tables["transfers"]
    fan_in = run.group("query")["flows"] // len(set(done["flow"]))
    signals = np.asarray(cut["signal"])
    expired = [
        (_client(name, fan_in), at)
        for name, at, signal in zip(cut["flow"], cut["time_s"], signals, strict=True)
        if signal == "timeout" and name.startswith("query")
    ]
    ends: dict[int, list[float]] = {}
    begun: dict[int, list[float]] = {}
    for name, end, begin in zip(done["flow"], done["time_s"], done["begun_s"], strict=True):
        ends.setdefault(_client(name, fan_in), []).append(end)
        begun.setdefault(_client(name, fan_in), []).append(begin)
    hit = set()
    for client, at in expired:
        index = int(np.searchsorted(ends.get(client, []), at))
        if index < len(ends.get(client, [])) and begun[client][index] <= at:
            hit.add((client, index))
    return len(hit) / max(completed, 1)


def _client(flow: str, fan_in: int) -> int:
    """Number of the client that a flow such as `query[17]` is a connection of."""
    _, _, number = flow.partition("[")
    return int(number.rstrip("]") or 0) // fan_in


def _background(run: Run) -> dict[str, float]:
    """What the long flows of table 2 get in all."""
    flows = [group for group in run.document["groups"] if group["name"].startswith("long")]
    return {"long_bps": float(sum(group["goodput_bps"] for group in flows))} if flows else {}


def _series(run: Run, name: str) -> dict[str, Array]:
    table: Any = run.tables[f"series/{name}"]
    return {column: np.asarray(table[column]) for column in table}
