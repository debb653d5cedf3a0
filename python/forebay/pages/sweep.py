"""The page of a sweep: a heat map for two parameters, small multiples for three, tables below."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay import text
from forebay.drawing import (
    NARROW,
    Figure,
    finished,
    line_style,
    log_axis,
    new_column,
    slug,
    spans_decades,
    to_svg,
    top_legend,
    top_legend_inches,
)
from forebay.errors import printable
from forebay.extras import is_installed
from forebay.native import program
from forebay.pages.scenario import scenario_section, varied_tables
from forebay.pages.sections import MARKS, Section, Table, warned, write_page
from forebay.run.axes import VARIANT
from forebay.run.documents import ANY, check_shape, read_document
from forebay.run.expressions import Expression, derived, read
from forebay.run.heat import HeatMap, draw_heat
from forebay.run.paper_formats import called
from forebay.run.quantities import lacking_words
from forebay.run.repeat import quoted
from forebay.run.resolved import SHAPE
from forebay.run.words import axis_scale, setting_words, value_words
from forebay.units import Unit, size_of

__all__ = ["sweep_report", "warning_words"]

SWEEP = {
    **MARKS,
    "grid": {"*": [ANY]},
    "quantities": [str],
    "derived?": {"*": str},
    "seeds": [int],
    "runs": int,
    "summary": [
        {
            **dict.fromkeys(("mean", "low", "high"), (float, None)),
            **{"quantity": str, "replications": int, "note?": str, "reason?": str},
        }
    ],
    "failed?": [{"reason": str, "command": str}],
    "scenario?": SHAPE,
    "varied?": [str],
    "variants?": {"*": {"*": ANY}},
    "warnings?": [{"warning": str, "points": int, "where": {"*": [ANY]}}],
}
"""Shape of the part of a sweep's document that the page shows."""

PLAIN = (str, float, bool)
"""Types of a parameter's value."""
PANELS = 12
"""Small multiples in a drawing at most."""
LINES = 12
"""Lines in a drawing at most."""
MAX_BESIDE = 60
"""Rows of a table beside a drawing at most; a longer one is folded below it."""
Rows = Sequence[Mapping[str, Any]]
Axis = tuple[str, ...]
"""Parameters that change together: one axis of a drawing."""


def sweep_report(folder: Path) -> Path:
    """The page of what `forebay sweep` wrote; its path. Raises `UserError` if it is damaged."""
    path = folder / "sweep.json"
    document = read_document(path, SWEEP)
    parameters = list(document["grid"])
    check_shape(path, document, {"summary": [dict.fromkeys(parameters, PLAIN)]})
    sections = _without_plots(folder) + warned(map(warning_words, document.get("warnings", [])))
    sections += _scenario(document)
    names = derived(document.get("derived", {}), f"{path}: derived")
    for number, name in enumerate(document["quantities"]):
        quantity = read(name, f"{path}: quantities", names)
        rows = [_bounded(row, quantity) for row in document["summary"] if row["quantity"] == name]
        rows = [row | {each: _told(row[each]) for each in parameters} for row in rows]
        sections.append(_section(quantity, number, parameters, rows))
    if document.get("failed"):
        failed = [[row["reason"], row["command"]] for row in document["failed"]]
        sections.append(Section("Failed runs", tables=[Table(["why", "the run again"], failed)]))
    return write_page(folder, document, sections, ("version", "build", "seeds", "runs"))


def _scenario(document: Mapping[str, Any]) -> list[Section]:
    """What was run, and what was varied; results of earlier versions say the latter alone."""
    varied = varied_tables(document["grid"], document.get("variants", {}))
    if "scenario" not in document:
        return [Section("Scenario", tables=varied)] if varied else []
    section = scenario_section(document["scenario"], document.get("varied", ()))
    section.text += " Values are those of the first point." if varied else ""
    section.tables = [*varied, *section.tables]
    return [section]


def _without_plots(folder: Path) -> list[Section]:
    """The section of what is to be done where plots cannot be drawn; none where they can."""
    if is_installed("matplotlib"):
        return []
    said = "The tables below are whole. Plots need Matplotlib, which is not installed: "
    command = quoted([*program(), "report", str(folder)])
    return [Section("No plots", f"{said}pip install 'forebay[plots]', then {command}")]


def warning_words(row: Mapping[str, Any]) -> str:
    """A row of a sweep's warnings in one sentence, with the points that it is about."""
    if not row["where"]:
        return str(row["warning"])
    where = (f"{name} = {' or '.join(map(str, at))}" for name, at in row["where"].items())
    return f"{row['warning']} (in {text.counted(row['points'], 'point')}: {', '.join(where)})"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A quantity as drawings show it: in words, under an identity, in a unit."""

    words: str
    identity: str
    unit: Unit

    def axis(self, symbol: str) -> str:
        """The label of its axis."""
        return f"{self.words} ({symbol})" if symbol else self.words


def _bounded(row: Mapping[str, Any], quantity: Expression) -> dict[str, Any]:
    """A row whose interval ends where values do: none of the engine's quantities is negative. Words
    in it are those that a drawing can show."""
    row = {name: printable(it) if isinstance(it, str) else it for name, it in row.items()}
    if row["low"] is None or row["mean"] is None or row["mean"] < 0 or not quantity.nonnegative:
        return row
    low, high = max(0.0, row["low"]), row["high"]
    if quantity.is_plain and quantity.unit.symbol == "share" and row["mean"] <= 1.0:
        high = min(1.0, high)
    return {**row, "low": low, "high": high}


def _told(value: Any) -> str:
    return printable(value_words(value))


def _section(quantity: Expression, number: int, parameters: Sequence[str], rows: Rows) -> Section:
    unit, words = quantity.unit_of(row["mean"] for row in rows), called(quantity)
    title = words if quantity.is_plain else quantity.title
    shown = Table(
        heads=[*map(setting_words, parameters), "mean", "95 % interval", "replications"],
        rows=[
            [
                *(str(row[name]) for name in parameters),
                text.quantity(row["mean"], unit),
                _interval(row, unit),
                str(row["replications"]),
            ]
            for row in rows
        ],
        caption=f"{title}: table of means and intervals, {text.counted(len(rows), 'point')}",
    )
    having = [row for row in rows if row["mean"] is not None]
    axes = _axes(parameters, having)
    drawn = having if is_installed("matplotlib") else []
    drawing = _Shown(words, quantity.text if quantity.is_plain else f"derived-{number}", unit)
    heat = _heat(drawing, axes, drawn) if len(axes) > 1 and drawn else []
    # Where drawings are two they stand side by side, and an only one beside the table.
    drawings = [*heat, *_lines(drawing, axes, drawn)]
    beside = len(drawings) == 1 and len(rows) <= MAX_BESIDE
    shown.folded = bool(drawings) and not beside
    section = Section(words, " ".join(text.notes(rows)), figures=drawings)
    section.listed = lacking_words(rows, parameters)
    if beside:
        section.beside = [shown]
    else:
        section.tables = [shown]
    return section


def _axes(parameters: Sequence[str], rows: Rows) -> list[Axis]:
    """The parameters as axes: those of which each value goes with one value of the other, as in
    `[[zip]]`, are one, so that no drawing has places for what is never run."""
    axes: list[Axis] = []
    for name in parameters:
        place = next((n for n, axis in enumerate(axes) if _together(axis[0], name, rows)), None)
        if place is None:
            axes.append((name,))
        else:
            axes[place] += (name,)
    return axes


def _together(first: str, second: str, rows: Rows) -> bool:
    """True if two parameters have several values, and change only together."""
    pairs = {(str(row[first]), str(row[second])) for row in rows}
    firsts, seconds = (len({pair[n] for pair in pairs}) for n in (0, 1))
    return len(pairs) == firsts == seconds > 1


def _value(row: Mapping[str, Any], axis: Axis) -> str:
    return ", ".join(str(row[name]) for name in axis)


def _setting(row: Mapping[str, Any], axes: Sequence[Axis]) -> str:
    """Setting of a row: the name of its variant, and parameters with their values."""
    return ", ".join(
        str(row[name]) if name == VARIANT else f"{setting_words(name)} {row[name]}"
        for axis in axes
        for name in axis
    )


def _words(axis: Axis) -> str:
    return ", ".join(map(setting_words, axis))


def _interval(row: Mapping[str, Any], unit: Unit | None) -> str:
    found = row.get("note", "")
    if found in ("equal", text.NO_VALUE):
        return str(found)
    ends = f"{text.quantity(row['low'], unit)} to {text.quantity(row['high'], unit)}"
    return f"{ends}, {found}" if found else ends


def _heat(shown: _Shown, axes: Sequence[Axis], rows: Rows) -> list[Figure]:
    """Means by the first two axes; a panel for each combination of the others."""
    first, second, *others = axes
    panels: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        title = _setting(row, others)
        panels.setdefault(title, []).append(row)
    scale, symbol = axis_scale(shown.unit, [row["mean"] for row in rows])
    maps = []
    for title, of in list(panels.items())[:PANELS]:
        cells = {(_value(row, first), _value(row, second)): scale * row["mean"] for row in of}
        maps.append(HeatMap(title, cells))
    drawing = draw_heat(maps, (_words(first), _words(second)), shown.axis(symbol))
    left = len(panels) - len(maps)
    told = f" {left} more combinations are in the table." if left > 0 else ""
    title = f"{shown.words}: means"
    svg = to_svg(drawing, slug(f"heat-{shown.identity}"), title)
    said = f"Means over the replications; their intervals are beside.{told}"
    said += " Logarithmic colours." if spans_decades(row["mean"] for row in rows) else ""
    return [Figure(slug(f"heat-{shown.identity}"), title, said, svg)]


def _lines(quantity: _Shown, axes: Sequence[Axis], rows: Rows) -> list[Figure]:
    """Intervals against the first axis that has values; a line for each combination of the others.
    Names, of variants and of laws, are no places to which a line could lead: of those, points."""
    if not axes or not rows:
        return []
    first, *others = sorted(axes, key=lambda axis: axis == (VARIANT,))
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        lines.setdefault(_setting(row, others), []).append(row)
    ends = [row["high"] if row["high"] is not None else row["mean"] for row in rows]
    scale, symbol = axis_scale(quantity.unit, ends)
    drawn = _Intervals(first, list(dict.fromkeys(_value(row, first) for row in rows)), scale)
    shown = dict(list(lines.items())[:LINES])
    legend = top_legend_inches([label for label in shown if label])
    is_wide = spans_decades(row["mean"] for row in rows)
    names = not all(size_of(str(row[name])) is not None for row in rows for name in first)
    if names:
        height = 0.9 + legend + max(0.3, 0.13 * len(shown) + 0.1) * len(drawn.ticks)
        drawing, (panel,) = new_column([height], NARROW)
        drawn.points(panel, shown, is_wide)
        panel.set_xlabel(quantity.axis(symbol))
    else:
        drawing, (panel,) = new_column([3.0 + legend], NARROW)
        drawn.lines(panel, shown, is_wide)
        panel.set_ylabel(quantity.axis(symbol))
    top_legend(panel)
    left = len(lines) - len(shown)
    told = f" {left} more lines are in the table." if left > 0 else ""
    title = f"{quantity.words}: intervals"
    said = f"Means with 95 % intervals over the replications.{told}"
    said += " Logarithmic axis." if is_wide else ""
    return [finished(drawing, [], title, said, identity=slug(f"lines-{quantity.identity}"))]


def _least(lines: Mapping[str, Rows]) -> float:
    """The least value that is drawn."""
    ends = (
        row["mean"] if row["low"] is None else row["low"] for of in lines.values() for row in of
    )
    return float(min(ends))


@dataclass(frozen=True, slots=True)
class _Intervals:
    """Means with intervals by the values of an axis, `ticks`, multiplied by `scale`."""

    axis: Axis
    ticks: Sequence[str]
    scale: float

    def lines(self, panel: Any, lines: Mapping[str, Rows], is_wide: bool) -> None:
        """Draws a line for each entry, side by side, or intervals would hide each other."""
        for index, (label, rows) in enumerate(lines.items()):
            aside = 0.02 * (index - (len(lines) - 1) / 2)
            self._draw(panel, index, label, rows, aside, upright=True)
        crowded = sum(len(tick) + 2 for tick in self.ticks) > 60
        panel.set_xticks(range(len(self.ticks)), self.ticks, rotation=90 if crowded else 0)
        panel.set_xlabel(_words(self.axis))
        if is_wide:
            log_axis(panel, "y")
        elif panel.get_ylim()[0] < 0 <= _least(lines):
            panel.set_ylim(bottom=0)

    def points(self, panel: Any, lines: Mapping[str, Rows], is_wide: bool) -> None:
        """Draws points with intervals beside names, those of one name below each other."""
        for index, (label, rows) in enumerate(lines.items()):
            aside = 0.7 * ((index + 0.5) / len(lines) - 0.5)
            self._draw(panel, index, label, rows, aside, upright=False)
        panel.set_yticks(range(len(self.ticks)), [textwrap.fill(tick, 34) for tick in self.ticks])
        panel.set_ylim(len(self.ticks) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
        if is_wide:
            log_axis(panel, "x")
        elif _least(lines) >= 0:
            panel.set_xlim(left=0)

    def _draw(
        self, panel: Any, index: int, label: str, rows: Rows, aside: float, *, upright: bool
    ) -> None:
        places = [self.ticks.index(_value(row, self.axis)) + aside for row in rows]
        means = [self.scale * row["mean"] for row in rows]
        ends = [self._ends(row) for row in rows]
        spread = [[each[side] for each in ends] for side in (0, 1)]
        look = line_style(index) | {"marker": "osD^vP"[index % 6], "markersize": 4}
        look |= {"linewidth": 1.2, "capsize": 3, "label": label or None}
        if upright:
            made = panel.errorbar(places, means, yerr=spread, **look)
        else:
            made = panel.errorbar(means, places, xerr=spread, **{**look, "linestyle": "none"})
        # Points at the edge are drawn whole.
        for part in made.get_children():
            part.set_clip_on(False)

    def _ends(self, row: Mapping[str, Any]) -> tuple[float, float]:
        """How far the ends of an interval are from its mean; a logarithmic axis has no zero, at
        which it may begin."""
        if row["low"] is None:
            return 0.0, 0.0
        low = max(row["low"], 1e-3 * row["mean"]) if row["mean"] > 0 else row["low"]
        return self.scale * (row["mean"] - low), self.scale * (row["high"] - row["mean"])
