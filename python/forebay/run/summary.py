"""Summary of a sweep: what is written of its runs.

The output folder holds `runs.sqlite` (the journal: every run's whole document, kept as it
finishes), `runs.parquet` (values and quantities of every run), `summary.parquet` (means and 95 %
intervals), `sweep.json` (the same intervals and what made them) and, built from that,
`report.html`. Without pyarrow the tables are `runs.csv` and `summary.csv`.

A quantity that some points lack is an empty cell of these, with a reason.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay.native import program
from forebay.run.axes import VARIANT
from forebay.run.expressions import Answer, Expression
from forebay.run.jobs import build, version
from forebay.run.journal import Journal
from forebay.run.quantities import summarised
from forebay.run.repeat import quoted
from forebay.run.resolved import resolved_scenario
from forebay.run.store import (
    FORMATS,
    columns_of,
    own_files,
    read_table,
    stored_format,
    take_over,
    write_columns,
    write_tables,
    write_text,
)
from forebay.run.sweep import Planned, Sweep, failures, warnings
from forebay.run.tables import result_tables

__all__ = ["SUMMARY", "files", "finished", "source_of", "write_all_tables", "write_summary"]

SUMMARY = "sweep.json"
TABLES = ("runs", "summary")
"""The tables of a sweep: a row for each run, and one for each mean with its interval."""


def source_of(sweep: Sweep, planned: Sequence[Planned], journal: Journal) -> str:
    """A fingerprint of all that `write_summary` and the report look at."""
    keys = [
        entry.key(replication) for entry in planned for replication in range(sweep.replications)
    ]
    asked = json.dumps(
        [
            *(sweep.name, str(sweep.path), sweep.settings, sweep.grid, version()),
            *([quantity.name for quantity in sweep.quantities], _texts(sweep.derived)),
        ]
    )
    return f"{asked} {journal.state(keys)}"


def _texts(named: Mapping[str, Expression]) -> dict[str, str]:
    return {name: quantity.text for name, quantity in named.items()}


def finished(
    sweep: Sweep, entry: Planned, journal: Journal
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The runs of a point that `journal` holds: replications and documents."""
    for replication in range(sweep.replications):
        found = journal.find(entry.key(replication))
        if found is not None:
            yield replication, found.document


def files(formats: Sequence[str] = ()) -> list[str]:
    """The files that `write_summary` writes, and its tables in further formats."""
    kept = dict.fromkeys([stored_format(), *formats])
    return [*(f"{name}.{ending}" for ending in kept for name in TABLES), SUMMARY]


def write_all_tables(
    sweep: Sweep,
    planned: Sequence[Planned],
    journal: Journal,
    folder: Path,
    formats: Sequence[str],
) -> None:
    """Write every kind of rows of every run that `journal` holds in each of the formats, and the
    tables of `write_summary` in those that they are not in. Those of other formats go."""
    runs = (
        ({**entry.values, "replication": replication, "seed": entry.seed}, document)
        for entry in planned
        for replication, document in finished(sweep, entry, journal)
    )
    write_tables(folder, {}, result_tables(runs) if formats else {}, formats)
    wanted, kept = files(formats), stored_format()
    every = {f"{name}.{ending}" for ending in FORMATS for name in TABLES}
    for name in own_files(folder).intersection(every.difference(wanted)):
        (folder / name).unlink(missing_ok=True)
    take_over(folder, wanted)
    for name, ending in itertools.product(TABLES, set(formats) - {kept}):
        table = read_table(folder / f"{name}.{kept}")
        write_columns(folder / f"{name}.{ending}", table.to_pydict())


def write_summary(
    sweep: Sweep, planned: Sequence[Planned], journal: Journal, folder: Path
) -> dict[str, Any]:
    """Write the tables and `sweep.json` of the runs that `journal` holds; the document."""
    rows: list[dict[str, Any]] = []
    summary: list[dict[str, Any]] = []
    laws: dict[tuple[str, str], Mapping[str, Any]] = {}
    reasons: dict[str, str] = {}
    present: set[str] = set()
    for entry in planned:
        answers: dict[str, list[Answer]] = {quantity.name: [] for quantity in sweep.quantities}
        for replication, found in finished(sweep, entry, journal):
            laws |= {(law["name"], law["contents"]): law for law in found.get("laws", ())}
            facts = {quantity.name: quantity.of(found) for quantity in sweep.quantities}
            for name, answer in facts.items():
                answers[name].append(answer)
                reasons.setdefault(name, answer.reason)
            present |= {name for name, answer in facts.items() if not answer.absent}
            rows.append(
                {
                    **entry.values,
                    "replication": replication,
                    "seed": entry.seed,
                    "scenario_hash": entry.scenario_hash,
                    "digest": found["digest"],
                    **{name: answer.value for name, answer in facts.items()},
                }
            )
        summary += [
            {**entry.values, **summarised(quantity, answers[quantity.name])}
            for quantity in sweep.quantities
            if answers[quantity.name]
        ]
    if len(rows) == len(planned) * sweep.replications:
        for quantity in sweep.quantities:
            if quantity.name not in present:
                raise quantity.error(reasons[quantity.name])
    take_over(folder, files())
    for name, table in zip(TABLES, (rows, summary), strict=True):
        write_columns(folder / f"{name}.{stored_format()}", columns_of(table))
    document = {
        "name": sweep.name,
        "version": version(),
        "build": build(),
        "command": quoted([*program(), "sweep", str(sweep.path), *sweep.settings]),
        "seeds": sorted({entry.seed for entry in planned}),
        "runs": len(rows),
        **({"laws": list(laws.values())} if laws else {}),
        "grid": sweep.grid,
        **_scenario(sweep, planned),
        "quantities": [quantity.name for quantity in sweep.quantities],
        "units": {quantity.name: quantity.unit.symbol for quantity in sweep.quantities},
        **({"derived": _texts(sweep.derived)} if sweep.derived else {}),
        "summary": summary,
        "warnings": warnings(planned),
        "failed": [
            {
                **entry.values,
                "replication": failure.key.replication,
                "seed": failure.key.seed,
                "reason": failure.reason,
                "command": failure.command,
            }
            for entry, failure in failures(sweep, planned, journal)
        ],
    }
    write_text(folder / SUMMARY, json.dumps(document, indent=1) + "\n")
    return document


def _scenario(sweep: Sweep, planned: Sequence[Planned]) -> dict[str, Any]:
    """What the first point of a sweep runs, the keys that its points set, and those of variants."""
    names = [choice for axis in sweep.axes for choice in axis if VARIANT in choice.values]
    variants = {str(choice.values[VARIANT]): choice.keys for choice in names}
    keys = dict.fromkeys(key for axis in sweep.axes for choice in axis for key in choice.keys)
    return {
        "scenario": resolved_scenario(sweep.job(planned[0].combination, 0)),
        "varied": list(keys),
        **({"variants": variants} if variants else {}),
    }
