"""Limits on the length of files and lines. Clippy and ruff limit functions and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatch

from tidy.source import Finding, Source

__all__ = ["check", "check_source"]

FILE_LINES = 600
COLUMNS = 100

CODE = (".css", ".h", ".html", ".mjs", ".py", ".rs", ".sh", ".ts")
"""Endings of files that people write and that a formatter does not make fit; lines of prose and
data may be wide."""

WRITTEN = ("studies/*/results.md", "suites/*/results.md")
"""Pages that commands write."""

WHY_FILE = "a file is one idea, and what is on it must fit into one head"
WHY_LINE = "two files fit side by side, and so does a difference"


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """Files and lines that are too long."""
    for source in sources:
        yield from check_source(source)


def check_source(source: Source) -> Iterator[Finding]:
    """Yields what is too long in one file of code or prose."""
    prose = source.suffix == ".md" and not any(fnmatch(source.path, name) for name in WRITTEN)
    if (source.suffix in CODE or prose) and len(source.lines) > FILE_LINES:
        what = f"{len(source.lines)} lines, at most {FILE_LINES}"
        yield Finding(source.path, FILE_LINES + 1, what, WHY_FILE)
    if source.suffix in CODE:
        for number, line in enumerate(source.lines, 1):
            if len(line) > COLUMNS:
                what = f"{len(line)} columns, at most {COLUMNS}"
                yield Finding(source.path, number, what, WHY_LINE)
