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

STUDY = {"results.md": "Every claim", "transports.md": "Other transports"}
"""Parts of a study beside its index."""


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
    studies: list[dict[str, Any]] = [{"Conclusions": rest.pop("transports.md").target}]
    by_study = sorted(taken("studies/"), key=lambda page: page.target)
    for name, (first, *others) in groupby(by_study, key=lambda page: page.target.split("/")[1]):
        parts = [{STUDY[page.target.rsplit("/", 1)[1]]: page.target} for page in others]
        studies.append({f"{name}: {first.title}": [first.target, *parts]})
    return [
        home,
        *learn,
        {"Examples": examples},
        {"Reference": _entries(reference)},
        {"Studies": studies},
        {"Project": _entries(sorted(rest.values(), key=order))},
    ]


def _is_reference(page: Page) -> bool:
    return page.target.startswith("reference/")


def _entries(pages: Sequence[Page]) -> list[dict[str, Any]]:
    return [_entry(page) for page in pages]


def _entry(page: Page) -> dict[str, Any]:
    return {page.title: page.target}
