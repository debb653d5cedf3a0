"""Axes of a sweep: variants with names, keys whose values change together, and a grid.

    [variants]                                  # each a table of keys; one may change nothing
    "tail drop" = {}
    red = { "links.core.queue" = "red" }

    [[zip]]                                     # the first values of all, then the second ...
    "links.core.rate" = ["10 Mbit/s", "100 Mbit/s"]
    "flows.bulk.count" = [5, 50]

    [grid]                                      # every value with every other
    "links.core.delay" = ["5 ms", "50 ms"]

Every variant is run with every row of each `zip` and every combination of the grid.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forebay.errors import UserError
from forebay.paths import SECTIONS, as_key
from forebay.toml import inline

__all__ = ["VARIANT", "Axis", "Combination", "Value", "combinations", "read_axes", "varied"]

Value = bool | int | float | str | list[Any] | dict[str, Any]

VARIANT = "variant"
"""The column that names the variant."""


@dataclass(frozen=True, slots=True)
class Combination:
    """One point of a sweep: its value in each column, and the keys of the scenario that it sets."""

    values: Mapping[str, Value] = field(default_factory=dict)
    keys: Mapping[str, Value] = field(default_factory=dict)

    @property
    def assignments(self) -> tuple[str, ...]:
        """The keys as `--set` takes them."""
        return tuple(f"{path}={inline(value)}" for path, value in self.keys.items())


Axis = Sequence[Combination]
"""Alternatives, of which every point of a sweep has one."""


def read_axes(
    place: str,
    variants: Mapping[str, Mapping[str, Any]],
    zipped: Sequence[Mapping[str, Any]],
    grid: Mapping[str, Any],
) -> tuple[Axis, ...]:
    """The axes of a sweep file, the last of which changes fastest; `place` is what errors call it.

    Raises `UserError` for values that are no lists, lists that go together and are not of one
    length, and a key that two axes set.
    """
    axes: list[Axis] = []
    if variants:
        axes.append([_variant(place, name, keys) for name, keys in variants.items()])
    for number, rows in enumerate(zipped):
        axes.append(_zipped(f"{place}: zip[{number}]", rows))
    axes += [
        [Combination({path: value}, {path: value}) for value in values]
        for path, values in _lists(f"{place}: grid", grid).items()
    ]
    seen: set[str] = set()
    for axis in axes:
        paths = {path for choice in axis for path in choice.keys}
        for path in sorted(paths & seen):
            raise UserError(f'{place}: "{path}" is set by two axes; one of them has to do it')
        seen |= paths
    return tuple(axes)


def combinations(axes: Sequence[Axis]) -> Iterator[Combination]:
    """Every choice of one alternative of each axis; one that changes nothing without axes."""
    for choice in itertools.product(*axes):
        yield Combination(
            {name: value for part in choice for name, value in part.values.items()},
            {path: value for part in choice for path, value in part.keys.items()},
        )


def varied(axes: Sequence[Axis]) -> dict[str, list[Value]]:
    """Values of the columns, by name."""
    return {
        name: [choice.values[name] for choice in axis] for axis in axes for name in axis[0].values
    }


def _variant(place: str, name: str, keys: Mapping[str, Any]) -> Combination:
    for key, value in keys.items():
        if isinstance(value, dict) and "." not in key:
            path = f"{key}.{next(iter(value), 'key')}"
            raise UserError(
                f'{place}: variants."{name}".{key}: read a table; a key path is in quotes here, '
                f'such as "{path}" = ...'
            )
    return Combination({VARIANT: name}, dict(keys))


def _zipped(place: str, rows: Mapping[str, Any]) -> Axis:
    lists = _lists(place, rows)
    if not lists:
        raise UserError(f"{place}: has no keys; give lists of values that change together")
    lengths = {path: len(values) for path, values in lists.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f'"{path}" {length}' for path, length in lengths.items())
        raise UserError(f"{place}: lists that change together have one length; read {told}")
    rows_of = zip(*lists.values(), strict=True)
    settings = [dict(zip(lists, values, strict=True)) for values in rows_of]
    return [Combination(setting, setting) for setting in settings]


def _lists(place: str, table: Mapping[str, Any]) -> dict[str, list[Value]]:
    lists = _flattened(table)
    for name, values in lists.items():
        if not isinstance(values, list) or not values:
            raise UserError(f'{place}."{name}": read {values!r}; it takes a list of values')
    return lists


def _flattened(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """`links.a.rate = [...]` without quotes is a table in a table: one path all the same.

    What stands in a section of names, as `links`, is one name; any other key may be a path.
    """
    found: dict[str, Any] = {}
    for name, value in table.items():
        below = as_key(name) if above in SECTIONS else name
        path = f"{above}.{below}" if above else name
        if isinstance(value, dict):
            found |= _flattened(value, path)
        else:
            found[path] = value
    return found
