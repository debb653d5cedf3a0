"""Libraries that a part of the program needs and a plain installation lacks: the extras.

`pip install forebay` installs what runs and shows a scenario. What stores tables, draws or judges
studies is installed by name, such as `pip install 'forebay[tables]'`; `pyproject.toml` lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from forebay.errors import UserError

__all__ = ["EXTRAS", "MissingExtraError", "is_installed", "missing_library", "need"]

EXTRAS = {
    "pyarrow": "tables",
    "matplotlib": "plots",
    "scipy": "studies",
    "pandas": "frames",
    "polars": "frames",
    "dask": "cluster",
    "distributed": "cluster",
    "gymnasium": "gym",
    "numba": "laws",
    "aioquic": "stacks",
}
"""The extra that installs a library."""

_LARGER_FIRST = ("gym", "cluster", "frames", "studies", "plots", "tables", "laws", "stacks")


class MissingExtraError(UserError, ImportError):
    """A library that is needed is not installed; the message names the extra that installs it."""


def is_installed(library: str) -> bool:
    """True if a library can be imported; it is not imported."""
    return find_spec(library) is not None


def need(what: str, *libraries: str) -> None:
    """Raise `MissingExtraError` unless all of these libraries, which `what` needs, are there."""
    lacking = [library for library in libraries if not is_installed(library)]
    if lacking:
        raise MissingExtraError(_told(what, lacking))


def missing_library(error: ModuleNotFoundError) -> list[str]:
    """Returns the message for an import that failed, naming the extra that installs the library;
    raises the error again if no extra does."""
    library = str(error.name).partition(".")[0]
    if library not in EXTRAS:
        raise error
    return [_told("this", [library])]


def _told(what: str, lacking: Sequence[str]) -> str:
    """Names the extra to install: of those that are lacking the first that holds the others."""
    wanted = {EXTRAS[library] for library in lacking}
    extra = next(each for each in _LARGER_FIRST if each in wanted)
    verb = "is" if len(lacking) == 1 else "are"
    return (
        f"{what} needs {', '.join(lacking)}, which {verb} not installed: "
        f"pip install 'forebay[{extra}]'"
    )
