"""A run as tables of texts, for the terminal and for pages: the engine's columns that have a head,
filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.run.columns import Column, columns, shown_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

__all__ = ["ALWAYS", "ShownTable", "shown_tables", "tells_hosts"]

ShownTable: TypeAlias = "tuple[str, list[str], list[list[str]]]"
"""The title of a table, the heads of its columns, and its rows; the first column are names."""

ALWAYS = ("groups", "links")
"""The kinds of rows that every run has."""

_WIDE = "tcp"
"""The engine's name of the columns that are in the main table where there is room."""


def shown_tables(
    kind: str, rows: Sequence[Mapping[str, Any]], *, wide: bool = False
) -> Iterator[ShownTable]:
    """The tables of a kind of rows that have any; `wide` ones have columns that a terminal has no
    room for.

    Links that are idle, and rows of further tables, are left out if all that the table says of them
    is zero. Every run has a table of groups and one of links.
    """
    for table, title in shown_kinds()[kind].titles.items():
        parts = (table, _WIDE) if wide and not table else (table,)
        having = [each for each in columns(kind).values() if each.head and each.table in parts]
        # Sorted stably, so that the order of the engine stays among those without a place.
        having.sort(key=lambda each: (not each.place, each.place))
        saying = rows
        if table or kind == "links":
            saying = [row for row in rows if any(_says(each, row) for each in having)]
        if kind == "groups" and not table:
            number = columns(kind)["flows"]
            title = f"{sum(number.value_in(row) or 0 for row in rows)} {title}"
        if kind == "links" and len(saying) < len(rows):
            title = f"{title[:-1]}; {len(rows) - len(saying)} idle ones left out)"
        if saying or (kind in ALWAYS and not table):
            yield title, *_filled(having, saying)


def _filled(
    having: Sequence[Column], rows: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[list[str]]]:
    kept = [each for each in having if not each.if_any or any(_says(each, row) for row in rows)]
    cells = [[str(row["name"]), *(each.shown(row) for each in kept)] for row in rows]
    return ["name", *(each.head for each in kept)], cells


def _says(column: Column, row: Mapping[str, Any]) -> bool:
    """Returns true if a row has anything but zero in a column, or another word than its name."""
    value = column.value_in(row)
    return bool(value) if column.is_number else value != row["name"]


def tells_hosts(document: Mapping[str, Any]) -> bool:
    """Returns true if rows of hosts say more than those of groups: hosts are named, or there are
    several at one end, and some have several groups there."""
    hosts, groups = document.get("hosts", []), len(document["groups"])
    if any(row["name"] != row.get("node", row["name"]) for row in hosts):
        return True
    ends = (sum(bool(row.get(end)) for row in hosts) for end in ("flows_from", "flows_to"))
    return any(1 < number < groups for number in ends)
