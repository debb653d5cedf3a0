"""Laws of one's own in this process, and how runs elsewhere get the same.

The engine knows what a process has loaded, and `forebay.laws` loads it. A job that crosses to
another process names the files with a hash of what they held. That process loads each once, and
refuses by name what is missing there, has changed, or differs.
"""

# ruff: noqa: PLC0415 (json and what loads laws are slow to import, and seldom needed)

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from forebay.errors import LawError, UserError
from forebay.native import native

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

__all__ = [
    "CHOSEN",
    "LAWS",
    "VARIABLE",
    "LawFile",
    "law_facts",
    "law_files",
    "law_sentence",
    "law_timeout",
    "law_words",
    "limit_calls",
    "limit_words",
    "load_files",
    "load_same",
    "near",
    "refuse_unsaved",
]

VARIABLE = "FOREBAY_LAWS"
"""Variable of the environment that names files of laws, with what parts those of PATH between."""

LAWS = [dict.fromkeys(("category", "name", "file", "contents", "ran_as"), str)]
"""Shape of the laws of one's own in a document of results (`forebay.run.documents`)."""

LawFile = tuple[str, str]
"""Path of a file of laws, and a hash of what it held when it was loaded."""

CHOSEN = "contents "
"""How the value begins with which a law that is chosen stands among resolved parameters."""

_limit: list[float] = []
"""Seconds that a call of a law may take in this process, if they were set."""

_same: dict[str, str] = {}
"""The files that were loaded for jobs of other processes, with the hashes of what they held."""


def load_files(paths: Iterable[str], option: str) -> list[str]:
    """Load files of laws, each once; what is to be said of how they run. `option` is what named
    them. Raises `UserError` for one that cannot be loaded."""
    import warnings

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for path in paths:
            if not path:
                raise UserError(f'{option}: ""; allowed is a Python file or a shared library')
            try:
                _load(path)
            except UserError as error:
                first, *others = error.lines
                raise UserError(f"{option}: {first}", *others) from None
    return [str(each.message) for each in told]


def load_same(files: Iterable[LawFile], seconds: float | None) -> None:
    """Load the files of laws that a job from another process needs, each once; calls of them may
    take so many seconds. Raises `LawError` for a file that is not what it was there."""
    import warnings

    if seconds is not None and _limit != [seconds]:
        limit_calls(seconds)
    for path, contents in files:
        if path not in _same:
            # What there is to warn of was said where the runs were begun.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    _same[path] = _contents(_load(path))
                except UserError as error:
                    raise LawError(f"on {_machine()}: {error}") from None
        if _same[path] != contents:
            raise LawError(
                f"on {_machine()}: {path}: has contents {_same[path]}, not {contents} as where "
                "the runs were begun; all of them must have the same law"
            )


def _machine() -> str:
    import socket

    return socket.gethostname()


def _load(path: str) -> Sequence[Any]:
    from forebay.laws import load

    return load(path)


def _contents(laws: Iterable[Any]) -> str:
    # Each law of a library may state the hash of its own source.
    return "+".join(dict.fromkeys(law.contents for law in laws))


def law_files() -> tuple[LawFile, ...]:
    """The files from which other processes can load the laws that this one has, each with what it
    held."""
    # A process that has not imported it has no laws.
    loading = sys.modules.get("forebay.laws.loading")
    found = loading.files() if loading is not None else ()
    return tuple((path, _contents(laws)) for path, laws in found)


def law_words() -> list[str]:
    """The options with which a command loads what is loaded here."""
    return [word for path, _ in law_files() for word in ("--laws", near(path))]


def near(path: str) -> str:
    """The path of a file of laws, from the current folder if it lies below that."""
    if not os.path.isabs(path):
        return path
    short = os.path.relpath(path)
    return path if short.startswith(os.pardir) else short


def limit_calls(seconds: float) -> None:
    """Have a call of a law that takes longer end this process."""
    native().set_law_timeout(seconds)
    _limit[:] = [seconds]


def law_timeout() -> float | None:
    """The seconds that a call may take, if `limit_calls` has set them."""
    return _limit[0] if _limit else None


def limit_words() -> list[str]:
    """The option with which a command limits calls as they are here; none if nothing is set."""
    return [word for seconds in _limit for word in ("--law-timeout", f"{seconds:g}")]


def refuse_unsaved(laws: Iterable[Mapping[str, Any]]) -> None:
    """Raise `UserError` for a law among these that is in no file which another process could
    load."""
    saved = {contents for _, held in law_files() for contents in held.split("+")}
    for row in laws:
        if row["contents"] not in saved:
            raise UserError(
                f'{row["category"]} "{row["name"]}" of {row["file"]}: is in this process alone, '
                "and the runs of a sweep are made in others; save it in a file of its own, and "
                "load that by forebay.laws.load(PATH) or --laws PATH"
            )


def law_sentence(row: Mapping[str, Any]) -> str:
    """A law in words: what it is, where it came from, what runs it."""
    return f"{row['category']} {row['name']} of {near(row['file'])}, {law_facts(row)}"


def law_facts(row: Mapping[str, Any]) -> str:
    """The hash of a law's file, and what runs the law."""
    ran = "interpreted" if row["ran_as"] == "python" else row["ran_as"]
    return f"contents {row['contents']}, {ran}"
