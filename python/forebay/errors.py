"""Errors and warnings that are no bugs, and their wording.

A `UserError` ends a command with exit status 2 and one message on stderr, without a traceback. Its
text says what was read, where, and what is allowed, with the nearest valid name where there is one.
A `MachineError` ends it likewise, with exit status 1.
"""

# ruff: noqa: PLC0415 (every command imports this; few need what is slow to import)

from __future__ import annotations

import errno
import os
import stat
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from unicodedata import category

__all__ = [
    "LawError",
    "MachineError",
    "OwnCodeError",
    "ScenarioWarning",
    "StackError",
    "UserError",
    "located",
    "nearest",
    "output_folder",
    "printable",
    "read_text",
    "unwritable",
    "warn_of",
]


MAX_FILE_BYTES = 16_000_000
"""Maximum size of a file that is read whole: larger ones are refused before they are parsed."""


class UserError(Exception):
    """The input is wrong: a file, an option, a name. The message is meant for its author.

    Each argument is one line of it.
    """

    @property
    def lines(self) -> tuple[str, ...]:
        """The message line by line."""
        return tuple(map(str, self.args))

    def __str__(self) -> str:
        return "\n".join(self.lines)


class OwnCodeError(UserError):
    """What a user brings ended a run. `reason` says what did, where, when and why, without naming
    the run. `finished` are the results (`forebay.run.results.Results`) of other replications, if
    there are any."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message
        self.finished: Any = None


class LawError(OwnCodeError):
    """A law of one's own ended a run, or cannot be loaded: it raised, or returned what is not
    allowed."""


class StackError(OwnCodeError):
    """A protocol stack or its application (`forebay.host`) ended a run: it raised, which is the
    cause, or did what no host may. The message names the host and the simulated time."""


class MachineError(Exception):
    """The machine failed, not the input: a full disk, a file that cannot be read any more."""


_DISK = frozenset(
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO") if hasattr(errno, name)
)
"""A full disk or quota, a file that may not grow (`ulimit -f`), a disk that fails."""


def unwritable(message: str, error: OSError) -> UserError | MachineError:
    """Returns the error to raise for a file or folder that cannot be written to; the system's words
    follow the message. A full disk is no mistake in the input, whatever was being written."""
    told = f"{message}: {error.strerror or error}"
    return MachineError(told) if error.errno in _DISK else UserError(told)


class ScenarioWarning(UserWarning):
    """A scenario that can be run and is hardly meant: its results may not be what they seem."""


def warn_of(texts: Iterable[str], kind: type[Warning] = ScenarioWarning) -> None:
    """Issue a warning, a `ScenarioWarning` if no other `kind` is given, for each text, at the line
    outside this package that asked for what led to it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    for text in texts:
        warnings.warn(printable(text), kind, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "forebay"


def printable(text: str, keep: str = "") -> str:
    """A text from outside on one line: characters that a terminal or a browser would act upon are
    escaped, as `\\n`, `\\x1b` or `\\u202e`, except those to `keep`; blanks of any width stay."""
    if text.isprintable():
        return text

    def stays(c: str) -> bool:
        return c.isprintable() or c in keep or category(c) == "Zs"

    return "".join(c if stays(c) else c.encode("unicode_escape").decode() for c in text)


MAX_SUGGESTIONS = 5
"""Maximum number of names that an unknown one is answered with."""


def nearest(name: str, allowed: Iterable[str]) -> str:
    """` (did you mean "x" or "y"?)` with the up to five allowed names most like `name`, the nearest
    first; empty if none is like it."""
    near = [f'"{known}"' for known in _near(name, {each: each for each in allowed})]
    if not near:
        return ""
    *others, last = near
    return f" (did you mean {', '.join(others)}{' or ' if others else ''}{last}?)"


def _near(name: str, allowed: Mapping[str, str]) -> list[str]:
    """Returns the meanings of the names most like `name`, or that contain it, the nearest first."""
    import difflib

    # The hyphens of options would make all of them alike.
    word = name.lower().lstrip("-")
    known = {each.lower().lstrip("-"): meant for each, meant in allowed.items()}
    found = difflib.get_close_matches(word, known, n=MAX_SUGGESTIONS)
    found += [each for each in known if len(word) >= 3 and word in each and each not in found]
    return [known[each] for each in found[:MAX_SUGGESTIONS]]


def read_text(path: Path | str, what: str = "a scenario", suffix: str = ".toml") -> str:
    """The text of a file that the user named; `what` it should be, and how its name should end.

    Raises `UserError` for a missing file, a directory or anything else that is no file, more than
    `MAX_FILE_BYTES` bytes, no permission, or bytes that are no UTF-8.
    """
    try:
        # Opening a pipe would wait for what writes into it.
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UserError(f"{path}: is no regular file; {what} is a TOML file")
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file{_nearest_file(path)}") from None
    except NotADirectoryError:
        raise UserError(f"{path}: a part of this path is a file, not a folder") from None
    except IsADirectoryError:
        raise UserError(_folder_message(path, what, suffix)) from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise UserError(f"{path}: no file can have this name") from None
    if len(data) > MAX_FILE_BYTES:
        raise UserError(
            f"{path}: has more than {MAX_FILE_BYTES:,} bytes; {what} has at most so many"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        form = "a TOML file, and TOML is UTF-8" if suffix == ".toml" else "text in UTF-8"
        raise UserError(
            f"{path}: line {line}: not UTF-8 (byte 0x{data[error.start]:02x}); {what} is {form}"
        ) from None


def located(path: Path, errors: Iterable[Mapping[str, Any]], keys: Iterable[str]) -> UserError:
    """Pydantic's errors about a file as one `UserError`: key path, what was read, what is allowed.

    `keys` are all keys that the file may hold anywhere, for the nearest one.
    """
    known = list(keys)
    lines = []
    for entry in errors:
        where = ".".join(str(part) for part in entry["loc"])
        last = str(entry["loc"][-1]) if entry["loc"] else ""
        if entry["type"] == "extra_forbidden":
            what = f"unknown key{nearest(last, known)}; keys are {', '.join(known)}"
        elif entry["type"] == "missing":
            what = "missing; it is required"
        else:
            reason = entry["msg"]
            what = f"read {entry['input']!r}; {reason[:1].lower()}{reason[1:]}"
        lines.append(f"{path}: {where}: {what}")
    return UserError(*lines)


def output_folder(path: Path, option: str = "--out") -> Path:
    """Make the folder that results will go to, and see that it can be written to.

    Called before anything runs: hours of simulation must not end in "permission denied". Raises
    `UserError`, which begins with the `option` that named the folder, and `MachineError` when the
    disk is full.
    """
    import tempfile

    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except FileExistsError:
        raise UserError(f"{option}: {path} is a file; results go to a folder") from None
    except NotADirectoryError:
        raise UserError(f"{option}: a part of {path} is a file, not a folder") from None
    except OSError as error:
        raise unwritable(f"{option}: {path} cannot be written to", error) from None
    return path


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _nearest_file(missing: Path | str) -> str:
    path = Path(missing)
    try:
        siblings = {e.stem: e.name for e in path.parent.iterdir() if e.suffix == path.suffix}
    except OSError:
        return f"; there is no folder {path.parent}"
    # Compared without the ending, which would make every two short names alike.
    found = _near(path.stem, siblings)
    return f' (did you mean "{path.with_name(found[0])}"?)' if found else ""


def _folder_message(path: Path | str, what: str, suffix: str) -> str:
    form = "a TOML file" if suffix == ".toml" else "a file"
    message = f"{path}: is a folder; {what} is {form}"
    inside = sorted(entry for entry in os.listdir(path) if entry.endswith(suffix))
    if inside:
        message += f" such as {os.path.join(path, inside[0])}"
    return message
