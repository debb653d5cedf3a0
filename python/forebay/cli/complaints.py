"""Messages about what ended a command."""

# ruff: noqa: T201 (prints errors)

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Sequence

from forebay.errors import printable

__all__ = ["complain", "drop_output", "lists_mechanisms", "told", "with_laws"]


def complain(lines: Sequence[str], status: int) -> int:
    """Print the lines of a message on standard error; the exit status."""
    for line in lines:
        try:
            print(f"forebay: error: {printable(line)}", file=sys.stderr)
        except OSError:
            # Standard error is closed, too.
            break
    return status


def lists_mechanisms(line: str) -> bool:
    """True if a message is about a mechanism that there is not, and lists those that there are."""
    return ': unknown "' in line and "; one of: " in line


def with_laws(lines: Sequence[str]) -> list[str]:
    """A message with the way to a law of one's own, where one may have been meant."""
    hint = "; a law of one's own is loaded by --laws FILE"
    return [
        line + hint if lists_mechanisms(line) and "laws of one's own" not in line else line
        for line in lines
    ]


def told(error: OSError) -> str:
    """Failure of the system in words, with the file that it is about."""
    if error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF):
        # All other files are named by those who write them.
        drop_output()
        return f"standard output: {error.strerror}"
    return f"{type(error).__name__}: {error}"


def drop_output() -> None:
    """Have what is left of standard output go nowhere: Python flushes it again when it ends."""
    # In a test it may be no file.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
