"""A study's results: the document of `reproduce --json`, and the files.

Written to the output folder: `result.json` (that document), `claims.csv` (the same claims as a
table), `runs.parquet` (every run with its seed, hash, digest and quantities) and `tables/` (time
series). The README and the page beside them are made by `forebay.report`.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError
from forebay.run.documents import read_document
from forebay.run.jobs import build, version
from forebay.run.store import (
    check_columns,
    json_rows,
    read_table,
    read_tables,
    write_table,
    write_tables,
    write_text,
)
from forebay.stats import finite
from forebay.study.comparison import findings_of
from forebay.study.grades import Grade
from forebay.study.needed import replications_needed
from forebay.study.results import FACTS, Cell, Outcome, Samples
from forebay.study.sensitivity import sensitivity_of
from forebay.study.tally import counts

if TYPE_CHECKING:
    from forebay.study.claims import NumericClaim, Statement
    from forebay.study.definition import Study
    from forebay.study.driver import Driver

__all__ = [
    "document_of",
    "drawn_columns",
    "load_outcome",
    "write_results",
]

RESULT = "result.json"
RUNS = "runs.parquet"

_GRADE = {"*": int, "total": int}
_CLAIM = {
    **dict.fromkeys(("id", "place", "quantity", "unit", "note"), str),
    "published": (str, float),
    **dict.fromkeys(("measured", "low", "high"), (float, None)),
    "replications": int,
    "grade": str,
    "kind?": str,
    "runs?": (int, None),
    "statistic?": str,
    **dict.fromkeys(("predicted_low?", "predicted_high?"), (float, None)),
}
_MOVED = {
    **dict.fromkeys(("study", "variant", "difference"), float),
    **dict.fromkeys(("low", "high"), (float, None)),
    "claim": str,
}
SHAPE = {
    **dict.fromkeys(("study", "version", "scenario_hash", "command", "stopped"), str),
    "build?": str,
    "wall_s": float,
    "seeds": [int],
    "runs": int,
    "claims": [_CLAIM],
    "summary": _GRADE,
    "checks?": _GRADE,
    "unmeasured?": [str],
    "sensitivity?": [
        {
            "id": str,
            "title": str,
            "why": str,
            **dict.fromkeys(("replications", "moved"), int),
            "rows": [_MOVED],
            **dict.fromkeys(("error_study", "error_variant"), (float, None)),
        }
    ],
    "points?": [
        {
            "variant": str,
            "point": {},
            "replications": int,
            "events": (float, None),
            "digest?": (str, None),
        }
    ],
}
"""Shape of the part of a result that the page shows, or that a plan is made of."""


def write_results(driver: Driver, out: Path) -> dict[str, Any]:
    """Write what a finished (or interrupted) study gave; its document."""
    outcome = driver.outcome
    document = document_of(driver)
    write_text(out / RESULT, json_rows(document) + "\n")
    if not document["claims"]:
        return document
    write_text(out / "claims.csv", _csv(document["claims"]))
    write_table(out / RUNS, outcome.samples.table())
    flat = {
        f"{name}/{table}": columns
        for name, tables in outcome.recordings.items()
        for table, columns in tables.items()
    }
    write_tables(
        out, {k: dict(zip(v.column_names, v.columns, strict=True)) for k, v in flat.items()}
    )
    return document


def load_outcome(study: Study, folder: Path) -> tuple[Outcome, dict[str, Any]]:
    """Reads what `write_results` wrote: samples and recordings, and the document.

    Raises `UserError` if the folder lacks a file or one is damaged.
    """
    document = read_document(folder / RESULT, SHAPE)
    samples = _samples(folder / RUNS)
    tables = read_tables(folder)
    recordings: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        first, _, rest = name.partition("/")
        recordings.setdefault(first, {})[rest] = table
    return Outcome(study, samples, recordings), document


def _samples(path: Path) -> Samples:
    """The runs in a `runs.parquet`. Raises `UserError` if it is damaged."""
    table = read_table(path)
    place = {"variant": "words", "point": "words", "replication": "whole numbers"}
    others = set(table.column_names) - {*place, *FACTS}
    check_columns(path, table, place | dict.fromkeys(sorted(others), "numbers"))
    for name in place:
        if table[name].null_count:
            raise UserError(f"{path}: damaged: column {name} has empty fields")
    for row, point in enumerate(table["point"].to_pylist()):
        try:
            values = json.loads(point)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict) or not all(map(_is_plain, values.values())):
            raise UserError(f"{path}: damaged: column point, row {row}: not a grid point")
    return Samples.from_table(table)


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def document_of(driver: Driver) -> dict[str, Any]:
    """Document of what was run and what came of every claim and comparison;
    `tools/manual/columns.py` says what each column means."""
    outcome, notes = driver.outcome, driver.notes
    numbers, statements = driver.selected()
    grades = outcome.grades()
    # What is planned is planned by full runs.
    request = driver.request
    part = request.quick or request.claims is not None
    needed = {} if part else replications_needed(outcome)
    rows = [_number(outcome, claim, grades[claim.id]) for claim in numbers if claim.id in grades]
    rows += [
        _statement(outcome, statement, grades[statement.id])
        for statement in statements
        if statement.id in grades
    ]
    asked = [*(claim.id for claim in numbers), *(statement.id for statement in statements)]
    for row in rows:
        row["note"] = "\n".join(filter(None, [row["note"], notes.explanation(row)]))
        row["needed"] = needed.get(row["id"])
    seeds = {facts for cell in outcome.samples.cells() for facts in _seeds(outcome, cell)}
    return {
        "study": driver.study.id,
        "version": version(),
        "build": build(),
        "scenario_hash": driver.scenario_hash,
        "wall_s": driver.wall_s,
        "command": driver.request.command(driver.study.id),
        "seeds": sorted(seeds),
        "runs": sum(len(outcome.samples.replications(c)) for c in outcome.samples.cells()),
        "stopped": driver.stopped,
        "claims": rows,
        **counts(rows),
        "unmeasured": [name for name in asked if name not in grades],
        "sensitivity": sensitivity_of(outcome),
        "comparisons": [findings.document() for findings in findings_of(outcome)],
        "points": [_point(outcome, cell) for cell in outcome.samples.cells()],
        "plan": driver.plan.document() if driver.plan is not None else None,
    }


def _point(outcome: Outcome, cell: Cell) -> dict[str, Any]:
    events = list(outcome.samples.values(cell, "events").values())
    return {
        "variant": cell.variant,
        "point": dict(cell.point),
        "replications": len(outcome.samples.replications(cell)),
        "events": round(math.fsum(events) / len(events)) if events else None,
        "digest": outcome.samples.digest(cell),
    }


def _seeds(outcome: Outcome, cell: Cell) -> list[int]:
    return [int(value) for value in outcome.samples.values(cell, "seed").values()]


def _number(outcome: Outcome, claim: NumericClaim, grade: Grade) -> dict[str, Any]:
    measured = outcome.interval(claim.quantity, claim.point)
    if measured is None:
        raise RuntimeError(f"claim {claim.id} was graded without having been measured")
    interval = claim.in_published_unit(measured)
    return {
        "id": claim.id,
        "place": claim.place,
        "quantity": claim.quantity,
        "unit": claim.unit,
        "published": claim.published,
        "measured": interval.mean,
        "low": finite(interval.low),
        "high": finite(interval.high),
        "replications": interval.n,
        "grade": str(grade),
        "kind": str(claim.kind),
        **_followed(claim),
        "note": " ".join(filter(None, [claim.note, claim.absolute_reason])),
        **drawn_columns(outcome, claim),
    }


def drawn_columns(outcome: Outcome, claim: NumericClaim) -> dict[str, Any]:
    """Further columns of a value published from a stated number of runs: how many, what of them it
    is, and where it is to be expected; none of another value."""
    expected = outcome.prediction(claim)
    if expected is None:
        return {}
    return {
        "runs": claim.runs,
        "statistic": str(claim.statistic),
        "predicted_low": finite(expected.low),
        "predicted_high": finite(expected.high),
    }


def _followed(entry: NumericClaim | Statement) -> dict[str, str]:
    return {"follows": entry.follows} if entry.follows else {}


def _statement(outcome: Outcome, statement: Statement, grade: Grade) -> dict[str, Any]:
    points = [point for point, _ in outcome.statement_points(statement)]
    counts = [len(outcome.samples.replications(Cell.of(point))) for point in points]
    return {
        "id": statement.id,
        "place": statement.place,
        "quantity": statement.predicate,
        "unit": "",
        "published": statement.text.strip(),
        "measured": None,
        "low": None,
        "high": None,
        "replications": min(counts, default=0),
        "grade": str(grade),
        "kind": str(statement.kind),
        **_followed(statement),
        "note": statement.note.strip(),
    }


def _csv(claims: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    # What is planned from the result says nothing of the claim.
    columns = dict.fromkeys(name for row in claims for name in row if name != "needed")
    writer = csv.DictWriter(text, list(columns), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(claims)
    return text.getvalue()
