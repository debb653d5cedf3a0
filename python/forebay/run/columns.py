"""Columns of a run as the engine describes them: names, units and meanings."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from forebay.run.jobs import native
from forebay.samples import FEW_SAMPLES, samples_needed
from forebay.text import cell
from forebay.units import Unit, of_name, symbolised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = [
    "Column",
    "Kind",
    "columns",
    "kinds",
    "numbers",
    "percentile_note",
    "shown_kinds",
    "unit_in",
]


class Column(NamedTuple):
    """A column of a part of a run's document, as the engine declares it.

    `unit` is what the engine calls its unit (`"word"` and `"rows"` are no numbers) and `meaning` a
    sentence. `headline` says whether it is among the few that a summary shows.

    One with a `head` is in a table of its kind of rows (`forebay.run.shown`) below that head:
    `table` is that table, empty for the main one, `place` its place among the table's first columns
    or 0 behind them, and `if_any` says whether it is left out where it has nothing but zeros.
    `over` is the column that counts what its value is made of; empty for a value that there always
    is.
    """

    name: str
    unit: str
    meaning: str
    headline: bool
    head: str
    table: str
    place: int
    if_any: bool
    over: str

    @property
    def is_number(self) -> bool:
        """True if it holds numbers, or lists of them."""
        return self.unit not in ("word", "rows")

    def is_counted(self, row: Mapping[str, Any]) -> bool:
        """Returns true if a row counts as much as its value needs: one packet, transfer, ..., and
        for a percentile so many that one is beyond it."""
        count = row.get(self.over)
        return not isinstance(count, int) or count >= samples_needed(self.name)

    def value_in(self, row: Mapping[str, Any]) -> Any:
        """Its value in a row, a list summed up; `None` if there is none or it is not counted."""
        value = row.get(self.name)
        if not self.is_counted(row):
            return None
        return sum(value) if isinstance(value, list) else value

    def shown(self, row: Mapping[str, Any]) -> str:
        """Its value in a row as people read it, with its unit if that is not in the head."""
        value = self.value_in(row)
        return cell(value, symbolised(self.unit)) if self.is_number else str(value)


class Kind(NamedTuple):
    """A kind of rows that a run can have, as the engine declares it.

    `of` is what its rows belong to, `"flows"` or `"links"`. `titles` are those of its tables by
    what the columns call the table, empty for the main one.
    """

    name: str
    of: str
    titles: dict[str, str]


@cache
def _described() -> Any:
    return json.loads(native().result_columns())


@cache
def _parts() -> dict[str, dict[str, Column]]:
    return {
        part: {column["name"]: Column(**column) for column in columns}
        for part, columns in _described()["columns"].items()
    }


@cache
def shown_kinds() -> dict[str, Kind]:
    """The kinds of rows that a run can have, by name, in the order in which they are shown."""
    return {kind["name"]: Kind(**kind) for kind in _described()["kinds"]}


def columns(part: str) -> dict[str, Column]:
    """The columns of a part of a document by name, in order; `KeyError` for an unknown part.

    Parts are `"run"`, the kinds of rows (`kinds()`), and what some of these hold: `"spread"`,
    `"quantiles"`, `"drop_reasons"`.
    """
    return _parts()[part]


def kinds() -> list[str]:
    """The kinds of rows that a run has: `flows`, `groups`, `links`, `calls`, ..."""
    return [column.name for column in columns("run").values() if column.unit == "rows"]


def numbers(kind: str) -> list[str]:
    """The columns of a kind of rows that hold numbers, or lists of them."""
    return [column.name for column in columns(kind).values() if column.is_number]


def unit_in(part: str, quantity: str) -> Unit | None:
    """The unit of a quantity of a part of a document; of any other, that which ends its name."""
    known = _parts().get(part, {}).get(quantity)
    if known is None:
        return of_name(quantity)
    return symbolised(known.unit) if known.is_number else None


def percentile_note(column: Column, rows: Iterable[Mapping[str, Any]], note: str) -> str:
    """The note of the interval of a column of `rows`, one for each replication: `few samples` if
    it is a percentile and one of them has too few, else `note`."""
    if samples_needed(column.name) == 1:
        return note
    return note if all(column.is_counted(row) for row in rows) else FEW_SAMPLES
