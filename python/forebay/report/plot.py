"""Plots for reports: inline SVG, with units, readable in light and dark and without colour.

Series differ in colour (Okabe and Ito's palette, which colour-blind readers can tell apart), in
marker and in line style. Colours are CSS variables of the page, so that the same drawing fits
light, dark and print; text is text, in the page's font.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from forebay.study.grades import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from forebay.report.paper_tables import Column, PaperTable, Row
    from forebay.study.claims import NumericClaim
    from forebay.study.results import Outcome

__all__ = [
    "COLOURS",
    "DOTTED",
    "INK",
    "Figure",
    "curve",
    "draw_table",
    "level",
    "new_axes",
    "new_axis",
    "new_grid",
    "published",
    "shares",
    "slug",
    "time_series",
    "to_svg",
    "with_legend",
]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
HATCHES = ("", "//", "\\\\", "xx")
INK = "#202124"
GRID = "#c8c9ca"
LOOK: Any = {
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": GRID,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "font.size": 9,
    "hatch.linewidth": 0.5,
}
SMALL: Any = {
    "axes.titlesize": 9,
    "axes.titleweight": "normal",
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}
"""What small panels have smaller."""
WIDTH = 7.6
"""Width of a page in inches."""
LEGEND_ROW = 0.3
"""Inches that small panels leave for the legend."""
DOTTED = (0, (1, 2))
LEGEND = 104
"""Letters that fit side by side below a drawing."""
MANY_ROWS = 7
"""From this many rows on a table is drawn as curves, below as bars."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing of a report: `svg` goes into the page as it is."""

    id: str
    title: str
    caption: str
    svg: str


def draw_table(outcome: Outcome, table: PaperTable) -> Figure | None:
    """A table of the paper as a plot: published values over our 95 % intervals.

    Drawn against the parameter that changes from row to row; columns with different parameters get
    panels of their own. `None` if nothing was measured, or rows differ in more than one parameter.
    """
    parameter = _row_parameter(table)
    if parameter is None:
        return None
    panels = _panels(table)
    curves = len(table.rows) >= MANY_ROWS
    drawing, axes = new_axes(len(panels), height=3.3)
    drawn = 0
    for axis, (heading, columns) in zip(axes, panels, strict=True):
        for index, (label, column) in enumerate(columns):
            place = _Place(index, len(columns), label)
            drawer = _curve if curves else _bars
            drawn += drawer(axis, place, _points(outcome, table, column, parameter))
        axis.set_title(heading)
        axis.set_xlabel(_parameter_label(parameter))
        if not curves:
            names = [f"{row.point[parameter]}" for row in table.rows]
            crowded = len(panels) * sum(len(name) + 2 for name in names) > LEGEND
            axis.set_xticks(range(len(names)), names, rotation=90 if crowded else 0)
        axis.set_ylim(bottom=0)
    if not drawn:
        return None
    axes[0].set_ylabel(table.unit)
    with_legend(drawing, axes)
    identity = f"table-{slug(table.id)}"
    return Figure(
        id=identity,
        title=table.place,
        caption="Hollow marks: published. "
        + ("Lines and bands" if curves else "Bars and whiskers")
        + ": measured, with 95 % intervals.",
        svg=to_svg(drawing, identity, table.place),
    )


def time_series(
    outcome: Outcome,
    recording: str,
    place: str,
    columns: Mapping[str, str],
    *,
    title: str,
    ylabel: str,
    scale: float = 1.0,
    thresholds: Mapping[str, float] | None = None,
    window: tuple[float, float] | None = None,
) -> Figure | None:
    """Recorded series over simulated time, with the thresholds they are judged by.

    `place` is what was sampled, such as `links.bottleneck`; `columns` maps its columns to labels.
    Values are multiplied by `scale`; `thresholds` are in the scaled unit, which `ylabel` names.
    `window` limits the time shown, in seconds. `None` if the recording was not made.
    """
    table = outcome.recordings.get(recording, {}).get(f"series/{place}")
    if table is None:
        return None
    drawing, axis = new_axis()
    time = table["time_s"].to_numpy()
    keep = (time >= window[0]) & (time <= window[1]) if window else slice(None)
    for index, (column, label) in enumerate(columns.items()):
        if column in table.column_names:
            values = table[column].to_numpy()[keep] * scale
            axis.plot(
                time[keep],
                values,
                color=COLOURS[index % len(COLOURS)],
                linestyle=LINES[index % len(LINES)],
                linewidth=0.9 if index == 0 else 1.6,
                alpha=0.65 if index == 0 else 1.0,
                label=label,
            )
    for label, value in (thresholds or {}).items():
        level(axis, label, value)
    axis.set_xlabel("simulated time (s)")
    axis.set_ylabel(ylabel)
    axis.set_ylim(bottom=0)
    axis.margins(x=0)
    with_legend(drawing, [axis])
    identity = slug(f"{recording}-{title}")
    return Figure(
        id=identity,
        title=title,
        caption=f"{place}, first replication of recording {recording}.",
        svg=to_svg(drawing, identity, title),
    )


def shares(
    outcome: Outcome,
    bars: Sequence[tuple[str, Point]],
    parts: Sequence[tuple[str, str]],
    *,
    title: str,
    xlabel: str = "",
    ylabel: str = "share (%)",
) -> Figure | None:
    """Stacked bars: how a whole splits into parts, one bar a grid point.

    `bars` are labels and grid points, `parts` labels and quantities (ratios). `None` if a quantity
    was not measured.
    """
    drawing, axis = new_axis()
    base = [0.0] * len(bars)
    for index, (label, quantity) in enumerate(parts):
        means = []
        for _, point in bars:
            interval = outcome.interval(quantity, point)
            if interval is None:
                return None
            means.append(100.0 * interval.mean)
        axis.bar(
            range(len(bars)),
            means,
            0.7,
            bottom=base,
            color=COLOURS[index % len(COLOURS)],
            alpha=0.75,
            hatch=HATCHES[index % 4],
            edgecolor=INK,
            linewidth=0.6,
            label=label,
        )
        base = [low + mean for low, mean in zip(base, means, strict=True)]
    axis.set_xticks(range(len(bars)), [label for label, _ in bars])
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    axis.set_ylim(0, max(100.0, *base))
    with_legend(drawing, [axis])
    identity = slug(f"shares-{title}")
    return Figure(identity, title, "Means over the replications.", to_svg(drawing, identity, title))


def slug(name: str) -> str:
    """A name as an HTML anchor, the start of SVG ids and a file name: `f9/tail` is `f9-tail`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def to_svg(drawing: Drawing, identity: str, description: str) -> str:
    """A drawing as SVG for the inside of a page: its colours are the page's, its ids its own."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    # A fixed salt makes the same drawing the same text, so that a report can be compared.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": identity}):
        drawing.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for number, colour in enumerate(COLOURS, 1):
        svg = svg.replace(colour, f"var(--c{number})")
    svg = svg.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    svg = re.sub(r"font-family: [^;\"]*; ", "", svg)
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    # A hundredth of a point is finer than any screen or printer; numbers in text stay whole.
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d+\.\d{2})\d+", r"\1", tag[0]), svg)
    svg = re.sub(r"\s+", " ", svg).replace("> <", "><")
    svg = re.sub(r'\bid="', f'id="{identity}-', svg)
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{identity}-", svg)
    svg = re.sub(r'<svg([^>]*?) width="[^"]*"', r"<svg\1", svg, count=1)
    svg = re.sub(r'<svg([^>]*?) height="[^"]*"', r"<svg\1", svg, count=1)
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1).strip()


def new_axis(height: float = 3.0) -> tuple[Drawing, Axes]:
    """An empty drawing of page width, in the reports' style."""
    drawing, axes = new_axes(1, height)
    return drawing, axes[0]


def new_axes(panels: int, height: float) -> tuple[Drawing, list[Axes]]:
    """A drawing of page width with panels side by side that share the vertical axis."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing

    with rc_context(LOOK):
        drawing = Drawing(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasSVG(drawing)
        grid = drawing.subplots(1, panels, sharey=True, squeeze=False)
        return drawing, list(grid[0])


def new_grid(
    titles: Sequence[str], columns: int, height: float, *, share_y: Literal["row", "none"] = "none"
) -> tuple[Drawing, list[Axes]]:
    """A drawing of page width with small panels, one for each of `titles`, in rows of `columns`.

    A row is `height` inches high. Panels of a column share the horizontal axis, whose ticks only
    the lowest has; those of a row the vertical one if `share_y` is `row`. Places in the last row
    without a panel stay empty.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing

    rows = -(-len(titles) // columns)
    with rc_context(LOOK | SMALL):
        drawing = Drawing(figsize=(WIDTH, rows * height + LEGEND_ROW), layout="constrained")
        FigureCanvasSVG(drawing)
        grid = drawing.subplots(rows, columns, sharex="col", sharey=share_y, squeeze=False).flat
        for axis, title in zip(grid, titles, strict=False):
            axis.set_title(title)
        for axis in grid[len(titles) :]:
            axis.remove()
        # Above an empty place the axis has nobody below to show its ticks.
        for axis in grid[max(len(titles) - columns, 0) : len(titles)]:
            axis.tick_params(labelbottom=True)
        return drawing, list(grid[: len(titles)])


def curve(
    axis: Axes, index: int, x: Any, y: Any, label: str | None = None, *, every: int = 0
) -> None:
    """A series of a small panel: a thin line in the `index`-th colour, with gaps where `y` is NaN.

    Where a panel has several, `every` tells them apart without colour: each has its own marker at
    one of so many points, not at the same ones as the others.
    """
    axis.plot(
        x,
        y,
        color=COLOURS[index % len(COLOURS)],
        linewidth=1.0,
        marker=MARKERS[index % len(MARKERS)] if every else None,
        markevery=(index * every // len(MARKERS), every) if every else None,
        markersize=3.5,
        markerfacecolor="none",
        markeredgewidth=0.9,
        label=label,
    )


def level(axis: Axes, label: str, y: float) -> None:
    """A threshold: a dotted line across an axis, with its name to the right."""
    axis.axhline(y, color=INK, linewidth=0.7, linestyle=DOTTED)
    axis.annotate(
        label,
        (1.0, y),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=INK,
    )


def published(axis: Axes, index: int, x: Any, y: Any, label: str | None = None) -> None:
    """What the paper prints, as hollow marks, of the shape of the `index`-th series."""
    axis.plot(
        x,
        y,
        MARKERS[index % len(MARKERS)],
        markersize=5,
        markerfacecolor="none",
        markeredgecolor=INK,
        markeredgewidth=1.0,
        zorder=5,
        label=label,
    )


def with_legend(drawing: Drawing, axes: Sequence[Axes], columns: int | None = None) -> None:
    """One legend below all axes, each label once, in as many columns as fit or in `columns`."""
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        drawing.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=columns or max(1, min(len(handles), LEGEND // (max(map(len, handles)) + 6))),
            fontsize=9,
            frameon=False,
            labelcolor=INK,
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Which of several series is drawn, and its name."""

    index: int
    of: int
    label: str

    @property
    def colour(self) -> str:
        return COLOURS[self.index % len(COLOURS)]


@dataclass(frozen=True, slots=True)
class _Spot:
    """One row of a table under one column, in the published unit; `None` where there is nothing."""

    x: float
    published: float | None
    mean: float | None
    low: float
    high: float


def _row_parameter(table: PaperTable) -> str | None:
    changing = {
        name
        for row in table.rows
        for name, value in row.point.items()
        if value != table.rows[0].point.get(name)
    }
    if len(changing) != 1:
        return None
    name = changing.pop()
    values = [row.point.get(name) for row in table.rows]
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    return name if numbers else None


_UNITS = {
    "bps": "bit/s", "kbps": "kbit/s", "mbps": "Mbit/s", "gbps": "Gbit/s", "kb": "kB", "mb": "MB",
    "bytes": "bytes", "packets": "packets", "s": "s", "ms": "ms", "us": "us",
}  # fmt: skip


def _parameter_label(name: str) -> str:
    """`udp_mbps` is "UDP (Mbit/s)": the last word is the unit, short words are abbreviations."""
    *words, last = name.split("_")
    unit = _UNITS.get(last) if words else None
    shown = " ".join(w.upper() if len(w) <= 3 else w for w in (words if unit else [*words, last]))
    return f"{shown} ({unit})" if unit else shown


def _panels(table: PaperTable) -> list[tuple[str, list[tuple[str, Column]]]]:
    """Columns by the parameters that only some share; a heading, and the rest of their labels."""
    groups: dict[tuple[tuple[str, Any], ...], list[Column]] = {}
    for column in table.columns:
        groups.setdefault(tuple(sorted(column.point.items())), []).append(column)
    panels = []
    for columns in groups.values():
        heads = {column.label.partition(", ")[0] for column in columns}
        shared = len(heads) == 1 and len(groups) > 1
        named = [
            (column.label.partition(", ")[2] if shared else column.label, column)
            for column in columns
        ]
        panels.append((heads.pop() if shared else "", named))
    return panels


def _points(outcome: Outcome, table: PaperTable, column: Column, parameter: str) -> list[_Spot]:
    return [
        _spot(outcome, row, table.cell(row, column), row.point[parameter]) for row in table.rows
    ]


def _spot(outcome: Outcome, row: Row, claim: NumericClaim | None, x: Any) -> _Spot:
    nothing = float("nan")
    if claim is None:
        return _Spot(float(x), None, None, nothing, nothing)
    measured = outcome.interval(claim.quantity, claim.point)
    if measured is None:
        return _Spot(float(x), claim.published, None, nothing, nothing)
    interval = claim.in_published_unit(measured)
    low, high = (interval.low, interval.high) if interval.n > 1 else (interval.mean, interval.mean)
    return _Spot(float(x), claim.published, interval.mean, low, high)


def _curve(axis: Axes, place: _Place, spots: Sequence[_Spot]) -> int:
    known = [spot for spot in spots if spot.mean is not None]
    if known:
        x = [spot.x for spot in known]
        low, high = [spot.low for spot in known], [spot.high for spot in known]
        axis.fill_between(x, low, high, color=place.colour, alpha=0.25, linewidth=0)
        style = LINES[place.index % len(LINES)]
        means: Any = [spot.mean for spot in known]
        axis.plot(x, means, color=place.colour, linestyle=style, label=place.label)
    for spot in spots:
        if spot.published is not None:
            published(axis, place.index, [spot.x], [spot.published])
    return len(known)


def _bars(axis: Axes, place: _Place, spots: Sequence[_Spot]) -> int:
    width = 0.8 / place.of
    drawn = 0
    for number, spot in enumerate(spots):
        x = number + (place.index - (place.of - 1) / 2) * width
        if spot.mean is not None:
            axis.bar(
                x,
                spot.mean,
                width * 0.92,
                yerr=[[spot.mean - spot.low], [spot.high - spot.mean]],
                color=place.colour,
                alpha=0.75,
                hatch=HATCHES[place.index % 4],
                edgecolor=INK,
                linewidth=0.4,
                error_kw={"ecolor": INK, "elinewidth": 1.0, "capsize": 2},
                label=place.label if drawn == 0 else None,
            )
            drawn += 1
        if spot.published is not None:
            published(axis, place.index, [x], [spot.published])
    return drawn
