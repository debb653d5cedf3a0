"""The figures of the thesis, in its order and under its numbers, redrawn from our runs.

Figures 1 to 7 show networks, mechanisms and the format of a cell; 8 to 10 the sources; 11 to 49
what came of them, against the number of sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forebay import drawing as plot
from forebay.drawing import Figure
from forebay.study import Cell, Change, Network, NotRecordedError, Outcome, Point, Recording, Run
from forebay_studies.atm.criteria import (
    COUNTS,
    DATA,
    MAX_SOURCES,
    MIX,
    OVERLOADED,
    RATE_BASED,
    REALTIME,
    UNCONTROLLED,
    ZERO_LATE,
    ZERO_LOSS,
    setting,
)
from forebay_studies.atm.network import KINDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRAFFIC = {REALTIME: "voice and video", DATA: "data", MIX: "voice, video and data"}
CASES = {
    1: "no policing and no congestion control",
    2: "policing and preventive congestion control",
    3: "policing, sources slowed by cell discards only",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """Quantity drawn against the number of sources; `least` is the least upper end of the axis."""

    quantity: str
    caption: str
    ylabel: str
    scale: float = 1.0
    least: float = 0.0


LOAD = Kind("load_ratio", "Total traffic load sent", "load (% of the link)", 100.0, 100.0)
LOST, LATE = (
    ("cells lost (%)", 100.0, 100.0 * ZERO_LOSS),
    ("late cells (%)", 100.0, 100.0 * ZERO_LATE),
)
REALTIME_LOSS = Kind("realtime_loss_ratio", "Cell loss ratio, voice and video", *LOST)
REALTIME_LATE = Kind("realtime_late_ratio", "Cells later than 20 ms, voice and video", *LATE)
DATA_LOSS = Kind("data_loss_ratio", "Cell loss ratio, data", *LOST)
FILE_TIME = Kind("file_time_s", "Average file transfer time", "file transfer time (s)")
THROUGHPUT = Kind("throughput_ratio", "Throughput of data", "% of the link", 100.0)


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

    def point(self, count: int) -> Point:
        """Its run with so many sources."""
        return setting(self.scenario, self.case, count)


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
    """Those of the thesis's figures of which something was run, and its argument in one."""
    drawn = [_draw(outcome, graph) for graph in sequence()]
    with suppress(NotRecordedError):
        drawn.insert(0, _single(outcome))
    drawn.insert(0, _three_cases(outcome))
    return [figure for figure in drawn if figure is not None]


def _draw(outcome: Outcome, graph: Graph) -> Figure | None:
    """Mean and 95 % band, single runs as dots, printed values as hollow marks."""
    drawing, (axis,) = plot.new_grid([""], 1, 2.4)
    # The thesis calculated the load of voice and video in Case 1 from the sources' averages.
    calculated = graph.kind is LOAD and graph.case == UNCONTROLLED and graph.scenario != DATA
    label = "voice and video calculated" if calculated else "measured"
    if not _plot(outcome, axis, graph, (graph.kind.quantity, 0, label)):
        return None
    if calculated:
        _plot(outcome, axis, graph, ("sent_ratio", 1, "measured"))
    # The values that the text prints of the figure, whatever its graph shows besides.
    spots = [
        (count, graph.kind.scale * claim.published * claim.unit_size)
        for count in COUNTS[graph.scenario]
        for claim in outcome.published(graph.kind.quantity, graph.point(count))
    ]
    if spots:
        plot.published(axis, 1, [x for x, _ in spots], [y for _, y in spots], "published")
    axis.set_xlabel("number of sources")
    axis.set_ylabel(graph.kind.ylabel)
    axis.set_ylim(0, max(axis.get_ylim()[1], 1.05 * graph.kind.least))
    if graph.kind is LOAD:
        plot.level(axis, "capacity", 100.0)
    words = f"{TRAFFIC[graph.scenario].capitalize()}; {CASES[graph.case]}. "
    words += "Line and band: mean and 95 % interval; dots: runs of 180 s; hollow marks: printed."
    if graph.case == UNCONTROLLED and graph.kind is LOAD:
        words += f" Overload from {OVERLOADED[graph.scenario][0]} sources on, says the thesis."
    return plot.finished(drawing, [axis], graph.title, words, identity=f"figure-{graph.number}")


def _plot(outcome: Outcome, axis: Axes, graph: Graph, series: tuple[str, int, str]) -> bool:
    """A quantity in the colour of its index, under a label; whether any of it was measured."""
    quantity, index, label = series
    scale, colour = graph.kind.scale, plot.COLOURS[index]
    rows: list[tuple[int, float, float, float]] = []
    for count in COUNTS[graph.scenario]:
        point = graph.point(count)
        interval = outcome.interval(quantity, point)
        if interval is None:
            continue
        runs = outcome.samples.values(Cell.of(point), quantity).values()
        dots = [scale * value for value in runs]
        axis.plot([count] * len(dots), dots, ".", color=colour, alpha=0.35, markersize=3)
        ends = (interval.low, interval.high) if interval.n > 1 else (interval.mean, interval.mean)
        rows.append((count, scale * interval.mean, scale * ends[0], scale * ends[1]))
    if not rows:
        return False
    x, means, low, high = (list(column) for column in zip(*rows, strict=True))
    axis.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)
    plot.curve(axis, index, x, means, label, every=1)
    return True


ARGUMENT = (DATA_LOSS, THROUGHPUT, REALTIME_LATE)
"""Quantities that Figures 35 to 49 are read for."""


def _three_cases(outcome: Outcome) -> Figure | None:
    """Figures 36 to 49 in one: the three cases side by side, in the mixture."""
    drawing, axes = plot.new_grid([kind.caption for kind in ARGUMENT], 1, 1.6)
    for axis, kind in zip(axes, ARGUMENT, strict=True):
        for index, (case, words) in enumerate(CASES.items()):
            graph = Graph(0, MIX, case, kind)
            series = (kind.quantity, index, f"Case {case}: {words}")
            if not _plot(outcome, axis, graph, series):
                return None
        axis.set_ylabel(kind.ylabel)
        axis.set_ylim(bottom=0)
    axes[-1].set_xlabel("number of sources")
    words = "Voice, video and data. Line and band: mean and 95 % interval; dots: runs of 180 s."
    return plot.finished(
        drawing, axes, "The three cases of the mixture", words, identity="three-cases"
    )


# The run of which single sources are kept: Figures 8 to 10 show one of each kind.

SINGLE = "sources"
SHOWN = setting(MIX, RATE_BASED, MAX_SOURCES[MIX])
"""The mixture with the most sources, under full control."""


def _apart(network: Network, _: Point) -> None:
    """One source of each kind in a group of its own, instead of one of the others."""
    for kind in KINDS:
        group = network.section(f"flows.{kind}")
        network.set(f"flows.{kind}.count", group["count"] - 1)
        network.set(f"flows.one-{kind}", group | {"count": 1})
    network.record(series_of=[f"flows.one-{kind}" for kind in KINDS])


def _keep(run: Run, _: Point) -> Mapping[str, Mapping[str, NDArray[np.float64]]]:
    """Rate that arrives from each of them, in bit/s."""
    series = {kind: run.tables[f"series/flows.one-{kind}"] for kind in KINDS}
    rates = {f"{kind}_bps": np.asarray(of["throughput_bps"]) for kind, of in series.items()}
    return {"rates": {"time_s": np.asarray(series["voice"]["time_s"]), **rates}}


RECORDINGS = [Recording(SINGLE, SHOWN, "250 ms", Change(by=_apart), _keep)]


def _single(outcome: Outcome) -> Figure:
    """Figures 8 to 10: what one voice, one video and one data source send."""
    table = outcome.recorded(SINGLE, "rates")
    named = {"voice": ("8", 64), "video": ("9", 512), "data": ("10", 500)}
    titles = [f"Figure {number}: {kind}" for kind, (number, _) in named.items()]
    drawing, axes = plot.new_grid(titles, 1, 1.6)
    for axis, (kind, (_, nominal)) in zip(axes, named.items(), strict=True):
        plot.curve(axis, 0, table["time_s"], table[f"{kind}_bps"] / 1e3)
        plot.level(axis, "nominal", nominal)
        axis.set_ylabel("rate (kbit/s)")
        axis.set_ylim(bottom=0)
        axis.margins(x=0)
    axes[-1].set_xlabel("time (s)")
    title = "Figures 8 to 10: Voice, Video and Data Traffic Models with Congestion Control"
    words = (
        "What arrives from one source of each kind; scenario 3 with 113 sources, case 2, first "
        "replication. Video has two rates, 512 and 192 kbit/s; a file has 8 Mbit."
    )
    return plot.finished(drawing, axes, title, words, identity="figures-8-to-10")
