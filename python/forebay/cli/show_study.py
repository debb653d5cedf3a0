"""Output of `reproduce`: claims in the tables of their paper, statements, comparisons."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.cli.terminal import console, plain_markup, print_json, table
from forebay.report.comparisons import case_count, summary_rows
from forebay.report.paper_tables import PaperTable, paper_tables
from forebay.study.comparison import findings_of
from forebay.study.grades import Grade, Kind
from forebay.study.plan import plan_text
from forebay.study.tally import (
    check_kind,
    expectation_text,
    measured_text,
    predicted_text,
    published_text,
    tally_text,
    unmeasured_text,
)

if TYPE_CHECKING:
    from forebay.study.claims import NumericClaim
    from forebay.study.definition import Study
    from forebay.study.results import Outcome

__all__ = ["first_table", "print_documents", "print_preview"]

HEAD = 21
"""Columns that a heading may take."""

MARKS = {
    Grade.EXACT: "=",
    Grade.CLOSE: "~",
    Grade.CONSISTENT: "^",
    Grade.TREND: "/",
    Grade.DEVIATES: "!",
    Grade.IMPRECISE: "?",
}
"""Mark of a grade beside a number; words where there is room."""

CHECK_MARKS = {
    Kind.INPUT: "i",
    Kind.FORMULA: "f",
    Kind.REPEAT: "r",
    Kind.RECONSTRUCTION: "o",
}
"""Suffix of the grade of a check, by kind."""


def print_documents(
    results: Sequence[tuple[Study, Outcome, dict[str, Any], Path]], as_json: bool, many: bool
) -> None:
    """Print the documents of the studies that were run: one, or a list of them for `all`."""
    if as_json:
        documents = [document for _, _, document, _ in results]
        print_json({"studies": documents} if many else documents[0])
        return
    for _, outcome, document, out in results:
        _print_study(outcome, document, out)


def _print_study(outcome: Outcome, document: Mapping[str, Any], out: Path) -> None:
    study = outcome.study
    screen = console()
    citation = study.paper.citation
    screen.print(f"[bold]{plain_markup(citation.title)}[/]")
    screen.print(f"{', '.join(citation.authors)}; {citation.venue}, {citation.date}\n")
    _print_tables(study, document, screen)
    _print_statements(document, screen)
    _print_comparisons(outcome, screen)
    screen.print(f"[bold]{document['study']}[/]: {tally_text(document)}")
    if text := unmeasured_text(document):
        screen.print(plain_markup(text))
    screen.print(
        f"{document['runs']} runs in {document['wall_s']:.0f} s; version {document['version']}, "
        f"scenario {document['scenario_hash']}, seed {', '.join(map(str, document['seeds']))}"
    )
    if document["plan"] is not None:
        screen.print(plan_text(document["plan"]))
    if document["stopped"]:
        screen.print("interrupted: judged by the runs that had finished")
    screen.print(f"again: {plain_markup(document['command'])}")
    screen.print(f"report: {out / 'report.html'}", soft_wrap=True)


def first_table(study: Study) -> PaperTable | None:
    """The first table of a study's paper; `None` if it has none."""
    return next(iter(_tables(study)), None)


def print_preview(paper_table: PaperTable, document: Mapping[str, Any]) -> None:
    """Print a table as it is after the first runs of a study, before all others."""
    screen = console()
    rows = _print_table(paper_table, document, screen)
    if rows:
        runs = min(row["replications"] for row in rows)
        screen.print(f"so far, with {runs} replications each; the whole study follows\n")


def _tables(study: Study) -> list[PaperTable]:
    text = (study.folder / "paper.toml").read_text(encoding="utf-8")
    return paper_tables(study.paper, text)


def _print_table(
    paper_table: PaperTable, document: Mapping[str, Any], screen: Any
) -> list[Mapping[str, Any]]:
    """Print what was measured of a table; the rows of these claims."""
    rows = {row["id"]: row for row in document["claims"]}
    lines = [
        (line.label, [(cell, rows.get(cell.id) if cell else None) for cell in line.cells])
        for line in paper_table.rows
    ]
    measured = [row for _, cells in lines for _, row in cells if row]
    if not measured:
        return []
    unit = f" ({paper_table.unit})" if paper_table.unit else ""
    grown = table(
        f"{paper_table.place}{unit}: published, measured ± 95 %, grade",
        "",
        *("\n".join(textwrap.wrap(column.label, HEAD)) for column in paper_table.columns),
    )
    for label, cells in lines:
        if any(row for _, row in cells):
            checks = any(map(check_kind, measured))
            grown.add_row(label, *(_compared(claim, row, checks) for claim, row in cells))
    screen.print(grown)
    if below := expectation_text(measured):
        screen.print(below)
    screen.print()
    return measured


def _print_tables(study: Study, document: Mapping[str, Any], screen: Any) -> None:
    shown: list[Mapping[str, Any]] = []
    for paper_table in _tables(study):
        shown += _print_table(paper_table, document, screen)
    if shown:
        screen.print("   ".join(f"{mark} {grade}" for grade, mark in MARKS.items()))
    kinds = set(map(check_kind, shown))
    marks = [f"{mark} {kind}" for kind, mark in CHECK_MARKS.items() if kind in kinds]
    if marks:
        screen.print(f"checks, not counted as results: {'   '.join(marks)}")
    if shown:
        screen.print()


def _compared(claim: NumericClaim | None, row: Mapping[str, Any] | None, checks: bool) -> str:
    """One cell; `checks` says whether its table has any, whose marks need room."""
    if row is None or claim is None:
        return "-"
    mark = MARKS[Grade(row["grade"])]
    room = ""
    if checks:
        kind = check_kind(row)
        mark += CHECK_MARKS[Kind(kind)] if kind else " "
        room = " "
    measured = measured_text(row, claim.decimals).replace(" ", "")
    expected = predicted_text(row, claim.decimals)
    below = f"\n{expected}  {room}" if expected else ""
    return f"{published_text(claim)}  {measured} {mark}{below}"


def _print_statements(document: Mapping[str, Any], screen: Any) -> None:
    statements = [row for row in document["claims"] if row["measured"] is None]
    if not statements:
        return
    checks = any(map(check_kind, statements))
    heads = ["grade", *(["check"] if checks else []), "what the paper says", "place"]
    grown = table("statements", *heads, left=len(heads))
    for row in statements:
        kind = [check_kind(row)] if checks else []
        words = plain_markup(" ".join(row["published"].split()))
        grown.add_row(row["grade"], *kind, words, row["place"])
    screen.print(grown)
    screen.print()


def _print_comparisons(outcome: Outcome, screen: Any) -> None:
    """A table for each comparison on the terminal: verdicts counted over the cases."""
    for findings in findings_of(outcome):
        comparison = findings.comparison
        grown = table(
            f"beyond the paper: {plain_markup(comparison.title)}; "
            f"in {case_count(findings)}, paired with {plain_markup(comparison.baseline.title)}",
            "quantity",
            "design",
            "verdicts",
            "difference",
            left=3,
        )
        for shown, design, verdicts, difference in summary_rows(findings):
            grown.add_row(*map(plain_markup, (shown.label, design.title, verdicts, difference)))
        screen.print(grown)
        screen.print()
