"""Definitions of the parts of the catalogue: the lines of Rust that mechanisms and their parameters
stand on, for findings about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forebay.scenario.catalogue import Field, Page
from tidy.source import Source

__all__ = ["Definitions", "Place"]

Place = tuple[str, int]
"""A file and a line in it."""

MACRO = "parameters! {"
DOC = re.compile(r"\s*///\s?(.*)")
FIELD = re.compile(r"\s*(?:r#)?(\w+): ")
ENTRY = re.compile(r'\s*(name: )?"(\w+)",$')
"""The name of a mechanism in its entry, or alone on a line, as in a call that makes the entry."""
MECHANISMS = ("crates/laws/src/", "crates/elements/src/")


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A line of `parameters!`."""

    name: str
    meaning: str
    place: Place


class Definitions:
    """The definitions in Rust sources."""

    def __init__(self, sources: Sequence[Source]) -> None:
        files = [source for source in sources if _may_define(source.path)]
        self._parameters = [found for source in files for found in _parameters(source)]
        named, called = dict[tuple[str, str], Place](), dict[tuple[str, str], Place]()
        for source in files:
            for number, line in enumerate(source.lines, start=1):
                match = ENTRY.match(line)
                if match is not None and source.path.startswith(MECHANISMS):
                    kind = named if match[1] else called
                    kind.setdefault((_folder(source.path), match[2]), (source.path, number))
        self._entries = called | named

    def of_page(self, page: Page) -> Place:
        """Returns the place of the definition of a mechanism, or of the first parameter of a
        section; the catalogue itself for what is in no file."""
        entry = self._entries.get((page.kind, page.name))
        if entry is None and page.fields:
            return self.of_field(page, page.fields[0])
        return entry or ("catalogue", 0)

    def of_field(self, page: Page, field: Field) -> Place:
        """Returns the place of the definition of a parameter: in the file of its mechanism if it is
        there, else at its name and meaning, and for lack of that at its mechanism."""
        named = [each for each in self._parameters if each.name == field.name]
        meant = [each for each in named if each.meaning == _words(field.meaning)]
        entry = self._entries.get((page.kind, page.name))
        beside = [each for each in named if entry is not None and each.place[0] == entry[0]]
        both = [each for each in meant if each in beside]
        found = next(iter([*both, *meant, *beside]), None)
        return found.place if found is not None else entry or ("catalogue", 0)


def _may_define(path: str) -> bool:
    return path.endswith(".rs") and path.startswith("crates/") and "/src/" in path


def _folder(path: str) -> str:
    """The category that a file of mechanisms belongs to."""
    return path.split("/")[3]


def _words(text: str) -> str:
    return " ".join(text.split())


def _parameters(source: Source) -> Iterator[_Parameter]:
    """The parameters that a file defines, each with the comment above it."""
    depth, comment = 0, list[str]()
    for number, line in enumerate(source.lines, start=1):
        if depth == 0 and not line.startswith(MACRO):
            continue
        doc = DOC.match(line)
        if doc is not None:
            comment.append(doc[1])
            continue
        depth += line.count("{") - line.count("}")
        field = FIELD.match(line)
        if field is not None:
            yield _Parameter(field[1], _words(" ".join(comment)), (source.path, number))
        comment.clear()
