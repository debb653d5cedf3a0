"""The analysis of section 3.3: N flows in step, and what follows for K and g.

Everything follows from the window W* = (C RTT + K) / N at which a queue reaches K, in packets, and
is worked out here from the definitions: alpha from the counts of packets of a cycle, the least K
by a search for an empty queue.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["Cycle", "cycle", "largest_gain", "least_threshold"]


@dataclass(frozen=True, slots=True)
class Cycle:
    """A period of the sawtooth of N flows in step, in packets and round trips."""

    alpha: float
    amplitude: float
    period: float
    highest: float
    lowest: float


def cycle(path: float, threshold: float, flows: float) -> Cycle:
    """The sawtooth with `path` = C RTT.

    alpha is the share of packets that a flow sends in the last round trip of a cycle, as its window
    goes from W* to W* + 1 and all are marked, of those that it sends in the whole (equations 4 and
    5); it then leaves 1 - alpha / 2 of the window.
    """
    peak = (path + threshold) / flows + 1.0

    def share(alpha: float) -> float:
        return _sent(peak - 1.0, peak) / _sent(peak * (1.0 - alpha / 2.0), peak)

    alpha = _root(lambda alpha: share(alpha) - alpha, 1e-6, 1.0)
    fall = peak * alpha / 2.0
    highest = threshold + flows
    return Cycle(alpha, flows * fall, fall, highest, highest - flows * fall)


def least_threshold(path: float) -> float:
    """K below which the queue empties for some number of flows (equation 13).

    With alpha = sqrt(2 / W*), as equation 8 approximates it.
    """

    flows = np.linspace(0.0, path, 10_001)

    def lowest(threshold: float) -> float:
        amplitude = np.sqrt(2.0 * flows * (path + threshold)) / 2.0
        return float((threshold + flows - amplitude).min())

    return _root(lowest, 1e-6, path)


def largest_gain(path: float, threshold: float) -> float:
    """g up to which an average spans a cycle of a single flow: T_C g < ln 2 (equation 15)."""
    return math.log(2.0) / (math.sqrt(2.0 * (path + threshold)) / 2.0)


def _sent(first: float, last: float) -> float:
    """Packets that a window sends while it grows by one in each round trip."""
    return (last**2 - first**2) / 2.0


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign, by bisection."""
    rises = function(high) > 0.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2.0
        if (function(middle) > 0.0) == rises:
            high = middle
        else:
            low = middle
    return (low + high) / 2.0
