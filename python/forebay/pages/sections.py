"""Parts of pages of results: sections with drawings and tables, some of them folded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forebay import text
from forebay.drawing import Figure, slug
from forebay.pages.page import REPORT, render
from forebay.run.laws import LAWS, law_sentence
from forebay.run.store import write_text

__all__ = ["MARKS", "Section", "Table", "warned", "write_page"]

MARKS = {"name": str, "version": str, "build?": str, "command": str, "laws?": LAWS}
"""Facts that every document of results states of itself."""


@dataclass(slots=True)
class Table:
    """A table that the reader can sort; `folded` if it opens on demand only, under its caption, and
    of `words` if its cells are what scenarios say rather than numbers. `links` are addresses of
    what cells name, by the text of a cell."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    folded: bool = False
    words: bool = False
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Section:
    """A part of a page with an entry in its contents; `listed` are sentences, an item each, `svg`
    is a drawing without a caption, and tables `beside` drawings take the other half of the page."""

    title: str
    text: str = ""
    figures: Sequence[Figure] = field(default_factory=list)
    tables: Sequence[Table] = field(default_factory=list)
    svg: str = ""
    folded: Sequence[Figure] = field(default_factory=list)
    listed: Sequence[str] = ()
    beside: Sequence[Table] = ()

    @property
    def anchor(self) -> str:
        """Anchor that the contents link to."""
        return f"part-{slug(self.title)}"


def warned(warnings: Iterable[str]) -> list[Section]:
    """The section of what is hardly meant in a scenario; none if there is nothing."""
    listed = list(warnings)
    said = "The scenario can be run as it is; what follows is hardly meant."
    return [Section("Warnings", said, listed=listed)] if listed else []


def write_page(
    folder: Path, document: Mapping[str, Any], sections: Sequence[Section], keys: Sequence[str]
) -> Path:
    """Write the page of a folder of results; its path. `keys` are those of its provenance."""
    # Results of earlier versions name no build.
    provenance = [_said(key, document[key]) for key in keys if key in document]
    provenance += [("law", law_sentence(law)) for law in document.get("laws", ())]
    page = render(
        "results.html.j2",
        title=document["name"],
        subtitle=f"Forebay {document['version']}",
        version=document["version"],
        sections=sections,
        command=document["command"],
        provenance=provenance,
        provenance_line=", ".join(
            f"{name} {value}"
            for name, value in provenance
            if name in ("scenario hash", "seed", "seeds", "replication", "runs")
        )
        + ".",
    )
    write_text(folder / REPORT, page)
    return folder / REPORT


def _said(key: str, value: Any) -> tuple[str, str]:
    """A line of the provenance in words: what it is called, and its value with its unit."""
    if key == "simulated_s":
        return "simulated time", text.span(value)
    if isinstance(value, list):
        return key.replace("_", " "), ", ".join(map(str, value))
    return key.replace("_", " "), text.count(value) if key in ("events", "runs") else str(value)
