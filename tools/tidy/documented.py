"""Explanations that must be there: of mechanisms, their parameters, and tests.

That public items have a comment is rustc's (`missing_docs`) and ruff's (`D10`) to say. Here is what
these cannot know: that a parameter has a unit and a source, and that a test begins with what holds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from forebay.scenario.catalogue import Catalogue, Field, Page, catalogue
from tidy.definitions import Definitions
from tidy.rust import leaves, line_of, text_of
from tidy.source import Finding, Source, in_python

__all__ = ["check", "check_catalogue", "check_python", "check_rust"]

SOURCE = re.compile(
    r"RFC \d+|draft-[a-z]|ITU-T [A-Z]\.\d+|\b(?:19|20)\d\d\b|ns-2|Linux|Cisco IOS|assumed: \w"
    # Its title page, with author and date, is lost.
    r"|COMSAT thesis"
)
"""Words that name a publication, or a program whose behaviour others follow, or that say that
none does."""

UNIT = re.compile(
    r"probability|share|fraction|factor|weight|coefficient|mean|number of|per |over the|in [a-z]+s",
    re.IGNORECASE,
)
"""Words that say which unit a plain number has, or that it has none."""

UNSOURCED = ("section", "traffic", "sizes")
"""Kinds of pages whose parameters may be the user's own network and load, which were not published:
their source is `-`."""

WHY_SOURCE = "a reader must be able to check it against a publication"
WHY_UNIT = "a plain number without a unit is read wrongly"
WHY_MEANING = "error messages, pages and editors show it; it is a sentence"
WHY_TEST = "the first line of a test says what holds, then why it matters"

HOLLOW = re.compile(r"(?:Tests?|Checks?|Verif(?:y|ies)|Ensures?|Make sure|Should)\b", re.IGNORECASE)
"""Beginnings of a comment that says what is done, not what holds."""

COUNTERFACTUAL = re.compile(r"[^.:;]*\b(?:would|could|might)\b")
"""Beginnings of a comment that says what a failure would do, not what holds."""

QUESTION = re.compile(r"(?:What|Whether|How|When|By|Where|Why|Which|Who)\b")
"""Openings of a comment that ask; nouns and verbs say what something is or does."""

WHY_OPENING = "a comment opens with a noun or a verb: what something is, or does"


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """Mechanisms, parameters and tests that are not explained."""
    yield from check_catalogue(catalogue(), Definitions(sources))
    for source in sources:
        if source.suffix == ".rs":
            yield from check_rust(source)
            yield from check_openings(source)
    for source in in_python(sources, "tests/", "bench/", "validation/"):
        yield from check_python(source)


def check_catalogue(known: Catalogue, places: Definitions) -> Iterator[Finding]:
    """Mechanisms and parameters without meaning, unit or source; where they are defined."""
    for page in known.pages():
        name = f"{page.kind}.{page.name}"
        path, line = places.of_page(page)
        if not page.summary.endswith("."):
            yield Finding(path, line, f"{name}: summary is `{page.summary}`", WHY_MEANING)
        if page.kind != "section" and not SOURCE.search(page.source):
            yield Finding(path, line, f"{name}: source is `{page.source}`", WHY_SOURCE)
        for field in page.fields:
            path, line = places.of_field(page, field)
            for what, why in _faults(page, field):
                yield Finding(path, line, f"{name}.{field.name}: {what}", why)


def _faults(page: Page, field: Field) -> Iterator[tuple[str, str]]:
    """Yields what a parameter lacks, and why it needs it."""
    if not field.meaning.endswith((".", "...")):
        yield f"meaning is `{field.meaning}`", WHY_MEANING
    for word, meaning in zip(field.choices, field.choice_meanings, strict=True):
        if not meaning.strip():
            yield f"`{word}` has no meaning", WHY_MEANING
    theirs = field.source == "-" and page.kind in UNSOURCED
    if not theirs and not SOURCE.search(field.source):
        yield f"source is `{field.source}`", WHY_SOURCE
    if field.kind == "number" and not UNIT.search(field.meaning):
        yield f"no unit in `{field.meaning}`", WHY_UNIT


def check_rust(source: Source) -> Iterator[Finding]:
    """Tests of a Rust file without a comment above, those in macros too."""
    found = list(leaves(source.rust, skip=("string_literal", "raw_string_literal")))
    # A comment is three leaves: two slashes, the third or an exclamation mark, the words.
    found = [leaf for leaf in found if leaf.type not in ("//", "/", "!") or not _of_comment(leaf)]
    words = [text_of(leaf) for leaf in found]
    for at, leaf in enumerate(found):
        if words[at : at + 4] != ["#", "[", "test", "]"]:
            continue
        first = at
        while first > 0 and found[first - 1].type == "doc_comment":
            first -= 1
        comment = words[first].strip() if first < at else ""
        yield from _opening(source.path, line_of(leaf), comment)


def check_openings(source: Source) -> Iterator[Finding]:
    """Doc comments of a Rust file that open with a question."""
    before = ""
    for number, line in enumerate(source.lines, start=1):
        words = line.strip()
        mark = words[:3] if words[:3] in ("///", "//!") else ""
        if mark and mark != before and QUESTION.match(words[3:].strip()):
            yield Finding(source.path, number, f"`{words}`", WHY_OPENING)
        before = mark


def _of_comment(leaf: Node) -> bool:
    parents = (leaf.parent, leaf.parent.parent if leaf.parent is not None else None)
    return any(parent is not None and parent.type == "line_comment" for parent in parents)


def check_python(source: Source) -> Iterator[Finding]:
    """Tests of a Python file without a docstring."""
    for node in ast.walk(source.python):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield from _opening(source.path, node.lineno, ast.get_docstring(node) or "")


def _opening(path: str, line: int, comment: str) -> Iterator[Finding]:
    if not comment:
        yield Finding(path, line, "a test without a word above", WHY_TEST)
    elif HOLLOW.match(comment) or COUNTERFACTUAL.match(comment):
        yield Finding(path, line, f"`{comment.splitlines()[0]}`", WHY_TEST)
