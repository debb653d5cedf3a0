"""Python files: what they name, in full, whatever it was imported as."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

__all__ = ["names"]

BUILTINS = ("print",)
"""Builtins that there are bans on."""


def names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines, and the full names that stand there: `np.random.seed` as `numpy.random.seed`."""
    known = dict(_imported(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            name = _full(node, known)
            if name:
                yield node.lineno, name


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Every name that is imported, in functions too, and the full name behind it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _full(node: ast.expr, known: Mapping[str, str]) -> str:
    """Empty for what is neither imported nor a builtin that matters."""
    if isinstance(node, ast.Name):
        return known.get(node.id, node.id if node.id in BUILTINS else "")
    if isinstance(node, ast.Attribute):
        left = _full(node.value, known)
        return f"{left}.{node.attr}" if left else ""
    return ""
