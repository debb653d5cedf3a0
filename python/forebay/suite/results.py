"""Results of a suite: a row for each quantity of each cell and column, and the checks.

`table.json` holds them with what made them; `table.md`, `tables.tex` and the page are made of that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from forebay.run.axes import VARIANT
from forebay.run.expressions import Answer
from forebay.run.jobs import build, version
from forebay.run.journal import Journal
from forebay.run.quantities import Measured, summarised
from forebay.run.summary import finished
from forebay.run.sweep import Planned, failures, warnings
from forebay.suite.cells import PASSES, Asked, Cell, Limit
from forebay.suite.definition import SuiteFile
from forebay.suite.pilots import Part
from forebay.suite.report import report_of
from forebay.suite.sensitivity import Screen, screen_rows
from forebay.units import symbolised

__all__ = ["FOLDER", "JSON", "cell_path", "document_of", "failed_rows", "rows_of"]

JSON = "table.json"
FOLDER = "cells"
"""The folder of the scenarios of all cells, by column."""


def cell_path(cell: str, column: str) -> str:
    """Where the scenario of a cell is, below the folder of results."""
    return f"{FOLDER}/{column.replace(':', '-')}/{cell.replace('/', '-')}.toml"


def document_of(
    name: str,
    suite: SuiteFile,
    asked: Asked,
    parts: Sequence[Part],
    journal: Journal,
    command: str,
    screens: Sequence[tuple[Screen, Sequence[Planned]]] = (),
) -> dict[str, Any]:
    """The document of a suite whose runs `journal` holds; `screens` are those of a screening."""
    laws: dict[tuple[str, str], Mapping[str, Any]] = {}
    rows = [
        row
        for cell, planned in parts
        for row in rows_of(cell, planned, journal, laws, suite.suite.baseline[0])
    ]
    made = [*parts, *((screen.cell, of) for screen, of in screens)]
    rates = {"rate": asked.rate} if asked.rate is not None else {}
    return {
        "suite": name,
        "name": f"{name}: {suite.suite.title}",
        "source": suite.suite.source,
        "version": version(),
        "build": build(),
        "command": command,
        "seeds": [asked.seed],
        "replications": asked.replications,
        "runs": sum(len(planned) * cell.sweep.replications for cell, planned in made),
        **({"laws": list(laws.values())} if laws else {}),
        "settings": {**suite.parameters, **rates},
        "columns": [
            _column(law, n < len(suite.suite.baseline)) for n, law in enumerate(asked.laws)
        ],
        "report": report_of(suite, asked.laws),
        "trade_off": suite.suite.trade_off,
        "cells": list(_cells(cell for cell, _ in parts)),
        "rows": rows,
        "checks": [
            check
            for cell, _ in parts
            for check in _checks(cell, rows, suite.suite.baseline, asked.tested)
        ],
        "verdicts": [
            verdict
            for cell, planned in parts
            for verdict in _verdicts(cell, planned, journal, asked.tested)
        ],
        **_screening(suite, screens, journal),
        "choices": [choice.model_dump() for choice in suite.choices],
        "omitted": [each.model_dump() for each in suite.omitted],
        "without": list(asked.without),
        "warnings": [
            {"cell": cell.name, **row} for cell, planned in parts for row in warnings(planned)
        ],
        "failed": [
            {**row, "scenario": cell_path(row["cell"], row["column"])}
            for row in failed_rows(made, journal)
        ],
    }


def failed_rows(parts: Iterable[Part], journal: Journal) -> list[dict[str, Any]]:
    """A row for each run that gave no result, and why."""
    return [
        {
            "cell": cell.name,
            "column": str(entry.values[VARIANT]),
            "replication": failure.key.replication,
            "seed": failure.key.seed,
            "reason": failure.reason,
        }
        for cell, planned in parts
        for entry, failure in failures(cell.sweep, planned, journal)
    ]


def _screening(
    suite: SuiteFile, screens: Sequence[tuple[Screen, Sequence[Planned]]], journal: Journal
) -> dict[str, Any]:
    if suite.screening is None or not screens:
        return {}
    rows = screen_rows(screens, suite.screening, journal)
    return {"screening": {**suite.screening.model_dump(), "rows": rows}}


def _column(law: Any, is_baseline: bool) -> dict[str, Any]:
    """What a column is: its law, and the parameters that were given."""
    return {
        "label": law.label,
        "law": law.page.name,
        "baseline": is_baseline,
        "given": dict(law.given),
        "source": law.page.source,
    }


def _cells(cells: Iterable[Cell]) -> Iterator[dict[str, Any]]:
    """Each cell once: those with a pilot have a part for each law."""
    lacking: dict[str, dict[str, str]] = {}
    first: dict[str, Cell] = {}
    for cell in cells:
        first.setdefault(cell.name, cell)
        lacking[cell.name] = {**lacking.get(cell.name, {}), **cell.lacking}
    for name, cell in first.items():
        yield {**_cell(cell), "lacking": lacking[name]}


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "name": cell.name,
        "title": cell.file.title,
        "section": cell.file.section,
        "weight": cell.file.weight,
        "text": cell.file.text,
        "trade_off": cell.file.trade_off,
    }


def rows_of(
    cell: Cell,
    planned: Sequence[Planned],
    journal: Journal,
    laws: dict[tuple[str, str], Mapping[str, Any]],
    baseline: str,
) -> Iterator[dict[str, Any]]:
    """The rows of a cell; laws of one's own that its runs had are put into `laws`."""
    answers: dict[tuple[str, str], dict[int, Answer]] = {}
    digests: dict[str, str] = {}
    for entry in planned:
        column = str(entry.values[VARIANT])
        digest = hashlib.blake2b(digest_size=8)
        for replication, found in finished(cell.sweep, entry, journal):
            laws |= {(law["name"], law["contents"]): law for law in found.get("laws", ())}
            digest.update(str(found["digest"]).encode())
            digests[column] = digest.hexdigest()
            for each in cell.measures:
                own = answers.setdefault((column, each.key), {})
                own[replication] = each.quantity.of(found)
    for column, contents in digests.items():
        for each in cell.measures:
            own = answers[column, each.key]
            quantity = each.quantity
            if each.metric.over_baseline:
                quantity = Measured(each.key, symbolised("share"), nonnegative=True)
                own = _over(own, answers.get((baseline, each.key), {}))
            summary = summarised(quantity, list(own.values()))
            yield {
                "cell": cell.name,
                "column": column,
                "words": each.words,
                "class": each.part,
                "unit": quantity.unit.symbol,
                "better": each.metric.better,
                "section": each.metric.section,
                "headline": each.metric.headline,
                **summary,
                "runs": list(own),
                "values": [answer.value for answer in own.values()],
                "digest": contents,
            }


def _over(own: Mapping[int, Answer], baseline: Mapping[int, Answer]) -> dict[int, Answer]:
    """The quotients of answers and those of the baseline, by replication."""
    found = {}
    for replication, answer in own.items():
        other = baseline.get(replication, Answer(None, "the baseline has no such run"))
        lacking = next((each for each in (answer, other) if each.value is None), None)
        if lacking is None and not other.value:
            lacking = Answer(None, "of the baseline it is 0")
        if lacking is None:
            assert answer.value is not None
            assert other.value is not None
            found[replication] = Answer(answer.value / other.value)
        else:
            found[replication] = lacking
    return found


def _checks(
    cell: Cell, rows: Sequence[Mapping[str, Any]], baseline: Sequence[str], tested: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The checks of a cell on the means of its columns. Those of laws are shown of the baseline as
    well, and decide nothing there unless it is under test."""
    columns = {str(choice.values[VARIANT]) for choice in cell.sweep.axes[0]}
    for limit in cell.limits:
        for row in rows:
            if row["cell"] != cell.name or row["quantity"] != limit.check.metric:
                continue
            if row["column"] not in columns:
                continue
            of = _side(row["column"], tested)
            if limit.check.of != "baseline" or row["column"] in baseline:
                yield {
                    "cell": cell.name,
                    "column": row["column"],
                    "quantity": row["quantity"],
                    "text": limit.check.text,
                    "of": limit.check.of if limit.check.of == "baseline" else of,
                    "mean": row["mean"],
                    "least": limit.least,
                    "most": limit.most,
                    "unit": row["unit"],
                    "holds": _holds(row["mean"], limit),
                }


def _side(column: str, tested: Sequence[str]) -> str:
    """Where a column belongs: `laws` for one under test."""
    return "laws" if column in tested else "baseline"


def _verdicts(
    cell: Cell, planned: Sequence[Planned], journal: Journal, tested: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Whether each law passes a case: `pass`, `fail` or `not applicable`, with the number of runs
    of each, and what the first run that decides says. A law fails if it does in any run; of the
    baseline, that decides nothing unless it is under test."""
    if not cell.file.judge:
        return
    measure = next((each for each in cell.measures if each.key == PASSES), None)
    place = {
        "cell": cell.name,
        "case": cell.case,
        "point": cell.point,
        "section": cell.file.section,
    }
    for column, reason in cell.lacking.items():
        yield {
            **place,
            **{"column": column, "of": _side(column, tested), "verdict": _WORDS[None]},
            **{"runs": {}, "told": reason},
        }
    for entry in planned:
        told: dict[float | None, list[str]] = {0.0: [], 1.0: [], None: []}
        for _, found in finished(cell.sweep, entry, journal):
            assert measure is not None
            assert isinstance(measure.quantity, Measured)
            told[measure.quantity.of(found).value].append(measure.quantity.told(found))
        verdict = next((value for value, texts in told.items() if texts), None)
        column = str(entry.values[VARIANT])
        yield {
            **place,
            **{"column": column, "of": _side(column, tested), "verdict": _WORDS[verdict]},
            "runs": {_WORDS[value]: len(texts) for value, texts in told.items() if texts},
            "told": next(iter(told[verdict]), "no run gave a result"),
        }


_WORDS = {1.0: "pass", 0.0: "fail", None: "not applicable"}


def _holds(mean: float | None, limit: Limit) -> bool:
    if mean is None:
        return False
    above = limit.least is None or mean >= limit.least
    return above and (limit.most is None or mean <= limit.most)
