"""Resolved parameters of a scenario, in the units of tc; what Linux does otherwise.

tc(8), PARAMETERS: a rate in `bit` is in bit/s, a time in `us` in microseconds, a bare size bytes.
Only these are written: `k` is 1000 in a rate and 1024 in a size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NoReturn

from forebay.errors import UserError, nearest
from forebay.paths import names_of
from forebay.run.laws import CHOSEN

__all__ = ["Remarks", "View", "number", "tc_rate", "tc_time", "whole_seconds"]

_SCALES: dict[str, int | Fraction] = {
    "": 1,
    **{f"{p}bit/s": s for p, s in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9))},
    **{f"{p}B": s for p, s in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9))},
    **{f"{p}iB": s for p, s in (("K", 2**10), ("M", 2**20), ("G", 2**30))},
    "Tbit/s": 10**12,
    "packets": 1,
    "packet": 1,
    "s": 1,
    "min": 60,
    "h": 3600,
    **{f"{p}s": Fraction(1, 10**e) for p, e in (("m", 3), ("u", 6), ("n", 9), ("p", 12))},
}


def number(text: str) -> Fraction:
    """The value of a quantity, such as "2.5 ms", in bit/s, bytes, packets or seconds."""
    value, _, unit = text.strip().partition(" ")
    return Fraction(value) * _SCALES[unit]


def tc_rate(text: str) -> str:
    """A rate as tc takes it, in whole bit/s."""
    return f"{round(number(text))}bit"


class Remarks:
    """Notes for the reader, and approximations, which are refused unless allowed by name."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self.notes: list[str] = []
        self.approximations: list[str] = []
        self._allowed = list(allowed)
        self._asked: list[str] = []

    def note(self, path: str, text: str) -> None:
        """Linux differs in something that the reader must know."""
        line = f"{path}: {text}"
        if line not in self.notes:
            self.notes.append(line)

    def approximate(self, path: str, text: str) -> None:
        """Linux has only something near it: refused unless `path` or its last name is allowed."""
        names = [path, names_of(path)[-1]]
        self._asked += names
        if not any(name in self._allowed for name in names):
            raise UserError(f"{path}: {text}; --allow {path} accepts that")
        self.approximations.append(f"{path}: {text}")

    def refuse(self, path: str, text: str) -> NoReturn:
        """Linux has no counterpart."""
        raise UserError(f"{path}: {text}")

    def unused(self) -> None:
        """Refuse names of --allow that nothing asked for."""
        for name in self._allowed:
            if name not in self._asked:
                there = ", ".join(self._asked[::2]) or "none"
                raise UserError(
                    f'--allow: no approximation "{name}"{nearest(name, self._asked)}; '
                    f"this scenario has {there}"
                )


def tc_time(text: str, path: str, remarks: Remarks) -> str:
    """A duration as tc takes it, in whole microseconds; a note where that rounds."""
    exact = number(text) * 10**6
    if exact.denominator != 1:
        remarks.note(path, f"{text} is rounded to {round(exact)} us: tc has whole microseconds")
    return f"{round(exact)}us"


def whole_seconds(text: str, path: str, remarks: Remarks) -> str:
    """A duration as tc takes it, in seconds, at least one; an approximation where that rounds."""
    exact = number(text)
    seconds = max(1, round(exact))
    if seconds != exact:
        remarks.approximate(path, f"tc has whole seconds: {seconds}")
    return str(seconds)


class View:
    """The resolved parameters below a key path."""

    def __init__(self, values: Mapping[str, str], path: str) -> None:
        self.values = values
        self.path = path

    def get(self, key: str) -> str | None:
        """The text of a parameter; None if it is left out."""
        found = self.values.get(f"{self.path}.{key}", "absent")
        return None if found == "absent" else found.strip('"')

    def text(self, key: str) -> str:
        """The text of a parameter that is there."""
        return self.get(key) or ""

    def list(self, key: str) -> list[str]:
        """The entries of a list; none if it is left out."""
        found = (self.get(key) or "").strip("[]")
        return [entry.strip().strip('"') for entry in found.split(",")] if found else []

    def is_set(self, key: str) -> bool:
        """True if a switch is on."""
        return self.get(key) == "true"

    def at(self, key: str) -> View:
        """The parameters below `key`."""
        return View(self.values, f"{self.path}.{key}")

    def chosen(self, key: str) -> str | None:
        """The mechanism that is chosen for `key`."""
        start = f"{self.path}.{key}."
        for name, value in self.values.items():
            if not name.startswith(start) or "." in name[len(start) :]:
                continue
            # A law of one's own has the hash of its source there.
            if value == "chosen" or value.startswith(CHOSEN):
                return name[len(start) :]
        return None

    def count(self, key: str) -> int:
        """Number of entries of the list of tables `key`."""
        pattern = re.compile(re.escape(f"{self.path}.{key}[") + r"(\d+)\]")
        found = [int(m[1]) for name in self.values if (m := pattern.match(name))]
        return max(found, default=-1) + 1

    def below(self, key: str) -> bool:
        """True if anything is given below `key`."""
        start = f"{self.path}.{key}"
        return any(
            name.startswith((start + ".", start + "[")) and value != "absent"
            for name, value in self.values.items()
        )
