"""The laws under test: what a command names, and how each is put into the places of a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forebay.errors import UserError, nearest, read_text
from forebay.run.expressions import read
from forebay.scenario.catalogue import Page, catalogue
from forebay.suite.definition import Place
from forebay.suite.template import filled
from forebay.toml import inline, parse

__all__ = ["ECN", "Law", "law_of", "scaled"]

ECN = "ecn"
"""The parameter that makes a law mark."""


@dataclass(frozen=True, slots=True)
class Law:
    """A law as a column of a suite: `label`, the mechanism, and the parameters that were given, by
    a `file` if there is one."""

    label: str
    page: Page
    given: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None

    @property
    def fields(self) -> set[str]:
        """The names of its parameters."""
        return {each.name for each in self.page.fields}

    def lacks(self, places: Sequence[Place]) -> str:
        """The parameter that a place scales and the law does not have; empty if there is none."""
        wanted = (name for place in places for name in place.scale)
        return next((name for name in wanted if self._value(name) is None), "")

    def at(self, place: Place, fill: Mapping[str, Any]) -> dict[str, Any]:
        """The value that a place of a scenario has: what was given, beside it what the suite gives
        to every law that takes it, there or anywhere, and what the place scales."""
        given = {**fill, **place.fill}
        found = {name: value for name, value in given.items() if name in self.fields}
        found |= self.given
        for name, factor in place.scale.items():
            value = found.get(name, self._value(name))
            found[name] = scaled(value, factor, f"{self.label}: {name}")
        return {self.page.name: found}

    def assignment(self, place: Place, fill: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The key path of a place and its value."""
        return place.at, self.at(place, fill)

    def complaint(self, told: str, places: Sequence[Place]) -> str | None:
        """A complaint about a scenario as one about the law's parameters, if it is about these: of
        its file, or of the law where that has not set it."""
        for place in places:
            _, found, rest = told.partition(f"{place.at}.{self.page.name}.")
            if found:
                key, _, why = rest.partition(" (from --set")[0].partition(": ")
                if key in self.given:
                    return f"{self.file}: {key}: {why}"
                return f"{self.label}: {key}: {why}; {self.page.name}:FILE.toml sets parameters"
        return None

    @property
    def written(self) -> str:
        """The law with the parameters that were given, on one line."""
        return inline({self.page.name: dict(self.given)}) if self.given else self.page.name

    def _value(self, name: str) -> Any:
        default = (each.default for each in self.page.fields if each.name == name)
        return self.given.get(name, next(default, None))


def scaled(value: Any, factor: float, place: str) -> Any:
    """A value of a parameter times a factor: a text with its unit, or a number, which stays whole,
    and at least 1, if it is."""
    if isinstance(value, str):
        known = {"value": read(value, place)}
        return filled(f"{{{factor} * value}}", known, place)
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def law_of(word: str, category: str, option: str) -> Law:
    """The law that a word of the command names: `NAME`, or `NAME:FILE.toml` with its parameters.

    Raises `UserError` for a name that there is not, a file that cannot be read, or a parameter
    that the law does not have; what a parameter's value must be is checked with the scenario.
    """
    name, colon, file = word.partition(":")
    known = {each.name: each for each in catalogue().categories}[category]
    pages = {page.name: page for page in known.pages}
    if name not in pages:
        told = ", ".join(pages)
        raise UserError(f'{option}: no {category} "{name}"{nearest(name, pages)}; there are {told}')
    if not colon:
        return Law(name, pages[name])
    path = Path(file)
    given = parse(read_text(path, f"parameters of {name}"), path)
    fields = [each.name for each in pages[name].fields]
    for key in given:
        if key not in fields:
            raise UserError(
                f"{path}: {key}: {name} has no such parameter{nearest(key, fields)}; it has "
                f"{', '.join(fields)}"
            )
    return Law(f"{name}:{path.stem}", pages[name], given, path)
