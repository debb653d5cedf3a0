"""Heat maps: a value by two parameters, as colours with the numbers on them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.drawing import LOOK

if TYPE_CHECKING:
    pass

__all__ = ["HeatMap", "draw_heat", "heat_panel"]

DARK, LIGHT = "#111111", "#fafafa"
NUMBERED = 150
"""Cells that still have their numbers on them."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Values by the names of a column and of a row."""

    title: str
    cells: Mapping[tuple[str, str], float]


def draw_heat(maps: Sequence[HeatMap], axes: tuple[str, str], label: str) -> Any:
    """Heat maps side by side with the same colours; a drawing for a page."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing

    columns = 1 if len(maps) == 1 else min(3, len(maps))
    rows = -(-len(maps) // columns)
    down = max(len({y for _, y in each.cells}) for each in maps)
    with rc_context(LOOK | {"axes.grid": False, "axes.titlesize": 9}):
        size = (5.4 if columns == 1 else 7.6, rows * max(2.4, 1.0 + 0.34 * down))
        drawing = Drawing(figsize=size, layout="constrained")
        FigureCanvasSVG(drawing)
        grid = drawing.subplots(rows, columns, squeeze=False).flat
        values = [value for each in maps for value in each.cells.values()]
        limits = _limits(values)
        for place, axis in enumerate(grid):
            if place >= len(maps):
                axis.remove()
                continue
            mesh = heat_panel(axis, maps[place], limits)
            if place >= len(maps) - columns:
                axis.set_xlabel(axes[0])
            if place % columns == 0:
                axis.set_ylabel(textwrap.fill(axes[1], 30))
            else:
                axis.tick_params(labelleft=False)
        bar = drawing.colorbar(mesh, ax=drawing.axes, shrink=0.9, pad=0.02)
        # A page has no pictures but drawings.
        solids: Any = bar.solids
        solids.set_rasterized(False)
        # Between its steps the page would shine through.
        solids.set_edgecolor("face")
        bar.set_label(textwrap.fill(label, 30))
        return drawing


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Where the colours begin and end: at least a hundredth of the largest value apart, so that
    cells with the same three digits look alike."""
    low, high = min(values), max(values)
    return min(low, high - 0.01 * max(abs(low), abs(high))), high


def heat_panel(axis: Any, drawn: HeatMap, limits: tuple[float, float]) -> Any:
    """One heat map into axes, coloured between limits; what a colour bar is made of."""

    import numpy as np

    xs = list(dict.fromkeys(x for x, _ in drawn.cells))
    ys = list(dict.fromkeys(y for _, y in drawn.cells))
    grid = np.full((len(ys), len(xs)), np.nan)
    for (x, y), value in drawn.cells.items():
        grid[ys.index(y), xs.index(x)] = value
    low, high = limits if limits[1] > limits[0] else (limits[0] - 0.5, limits[0] + 0.5)
    mesh = axis.pcolormesh(grid, cmap="cividis", vmin=low, vmax=high, edgecolor="none")
    crowded = sum(len(x) + 2 for x in xs) > 34
    axis.set_xticks(np.arange(len(xs)) + 0.5, xs, rotation=90 if crowded else 0)
    axis.set_yticks(np.arange(len(ys)) + 0.5, ys)
    axis.set_title(drawn.title)
    if grid.size <= NUMBERED:
        for (x, y), value in drawn.cells.items():
            light = (value - low) / (high - low) < 0.5
            axis.text(
                xs.index(x) + 0.5, ys.index(y) + 0.5, f"{value:.3g}" if value < 1e3 else
                f"{value:.0f}", ha="center", va="center", fontsize=7.5,
                color=LIGHT if light else DARK,
            )  # fmt: skip
    return mesh
