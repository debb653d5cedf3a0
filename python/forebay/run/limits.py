"""Limits of a run: packets, memory, time; and the number of runs that there may be.

A run that exceeds a limit has failed. None of them changes a result, and none of them is part of
one.
"""

# ruff: noqa: PLC0415 (not every system has resource)

from __future__ import annotations

import math
import os

from forebay.errors import UserError

__all__ = ["MAX_RUNS", "LimitError", "available_memory", "memory_size", "seconds", "wall_time"]

_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}

_TIMES = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

_MAX_BYTES = 2**63 - 1

MAX_RUNS = 10_000_000
"""More runs than anybody can wait for: a slip of the pen."""


class LimitError(UserError):
    """A run took, or would take, more than it may. `reason` says what, without naming the run."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def memory_size(word: str) -> int:
    """The bytes that a size such as `"4 GB"` is; an error says what is allowed."""
    number = word.strip().rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = word.strip()[len(number) :]
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    size = value * _UNITS.get(unit, 0)
    if not 1 <= size <= _MAX_BYTES:
        raise UserError(
            f'"{word}"; allowed is a size of at least 1 B such as "4 GB", with a unit of '
            + ", ".join(_UNITS)
        )
    return int(size)


def seconds(word: str | float) -> float:
    """A time limit in seconds; an error says what is allowed."""
    try:
        value = float(word)
    except (TypeError, ValueError):
        value = math.nan
    if not 0 < value < math.inf:
        raise UserError(f'"{word}"; allowed is a number of seconds above 0')
    return value


def wall_time(word: str) -> float:
    """A time on the clock in seconds: a number of them, or with a unit, such as `"500 ms"`; an
    error says what is allowed."""
    number = word.strip().rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = word.strip()[len(number) :] or "s"
    try:
        value = float(number) * _TIMES.get(unit, math.nan)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise UserError(
            f'"{word}"; allowed is a time above 0 such as "10 s", in {", ".join(_TIMES)}, or a '
            "number of seconds"
        )
    return value


def available_memory() -> int | None:
    """The bytes that this process could still take; none where the system does not say."""
    found = [_of_meminfo(), _of_cgroup(), _of_address_space()]
    return min((size for size in found if size is not None), default=None)


def _of_meminfo() -> int | None:
    """Memory that Linux could give without swapping: proc(5)."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _of_cgroup() -> int | None:
    """Memory that is left in a container: Linux, control groups, version 2."""
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            most = int(file.read())
        with open("/sys/fs/cgroup/memory.current", encoding="ascii") as file:
            return max(0, most - int(file.read()))
    except (OSError, ValueError):
        return None


def _of_address_space() -> int | None:
    """Memory that `ulimit -v` leaves."""
    try:
        import resource
    except ImportError:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return None
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        used = 0
    return max(0, most - used)
