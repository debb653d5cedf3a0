"""The terminal kit of all commands: one width, one look of tables, one way to print JSON."""

# ruff: noqa: T201, PLC0415 (what commands print with; Rich is slow to import)

from __future__ import annotations

import json
import os
import sys

from forebay.errors import printable

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from rich.console import Console
    from rich.table import Table

__all__ = ["Grid", "console", "plain_markup", "print_json", "print_page", "table"]

WIDTH = 100


class Grid:
    """A table of texts: words in the first column, numbers in the others."""

    __slots__ = ("columns", "rows", "title")

    def __init__(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.title = printable(title)
        self.columns = columns
        self.rows = [[printable(cell) for cell in row] for row in rows]

    def as_rich(self) -> Table:
        """The table, in the look of all others."""
        grown = table(plain_markup(self.title), *self.columns)
        for row in self.rows:
            grown.add_row(*map(plain_markup, row))
        return grown

    def as_lines(self) -> list[str]:
        """The same look without colour or a limit of width."""
        widths = [max(map(len, cells)) for cells in zip(self.columns, *self.rows, strict=True)]
        head, *rows = (self._line(cells, widths) for cells in (self.columns, *self.rows))
        return [self.title.ljust(len(head)), head, "─" * len(head), *rows]

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        numbers = zip(cells[1:], widths[1:], strict=True)
        return "   ".join([cells[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in numbers)])


def print_page(name: str, facts: Sequence[str], grids: Sequence[Grid]) -> None:
    """Lines of facts, the first of them behind a name, and tables below.

    Without rich where the page looks the same: importing it takes longer than many a run.
    """
    name, facts = printable(name), [printable(fact) for fact in facts]
    lines = [name + facts[0], *facts[1:]]
    tables = [grid.as_lines() for grid in grids]
    # A title longer than its table would be folded.
    fits = all(len(title) == len(head) for title, head, *_ in tables)
    lines += [line for rows in tables for line in rows]
    if fits and _is_plain(lines):
        print("\n".join(lines))
        return
    out = console()
    out.print(f"[bold]{plain_markup(name)}[/]{plain_markup(facts[0])}")
    for fact in facts[1:]:
        out.print(plain_markup(fact))
    for grid in grids:
        out.print(grid.as_rich())


def _is_plain(lines: Iterable[str]) -> bool:
    """Whether rich would print the lines as they are, with nothing to colour, fold or replace."""
    # Either of these has rich take any output for a terminal.
    if sys.stdout.isatty() or "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ:
        return False
    if not (sys.stdout.encoding or "utf-8").lower().startswith("utf"):
        return False
    # What stands between two colons may be the name of an emoji.
    return all(
        len(line) <= WIDTH
        and line.replace("─", "-").isascii()
        and line.isprintable()
        and line.count(":") < 2
        and "\\" not in line
        for line in lines
    )


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
    """A text from outside, in which square brackets are not rich's markup and nothing is for the
    terminal."""
    from rich.markup import escape

    return escape(printable(words))


def print_json(document: Any) -> None:
    """What `--json` asks for: one document on standard output."""
    # Written at once: in pieces, each would be a system call where output is not buffered.
    print(json.dumps(document, indent=1))
