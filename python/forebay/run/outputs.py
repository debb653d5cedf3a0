"""Single files that a command writes: what stands in their places is not lost by a slip.

A file is refused that the command also reads, or writes for another option; and so is one that is
there and was not written by the same option of an earlier command, unless that was asked for. What
is written replaces a file as a whole or not at all. What is no regular file, such as a pipe, is
written to as it is.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from forebay.errors import UserError, unwritable
from forebay.run.store import write_bytes

__all__ = ["CAPTURE", "FLENT", "LAB", "NS2", "PAGE", "SCRIPT", "Kind", "Output", "refuse_losses"]

HEAD = 1 << 16
"""Bytes of a file that are looked at."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: what it is called, and whether one that begins so is of our making."""

    words: str
    is_ours: Callable[[bytes], bool]


@dataclass(frozen=True, slots=True)
class Output:
    """A file that `option` asks for; `name` is that option as messages say it."""

    name: str
    path: Path
    kind: Kind

    def write(self, content: bytes) -> None:
        """Write the file. Raises what `unwritable` says if it cannot be written."""
        if _is_special(self.path):
            try:
                with self.path.open("wb") as file:
                    file.write(content)
            except OSError as error:
                told = f"{self.name}: {self.path}: cannot be written"
                raise unwritable(told, error) from error
            return
        # What a link leads to is replaced, not the link.
        write_bytes(Path(os.path.realpath(self.path)), content)


def refuse_losses(
    outputs: Sequence[Output],
    inputs: Iterable[Path],
    *,
    force: bool = False,
    advice: str = "name another file, or say --force",
) -> None:
    """Raise `UserError` for the first of `outputs` that would replace one of `inputs`, another
    output, or, without `force`, a file that is not of its kind.

    `advice` is what can be done about the last of these.
    """
    read = list(inputs)
    for number, output in enumerate(outputs):
        where = f"{output.name}: {output.path}"
        if _is_special(output.path):
            continue
        if any(_is_same(output.path, path) for path in read):
            raise UserError(f"{where}: is read or written by this command; name another file")
        for other in outputs[:number]:
            if _is_same(output.path, other.path):
                raise UserError(f"{where}: is what {other.name} writes, too; name another file")
        if not force:
            _refuse_foreign(output, advice)


def _refuse_foreign(output: Output, advice: str) -> None:
    where = f"{output.name}: {output.path}"
    try:
        with output.path.open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        if not output.path.parent.is_dir():
            raise UserError(f"{where}: there is no such folder") from None
        return
    except IsADirectoryError:
        raise UserError(f"{where}: is a folder; {output.kind.words} is a file") from None
    except NotADirectoryError:
        raise UserError(f"{where}: a part of this path is a file, not a folder") from None
    except OSError as error:
        raise UserError(f"{where}: cannot be read: {error.strerror or error}") from None
    if head and not output.kind.is_ours(head):
        raise UserError(
            f"{where}: is there and is not {output.kind.words} that Forebay wrote, so it is not "
            f"replaced; {advice}"
        )


def _is_special(path: Path) -> bool:
    """Returns true if there is something that is neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _is_same(path: Path, other: Path) -> bool:
    """Returns true if two paths lead to one file, which need not be there yet."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return os.path.realpath(path) == os.path.realpath(other)


def _is_flent(head: bytes) -> bool:
    try:
        text = zlib.decompressobj(wbits=31).decompress(head, 1 << 20)
    except zlib.error:
        return False
    return b'"NOTE": "forebay ' in text


def _is_capture(head: bytes) -> bool:
    # The section header names the program that wrote it.
    return head.startswith(b"\n\r\r\n") and b"forebay" in head[:256].lower()


def _is_script(head: bytes) -> bool:
    """A script of a network, or the commands of a link, which are tc's alone."""
    if head.startswith(b"#!/bin/sh\n# Usage, as root: sh SCRIPT [FOLDER]. Counters, "):
        return True
    lines = head.splitlines()
    return all(line.startswith((b"tc ", b"# Linux differs: ", b"# approx")) for line in lines[:-1])


FLENT = Kind("data for flent", _is_flent)
NS2 = Kind("a trace", lambda head: head.startswith(b"# node 0 "))
CAPTURE = Kind("a capture", _is_capture)
SCRIPT = Kind("a script", _is_script)
LAB = Kind("a page of the lab", lambda head: b"<title>Forebay lab</title>" in head[:2048])
PAGE = Kind("a report", lambda head: b'<meta name="generator" content="Forebay ' in head[:2048])
