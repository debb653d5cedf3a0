"""Fingerprints of a study's code: what a function of it is made of, and nothing else.

A finished run stays valid as long as nothing changes that decides what is measured of it. That is
less than the files of a study: predicates judge, figures draw, and a module of thresholds may hold
one constant that a measuring function reads beside fifty that it does not. So what counts is a
definition at the top of a module with all that it names, in its own module and in those that it
imports from the study, and so on. Comments and docstrings do not count, nor does code outside the
study. Statements that bind no name (a loop that fills a table) count with everything in their
module; a module that is used as a whole, or looked into by `globals`, counts as a whole.
"""

from __future__ import annotations

import ast
import hashlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

__all__ = ["WHOLE", "Sources"]

WHOLE = "*"
"""In place of a name: everything that a module defines."""

LOOKS_INSIDE = {"eval", "exec", "globals", "vars"}
"""Built-in functions by which code reaches names that it does not write."""

Place = tuple[str, str]
"""A module of the study, and a name in it; no name for statements that bind none."""


class Sources:
    """The modules of a study's folder, which Python knows as the package `package`."""

    def __init__(self, folder: Path, package: str) -> None:
        self._paths = {_dotted(path.relative_to(folder)): path for path in folder.rglob("*.py")}
        self._package = package
        self._read: dict[str, _Module] = {}

    def fingerprint(self, roots: Iterable[Place]) -> str:
        """A fingerprint of definitions and of all that they name, at any remove."""
        roots = sorted(roots)
        digest = hashlib.sha256(repr(roots).encode())
        for place in sorted(self._reached(roots)):
            for statement in self._module(place[0]).statements[place[1]]:
                digest.update(f"{place} {ast.dump(statement)}\n".encode())
        return digest.hexdigest()[:16]

    def _reached(self, roots: Iterable[Place]) -> set[Place]:
        left, reached = list(roots), set[Place]()
        while left:
            module, name = place = left.pop()
            if place not in reached and module in self._paths:
                reached.add(place)
                left += [(module, ""), *self._module(module).uses(name)]
        return reached

    def _module(self, name: str) -> _Module:
        if name not in self._read:
            tree = ast.parse(self._paths[name].read_bytes())
            self._read[name] = _Module(name, tree, self._package, self._paths)
        return self._read[name]


class _Module:
    """A module: its statements by the names they bind, and what its imports stand for."""

    def __init__(self, name: str, tree: ast.Module, package: str, known: Iterable[str]) -> None:
        self._name, self._package, self._known = name, package, frozenset(known)
        self.statements: dict[str, list[ast.stmt]] = defaultdict(list)
        self._imported: dict[str, set[Place]] = defaultdict(set)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
        for statement in _without_docstrings(tree).body:
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                for bound in _bound(statement):
                    self.statements[bound].append(statement)

    def uses(self, name: str) -> set[Place]:
        """Names that the statements that bind a name make use of."""
        if name == WHOLE:
            names = {*self.statements, *self._imported}
            return {(self._name, each) for each in names}
        found = set(self._imported[name])
        for statement in self.statements[name]:
            self._walk(statement, found)
        return found

    def _walk(self, node: ast.AST, found: set[Place]) -> None:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            places = self._imported[node.value.id]
            if places and all(name == WHOLE for _, name in places):
                # One name of a module: `criteria.CLOSE`.
                found |= {self._within(module, node.attr) for module, _ in places}
                return
        if isinstance(node, ast.Name):
            found.add((self._name, WHOLE if node.id in LOOKS_INSIDE else node.id))
        for child in ast.iter_child_nodes(node):
            self._walk(child, found)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = self._own(alias.name)
            if module is not None:
                self._imported[alias.asname or ""].add((module, WHOLE))

    def _import_from(self, node: ast.ImportFrom) -> None:
        above = f"{self._package}.{self._name}".split(".")[: -node.level] if node.level else []
        module = self._own(".".join([*above, *filter(None, [node.module])]))
        if module is None:
            return
        for alias in node.names:
            if alias.name == "*":
                self._imported[""].add((module, WHOLE))
            else:
                self._imported[alias.asname or alias.name].add(self._within(module, alias.name))

    def _within(self, module: str, name: str) -> Place:
        """Returns the place of a name of a module or of a package."""
        below = f"{module}.{name}".strip(".")
        return (below, WHOLE) if below in self._known else (module, name)

    def _own(self, dotted: str) -> str | None:
        """A module of the study by its full name, "" for the package; `None` if not the study's."""
        inside = f"{dotted}.".startswith(f"{self._package}.")
        return dotted[len(self._package) + 1 :] if inside else None


def _dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module binds, and "" where it may do more."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    names = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        plain = all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
        return names if plain else {*names, ""}
    defined = (ast.FunctionDef, ast.ClassDef)
    return {*names, "", *(n.name for n in ast.walk(statement) if isinstance(n, defined))}


def _without_docstrings(tree: ast.Module) -> ast.Module:
    """A module without its texts that stand as statements, which do nothing."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
    return tree


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
