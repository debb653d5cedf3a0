"""Which of a number of samples a percentile is, and how many it needs."""

from __future__ import annotations

import math
import re

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = ["FEW_SAMPLES", "percentile_note", "rank", "samples_needed"]

FEW_SAMPLES = "few samples"
"""The note of a percentile that stands on fewer samples than it needs."""

_PERCENTILE = re.compile(r"p(5|05|25|50|75|95|99|999)_")
_COUNTS = ("delivered_packets", "completed")
"""Columns that count what the percentiles of a row are of: packets, or transfers."""


def rank(share: float, count: int) -> int:
    """The rank, from 1, of the quantile of `share` of `count` samples in ascending order: the first
    that at least that share of all does not exceed, as the engine has it."""
    return min(max(math.ceil(share * count), 1), max(count, 1))


def samples_needed(quantity: str) -> int:
    """How many samples a percentile needs: with fewer than 1/(1 - p) it is the largest of them.

    1 of what is no percentile above the median.
    """
    found = _PERCENTILE.match(quantity)
    if found is None or found[1] not in ("95", "99", "999"):
        return 1
    return {"95": 20, "99": 100, "999": 1000}[found[1]]


def percentile_note(quantity: str, rows: Iterable[Mapping[str, Any]], note: str) -> str:
    """The note of the interval of a quantity of `rows`, one for each replication: `few samples` if
    it is a percentile and one of them has too few, else `note`."""
    needed = samples_needed(quantity)
    if needed == 1:
        return note
    for row in rows:
        count = next((row[name] for name in _COUNTS if isinstance(row.get(name), int)), None)
        if count is not None and count < needed:
            return FEW_SAMPLES
    return note
