"""The rows of results as tables, for `--format`: every kind of rows of one run or of many.

Each is a file below `tables/results` in the folder of results, beside the tables that were
recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forebay.run.columns import kinds
from forebay.run.store import columns_of

__all__ = ["result_tables"]


def result_tables(
    runs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> dict[str, dict[str, list[Any]]]:
    """The columns of a table for each kind of rows that any run has.

    `runs` are what the first columns say of a run, such as its replication, and its document.
    """
    rows: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds()}
    for columns, document in runs:
        for kind, found in rows.items():
            found += [{**columns, **row} for row in document[kind]]
    return {kind: columns_of(found) for kind, found in rows.items() if found}
