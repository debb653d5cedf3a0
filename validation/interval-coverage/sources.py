"""Sources of replications: queues with more and less skewed means, run by the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.run.jobs import Job, Run, run_jobs

__all__ = ["SOURCES", "Source", "pool"]

SEED = 20
CHUNK = 2000


@dataclass(frozen=True)
class Source:
    """A scenario with a link `server`, whose mean queue is what one replication gives."""

    title: str
    text: str


def pool(source: Source, count: int) -> NDArray[np.float64]:
    """The mean queue (packets) of so many replications; independent, as their streams are."""
    found = np.empty(count)
    job = Job(source.text, source.title, seed=SEED)
    for first in range(0, count, CHUNK):
        numbers = range(first, min(first + CHUNK, count))

        def done(index: int, run: Run, first: int = first) -> None:
            found[first + index] = run.link("server")["mean_queue_packets"]

        run_jobs([job.but(replication=number) for number in numbers], done, 1)
    return found


def _server(rate: str, warm_up: int, measured: int, flows: str) -> str:
    return (
        f'duration = "{warm_up + measured} s"\nwarm_up = "{warm_up} s"\n'
        f'[links.server]\nfrom = "a"\nto = "b"\nrate = "{rate}"\nduplex = false\n'
        f'[flows.x]\nfrom = "a"\nto = "b"\nudp = {{}}\n{flows}\n'
    )


def _mm1(load: float, warm_up: int, measured: int) -> Source:
    """Service of 1 ms in the mean, as 1000 B take at 8 Mbit/s."""
    traffic = (
        f'poisson = {{ rate = "{8 * load:g} Mbit/s", size = "1000 B", sizes = "exponential" }}'
    )
    text = _server("8 Mbit/s", warm_up, measured, f"traffic = {{ {traffic} }}")
    return Source(f"M/M/1, load {load:g}, {measured} s", text)


def _bursty(load: float, on: str, off: str) -> Source:
    """Twenty exponential on-off sources of 160 kbit/s on a link of 2 Mbit/s, 500 B packets."""
    traffic = f'on_off = {{ rate = "160 kbit/s", size = "500 B", on = "{on}", off = "{off}" }}'
    text = _server("2 Mbit/s", 2, 20, f"count = 20\ntraffic = {{ {traffic} }}")
    return Source(f"bursty, load {load:g}, 20 s", text)


# The measured time is short where the queue has a short memory, so that runs are few milliseconds.
SOURCES: Mapping[str, Source] = {
    "mm1-0.5": _mm1(0.5, 1, 2),
    "mm1-0.8": _mm1(0.8, 1, 4),
    "mm1-0.95": _mm1(0.95, 5, 25),
    # 20 * 160 kbit/s * 0.5 / 2 Mbit/s, and with 400 ms of 1 s on.
    "bursty-0.8": _bursty(0.8, "500 ms", "500 ms"),
    "bursty-0.64": _bursty(0.64, "400 ms", "600 ms"),
}
