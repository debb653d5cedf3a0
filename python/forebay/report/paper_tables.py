"""The paper's own tables: which claim stands in which row and column."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.study.grades import Point

if TYPE_CHECKING:
    from forebay.study.claims import NumericClaim, Paper

__all__ = ["Column", "PaperTable", "Row", "paper_tables"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its id within the table, its heading, the quantity it holds and the parameters
    that all its cells share."""

    id: str
    label: str
    quantity: str
    point: Point


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its label, the parameters that all its cells share, and the claims in the order of the
    columns; `None` where the paper prints nothing."""

    label: str
    point: Point
    cells: tuple[NumericClaim | None, ...]
    note: str


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as the paper prints it. `unit` is empty for plain numbers, and where the columns have
    units of their own."""

    id: str
    place: str
    unit: str
    point: Point
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str

    def cell(self, row: Row, column: Column) -> NumericClaim | None:
        """The claim at a crossing."""
        return row.cells[self.columns.index(column)]


def paper_tables(paper: Paper, text: str) -> list[PaperTable]:
    """The tables of a paper, from its claims and the text of the `paper.toml` they came from."""
    claims = {claim.id: claim for claim in paper.claims}
    return [_table(raw, claims) for raw in tomllib.loads(text).get("table", [])]


def _table(raw: dict, claims: dict[str, NumericClaim]) -> PaperTable:  # type: ignore[type-arg]
    columns = tuple(
        Column(
            id=column["id"],
            label=column["label"],
            quantity=column.get("quantity", raw.get("quantity", "")),
            point=column.get("point", {}),
        )
        for column in raw["columns"]
    )
    rows = []
    for entry in raw["rows"]:
        names = {**entry["point"]} if "point" in entry else {}
        words = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in names.items()
        }
        row_id = entry.get("id") or raw["row_id"].format(**words)
        rows.append(
            Row(
                label=entry.get("label") or raw["row_label"].format(**words),
                point=names,
                cells=tuple(claims.get(f"{raw['id']}/{row_id}/{c.id}") for c in columns),
                note=entry.get("note", ""),
            )
        )
    return PaperTable(
        id=raw["id"],
        place=raw["place"],
        unit=raw.get("unit", "").removeprefix("1"),
        point=raw.get("point", {}),
        columns=columns,
        rows=tuple(rows),
        note=raw.get("note", ""),
    )
