"""Mistakes in a study's own code, told with the line they are in."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forebay.errors import UserError

__all__ = ["guarded"]


@contextmanager
def guarded(folder: Path, what: str) -> Iterator[None]:
    """Turn an exception of a study's own code into a `UserError` that names `what` and the line."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        file, line = _where(error, folder)
        # What is named is often the file itself.
        place = f", line {line}" if what.endswith(file) else f": {file}, line {line}"
        told = error.msg if isinstance(error, SyntaxError) else error
        raise UserError(f"{what}{place if line else ''}: {type(error).__name__}: {told}") from None


def _where(error: Exception, folder: Path) -> tuple[str, int]:
    """The innermost line of a study's own files that an exception came through; 0 if none."""
    if isinstance(error, SyntaxError) and error.filename:
        return Path(error.filename).name, error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    return (Path(own[-1].filename).name, own[-1].lineno or 0) if own else ("", 0)
