"""The units of quantities, in one place: multiples, names' endings, axes.

The engine says in which unit each column of its results is. The name of any other quantity, such as
one that a study measures or a series that a mechanism gives, ends in its unit: `settling_s`,
`tcp_sum_bps`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["UNITS", "Unit", "multiple_of_ending", "of_name", "size_of", "symbolised"]


class Unit:
    """A unit and its multiples.

    `symbol` is what the engine calls it and `what` what is measured in it. `multiples` are symbols
    with their sizes, in units of the first; `spoken` those in which numbers are shown to people,
    the largest first, if not as they are. `axis` is the multiple at the axis of a drawing.
    """

    __slots__ = ("axis", "multiples", "spoken", "symbol", "what")

    def __init__(
        self,
        symbol: str,
        what: str,
        multiples: Mapping[str, float],
        axis: str = "",
        spoken: Sequence[str] = (),
    ) -> None:
        self.symbol = symbol
        self.what = what
        self.multiples = multiples
        self.axis = axis or symbol
        self.spoken = tuple((multiples[name], name) for name in spoken)

    @property
    def scale(self) -> float:
        """Factor to multiply values by at an axis."""
        return 1.0 / self.multiples.get(self.axis, 1.0)


UNITS: Mapping[str, Unit] = {
    "bps": Unit(
        "bit/s", "rates",
        {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12},
        "Mbit/s", ("Tbit/s", "Gbit/s", "Mbit/s", "kbit/s", "bit/s"),
    ),
    "pps": Unit("packets/s", "rates of packets", {"packets/s": 1.0, "cells/s": 1.0}),
    "s": Unit(
        "s", "times", {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}, "ms", ("s", "ms", "us", "ns")
    ),
    "bytes": Unit(
        "B", "amounts of data", {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9},
        "kB", ("GB", "MB", "kB", "B"),
    ),
    "packets": Unit("packets", "packets", {"packets": 1.0, "kilopackets": 1e3}),
    "cells": Unit("cells", "cells", {"cells": 1.0, "kcells": 1e3}),
    "frames": Unit("frames", "frames", {"frames": 1.0}),
    "calls": Unit("calls", "calls", {"calls": 1.0}),
    "ratio": Unit("share", "shares", {"1": 1.0, "%": 1e-2}, "%"),
    "count": Unit("number", "numbers", {"1": 1.0}),
}  # fmt: skip
"""Units by the last word of a quantity's name. Values themselves are in the first of the
multiples."""

_BY_SYMBOL = {unit.symbol: unit for unit in UNITS.values()}


def symbolised(symbol: str) -> Unit:
    """The unit that the engine calls so; `KeyError` if there is none."""
    return _BY_SYMBOL[symbol]


def of_name(name: str) -> Unit | None:
    """The unit that ends a name: `throughput_bps`; `None` if none does."""
    return UNITS.get(name.rsplit("_", 1)[-1])


def multiple_of_ending(ending: str) -> str | None:
    """Unit that the last word of a parameter's name stands for: `kbps` for kbit/s, `bytes` for B;
    `None` for another word."""
    if ending in UNITS:
        return UNITS[ending].symbol
    for unit in UNITS.values():
        for multiple in unit.multiples:
            if multiple.replace("bit/s", "bps").lower() == ending:
                return multiple
    return None


def size_of(words: str) -> float | None:
    """The size of a value as scenarios have it, `10 Mbit/s` or `3`, in the unit's first multiple;
    `None` of what is no number."""
    number, _, symbol = words.strip().partition(" ")
    try:
        value = float(number)
    except ValueError:
        return None
    sizes = (unit.multiples.get(symbol) for unit in UNITS.values())
    size = 1.0 if not symbol else next((size for size in sizes if size is not None), None)
    return None if size is None else value * size
