"""The page of a study: its claims table by table, statements, comparisons, sensitivity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.drawing import Figure, slug
from forebay.pages.page import REPORT, render
from forebay.report.comparisons import comparison_parts
from forebay.report.paper_tables import PaperTable, paper_tables
from forebay.report.plot import draw_table
from forebay.report.sensitivity import sensitivity_parts
from forebay.run.store import write_text
from forebay.study.tally import (
    check_kind,
    checks_text,
    expectation_text,
    measured_text,
    predicted_text,
    published_text,
    runs_text,
    unmeasured_text,
)

if TYPE_CHECKING:
    from forebay.study.assumptions import Notes
    from forebay.study.claims import NumericClaim
    from forebay.study.results import Outcome

__all__ = ["StudyFigures", "draw_figures", "table_links", "write_study_report"]


@dataclass(frozen=True, slots=True)
class StudyFigures:
    """Figures of a study: those of its figures.py, and of the paper's tables, by their ids."""

    own: Sequence[Figure]
    tables: Mapping[str, Figure]


def draw_figures(outcome: Outcome) -> StudyFigures:
    """Draw all figures of a study of which something was measured."""
    study = outcome.study
    text = (study.folder / "paper.toml").read_text(encoding="utf-8")
    drawn = {table.id: draw_table(outcome, table) for table in paper_tables(study.paper, text)}
    return StudyFigures(
        list(study.figures(outcome)) if study.figures else [],
        {name: figure for name, figure in drawn.items() if figure is not None},
    )


def write_study_report(
    outcome: Outcome,
    document: Mapping[str, Any],
    notes: Notes,
    figures: StudyFigures,
    folder: Path,
) -> Path:
    """Write a study's page; its path."""
    study = outcome.study
    rows = {row["id"]: row for row in document["claims"]}
    counts = [row["replications"] for row in document["claims"]]
    tables = _tables(outcome, document, rows, figures)
    variants = sensitivity_parts(study, document)
    page = render(
        "study.html.j2",
        package="forebay.report",
        comparisons=comparison_parts(outcome, document["command"]),
        title=f"{study.id}: {study.paper.citation.title}",
        version=document["version"],
        citation=study.paper.citation,
        document=document,
        tally=[(k, v) for k, v in document["summary"].items() if v and k != "total"],
        checks_text=checks_text(document),
        unmeasured=unmeasured_text(document),
        check_kind=check_kind,
        drawn=any(map(runs_text, document["claims"])),
        tables=tables,
        table_links=table_links(tables),
        statements=[row for row in document["claims"] if row["measured"] is None],
        figures=figures.own,
        variants=variants,
        shown_variants=[variant["id"] for variant in variants],
        deviations=notes.deviations,
        misfits=[
            row
            for row in document["claims"]
            if row["grade"] in ("trend", "deviates", "fails", "imprecise")
        ],
        assumptions=notes.values,
        assumed=sum(value.assumed for value in notes.values),
        least=min(counts, default=0),
        most=max(counts, default=0),
    )
    write_text(folder / REPORT, page)
    return folder / REPORT


def _tables(
    outcome: Outcome,
    document: Mapping[str, Any],
    rows: Mapping[str, Mapping[str, Any]],
    figures: StudyFigures,
) -> list[dict[str, Any]]:
    study = outcome.study
    text = (study.folder / "paper.toml").read_text(encoding="utf-8")
    command = document["command"]
    pages = []
    for table in paper_tables(study.paper, text):
        lines = [
            (row.label, [_cell(rows, claim) for claim in row.cells])
            for row in table.rows
            if any(claim is not None and claim.id in rows for claim in row.cells)
        ]
        if not lines:
            continue
        shown = [cell for _, cells in lines for cell in cells if cell]
        counts = [int(cell["replications"]) for cell in shown]
        alone = f"forebay reproduce {study.id} --claims '{table.id}/*'"
        pages.append(
            {
                "anchor": f"t-{slug(table.id)}",
                "place": table.place,
                "unit": table.unit,
                "heads": [column.label for column in table.columns],
                "rows": [{"label": label, "cells": cells} for label, cells in lines],
                "notes": _table_notes(table),
                "replications": _between(counts, "replications"),
                "expected": expectation_text([cell["row"] for cell in shown]),
                "figure": figures.tables.get(table.id),
                "command": alone if command == f"forebay reproduce {study.id}" else command,
            }
        )
    return pages


def table_links(tables: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Links to the tables by the beginning of their places: `Table 3.2`; where several begin
    alike, `Figure 3` with links that are called what tells them apart: `tail bandwidth`."""
    groups: dict[str, list[tuple[str, list[str]]]] = {}
    for table in tables:
        head, *rest = table["place"].split(", ")
        groups.setdefault(head, []).append((table["anchor"], rest))
    found = []
    for head, group in groups.items():
        alike = takewhile(
            lambda parts: len(set(parts)) == 1, zip(*(r for _, r in group), strict=False)
        )
        # Something must remain of each, or its link would have no words.
        shared = min(len(list(alike)), *(len(rest) - 1 for _, rest in group))
        own = len(group) > 1
        links = [(a, (own and ", ".join(rest[max(shared, 0) :])) or head) for a, rest in group]
        found.append({"head": head, "links": links})
    return found


def _table_notes(table: PaperTable) -> list[str]:
    notes = [table.note.strip()] if table.note else []
    return notes + [f"{row.label}: {row.note.strip()}" for row in table.rows if row.note]


def _cell(
    rows: Mapping[str, Mapping[str, Any]], claim: NumericClaim | None
) -> dict[str, Any] | None:
    if claim is None or claim.id not in rows:
        return None
    row = rows[claim.id]
    return {
        "published": published_text(claim),
        "measured": measured_text(row, claim.decimals),
        "expected": predicted_text(row, claim.decimals),
        "runs": runs_text(row),
        "grade": row["grade"],
        "kind": check_kind(row),
        "follows": row.get("follows", ""),
        "replications": row["replications"],
        "row": row,
    }


def _between(counts: Sequence[int], what: str) -> str:
    least, most = min(counts), max(counts)
    return f"{least} {what}" if least == most else f"{least} to {most} {what}"
