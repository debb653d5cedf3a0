"""The page of a suite: a part for each section, with the trade-off of delay and goodput."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay import text
from forebay.drawing import Figure
from forebay.extras import is_installed
from forebay.pages.sections import Section, Table, write_page
from forebay.run.paper_formats import interval_cells
from forebay.suite.tables import SectionTable, laws_table, section_tables
from forebay.suite.trade_off import trade_off_figure
from forebay.suite.verdicts import verdict_sections
from forebay.units import symbolised

__all__ = ["suite_page"]


def suite_page(folder: Path, document: Mapping[str, Any], axes: Sequence[str]) -> Path:
    """Write the page of a document; its path. `axes` are the quantities of the trade-off."""
    cases = verdict_sections(document)
    first = cases if document["verdicts"] else []
    sections = [*first, *_summary(document), _laws(document)]
    for table in section_tables(document):
        sections.append(_section(document, table, axes))
    sections += [] if first else cases
    if document["choices"]:
        rows = [[each["open"], each["chosen"], each["reason"]] for each in document["choices"]]
        heads = ["left open", "chosen", "reason"]
        said = "What the document leaves open, and what was chosen for all cells."
        sections.append(Section("Choices", said, tables=[Table(heads, rows, words=True)]))
    if document["failed"]:
        failed = [
            [row["cell"], row["column"], row["reason"],
             f"forebay run {row['scenario']} --seed {row['seed']} "
             f"--replication {row['replication']}"]
            for row in document["failed"]
        ]  # fmt: skip
        tables = [Table(["cell", "law", "why", "the run again"], failed)]
        sections.append(Section("Failed runs", tables=tables))
    return write_page(folder, document, sections, ("source", "build", "seeds", "replications"))


def _summary(document: Mapping[str, Any]) -> Iterator[Section]:
    """The parts on checks and on what changed, where there is anything to say."""
    if document["checks"]:
        rows = [
            [each["cell"], each["column"], each["text"], _amount(each["mean"], each["unit"]),
             "holds" if each["holds"] else "fails"]
            for each in document["checks"]
        ]  # fmt: skip
        yield Section("Checks", tables=[Table(["cell", "law", "check", "mean", "it"], rows)])
    if (against := document.get("against")) is not None:
        rows = [
            [each["cell"], each["column"], each["words"], _amount(each["before"], each["unit"]),
             _amount(each["now"], each["unit"]), each["is"]]
            for each in against["changes"]
        ]  # fmt: skip
        said = (
            f"{text.count(against['compared'])} quantities compared by replication with the result "
            f"of {against['command']}. Better and worse have together a chance of 5 % to name "
            "anything where nothing changed; `perhaps` is said by a quantity's own 95 % alone."
        )
        heads = ["cell", "law", "quantity", "before", "now", "it is"]
        yield Section("Against the earlier result", said, tables=[Table(heads, rows)])


def _laws(document: Mapping[str, Any]) -> Section:
    heads, rows = laws_table(document)
    settings = ", ".join(f"{name} = {told}" for name, told in document["settings"].items())
    said = f"Settings of all cells, where a cell has no other: {settings}."
    return Section("Laws", said, tables=[Table(heads, rows, words=True)])


def _section(document: Mapping[str, Any], table: SectionTable, axes: Sequence[str]) -> Section:
    filled = [interval_cells(column) for column in table.columns]
    heads = ["cell", "law", *(head for head, _ in filled)]
    rows = [
        [*name, *cells]
        for name, *cells in zip(table.names, *(cells for _, cells in filled), strict=True)
    ]
    names = {cell for cell, _ in table.names}
    cells = [cell for cell in document["cells"] if cell["name"] in names]
    told = list(dict.fromkeys(cell["text"] for cell in cells if cell["text"]))
    drawn = [cell["name"] for cell in cells if cell["trade_off"]]
    section = Section(table.title, " ".join(told), tables=[Table(heads, rows)])
    section.figures = list(_figures(document, table.title, drawn, axes))
    section.listed = [
        f"{cell['name']}: not run for {column}: {reason}"
        for cell in cells
        for column, reason in cell["lacking"].items()
    ]
    return section


def _figures(
    document: Mapping[str, Any], title: str, cells: Sequence[str], axes: Sequence[str]
) -> Iterator[Figure]:
    if cells and axes and is_installed("matplotlib"):
        yield trade_off_figure(document["rows"], title, cells, axes)


def _amount(value: float | None, unit: str) -> str:
    return text.quantity(value, symbolised(unit))
