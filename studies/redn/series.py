"""Series that a run recorded, by the second: the thesis's statistics are dumped every second."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from forebay.study.definition import Run

Array = NDArray[np.float64]


PACKET_BITS = 8000.0
"""Packets of 1 kB."""

PER_SECOND = 10
"""Samples of scenario.toml's `record.series` in a second."""


def column(run: Run, table: str, name: str) -> Array:
    """A column of a recorded table; zeros where the law at hand has no such gauge."""
    columns: Mapping[str, object] = run.tables[table]
    if name not in columns:
        return np.zeros(len(np.asarray(columns["time_s"])))
    return np.asarray(columns[name], dtype=np.float64)


def by_second(series: Array) -> Array:
    """Means over the seconds of a series."""
    whole = len(series) // PER_SECOND
    seconds: Array = series[: whole * PER_SECOND].reshape(whole, PER_SECOND).mean(axis=1)
    return seconds


class Gate:
    """A bottleneck gateway by the second; averages of queues at every sample."""

    def __init__(self, run: Run, link: str, mbps: float) -> None:
        """Reads what `run` recorded of `link`, of so many Mbit/s."""

        def series(name: str) -> Array:
            return column(run, f"series/links.{link}", name)

        self.utilization = by_second(series("throughput_bps")) / (mbps * 1e6)
        packets = by_second(series("throughput_bps")) / PACKET_BITS
        queue = by_second(series("mean_queue_packets"))
        # Little's law over each second; a second without departures has no delay.
        self.delay = np.divide(queue, packets, out=np.zeros_like(queue), where=packets > 0)
        arrived = by_second(series("arrived_packets"))
        early = by_second(series("early_drops"))
        self.early = np.divide(early, arrived, out=np.zeros_like(early), where=arrived > 0)
        self.average = [series(f"average.{precedence}") for precedence in range(3)]
        self.effective = [series(f"max_probability.{precedence}") for precedence in range(3)]
        self.dynamic = [series(f"dynamic_probability.{precedence}") for precedence in range(3)]


class Path:
    """Rates that the conditioner of a path lets through, in bit/s by the second and colour."""

    def __init__(self, run: Run, link: str) -> None:
        """Reads what `run` recorded of the access link `link`."""
        table = f"series/links.{link}"
        self.colour = [
            by_second(column(run, table, f"throughput_bps.{precedence}")) for precedence in range(3)
        ]
        self.sent = by_second(column(run, table, "throughput_bps"))
