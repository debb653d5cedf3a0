"""Drawings for reports: inline SVG, with units, readable in light and dark and without colour.

Series differ in colour (Okabe and Ito's palette, which colour-blind readers can tell apart), in
marker and in line style. Colours are CSS variables of the page, so that the same drawing fits
light, dark and print; text is text, in the page's font. Only this module knows how matplotlib is
set up; matplotlib itself takes half a second to import and is imported by the first drawing.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from forebay.errors import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = [
    "COLOURS",
    "DOTTED",
    "HATCHES",
    "INK",
    "LEGEND",
    "LINES",
    "LOOK",
    "MARKERS",
    "NARROW",
    "Figure",
    "curve",
    "finished",
    "level",
    "line_style",
    "log_axis",
    "new_axes",
    "new_axis",
    "new_column",
    "new_grid",
    "plain_number",
    "published",
    "slug",
    "spans_decades",
    "to_svg",
    "top_legend",
    "top_legend_inches",
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
"""Smaller sizes in small panels."""
WIDTH = 7.6
"""Width of a page in inches."""
LEGEND_ROW = 0.3
"""Inches that small panels leave for the legend."""
DOTTED = (0, (1, 2))
LEGEND = 104
"""Letters that fit side by side below a drawing."""
NARROW = 5.4
"""Inches of a drawing that is read on a phone without scrolling."""
TOP_LEGEND = 62
"""Letters that fit side by side above a panel of a narrow drawing."""
TOP_ROW = 0.17
"""Inches of a row of the legend above a panel."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing of a report: `svg` goes into the page as it is."""

    id: str
    title: str
    caption: str
    svg: str


def slug(name: str) -> str:
    """A name as an HTML anchor, the start of SVG ids and a file name: `f9/tail` is `f9-tail`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def spans_decades(values: Iterable[float]) -> bool:
    """Returns true if values above 0 are two decades apart and none is below: their axis is
    logarithmic, and so are their colours."""
    known = [value for value in values if value == value and value != 0]
    return bool(known) and min(known) > 0 and max(known) >= 100 * min(known)


def log_axis(axis: Axes, which: Literal["x", "y"]) -> None:
    """Makes an axis logarithmic, with plain numbers at its decades."""
    (axis.set_xscale if which == "x" else axis.set_yscale)("log")
    ticks = axis.xaxis if which == "x" else axis.yaxis
    ticks.set_major_formatter(plain_number)
    ticks.set_minor_formatter("")


def plain_number(value: float, _place: float | None = None) -> str:
    """A number at a tick: `0.1`, `20`, `1000`."""
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:g}"


def to_file(figure: Figure) -> str:
    """A drawing as a file of its own, on white: the same text whenever the drawing is the same."""
    colours = "".join(f"--c{number}:{colour};" for number, colour in enumerate(COLOURS, 1))
    style = f"svg{{{colours}--grid:{GRID};color:{INK};background:#fff;font-family:sans-serif}}"
    head, _, rest = figure.svg.partition(">")
    return f"{head}><style>{style}</style>{rest}\n"


def to_svg(drawing: Drawing, identity: str, description: str) -> str:
    """A drawing as SVG for the inside of a page: its colours are the page's, its ids its own."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    # A fixed salt makes the same drawing the same text, so that a report can be compared.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": identity}):
        drawing.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    svg = printable(buffer.getvalue(), keep="\n\t")
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
    narrow = drawing.get_size_inches()[0] <= NARROW + 0.1
    svg = re.sub(r'<svg([^>]*?) width="[^"]*"', r"<svg\1", svg, count=1)
    svg = re.sub(r'<svg([^>]*?) height="[^"]*"', r"<svg\1", svg, count=1)
    label = printable(description).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    kind = ' class="narrow"' if narrow else ""
    return svg.replace("<svg", f'<svg role="img"{kind} aria-label="{label}"', 1).strip()


def finished(
    drawing: Drawing,
    axes: Sequence[Axes],
    title: str,
    caption: str,
    *,
    identity: str = "",
    columns: int | None = None,
) -> Figure:
    """A drawing with its legend as a figure of the report.

    `identity` names it among the others; by default its title does. `columns` are those of the
    legend (see `with_legend`).
    """
    with_legend(drawing, axes, columns)
    identity = identity or slug(title)
    return Figure(identity, title, caption, to_svg(drawing, identity, title))


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
    titles: Sequence[str],
    columns: int,
    height: float,
    *,
    share_x: Literal["col", "none"] = "col",
    share_y: Literal["row", "none"] = "none",
) -> tuple[Drawing, list[Axes]]:
    """A drawing of page width with small panels, one for each of `titles`, in rows of `columns`.

    A row is `height` inches high. Panels of a column share the horizontal axis, whose ticks only
    the lowest has, unless `share_x` is `none`; those of a row the vertical one if `share_y` is
    `row`. Places in the last row without a panel stay empty.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing

    rows = -(-len(titles) // columns)
    with rc_context(LOOK | SMALL):
        drawing = Drawing(figsize=(WIDTH, rows * height + LEGEND_ROW), layout="constrained")
        FigureCanvasSVG(drawing)
        grid = drawing.subplots(rows, columns, sharex=share_x, sharey=share_y, squeeze=False).flat
        for axis, title in zip(grid, titles, strict=False):
            axis.set_title(title)
        for axis in grid[len(titles) :]:
            axis.remove()
        # Above an empty place the axis has none below to show its ticks.
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
    """Draws values that the paper prints, as hollow marks of the shape of the `index`-th series."""
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


def line_style(index: int) -> dict[str, Any]:
    """Colour and dashes of the `index`-th of many lines; the first 36 all differ."""
    dashes = LINES[(index + index // len(COLOURS)) % len(LINES)]
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": dashes}


def new_column(heights: Sequence[float], width: float) -> tuple[Drawing, list[Axes]]:
    """A drawing of panels above each other that share the horizontal axis; sizes in inches.

    Drawings up to `NARROW` inches wide are read on a phone without scrolling.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing

    with rc_context(LOOK):
        drawing = Drawing(figsize=(width, sum(heights)), layout="constrained")
        FigureCanvasSVG(drawing)
        grid = drawing.subplots(
            len(heights), 1, sharex=True, squeeze=False, height_ratios=list(heights)
        )
        return drawing, list(grid[:, 0])


def top_legend(axis: Axes, many: int = 0) -> None:
    """The legend of one panel above it, in the order of its lines, so that all of the width is the
    panel's, on a phone as well.

    Of more than `many` lines, if that is given, each is also named at its end, so that they are
    told apart without the legend.
    """
    import numpy as np

    handles, labels = axis.get_legend_handles_labels()
    if not handles:
        return
    if many and len(labels) > many:
        for number, line in enumerate(axis.get_lines()[: len(labels)]):
            x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
            if len(x):
                at = (number + 1) * len(x) // (len(labels) + 2)
                axis.annotate(str(number + 1), (x[at], y[at]), fontsize=6.5, color=INK, va="bottom")
        labels = [f"{number}  {label}" for number, label in enumerate(labels, 1)]
    axis.legend(
        handles,
        [textwrap.fill(label, TOP_LEGEND) for label in labels],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        ncols=_top_columns(labels),
        fontsize=8,
        frameon=False,
        labelcolor=INK,
        handlelength=2.6,
        columnspacing=1.2,
    )


def top_legend_inches(labels: Sequence[str]) -> float:
    """Height in inches that a panel needs in addition for the legend of these lines above it."""
    rows = -(-len(labels) // _top_columns(labels))
    lines = max((-(-len(label) // TOP_LEGEND) for label in labels), default=1)
    return TOP_ROW * rows * lines


def _top_columns(labels: Sequence[str]) -> int:
    longest = max(map(len, labels), default=0) + 8
    return max(1, min(len(labels), (TOP_LEGEND + 8) // longest))
