"""The figures of the thesis, in its order and under its numbers, redrawn from our runs.

Figures 1 to 7 show networks, mechanisms and the format of a cell; 8 to 10 the sources; 11 to 49
what came of them, against the number of sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.drawing import COLOURS as INKS
from forebay.drawing import Figure, curve, level, new_grid, published, slug, to_svg, with_legend
from forebay.study.definition import Point
from forebay.study.results import Cell, Outcome
from forebay_studies.atm.readings import (
    COUNTS,
    DATA,
    MIX,
    OVERLOADED,
    REALTIME,
    UNCONTROLLED,
    ZERO_LATE,
    ZERO_LOSS,
)
from forebay_studies.atm.recordings import RECORDINGS, SINGLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RECORDINGS", "Graph", "figures", "sequence"]

TRAFFIC = {REALTIME: "voice and video", DATA: "data", MIX: "voice, video and data"}
CASES = {
    1: "no policing and no congestion control",
    2: "policing and preventive congestion control",
    3: "policing, sources slowed by cell discards only",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """What is drawn against the number of sources; `least` is the least upper end of the axis."""

    quantity: str
    caption: str
    ylabel: str
    scale: float = 1.0
    least: float = 0.0


LOAD = Kind("load_ratio", "Total traffic load sent", "load (% of the link)", 100.0, 100.0)
REALTIME_LOSS = Kind(
    "realtime_loss_ratio",
    "Cell loss ratio, voice and video",
    "cells lost (%)",
    100.0,
    100.0 * ZERO_LOSS,
)
REALTIME_LATE = Kind(
    "realtime_late_ratio",
    "Cells later than 20 ms, voice and video",
    "late cells (%)",
    100.0,
    100.0 * ZERO_LATE,
)
DATA_LOSS = Kind(
    "data_loss_ratio", "Cell loss ratio, data", "cells lost (%)", 100.0, 100.0 * ZERO_LOSS
)
FILE_TIME = Kind("file_time_s", "Average file transfer time", "file transfer time (s)")
THROUGHPUT = Kind("throughput_ratio", "Throughput of data", "throughput (% of the link)", 100.0)


@dataclass(frozen=True, slots=True)
class Graph:
    """A figure: its number, the runs it shows, and what of them."""

    number: int
    scenario: int
    case: int
    kind: Kind

    @property
    def title(self) -> str:
        """Its number and caption."""
        runs = f"traffic scenario {self.scenario}, case {self.case}"
        return f"Figure {self.number}: {self.kind.caption}, {runs}"


def sequence() -> Iterator[Graph]:
    """Figures 11 to 49."""
    plan: dict[int, tuple[Kind, ...]] = {
        REALTIME: (REALTIME_LOSS, REALTIME_LATE),
        DATA: (DATA_LOSS, FILE_TIME, THROUGHPUT),
        MIX: (REALTIME_LOSS, REALTIME_LATE, DATA_LOSS, FILE_TIME, THROUGHPUT),
    }
    number = 11
    for scenario, kinds in plan.items():
        loads = [(case, LOAD) for case in CASES]
        for case, kind in [*loads, *((case, kind) for case in CASES for kind in kinds)]:
            yield Graph(number, scenario, case, kind)
            number += 1


def figures(outcome: Outcome) -> list[Figure]:
    """Those of the thesis's figures of which something was run."""
    drawn = [_single(outcome), *(_draw(outcome, graph) for graph in sequence())]
    return [figure for figure in drawn if figure is not None]


def _draw(outcome: Outcome, graph: Graph) -> Figure | None:
    """Mean and 95 % band, single runs as dots, printed values as hollow marks."""
    drawing, (axis,) = new_grid([""], 1, 2.4)
    # The thesis calculated the load of voice and video in Case 1 from the sources' averages.
    calculated = graph.kind is LOAD and graph.case == UNCONTROLLED and graph.scenario != DATA
    label = "voice and video calculated" if calculated else "measured"
    if not _plot(outcome, axis, graph, (graph.kind.quantity, 0, label)):
        return None
    if calculated:
        _plot(outcome, axis, graph, ("sent_ratio", 1, "measured"))
    _printed(outcome, axis, graph)
    axis.set_xlabel("number of sources")
    axis.set_ylabel(graph.kind.ylabel)
    axis.set_ylim(0, max(axis.get_ylim()[1], 1.05 * graph.kind.least))
    if graph.kind is LOAD:
        level(axis, "capacity", 100.0)
    with_legend(drawing, [axis])
    identity = slug(f"figure-{graph.number}")
    return Figure(identity, graph.title, _words(graph), to_svg(drawing, identity, graph.title))


def _words(graph: Graph) -> str:
    words = f"{TRAFFIC[graph.scenario].capitalize()}; {CASES[graph.case]}. "
    words += "Line and band: mean and 95 % interval; dots: runs of 180 s; hollow marks: printed."
    if graph.case == UNCONTROLLED and graph.kind is LOAD:
        words += f" Overload from {OVERLOADED[graph.scenario][0]} sources on, says the thesis."
    return words


def _plot(outcome: Outcome, axis: Axes, graph: Graph, series: tuple[str, int, str]) -> bool:
    """A quantity in the colour of its index, under a label; whether any of it was measured."""
    quantity, index, label = series
    x: list[int] = []
    means: list[float] = []
    low: list[float] = []
    high: list[float] = []
    for count in COUNTS[graph.scenario]:
        point = _point(graph, count)
        interval = outcome.interval(quantity, point)
        if interval is None:
            continue
        runs = outcome.samples.values(Cell.of(point), quantity).values()
        scaled = [graph.kind.scale * value for value in runs]
        axis.plot([count] * len(scaled), scaled, ".", color=INKS[index], alpha=0.35, markersize=3)
        x.append(count)
        known = interval.n > 1
        means.append(graph.kind.scale * interval.mean)
        low.append(graph.kind.scale * (interval.low if known else interval.mean))
        high.append(graph.kind.scale * (interval.high if known else interval.mean))
    if not x:
        return False
    axis.fill_between(x, low, high, color=INKS[index], alpha=0.25, linewidth=0)
    curve(axis, index, x, means, label, every=1)
    return True


def _printed(outcome: Outcome, axis: Axes, graph: Graph) -> None:
    """The values that the text prints of the figure, whatever its graph shows besides."""
    spots = [
        (count, graph.kind.scale * claim.published * claim.unit_size)
        for count in COUNTS[graph.scenario]
        for claim in outcome.published(graph.kind.quantity, _point(graph, count))
    ]
    if spots:
        published(axis, 1, [x for x, _ in spots], [y for _, y in spots], "published")


def _point(graph: Graph, count: int) -> Point:
    return {"scenario": graph.scenario, "case": graph.case, "sources": count}


def _single(outcome: Outcome) -> Figure | None:
    """Figures 8 to 10: what one voice, one video and one data source send."""
    table = outcome.recordings.get(SINGLE, {}).get("rates")
    if table is None:
        return None
    named = {"voice": ("8", 64), "video": ("9", 512), "data": ("10", 500)}
    titles = [f"Figure {number}: {kind}" for kind, (number, _) in named.items()]
    drawing, axes = new_grid(titles, 1, 1.6)
    for axis, (kind, (_, nominal)) in zip(axes, named.items(), strict=True):
        curve(axis, 0, table["time_s"].to_numpy(), table[f"{kind}_bps"].to_numpy() / 1e3)
        level(axis, "nominal", nominal)
        axis.set_ylabel("rate (kbit/s)")
        axis.set_ylim(bottom=0)
        axis.margins(x=0)
    axes[-1].set_xlabel("time (s)")
    title = "Figures 8 to 10: Voice, Video and Data Traffic Models with Congestion Control"
    words = (
        "What arrives from one source of each kind; scenario 3 with 113 sources, case 2, first "
        "replication. Video has two rates, 512 and 192 kbit/s; a file has 8 Mbit."
    )
    return Figure("figures-8-to-10", title, words, to_svg(drawing, "figures-8-to-10", title))
