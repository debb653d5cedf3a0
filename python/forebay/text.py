"""Numbers as people read them: three or four significant digits and a unit."""

from __future__ import annotations

import math

from forebay.units import UNITS, Unit

__all__ = ["count", "plain", "quantity", "rate", "share", "size", "span"]


def rate(bits_per_second: float | None) -> str:
    """A data rate: `31.94 Mbit/s`."""
    return _scaled(bits_per_second, UNITS["bps"].spoken)


def span(seconds: float | None) -> str:
    """A duration: `12.50 ms`."""
    return _scaled(seconds, UNITS["s"].spoken)


def size(byte_count: float | None) -> str:
    """An amount of data, decimal: `45.00 kB`."""
    return _scaled(byte_count, UNITS["bytes"].spoken)


def count(number: float | None) -> str:
    """A whole number with groups of digits set apart: `1 234 567`."""
    return "-" if number is None else f"{round(number):,}".replace(",", " ")


def share(ratio: float | None) -> str:
    """A ratio as a percentage: `99.87 %`."""
    return "-" if ratio is None or not math.isfinite(ratio) else f"{100 * ratio:.2f} %"


def plain(number: float | None) -> str:
    """A number without unit, four significant digits."""
    if number is None or not math.isfinite(number):
        return "-"
    if number == 0 or 1e-3 <= abs(number) < 1e6:
        digits = max(0, 3 - (math.floor(math.log10(abs(number))) if number else 0))
        return f"{number:.{digits}f}"
    return f"{number:.3e}"


def quantity(value: float | None, unit: Unit | None) -> str:
    """A value in its unit, as people read it: `31.94 Mbit/s`; without a unit, as a plain number."""
    if unit is None:
        return plain(value)
    if unit is UNITS["ratio"]:
        return share(value)
    return _scaled(value, unit.spoken) if unit.spoken else plain(value)


def _scaled(value: float | None, units: tuple[tuple[float, str], ...]) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return f"0 {units[-1][1]}" if units[0][0] > 1 else f"0 {units[0][1]}"
    factor, unit = next(
        ((factor, unit) for factor, unit in units if abs(value) >= 0.99995 * factor), units[-1]
    )
    scaled = value / factor
    digits = 2 if abs(scaled) < 100 else 1
    return f"{scaled:.{digits}f} {unit}"
