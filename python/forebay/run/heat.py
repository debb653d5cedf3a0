"""Heat maps: a value by two parameters, as colours with the numbers on them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forebay.drawing import LOOK, NARROW, plain_number, spans_decades

__all__ = ["HeatMap", "colour_scale", "draw_heat", "heat_panel"]

DARK, LIGHT = "#111111", "#fafafa"
NUMBERED = 150
"""Cells that still have their numbers on them."""
BESIDE = 6
"""Columns of two heat maps that fit side by side on a phone."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Values by the names of a column and of a row."""

    title: str
    cells: Mapping[tuple[str, str], float]


def draw_heat(maps: Sequence[HeatMap], axes: tuple[str, str], label: str) -> Any:
    """Heat maps with the same colours, in two columns at most; a drawing for a page that is read on
    a phone as well."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing

    across = max(len({x for x, _ in each.cells}) for each in maps)
    down = max(len({y for _, y in each.cells}) for each in maps)
    columns = 1 if len(maps) == 1 or across > BESIDE else 2
    rows = -(-len(maps) // columns)
    with rc_context(LOOK | {"axes.grid": False, "axes.titlesize": 9}):
        # Cells of many columns keep their width; such a drawing is moved sideways on a phone.
        width = max(NARROW, 1.0 + 0.33 * across)
        letters = 34 if columns == 2 else round(11 * width)
        upright = 0.075 * max(len(x) for each in maps for x, _ in each.cells)
        heights = 0.6 + 0.3 * down
        size = (width, rows * max(1.7, heights) + upright + 0.8)
        drawing = Drawing(figsize=size, layout="constrained")
        FigureCanvasSVG(drawing)
        grid = drawing.subplots(rows, columns, squeeze=False).flat
        values = [value for each in maps for value in each.cells.values()]
        scale = colour_scale(values)
        for place, axis in enumerate(grid):
            if place >= len(maps):
                axis.remove()
                continue
            mesh = heat_panel(axis, maps[place], scale, letters)
            if place >= len(maps) - columns:
                axis.set_xlabel(axes[0])
            else:
                axis.tick_params(labelbottom=False)
            if place % columns == 0:
                axis.set_ylabel(textwrap.fill(axes[1], 30))
            else:
                axis.tick_params(labelleft=False)
        bar = drawing.colorbar(
            mesh, ax=drawing.axes, location="bottom", shrink=0.9, pad=0.03, aspect=40
        )
        # A page has no pictures but drawings.
        solids: Any = bar.solids
        solids.set_rasterized(False)
        # Between its steps the page would shine through.
        solids.set_edgecolor("face")
        if spans_decades(values):
            bar.ax.xaxis.set_major_formatter(plain_number)
            bar.ax.xaxis.set_minor_formatter("")
        bar.set_label(textwrap.fill(label, 60))
        return drawing


def colour_scale(values: Sequence[float]) -> Any:
    """The scale of colours of values: logarithmic if they are two decades apart, so that the small
    ones are told apart too. Its ends are at least a hundredth of the largest value apart, so that
    cells with the same three digits look alike."""
    from matplotlib.colors import LogNorm, Normalize

    low, high = min(values), max(values)
    if spans_decades(values):
        return LogNorm(min(value for value in values if value > 0), high, clip=True)
    low = min(low, high - 0.01 * max(abs(low), abs(high)))
    return Normalize(low, high) if high > low else Normalize(low - 0.5, low + 0.5)


def heat_panel(axis: Any, drawn: HeatMap, scale: Any, letters: int = 34) -> Any:
    """One heat map into axes, coloured by a scale (`colour_scale`); what a colour bar is made of.
    More `letters` below the columns are turned upright."""

    import numpy as np

    xs = list(dict.fromkeys(x for x, _ in drawn.cells))
    ys = list(dict.fromkeys(y for _, y in drawn.cells))
    grid = np.full((len(ys), len(xs)), np.nan)
    for (x, y), value in drawn.cells.items():
        grid[ys.index(y), xs.index(x)] = value
    mesh = axis.pcolormesh(grid, cmap="cividis", norm=scale, edgecolor="none")
    crowded = sum(len(x) + 2 for x in xs) > letters
    axis.set_xticks(np.arange(len(xs)) + 0.5, xs, rotation=90 if crowded else 0)
    axis.set_yticks(np.arange(len(ys)) + 0.5, ys)
    axis.set_title(textwrap.fill(drawn.title, letters))
    if grid.size <= NUMBERED:
        for (x, y), value in drawn.cells.items():
            light = float(scale(value)) < 0.5
            axis.text(
                xs.index(x) + 0.5, ys.index(y) + 0.5, f"{value:.3g}" if value < 1e3 else
                f"{value:.0f}", ha="center", va="center", fontsize=7.5,
                color=LIGHT if light else DARK,
            )  # fmt: skip
    return mesh
