"""The pages of mechanisms and sections: a page a category, a heading a mechanism."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from forebay.run.jobs import Job, check
from forebay.scenario.catalogue import Catalogue, Category, Field, Page
from manual.everything import everything
from manual.writing import call, parameters, setting

__all__ = ["address", "mechanisms"]

EXAMPLES = Path(__file__).parents[2] / "examples"

SECTIONS = "sections"
SCHEDULERS = "queue-schedulers"


def mechanisms(known: Catalogue) -> dict[str, str]:
    """The Markdown of the index and of every category, by file name without its suffix."""
    check(Job(everything(), "the examples of the catalogue"))
    users = _users(known)
    places = {category.name: category.place for category in known.categories}
    found = {"mechanisms": _index(known)}
    for category in known.categories:
        for name, title, pages in _parts(category):
            lines = [f"# {title}", "", category.contract]
            for page in pages:
                lines += ["", *_mechanism(page, places[page.kind], users.get(page.name, []))]
            found[name] = "\n".join(lines) + "\n"
    lines = ["# Sections of a scenario file", "", "What a scenario file may hold, by its headers."]
    for page in known.sections:
        lines += ["", *_section(page)]
    return found | {SECTIONS: "\n".join(lines) + "\n"}


def address(page: Page) -> str:
    """Returns the place at which a mechanism or a section is described: `queue#red`,
    `sections#flows-tcp`."""
    if page.kind == "section":
        return f"{SECTIONS}#{_anchor(page)}"
    return f"{SCHEDULERS if _schedules(page) else page.kind}#{_anchor(page)}"


def _anchor(page: Page) -> str:
    name = page.name.removesuffix("[]").replace(".NAME", "").replace(".", "-")
    return name.replace("_", "-").lower()


def _schedules(page: Page) -> bool:
    """Returns True if a queue divides its packets among classes or queues of flows."""
    names = {field.name for field in page.fields}
    return page.kind == "queue" and bool(names & {"classes", "queues"})


def _parts(category: Category) -> Iterator[tuple[str, str, Sequence[Page]]]:
    """The pages of a category: name, title and mechanisms."""
    title = category.name.replace("_", " ").capitalize()
    rest = [page for page in category.pages if not _schedules(page)]
    yield category.name, title, rest
    if len(rest) < len(category.pages):
        schedulers = [page for page in category.pages if _schedules(page)]
        yield SCHEDULERS, f"{title}: schedulers", schedulers


def _index(known: Catalogue) -> str:
    lines = ["# Mechanisms", "", "Every mechanism, by what it takes the place of in a scenario."]
    lines += ["`forebay mechanisms NAME` prints the same on a terminal.", ""]
    for category in known.categories:
        for name, title, pages in _parts(category):
            lines += [f"## [{title}]({name}.md)", "", category.contract, ""]
            lines += [f"- {_link(page)}: {page.summary}" for page in pages] + [""]
    lines += [f"## [Sections of a scenario file]({SECTIONS}.md)", ""]
    lines += [f"- {_link(page)}: {page.summary}" for page in known.sections]
    return "\n".join(lines) + "\n"


def _link(page: Page) -> str:
    return f"[{page.name}]({address(page).replace('#', '.md#')})"


def _section(page: Page) -> Iterator[str]:
    yield from [f"## {page.name} {{#{_anchor(page)}}}", "", page.summary, ""]
    yield from [f"Section `{_header(page)}` of a scenario file.", ""]
    yield from _table(page)


def _mechanism(page: Page, place: str, users: Sequence[str]) -> Iterator[str]:
    """A mechanism: parameters, an example in both languages, all defaults, who uses it."""
    given = parameters(page)
    yield from [f"## {page.name} {{#{_anchor(page)}}}", "", page.summary, ""]
    yield from [f"Source: {page.source}.", ""]
    yield from _table(page)
    yield from _tab("Scenario file", "toml", setting(page, given))
    yield from _tab("Python", "python", call(page, given))
    if page.fields:
        yield from _tab("All defaults", "toml", _defaults(page, place))
    if users:
        links = ", ".join(f"[{name}](../../examples/{name})" for name in users)
        yield from [f"In the examples: {links}.", ""]


def _tab(title: str, language: str, lines: Sequence[str]) -> Iterator[str]:
    yield from [f'=== "{title}"', ""]
    yield from (f"    {line}" for line in [f"```{language}", *lines, "```"])
    yield ""


def _table(page: Page) -> Iterator[str]:
    if page.fields:
        yield from ["| parameter, default | meaning |", "|---|---|"]
        yield from [*map(_row, page.fields), ""]
    else:
        yield from ["It has no parameters.", ""]
    if page.mechanisms:
        yield from [f"It also takes: {', '.join(f'`{key}`' for key in page.mechanisms)}.", ""]


def _header(page: Page) -> str:
    """Returns the line above the section in a file: two brackets if it is one of a list."""
    name = page.name.removesuffix("[]")
    return f"[{name}]" if name == page.name else f"[[{name}]]"


def _row(field: Field) -> str:
    default = "required" if field.required else f"`{field.default_text}`"
    meaning = f"{field.meaning} ({field.takes})"
    for word, about in zip(field.choices, field.choice_meanings, strict=True):
        meaning += f"<br>`{word}`: {about}"
    if field.source != "-":
        meaning += f"<br><small>{field.source}</small>"
    words = [f"`{field.name}`<br>{default}", meaning]
    return "| " + " | ".join(word.replace("|", "\\|") for word in words) + " |"


def _defaults(page: Page, place: str) -> list[str]:
    """Returns the lines to write, with every parameter that has a default at its default."""
    lines = [f"[{place.replace('NAME', 'a')}.{page.kind}.{page.name}]"]
    for field in page.fields:
        if field.required:
            about = textwrap.shorten(field.takes, 60)
            lines.append(f"# {field.name} = ...  # required: {about}")
        elif field.default is not None:
            value = f'"{field.default}"' if isinstance(field.default, str) else field.default_text
            lines.append(f"{field.name} = {value}")
    return lines


def _users(known: Catalogue) -> dict[str, list[str]]:
    """Maps mechanisms to the files in `examples/` that name them."""
    keys = {"conditioners", "linked", *(category.name for category in known.categories)}
    keys |= {field.name for page in known.pages() for field in page.fields if field.mechanism}
    found: dict[str, list[str]] = {}
    for path in sorted(EXAMPLES.glob("*.toml")):
        for name in sorted(set(_named(tomllib.loads(path.read_text(encoding="utf-8")), keys))):
            found.setdefault(name, []).append(path.name)
    return found


def _named(table: Mapping[str, Any], keys: Set[str]) -> Iterator[str]:
    """The mechanisms that stand under one of `keys`."""
    for key, value in table.items():
        for item in value if isinstance(value, list) else [value]:
            if key in keys and isinstance(item, str):
                yield item
            elif isinstance(item, dict):
                yield from item if key in keys else ()
                yield from _named(item, keys)
