"""Rates, delays and shares of media flows over recorded series, as RFC 8868, section 3, has them.

Series have samples every 100 ms. The changes of the capacity, starts and stops of flows are
parameters of the cells; flows whose names begin with w go the way back.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from forebay.run.measured import Finding, Recording

SAMPLES_OF_RATE = 2
"""Samples of a window of rates: 200 ms (RFC 8868, section 3)."""
SAMPLES_OF_SECOND = 10
SAMPLES_OF_MARKS = 5
"""Samples of a window in which marks are passed: 500 ms."""
LOW, HIGH = 0.5e6, 2.0e6
"""Marks of the oscillation in bit/s, four times apart."""
NEAR = 0.15
"""How far from its mean of a phase a rate may be that has converged."""
HOLDS = 5.0
"""Seconds for which it stays so near."""
SETTLED = 5.0
"""Seconds at the beginning of a phase that are not static."""
PLAYOUT = 0.4
"""Delay in seconds from which on a receiver discards a packet."""

Array = Any


def _active(run: Recording, column: str, of: str = "") -> tuple[Array, Array]:
    """Times and values of a flow's series while it is there, from its first second on."""
    of = of or run.of
    series = run.series(f"flows.{of}")
    time = np.asarray(series["time_s"])
    low, high = run.parameters[f"start_{of}"], run.parameters[f"stop_{of}"]
    there = (time > low + 1.0) & (time <= high + 1e-9)
    return time[there], np.nan_to_num(np.asarray(series[column], float)[there])


def _means(values: Array, samples: int) -> Array:
    """Means of windows one after the other."""
    whole = len(values) // samples * samples
    return values[:whole].reshape(-1, samples).mean(axis=1)


def sending_mean(run: Recording) -> float:
    """The rate for which the encoder makes frames, mean."""
    return float(np.mean(_active(run, "mean_encoder_bps")[1]))


def sending_sd(run: Recording) -> float:
    """Its standard deviation over windows of 200 ms."""
    return float(np.std(_means(_active(run, "mean_encoder_bps")[1], SAMPLES_OF_RATE), ddof=1))


def receiving_mean(run: Recording) -> float:
    """The rate at which packets of a flow arrive, mean."""
    return float(np.mean(_active(run, "throughput_bps")[1]))


def receiving_sd(run: Recording) -> float:
    """Its standard deviation over windows of 200 ms."""
    return float(np.std(_means(_active(run, "throughput_bps")[1], SAMPLES_OF_RATE), ddof=1))


def receiving_least(run: Recording) -> float:
    """Its least value over windows of 200 ms."""
    return float(np.min(_means(_active(run, "throughput_bps")[1], SAMPLES_OF_RATE)))


def receiving_most(run: Recording) -> float:
    """Its greatest value over windows of 200 ms."""
    return float(np.max(_means(_active(run, "throughput_bps")[1], SAMPLES_OF_RATE)))


def goodput(run: Recording) -> float:
    """The rate of payload that arrives, mean."""
    return float(np.mean(_active(run, "goodput_bps")[1]))


def discards(run: Recording) -> float:
    """The share of a flow's packets that come too late for playout, of those that arrive.

    Delays are recorded in ranges; one that holds the limit counts as in time.
    """
    table = run.run.tables["delays"]
    mine = np.asarray([name == run.of for name in table["group"]])
    packets = np.asarray(table["packets"], float)[mine]
    late = np.asarray(table["from_s"], float)[mine] >= PLAYOUT
    return float(packets[late].sum() / packets.sum())


def residual(run: Recording) -> float:
    """The share of a flow's packets that are lost or come too late."""
    row = run.row("groups", run.of)
    arrived = row["delivered_packets"] / row["sent_packets"]
    return float(row["dropped_packets"] / row["sent_packets"] + discards(run) * arrived)


def _flows(run: Recording) -> list[str]:
    """The media flows of a run."""
    return [row["name"] for row in run.run.document["groups"] if row["transport"] == "media"]


def _changes(run: Recording, of: str) -> list[float]:
    """The times at which the capacity of a flow's way changes, in order."""
    kind = "back" if of.startswith("w") else "change"
    times = (run.parameters.get(f"{kind}{number}", 0.0) for number in range(1, 5))
    return [time for time in times if time > 0.0]


def _phases(run: Recording, of: str) -> list[tuple[float, float]]:
    """The times between changes while a flow is there: capacity is the same, and flows too."""
    low, high = run.parameters[f"start_{of}"], run.parameters[f"stop_{of}"]
    edges = [*_changes(run, of)]
    edges += [run.parameters[f"start_{name}"] for name in _flows(run)]
    edges += [run.parameters[f"stop_{name}"] for name in _flows(run)]
    inside = sorted({low, high, *(edge for edge in edges if low < edge < high)})
    return list(itertools.pairwise(inside))


def _converges(time: Array, rate: Array, low: float, high: float) -> float | None:
    """Seconds after `low` from which on a rate is near its mean of the phase for long enough."""
    inside = (time > low) & (time <= high + 1e-9)
    at, values = time[inside], rate[inside]
    near = np.abs(values - values.mean()) <= NEAR * values.mean()
    interval = float(at[1] - at[0])
    needed = round(HOLDS / interval)
    run = 0
    for number, is_near in enumerate(near):
        run = run + 1 if is_near else 0
        if run == needed:
            return max(0.0, float(at[number - needed + 1] - interval - low))
    return None


def _convergences(run: Recording) -> list[tuple[float, float, float | None]]:
    """Each phase of a flow as its limits, and when its rate, over a second, has converged."""
    time, rate = _active(run, "throughput_bps")
    kernel = np.ones(SAMPLES_OF_SECOND) / SAMPLES_OF_SECOND
    smooth = np.convolve(rate, kernel, mode="valid")
    at = time[SAMPLES_OF_SECOND - 1 :]
    phases = [each for each in _phases(run, run.of) if each[1] - each[0] > 2.0 * HOLDS]
    return [(low, high, _converges(at, smooth, low, high)) for low, high in phases]


def convergence(run: Recording) -> float:
    """The mean time to converge after a change; a phase without counts whole."""
    found = _convergences(run)
    return float(np.mean([high - low if after is None else after for low, high, after in found]))


def unconverged(run: Recording) -> float:
    """The number of phases in which the rate does not converge."""
    return float(sum(after is None for _, _, after in _convergences(run)))


def _static(run: Recording) -> Iterator[tuple[float, float]]:
    """The static parts of the phases in which all media flows that are compared are there."""
    names = _together(run)
    for low, high in _phases(run, names[0]):
        starts = [run.parameters[f"start_{name}"] for name in names]
        stops = [run.parameters[f"stop_{name}"] for name in names]
        if low >= max(starts) and high <= min(stops) and high - low > SETTLED:
            yield low + SETTLED, high


def _together(run: Recording) -> list[str]:
    """The flows that are compared: those on the way there that are there at `together`."""
    at = run.parameters["together"]
    return [
        name
        for name in _flows(run)
        if not name.startswith("w")
        and run.parameters[f"start_{name}"] <= at < run.parameters[f"stop_{name}"]
    ]


def _ratio(run: Recording, seconds: float) -> Finding:
    """The mean over static windows of the greatest throughput of a flow over the least.

    Windows end with the phase, so that what is left over is at its beginning.
    """
    names = _together(run)
    series = [run.series(f"flows.{name}") for name in names]
    time = np.asarray(series[0]["time_s"])
    found = []
    for low, high in _static(run):
        for number in range(int((high - low + 1e-9) / seconds)):
            end = high - number * seconds
            inside = (time > end - seconds + 1e-9) & (time <= end + 1e-9)
            rates = [float(np.asarray(each["throughput_bps"])[inside].mean()) for each in series]
            if min(rates) <= 0.0:
                return Finding(None, f"a flow gets nothing in the {seconds:g} s before {end:g} s")
            found.append(max(rates) / min(rates))
    return Finding(float(np.mean(found))) if found else Finding(None, "no static window")


def ratio_1(run: Recording) -> Finding:
    """Greatest over least throughput of flows, over 1 s."""
    return _ratio(run, 1.0)


def ratio_5(run: Recording) -> Finding:
    """Greatest over least throughput of flows, over 5 s."""
    return _ratio(run, 5.0)


def ratio_20(run: Recording) -> Finding:
    """Greatest over least throughput of flows, over 20 s."""
    return _ratio(run, 20.0)


def crossings(run: Recording) -> float:
    """How often all media on the way there together go from below a low mark to above a high one,
    or back, by means over 500 ms."""
    names = [name for name in _flows(run) if not name.startswith("w")]
    rates = [np.nan_to_num(np.asarray(run.series(f"flows.{name}")["throughput_bps"], float))
             for name in names]  # fmt: skip
    means = _means(np.sum(rates, axis=0)[1:], SAMPLES_OF_MARKS)
    sides = [value > HIGH for value in means if value < LOW or value > HIGH]
    return float(sum(a != b for a, b in itertools.pairwise(sides)))


def utilization(run: Recording) -> float:
    """What encoders and audio on the way there send, over what media may have of the capacity."""
    names = [name for name in _flows(run) if not name.startswith("w")]
    first = min(run.parameters[f"start_{name}"] for name in names)
    last = max(run.parameters[f"stop_{name}"] for name in names)
    time = np.asarray(run.series(f"flows.{names[0]}")["time_s"])
    inside = (time > first) & (time <= last + 1e-9)
    sent = np.zeros(len(time))
    for name in names:
        there = (time > run.parameters[f"start_{name}"]) & (time <= run.parameters[f"stop_{name}"])
        rate = np.nan_to_num(np.asarray(run.series(f"flows.{name}")["mean_encoder_bps"], float))
        sent += np.where(there, rate + run.parameters["audio"], 0.0)
    allowed = np.full(len(time), run.parameters["capacity0"])
    for number, change in enumerate(_changes(run, names[0]), 1):
        allowed[time > change] = run.parameters[f"capacity{number}"]
    return float(sent[inside].sum() / allowed[inside].sum())
