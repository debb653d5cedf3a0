"""The drawings of a run's page: what matters first, and the rest in small panels.

Their number is bounded, whatever was recorded: places that are alike share a drawing, and a line
has no more points than the page can hold.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from forebay.drawing import (
    DOTTED,
    INK,
    NARROW,
    Figure,
    curve,
    finished,
    line_style,
    log_axis,
    new_column,
    new_grid,
    slug,
    spans_decades,
    to_svg,
    top_legend,
    top_legend_inches,
)
from forebay.report.row_figures import MANY, members
from forebay.run.plots import delay_quantiles
from forebay.run.words import axis_scale, name_of, unit_at
from forebay.units import UNITS

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Recorded", "delays", "details", "timeline"]

Recorded: TypeAlias = "Mapping[str, Mapping[str, np.ndarray]]"
"""Recorded series by place (`links.core`): columns by name."""

POINTS = 12_000
"""Points that all lines of a section have together: about 14 letters of SVG each."""
LINES = 12
"""Lines in a panel, and panels in a drawing; the busiest are drawn."""
LETTERS = 420_000
"""Drawings of the rest together; no further one begins beyond."""
FEW_LETTERS = 100_000
"""The same where there are many groups, whose tables and drawings are long already."""
TAGS = 6
"""Bands that are told apart in a drawing."""
BAND_POINTS = 200
"""Points of a band."""
MAX_UNNUMBERED = 7
"""Maximum number of lines that have no number beside them."""


def delays(
    table: Mapping[str, Sequence[Any]], groups: Sequence[Mapping[str, Any]]
) -> Figure | None:
    """The distribution of delay by group, with its percentiles marked; of many groups the band that
    they are in."""
    names = list(dict.fromkeys(table["group"]))
    if not names:
        return None
    if len(names) > MANY:
        return _delay_bands(table, members(names, groups), len(names))
    scale, unit = axis_scale(unit_at("flows", "mean_delay_s"), table["to_s"])
    drawing, (axis,) = new_column([2.9 + top_legend_inches(names)], NARROW)
    ends = []
    curves = _cumulated(table)
    for index, name in enumerate(names):
        x, y = curves[name]
        keep = _kept(len(x), POINTS // 4 // len(names))
        axis.step(
            scale * x[keep], y[keep], where="post", linewidth=1.3, label=name, **line_style(index)
        )
        shares = (0.5, 0.95, 0.99)
        quantiles = delay_quantiles(table, name, shares)
        ends += quantiles
        for share, value, mark in zip(shares, quantiles, "osD", strict=True):
            look = {"markersize": 3.5, "color": line_style(index)["color"]}
            axis.plot([scale * value], [100.0 * share], mark, **look)
    said = "Of delivered packets, by group. Circle: median; square: 95 %; diamond: 99 %."
    top_legend(axis, MAX_UNNUMBERED)
    return _delays_drawn(drawing, axis, said, unit, spans_decades(ends))


def _delay_bands(
    table: Mapping[str, Sequence[Any]], tagged: Mapping[str, Sequence[str]], groups: int
) -> Figure:
    """Distributions of delay of many groups: at each delay the share of packets of the median
    group, and the band of the middle half of all."""
    import numpy as np

    shown = dict(list(tagged.items())[:TAGS])
    scale, unit = axis_scale(unit_at("flows", "mean_delay_s"), table["to_s"])
    curves = _cumulated(table)
    every = np.unique(np.concatenate([x for x, _ in curves.values()]))
    grid = every[_kept(len(every), BAND_POINTS)]
    drawing, (axis,) = new_column([2.9 + top_legend_inches(list(shown))], NARROW)
    for index, (tag, names) in enumerate(shown.items()):
        reached = np.array([_at(*curves[name], grid) for name in names])
        low, middle, high = np.quantile(reached, (0.25, 0.5, 0.75), axis=0)
        look = line_style(index)
        axis.fill_between(scale * grid, low, high, color=look["color"], alpha=0.3, linewidth=0)
        axis.plot(scale * grid, middle, label=tag, linewidth=1.3, **look)
        if len(shown) == 1:
            for edge in (reached.min(axis=0), reached.max(axis=0)):
                axis.plot(scale * grid, edge, linewidth=0.8, color=INK, linestyle=DOTTED)
    top_legend(axis)
    said = (
        f"Of delivered packets, of {groups} groups: line of the median group at each delay, band "
        "of the middle half" + ("; dotted: extremes." if len(shown) == 1 else ".")
    )
    told = f" {len(tagged) - len(shown)} smaller tags are left out." if len(tagged) > TAGS else ""
    wide = spans_decades(np.quantile(every, (0.02, 0.98)))
    return _delays_drawn(drawing, axis, said + told, unit, wide)


def _delays_drawn(drawing: Any, axis: Any, said: str, unit: str, wide: bool) -> Figure:
    """A distribution of delay with its axes; of delays far apart that of delay is logarithmic."""
    axis.set_xlabel(f"one-way delay ({unit})")
    axis.set_ylabel("packets with at most this delay (%)")
    axis.set_ylim(0, 101)
    if wide:
        log_axis(axis, "x")
        said += " Logarithmic axis."
    else:
        axis.set_xlim(left=0)
    return _figure("Distribution of delay", drawing, said)


def _cumulated(table: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Any, Any]]:
    """Delays of each group in seconds, and the percentage of packets with at most each."""
    import numpy as np

    groups, upper = np.array(table["group"]), np.array(table["to_s"], float)
    packets = np.array(table["packets"], float)
    found = {}
    for name in dict.fromkeys(table["group"]):
        of = groups == name
        reached = np.cumsum(packets[of])
        found[name] = (upper[of], 100.0 * reached / max(float(reached[-1]), 1.0))
    return found


def _at(x: Any, y: Any, grid: Any) -> Any:
    """The values of a step function."""
    import numpy as np

    return np.concatenate([[0.0], y])[np.searchsorted(x, grid, side="right")]


def timeline(recorded: Recorded) -> Figure | None:
    """Queues, windows and throughput over one time axis."""

    import numpy as np

    wanted = (
        ("queue", "links.", ("queue_packets", "queue_bytes")),
        ("congestion window, mean of a flow", "flows.", ("mean_cwnd_bytes",)),
        ("throughput", "flows.", ("throughput_bps",)),
    )
    panels = []
    for what, kind, columns in wanted:
        lines = {
            place.removeprefix(kind): (table["time_s"], table[column], column)
            for place, table in recorded.items()
            if place.startswith(kind)
            for column in [next((c for c in columns if c in table), "")]
            if column and np.nanmax(np.abs(table[column]), initial=0.0) > 0.0
        }
        if lines:
            panels.append((what, kind, _busiest(lines)))
    if not panels:
        return None
    drawing, axes = new_column(
        [1.9 + top_legend_inches(list(lines)) for _, _, lines in panels], NARROW
    )
    count = sum(len(lines) for _, _, lines in panels)
    for axis, (what, kind, lines) in zip(axes, panels, strict=True):
        column = next(iter(lines.values()))[2]
        unit = unit_at(kind[:-1], column)
        scale, symbol = axis_scale(unit, [float(np.nanmax(y)) for _, y, _ in lines.values()])
        for index, (name, (time, values, _)) in enumerate(lines.items()):
            x, y = _thinned(time, values, POINTS // count)
            axis.plot(x, scale * y, linewidth=1.0, label=name, **line_style(index))
        axis.set_ylabel(f"{what.partition(',')[0]}\n({symbol})")
        axis.set_ylim(bottom=0)
        axis.margins(x=0)
        top_legend(axis, MAX_UNNUMBERED)
    axes[-1].set_xlabel("simulated time (s)")
    said = "Recorded series on one time axis"
    return _figure("Over time", drawing, f"{said}: {'; '.join(what for what, _, _ in panels)}.")


def details(recorded: Recorded, groups: int) -> tuple[list[Figure], list[str]]:
    """Recorded series by sort of place and unit, a panel for each place; and what had no room."""

    import numpy as np

    sorts: dict[tuple[str, str], dict[str, list[str]]] = {}
    for place, table in recorded.items():
        kind, _, name = place.partition(".")
        for column, values in table.items():
            whole = column.partition(".")[0]
            alike = whole != column and np.array_equal(values, table.get(whole, ()))
            if column == "time_s" or alike or not np.nanmax(np.abs(values), initial=0.0) > 0.0:
                continue
            unit = unit_at(kind, column)
            sort = unit.symbol if unit else name_of(whole)
            sorts.setdefault((kind, sort), {}).setdefault(name, []).append(column)
    count = sum(len(columns) for places in sorts.values() for columns in places.values())
    points = max(40, 2 * POINTS // max(count, 1))
    figures: list[Figure] = []
    most = LETTERS if groups <= MANY else FEW_LETTERS
    # What queues and flows do comes before what laws keep inside.
    ranked = sorted(sorts, key=lambda sort: (_rank(sort[1]), sort[0] != "links"))
    for key in ranked:
        if sum(len(figure.svg) for figure in figures) > most:
            break
        figures.append(_panels(recorded, key, sorts[key], points))
    left = [f"{_WHATS.get(sort, sort)} of {kind}" for kind, sort in ranked[len(figures) :]]
    return figures, left


_WHATS = {unit.symbol: unit.what for unit in UNITS.values()}


def _rank(sort: str) -> int:
    order = ("packets", "bit/s", "s", "B", "share")
    return order.index(sort) if sort in order else len(order)


def _panels(
    recorded: Recorded, sort: tuple[str, str], places: Mapping[str, Sequence[str]], points: int
) -> Figure:
    import numpy as np

    kind, _ = sort
    shown = dict(list(places.items())[:LINES])
    first = next(iter(shown.values()))[0]
    unit = unit_at(kind, first)
    largest = [
        float(np.nanmax(np.abs(recorded[f"{kind}.{name}"][column])))
        for name, columns in shown.items()
        for column in columns
    ]
    scale, symbol = axis_scale(unit, largest)
    labels = list(dict.fromkeys(column for columns in shown.values() for column in columns))
    columns = 1 if len(shown) == 1 else 2
    drawing, axes = new_grid(list(shown), columns, 1.6)
    for axis, (name, drawn) in zip(axes, shown.items(), strict=True):
        table = recorded[f"{kind}.{name}"]
        for column in drawn:
            x, y = _thinned(table["time_s"], table[column], points)
            curve(axis, labels.index(column), x, scale * y, name_of(column), every=len(x) // 4 or 1)
        axis.set_ylim(bottom=min(0.0, float(axis.get_ylim()[0])) if _negative(table, drawn) else 0)
        axis.margins(x=0)
        axis.set_ylabel(symbol)
    for axis in axes[-columns:]:
        axis.set_xlabel("simulated time (s)")
    what = unit.what if unit else name_of(first.partition(".")[0])
    left = len(places) - len(shown)
    told = f" {left} more are in the tables on disk." if left else ""
    title = f"{kind.capitalize()}: {what}"
    return finished(drawing, axes, title, f"Sampled series.{told}", identity=slug(f"all-{title}"))


def _negative(table: Mapping[str, np.ndarray], columns: Iterable[str]) -> bool:
    import numpy as np

    return any(float(np.nanmin(table[column], initial=0.0)) < 0.0 for column in columns)


def _busiest(lines: Mapping[str, Any]) -> dict[str, Any]:
    """As many as a panel can show: those with the largest mean, in their own order."""

    import numpy as np

    means = {name: float(np.nanmean(np.abs(values))) for name, (_, values, _) in lines.items()}
    kept = set(sorted(means, key=lambda name: -means[name])[:LINES])
    return {name: line for name, line in lines.items() if name in kept}


def _kept(points: int, most: int) -> Any:
    """Indices of the points to draw if there may be at most `most`, the last among them."""

    import numpy as np

    if points <= most:
        return slice(None)
    return np.unique(np.linspace(0, points - 1, max(2, most)).round().astype(int))


def _thinned(time: np.ndarray, values: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """A series with at most about so many points; peaks stay."""

    import numpy as np

    bins = min(max(points, 40), 600) // 2
    if len(time) <= 2 * bins:
        return time, values
    edges = np.linspace(0, len(time), bins + 1).astype(int)
    filled = np.nan_to_num(values)
    kept = [
        low + pick
        for low, high in itertools.pairwise(edges)
        for pick in sorted({int(filled[low:high].argmin()), int(filled[low:high].argmax())})
    ]
    return time[kept], values[kept]


def _figure(title: str, drawing: Any, caption: str) -> Figure:
    identity = slug(title)
    return Figure(identity, title, caption, to_svg(drawing, identity, title))
