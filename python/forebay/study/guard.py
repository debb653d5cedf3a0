"""Mistakes in a study's own code, told with the line they are in."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from forebay.errors import UserError

__all__ = ["guard", "guarded"]

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Kinds = tuple[type[Exception], ...]


def guard(
    function: Callable[Given, Answer], folder: Path, what: str, but: Kinds = ()
) -> Callable[Given, Answer]:
    """A function of a study's own code, `guarded` whenever it is called; exceptions of the kinds
    `but` are no mistakes, and pass."""

    @functools.wraps(function)
    def call(*args: Given.args, **named: Given.kwargs) -> Answer:
        with guarded(folder, what, but):
            return function(*args, **named)

    return call


@contextmanager
def guarded(folder: Path, what: str, but: Kinds = (), told: Kinds = ()) -> Iterator[None]:
    """Turn an exception of a study's own code into a `UserError` that names `what` and the line.

    Exceptions of the kinds `but` pass; those of the kinds `told` need no name of their kind.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        if isinstance(error, but):
            raise
        file, line = _where(error, folder)
        # What is named is often the file itself.
        place = f", line {line}" if what.endswith(file) else f": {file}, line {line}"
        kind = "" if isinstance(error, told) else f"{type(error).__name__}: "
        raise UserError(f"{what}{place if line else ''}: {kind}{_words(error)}") from None


def _words(error: Exception) -> Any:
    if isinstance(error, SyntaxError):
        return error.msg
    # The text of a key error is its key as Python writes it, in quotes even if it is a sentence.
    is_sentence = isinstance(error, KeyError) and " " in str(error.args[:1])
    return error.args[0] if is_sentence else error


def _where(error: Exception, folder: Path) -> tuple[str, int]:
    """The innermost line of a study's own files that an exception came through; 0 if none."""
    if isinstance(error, SyntaxError) and error.filename:
        return _within(error.filename, folder), error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    return (_within(own[-1].filename, folder), own[-1].lineno or 0) if own else ("", 0)


def _within(file: str, folder: Path) -> str:
    path = Path(file)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
