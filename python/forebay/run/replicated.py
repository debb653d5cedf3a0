"""Replications of a run as rows of means, with an interval behind each value.

Rows are those of a run's document, so that what makes tables and drawings of a run makes them of
its replications too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.run.columns import columns
from forebay.run.paper_formats import IntervalColumn, interval_cells
from forebay.run.shown import by_precedence
from forebay.samples import FEW_SAMPLES
from forebay.units import symbolised

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from forebay.run.columns import Column

__all__ = ["DOCUMENT", "Replicated"]

DOCUMENT = "replications.json"
"""The file of `forebay run --replications --out` that it is made of."""

PACKETS = ("arrived_packets", "departed_packets", "dropped_packets")
"""Columns of links that are lists by precedence."""


class Replicated:
    """What `replications.json` holds: `intervals` of numbers and `entries` of lists; `document` has
    a list of rows of means for each kind, and the facts of groups that do not change."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._found: dict[tuple[str, str, str, int | None], Mapping[str, Any]] = {}
        rows: dict[str, dict[str, dict[str, Any]]] = {}
        for each in document["intervals"]:
            # Flows are summed over their groups.
            kind = "groups" if each["place"] == "flows" else each["place"]
            self._found[kind, each["name"], each["quantity"], None] = each
            row = rows.setdefault(kind, {}).setdefault(each["name"], {"name": each["name"]})
            row[each["quantity"]] = each["mean"]
        for each in document.get("entries", ()):
            kind = "groups" if each["place"] == "flows" else each["place"]
            self._found[kind, each["name"], each["quantity"], each["entry"]] = each
            row = rows.setdefault(kind, {}).setdefault(each["name"], {"name": each["name"]})
            if each["entry"] is not None:
                entries = row.setdefault(each["quantity"], [])
                entries += [None] * (each["entry"] + 1 - len(entries))
                entries[each["entry"]] = each["mean"]
        facts = {group["name"]: group for group in document.get("groups", ())}
        for name, row in rows.get("groups", {}).items():
            row.update(facts.get(name, {}))
        self.document: dict[str, list[dict[str, Any]]] = {
            kind: list(named.values()) for kind, named in rows.items()
        }

    def ends(self, kind: str) -> dict[tuple[str, str], tuple[float, float]]:
        """The ends of the intervals of numbers, by name of the row and column."""
        return {
            (name, column): (row["low"], row["high"])
            for (of, name, column, entry), row in self._found.items()
            if of == kind and entry is None and row["low"] is not None
        }

    def drawn(self, kind: str) -> list[dict[str, Any]]:
        """The rows of a kind without percentiles that too few samples stand behind."""
        return [
            {
                column: value
                for column, value in row.items()
                if self._note(kind, row["name"], column) != FEW_SAMPLES
            }
            for row in self.document.get(kind, ())
        ]

    def told(
        self, kind: str
    ) -> Callable[[Column, str, Sequence[Mapping[str, Any]]], tuple[str, list[str]]]:
        """What tables of a kind have in a column (`forebay.run.shown`): its unit behind the head,
        and means with intervals."""

        def told(
            column: Column, head: str, rows: Sequence[Mapping[str, Any]]
        ) -> tuple[str, list[str]]:
            if not column.is_number:
                return head, [str(row.get(column.name, "-")) for row in rows]
            if not any(self._row(kind, column, row) for row in rows):
                # A fact of groups, such as the number of their flows.
                return head, [column.shown(row) for row in rows]
            found = [self._row(kind, column, row) for row in rows]
            unit = symbolised(column.unit)
            # What is counted needs no unit in the head, as in the tables of a run.
            is_counted = not unit.spoken and unit.symbol != "share"
            return interval_cells(IntervalColumn(head, None if is_counted else unit, found))

        return told

    def noted(self) -> list[Mapping[str, Any]]:
        """The intervals of what tables have."""
        return [
            row
            for (kind, _, quantity, _), row in self._found.items()
            if quantity in columns(kind) and columns(kind)[quantity].head
        ]

    def precedences(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """What links did with packets of each precedence, where several came: name, column and
        interval."""
        return [
            (row["name"], column, found)
            for row in by_precedence(self.document.get("links", []))
            for column in (*PACKETS, "dropped_ratio")
            if (found := self._found.get(("links", row["link"], column, row["precedence"])))
        ]

    def _row(self, kind: str, column: Column, row: Mapping[str, Any]) -> Mapping[str, Any] | None:
        name, entry = (
            (row["link"], row["precedence"]) if "precedence" in row else (row["name"], None)
        )
        if column.over and not _total(row.get(column.over, 1)):
            return None
        return self._found.get((kind, name, column.name, entry))

    def _note(self, kind: str, name: str, column: str) -> str:
        found = self._found.get((kind, name, column, None))
        return "" if found is None else str(found["note"])


def _total(value: Any) -> float:
    return float(sum(each or 0 for each in value) if isinstance(value, list) else value)
