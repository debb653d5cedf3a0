"""Numbers as people read them: three or four significant digits and a unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from forebay.samples import FEW_SAMPLES, SAMPLES
from forebay.units import UNITS, Unit

__all__ = [
    "NO_VALUE",
    "cell",
    "count",
    "counted",
    "notes",
    "plain",
    "quantity",
    "rate",
    "share",
    "size",
    "span",
    "spread",
]

NO_VALUE = "no value"
"""The note of a quantity that a run, or one of several, does not have."""


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


def counted(number: int, words: str) -> str:
    """A number of things, the plural of whose name ends in s: `1 flow`, `26 flows`."""
    return f"{number} {words}" if number == 1 else f"{number} {words}s"


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
    """A value in its unit, as people read it: `31.94 Mbit/s`, `99.87 %`; of packets and whatever
    else is counted `1 234` as a whole number and `3.250` as a mean; without a unit, as a plain
    number."""
    if unit is None:
        return plain(value)
    if unit is UNITS["ratio"]:
        return share(value)
    if unit.spoken:
        return _scaled(value, unit.spoken)
    return count(value) if isinstance(value, int) else plain(value)


def cell(value: float | None, unit: Unit) -> str:
    """A value in a column of a table: as `quantity` has it, but a mean of what is counted with two
    decimals whatever its size, so that those of a column are below each other."""
    if isinstance(value, float) and not unit.spoken and unit is not UNITS["ratio"]:
        return f"{value:,.2f}".replace(",", " ")
    return quantity(value, unit)


def spread(row: Mapping[str, Any], unit: Unit | None) -> str:
    """Distance of the ends of an interval from its mean, of a row with `mean`, `low`, `high` and
    `note`: `1.96 ms`; its ends, `0.12 ms to 0.97 ms`, if the mean is not in its middle; `equal` if
    all replications gave the same value, and `-` if there is one replication."""
    mean, low, high, found = row["mean"], row["low"], row["high"], row.get("note", "")
    if low is None or high is None:
        return "-"
    if found == "equal" or (found == FEW_SAMPLES and low == high):
        return "equal"
    if math.isclose(mean - low, high - mean, rel_tol=1e-6):
        return quantity((high - low) / 2.0, unit)
    return f"{quantity(low, unit)} to {quantity(high, unit)}"


def notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences to put below a table of intervals: one for each kind of `note` that its rows have,
    with how many have it."""
    having = {word: sum(row.get("note") == word for row in rows) for word in NOTES}
    return [
        f"{word} ({having[word]} of {len(rows)}): {sentence}"
        for word, sentence in NOTES.items()
        if having[word]
    ]


_NEEDED = ", ".join(f"{number} for {100 * float('.' + p):g} %" for p, number in SAMPLES.items())
NOTES = {
    "equal": "all replications gave the same value to the last bit. No randomness reaches it, so "
    "that there is no interval.",
    "at bound": "the interval would reach below 0, where the quantity cannot be, and ends there. "
    "Replications are few, or far apart: run more.",
    "skewed": "replications differ more on one side. The interval is widened for that.",
    FEW_SAMPLES: "a percentile stands on fewer packets or transfers than have one beyond it "
    f"({_NEEDED}), and is the largest of them: run longer.",
    NO_VALUE: "there is nothing to take a mean of, for the reason given below.",
    "too few": "replications differ much more on one side, and there are too few of them. Though "
    "widened, such intervals hold the mean less often than 95 % of the time: run more.",
}
"""Meanings of the notes of intervals (`forebay.stats.Interval.note`, `forebay.samples`)."""


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
