"""What the engine says of the columns of a run: names, units and meanings."""

from __future__ import annotations

import json
from functools import cache

from forebay.paths import parted
from forebay.run.jobs import native
from forebay.units import Unit, of_name, symbolised

__all__ = ["Column", "columns", "kinds", "numbers", "unit_in", "unit_of"]


class Column:
    """A column of a part of a run's document.

    `unit` is what the engine calls its unit (`"word"` and `"rows"` are no numbers) and `meaning` a
    sentence. `headline` says whether it is among the few that a summary shows.
    """

    __slots__ = ("headline", "meaning", "name", "unit")

    def __init__(self, name: str, unit: str, meaning: str, headline: bool) -> None:
        self.name = name
        self.unit = unit
        self.meaning = meaning
        self.headline = headline

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, or lists of them."""
        return self.unit not in ("word", "rows")


@cache
def _parts() -> dict[str, dict[str, Column]]:
    described = json.loads(native().result_columns())
    return {
        part: {column["name"]: Column(**column) for column in columns}
        for part, columns in described.items()
    }


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


def unit_of(quantity: str) -> Unit | None:
    """The unit of a quantity of a sweep: `links.core.utilization`, `events`."""
    place, _, column = parted(quantity)
    return unit_in(place, column) if column else unit_in("run", quantity)
