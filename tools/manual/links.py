"""Targets of pages' links in the site.

A page links to files of the repository. In the site, a page leads to its place there, any other
file to a copy under `files/`, a folder to its README or to a list of its files. What is described
under a heading of the reference in docs/README.md leads to the page of that name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from forebay.scenario.catalogue import catalogue
from manual.mechanisms import address
from manual.sources import ROOT, Page

__all__ = ["Links"]

FENCE = re.compile(r"^( *)(```+)([^\n]*)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"(\]\(|(?:src|href)=\")([^)\s\"]+)")
COMMAND = re.compile(r"(?<!\[)`forebay mechanisms ([a-z0-9_.]+)`")
PICTURES = {".svg", ".webp", ".png"}
CONTENTS = "docs/README.md"


@dataclass
class Links:
    """Places of the site by path in the repository, and the files that pages ask for: what is to be
    copied, by place, and lists of folders."""

    places: Mapping[str, str]
    copies: dict[str, Path] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)

    def mend(self, page: Page) -> str:
        """The Markdown of a page as the site has it; raises `SystemExit` where a link leads
        nowhere."""
        return _outside_fences(page.text, lambda text: self._mend(page, text))

    def _mend(self, page: Page, text: str) -> str:
        def moved(found: re.Match[str]) -> str:
            return f"{found[1]}{self._moved(page, found[2])}"

        def described(found: re.Match[str]) -> str:
            place = f"reference/{found[1]}.md"
            if f"docs/{place}" not in self.places:
                (described, *_) = catalogue().named(found[1])
                place = f"reference/{address(described).replace('#', '.md#')}"
            return f"[{found[0]}]({_relative(page.target, place)})"

        # What is inside is Markdown for a forge, and for the site where it says so.
        text = text.replace("<details>", "<details markdown>")
        return COMMAND.sub(described, TARGET.sub(moved, text))

    def _moved(self, page: Page, target: str) -> str:
        if re.match(r"[a-z]+:|#", target) or target in page.pictures:
            return target
        name, hash_, anchor = target.partition("#")
        path = os.path.normpath(Path(page.source).parent / name)
        if path == CONTENTS and f"docs/reference/{anchor}.md" in self.places:
            path, hash_, anchor = f"docs/reference/{anchor}.md", "", ""
        place = self._place(path)
        if place is None:
            raise SystemExit(f"{page.source}: {target}: there is no such file")
        return f"{_relative(page.target, place)}{hash_}{anchor}"

    def _place(self, path: str) -> str | None:
        """Returns the place of a file or folder of the repository in the site."""
        there = ROOT / path
        for name in (path, f"{path}/README.md", f"{path}/index.md"):
            if name in self.places:
                return self.places[name]
        if there.is_dir():
            return self._list(path)
        if not there.is_file():
            return None
        # Browsers show plain text, and would save what they do not know.
        suffix = "" if there.suffix in PICTURES else ".txt"
        place = f"files/{path}{suffix}"
        self.copies[place] = there
        return place

    def _list(self, path: str) -> str:
        place = f"files/{path}/index.md"
        if place not in self.lists:
            self.lists[place] = ""
            names = sorted(each.name for each in (ROOT / path).iterdir() if each.name[0] != ".")
            lines = [f"# {path}", ""]
            for name in names:
                if name != "__pycache__" and (inner := self._place(f"{path}/{name}")):
                    lines.append(f"- [{name}]({_relative(place, inner)})")
            self.lists[place] = "\n".join(lines) + "\n"
        return place


def _relative(start: str, place: str) -> str:
    return os.path.relpath(place, os.path.dirname(start) or ".")


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    """`text` with what is not code changed, and names of blocks as titles."""
    parts, at = [], 0
    for found in FENCE.finditer(text):
        parts += [change(text[at : found.start()]), _titled(found)]
        at = found.end()
    return "".join([*parts, change(text[at:])])


def _titled(found: re.Match[str]) -> str:
    indent, ticks, about, body = found.groups()
    language, _, name = about.strip().partition(" ")
    title = f' title="{name.removeprefix("file=")}"' if name and '="' not in name else ""
    about = f"{language}{title}" if title else about
    return f"{indent}{ticks}{about}\n{body}{indent}{ticks}"
