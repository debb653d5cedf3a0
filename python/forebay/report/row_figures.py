"""Drawings of rows of results: bars or points of a few, and extremes, medians and bands of many.

Which columns are drawn follows from what the engine says of them: those that matter most, of one
unit in a drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.drawing import (
    HATCHES,
    INK,
    MARKERS,
    NARROW,
    Figure,
    finished,
    line_style,
    log_axis,
    new_column,
    spans_decades,
    top_legend,
    top_legend_inches,
)
from forebay.run.columns import Column, columns, shown_kinds
from forebay.run.shown import ALWAYS, COLOUR_WORDS, by_precedence
from forebay.run.words import axis_scale, name_of, unit_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MANY", "Ends", "means", "members", "precedences", "purposes", "throughputs"]

MANY = 24
"""Rows that are drawn one by one; of more, extremes, median and a band are."""
MAX_DRAWINGS = 2
"""Drawings of a kind of rows."""
MAX_LETTERS = 26
"""Letters of a name beside an axis."""

Rows = Sequence[Mapping[str, Any]]
Ends = Mapping[tuple[str, str], tuple[float, float]]
"""Ends of intervals, by the name of a row and its column."""


def purposes(document: Mapping[str, Any], ends: Mapping[str, Ends] | None = None) -> list[Figure]:
    """Drawings of what a run was for: of its transfers, calls, rings and so on the columns that
    matter most, measured ones before counts. Values with `ends`, by kind, are means."""
    found = []
    for kind in shown_kinds():
        rows = document.get(kind, [])
        if kind in ("flows", "hosts", *ALWAYS) or not rows:
            continue
        units: dict[str, list[Column]] = {}
        for column in columns(kind).values():
            if column.headline and _tells(kind, column, rows):
                units.setdefault(column.unit, []).append(column)
        # Sorted stably: measured ones first.
        ranked = sorted(units.values(), key=lambda each: _is_count(kind, each[0]))
        if len(rows) == 1 and ranked and not _is_count(kind, ranked[0][0]):
            # A single count is read in the table.
            ranked = [each for each in ranked if not _is_count(kind, each[0])]
        charts = [
            _Chart(kind, each, rows, (ends or {}).get(kind, {})) for each in ranked[:MAX_DRAWINGS]
        ]
        found += [_drawn(chart, document["groups"]) for chart in charts]
    return found


def means(kind: str, names: Sequence[str], rows: Rows, groups: Rows, ends: Ends) -> Figure | None:
    """Columns of one unit of a kind of rows, which are means with the ends of their intervals;
    nothing without values."""
    chart = _Chart(kind, [columns(kind)[name] for name in names], rows, ends)
    return _drawn(chart, groups) if chart.every() else None


def precedences(links: Rows) -> Figure | None:
    """What links did with packets of each precedence, where several came: a bar as long as those
    that arrived, with the part that was dropped; nothing if none were."""
    rows = [row for row in by_precedence(links) if row.get("arrived_packets")]
    if not any(row["dropped_packets"] for row in rows):
        return None
    losing = {row["link"] for row in rows if row["dropped_packets"]}
    rows = [row for row in rows if row["link"] in losing]
    shown = rows[:MANY]
    dropped = [row["dropped_packets"] for row in shown]
    rest = [max(row["arrived_packets"] - lost, 0) for row, lost in zip(shown, dropped, strict=True)]
    words = ["not dropped", "dropped"]
    drawing, (axis,) = new_column([0.9 + 0.24 * len(shown) + top_legend_inches(words)], NARROW)
    places = range(len(shown))
    axis.barh(places, rest, 0.66, color=line_style(0)["color"], label=words[0])
    axis.barh(places, dropped, 0.66, left=rest, color=line_style(1)["color"], label=words[1],
              hatch=HATCHES[1], edgecolor=INK, linewidth=0)  # fmt: skip
    for place, row in enumerate(shown):
        lost = row["dropped_ratio"] or 0.0
        axis.annotate(f"{100 * lost:.1f} %", (row["arrived_packets"], place), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=8.5, color=INK)  # fmt: skip
    _name_rows(axis, [row["name"] for row in shown])
    axis.set_xlim(0, 1.18 * max(row["arrived_packets"] for row in shown))
    axis.set_xlabel("packets that arrived")
    axis.grid(axis="y", visible=False)
    top_legend(axis)
    left = f" {len(rows) - len(shown)} more rows are in the table." if rows[MANY:] else ""
    said = f"At links that dropped any, with the share that was. Of meters {COLOUR_WORDS}.{left}"
    return finished(drawing, [], "Links: packets by precedence", said)


def throughputs(groups: Rows) -> Figure | None:
    """Throughput of each group of flows, with its share of all; nothing of a single one."""
    column = columns("groups")["throughput_bps"]
    known = sorted(
        (row for row in groups if row.get(column.name)), key=lambda row: -row[column.name]
    )
    if len(known) < 2:
        return None
    if len(known) > MANY:
        return _drawn(_Chart("groups", [column], known), groups)
    total = sum(row[column.name] for row in known)
    shares = [f"{100 * row[column.name] / total:.1f} %" for row in known]
    chart = _Chart("groups", [column], known)
    return _bars(chart, "Throughput shares", "By group of flows, with its share of all.", shares)


def members(names: Iterable[str], groups: Rows) -> dict[str, list[str]]:
    """The names by tag of their groups, those with most first; all together without tags."""
    names = list(names)
    tags = {row["name"]: row["tags"] for row in groups if row.get("tags")}
    found: dict[str, list[str]] = {}
    for name in names:
        for tag in tags.get(name, [""]) if tags else [""]:
            found.setdefault(tag or ("others" if tags else "all"), []).append(name)
    ranked = sorted(found.items(), key=lambda each: -len(each[1]))
    return {f"{tag} ({len(of)})": of for tag, of in ranked[:MANY]}


def _tells(kind: str, column: Column, rows: Rows) -> bool:
    """Returns true if a drawing of a column tells something: that nothing was blocked does, as that
    all counts are zero does not."""
    values = [column.value_in(row) for row in rows]
    return any(values) or (_is_share(kind, column) and any(value is not None for value in values))


def _is_share(kind: str, column: Column) -> bool:
    unit = unit_at(kind, column.name)
    return unit is not None and unit.symbol == "share"


def _is_count(kind: str, column: Column) -> bool:
    unit = unit_at(kind, column.name)
    return unit is None or not (unit.spoken or _is_share(kind, column))


@dataclass(frozen=True, slots=True)
class _Chart:
    """Columns of one unit of a kind of rows."""

    kind: str
    columns: Sequence[Column]
    rows: Rows
    ends: Ends = field(default_factory=dict)

    def values(self, column: Column) -> dict[str, float]:
        """The values by name of the row, of rows that have one."""
        found = {str(row["name"]): column.value_in(row) for row in self.rows}
        return {name: float(it) for name, it in found.items() if isinstance(it, int | float)}

    def every(self) -> list[float]:
        """All values."""
        return [value for column in self.columns for value in self.values(column).values()]

    @property
    def words(self) -> list[str]:
        """The columns in words."""
        return [name_of(column.name) for column in self.columns]

    def scaled(self) -> tuple[float, str]:
        """Factor and unit of the axis."""
        return axis_scale(unit_at(self.kind, self.columns[0].name), self.every())

    def spread(
        self, column: str, values: Mapping[str, float], is_wide: bool
    ) -> list[list[float]] | None:
        """How far the ends of intervals are from values, below and above; a logarithmic axis has
        no zero, at which an interval may begin."""
        if not self.ends:
            return None
        scale, _ = self.scaled()
        ends = [self.ends.get((name, column), (value, value)) for name, value in values.items()]
        lows = [max(low, 1e-2 * value if is_wide else 0.0)
                for (low, _), value in zip(ends, values.values(), strict=True)]  # fmt: skip
        below = [scale * (value - low) for low, value in zip(lows, values.values(), strict=True)]
        above = [scale * (e[1] - value) for e, value in zip(ends, values.values(), strict=True)]
        return [[max(each, 0.0) for each in below], [max(each, 0.0) for each in above]]

    def label(self, axis: Axes) -> None:
        """Labels the axis of values, which is logarithmic where these span two decades."""
        _, symbol = self.scaled()
        unit = unit_at(self.kind, self.columns[0].name)
        what = self.words[0] if len(self.words) == 1 else (unit.what if unit else "value")
        axis.set_xlabel(f"{what} ({symbol})" if symbol else what)
        axis.grid(axis="y", visible=False)


def _drawn(chart: _Chart, groups: Rows) -> Figure:
    kind, shown, rows = chart.kind, chart.columns, chart.rows
    whose = "flows, by group" if kind == "groups" else kind.replace("_", " ")
    title = f"{whose[0].upper()}{whose[1:]}: {', '.join(chart.words)}"
    if len(rows) > MANY:
        return _bands(chart, title, members([str(row["name"]) for row in rows], groups))
    if len(shown) == 1 and not chart.ends and not spans_decades(chart.every()):
        return _bars(chart, title, "", [shown[0].shown(row) for row in rows])
    return _points(chart, title)


def _bars(chart: _Chart, title: str, caption: str, told: Sequence[str]) -> Figure:
    """A bar for each row, with words at its end."""
    drawing, (axis,) = new_column([0.9 + 0.24 * len(chart.rows)], NARROW)
    scale, _ = chart.scaled()
    values = chart.values(chart.columns[0])
    lengths = [scale * values.get(str(row["name"]), 0.0) for row in chart.rows]
    axis.barh(range(len(lengths)), lengths, 0.66, color=line_style(0)["color"])
    for place, (words, value) in enumerate(zip(told, lengths, strict=True)):
        axis.annotate(
            words,
            (value, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=INK,
        )
    _name_rows(axis, [str(row["name"]) for row in chart.rows])
    axis.set_xlim(0, 1.22 * max(lengths) or 1.0)
    chart.label(axis)
    return finished(drawing, [], title, caption)


def _points(chart: _Chart, title: str) -> Figure:
    """A line for each row, with a point for each column."""
    height = 0.9 + 0.26 * len(chart.rows) + top_legend_inches(chart.words)
    drawing, (axis,) = new_column([height], NARROW)
    scale, _ = chart.scaled()
    names = [str(row["name"]) for row in chart.rows]
    is_wide = spans_decades(chart.every())
    for index, (column, words) in enumerate(zip(chart.columns, chart.words, strict=True)):
        values = chart.values(column)
        shown = [name for name in names if name in values and (values[name] or not is_wide)]
        aside = 0.16 * (index - (len(chart.words) - 1) / 2) if chart.ends else 0.0
        _, caps, bars = axis.errorbar(
            [scale * values[name] for name in shown],
            [names.index(name) + aside for name in shown],
            xerr=chart.spread(column.name, {name: values[name] for name in shown}, is_wide),
            fmt=MARKERS[index % len(MARKERS)],
            color=line_style(index)["color"],
            markersize=4 if chart.ends else 6,
            capsize=3,
            label=words,
            clip_on=False,
        )
        for part in (*caps, *bars):
            part.set_clip_on(False)
    _name_rows(axis, names)
    if is_wide:
        log_axis(axis, "x")
    else:
        axis.set_xlim(left=0)
    chart.label(axis)
    if len(chart.words) > 1:
        top_legend(axis)
    said = "Means with 95 % intervals over the replications." if chart.ends else ""
    return finished(drawing, [], title, f"{said} Logarithmic axis." if is_wide else said)


def _bands(chart: _Chart, title: str, groups: Mapping[str, Sequence[str]]) -> Figure:
    """Extremes, median and the band of the middle half of many rows, by tag and column."""
    import numpy as np

    scale, _ = chart.scaled()
    is_wide = spans_decades(chart.every())
    bars = []
    for tag, names in groups.items():
        for index, (column, words) in enumerate(zip(chart.columns, chart.words, strict=True)):
            values = chart.values(column)
            known = sorted((scale * values[name], name) for name in names if name in values)
            known = [each for each in known if each[0] > 0 or not is_wide]
            label = tag if len(chart.words) == 1 else f"{tag}: {words}"
            bars += [(label, index, known)] if known else []
    drawing, (axis,) = new_column([0.9 + 0.5 * len(bars)], NARROW)
    for place, (_, index, known) in enumerate(bars):
        middle_half = np.quantile(np.array([value for value, _ in known]), (0.25, 0.5, 0.75))
        low, middle, high = (float(value) for value in middle_half)
        look: Any = {"color": line_style(index)["color"]}
        axis.plot([known[0][0], known[-1][0]], [place, place], "|-", linewidth=1.0, **look)
        look |= {"alpha": 0.45, "solid_capstyle": "butt"}
        axis.plot([low, high], [place, place], linewidth=8, **look)
        axis.plot([middle], [place], "o", markersize=5, color=INK)
        for end, side in ((known[0], "left"), (known[-1], "right")):
            axis.annotate(_short(end[1]), (end[0], place), xytext=(0, 7), ha=side, fontsize=7.5,
                          textcoords="offset points", color=INK)  # fmt: skip
    _name_rows(axis, [label for label, _, _ in bars])
    axis.set_ylim(len(bars) - 0.4, -0.8)
    if is_wide:
        log_axis(axis, "x")
    chart.label(axis)
    counted = f"{len(chart.rows)} rows"
    said = (
        f"{counted}: line from the least to the largest, which are named; band of the middle half; "
        "dot at the median."
    )
    return finished(drawing, [], title, f"{said} Logarithmic axis." if is_wide else said)


def _name_rows(axis: Axes, names: Sequence[str]) -> None:
    """Names beside the axis, the first at the top."""
    axis.set_yticks(range(len(names)), [_short(name) for name in names])
    axis.set_ylim(len(names) - 0.4, -0.6)


def _short(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else f"{name[: MAX_LETTERS - 1]}…"
