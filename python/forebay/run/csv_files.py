"""Arrow tables as CSV.

A column of lists, such as packets by precedence, is a column for each entry (`arrived_packets.0`),
and so is one of named numbers (`drop_reasons.early`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["csv_bytes"]


def csv_bytes(table: pa.Table) -> bytes:
    """An Arrow table as the content of a CSV file (RFC 4180, lines ended by a line feed)."""
    import pyarrow.csv

    file = io.BytesIO()
    # Quotes in any file that needs them somewhere, and none in most.
    style = pyarrow.csv.WriteOptions(quoting_style="needed")
    pyarrow.csv.write_csv(_flat(table), file, style)
    return file.getvalue()


def _flat(table: pa.Table) -> pa.Table:
    """The same with columns of numbers and words only."""
    import pyarrow as pa

    if not any(pa.types.is_nested(kind) for kind in table.schema.types):
        return table
    rows = [dict(_cells(row)) for row in table.to_pylist()]
    every = dict.fromkeys(name for row in rows for name in row)
    found = pa.table({name: [row.get(name) for row in rows] for name in every})
    # Entries of one column stand together, though the first rows may have had fewer of them.
    order = {name: place for place, name in enumerate(table.column_names)}
    names = sorted(found.column_names, key=lambda name: order[_column_of(name, order)])
    return found.select(names)


def _column_of(name: str, columns: Mapping[str, int]) -> str:
    """The column that `name`, or an entry of it, is."""
    while name not in columns:
        name = name.rpartition(".")[0]
    return name


def _cells(row: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, list):
            value = {str(place): entry for place, entry in enumerate(value)}
        if isinstance(value, dict):
            yield from _cells(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
