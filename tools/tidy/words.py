"""Words that must not be written in any file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidy.source import Finding, Source

__all__ = ["IDIOMS", "WORDS", "check", "check_source"]


@dataclass(frozen=True, slots=True)
class Word:
    """A pattern that no line may match, what it is called, and why.

    `but` matches the paths of the files that may.
    """

    name: str
    pattern: re.Pattern[str]
    why: str
    but: re.Pattern[str] | None = None


# Written so that no pattern matches itself.
IDIOMS = (
    r"\bt(?:ol[d]|el[l]s?|el[l]ing) of\b",
    # A target or a condition is met; nothing else is, but for what a program calls so.
    r"(?<!condition is )(?<!conditions are )(?<!requirement is )(?<!target is )"
    r"\bm[e]t\b(?!\s=|\.\w|\))",
    r"\bin han[d]\b",
    r"\bno[b]ody\b",
    r"\bwho[e]ver\b",
    r"\btoss-u[p]s?\b",
    r"\bin arrear[s]\b",
    # Packets may go on the wire, and marks on a scale.
    r"\b(?:g[o]|g[o]es|g[o]ing|w[e]nt|g[o]ne) on\b(?! (?:a|an|each|its|one|the)\b)",
    r"\bby turn[s]\b",
    r"\bwithout a loo[k]\b",
    # A test's reason says by itself that it is what would be wrong.
    r"^\s*(?:///|\"\"\") ?(?-i:O)therwis[e]\b",
)
"""Turns of phrase that a reader of another tongue has to guess."""

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
        "it is invisible in an editor, and every difference shows it",
    ),
    Word(
        "idiom",
        re.compile("|".join(IDIOMS), re.IGNORECASE),
        "say in plain words what the thing is or does",
        # Published sentences, and what is made of them; the name of a random stream.
        but=re.compile(
            r"studies/\w+/(?:paper\.toml|result\.json|README\.md|results\.md)"
            r"|crates/laws/src/traffic/stores\.rs"
        ),
    ),
    Word(
        "context in a law",
        re.compile(r"\bContext<|\bforebay_network::(?:\w+::)*(?:Context|Element)\b"),
        "time passes in elements, crates/elements; a law is asked and decides",
        but=re.compile(r"(?!crates/laws/src/).*"),
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
    words = [word for word in WORDS if word.but is None or not word.but.fullmatch(source.path)]
    for number, line in enumerate(source.lines, 1):
        for word in words:
            found = word.pattern.search(line)
            if found is not None:
                what = f"`{found.group().strip()}` ({word.name})"
                yield Finding(source.path, number, what, word.why)
