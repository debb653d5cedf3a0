"""How large files, functions, lines and lists of parameters may be."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch

from tidy.rust import line_of, text_of, walk
from tidy.source import Finding, Source

__all__ = ["check", "check_source"]

FILE_LINES = 600
FUNCTION_LINES = 70
COLUMNS = 100
PARAMETERS = 7
"""Without `self`; in Python without those that must be named at the call."""

LONG = {
    "Cargo.lock": "written by cargo",
    "LICENSE-*": "the licence's own words",
    "docs/images/*.svg": "a drawing",
    "docs/reference/*": "written by `make docs`",
    "python/forebay/__init__.pyi": "written by `make docs`",
    "bench/oracles/result.json": "a record, a cell a line",
    "bench/streams/result.json": "a record, a sequence a line",
    "studies/*/README.md": "its table is written by `make record`",
    "studies/*/deviations.toml": "data: paragraphs, each a string that stands in one line",
    "studies/*/extensions.toml": "data: a design, a case or a metric a line",
    "studies/*/sensitivity.toml": "data: a paragraph is a string that stands in one line",
    "studies/*/paper.toml": "data: every cell that the paper prints",
    "studies/*/result.json": "written by `make record`",
    "studies/*/scenario.toml": "data: a value shares its line with its place in the paper",
    "bench/scenarios/p2-64-routers.toml": "data: a link or a flow a line",
    "crates/scenario/tests/data/*": "data: scenarios and digests",
}
"""Files that may be long and wide, and why."""

WHY_FILE = "a file is one idea, and what is on it must fit into one head"
WHY_FUNCTION = "a function is read as a whole, on one screen"
WHY_LINE = "two files fit side by side, and so does a difference"
WHY_PARAMETERS = "what is handed over together belongs into one type"


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """What is too large, and exceptions that no file needs."""
    for source in sources:
        yield from check_source(source)
    for pattern in LONG:
        if not any(fnmatch(source.path, pattern) for source in sources):
            yield Finding("tools/tidy/size.py", 1, f"exception `{pattern}`", "no such file")


def check_source(source: Source) -> Iterator[Finding]:
    """What is too large in one file."""
    if any(fnmatch(source.path, pattern) for pattern in LONG):
        return
    if len(source.lines) > FILE_LINES:
        what = f"{len(source.lines)} lines, at most {FILE_LINES}"
        yield Finding(source.path, FILE_LINES + 1, what, WHY_FILE)
    for number, line in _breakable(source):
        if len(line) > COLUMNS:
            what = f"{len(line)} columns, at most {COLUMNS}"
            yield Finding(source.path, number, what, WHY_LINE)
    if source.suffix == ".rs":
        yield from _functions(source, _in_rust(source))
    elif source.suffix == ".py":
        yield from _functions(source, _in_python(source))


def _breakable(source: Source) -> Iterator[tuple[int, str]]:
    """Numbered lines; those of Markdown without rows of tables, links, and what programs print."""
    fenced = False
    for number, line in enumerate(source.lines, 1):
        if source.suffix == ".md" and line.startswith("```"):
            fenced = not fenced and line.split()[0] in ("```console", "```text")
        bare = line.removeprefix("//!").removeprefix("///").strip()
        if not fenced and not bare.startswith("| ") and not bare.startswith("http"):
            yield number, line


Function = tuple[str, int, int, int]
"""Name, first line, number of lines, number of parameters."""


def _functions(source: Source, found: Iterable[Function]) -> Iterator[Finding]:
    for name, line, length, parameters in found:
        if length > FUNCTION_LINES:
            what = f"`{name}` has {length} lines, at most {FUNCTION_LINES}"
            yield Finding(source.path, line, what, WHY_FUNCTION)
        if parameters > PARAMETERS:
            what = f"`{name}` takes {parameters} parameters, at most {PARAMETERS}"
            yield Finding(source.path, line, what, WHY_PARAMETERS)


def _in_rust(source: Source) -> Iterator[Function]:
    for node in walk(source.rust):
        if node.type in ("function_item", "function_signature_item"):
            name = node.child_by_field_name("name")
            listed = node.child_by_field_name("parameters")
            if name is not None and listed is not None:
                length = node.end_point.row - node.start_point.row + 1
                count = sum(child.type == "parameter" for child in listed.named_children)
                yield text_of(name), line_of(node), length, count


def _in_python(source: Source) -> Iterator[Function]:
    for node in ast.walk(source.python):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            names = [argument.arg for argument in (*given.posonlyargs, *given.args)]
            count = len(names) - (names[:1] in (["self"], ["cls"]))
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            yield node.name, node.lineno, length, count
