"""Numbers as people read them: three or four significant digits and a unit."""

from __future__ import annotations

import math

__all__ = ["count", "plain", "quantity", "rate", "share", "size", "span"]

_SPANS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_RATES = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def rate(bits_per_second: float | None) -> str:
    """A data rate: `31.94 Mbit/s`."""
    return _scaled(bits_per_second, _RATES)


def span(seconds: float | None) -> str:
    """A duration: `12.50 ms`."""
    return _scaled(seconds, _SPANS)


def size(byte_count: float | None) -> str:
    """An amount of data, decimal: `45.00 kB`."""
    return _scaled(byte_count, _SIZES)


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


def quantity(name: str, value: float | None) -> str:
    """A value shown in the unit that ends its name: `throughput_bps`, `mean_delay_s`."""
    show = {
        "bps": rate,
        "s": span,
        "bytes": size,
        "packets": plain,
        "ratio": share,
        "utilization": share,
    }
    return show.get(name.rsplit("_", 1)[-1], plain)(value)


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
