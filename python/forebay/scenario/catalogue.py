"""The catalogue of mechanisms, as the engine defines it.

Every mechanism and every section of a scenario file with its parameters: name, meaning, kind of
value, default, source. Terminal pages, reference pages, Python classes and the type stub come from
here, and what is here comes from the mechanisms' own definitions in the engine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from forebay.native import native

__all__ = ["Catalogue", "Category", "Field", "Page", "Probe", "catalogue"]


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter. `list` says that it takes a list of values of its kind; `mechanism` names the
    category if its values are mechanisms. `default` is `None` where there is none; then `optional`
    says whether the parameter may be left out."""

    name: str
    meaning: str
    kind: str
    list: bool
    mechanism: str | None
    choices: tuple[str, ...]
    choice_meanings: tuple[str, ...]
    default: Any
    optional: bool
    source: str

    @property
    def required(self) -> bool:
        """True if a scenario must state it."""
        return self.default is None and not self.optional

    @property
    def takes(self) -> str:
        """Text of what to write: a word of a closed set, or a kind of value, or a list of these."""
        one = ", ".join(self.choices) or self.kind
        return f"list, each a {one}" if self.list else one

    @property
    def default_text(self) -> str:
        """The default as a scenario would write it; `-` for none."""
        if self.default is None:
            return "-"
        if isinstance(self.default, bool):
            return "true" if self.default else "false"
        if isinstance(self.default, list):
            return json.dumps(self.default)
        return str(self.default)


@dataclass(frozen=True, slots=True)
class Probe:
    """An inner quantity that recorded series show: the name of its column, before a point if there
    are several alike; its unit, 1 for a plain number."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Page:
    """A mechanism or a section: what it is and what it takes. `kind` is the name of its category,
    or `section`; `mechanisms` are the keys of a section that name mechanisms or other sections.
    `example` has parameters with which a mechanism works, as lines of TOML. Of a law of one's own,
    `origin` has what `forebay.laws.Law` says of it."""

    name: str
    kind: str
    summary: str
    source: str
    fields: tuple[Field, ...]
    mechanisms: tuple[str, ...] = ()
    example: str = ""
    probes: tuple[Probe, ...] = ()
    origin: Mapping[str, Any] | None = None

    @property
    def called(self) -> tuple[str, ...]:
        """Every name that it is found by."""
        full = (self.name, f"{self.kind}.{self.name}")
        if self.kind != "section":
            return full
        words = [word for word in self.name.removesuffix("[]").split(".") if word != "NAME"]
        return (*full, ".".join(words), words[-1], words[-1].removesuffix("s"))

    def as_dict(self) -> dict[str, Any]:
        """For JSON; `origin` is there in laws of one's own alone."""
        return _told(self)


@dataclass(frozen=True, slots=True)
class Category:
    """Mechanisms that can take each other's place, what is asked of them, and the section of a
    scenario in which one is chosen under the name of the category."""

    name: str
    contract: str
    place: str
    pages: tuple[Page, ...]


_FLOWS = "flows.NAME."


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All categories, the fixed sections of a scenario file, and the names of transports, which are
    keys of a group of flows and sections of their own (`flows.NAME.tcp`)."""

    categories: tuple[Category, ...]
    sections: tuple[Page, ...]
    transports: tuple[str, ...] = ()

    def of_flows(self) -> dict[str, Page]:
        """The sections that a group of flows can have, by name: those of transports, policing."""
        found = {page.name.removeprefix(_FLOWS): page for page in self.sections}
        return {
            name: page
            for name, page in found.items()
            if page.name.startswith(_FLOWS) and "." not in name
        }

    def pages(self) -> list[Page]:
        """Every mechanism, then every section."""
        mechanisms = [page for category in self.categories for page in category.pages]
        return mechanisms + list(self.sections)

    def named(self, name: str) -> list[Page]:
        """The pages of that name: `red`, `queue.red`, or a section by its path or last word, in
        the plural or not: `links.NAME`, `links`, `link`."""
        return [page for page in self.pages() if name in page.called]

    def names(self) -> list[str]:
        """The names that lists show, each once."""
        return list(dict.fromkeys(page.name for page in self.pages()))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return _told(self)


def _told(part: Catalogue | Page) -> dict[str, Any]:
    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in pairs if (name, value) != ("origin", None)}

    return asdict(part, dict_factory=made)


def catalogue() -> Catalogue:
    """The catalogue of the engine that is installed, with the laws of one's own that are loaded."""
    return _catalogue(native().laws())


@lru_cache(maxsize=1)
def _catalogue(laws: str) -> Catalogue:
    """The catalogue with these laws of one's own."""
    return parse(json.loads(native().catalogue()), json.loads(laws))


def parse(document: Mapping[str, Any], laws: Sequence[Mapping[str, Any]] = ()) -> Catalogue:
    """A catalogue from the engine's JSON; `laws` are those of one's own that are in it."""
    origins = {(law["category"], law["name"]): law for law in laws}
    categories = tuple(
        Category(
            name=category["name"],
            contract=category["contract"],
            place=category["place"],
            pages=tuple(
                _page(entry, category["name"], origins.get((category["name"], entry["name"])))
                for entry in category["entries"]
            ),
        )
        for category in document["categories"]
    )
    sections = tuple(_page(entry, "section") for entry in document["sections"])
    return Catalogue(categories, sections, tuple(document["transports"]))


def _page(entry: Mapping[str, Any], kind: str, origin: Mapping[str, Any] | None = None) -> Page:
    return Page(
        name=entry["name"],
        kind=kind,
        summary=entry.get("summary", ""),
        source=entry.get("source", ""),
        fields=tuple(
            Field(
                **{
                    **field,
                    "choices": tuple(field["choices"]),
                    "choice_meanings": tuple(field["choice_meanings"]),
                }
            )
            for field in entry["fields"]
        ),
        mechanisms=tuple(entry.get("mechanisms", ())),
        example=entry.get("example", ""),
        probes=tuple(Probe(**probe) for probe in entry.get("probes", ())),
        origin=origin,
    )
