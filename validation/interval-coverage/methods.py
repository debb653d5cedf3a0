"""Intervals of a mean from few values: what was compared before Forebay's was chosen.

Each takes an array of groups, one a row, and a level, and returns the lower and the upper ends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from forebay.stats import replication_interval

__all__ = ["METHODS", "skewness"]

Array = NDArray[np.float64]
Method = Callable[[Array, float], tuple[Array, Array]]

RESAMPLES = 999


def student(groups: Array, level: float) -> tuple[Array, Array]:
    """Student's t interval."""
    mean, error, t = _parts(groups, level)
    return mean - t * error, mean + t * error


def johnson(groups: Array, level: float) -> tuple[Array, Array]:
    """Student's interval moved by m3 / (6 s^2 n) (Johnson, "Modified t tests and confidence
    intervals for asymmetrical populations", JASA 73 (1978) 536-544)."""
    mean, error, t = _parts(groups, level)
    n = groups.shape[1]
    moved = mean + skewness(groups) * error / (6.0 * np.sqrt(n))
    return moved - t * error, moved + t * error


def willink(groups: Array, level: float) -> tuple[Array, Array]:
    """Willink's (2005), whose transformation is that of Hall (1992): see `forebay.stats`."""
    mean, error, t = _parts(groups, level)
    b = skewness(groups) / (6.0 * np.sqrt(groups.shape[1]))
    b = np.where(np.abs(b) < 1e-9, 1e-9, b)

    def quantile(x: float) -> Array:
        return (np.cbrt(1.0 + 6.0 * b * (x - b)) - 1.0) / (2.0 * b)

    return mean - quantile(t) * error, mean - quantile(-t) * error


def bootstrap_t(groups: Array, level: float) -> tuple[Array, Array]:
    """The bootstrap-t interval (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 12) of 999 resamples. One of equal values counts as beyond all others on its side."""
    stream = np.random.default_rng(1)
    n = groups.shape[1]
    tails = [(1.0 + level) / 2.0, (1.0 - level) / 2.0]
    quantiles = np.empty((len(groups), 2))
    for index, group in enumerate(np.sort(groups, axis=1)):
        drawn = group[stream.integers(0, n, (RESAMPLES, n))]
        away = drawn.mean(axis=1) - group.mean()
        errors = drawn.std(axis=1, ddof=1) / np.sqrt(n)
        beyond = np.where(away == 0.0, 0.0, np.copysign(np.inf, away))
        t = np.divide(away, errors, out=beyond, where=errors > 0.0)
        quantiles[index] = np.quantile(t, tails, method="higher")
    mean, error, _ = _parts(groups, level)
    return mean - quantiles[:, 0] * error, mean - quantiles[:, 1] * error


def forebay(groups: Array, level: float) -> tuple[Array, Array]:
    """Returns the intervals that Forebay prints: `forebay.stats.replication_interval` itself."""
    found = [replication_interval(group, level) for group in groups.tolist()]
    return np.array([i.low for i in found]), np.array([i.high for i in found])


def skewness(groups: Array) -> Array:
    """The adjusted sample skewness G1 of each group."""
    n = groups.shape[1]
    away = groups - groups.mean(axis=1, keepdims=True)
    deviation = groups.std(axis=1, ddof=1)
    return n / ((n - 1) * (n - 2)) * (away**3).sum(axis=1) / deviation**3


METHODS: dict[str, Method] = {
    "Student": student,
    "Johnson": johnson,
    "Willink": willink,
    "bootstrap-t": bootstrap_t,
    "Forebay": forebay,
}


def _parts(groups: Array, level: float) -> tuple[Array, Array, float]:
    """Means, their standard errors, and Student's quantile."""
    n = groups.shape[1]
    t = float(stdtrit(n - 1, (1.0 + level) / 2.0))
    return groups.mean(axis=1), groups.std(axis=1, ddof=1) / np.sqrt(n), t
