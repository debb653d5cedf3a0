"""Which package of `python/forebay` may import which, and that no modules import in a circle.

The drawing in ARCHITECTURE.md, for Python. Modules beside the packages are below them all: they
import none. `forebay/__init__.py` and `forebay/__main__.py` are above them all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tidy.source import Finding, Source, in_python

__all__ = ["LAZY", "PACKAGES", "check", "check_circles", "check_source", "circles"]

ROOT = "python/forebay/"

PACKAGES: dict[str, tuple[str, ...]] = {
    "run": (),
    "scenario": ("run",),
    "study": ("run", "scenario"),
    "report": ("run", "scenario", "study"),
    "linux": ("run",),
    "cli": ("run", "scenario", "study", "report", "linux"),
}
"""What each package may import of the others, annotations included."""

LAZY = {
    "python/forebay/run/jobs.py": "the engine may not be built, which is told when it is needed",
    "python/forebay/cli/commands.py": "a command imports what it needs, --help nothing",
    "python/forebay/cli/run.py": "`run --json` starts twice as fast without tables and files",
}
"""The files in which functions import modules of the package, and why."""

WHY_PACKAGE = "arrows point one way (ARCHITECTURE.md, The house)"
WHY_CIRCLE = "neither module can be understood, tested or imported without the other"
WHY_LAZY = "a reader sees at the top what a module needs; an exception has a reason in LAZY"


@dataclass(frozen=True, slots=True)
class _Import:
    """An import of a module of the package: where, which, in a function, for annotations only."""

    line: int
    module: str
    lazy: bool
    typed: bool


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """Wrong arrows, circles, imports in functions, and entries of the tables that nothing uses."""
    ours = list(in_python(sources, ROOT))
    modules = {_module(source.path) for source in ours}
    used: set[tuple[str, str]] = set()
    lazy: set[str] = set()
    for source in ours:
        yield from check_source(source, modules)
        found = _imports(source, modules)
        used |= {(_package(_module(source.path)), _package(each.module)) for each in found}
        lazy |= {source.path for each in found if each.lazy}
    yield from check_circles(ours)
    for package, names in PACKAGES.items():
        for name in names:
            if (package, name) not in used:
                what = f"`{package}` may import `{name}`"
                yield Finding("tools/tidy/packages.py", 1, what, "it does not")
    for path in sorted(LAZY.keys() - lazy):
        what = f"functions of {path} may import"
        yield Finding("tools/tidy/packages.py", 1, what, "none does")


def check_source(source: Source, modules: set[str] | None = None) -> Iterator[Finding]:
    """Imports of one file that the order of the packages, or the ban on lazy ones, forbids.

    `modules` are the names of all modules of the package.
    """
    module = _module(source.path)
    package = _package(module)
    if module.count(".") > 1 and package not in PACKAGES:
        yield Finding(source.path, 1, f"package `{package}` is not in the house", WHY_PACKAGE)
        return
    above_all = module in ("forebay", "forebay.__main__")
    for each in _imports(source, modules or set()):
        other = _package(each.module)
        if not (above_all or other in ("", package, *PACKAGES.get(package, ()))):
            what = f"`{module}` imports `{each.module}`"
            yield Finding(source.path, each.line, what, WHY_PACKAGE)
        if each.lazy and source.path not in LAZY:
            what = f"`{each.module}` is imported in a function"
            yield Finding(source.path, each.line, what, WHY_LAZY)


def check_circles(sources: Sequence[Source]) -> Iterator[Finding]:
    """Modules that import each other, at their top or in functions.

    Imports for annotations alone do not count: two classes may name each other.
    """
    paths = {_module(source.path): source.path for source in sources}
    graph = {
        _module(source.path): {
            each.module for each in _imports(source, set(paths)) if not each.typed
        }
        for source in sources
    }
    for circle in circles(graph):
        yield Finding(paths[circle[0]], 1, f"circle of {', '.join(circle)}", WHY_CIRCLE)


def circles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """The sets of names that reach each other in a graph, each in order."""
    seen: set[str] = set()
    for name in sorted(graph):
        reached = _reached(graph, name)
        if name in reached and name not in seen:
            circle = sorted(other for other in reached if name in _reached(graph, other))
            seen |= set(circle)
            yield circle


def _reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """What a name leads to, directly or through others."""
    found: set[str] = set()
    left = [start]
    while left:
        new = graph.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def _module(path: str) -> str:
    """`forebay.run.jobs`; of an `__init__.py` its package."""
    name = path.removeprefix("python/").removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def _package(module: str) -> str:
    """The package that a module belongs to; empty for one beside the packages."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 or (len(parts) == 2 and parts[1] in PACKAGES) else ""


def _imports(source: Source, modules: set[str]) -> list[_Import]:
    return list(_below(source.python, modules, lazy=False, typed=False))


def _below(node: ast.AST, modules: set[str], *, lazy: bool, typed: bool) -> Iterator[_Import]:
    """The imports of a syntax tree. Ruff sees to it that none is relative (TID252)."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            names = [alias.name for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            # What is imported may be a module, or a name in one.
            pairs = [(f"{child.module}.{alias.name}", child.module or "") for alias in child.names]
            names = [whole if whole in modules else part for whole, part in pairs]
        else:
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            yield from _below(child, modules, lazy=lazy or function, typed=typed or checking)
            continue
        for name in dict.fromkeys(names):
            if name.partition(".")[0] == "forebay":
                yield _Import(child.lineno, name, lazy, typed)
