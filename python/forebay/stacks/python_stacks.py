"""Stacks in Python, served by the protocol of `forebay.stacks.programs` by processes of our own.

A stack is the name of one that is known, `aioquic`, or a function that makes one:
`module:function`, or `file.py:function`. `run_cell` is all that depends on `forebay.host`, which
drives them in simulated time.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from forebay.errors import UserError, nearest
from forebay.extras import need

__all__ = ["COMMAND", "KNOWN", "located_stack", "main", "run_cell", "version"]

KNOWN = ("aioquic",)
"""The stacks that have a name of their own, each that of its library."""

HOST = "forebay.host"

START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from forebay.stacks.python_stacks import main; main()"
)
COMMAND = (sys.executable, "-P", "-c", START, str(Path(__file__).parents[2]))
"""What serves them; `cells` follows."""


def located_stack(stack: str, folder: Path, place: str) -> str:
    """The stack with the path of its file made absolute, if it has one; a table in `folder` names
    it. Raises `UserError`, which begins with `place`, for one that there is not, and where it could
    not be run."""
    where, colon, function = stack.rpartition(":")
    if not colon:
        if stack not in KNOWN:
            raise UserError(
                f'{place}: no stack in Python is called "{stack}"{nearest(stack, KNOWN)}; there is '
                f"{', '.join(KNOWN)}, and module:function and file.py:function name others"
            )
        _need_host(place)
        need(f"{place}: {stack}", stack)
        return stack
    if where.endswith(".py"):
        path = (folder / where).resolve()
        if not path.is_file():
            raise UserError(f"{place}: {path}: no such file")
        found = f"{path}:{function}"
    elif not where.replace(".", "").isidentifier() or _spec(where) is None:
        raise UserError(f"{place}: no module {where} can be imported")
    else:
        found = stack
    _need_host(place)
    return found


def version(stack: str) -> str:
    """What tells two versions of a located stack apart: that of its library, or a hash of its
    file."""
    where, colon, _ = stack.rpartition(":")
    name = where if colon else stack
    if not name.endswith(".py"):
        try:
            library = name.removeprefix(f"{HOST}.").partition(".")[0]
            return f"{name} {version_of(library)}"
        except PackageNotFoundError:
            spec = _spec(name)
            name = "" if spec is None or spec.origin is None else spec.origin
    content = Path(name).read_bytes() if Path(name).is_file() else b""
    return f"{Path(name).stem} {hashlib.blake2b(content, digest_size=8).hexdigest()}"


def run_cell(
    stack: str, network: str, overrides: Sequence[str], seed: int | None, replication: int
) -> Mapping[str, Any]:
    """The document of one run in which a located stack is the group `stack`.

    `network` is the path of a scenario file, `overrides` are as of `forebay run --set`, and `seed`
    is that of the scenario if `None`. Raises `UserError` where stacks cannot be run.
    """
    _need_host("python")
    host: Any = importlib.import_module(HOST)
    document: Mapping[str, Any] = host.run_cell(stack, network, overrides, seed, replication)
    return document


def main() -> None:
    """Answer the cells on standard input, until that ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    # What a stack prints must not be taken for an answer.
    os.dup2(2, 1)
    for line in sys.stdin:
        asked = json.loads(line)
        names = ("stack", "network", "set", "seed", "replication")
        answer: dict[str, Any]
        try:
            answer = {"result": dict(run_cell(*(asked[name] for name in names)))}
        except Exception as error:
            # Whatever a stack raises costs its cell alone.
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps({"cell": asked["cell"], **answer}) + "\n")
        answers.flush()


def _need_host(place: str) -> None:
    if find_spec(HOST) is None:
        raise UserError(
            f"{place}: this installation has no {HOST}, which runs stacks in Python; "
            "pip install 'forebay[stacks]'"
        )


def _spec(module: str) -> Any:
    try:
        return find_spec(module)
    except (ImportError, ValueError):
        return None
