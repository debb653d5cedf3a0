"""Tables of a suite: for each section of its document one with a row for each cell and column, and
one with a row for each class of traffic of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forebay.run.paper_formats import IntervalColumn, headed, words_table, written
from forebay.run.words import axis_scale
from forebay.suite.report import asked_table
from forebay.suite.verdicts import matrix, told_tables
from forebay.units import symbolised

__all__ = [
    "HEADS",
    "CellTable",
    "SectionTables",
    "omitted_table",
    "screening_tables",
    "section_tables",
    "written_tables",
]

Row = Mapping[str, Any]

HEADS = ("cell", "law", "class")
"""Heads of the words of a row, of which the last is there in tables of classes."""


@dataclass(frozen=True, slots=True)
class CellTable:
    """A table: the words of each row, and quantities, of which some are `headline` ones."""

    names: Sequence[tuple[str, ...]]
    columns: Sequence[IntervalColumn]
    headline: Sequence[bool]

    @property
    def heads(self) -> Sequence[str]:
        """The heads of the words."""
        return HEADS[: len(self.names[0])] if self.names else HEADS[:2]


@dataclass(frozen=True, slots=True)
class SectionTables:
    """The tables of a section: of all traffic, and of its classes, which may have no row."""

    title: str
    whole: CellTable
    classes: CellTable

    @property
    def filled(self) -> list[CellTable]:
        """The tables that have rows."""
        return [each for each in (self.whole, self.classes) if each.names]


def section_tables(document: Mapping[str, Any]) -> list[SectionTables]:
    """The tables of a document, a section each, in the order of its cells."""
    sections: dict[tuple[str, str], list[str]] = {}
    for cell in document["cells"]:
        sections.setdefault((cell["section"], cell["title"]), []).append(cell["name"])
    weights = {cell["name"]: cell["weight"] for cell in document["cells"]}
    return [
        _section(f"{section} {title} ({weights[cells[0]]})", set(cells), document["rows"])
        for (section, title), cells in sections.items()
    ]


def _section(title: str, cells: set[str], rows: Sequence[Row]) -> SectionTables:
    here = [row for row in rows if row["cell"] in cells]
    whole = [row for row in here if not row["class"]]
    return SectionTables(title, _table(whole), _table([row for row in here if row["class"]]))


def _table(rows: Sequence[Row]) -> CellTable:
    """A column for each metric, whatever class a row is of."""
    found: dict[str, dict[tuple[str, ...], Row]] = {}
    names: dict[tuple[str, ...], None] = {}
    for row in rows:
        part = row["class"]
        name = (row["cell"], row["column"], *([part] if part else ()))
        names[name] = None
        metric = row["quantity"].removesuffix(f".{part}") if part else row["quantity"]
        found.setdefault(metric, {})[name] = row
    columns = []
    for of in found.values():
        first = next(iter(of.values()))
        unit = symbolised(first["unit"])
        if unit.symbol == "share" and any(abs(row["mean"] or 0.0) > 1.0 for row in of.values()):
            unit = symbolised("number")
        words = first["words"].replace(first["class"], "").strip(", ") or first["words"]
        columns.append(IntervalColumn(words, unit, [of.get(name) for name in names]))
    headline = [any(row["headline"] for row in of.values()) for of in found.values()]
    return CellTable(list(names), columns, headline)


def written_tables(document: Mapping[str, Any], style: str) -> str:
    """All tables in a style of `forebay.run.paper_formats`, below a head that says what made them:
    cases that are judged, what is asked of the laws, then what was measured, and what is not
    simulated."""
    heads, broken, others = told_tables(document)
    named = [
        ("Cases", *matrix(document)),
        ("What broke the cases that fail", heads, broken),
        ("What decides the others", heads, others),
        ("Laws", *asked_table(document)),
    ]
    tables = [
        *_worded(named, style),
        *_measured(document, style),
        *_worded(screening_tables(document), style, paragraphs=False),
        *_worded([("Not simulated", *omitted_table(document))], style),
    ]
    return "\n".join([headed(_head(document), style, document["name"]), *tables])


def _worded(
    tables: Iterable[tuple[str, list[str], list[list[str]]]], style: str, *, paragraphs: bool = True
) -> Iterator[str]:
    """Tables of words, each a title, heads and rows, but for those without rows."""
    for title, heads, rows in tables:
        if rows:
            columns = list(zip(heads, zip(*rows, strict=True), strict=True))
            yield words_table(columns, [], style, title, paragraphs=paragraphs)


def omitted_table(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """What the document asks for and no cell has: heads and rows."""
    heads = ["section", "what", "reason"]
    return heads, [[each[head] for head in heads] for each in document["omitted"]]


def _head(document: Mapping[str, Any]) -> list[str]:
    """Lines on what made a document."""
    settings = ", ".join(f"{name} = {told}" for name, told in document["settings"].items())
    seeds = ", ".join(map(str, document["seeds"]))
    return [
        f"{document['source']}; Forebay {document['version']}, build {document['build']}",
        document["command"],
        f"means of {document['replications']} replications with 95 % intervals; seed {seeds}",
        f"cells: {settings}",
        *(
            f"check {'holds' if each['holds'] else 'fails'}: {each['cell']}, {each['column']}: "
            f"{each['text']}"
            for each in document["checks"]
        ),
    ]


def screening_tables(document: Mapping[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """The tables of a screening, one for each quantity: title, heads and rows, by law and cell the
    parameter with the largest effect first. None without a screening."""
    found = document.get("screening")
    if found is None:
        return []
    tables = []
    for quantity in found["metrics"]:
        rows = [row for row in found["rows"] if row["quantity"] == quantity]
        if not rows:
            continue
        unit = symbolised(rows[0]["unit"])
        scale, symbol = axis_scale(unit, [row["mu_star"] for row in rows])
        title = f"{found['section']} Effects on {rows[0]['words']} ({found['weight']})"
        heads = ["law", "cell", "parameter", "value", *(f"{of} ({symbol})" for of in EFFECTS)]
        tables.append((title, heads, [_screened(row, scale) for row in rows]))
    return tables


EFFECTS = ("mu*", "mu", "sigma")
"""Measures of elementary effects: of their sizes, their mean and their deviation."""


def _screened(row: Row, scale: float) -> list[str]:
    names = [row["law"], row["cell"], row["parameter"], row["value"]]
    if row["mu_star"] is None:
        return [*names, "-", "-", "-"]
    ends = None if row["high"] is None else (scale * row["low"], scale * row["high"])
    told = [f"{scale * row[name]:.3g}" for name in ("mu", "sigma")]
    return [*names, written(scale * row["mu_star"], ends, " ± "), *told]


def _measured(document: Mapping[str, Any], style: str) -> Iterator[str]:
    for section in section_tables(document):
        for table in section.filled:
            ending = "" if table is section.whole else ", by class of traffic"
            yield words_table(
                list(zip(table.heads, zip(*table.names, strict=True), strict=True)),
                table.columns,
                style,
                section.title + ending,
            )
