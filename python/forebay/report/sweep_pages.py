"""The page of a sweep: a heat map for two parameters, small multiples for three, tables below."""

from __future__ import annotations

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
    new_column,
    slug,
    to_svg,
    top_legend,
    top_legend_inches,
)
from forebay.errors import printable
from forebay.extras import is_installed
from forebay.report.pages import MARKS, Section, Table, warned, write_page
from forebay.run.axes import VARIANT
from forebay.run.documents import ANY, check_shape, read_document
from forebay.run.expressions import Expression, derived, read
from forebay.run.heat import HeatMap, draw_heat
from forebay.run.quantities import lacking_words
from forebay.run.repeat import quoted
from forebay.run.words import axis_scale, quantity_words, setting_words
from forebay.units import Unit

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
    "warnings?": [{"warning": str, "points": int, "where": {"*": [ANY]}}],
}
"""Shape of the part of a sweep's document that the page shows."""

PLAIN = (str, float, bool)
"""Types of a parameter's value."""
PANELS = 12
"""Small multiples in a drawing at most."""
LINES = 12
"""Lines in a drawing at most."""
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
    names = derived(document.get("derived", {}), f"{path}: derived")
    for number, name in enumerate(document["quantities"]):
        quantity = read(name, f"{path}: quantities", names)
        rows = [_bounded(row, quantity) for row in document["summary"] if row["quantity"] == name]
        sections.append(_section(quantity, number, parameters, rows))
    if document.get("failed"):
        failed = [[row["reason"], row["command"]] for row in document["failed"]]
        sections.append(Section("Failed runs", tables=[Table(["why", "the run again"], failed)]))
    return write_page(folder, document, sections, ("version", "build", "seeds", "runs"))


def _without_plots(folder: Path) -> list[Section]:
    """The section of what is to be done where plots cannot be drawn; none where they can."""
    if is_installed("matplotlib"):
        return []
    said = "The tables below are whole. Plots need Matplotlib, which is not installed: "
    command = quoted(["forebay", "report", str(folder)])
    return [Section("No plots", f"{said}pip install 'forebay[plots]', then {command}")]


def warning_words(row: Mapping[str, Any]) -> str:
    """A row of a sweep's warnings in one sentence, with the points that it is about."""
    if not row["where"]:
        return str(row["warning"])
    where = (f"{name} = {' or '.join(map(str, at))}" for name, at in row["where"].items())
    points = "1 point" if row["points"] == 1 else f"{row['points']} points"
    return f"{row['warning']} (in {points}: {', '.join(where)})"


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


def _called(quantity: Expression) -> str:
    """A quantity as a heading has it."""
    if quantity.is_plain:
        return quantity_words(quantity.text)
    named = quantity.name != quantity.text
    return f"{quantity.name.replace('_', ' ')}: {quantity.text}" if named else quantity.text


def _section(quantity: Expression, number: int, parameters: Sequence[str], rows: Rows) -> Section:
    unit, words = quantity.unit, _called(quantity)
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
        caption=f"{title}: table of means and intervals, {len(rows)} points",
        folded=len(parameters) > 1 or len(rows) > 12,
    )
    said = " ".join(text.notes(rows))
    having = [row for row in rows if row["mean"] is not None]
    axes = _axes(parameters, having)
    drawn = having if is_installed("matplotlib") else []
    drawing = _Shown(words, quantity.text if quantity.is_plain else f"derived-{number}", unit)
    heat = _heat(drawing, axes, drawn) if len(axes) > 1 and drawn else []
    lines = _lines(drawing, axes, drawn)
    first, rest = (heat, lines) if heat else (lines, [])
    lacking = lacking_words(rows, parameters)
    return Section(words, said, figures=first, folded=rest, tables=[shown], listed=lacking)


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
    said = f"Means over the replications; the table has their intervals.{told}"
    return [Figure(slug(f"heat-{shown.identity}"), title, said, svg)]


def _lines(shown: _Shown, axes: Sequence[Axis], rows: Rows) -> list[Figure]:
    """Against the first axis that has values; a line for each combination of the others. Names of
    variants are no place to which a line could lead."""
    if not axes or not rows:
        return []
    first, *others = sorted(axes, key=lambda axis: axis == (VARIANT,))
    ticks = list(dict.fromkeys(_value(row, first) for row in rows))
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        label = _setting(row, others)
        lines.setdefault(label, []).append(row)
    ends = [row["high"] if row["high"] is not None else row["mean"] for row in rows]
    scale, symbol = axis_scale(shown.unit, ends)
    height = 3.0 + top_legend_inches([label for label in lines if label][:LINES])
    drawing, (panel,) = new_column([height], NARROW)
    # Side by side, or intervals would hide each other.
    aside, middle = 0.02, (min(len(lines), LINES) - 1) / 2
    for index, (label, line) in enumerate(list(lines.items())[:LINES]):
        spread = [
            [scale * (row["mean"] - row["low"]) if row["low"] is not None else 0.0 for row in line],
            [
                scale * (row["high"] - row["mean"]) if row["high"] is not None else 0.0
                for row in line
            ],
        ]
        panel.errorbar(
            [ticks.index(_value(row, first)) + aside * (index - middle) for row in line],
            [scale * row["mean"] for row in line],
            yerr=spread,
            marker="osD^vP"[index % 6],
            markersize=4,
            linewidth=1.2,
            capsize=3,
            label=label or None,
            **(line_style(index) | ({"linestyle": "none"} if first == (VARIANT,) else {})),
        )
    crowded = sum(len(tick) + 2 for tick in ticks) > 60
    panel.set_xticks(range(len(ticks)), ticks, rotation=90 if crowded else 0)
    panel.set_xlabel(_words(first))
    panel.set_ylabel(shown.axis(symbol))
    if min(row["mean"] if row["low"] is None else row["low"] for row in rows) >= 0:
        panel.set_ylim(bottom=0)
    top_legend(panel)
    left = len(lines) - LINES
    told = f" {left} more lines are in the table." if left > 0 else ""
    title = f"{shown.words}: intervals"
    said = f"Means with 95 % intervals over the replications.{told}"
    return [finished(drawing, [], title, said, identity=slug(f"lines-{shown.identity}"))]
