"""What a module of the package must not import as soon as it is imported itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tidy.source import Finding, Source, in_python

__all__ = ["check", "check_source"]

HEAVY = ("dask", "distributed", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "scipy")
WHY = "it takes up to a second, which `forebay --help` would pay; import it where it is used"


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """Heavy libraries that are imported with the package."""
    for source in in_python(sources, "python/forebay/"):
        yield from check_source(source)


def check_source(source: Source) -> Iterator[Finding]:
    """Heavy libraries that one module imports at its top."""
    for node in _at_once(source.python):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            if name.partition(".")[0] in HEAVY:
                yield Finding(source.path, node.lineno, f"`import {name}` at the top", WHY)


def _at_once(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements that run when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _at_once(child)
