"""Extreme values of parameters: nothing, the smallest, the largest, absent, each word of a set."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["ABSENT", "changes", "shown"]

ABSENT = object()
"""A parameter that is left out."""

_MOST = 2**63 - 1
"""The largest whole number of TOML."""

_BEYOND = 2**64 - 1
"""The largest quantity that the engine reads, in picoseconds, bit/s or bytes."""

_VALUES: Mapping[str, tuple[Any, ...]] = {
    "number": (0.0, 1e-300, 0.5, 1.0, -1.0, 1e300, math.nan, math.inf),
    "whole number": (0, 1, 64, 2**31, _MOST),
    "true or false": (False, True),
    "duration": ("0 s", "1 ps", "1 ms", "100000 s", f"{_BEYOND} ps"),
    "data rate": ("0 bit/s", "1 bit/s", "1 Mbit/s", "1000 Gbit/s", f"{_BEYOND} bit/s"),
    "size": ("0 B", "1 B", "1500 B", "1 GB", f"{_BEYOND} B"),
    "queue length": ("0 packets", "1 packets", "0 B", "1 B", "1 GB", f"{2**32 - 1} packets",
                     f"{_BEYOND} B"),
    "frequency": ("0 /s", "1 /h", "1000000000 /s"),
    "text": ("", "x", "a b\n\u00e9", "x" * 4000),
}  # fmt: skip
"""Values by the beginning of what the catalogue says of a type."""

_LENGTHS = (0, 1, 2, 65)
"""Lengths of lists."""


def changes(
    fields: list[Mapping[str, Any]], example: Mapping[str, Any]
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Each parameter with each of its extreme values, and the parameters of the example with that
    change. Parameters that are mechanisms themselves are left as they are."""
    for field in fields:
        name = field["name"]
        for value in _values_of(field):
            changed = {key: given for key, given in example.items() if key != name}
            if value is not ABSENT:
                changed[name] = value
            if changed != example or value is ABSENT:
                yield name, value, changed


def _values_of(field: Mapping[str, Any]) -> Iterator[Any]:
    kind = field["kind"]
    plain = field["choices"] or next(
        (values for start, values in _VALUES.items() if kind.startswith(start)), ()
    )
    if plain and (field["optional"] or field["default"] is not None):
        yield ABSENT
    if not field["list"]:
        yield from plain
        return
    for value in plain[:1] + plain[-1:] if len(plain) > 1 else plain:
        for length in _LENGTHS:
            if length or value == plain[0]:
                yield [value] * length


def shown(name: str, value: Any) -> str:
    """A change in words: `interval = "0 s"`, `ecn left out`."""
    if value is ABSENT:
        return f"{name} left out"
    text = json.dumps(value, ensure_ascii=False)
    return f"{name} = {text if len(text) <= 40 else text[:37] + '...'}"
