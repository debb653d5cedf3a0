"""Functions for the methods of laws, interpreted and compiled alike.

Logarithms, powers and random numbers are those of the engine, so that a law gives the same digits
everywhere, and draws exactly what a mechanism of the engine would. Those of `math` and `random` do
not. Random numbers need the flag `draws`; they come from a stream that the law alone has, which
`at` knows.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from forebay.laws.host import HOST

__all__ = [
    "RefusalError",
    "below",
    "cbrt",
    "drop",
    "exp",
    "exp_m1",
    "exponential",
    "happens",
    "ln",
    "ln_1p",
    "normal",
    "power",
    "refuse",
    "seconds",
    "span",
    "sqrt",
    "uniform",
]

NO_STREAM = "it draws random numbers; add draws=True to forebay.law"
TOO_LARGE = "a span is from 0 s to 106 days"
MAX_SPAN = 2.0**63


class RefusalError(Exception):
    """A parameter is wrong: its name, or `None`, and why."""

    def __init__(self, parameter: str | None, message: str) -> None:
        super().__init__(parameter, message)
        self.parameter = parameter
        self.message = message

    def __str__(self) -> str:
        return f"{self.parameter} {self.message}" if self.parameter else self.message


def refuse(parameter: str | None, message: str) -> NoReturn:
    """Refuse the value of a parameter, in `create`: `refuse("interval", "is zero; allowed is any
    time above 0 s")`. The scenario is then wrong at that key."""
    raise RefusalError(parameter, message)


def ln(x: float) -> float:
    """Natural logarithm."""
    return float(HOST.ln(x))


def ln_1p(x: float) -> float:
    """Natural logarithm of 1 + x, exact for small x."""
    return float(HOST.ln_1p(x))


def exp(x: float) -> float:
    """The exponential of x."""
    return float(HOST.exp(x))


def exp_m1(x: float) -> float:
    """The exponential of x, less 1, exact for small x."""
    return float(HOST.exp_m1(x))


def power(x: float, y: float) -> float:
    """The power x to the y."""
    return float(HOST.pow(x, y))


def cbrt(x: float) -> float:
    """Cube root."""
    return float(HOST.cbrt(x))


def sqrt(x: float) -> float:
    """Square root; `ValueError` for a negative number."""
    return math.sqrt(x)


def uniform(at: Any) -> float:
    """Random number, uniform on 0 to 1, 1 excluded."""
    return float(HOST.uniform(_stream(at)))


def happens(at: Any, p: float) -> bool:
    """True with probability p, for which one number is drawn."""
    return bool(HOST.uniform(_stream(at)) < p)


def exponential(at: Any) -> float:
    """Random number, exponential with mean 1."""
    return float(HOST.exponential(_stream(at)))


def normal(at: Any) -> float:
    """Random number, normal with mean 0 and variance 1."""
    return float(HOST.normal(_stream(at)))


def below(at: Any, n: int) -> int:
    """Random whole number, uniform from 0 to n - 1; 0 for n = 0."""
    return int(HOST.below(_stream(at), n))


def drop(at: Any, handle: int, verdict: int) -> None:
    """Drop the packet with a handle, in a discipline: `verdict` says why, as `DROP_OVERFLOW`."""
    if not getattr(_QUIET, "on", False):
        HOST.drop(ctypes.addressof(at), handle, verdict)


_QUIET = threading.local()


@contextmanager
def without_drops() -> Iterator[None]:
    """What is called within drops nothing, in this thread."""
    _QUIET.on = True
    try:
        yield
    finally:
        _QUIET.on = False


def seconds(ps: int) -> float:
    """A time or span in seconds."""
    return ps / 1e12


def span(s: float) -> int:
    """A span of s seconds: the nearest whole picosecond. `ValueError` where it is negative, NaN or
    too large."""
    ps = s * 1e12 + 0.5
    if not 0.0 <= ps < MAX_SPAN:
        raise ValueError(TOO_LARGE)
    return int(ps)


def _stream(at: Any) -> int:
    if not at.random:
        raise RuntimeError(NO_STREAM)
    return int(at.random)
