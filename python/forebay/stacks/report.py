"""A table of stacks as Markdown, short enough for a comment on a pull request.

There is a table for each quantity that tells most, a row for each network and a column for each
stack; then what differs beyond chance, from the stack that the table names and from a baseline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forebay import text
from forebay.run.paper_formats import STYLES, IntervalColumn, interval_cells, words_table
from forebay.units import symbolised

__all__ = ["QuantityTable", "markdown", "quantity_tables", "sure"]

Row = Mapping[str, Any]

STYLE = "markdown"


@dataclass(frozen=True, slots=True)
class QuantityTable:
    """The table of a quantity: a name for each row, and a column for each stack."""

    title: str
    names: Sequence[str]
    columns: Sequence[IntervalColumn]

    @property
    def cells(self) -> list[list[str]]:
        """Rows of words: the name, and a mean with its interval for each stack."""
        filled = [interval_cells(column)[1] for column in self.columns]
        return [list(row) for row in zip(self.names, *filled, strict=True)]

    @property
    def heads(self) -> list[str]:
        """The heads of `cells`."""
        return ["network", *(interval_cells(column)[0] for column in self.columns)]


def quantity_tables(document: Mapping[str, Any]) -> list[QuantityTable]:
    """The tables of the quantities that tell most."""
    found: dict[str, dict[tuple[str, str], dict[str, Row]]] = {}
    for row in document["rows"]:
        if row["headline"]:
            place = row["cell"], row["class"]
            found.setdefault(row["words"], {}).setdefault(place, {})[row["column"]] = row
    labels = [column["label"] for column in document["columns"]]
    return [_table(words, places, labels) for words, places in found.items()]


def _table(
    words: str, places: Mapping[tuple[str, str], Mapping[str, Row]], labels: Sequence[str]
) -> QuantityTable:
    several = {cell for cell, part in places if part and sum(c == cell for c, _ in places) > 1}
    names = [f"{cell}, {part}" if cell in several else cell for cell, part in places]
    unit = symbolised(next(row["unit"] for of in places.values() for row in of.values()))
    columns = [
        IntervalColumn(label, unit, [of.get(label) for of in places.values()]) for label in labels
    ]
    return QuantityTable(words, names, columns)


def sure(changes: Sequence[Row]) -> list[Row]:
    """The changes that are there beyond chance."""
    return [each for each in changes if each["is"] and not each["is"].startswith("perhaps")]


def markdown(document: Mapping[str, Any]) -> str:
    """The tables of a document, below a line on what made them."""
    escaped = STYLES[STYLE].escaped
    stacks = "; ".join(f"{each['label']}: {each['told']}" for each in document["columns"])
    said = (
        f"Means of {document['replications']} replications with 95 % intervals, "
        f"Forebay {document['version']}. {stacks}."
    )
    parts = [f"### {escaped(document['suite'])}", "", escaped(said), ""]
    for table in quantity_tables(document):
        parts.append(words_table([("network", table.names)], table.columns, STYLE, table.title))
    parts += _differences(document)
    parts += _failed(document)
    return "\n".join(parts)


def _differences(document: Mapping[str, Any]) -> Iterator[str]:
    """What differs from another stack, and from the baseline."""
    if (against := document.get("against")) is not None:
        compared = against["differences"]
        title = f"Beyond chance, beside {against['stack']}, by replication"
        yield from _changes(title, compared, len(compared), ("beside", "it"))
    if (earlier := document.get("baseline")) is not None:
        title = "Beyond chance, since the baseline"
        yield from _changes(title, earlier["changes"], earlier["compared"], ("before", "now"))


def _changes(
    title: str, changes: Sequence[Row], compared: int, heads: tuple[str, str]
) -> Iterator[str]:
    found = sure(changes)
    told = f"{title}: {len(found)} of {compared} quantities"
    if not found:
        yield f"{STYLES[STYLE].escaped(told)}.\n"
        return
    columns: dict[str, list[str]] = {
        "network": [each["cell"] for each in found],
        "stack": [each["column"] for each in found],
        "quantity": [_words(each) for each in found],
        heads[0]: [_amount(each, "before") for each in found],
        heads[1]: [_amount(each, "now") for each in found],
        "it is": [each["is"] for each in found],
    }
    yield words_table([*columns.items()], [], STYLE, told)


def _words(row: Row) -> str:
    part = row["quantity"].partition(".")[2]
    return str(row["words"]) if part in ("", "ping") else f"{row['words']}, {part}"


def _amount(row: Row, name: str) -> str:
    return text.quantity(row[name], symbolised(row["unit"]))


def _failed(document: Mapping[str, Any]) -> Iterator[str]:
    if failed := document["failed"]:
        columns: dict[str, list[str]] = {
            "network": [row["cell"] for row in failed],
            "stack": [row["column"] for row in failed],
            "replication": [str(row["replication"]) for row in failed],
            "why": [row["reason"] for row in failed],
        }
        yield words_table([*columns.items()], [], STYLE, "Runs without a result")
