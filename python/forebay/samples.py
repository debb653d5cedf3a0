"""How many samples a percentile stands on, and how many it needs."""

from __future__ import annotations

import re

__all__ = ["FEW_SAMPLES", "SAMPLES", "samples_needed"]

FEW_SAMPLES = "few samples"
"""The note of a percentile that stands on fewer samples than it needs."""

SAMPLES = {"95": 20, "99": 100, "999": 1000}
"""How many samples the percentiles need: with fewer than 1/(1 - p) that of p is the largest."""

_PERCENTILE = re.compile(r"(?:^|_)p(95|99|999)_")


def samples_needed(quantity: str) -> int:
    """How many samples a quantity needs to have a value: 1 if it is none of those percentiles."""
    found = _PERCENTILE.search(quantity)
    return SAMPLES[found[1]] if found else 1
