"""The terminal kit of all commands: one width, one look of tables, one way to print JSON."""

# ruff: noqa: T201, PLC0415 (what commands print with; Rich is slow to import)

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from forebay.errors import printable
from forebay.run.shown import Most

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["MOST", "Grid", "console", "plain_markup", "print_json", "print_page", "table"]

WIDTH = 100
MOST = Most(40, 12, "--out or --json has all")
"""Rows of a table that are shown."""


class Grid(NamedTuple):
    """A table of texts: words in the first column, numbers in the others."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def print_page(name: str, facts: Sequence[str], grids: Sequence[Grid]) -> None:
    """Print lines of facts, the first of them behind a name, and tables below."""
    out = console()
    out.print(f"[bold]{plain_markup(name)}[/]{plain_markup(facts[0])}")
    for fact in facts[1:]:
        out.print(plain_markup(fact))
    for grid in grids:
        grown = table(plain_markup(grid.title), *grid.columns)
        for row in grid.rows:
            grown.add_row(*map(plain_markup, row))
        out.print(grown)


def table(title: str, *columns: str, left: int = 1) -> Table:
    """An empty table; the first `left` columns are words, the others numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    grown = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    for index, column in enumerate(columns):
        if index < left:
            grown.add_column(column, overflow="fold", min_width=4)
        else:
            grown.add_column(column, justify="right", no_wrap=True)
    return grown


def console() -> Console:
    """Standard output: the terminal's width but at most 100; no colour unless a terminal."""
    from rich.console import Console

    found = Console(highlight=False, emoji=False)
    # Without a terminal rich assumes 80 columns, which would cut names that a file has room for.
    found.width = min(found.width, WIDTH) if found.is_terminal else WIDTH
    return found


def plain_markup(words: str) -> str:
    """A text from outside, in which square brackets are not rich's markup and nothing is for the
    terminal."""
    from rich.markup import escape

    return escape(printable(words))


def print_json(document: Any) -> None:
    """Prints the output of `--json`: one document on standard output."""
    # Written at once: in pieces, each would be a system call where output is not buffered.
    print(json.dumps(document, indent=1))
