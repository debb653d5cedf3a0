"""Units of what is computed of quantities: what may be added, and what products and quotients are.

A dimension is a product of powers of bits, seconds, and things that are counted: packets, cells,
frames, calls. Amounts of data are bits inside, of which a byte has eight. What has none of these is
a share, a number or a bare number, such as 2, which goes with each of them and with counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from forebay.errors import nearest
from forebay.units import UNITS, Unit

__all__ = ["BARE", "LITERALS", "NUMBER", "SHARE", "TRUTH", "Dimension", "of_symbol", "unknown_unit"]

COUNTED = ("packets", "cells", "frames", "calls")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Dimension:
    """Powers of base units; `kind` is what a value without any is: `share`, `number`, `truth`, or
    empty for a bare number."""

    powers: tuple[tuple[str, Fraction], ...] = ()
    kind: str = ""

    def times(self, other: Dimension, sign: int = 1) -> Dimension:
        """The dimension of a product; of a quotient with the `sign` -1."""
        powers = dict(self.powers)
        for base, power in other.powers:
            powers[base] = powers.get(base, Fraction(0)) + sign * power
        left = tuple(sorted((base, power) for base, power in powers.items() if power))
        return Dimension(left, "" if left else self._kind_with(other, sign))

    def _kind_with(self, other: Dimension, sign: int) -> str:
        """What a product or quotient is that has no powers left."""
        kinds = (self.kind, other.kind)
        if self.powers:
            # Two values of one unit; a rate times a time for a bit is no share.
            return "share" if sign < 0 else "number"
        if kinds == ("share", "share"):
            return "share"
        if not other.kind:
            return self.kind
        return other.kind if sign > 0 and not self.kind else "number"

    def to_the(self, power: Fraction) -> Dimension:
        """The dimension of a power."""
        if not self.powers:
            return self
        if not power:
            return BARE
        return Dimension(tuple((base, each * power) for base, each in self.powers))

    def sum_with(self, other: Dimension) -> Dimension | None:
        """The dimension of a sum or of the greater of two values; `None` if they cannot be
        added."""
        if "truth" in (self.kind, other.kind):
            return None
        if self.powers == other.powers:
            kinds = {self.kind, other.kind}
            return Dimension(self.powers, next((k for k in ("share", "number") if k in kinds), ""))
        for one, two in ((self, other), (other, self)):
            if one._is_count and not two.powers and two.kind != "share":
                return one
        return None

    @property
    def _is_count(self) -> bool:
        return len(self.powers) == 1 and self.powers[0][0] in COUNTED and self.powers[0][1] == 1

    @property
    def unit(self) -> Unit:
        """The unit in which tables show it."""
        if not self.powers:
            return UNITS["ratio" if self.kind in ("share", "truth") else "count"]
        known = _UNITS.get(self.powers)
        return known if known is not None else _composite(_symbol(self.powers))

    @property
    def size(self) -> float:
        """Size of `unit` in base units: 8 of a byte."""
        return 8.0 if self.powers == _BITS else 1.0

    def __str__(self) -> str:
        """Its name in messages."""
        if self.powers == _BITS:
            return "B"
        bare = {"share": "share", "truth": "truth value"}
        return _symbol(self.powers) if self.powers else bare.get(self.kind, "number")


_COMPOSITES: dict[str, Unit] = {}


def _composite(symbol: str) -> Unit:
    """The unit of a symbol of our own: the same object each time."""
    return _COMPOSITES.setdefault(symbol, Unit(symbol, symbol, {symbol: 1.0}))


def _symbol(powers: Iterable[tuple[str, Fraction]]) -> str:
    every = list(powers)
    above = [_power(base, power) for base, power in every if power > 0]
    below = [_power(_one(base), -power) for base, power in every if power < 0]
    return "/".join(["·".join(above) or "1", *below])


def _one(base: str) -> str:
    """The unit behind "per": a packet."""
    return base.removesuffix("s") if base in COUNTED else base


def _power(base: str, power: Fraction) -> str:
    if power == 1:
        return base
    return base + str(power).translate(RAISED) if power.denominator == 1 else f"{base}^({power})"


def _of(**powers: int) -> Dimension:
    return Dimension(tuple(sorted((base, Fraction(power)) for base, power in powers.items())))


BARE = Dimension()
SHARE = Dimension(kind="share")
NUMBER = Dimension(kind="number")
TRUTH = Dimension(kind="truth")

_BITS = _of(bit=1).powers
_UNITS = {
    _of(bit=1, s=-1).powers: UNITS["bps"],
    _of(packets=1, s=-1).powers: UNITS["pps"],
    _of(s=1).powers: UNITS["s"],
    _BITS: UNITS["bytes"],
    **{_of(**{name: 1}).powers: UNITS[name] for name in COUNTED},
}


def of_symbol(symbol: str) -> Dimension:
    """The dimension of a unit that the engine calls so; `KeyError` if there is none."""
    if symbol in ("share", "number"):
        return Dimension(kind=symbol)
    return next(Dimension(p) for p, unit in _UNITS.items() if unit.symbol == symbol)


def _literals() -> dict[str, tuple[Dimension, float]]:
    """Units behind numbers, with their sizes in base units: those of scenario files and results."""
    found: dict[str, tuple[Dimension, float]] = {}
    for powers, unit in _UNITS.items():
        of = Dimension(powers)
        found |= {name: (of, size * of.size) for name, size in unit.multiples.items()}
    rate, time, bits = _of(bit=1, s=-1), _of(s=1), _of(bit=1)
    prefixes = {"": 1e0, "k": 1e3, "M": 1e6, "G": 1e9}
    found |= {f"{prefix}bps": (rate, size) for prefix, size in prefixes.items()}
    found |= {f"{prefix}bit": (bits, size) for prefix, size in prefixes.items()}
    found |= {"TB": (bits, 8e12)}
    binary = {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
    found |= {name: (bits, 8.0 * size) for name, size in binary.items()}
    found |= {"ps": (time, 1e-12), "µs": (time, 1e-6), "min": (time, 60.0), "h": (time, 3600.0)}
    often = {"/s": 1.0, "/min": 1.0 / 60.0, "/h": 1.0 / 3600.0}
    found |= {name: (_of(s=-1), size) for name, size in often.items()}
    found |= {name.removesuffix("s"): (_of(**{name: 1}), 1.0) for name in COUNTED}
    found["cells/s"] = (_of(cells=1, s=-1), 1.0)
    return found | {"%": (SHARE, 0.01)}


LITERALS = _literals()
"""Units that numbers in expressions may have, with dimension and size in base units."""


def unknown_unit(name: str) -> str:
    """Complaint about a unit that there is not."""
    return f'no unit "{name}"{nearest(name, LITERALS)}; units are {", ".join(LITERALS)}'
