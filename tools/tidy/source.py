"""Files of the project, which are checked, and findings, which are what is said about them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tree_sitter import Node

from tidy import rust

__all__ = ["ROOT", "Finding", "Source", "in_python", "read_tree"]

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something wrong: where, what, and why there is a rule against it."""

    path: str
    line: int
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}: {self.why}"


@dataclass(frozen=True)
class Source:
    """A text file. `path` is relative to the root of the repository, with slashes.

    A file that does not parse raises `SyntaxError` when its tree is asked for.
    """

    path: str
    text: str

    @property
    def suffix(self) -> str:
        """`.rs`; empty if there is none."""
        return Path(self.path).suffix

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.text.splitlines()

    @cached_property
    def python(self) -> ast.Module:
        """The syntax tree of a Python file."""
        return ast.parse(self.text, self.path)

    @cached_property
    def rust(self) -> Node:
        """The syntax tree of a Rust file."""
        return rust.parse(self.text, self.path)

    @cached_property
    def tokens(self) -> list[str]:
        """The tokens of a Rust file outside its tests, and behind them what it imports."""
        return rust.tokens(self.rust, self.path)


CORPORA = "validation/fuzz/corpus/"
"""Inputs of fuzz targets: bytes, some of which happen to be text."""


def read_tree(root: Path = ROOT) -> list[Source]:
    """Every text file that git tracks or would track; links and binary files are left out.

    Raises `subprocess.CalledProcessError` outside a git checkout.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout
    found = []
    for path in sorted(filter(None, listed.decode().split("\0"))):
        file = root / path
        # A file that was deleted, but not yet from the index, is still listed.
        if file.is_symlink() or not file.is_file() or path.startswith(CORPORA):
            continue
        data = file.read_bytes()
        if b"\0" not in data:
            found.append(Source(path, data.decode()))
    return found


def in_python(sources: Sequence[Source], *folders: str) -> Iterator[Source]:
    """The Python files in folders, stubs left out."""
    for source in sources:
        if source.suffix == ".py" and source.path.startswith(folders):
            yield source
