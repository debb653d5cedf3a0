"""What must not be written in any file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidy.source import Finding, Source

__all__ = ["WORDS", "check", "check_source"]


@dataclass(frozen=True, slots=True)
class Word:
    """A pattern that no line may match, what it is called, and why."""

    name: str
    pattern: re.Pattern[str]
    why: str


# Written so that no pattern matches itself.
WORDS = (
    Word(
        "path of one machine",
        re.compile(r"(?<![\w.}])/(?:tmp|home|root|Users|work|var/folders)/|\b[A-Z]:\\[A-Za-z]"),
        "it leads nowhere on another; use a relative path or a temporary folder of the test",
    ),
    Word(
        "marker of a merge",
        re.compile(r"^(?:<{7}|>{7}|\|{7}) |^={7}$"),
        "the merge was not finished",
    ),
    Word(
        "note to oneself",
        re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b"),
        "do it now, or say in words what is not done and why",
    ),
    Word(
        "tab or space at the end",
        re.compile(r"[ \t]+$"),
        "nobody sees it, and every difference shows it",
    ),
)

DATA = ("Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT")
"""Files in others' words."""


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """Lines that no file should have."""
    for source in sources:
        if source.path not in DATA and source.suffix != ".svg":
            yield from check_source(source)


def check_source(source: Source) -> Iterator[Finding]:
    """Lines that a file should not have."""
    for number, line in enumerate(source.lines, 1):
        for word in WORDS:
            found = word.pattern.search(line)
            if found is not None:
                what = f"`{found.group().strip()}` ({word.name})"
                yield Finding(source.path, number, what, word.why)
