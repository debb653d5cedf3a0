"""Queues with known answers: means and losses, from the literature, in units of a service time.

Where a queue has an exact stationary distribution but no short formula, it is computed from the
balance equations. Nothing here knows Forebay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

__all__ = [
    "birth_death",
    "cobham",
    "engset",
    "erlang_b",
    "exceptional_first",
    "md1k",
    "ndd1_wait",
    "pollaczek_khinchine",
]


def pollaczek_khinchine(classes: Sequence[tuple[float, float, float]]) -> float:
    """Mean wait in M/G/1, first in first out: sum lambda E[S^2] / (2 (1 - rho)) (Kleinrock,
    Queueing Systems I, section 5.6). A class is its arrival rate, E[S] and E[S^2]."""
    load = sum(rate * mean for rate, mean, _ in classes)
    return sum(rate * square for rate, _, square in classes) / (2.0 * (1.0 - load))


def cobham(classes: Sequence[tuple[float, float, float]]) -> list[float]:
    """Mean wait of each class under non-preemptive priority, the first one first: W0 / ((1 -
    s_(k-1)) (1 - s_k)) (Cobham 1954; Kleinrock, Queueing Systems II, section 3.6). Classes as in
    `pollaczek_khinchine`; s_k is the load of the first k."""
    residual = sum(rate * square for rate, _, square in classes) / 2.0
    waits, before = [], 0.0
    for rate, mean, _ in classes:
        after = before + rate * mean
        waits.append(residual / ((1.0 - before) * (1.0 - after)))
        before = after
    return waits


def exceptional_first(rate: float, mean: float, square: float) -> float:
    """Returns the growth of the mean wait in M/G/1 if the first service of each busy period begins
    after a time of its own, of mean E[R] and second moment E[R^2]: (2 E[R] + lambda E[R^2]) / (2 (1
    + lambda E[R])) (Welch, Operations Research 12 (1964) 736-752)."""
    return (2.0 * mean + rate * square) / (2.0 * (1.0 + rate * mean))


def birth_death(load: float, admitted: Callable[[int], float], top: int) -> list[float]:
    """Probabilities of 0 to `top` in a single exponential server with Poisson arrivals, of which
    the share `admitted(n)` enters when n are there: p_(n+1) = p_n load admitted(n) (Kleinrock I,
    section 3.1)."""
    weights = [1.0]
    for n in range(top):
        weights.append(weights[-1] * load * admitted(n))
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def md1k(load: float, capacity: int) -> list[float]:
    """Probabilities of 0 to `capacity` in M/D/1/K, the one in service included.

    The chain at departures has states 0 to K-1: from n it goes to max(n - 1, 0) plus a Poisson
    number of arrivals of mean `load`, at most K-1. With its distribution pi, the probabilities at
    any time are pi_n / (pi_0 + load) below K, and 1 - 1/(pi_0 + load) at K (Cooper, Introduction to
    Queueing Theory, section 5.9; Gross and Harris, section 5.1.8).
    """
    arrivals = [math.exp(-load) * load**j / math.factorial(j) for j in range(capacity)]
    chain = np.zeros((capacity, capacity))
    for n in range(capacity):
        base = max(n - 1, 0)
        for j in range(capacity - 1 - base):
            chain[n, base + j] = arrivals[j]
        chain[n, capacity - 1] = 1.0 - chain[n, : capacity - 1].sum()
    equations = np.vstack([chain.T - np.eye(capacity), np.ones(capacity)])
    right = np.append(np.zeros(capacity), 1.0)
    pi = np.linalg.lstsq(equations, right, rcond=None)[0]
    scale = pi[0] + load
    return [*(pi / scale).tolist(), float(1.0 - 1.0 / scale)]


def ndd1_wait(sources: int, period: int) -> float:
    """Mean wait of a packet in N*D/D/1: N sources of one packet a period of D services, N <= D, at
    independent uniform phases.

    A packet meets the work of the other N - 1 sources at a uniform time. With n = N - 1, that is
    above x with probability sum over x < k <= n of C(n, k) ((k - x)/D)^k (1 - (k - x)/D)^(n - k)
    (D - n + x)/(D - k + x) (Roberts and Virtamo, IEEE Trans. Communications 39 (1991) 298-303);
    the mean is the integral, here by Gauss and Legendre between whole numbers, where it is smooth.
    """
    others = sources - 1
    nodes, weights = np.polynomial.legendre.leggauss(24)
    total = 0.0
    for whole in range(others):
        for x, weight in zip(whole + (nodes + 1.0) / 2.0, weights / 2.0, strict=True):
            tail = math.fsum(
                math.comb(others, k)
                * ((k - x) / period) ** k
                * (1.0 - (k - x) / period) ** (others - k)
                * (period - others + x)
                / (period - k + x)
                for k in range(whole + 1, others + 1)
            )
            total += weight * tail
    return total


def erlang_b(offered: float, lines: int) -> float:
    """Erlang's loss formula by its recursion (Erlang 1917; ITU-T E.501)."""
    blocked = 1.0
    for k in range(1, lines + 1):
        blocked = offered * blocked / (k + offered * blocked)
    return blocked


def engset(sources: int, idle_rate: float, lines: int) -> float:
    """Call congestion with finite sources, of which each calls at `idle_rate` a holding time while
    idle: the time congestion of the other `sources` - 1 (Engset 1918; ITU-T E.501, section 2)."""
    weights = [math.comb(sources - 1, k) * idle_rate**k for k in range(lines + 1)]
    return weights[-1] / math.fsum(weights)
