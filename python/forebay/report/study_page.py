"""HTML reports: one self-contained page a folder of results, built from its files alone.

A page asks nothing of any network: styles and drawings are inside it. It follows the reader's light
or dark setting, prints, and fits a phone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError, nearest
from forebay.run.store import write_text

if TYPE_CHECKING:
    from forebay.report.paper_tables import PaperTable
    from forebay.study.assumptions import Notes
    from forebay.study.claims import NumericClaim
    from forebay.study.results import Outcome

__all__ = ["build_report", "render", "table_links", "write_study_report"]

REPORT = "report.html"


def build_report(folder: Path) -> Path:
    """`forebay report DIR`: the page of a folder that reproduce, run or sweep wrote; its path.

    Raises `UserError` for a folder without results.
    """
    if not folder.exists():
        siblings = [p.name for p in folder.parent.iterdir()] if folder.parent.is_dir() else []
        raise UserError(f"{folder}: no such folder{nearest(folder.name, siblings)}")
    if not folder.is_dir():
        raise UserError(f"{folder}: is a file; a report is built of a folder of results")
    if (folder / "result.json").is_file():
        return _study_report(folder)
    from forebay.report.run_pages import run_report, sweep_report

    if (folder / "run.json").is_file():
        return run_report(folder)
    if (folder / "sweep.json").is_file():
        return sweep_report(folder)
    raise UserError(
        f"{folder}: holds no results; expected result.json (of reproduce), run.json (of run --out) "
        "or sweep.json (of sweep)"
    )


def _study_report(folder: Path) -> Path:
    from forebay.study.assumptions import load_notes
    from forebay.study.definition import load_study
    from forebay.study.files import load_outcome

    try:
        study_id = json.loads((folder / "result.json").read_text(encoding="utf-8"))["study"]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / 'result.json'}: not a study's result: {error!r}") from None
    study = load_study(study_id)
    outcome, document = load_outcome(study, folder)
    return write_study_report(outcome, document, load_notes(study), folder)


def write_study_report(
    outcome: Outcome, document: Mapping[str, Any], notes: Notes, folder: Path
) -> Path:
    """Write a study's page; its path."""
    from forebay.report.comparison_part import comparison_parts
    from forebay.study.sensitivity import sensitivity_parts
    from forebay.study.tally import check_kind, checks_text, runs_text, unmeasured_text

    study = outcome.study
    rows = {row["id"]: row for row in document["claims"]}
    counts = [row["replications"] for row in document["claims"]]
    tables = _tables(outcome, document, rows)
    variants = sensitivity_parts(study, document)
    page = render(
        "study.html.j2",
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
        figures=list(study.figures(outcome)) if study.figures else [],
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


def render(template: str, **context: Any) -> str:
    """Fill one of the templates in."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("forebay.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**context)


def _tables(
    outcome: Outcome, document: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    from forebay.report.paper_tables import paper_tables
    from forebay.report.plot import draw_table, slug
    from forebay.study.tally import expectation_text

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
                "figure": draw_table(outcome, table),
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
    from forebay.study.files import measured_text, published_text
    from forebay.study.tally import check_kind, predicted_text, runs_text

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
        "replications": row["replications"],
        "row": row,
    }


def _between(counts: Sequence[int], what: str) -> str:
    least, most = min(counts), max(counts)
    return f"{least} {what}" if least == most else f"{least} to {most} {what}"
