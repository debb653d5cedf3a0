"""Tables of intervals as a paper takes them: LaTeX with booktabs, and Markdown.

Units are in the heads, and values are rounded to their intervals: of 12.3456 with half-widths of
0.4321, `12.3 ± 0.4` is written. A half-width has one significant digit, or two if that is a 1. A
percentile that too few samples stand behind has no value here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forebay.errors import nearest, printable
from forebay.run.columns import columns, kinds, numbers, unit_in
from forebay.run.expressions import Expression
from forebay.run.words import axis_scale, name_of, quantity_words, setting_words, value_words
from forebay.samples import FEW_SAMPLES
from forebay.units import Unit

__all__ = [
    "STYLES",
    "IntervalColumn",
    "called",
    "headed",
    "interval_cells",
    "interval_table",
    "interval_tables",
    "sweep_table",
    "words_table",
    "written",
]

Row = Mapping[str, Any]
"""A mean with the ends of its interval: `mean`, `low`, `high` and `note`."""

_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "µ": r"\textmu{}", "%": r"\%", **{sign: f"\\{sign}" for sign in "&$#_{}"},
}  # fmt: skip
_MARKDOWN = {sign: f"\\{sign}" for sign in "\\`*_[]<>|#$"}


@dataclass(frozen=True, slots=True)
class _Style:
    """How a table is written."""

    signs: Mapping[str, str]
    plus_minus: str
    table: Callable[[Sequence[str], Sequence[Sequence[str]], int, str, bool], str]

    def escaped(self, words: str) -> str:
        """A text in which no sign means anything to what reads the table."""
        return "".join(self.signs.get(sign, sign) for sign in printable(words))


def interval_tables(rows: Sequence[Row], style: str) -> str:
    """A table for each kind of rows with what matters of it, of the rows of `Results.intervals`."""
    telling = {row["place"] for row in rows if columns(row["place"])[row["quantity"]].headline}
    return "\n".join(
        interval_table(rows, kind, None, None, style, caption=kind)
        for kind in kinds()
        if kind in telling
    )


def interval_table(
    rows: Iterable[Row],
    place: str,
    quantities: Sequence[str] | None,
    names: Sequence[str] | None,
    style: str,
    *,
    caption: str = "",
) -> str:
    """The quantities of a kind of rows, a row for each name, of the rows of `Results.intervals`.

    Raises `ValueError` for an unknown style or place, and `KeyError` for a quantity or name that
    there is not.
    """
    if place not in kinds():
        raise ValueError(f"place is {place!r}{nearest(place, kinds())}; it is one of "
                         f"{', '.join(map(repr, kinds()))}")  # fmt: skip
    found = {(row["name"], row["quantity"]): row for row in rows if row["place"] == place}
    known = list(dict.fromkeys(name for name, _ in found))
    for name in names or ():
        if name not in known:
            raise KeyError(f"no {place} {name!r}{nearest(name, known)}; there are {known}")
    for quantity in quantities or ():
        if not any(each == quantity for _, each in found):
            near = nearest(quantity, numbers(place))
            raise KeyError(f"no value of {quantity!r}{near}; there are {', '.join(numbers(place))}")
    shown = known if names is None else list(names)
    wanted = [each.name for each in columns(place).values() if each.headline]
    wanted = [each for each in wanted if any((name, each) in found for name in shown)]
    picked = [
        IntervalColumn(
            name_of(each), unit_in(place, each), [found.get((name, each)) for name in shown]
        )
        for each in (wanted if quantities is None else quantities)
    ]
    return words_table([("name", shown)], picked, style, caption)


def sweep_table(
    summary: Sequence[Row],
    parameters: Sequence[str],
    quantities: Sequence[Expression],
    style: str,
    *,
    caption: str = "",
) -> str:
    """The summary of a sweep: a row for each point, a column for each parameter and quantity.
    Raises `ValueError` for an unknown style."""
    points: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in summary:
        point = tuple(value_words(row[name]) for name in parameters)
        points.setdefault(point, {})[row["quantity"]] = row
    firsts = [
        (setting_words(name), [point[at] for point in points]) for at, name in enumerate(parameters)
    ]
    picked = [
        _summary_column(each, [of.get(each.name) for of in points.values()]) for each in quantities
    ]
    return words_table(firsts or [("", [""] * len(points))], picked, style, caption)


def called(quantity: Expression) -> str:
    """A quantity of a sweep as a heading has it."""
    if quantity.is_plain:
        return quantity_words(quantity.text)
    named = quantity.name != quantity.text
    return f"{quantity.name.replace('_', ' ')}: {quantity.text}" if named else quantity.text


@dataclass(frozen=True, slots=True)
class IntervalColumn:
    """A quantity by row; `None` where it has no value."""

    words: str
    unit: Unit | None
    rows: Sequence[Row | None]


def _summary_column(quantity: Expression, rows: Sequence[Row | None]) -> IntervalColumn:
    unit = quantity.unit_of(row["mean"] for row in rows if row is not None)
    return IntervalColumn(called(quantity), unit, rows)


def words_table(
    firsts: Sequence[tuple[str, Sequence[str]]],
    picked: Sequence[IntervalColumn],
    style: str,
    caption: str,
    *,
    paragraphs: bool = False,
) -> str:
    """A table of columns of words, each with its head, and columns of quantities; `paragraphs` if
    words are sentences, which are broken into lines. Raises `ValueError` for an unknown style."""
    if style not in STYLES:
        raise ValueError(f"style is {style!r}{nearest(style, STYLES)}; it is latex or markdown")
    form = STYLES[style]
    heads = [form.escaped(head) for head, _ in firsts]
    cells = [[form.escaped(cell) for cell in column] for _, column in firsts]
    for column in picked:
        head, filled = interval_cells(column, form.plus_minus, "--")
        heads.append(form.escaped(head))
        cells.append(filled)
    rows = [list(row) for row in zip(*cells, strict=True)]
    return form.table(heads, rows, len(firsts), form.escaped(caption), paragraphs)


def headed(lines: Sequence[str], style: str, title: str) -> str:
    """A title with lines about all tables below: a heading and a list, or comments of LaTeX."""
    if style == "latex":
        return "".join(f"% {line}\n" for line in (title, *lines))
    escaped = map(STYLES[style].escaped, lines)
    return "\n".join([f"# {STYLES[style].escaped(title)}", "", *(f"- {e}" for e in escaped), ""])


def interval_cells(
    column: IntervalColumn, plus_minus: str = " ± ", absent: str = "-"
) -> tuple[str, list[str]]:
    """The head of a column with the unit of its values, and a cell for each row."""
    known = [row["mean"] for row in column.rows if row is not None and row["mean"] is not None]
    unit = column.unit
    scale, symbol = axis_scale(unit, known)
    symbol = "µs" if symbol == "us" else symbol
    top = scale if unit is not None and unit.symbol == "share" else math.inf
    cells = [_cell(row, scale, top, plus_minus) or absent for row in column.rows]
    return f"{column.words} ({symbol})" if symbol else column.words, cells


def _cell(row: Row | None, scale: float, top: float, plus_minus: str) -> str:
    """A cell, empty without a value; where the mean is at most `top`, neither is the end of its
    interval beyond."""
    if row is None or row["mean"] is None or row.get("note") == FEW_SAMPLES:
        return ""
    mean, low, high = scale * row["mean"], row["low"], row["high"]
    if low is None or high is None:
        return written(mean, None, plus_minus)
    high = scale * high if mean > top else min(scale * high, top)
    return written(mean, (scale * low, high), plus_minus)


def written(mean: float, ends: tuple[float, float] | None, plus_minus: str) -> str:
    """A mean with its interval, rounded to that: `12.3 ± 0.4`, or `12.3 (12.1 to 13.0)` if it is
    not in its middle. Without an interval, or with one of no width, the mean has four digits."""
    width = 0.0 if ends is None else (ends[1] - ends[0]) / 2.0
    if ends is None or not width > 0.0:
        return _rounded(mean, 3 - _magnitude(mean)) if mean else "0"
    places = -_magnitude(width)
    if f"{width:.0e}".startswith("1"):
        places += 1
    low, high = ends
    if math.isclose(mean - low, high - mean, rel_tol=1e-6):
        return f"{_rounded(mean, places)}{plus_minus}{_rounded(width, places)}"
    return f"{_rounded(mean, places)} ({_rounded(low, places)} to {_rounded(high, places)})"


def _magnitude(value: float) -> int:
    """The place of the first digit, after rounding to it: 0 of 3, -1 of 0.43 and 0 of 0.97."""
    return int(f"{value:.0e}".partition("e")[2])


def _rounded(value: float, places: int) -> str:
    return f"{round(value, places):.{max(places, 0)}f}"


def _latex(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    words: int,
    caption: str,
    paragraphs: bool,
) -> str:
    """A tabular of the package booktabs, with its caption as a comment: the paper has its own."""
    column = f"p{{{0.9 / words:.2f}\\linewidth}}" if paragraphs else "l"
    align = column * words + "r" * (len(heads) - words)
    lines = [f"% {caption}"] if caption else []
    body = [f"{' & '.join(row)} \\\\" for row in (heads, *rows)]
    lines += [f"\\begin{{tabular}}{{{align}}}", "\\toprule", body[0], "\\midrule", *body[1:]]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _markdown(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    words: int,
    caption: str,
    _paragraphs: bool,
) -> str:
    lines = [f"**{caption}**", ""] if caption else []
    align = ["---"] * words + ["--:"] * (len(heads) - words)
    lines += [f"| {' | '.join(row)} |" for row in (heads, align, *rows)]
    return "\n".join([*lines, ""])


STYLES: Mapping[str, _Style] = {
    "latex": _Style(_LATEX, r" $\pm$ ", _latex),
    "markdown": _Style(_MARKDOWN, " ± ", _markdown),
}
"""Forms of tables, by name."""
