"""Results of a table of stacks: a row for each quantity of each network and stack.

The document is shaped like that of a suite (`forebay.suite.results`), which is what comparisons
read. Nothing in it depends on the clock or the machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forebay.run.jobs import Job, check, version
from forebay.run.journal import Journal
from forebay.stacks.columns import Column
from forebay.stacks.definition import Table
from forebay.suite.against import differences
from forebay.suite.pilots import Part
from forebay.suite.results import failed_rows, rows_of

__all__ = ["BASELINE", "JSON", "baseline_of", "document_of", "settings_of"]

JSON = "table.json"

BASELINE = ("suite", "version", "command", "seeds", "settings", "rows")
"""What a baseline has of a document."""


def settings_of(table: Table, columns: Sequence[Column]) -> dict[str, str]:
    """What the numbers go by: what each stack is, and a hash of each network. Raises `UserError`
    for a network that cannot be run."""
    hashes = {
        f"network {each.name}": check(Job(each.text, str(each.path)))["scenario_hash"]
        for each in table.networks
    }
    return {**{column.label: column.told for column in columns}, **hashes}


def document_of(
    table: Table,
    columns: Sequence[Column],
    settings: Mapping[str, str],
    parts: Sequence[Part],
    journal: Journal,
    command: str,
) -> dict[str, Any]:
    """The document of a table whose runs `journal` holds."""
    laws: dict[tuple[str, str], Mapping[str, Any]] = {}
    rows = [row for cell, planned in parts for row in rows_of(cell, planned, journal, laws, "")]
    return {
        "suite": table.name,
        "version": version(),
        "command": command,
        "seeds": sorted({entry.seed for _, planned in parts for entry in planned}),
        "replications": table.replications,
        "runs": sum(len(planned) * cell.sweep.replications for cell, planned in parts),
        **({"laws": list(laws.values())} if laws else {}),
        "settings": dict(settings),
        "networks": [network.name for network in table.networks],
        "columns": [{"label": each.label, "kind": each.kind, "told": each.told}
                    for each in columns],
        "rows": rows,
        **_against(table, rows),
        "failed": failed_rows(parts, journal),
    }  # fmt: skip


def _against(table: Table, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The differences of each other stack from that which the table names, by replication."""
    if not table.against:
        return {}
    first = [row for row in rows if row["column"] == table.against]
    others = [label for label in table.stacks if label != table.against]
    as_theirs = [{**row, "column": label} for label in others for row in first]
    theirs = [row for row in rows if row["column"] != table.against]
    return {"against": {"stack": table.against, "differences": differences(theirs, as_theirs)}}


def baseline_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What is stored of a document for later comparison."""
    return {name: document[name] for name in BASELINE}
