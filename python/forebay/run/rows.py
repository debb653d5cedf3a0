"""Values of a run's document by name: `links.core.drops`, `flows[video].goodput_bps`.

A reference is `KIND.NAME.COLUMN`, or `KIND[TAG].COLUMN` for the list of a column over all rows of
a kind that have a tag: in the row itself (`tags`), or in that of the group or link that it belongs
to. `KIND[*].COLUMN` is over all rows. `flows.NAME` also takes names of groups, and sums over their
flows where that has a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from forebay.errors import nearest
from forebay.paths import as_key
from forebay.run.columns import Column, columns, kinds, numbers
from forebay.run.jobs import Run
from forebay.samples import samples_needed
from forebay.units import UNITS

__all__ = [
    "SHORT_FORMS",
    "AbsentError",
    "Document",
    "Lack",
    "Number",
    "Recorded",
    "Reference",
    "Rows",
    "Value",
    "field_names",
    "has_column",
    "resolved",
]

Document: TypeAlias = Mapping[str, Any]


class Lack(str):
    """Reason why there is no value, in the place of one; with `few`, because a percentile stands on
    too few samples, which is then `value`."""

    __slots__ = ("value",)
    value: float | None

    def __new__(cls, reason: str, value: float | None = None) -> Lack:
        """A reason."""
        found = super().__new__(cls, reason)
        found.value = value
        return found


Number: TypeAlias = "float | Lack"


@dataclass(frozen=True, slots=True)
class Rows:
    """Values of several rows, by the names of these."""

    names: tuple[str, ...]
    values: tuple[Number, ...]


Value: TypeAlias = "Number | Rows"


class Recorded(dict[str, Any]):
    """A run's document with the `tables` that were recorded."""

    __slots__ = ("tables",)

    def __init__(self, run: Run) -> None:
        super().__init__(run.document)
        self.tables = run.tables


class AbsentError(Exception):
    """A run has no such row: no link of that name, nothing with that tag."""


_FLOWS = ("flows", "groups", "tags")
_LESS_LEAST = {
    f"{of}{'_' if of else ''}queueing_delay_s": (
        f"{{it}}.{of or 'mean'}_delay_s - {{it}}.min_delay_s",
        _FLOWS,
        f"{told} delay less the least delay of a packet: what queues made of it",
    )
    for of, told in {
        "": "mean",
        "p50": "median",
        "p95": "95th percentile of",
        "p99": "99th percentile of",
        "p999": "99.9th percentile of",
        "max": "largest",
    }.items()
}
SHORT_FORMS: Mapping[str, tuple[str, Sequence[str], str]] = {
    "loss_ratio": (
        "{it}.dropped_packets / {it}.sent_packets",
        (*_FLOWS, "hosts"),
        "packets dropped, of those sent",
    ),
    **_LESS_LEAST,
    "power": ("{it}.throughput_bps / {it}.mean_delay_s", _FLOWS, "throughput over mean delay"),
    "share": (
        "{it}.goodput_bps / sum(groups[*].goodput_bps)",
        _FLOWS,
        "its goodput, of that of all groups",
    ),
    # Utilisation is over what a link could have sent, also where its rate changes.
    "rate_bps": (
        "{it}.throughput_bps / {it}.utilization",
        ("links",),
        "its rate; of a link that changes, the mean",
    ),
}
"""Short forms: what each stands for, the kinds of rows that have it, and its meaning. None can be
negative."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A column of a row (`name`) or of rows with a tag (`tag`, `*` for all); without a `kind`, a
    field of the run itself. `text` is what its author wrote."""

    kind: str
    name: str
    tag: str
    column: str
    text: str

    @property
    def row(self) -> str:
        """The row or rows, as a reference begins with them."""
        if self.tag:
            return f"{self.kind}[{self.tag if self.tag == '*' else _quoted(self.tag)}]"
        return f"{self.kind}.{_quoted(self.name)}"

    @property
    def declared(self) -> Column | None:
        """Its column as the engine declares it; `None` for a short form."""
        return _declared(self.kind).get(self.column)

    def value(self, document: Document) -> Value:
        """Its value, or list of values. Raises `AbsentError` if a run has not such rows."""
        if not self.kind:
            return _number(self, document, self.column)
        if not self.tag:
            return _number(self, self._named(document), self.text)
        found = self._tagged(document)
        told = (f"{self.kind}.{_quoted(str(row['name']))}.{self.column}" for row in found)
        values = [_number(self, row, name) for row, name in zip(found, told, strict=True)]
        return Rows(tuple(str(row["name"]) for row in found), tuple(values))

    def names(self, document: Document) -> list[str]:
        """The names of its rows. Raises `AbsentError` if a run has not such rows."""
        found = self._tagged(document) if self.tag else [self._named(document)]
        return [str(row["name"]) for row in found]

    def _named(self, document: Document) -> Mapping[str, Any]:
        try:
            row = Run(document).row(self.kind, self.name)
        except KeyError as error:
            raise AbsentError(str(error.args[0])) from None
        if self.column not in row:
            there = [name for name in row if name in numbers(self.kind)]
            raise AbsentError(
                f"{self.kind} {self.name!r} has no {self.column}{nearest(self.column, there)}; "
                f"there are {', '.join(there)}"
            )
        return row

    def _tagged(self, document: Document) -> list[Mapping[str, Any]]:
        rows = document[self.kind]
        if self.kind == "flows":
            self._refuse_lone_groups(document)
        if self.tag == "*":
            return list(rows)
        owned = [(row, _tags_of(document, row)) for row in rows]
        found = [row for row, tags in owned if self.tag in tags]
        if not found:
            known = sorted({tag for _, tags in owned for tag in tags})
            near = nearest(self.tag, known)
            there = f"tags there are {', '.join(known)}" if known else "there are no tags"
            raise AbsentError(f'no {self.kind} with the tag "{self.tag}"{near}; {there}')
        return found

    def _refuse_lone_groups(self, document: Document) -> None:
        """A group of very many flows has no row for each: a list without these would mislead."""
        for group in document["groups"]:
            wanted = self.tag == "*" or self.tag in group.get("tags", ())
            if wanted and "spread" in group:
                raise AbsentError(
                    f"group {group['name']!r} has {group['flows']} flows, and no row for each; "
                    f"groups[{self.tag}] is over groups"
                )


def _quoted(name: str) -> str:
    return f"'{name}'" if '"' in name else as_key(name)


_INDEX = re.compile(r"\[\d+\]$")


def _tags_of(document: Document, row: Mapping[str, Any]) -> list[str]:
    """The tags of a row, and of the group or link that it is a part of."""
    found = list(row.get("tags") or ())
    name = str(row["name"])
    for kind, owner in (("groups", row.get("group", name)), ("links", row.get("link", name))):
        owners = {each["name"]: each.get("tags") or () for each in document[kind]}
        found += owners.get(owner, owners.get(_INDEX.sub("", str(owner)), ()))
    return found


def _number(reference: Reference, row: Mapping[str, Any], told: str) -> Number:
    """The value of a column in a row; counts in a list, such as packets by precedence, are
    summed."""
    value, column = row.get(reference.column), reference.declared
    assert column is not None, told
    if isinstance(value, list) and all(isinstance(each, int) for each in value):
        value = sum(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Lack(f"{told} has no value")
    if not column.is_counted(row):
        count, needed = row[column.over], samples_needed(column.name)
        few = f"{told} stands on {count} {column.over.replace('_', ' ')}"
        return Lack(f"{few}, and needs {needed}", float(value) if count else None)
    return float(value)


def _declared(kind: str) -> Mapping[str, Column]:
    """The columns of a kind of rows; of flows, those of groups too."""
    if not kind:
        return columns("run")
    return {**columns("groups"), **columns("flows")} if kind == "flows" else columns(kind)


def field_names(kind: str) -> list[str]:
    """The numbers of a kind of rows, short forms included; without a kind, those of a run."""
    short = [name for name, (_, of, _) in SHORT_FORMS.items() if kind in of]
    return [*(name for name, column in _declared(kind).items() if column.is_number), *short]


def _meant(kind: str, column: str) -> list[str]:
    """The columns that may be meant by one given without its unit."""
    known = field_names(kind)
    ends = [column, *(f"{column}_{ending}" for ending in UNITS)]
    return [column] if column in known else [end for end in ends if end in known]


def has_column(kind: str, column: str) -> bool:
    """Returns true if a kind of rows has a column, which may be given without its unit."""
    return bool(_meant(kind, column))


def resolved(kind: str, column: str) -> str:
    """The whole name of a column that may be given without its unit. Raises `LookupError` that says
    what there is."""
    known, meant = field_names(kind), _meant(kind, column)
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise LookupError(f'"{column}" may be {" or ".join(meant)}')
    if kind:
        near = nearest(column, known)
        raise LookupError(
            f'no column of {kind} is called "{column}"{near}; there are {", ".join(known)}'
        )
    having = [f"{each}.NAME.{_meant(each, column)[0]}" for each in kinds() if _meant(each, column)]
    where = f"write {' or '.join(having)}; " if having else ""
    raise LookupError(
        f'no quantity of a run is called "{column}"{nearest(column, known)}; {where}there are '
        f"{', '.join(known)}, and KIND.NAME.COLUMN, where KIND is one of {', '.join(kinds())}"
    )
