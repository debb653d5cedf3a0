"""No two files of a crate use each other, directly or through others.

A name that a file hands on (`pub use`) belongs to the file that it comes from; a table of entries
that a parent module holds does not tie its children to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tidy.source import Finding, Source

__all__ = ["check", "check_circles"]

WHY = "neither file can be understood, tested or changed without the other"

Module = tuple[str, ...]


@dataclass(frozen=True)
class _File:
    source: Source
    module: Module
    paths: list[tuple[Module, bool]]
    """Names that it uses: the path from the root of the crate, and whether it is imported."""


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """Circles of files in each crate."""
    crates: dict[str, list[Source]] = {}
    for source in sources:
        parts = source.path.split("/")
        if parts[0] == "crates" and parts[2:3] == ["src"] and source.suffix == ".rs":
            crates.setdefault(parts[1], []).append(source)
    for files in crates.values():
        yield from check_circles(files)


def check_circles(sources: Sequence[Source]) -> Iterator[Finding]:
    """Circles of the files of one crate."""
    files = [_read(source) for source in sources if not source.path.endswith("/tests.rs")]
    for circle in _circles(_graph({file.module: file for file in files})):
        yield Finding(circle[0], 1, f"circle of {', '.join(circle)}", WHY)


def _read(source: Source) -> _File:
    parts = source.path.split("/")[3:]
    last = parts[-1].removesuffix(".rs")
    module = tuple(parts[:-1]) if last in ("mod", "lib", "main") else (*parts[:-1], last)
    words = source.tokens
    paths = []
    at = 0
    while at < len(words):
        start, path = at, []
        while words[at].isidentifier():
            path.append(words[at])
            if words[at + 1 : at + 2] != ["::"] or at + 2 >= len(words):
                break
            at += 2
        at += 1
        if len(path) > 1:
            # What a file imports stands behind its tokens, each path behind a comma.
            paths.append((_whole(path, module), start > 0 and words[start - 1] == ","))
    return _File(source, module, paths)


def _whole(path: Sequence[str], module: Module) -> Module:
    """A path from the root of the crate, as far as it leads there."""
    if path[0] == "crate":
        return tuple(path[1:])
    if path[0] == "self":
        return (*module, *path[1:])
    above = 0
    while above < len(path) and path[above] == "super":
        above += 1
    if above:
        return (*module[: len(module) - above], *path[above:])
    return (*module, *path)


def _graph(files: Mapping[Module, _File]) -> dict[str, set[str]]:
    handed: dict[Module, Module] = {}
    for module, file in files.items():
        for path, imported in file.paths:
            if imported and path:
                handed.setdefault((*module, path[-1]), path)
    graph: dict[str, set[str]] = {}
    for module, file in files.items():
        used = set()
        for path, _ in file.paths:
            home = _home(path, handed, files)
            below = home is not None and home[: len(module)] == module
            if home is not None and home != module and not below:
                used.add(files[home].source.path)
        graph[file.source.path] = used
    return graph


def _home(
    path: Module, handed: Mapping[Module, Module], files: Mapping[Module, _File]
) -> Module | None:
    """The file that a path leads to, through what files hand on."""
    for _ in range(8):
        for length in range(len(path), -1, -1):
            if path[:length] in files:
                break
        else:
            return None
        named = path[: length + 1]
        if length == len(path) or named not in handed or handed[named] == named:
            return path[:length] if length else None
        path = handed[named] + path[length + 1 :]
    return None


def _circles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """The sets of names that reach each other in a graph, each in order."""
    seen: set[str] = set()
    for name in sorted(graph):
        reached = _reached(graph, name)
        if name in reached and name not in seen:
            circle = sorted(other for other in reached if name in _reached(graph, other))
            seen |= set(circle)
            yield circle


def _reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """Returns the names that a name leads to, directly or through others."""
    found: set[str] = set()
    left = [start]
    while left:
        new = graph.get(left.pop(), set()) - found
        found |= new
        left += new
    return found
