"""The queue delay while the rate of the link changes, by queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from forebay import drawing
from forebay.drawing import Figure
from forebay.study import Outcome, Point, Recording, Run
from forebay_studies.codel.network import STEPS, rate_at

__all__ = ["RECORDINGS", "figures"]

SERIES = "series/links.core"
SHOWN = {"droptail": "tail drop", "red": "RED", "codel": "CoDel"}


def _keep(run: Run, _: Point) -> Mapping[str, Mapping[str, Any]]:
    """Length of the queue alone."""
    table = run.tables[SERIES]
    return {SERIES: {name: table[name] for name in ("time_s", "queue_bytes")}}


RECORDINGS = [
    Recording(
        queue, {"family": "dynamic", "buffer": 830, "queue": queue}, interval=None, keep=_keep
    )
    for queue in SHOWN
]


def figures(outcome: Outcome) -> list[Figure]:
    """What a packet that arrives would wait, in one run of each queue."""
    picture, axis = drawing.new_axis(3.4)
    drawn = 0
    for index, (queue, label) in enumerate(SHOWN.items()):
        table = outcome.recordings.get(queue, {}).get(SERIES)
        if table is None:
            continue
        times = table["time_s"].to_numpy()
        rates = np.array([rate_at(time) for time in times])
        waits = 8e3 * table["queue_bytes"].to_numpy() / rates
        axis.plot(
            times, np.maximum(waits, LEAST_MS), label=label, linewidth=0.8,
            color=drawing.COLOURS[index],
        )  # fmt: skip
        drawn += 1
    if not drawn:
        return []
    drawing.log_axis(axis, "y")
    for at, _ in STEPS[1:]:
        axis.axvline(at, color=drawing.INK, linewidth=0.6, linestyle=drawing.DOTTED)
    for (at, rate), (end, _) in zip(STEPS, [*STEPS[1:], (300, 0)], strict=True):
        axis.text((at + end) / 2, 1.4e4, f"{rate} Mbit/s", ha="center", va="bottom", fontsize=7)
    axis.set_xlim(0, 300)
    axis.set_ylim(LEAST_MS, 1.3e4)
    axis.set_xlabel("simulated time (s)")
    axis.set_ylabel("queue delay (ms)")
    caption = f"Of what waits at the rate of then; less than {LEAST_MS:g} ms is drawn there."
    return [
        drawing.finished(picture, [axis], "Queue delay over the run", caption, identity="dynamic")
    ]


LEAST_MS = 0.1
"""Delay below which nothing is told apart."""
