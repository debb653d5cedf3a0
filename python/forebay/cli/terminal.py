"""The terminal kit of all commands: one width, one look of tables, one way to print JSON."""

# ruff: noqa: T201, PLC0415 (what commands print with; Rich is slow to import)

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from forebay.errors import printable
from forebay.run.shown import Most

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["MOST", "Grid", "console", "plain_markup", "print_json", "print_page", "table"]

WIDTH = 100
MIN_WORDS = 4
GAP = 3
"""Columns of a terminal: of a page at most, of words at least, and between columns of a table."""
MOST = Most(40, 12, "--out or --json has all")
"""Rows of a table that are shown."""


class Grid(NamedTuple):
    """A table of texts: words in the first column, numbers in the others."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def print_page(name: str, facts: Sequence[str], grids: Sequence[Grid]) -> None:
    """Print lines of facts, the first of them behind a name, and tables below."""
    width, bold = _plain_terminal()
    told = [printable(name), *map(printable, facts)]
    lines = [bold.format(told[0]) + told[1], *told[2:]]
    sizes = [len(told[0]) + len(told[1]), *map(len, told[2:])]
    for grid in grids:
        lines += _plain_lines(grid, bold, sizes)
    if max(sizes) <= width and all(map(_is_narrow, lines)):
        print("\n".join(lines))
        return
    # Something is to be folded, or characters have widths of their own.
    out = console()
    out.print(f"[bold]{plain_markup(name)}[/]{plain_markup(facts[0])}")
    for fact in facts[1:]:
        out.print(plain_markup(fact))
    for grid in grids:
        grown = table(plain_markup(grid.title), *grid.columns)
        for row in grid.rows:
            grown.add_row(*map(plain_markup, row))
        out.print(grown)


def _plain_terminal() -> tuple[int, str]:
    """The width that lines may have where they need nothing that Rich knows of terminals, and how
    words are made bold there; a width of 0 where they do.

    Rich takes longer to import than many a run lasts.
    """
    asked = {"FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"} & os.environ.keys()
    if asked or os.name != "posix" or not str(sys.stdout.encoding).lower().startswith("utf"):
        return 0, "{}"
    if not sys.stdout.isatty():
        return WIDTH, "{}"
    columns = os.environ.get("COLUMNS", "")
    try:
        width = int(columns) if columns.isdecimal() else os.get_terminal_size(1).columns
    except OSError:
        return 0, "{}"
    known = os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    return (min(width, WIDTH) if known else 0), "\x1b[1m{}\x1b[0m"


def _plain_lines(grid: Grid, bold: str, sizes: list[int]) -> list[str]:
    """The lines of a table in which nothing is folded; adds how wide it is to `sizes`, or more than
    any line if it cannot be drawn so."""
    rows = [[*map(printable, row)] for row in (grid.columns, *grid.rows)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    widths[0] = max(widths[0], MIN_WORDS)

    def line(cells: Iterable[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        return (" " * GAP).join([first[0].ljust(first[1]), *(x.rjust(size) for x, size in others)])

    size = sum(widths) + GAP * (len(widths) - 1)
    title = printable(grid.title)
    sizes.append(size if len(title) <= size else WIDTH + 1)
    head = [bold.format(title.ljust(size)), bold.format(line(rows[0])), "─" * size]
    return [*head, *map(line, rows[1:])]


def _is_narrow(line: str) -> bool:
    """Returns true if each character is one column wide, as far as is known without a table."""
    return line.isascii() or all(char < "\u0300" or char == "─" for char in line)


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
            grown.add_column(column, overflow="fold", min_width=MIN_WORDS)
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
