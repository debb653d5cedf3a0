"""Samples that percentiles stand on: which of them one is, and how many it needs."""

from __future__ import annotations

import math
import re

__all__ = ["FEW_SAMPLES", "SAMPLES", "rank", "samples_needed"]

FEW_SAMPLES = "few samples"
"""The note of a percentile that stands on fewer samples than it needs."""

SAMPLES = {"95": 20, "99": 100, "999": 1000}
"""How many samples the percentiles need: with fewer than 1/(1 - p) that of p is the largest."""

_PERCENTILE = re.compile(r"(?:^|_)p(95|99|999)_")


def rank(share: float, count: int) -> int:
    """The rank, from 1, of the quantile of `share` of `count` samples in ascending order: the first
    that at least that share of all does not exceed, as the engine has it."""
    return min(max(math.ceil(share * count), 1), max(count, 1))


def samples_needed(quantity: str) -> int:
    """Number of samples that a quantity needs to have a value: 1 if it is none of those
    percentiles."""
    found = _PERCENTILE.search(quantity)
    return SAMPLES[found[1]] if found else 1
