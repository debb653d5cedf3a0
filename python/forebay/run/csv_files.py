"""Columns of a table as CSV.

A column of lists, such as packets by precedence, is a column for each entry (`arrived_packets.0`),
and so is one of named numbers (`drop_reasons.early`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["csv_bytes"]

WORDS = {None: "", False: "false", True: "true"}
"""Cells that are no numbers and no words."""


def csv_bytes(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Columns of one length as the content of a CSV file: RFC 4180, lines ended by a line feed,
    quotes where a cell needs them, nothing for what is missing."""
    flat = dict(pair for name, column in columns.items() for pair in _flat(name, _plain(column)))
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(flat)
    writer.writerows(zip(*flat.values(), strict=True))
    return file.getvalue().encode()


def _plain(column: Any) -> list[Any]:
    """A list, or an array of NumPy or Arrow, as a list of Python's own values."""
    for name in ("tolist", "to_pylist"):
        if hasattr(column, name):
            found: list[Any] = getattr(column, name)()
            return found
    return list(column)


def _flat(name: str, column: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """A column, or one for each entry of its lists and mappings, in the order of appearance."""
    if not any(isinstance(value, list | Mapping) for value in column):
        yield name, [WORDS[v] if v is None or isinstance(v, bool) else v for v in column]
        return
    entries = [dict(enumerate(v)) if isinstance(v, list) else dict(v or {}) for v in column]
    for key in dict.fromkeys(key for entry in entries for key in entry):
        yield from _flat(f"{name}.{key}", [entry.get(key) for entry in entries])
