"""Completion times of incasts by the number of servers: figure 18."""

from __future__ import annotations

from forebay import drawing
from forebay.drawing import Figure
from forebay.study import Outcome, Point

__all__ = ["figures"]

SERVERS = (5, 10, 15, 20, 25, 30, 35, 40)
SHOWN: tuple[tuple[str, Point], ...] = (
    ("TCP, RTOmin 300 ms", {"control": "tcp", "rto_ms": 300}),
    ("TCP, RTOmin 10 ms", {"control": "tcp", "rto_ms": 10}),
    ("DCTCP, RTOmin 10 ms", {"control": "dctcp", "rto_ms": 10}),
)


def figures(outcome: Outcome) -> list[Figure]:
    """Mean completion time and queries with a timeout, by the number of servers."""
    drawn = [
        _by_servers(outcome, "mean_s", "mean completion time (ms)", 1e3, "incast-times"),
        _by_servers(outcome, "timeouts_ratio", "queries timed out (%)", 1e2, "incast-timeouts"),
    ]
    return [figure for figure in drawn if figure is not None]


def _by_servers(
    outcome: Outcome, quantity: str, label: str, scale: float, identity: str
) -> Figure | None:
    picture, axis = drawing.new_axis()
    drawn = 0
    for index, (name, fixed) in enumerate(SHOWN):
        point: Point = {"experiment": "incast", "buffer": "static", **fixed}
        found = {n: outcome.interval(quantity, {**point, "servers": n}) for n in SERVERS}
        known = {n: scale * interval.mean for n, interval in found.items() if interval}
        axis.plot([*known], [*known.values()], label=name, **drawing.line_style(index))
        drawn += len(known)
    if not drawn:
        return None
    axis.set_xlabel("servers that are asked for 1 MB in all")
    axis.set_ylabel(label)
    if scale == 1e3:
        axis.set_yscale("log")
    return drawing.finished(
        picture, [axis], "Incast in static buffers of 100 kB", "Lines: measured.", identity=identity
    )
