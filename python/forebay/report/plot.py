"""Plots of a study: its paper's tables with what was measured, recorded series, shares.

How they look is in `forebay.drawing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.drawing import (
    COLOURS,
    HATCHES,
    INK,
    LEGEND,
    LINES,
    Figure,
    level,
    new_axes,
    new_axis,
    published,
    slug,
    to_svg,
    with_legend,
)
from forebay.study.grades import Point
from forebay.units import multiple_of_ending

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from forebay.report.paper_tables import Column, PaperTable, Row
    from forebay.study.claims import NumericClaim
    from forebay.study.results import Outcome

__all__ = ["draw_table", "shares", "time_series"]

MIN_CURVE_ROWS = 7
"""Minimum number of rows of a table that is drawn as curves; one with fewer is drawn as bars."""


def draw_table(outcome: Outcome, table: PaperTable) -> Figure | None:
    """A table of the paper as a plot: published values over our 95 % intervals.

    Drawn against the parameter that changes from row to row; columns with different parameters get
    panels of their own. `None` if nothing was measured, or rows differ in more than one parameter.
    """
    parameter = _row_parameter(table)
    if parameter is None:
        return None
    panels = _panels(table)
    curves = len(table.rows) >= MIN_CURVE_ROWS
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


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of a series among those drawn, and its name."""

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


def _parameter_label(name: str) -> str:
    """`udp_mbps` is "UDP (Mbit/s)": the last word is the unit, short words are abbreviations."""
    *words, last = name.split("_")
    unit = multiple_of_ending(last) if words else None
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
