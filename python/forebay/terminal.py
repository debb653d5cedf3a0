"""The terminal kit of all commands: one width, one look of tables, one way to print JSON."""

from __future__ import annotations

import json

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from typing import Any

    from rich.console import Console
    from rich.table import Table

__all__ = ["console", "plain_markup", "print_json", "table"]

WIDTH = 100


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
            grown.add_column(column, overflow="fold")
        else:
            grown.add_column(column, justify="right", no_wrap=True)
    return grown


def console() -> Console:
    """Standard output: the terminal's width but at most 100; no colour unless a terminal."""
    from rich.console import Console

    found = Console(highlight=False)
    # Without a terminal rich assumes 80 columns, which would cut names that a file has room for.
    found.width = min(found.width, WIDTH) if found.is_terminal else WIDTH
    return found


def plain_markup(words: str) -> str:
    """A text from outside, in which square brackets are not rich's markup."""
    from rich.markup import escape

    return escape(words)


def print_json(document: Any) -> None:
    """What `--json` asks for: one document on standard output."""
    # Written at once: in pieces, each would be a system call where output is not buffered.
    print(json.dumps(document, indent=1))
