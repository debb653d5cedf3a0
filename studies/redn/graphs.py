"""The kinds of graphs of the thesis: per-flow throughputs, queues, utilisation, probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.drawing import COLOURS as INKS
from forebay.drawing import DOTTED, INK, Figure, curve, level, new_grid, slug, to_svg, with_legend
from forebay.study.results import Outcome
from forebay_studies.redn.network import (
    MEAN_DELAY_S,
    RATES,
    UDP_RATES,
    Gateway,
    gateways,
    phases,
)
from forebay_studies.redn.readings import (
    ASSURED,
    COLOURS,
    CONDITIONED,
    MBPS,
    MIX,
    REDN,
    RTTS,
    SELF_CONFIGURING,
    STATIC,
    Setting,
)
from forebay_studies.redn.recordings import recording_id
from forebay_studies.redn.samples import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = [
    "MARK_EVERY",
    "PALETTE",
    "Graph",
    "Shown",
    "drop_ratios",
    "figure_of",
    "letters",
    "probabilities",
    "queues",
    "throughputs",
    "time_axis",
    "utilizations",
]

PALETTE = {"green": 2, "yellow": 4, "red": 1}
"""Where the reports' palette has the colours of packets."""

WITHOUT_MIDDLE_THRESHOLD = (REDN, SELF_CONFIGURING)

MARK_EVERY = 18
"""Seconds from one marker of a curve to the next."""
NEAR = 1.5
"""A threshold further than so many times what is drawn is left out."""

CROSS: Any = {"linestyle": "none", "marker": "x", "markersize": 4, "markeredgewidth": 0.8}
CELL_S = 0.5
"""Crosses of the same value within so many seconds are drawn as one."""


Table = dict[str, Array]


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure of the thesis: its number, its caption, the run it shows, and which part of it.

    `route` is of the flows, `gateway` the name part of one of two bottlenecks.
    """

    number: str
    caption: str
    setting: Setting
    route: str = ""
    gateway: str = ""

    @property
    def title(self) -> str:
        """What the thesis calls it."""
        head = self.number if self.number.startswith("Table") else f"Figure {self.number}"
        return f"{head}: {self.caption}"

    def table(self, outcome: Outcome, name: str) -> Table | None:
        """Columns of a table of its recording; `None` if it was not made."""
        table = outcome.recordings.get(recording_id(self.setting), {}).get(name)
        if table is None:
            return None
        return {column: table[column].to_numpy() for column in table.column_names}

    def bottlenecks(self) -> list[Gateway]:
        """The gateways that it is about."""
        every = gateways(self.setting._asdict())
        return [one for one in every if one.prefix == self.gateway] if self.gateway else list(every)

    def described(self, words: str) -> str:
        """The caption in the report: the run, then how to read the graph."""
        gateway = {
            REDN.gateway: "REDn",
            SELF_CONFIGURING.gateway: "Self-Configuring REDn",
        }.get(self.setting.gateway, "Adaptive REDn")
        marking = {"drop": "packet drop", "ecn": "ECN"}.get(
            self.setting.marking, "ECN for TCP, packet drop for UDP"
        )
        scenario = self.setting.scenario.upper()
        return f"{gateway}, {marking}, scenario {scenario}, first replication. {words}"


Graph = Callable[[Outcome, Shown], Figure | None]
"""How a kind of graph is drawn; nothing if its run was not recorded."""


def figure_of(
    shown: Shown, drawing: Drawing, axes: Sequence[Axes], words: str, columns: int | None = None
) -> Figure:
    """A finished drawing as a figure of the report; `columns` are those of its legend."""
    with_legend(drawing, axes, columns)
    identity = slug(shown.title.partition(":")[0])
    svg = to_svg(drawing, identity, shown.title)
    return Figure(identity, shown.title, shown.described(words), svg)


def letters(titles: Sequence[str]) -> list[str]:
    """Titles of panels as the thesis numbers them; a single one needs none."""
    if len(titles) == 1:
        return [""]
    return [f"({letter}) {title}" for letter, title in zip("abcdef", titles, strict=False)]


def throughputs(outcome: Outcome, shown: Shown) -> Figure | None:
    """Received throughputs by delay, one flow of each expected throughput."""
    table = shown.table(outcome, "flows")
    if table is None:
        return None
    delays = CONDITIONED if shown.setting == MIX else RTTS
    columns = 3 if len(delays) == 3 else 2
    titles = letters([f"{rtt} ms roundtrip transit delay" for rtt in delays])
    drawing, axes = new_grid(titles, columns, 1.75)
    udp = UDP_RATES if shown.setting == MIX else ()
    for axis, rtt in zip(axes, delays, strict=True):
        for index, rate in enumerate(reversed(RATES)):
            values = table[f"{shown.route}{rate}mbps_{rtt}ms"] / MBPS
            label = f"{rate} Mbps (UDP)" if rate in udp else f"{rate} Mbps"
            curve(axis, index, table["time_s"], values, label, every=MARK_EVERY)
            _expected(axis, index, shown.setting, rate)
        axis.plot([], [], color=INK, linestyle=DOTTED, linewidth=1.4, label="expected")
        axis.set_ylim(bottom=0)
    time_axis(shown.setting, axes, columns)
    for axis in axes[::columns]:
        axis.set_ylabel("throughput (Mbps)")
    expected = "baselines" if shown.setting == MIX else "Table 4.1"
    words = (
        "Received throughput by the second, one of each two replicas, while enabled; dotted, in "
        f"the colour of the flow: {expected}."
    )
    return figure_of(shown, drawing, axes, words)


def _expected(axis: Axes, index: int, setting: Setting, rate: int) -> None:
    for phase, start, end in phases(setting._asdict()):
        due = rate if setting == MIX else ASSURED[phase].get(rate)
        if due is not None:
            colour = INKS[index]
            axis.plot([start, end], [due, due], color=colour, linestyle=DOTTED, linewidth=1.4)


def queues(outcome: Outcome, shown: Shown) -> Figure | None:
    """Average queue lengths by colour and, but for section 4.3, the overall queuing delay."""
    (gateway,) = shown.bottlenecks()
    table = shown.table(outcome, gateway.link)
    if table is None:
        return None
    titles = [f"{colour} packets" for colour in COLOURS]
    titles += [] if shown.setting == MIX else ["overall queuing delay"]
    columns = 3 if shown.setting == MIX else 2
    drawing, axes = new_grid(letters(titles), columns, 1.75)
    averages = [table[f"average_{colour}_packets"] for colour in COLOURS]
    top = max(float(series.max()) for series in averages)
    levels = _levels(shown.setting, gateway)
    near = {name: value for name, value in levels.items() if value <= NEAR * top}
    for axis, colour, series in zip(axes, COLOURS, averages, strict=False):
        curve(axis, PALETTE[colour], table["time_s"], series)
        for name, value in near.items():
            level(axis, name, value)
        axis.set_ylim(0, 1.12 * max(top, *near.values()))
    for axis in axes[:3:columns]:
        axis.set_ylabel("average queue (packets)")
    words = "Means over each second"
    if shown.setting != MIX:
        _delay(axes[3], table, shown.setting)
        words += ", the delay by Little's law"
    time_axis(shown.setting, axes, columns)
    words += f". Thresholds in packets: {', '.join(f'{n} {at}' for n, at in levels.items())}"
    words += ", the highest outside of the axes." if len(near) < len(levels) else "."
    return figure_of(shown, drawing, axes, words)


def _delay(axis: Axes, table: Table, setting: Setting) -> None:
    curve(axis, 0, table["time_s"], 1e3 * table["delay_s"])
    if setting not in WITHOUT_MIDDLE_THRESHOLD:
        level(axis, "15 ms", 1e3 * MEAN_DELAY_S)
    axis.set_ylabel("queuing delay (ms)")
    axis.set_ylim(bottom=0)


def _levels(setting: Setting, gateway: Gateway) -> dict[str, int]:
    """The thresholds, ascending; the middle one is what the thesis expects of averages."""
    if setting in WITHOUT_MIDDLE_THRESHOLD:
        return {"min": gateway.minimum, "max": gateway.maximum}
    return {"min": gateway.minimum, "mid": gateway.middle, "max": gateway.maximum}


def utilizations(outcome: Outcome, shown: Shown) -> Figure | None:
    """Utilisation of the bottleneck links, by the second."""
    drawn = _bottlenecks(outcome, shown, "utilization", "bottleneck link")
    if drawn is None:
        return None
    drawing, axes = drawn
    for axis in axes:
        level(axis, "", 1.0)
        axis.set_ylim(0, 1.1)
    axes[0].set_ylabel("utilisation")
    words = "Rate of what left over the rate of the link, by the second; dotted: expected."
    return figure_of(shown, drawing, axes, words)


def drop_ratios(outcome: Outcome, shown: Shown) -> Figure | None:
    """Early drops over arrivals, by the second."""
    drawn = _bottlenecks(outcome, shown, "early_ratio", "bottleneck gateway")
    if drawn is None:
        return None
    drawing, axes = drawn
    for axis in axes:
        axis.set_ylim(bottom=0)
    axes[0].set_ylabel("early drop ratio")
    return figure_of(shown, drawing, axes, "Early drops over arrivals, by the second.")


def _bottlenecks(
    outcome: Outcome, shown: Shown, column: str, what: str
) -> tuple[Drawing, list[Axes]] | None:
    """A column of the tables of all bottlenecks, side by side."""
    bottlenecks = shown.bottlenecks()
    titles = letters([f"{place} {what}" for place in ("first", "second")[: len(bottlenecks)]])
    drawing, axes = new_grid(titles, len(titles), 1.75, share_y="row")
    for axis, gateway in zip(axes, bottlenecks, strict=True):
        table = shown.table(outcome, gateway.link)
        if table is None:
            return None
        curve(axis, 0, table["time_s"], table[column])
    time_axis(shown.setting, axes, len(axes))
    return drawing, axes


def probabilities(outcome: Outcome, shown: Shown) -> Figure | None:
    """Effective maximum probabilities by colour, and whether each is dynamic or the static one."""
    (gateway,) = shown.bottlenecks()
    table = shown.table(outcome, "adjustments")
    if table is None:
        return None
    drawing, axes = new_grid(letters([f"{colour} packets" for colour in COLOURS]), 1, 1.3)
    end = phases(shown.setting._asdict())[-1][2]
    for number, axis in enumerate(axes):
        mine = (table["link"] == gateway.link) & (table["precedence"] == number)
        adopted = _Adopted({name: values[mine] for name, values in table.items()}, end)
        colour = INKS[PALETTE[COLOURS[number]]]
        axis.plot(*adopted.lasting(static=False), color=colour, linewidth=1.0)
        axis.plot(*adopted.lasting(static=True), color=INK, linewidth=1.6)
        axis.plot(*adopted.crosses(), color=colour, clip_on=False, **CROSS)
        axis.set_ylim(bottom=0)
    # Of all colours, so that the legend has none of theirs.
    axes[0].plot([], [], color=INK, label="dynamic adopted", **CROSS)
    axes[0].plot([], [], color=INK, linewidth=1.6, label="static in effect")
    time_axis(shown.setting, axes, 1)
    axes[1].set_ylabel("effective maximum probability")
    words = "Crosses, with lines while they are in effect: dynamic probabilities, when adopted."
    return figure_of(shown, drawing, axes, words)


class _Adopted:
    """The effective maximum probability of a colour, from one change to the next."""

    def __init__(self, rows: Table, end: float) -> None:
        """Of its `rows` of adjustments; the last one is in effect until `end`."""
        value = np.concatenate([[STATIC], rows["max_probability"]])
        static = value > np.concatenate([[STATIC], rows["dynamic_probability"]])
        moved = (np.diff(value) != 0.0) | (np.diff(static) != 0)
        changes = np.flatnonzero(np.concatenate([[True], moved]))
        self.time = np.concatenate([[0.0], rows["time_s"]])[changes]
        self.until = np.append(self.time[1:], end)
        self.value = value[changes]
        self.static = static[changes]

    def lasting(self, *, static: bool) -> tuple[Array, Array]:
        """Horizontal lines while a static or a dynamic one is in effect, gaps between them."""
        mine = self.static == static
        gap = np.full(int(mine.sum()), np.nan)
        times = np.stack([self.time[mine], self.until[mine], gap], axis=1)
        return times.ravel(), np.repeat(self.value[mine], 3)

    def crosses(self) -> tuple[Array, Array]:
        """Where dynamic ones are adopted; those that would lie on each other once."""
        time, value = self.time[~self.static], self.value[~self.static]
        cells = np.stack([np.floor(time / CELL_S), value], axis=1)
        first = np.sort(np.unique(cells, axis=0, return_index=True)[1])
        return time[first], value[first]


def time_axis(setting: Setting, axes: Sequence[Axes], columns: int) -> None:
    """Simulated time across panels: ticks at the phases' ends, their letters between."""
    spans = phases(setting._asdict())
    ends = [0.0, *(end for _, _, end in spans)]
    for axis in axes:
        axis.set_xlim(ends[0], ends[-1])
        axis.set_xticks(ends)
        if len(spans) > 1:
            middles = [(start + end) / 2 for _, start, end in spans]
            axis.set_xticks(middles, [name.upper() for name, _, _ in spans], minor=True)
            axis.tick_params("x", which="minor", length=0, labelsize=8)
    for axis in axes[-columns:]:
        axis.set_xlabel("time (s)")
