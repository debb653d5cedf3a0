"""Which of a number of samples a percentile is, and how many it needs."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from forebay.text import FEW_SAMPLES, SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from forebay.run.columns import Column

__all__ = ["percentile_note", "rank", "samples_needed"]

_PERCENTILE = re.compile(r"(?:^|_)p(95|99|999)_")


def rank(share: float, count: int) -> int:
    """The rank, from 1, of the quantile of `share` of `count` samples in ascending order: the first
    that at least that share of all does not exceed, as the engine has it."""
    return min(max(math.ceil(share * count), 1), max(count, 1))


def samples_needed(quantity: str) -> int:
    """How many samples a quantity needs to have a value: 1 if it is none of those percentiles."""
    found = _PERCENTILE.search(quantity)
    return SAMPLES[found[1]] if found else 1


def percentile_note(column: Column | None, rows: Iterable[Mapping[str, Any]], note: str) -> str:
    """The note of the interval of a column of `rows`, one for each replication: `few samples` if
    it is a percentile and one of them has too few, else `note`. No column has `note`."""
    if column is None or samples_needed(column.name) == 1:
        return note
    return note if all(column.is_counted(row) for row in rows) else FEW_SAMPLES
