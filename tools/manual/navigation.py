"""The order of the site's pages.

Pages of a folder come in the order in which docs/README.md names them, then the others by title:
a new file is in the navigation without being named anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from manual.sources import Page

__all__ = ["navigation"]

PARTS = {
    "studies": {"results.md": "Every claim", "transports.md": "Other transports"},
    "suites": {"results.md": "Every cell"},
}
"""Parts of a study, or of the record of a suite, beside its index."""


def navigation(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """The entries, as Zensical takes them: titles with pages, or with entries."""
    named = next(page.text for page in pages if page.source == "docs/README.md")

    def order(page: Page) -> tuple[int, str]:
        at = named.find(f"({page.target}")
        return (at if at >= 0 else len(named), page.title.lower())

    rest = {page.target: page for page in pages}

    def taken(prefix: str) -> list[Page]:
        found = sorted((p for place, p in rest.items() if place.startswith(prefix)), key=order)
        for page in found:
            del rest[page.target]
        return found

    home: dict[str, Any] = {"Home": [rest.pop("index.md").target, _entry(rest.pop("contents.md"))]}
    learn = [{name.title(): _entries(taken(f"{name}/"))} for name in ("tutorial", "guides")]
    examples: list[Any] = [rest.pop("examples/index.md").target, *_entries(taken("examples/"))]
    for name in ("gallery", "notebooks"):
        if found := taken(f"{name}/"):
            examples.append({name.title(): _entries(found)})
    reference = [page for page in pages if page.target in rest and _is_reference(page)]
    taken("reference/")
    conclusions = {"Conclusions": rest.pop("transports.md").target}
    studies = [conclusions, *_parted(taken("studies/"))]
    suites = _parted(taken("suites/"))
    return [
        home,
        *learn,
        {"Examples": examples},
        {"Reference": _entries(reference)},
        {"Studies": studies},
        {"Suites": suites},
        {"Project": _entries(sorted(rest.values(), key=order))},
    ]


def _parted(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """The pages of studies or suites, those of one folder together, its index first."""
    entries: list[dict[str, Any]] = []
    ordered = sorted(pages, key=lambda page: page.target)
    for name, (first, *others) in groupby(ordered, key=lambda page: page.target.split("/")[1]):
        parts = [_part(page) for page in others]
        entries.append({f"{name}: {first.title}": [first.target, *parts]})
    return entries


def _part(page: Page) -> dict[str, str]:
    kind, _, name = page.target.split("/")
    return {PARTS[kind][name]: page.target}


def _is_reference(page: Page) -> bool:
    return page.target.startswith("reference/")


def _entries(pages: Sequence[Page]) -> list[dict[str, Any]]:
    return [_entry(page) for page in pages]


def _entry(page: Page) -> dict[str, Any]:
    return {page.title: page.target}
