"""Tables of a suite: one for each section of its document, a row for each cell and column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forebay.run.paper_formats import IntervalColumn, words_table
from forebay.units import symbolised

__all__ = ["SectionTable", "laws_table", "section_tables", "written_tables"]

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SectionTable:
    """The table of a section: its cells and columns, row by row, and its quantities."""

    title: str
    names: Sequence[tuple[str, str]]
    columns: Sequence[IntervalColumn]
    headline: Sequence[bool]


def section_tables(document: Mapping[str, Any]) -> list[SectionTable]:
    """The tables of a document, a section each, in the order of its cells."""
    sections: dict[tuple[str, str], list[str]] = {}
    for cell in document["cells"]:
        sections.setdefault((cell["section"], cell["title"]), []).append(cell["name"])
    weights = {cell["name"]: cell["weight"] for cell in document["cells"]}
    return [
        _section(f"{section} {title} ({weights[cells[0]]})", set(cells), document["rows"])
        for (section, title), cells in sections.items()
    ]


def _section(title: str, cells: set[str], rows: Sequence[Row]) -> SectionTable:
    found: dict[str, dict[tuple[str, str], Row]] = {}
    names: dict[tuple[str, str], None] = {}
    for row in rows:
        if row["cell"] in cells:
            name = (row["cell"], row["column"])
            names[name] = None
            found.setdefault(row["quantity"], {})[name] = row
    columns = []
    for of in found.values():
        first = next(iter(of.values()))
        unit = symbolised(first["unit"])
        if unit.symbol == "share" and any(abs(row["mean"] or 0.0) > 1.0 for row in of.values()):
            unit = symbolised("number")
        columns.append(IntervalColumn(first["words"], unit, [of.get(name) for name in names]))
    headline = [any(row["headline"] for row in of.values()) for of in found.values()]
    return SectionTable(title, list(names), columns, headline)


def written_tables(document: Mapping[str, Any], style: str) -> str:
    """All tables in a style of `forebay.run.paper_formats`."""
    return "\n".join(
        words_table(
            [("cell", [cell for cell, _ in table.names]), ("law", [law for _, law in table.names])],
            table.columns,
            style,
            caption=table.title,
        )
        for table in section_tables(document)
    )


def laws_table(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """What each column is: heads and rows."""
    rows = [
        [
            column["label"] + (" (baseline)" if column["baseline"] else ""),
            column["source"],
            ", ".join(f"{name} = {value}" for name, value in column["given"].items()) or "-",
            ", ".join(f"{name} = {value}" for name, value in column["defaults"].items()) or "-",
        ]
        for column in document["columns"]
    ]
    return ["law", "source", "given", "defaults"], rows
