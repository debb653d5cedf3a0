"""Times of section 5 of draft-irtf-iccrg-tcpeval-01, and completion times by size.

Windows and arrivals are sampled, so that times are known to a sample: 5 ms in section 5.2, 10 ms
in 5.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from forebay.run.measured import Finding, Recording

RANGES = {
    "to 10 kB": (0.0, 10e3),
    "to 100 kB": (10e3, 100e3),
    "to 1 MB": (100e3, 1e6),
    "above": (1e6, np.inf),
}
"""Sizes of responses in bytes, from and up to."""

PAYLOAD = 1448.0 / 1500.0
"""The part of a full packet that windows count."""

RTT = 0.1
"""Round-trip time of the flow in section 5.3, in seconds."""

Array = Any


def completion(run: Recording) -> Finding:
    """The mean completion time of responses down that were asked for after the warm-up and have a
    size in the range."""
    table = run.run.tables["transfers"]
    size = np.asarray(table["size_bytes"], float)
    groups = [str(name).partition("[")[0] for name in table["flow"]]
    low, high = RANGES[run.of]
    mine = np.asarray([name.removeprefix("a_").startswith("down") for name in groups])
    mine &= (size > low) & (size <= high)
    mine &= np.asarray(table["begun_s"]) >= run.parameters["warm_up"]
    if not mine.any():
        return Finding(None, f"no response of {run.of} was completed")
    return Finding(float(np.asarray(table["completion_s"])[mine].mean()))


def byte(run: Recording) -> Finding:
    """The time from the first segment of the new flow until its byte 1500 x 10^n has arrived."""
    series = run.series("flows.new")
    time = np.asarray(series["time_s"])
    interval = float(time[1] - time[0])
    started = np.asarray(series["active_flows"]) > 0
    if not started.any():
        return Finding(None, "the flow did not start")
    start = float(time[np.argmax(started)]) - interval
    arrived = np.cumsum(np.nan_to_num(np.asarray(series["goodput_bps"], float))) * interval / 8.0
    wanted = 1500.0 * 10.0 ** int(run.of)
    if arrived[-1] < wanted:
        return Finding(None, f"not within {float(time[-1]) - start:.0f} s")
    return Finding(float(time[np.argmax(arrived >= wanted)]) - start)


def _reached(run: Recording, share: float) -> tuple[Array, Array, int | None]:
    """Times since the event, windows in full packets, and the first sample with that share of the
    bandwidth-delay product, if there is one."""
    series = run.series("flows.test")
    after = np.asarray(series["time_s"]) - run.parameters["event"]
    inside = after > 0.0
    window = np.asarray(series["mean_cwnd_bytes"], float)[inside] / (1500.0 * PAYLOAD)
    wanted = share * run.parameters["capacity"] * RTT / (8.0 * 1500.0)
    above = window >= wanted
    return after[inside], window, int(np.argmax(above)) if above.any() else None


def reach(run: Recording) -> Finding:
    """The time from the event until the window is at a share of the bandwidth-delay product."""
    time, _, first = _reached(run, float(run.of) / 100.0)
    if first is None:
        return Finding(None, f"not within {float(time[-1]):.0f} s")
    return Finding(float(time[first]))


def largest_change(run: Recording) -> Finding:
    """The most by which the window changes in a round-trip time until it is at 90 %, in packets."""
    time, window, first = _reached(run, 0.9)
    samples = round(RTT / float(time[1] - time[0]))
    until = len(window) - 1 if first is None else first
    if until < samples:
        return Finding(None, "at 90 % within a round-trip time")
    part = window[: until + 1]
    return Finding(float(np.abs(part[samples:] - part[:-samples]).max()))
