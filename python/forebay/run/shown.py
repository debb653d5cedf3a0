"""A run as tables of texts, for the terminal and for pages: the engine's columns that have a head,
filled."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from forebay import text
from forebay.run.columns import Column, columns, shown_kinds
from forebay.run.words import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    Rows: TypeAlias = Sequence[Mapping[str, Any]]
    Told: TypeAlias = Callable[[Column, str, Rows], tuple[str, list[str]]]
    """What a table says in a column below a head: the whole head, and a cell for each row."""

__all__ = [
    "ALWAYS",
    "COLOUR_WORDS",
    "Most",
    "ShownTable",
    "by_precedence",
    "dropped_ratios",
    "proof_tables",
    "shown_tables",
    "tells_hosts",
]

ShownTable: TypeAlias = "tuple[str, list[str], list[list[str]]]"
"""The title of a table, the heads of its columns, and its rows; the first column are names."""

ALWAYS = ("groups", "links")
"""The kinds of rows that every run has."""

BY_PRECEDENCE = "links"
"""The kind of rows whose lists are by precedence."""
COLOUR_WORDS = "0 is green, 1 yellow, 2 red"
"""The precedences that meters of three colours give (RFC 2697, RFC 2698)."""
PRECEDENCES = f"links by precedence (in packets; of meters {COLOUR_WORDS})"
"""The title of their table."""
DROPPED = Column("dropped_ratio", "share", "packets dropped, of those that arrived",
                 False, "of arrived", "", 0, False, "arrived_packets")  # fmt: skip
"""A column beside the lists of links: a share of each precedence."""
LOSSES = ("dropped_packets", "arrived_packets")
SHOWN_TIES = 5

_WIDE = "tcp"
"""The engine's name of the columns that are in the main table where there is room."""


def _values(column: Column, head: str, rows: Rows) -> tuple[str, list[str]]:
    """The values of one run."""
    return head, [column.shown(row) for row in rows]


class Most(NamedTuple):
    """How much of a long table is shown: of more than `rows` the `first` and those in which a
    column that matters is least or largest; `where` says where all are."""

    rows: int
    first: int
    where: str


def shown_tables(
    kind: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    wide: bool = False,
    most: Most | None = None,
    told: Told = _values,
) -> Iterator[ShownTable]:
    """The tables of a kind of rows that have any; `wide` ones have columns that a terminal has no
    room for, and those that are longer than `most` say how many rows they leave out.

    Links that are idle, and rows of further tables, are left out if all that the table says of them
    is zero. Every run has a table of groups and one of links. Where packets of several precedences
    came to a link, a further table has its columns by precedence. `told` says what is in them.
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
            flows = columns(kind)["flows"]
            number = sum(flows.value_in(row) or 0 for row in rows)
            title = f"{text.counted(number, 'flow')}{title.removeprefix('flows')}"
        if kind == "links" and len(saying) < len(rows):
            idle = len(rows) - len(saying)
            title = f"{title[:-1]}; {idle} idle {'one' if idle == 1 else 'ones'} left out)"
        if saying or (kind in ALWAYS and not table):
            kept = _kept(having, saying, most)
            yield title + _left(saying, kept, most), *_filled(having, kept, told)
    if kind == BY_PRECEDENCE:
        yield from _precedence_table(rows, most, told)


def _kept(
    having: Sequence[Column], rows: Sequence[Mapping[str, Any]], most: Most | None
) -> Sequence[Mapping[str, Any]]:
    """The rows of a table that are shown."""
    if most is None or len(rows) <= most.rows:
        return rows
    places = set(range(most.first))
    for column in having:
        values = (
            {at: column.value_in(row) for at, row in enumerate(rows)} if column.headline else {}
        )
        known = {at: value for at, value in values.items() if isinstance(value, int | float)}
        if len(set(known.values())) > 1:
            places |= {min(known, key=lambda at: known[at]), max(known, key=lambda at: known[at])}
    return [rows[at] for at in sorted(places)]


def _left(rows: Sequence[Any], kept: Sequence[Any], most: Most | None) -> str:
    left = len(rows) - len(kept)
    if most is None or not left:
        return ""
    extremes = " and extremes" if len(kept) > most.first else ""
    return f": the first {most.first}{extremes}; {left} more rows: {most.where}"


def _listed(rows: Rows) -> list[Column]:
    """The columns that are lists by precedence."""
    return [
        column
        for column in columns(BY_PRECEDENCE).values()
        if column.is_number and any(isinstance(row.get(column.name), list) for row in rows)
    ]


def by_precedence(rows: Rows) -> list[dict[str, Any]]:
    """The lists of links and `dropped_ratio`, a row for each precedence, of links where packets of
    several came."""
    lists = _listed(rows)
    found: list[dict[str, Any]] = []
    for row in rows:
        values = {each.name: row.get(each.name) or [] for each in lists}
        length = max(map(len, values.values()), default=0)
        parts = [
            {name: of[at] if at < len(of) else 0 for name, of in values.items()}
            for at in range(length)
        ]
        used = [at for at, part in enumerate(parts) if any(part.values())]
        for part, ratio in zip(parts, dropped_ratios(row), strict=False):
            part[DROPPED.name] = ratio
        if len(used) > 1:
            name = row["name"]
            found += [
                {"name": f"{name}, precedence {at}", "link": name, "precedence": at, **parts[at]}
                for at in used
            ]
    return found


def dropped_ratios(row: Mapping[str, Any]) -> list[float | None]:
    """The shares of packets that a link dropped, by precedence; `None` where none arrived."""
    pairs = itertools.zip_longest(*(row.get(each) or [] for each in LOSSES), fillvalue=0)
    return row.get(DROPPED.name) or [dropped / come if come else None for dropped, come in pairs]


def _precedence_table(rows: Rows, most: Most | None, told: Told) -> Iterator[ShownTable]:
    found = by_precedence(rows)
    if found:
        kept = found[: most.first] if most is not None and len(found) > most.rows else found
        lists = _listed(rows)
        heads = [
            "bytes" if each.unit == "B" else name_of(each.name).removesuffix(" packets")
            for each in lists
        ]
        parts = [told(each, head, kept) for each, head in zip(lists, heads, strict=True)]
        if any(row.get(DROPPED.name) is not None for row in kept):
            parts.append(told(DROPPED, DROPPED.head, kept))
        yield f"{PRECEDENCES}{_left(found, kept, most)}", *_table(kept, parts)


def _filled(having: Sequence[Column], rows: Rows, told: Told) -> tuple[list[str], list[list[str]]]:
    kept = [each for each in having if not each.if_any or any(_says(each, row) for row in rows)]
    return _table(rows, [told(each, each.head, rows) for each in kept])


def _table(rows: Rows, parts: Sequence[tuple[str, list[str]]]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a table of these columns beside the names."""
    cells = zip([str(row["name"]) for row in rows], *(column for _, column in parts), strict=True)
    return ["name", *(head for head, _ in parts)], [list(row) for row in cells]


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


def proof_tables(document: Mapping[str, Any]) -> Iterator[ShownTable]:
    """The tables of what was checked in a run, and of what rests on the order of simultaneous
    events, if it was asked for."""
    if checks := document.get("checks"):
        times = text.count(sum(checks["each"].values()))
        title = f"checked: {checks['invariants']} invariants, {times} times, none broken"
        rows = [[name, text.count(number)] for name, number in checks["each"].items()]
        yield title, ["invariant", "times"], rows
    if ties := document.get("ties"):
        differing = ties["differing"]
        counts = [
            ["simultaneous arrivals at links", text.count(ties["packets"])],
            ["other orders of them run", text.count(ties["orders"])],
            ["numbers compared", text.count(ties["quantities"])],
            ["numbers that rest on the order", text.count(len(differing))],
        ]
        yield "order of simultaneous events", ["", "number"], counts
        ends = ("listed", "low", "high")
        rows = [[row["quantity"], *(text.plain(row[end]) for end in ends)] for row in differing]
        if rows:
            heads = ["quantity", "as listed", "least", "greatest"]
            yield "numbers that rest on the order most", heads, rows[:SHOWN_TIES]
