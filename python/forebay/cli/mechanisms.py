"""The command `mechanisms`: the catalogue on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from forebay.cli.terminal import console, plain_markup, print_json, table
from forebay.errors import UserError, nearest
from forebay.run.laws import law_facts, near
from forebay.scenario.catalogue import catalogue

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.scenario.catalogue import Category, Page

__all__ = ["show_mechanisms"]


def show_mechanisms(name: str | None, as_json: bool) -> None:
    """`forebay mechanisms`: the catalogue, one category, or the page of a mechanism or section.

    Raises `UserError` for an unknown name.
    """
    known = catalogue()
    categories = [category for category in known.categories if name in (None, category.name)]
    pages = known.named(name) if name else []
    if name and not pages and not categories:
        names = known.names()
        near = nearest(name, [category.name for category in known.categories] + names)
        raise UserError(f'no mechanism "{name}"{near}; there are {_list(names)}')
    if as_json:
        pages += [page for category in categories for page in category.pages]
        document = [page.as_dict() for page in pages] if name else known.as_dict()
        print_json(document)
        return
    for page in pages:
        _show_page(page)
    if not pages:
        _show_categories(categories, None if name else known.sections)


def _show_page(page: Page) -> None:
    out = console()
    out.print(f"[bold]{plain_markup(page.name)}[/]  ({page.kind})")
    out.print(f"{plain_markup(page.summary)}")
    if page.source:
        out.print(f"Source: {plain_markup(page.source)}")
    if page.origin:
        told = f"Loaded from {near(page.origin['file'])}: {law_facts(page.origin)}"
        out.print(plain_markup(told), soft_wrap=True)
        out.print("It is code of that file and runs with your rights; load only what you trust.")
    out.print(_field_table(page.fields) if page.fields else "No parameters.")
    if page.mechanisms:
        out.print(f"Also takes: {', '.join(page.mechanisms)}")


def _show_categories(categories: Sequence[Category], sections: Sequence[Page] | None) -> None:
    out = console()
    for category in categories:
        rows = table(f"{category.name}: {category.contract}", "name", "what it is", left=2)
        for page in category.pages:
            told = f"{page.summary} (law of {near(page.origin['file'])})" if page.origin else ""
            rows.add_row(page.name, plain_markup(told or page.summary))
        out.print(rows)
        out.print()
    if sections:
        names = ", ".join(page.name for page in sections)
        out.print(f"Sections of a scenario file: {plain_markup(names)}")
    out.print("A page for one: forebay mechanisms NAME")


def _field_table(fields: Iterable[Any]) -> Table:
    rows = table("parameters", "name", "default", "meaning", "source", left=4)
    for field in fields:
        default = "required" if field.required else field.default_text
        about = f"{field.meaning} ({field.takes})"
        for word, meaning in zip(field.choices, field.choice_meanings, strict=True):
            about += f"\n{word}: {meaning}"
        source = "" if field.source == "-" else field.source
        rows.add_row(field.name, plain_markup(default), plain_markup(about), plain_markup(source))
    return rows


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
