"""Completion of `--set PATH=VALUE`: key paths of a scenario, name by name as in a file system.

What can stand behind a path is what the scenario has there, and what the catalogue says that a
section or a mechanism takes: `links.core.` is followed by `rate=` and `queue=`, and `queue=` by the
names of queues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay.paths import as_key, names_of
from forebay.run.jobs import expanded, load
from forebay.scenario.catalogue import Field, Page, catalogue
from forebay.toml import parse

__all__ = ["set_words"]

NAMES = ("NAME", "NODE")
"""Placeholders for names of the scenario's own in the paths of sections."""

_WHOLE_NAMES = re.compile(r"""(?:(?:"[^"]*"|'[^']*'|[^."']*)\.)*""")


def set_words(scenario: str, begun: str) -> list[str]:
    """The words that can stand behind `--set` for a scenario, or a sweep of one, with what is
    `begun`. Raises `UserError` if the file cannot be read."""
    tables = _tables(Path(scenario))
    path, equals, _ = begun.partition("=")
    if equals:
        return [f"{path}={value}" for value in _values(tables, names_of(path))]
    # The last name may be begun alone, and a quote in it have no end yet.
    found = _WHOLE_NAMES.match(path)
    before = found[0] if found else ""
    place = _Place.at(tables, names_of(before)[:-1])
    return [before + word for word in dict.fromkeys(_words(place))]


def _tables(path: Path) -> Mapping[str, Any]:
    job = load(path)
    named = parse(job.text, job.name).get("scenario")
    if isinstance(named, str):
        job = load(path.parent / named)
    return expanded(job.text, job.name)


class _Place:
    """A place in a scenario: what is there, and which section or mechanism it belongs to."""

    def __init__(self, value: Any, template: str, page: Page | None, category: str = "") -> None:
        self.value = value if isinstance(value, dict) else {}
        self.template = template
        self.page = page
        self.category = category

    @classmethod
    def at(cls, tables: Mapping[str, Any], path: Sequence[str]) -> _Place:
        """The place of a key path."""
        place = cls(tables, "", _section("scenario"))
        for name in path:
            place = place.below(name)
        return place

    def below(self, name: str) -> _Place:
        """The place behind a name."""
        value = self.value.get(name)
        if self.category:
            return _Place(value, "-", _mechanism(self.category, name))
        if name in _categories() and name in _mechanisms_of(self.page):
            return _Place(value, "-", None, name)
        following = list(_following(self.template))
        template = name if name in following else next((n for n in NAMES if n in following), "-")
        path = f"{self.template}.{template}".lstrip(".")
        return _Place(value, path, _section(path))


def _words(place: _Place) -> Iterator[str]:
    """Words that can follow: names of keys with `=`, of tables with `.`."""
    if place.category:
        yield from (f"{page.name}." for page in _categories()[place.category] if page.fields)
        return
    for field in place.page.fields if place.page else ():
        yield f"{field.name}="
    for name in _mechanisms_of(place.page):
        tables = _section(f"{place.template}.{name}[]") is None
        if tables:
            yield f"{name}."
        if not tables or name in _categories():
            yield f"{name}="
    for name in _following(place.template):
        if name not in NAMES:
            yield f"{name}."
    for name, value in place.value.items():
        yield f"{as_key(name)}." if isinstance(value, dict) else f"{as_key(name)}="


def _values(tables: Mapping[str, Any], path: Sequence[str]) -> Sequence[str]:
    """The values that a key takes, where they are few."""
    place, name = _Place.at(tables, path[:-1]), path[-1]
    fields: Mapping[str, Field] = {f.name: f for f in place.page.fields} if place.page else {}
    field = fields.get(name)
    category = field.mechanism if field is not None else None
    if name in _mechanisms_of(place.page):
        category = name
    if category in _categories():
        return [page.name for page in _categories()[str(category)]]
    if field is None or field.list:
        return []
    return ["true", "false"] if field.kind == "true or false" else field.choices


def _categories() -> Mapping[str, Sequence[Page]]:
    return {category.name: category.pages for category in catalogue().categories}


def _mechanism(category: str, name: str) -> Page | None:
    return next((page for page in _categories()[category] if page.name == name), None)


def _mechanisms_of(page: Page | None) -> Sequence[str]:
    return page.mechanisms if page is not None else ()


def _section(path: str) -> Page | None:
    return next((page for page in catalogue().sections if page.name == path), None)


def _following(template: str) -> Iterator[str]:
    """The names that follow `template` in paths of sections; lists of tables have no path."""
    before = f"{template}." if template else ""
    for page in catalogue().sections:
        if page.name.startswith(before) and page.name != "scenario":
            name = page.name.removeprefix(before).partition(".")[0]
            if not name.endswith("[]"):
                yield name
