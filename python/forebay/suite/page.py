"""The page of a suite: a part for each section, with the trade-off of delay and goodput."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay import text
from forebay.drawing import Figure
from forebay.extras import is_installed
from forebay.pages.sections import MARKS, Section, Table, write_page
from forebay.run.documents import read_document
from forebay.run.paper_formats import interval_cells
from forebay.suite.lab import scenario_links
from forebay.suite.report import asked_table
from forebay.suite.results import JSON, cell_path
from forebay.suite.tables import (
    CellTable,
    SectionTables,
    omitted_table,
    screening_tables,
    section_tables,
)
from forebay.suite.trade_off import trade_off_figure
from forebay.suite.verdicts import counted_verdicts, matrix, told_tables
from forebay.units import symbolised

__all__ = ["SUITE", "suite_page", "suite_report"]


_INTERVAL = dict.fromkeys(("mean", "low", "high"), (float, None))
_ROW = dict.fromkeys(("cell", "column", "quantity", "class", "words", "unit"), str)
_CHANGE = dict.fromkeys(("cell", "column", "words", "unit", "is"), str)
_EFFECT = dict.fromkeys(("law", "cell", "quantity", "words", "unit", "parameter", "value"), str)

SUITE = {
    **MARKS,
    "suite": str,
    "source": str,
    "seeds": [int],
    "replications": int,
    "settings": {"*": str},
    "columns": [{"label": str, "baseline": bool}],
    "report": [{"section": str, "asked": str, "answers": [str]}],
    "trade_off": [str],
    "cells": [
        {
            **dict.fromkeys(("name", "title", "section", "weight", "text"), str),
            **{"trade_off": bool, "lacking": {"*": str}},
        }
    ],
    "rows": [{**_ROW, **_INTERVAL, "note": str, "headline": bool, "values": [(float, None)]}],
    "checks": [
        {**dict.fromkeys(("cell", "column", "text", "unit"), str),
         "mean": (float, None), "holds": bool}
    ],
    "verdicts": [
        {**dict.fromkeys(("cell", "case", "point", "section", "column", "verdict", "told"), str),
         "runs": {"*": int}}
    ],
    "choices": [dict.fromkeys(("open", "chosen", "reason"), str)],
    "omitted": [dict.fromkeys(("section", "what", "reason"), str)],
    "failed": [
        {**dict.fromkeys(("cell", "column", "reason", "scenario"), str),
         "seed": int, "replication": int}
    ],
    "screening?": {
        **dict.fromkeys(("title", "section", "weight"), str),
        **{"metrics": [str], "factor": float, "trajectories": int},
        "rows": [
            {**_EFFECT, **dict.fromkeys(("mu", "mu_star", "low", "high", "sigma"), (float, None))}
        ],
    },
    "against?": {
        "command": str,
        "compared": int,
        "changes": [{**_CHANGE, "before": float, "now": float}],
    },
}  # fmt: skip
"""Shape of the part of a suite's document that the page and the tables show."""


def suite_report(folder: Path) -> Path:
    """The page of what `forebay suite` wrote; its path. Raises `UserError` if it is damaged."""
    return suite_page(folder, read_document(folder / JSON, SUITE))


def suite_page(folder: Path, document: Mapping[str, Any]) -> Path:
    """Write the page of a document; its path."""
    sections = [*_cases(document), *_summary(document), _laws(document)]
    sections += [_section(document, table) for table in section_tables(document)]
    sections += _screening(document)
    sections += _scenarios(folder, document)
    if document["choices"]:
        rows = [[each["open"], each["chosen"], each["reason"]] for each in document["choices"]]
        heads = ["left open", "chosen", "reason"]
        said = "What the document leaves open, and what was chosen for all cells."
        sections.append(Section("Choices", said, tables=[Table(heads, rows, words=True)]))
    if document["omitted"]:
        said = "What the document asks for and no cell has."
        table = Table(*omitted_table(document), words=True)
        sections.append(Section("Not simulated", said, tables=[table]))
    if document["failed"]:
        failed = [
            [row["cell"], row["column"], row["reason"],
             f"forebay run {row['scenario']} --seed {row['seed']} "
             f"--replication {row['replication']}"]
            for row in document["failed"]
        ]  # fmt: skip
        tables = [Table(["cell", "law", "why", "the run again"], failed)]
        sections.append(Section("Failed runs", tables=tables))
    return write_page(
        folder, document, sections, ("source", "build", "seeds", "replications", "runs")
    )


def _cases(document: Mapping[str, Any]) -> Iterator[Section]:
    """The part with the matrix of cases and what decides them, if the suite judges any."""
    if document["verdicts"]:
        heads, broken, others = told_tables(document)
        tables = [
            Table(*matrix(document), words=True),
            Table(heads, broken, "What broke the cases that fail", words=True),
            Table(heads, others, "What decides the others", folded=True, words=True),
        ]
        found = [table for table in tables if table.rows]
        yield Section("Cases", counted_verdicts(document), tables=found)


def _summary(document: Mapping[str, Any]) -> Iterator[Section]:
    """The parts on checks and on what changed, where there is anything to say."""
    if document["checks"]:
        yield _checks(document)
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


def _checks(document: Mapping[str, Any]) -> Section:
    """A row for each check of a cell, with the mean of each law, and whether it fails."""
    laws = [column["label"] for column in document["columns"]]
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for each in document["checks"]:
        told = _amount(each["mean"], each["unit"]) + ("" if each["holds"] else " fails")
        rows.setdefault((each["cell"], each["text"]), {})[each["column"]] = told
    cells = [[*name, *(means.get(law, "-") for law in laws)] for name, means in rows.items()]
    said = "Conditions on means. What fails for a baseline is shown, and decides nothing."
    return Section("Checks", said, tables=[Table(["cell", "check", *laws], cells, words=True)])


def _laws(document: Mapping[str, Any]) -> Section:
    heads, rows = asked_table(document)
    settings = ", ".join(f"{name} = {told}" for name, told in document["settings"].items())
    said = f"Settings of all cells, where a cell has no other: {settings}."
    return Section("Laws", said, tables=[Table(heads, rows, words=True)])


def _section(document: Mapping[str, Any], found: SectionTables) -> Section:
    names = {name[0] for name in found.whole.names}
    cells = [cell for cell in document["cells"] if cell["name"] in names]
    told = list(dict.fromkeys(cell["text"] for cell in cells if cell["text"]))
    drawn = [cell["name"] for cell in cells if cell["trade_off"]]
    section = Section(found.title, " ".join(told), tables=[*map(_table, found.filled)])
    section.figures = list(_figures(document, found.title, drawn))
    section.listed = [
        f"{cell['name']}: not run for {column}: {reason}"
        for cell in cells
        for column, reason in cell["lacking"].items()
    ]
    return section


def _scenarios(folder: Path, document: Mapping[str, Any]) -> Iterator[Section]:
    """The scenario of each cell and column: a link that opens it in the lab, or the file."""
    labels = [column["label"] for column in document["columns"]]
    rows = [
        [
            cell["name"],
            *("-" if of in cell["lacking"] else cell_path(cell["name"], of) for of in labels),
        ]
        for cell in document["cells"]
    ]
    if not any(path != "-" for row in rows for path in row[1:]):
        return
    paths = [path for row in rows for path in row[1:] if path != "-"]
    links = scenario_links(folder, document, paths)
    opened = [path for path, address in links.items() if address != path]
    lab = (
        "A link opens it in the lab, where its parameters can be moved, unless it has a law of "
        "one's own, which the lab cannot load: such links lead to the file. "
        if opened
        else "`make lab` builds the page of the lab, and this page links to it from then on. "
    )
    said = (
        "Each cell is a scenario by itself, in a file below the folder of this page. "
        f"{lab}`forebay run {paths[0]}` runs one here, with --replication N as in the tables."
    )
    table = Table(["cell", *labels], rows, "scenarios", folded=True, words=True, links=links)
    yield Section("Scenarios", said, tables=[table])


def _screening(document: Mapping[str, Any]) -> Iterator[Section]:
    if (found := document.get("screening")) is None:
        return
    said = (
        f"Each parameter from 1/{found['factor']:g} to {found['factor']:g} times its value, on a "
        f"logarithmic scale, along {found['trajectories']} random trajectories (Morris, "
        "Technometrics 33(2), 1991). An elementary effect is the change of the quantity over that "
        "of a parameter, for the whole of its range. mu* is the mean size of effects, with its 95 "
        "% interval over trajectories; mu, their mean, is as large if they have all one direction; "
        "sigma, their deviation, is as large if they depend on other parameters, or on chance."
    )
    tables = [Table(heads, rows, title) for title, heads, rows in screening_tables(document)]
    yield Section(f"{found['section']} {found['title']} ({found['weight']})", said, tables=tables)


def _table(table: CellTable) -> Table:
    filled = [interval_cells(column) for column in table.columns]
    rows = [
        [*name, *cells]
        for name, *cells in zip(table.names, *(cells for _, cells in filled), strict=True)
    ]
    return Table([*table.heads, *(head for head, _ in filled)], rows)


def _figures(document: Mapping[str, Any], title: str, cells: Sequence[str]) -> Iterator[Figure]:
    axes = document["trade_off"]
    if cells and axes and is_installed("matplotlib"):
        yield trade_off_figure(document["rows"], title, cells, axes)


def _amount(value: float | None, unit: str) -> str:
    return text.quantity(value, symbolised(unit))
