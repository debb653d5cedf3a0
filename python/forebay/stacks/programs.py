"""Stacks of a program: the protocol by which one is asked, and processes that speak it.

`PROGRAM list` prints one JSON object and ends:

    {"forebay": "0.1.0", "stacks": [{"name": "quinn cubic", "version": "quinn-proto 0.11.19"}]}

`forebay` is the version of Forebay that it is built with. `PROGRAM cells` reads cells from standard
input, a line of JSON each, until that ends:

    {"cell": 0, "stack": "quinn cubic", "network": "bufferbloat", "set": ["duration=10 s"],
     "seed": null, "replication": 3}

`network` is the name of one that comes with Forebay, or the absolute path of a scenario file; `set`
are changes as of `forebay run --set`; `seed` is the root seed, that of the scenario if it is null.
For each cell it answers on standard output with a line of JSON, in any order, as each ends:

    {"cell": 0, "result": {...}}
    {"cell": 0, "error": "quinn cubic: connection lost at 3.2 s: timed out"}

`result` is the document that `forebay run --json` prints, in which the group `stack` is that of the
stack: its goodput is what the application has read. A quantity that the stack does not tell, such
as `retransmissions`, is null, and has no value in the table. What it prints on standard error is
shown if it ends early, which costs the cell at work; for the next one it is started again.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay.errors import UserError, nearest
from forebay.run.documents import check_shape
from forebay.run.jobs import Job, build
from forebay.run.pool import Speech
from forebay.stacks.networks import STACK

__all__ = ["HOW", "Program", "asked_line", "speech"]

HOW = "a program built from forebay-host: --with PROGRAM"
"""Advice where there is none."""

LIST_S = 60
"""Seconds that a program may take to list its stacks."""

_LIST = {"forebay": str, "stacks": [{"name": str, "version": str}]}
_NAMED = [{"name": str}]
_RESULT = {
    **{"digest": str, "seed": int, "replication": int, "flows": _NAMED},
    **{"groups": _NAMED, "links": _NAMED, "transfers": _NAMED, "round_trips": _NAMED},
}
"""Shape of what is looked at of a result."""


class Program:
    """A program that was asked for its stacks: `command`, its words, and by the name of a stack its
    `versions`, and why its runs do not repeat, `unseeded`, empty where they do. Raises `UserError`
    if it cannot be started, or does not answer as it should."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.command = _command(words)
        found = self._asked("list")
        try:
            check_shape(Path(self.command[0]), found, _LIST)
        except UserError as error:
            raise UserError(f"--with: {error}; {HOW}") from None
        self.forebay = str(found["forebay"])
        self.versions = {str(each["name"]): str(each["version"]) for each in found["stacks"]}
        self.unseeded = {str(each["name"]): each.get("unseeded") or "" for each in found["stacks"]}

    def version(self, stack: str, place: str) -> str:
        """The version of a stack. Raises `UserError`, which begins with `place`, for one that the
        program does not have."""
        if stack not in self.versions:
            there = ", ".join(self.versions) or "none"
            near = nearest(stack, self.versions)
            raise UserError(f'{place}: {self.words} has no stack "{stack}"{near}; it has {there}')
        return self.versions[stack]

    @property
    def contents(self) -> str:
        """A hash of the files that the command names: built anew, it makes all runs again."""
        digest = hashlib.blake2b(digest_size=8)
        for word in self.command:
            if Path(word).is_file():
                digest.update(Path(word).read_bytes())
        return digest.hexdigest()

    def _asked(self, what: str) -> Any:
        try:
            made = subprocess.run(
                [*self.command, what], capture_output=True, encoding="utf-8", errors="replace",
                timeout=LIST_S, stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except OSError as error:
            raise UserError(f"--with: {self.words}: cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            told = f"`{what}` took more than {LIST_S} s"
            raise UserError(f"--with: {self.words}: {told}; {HOW}") from None
        if made.returncode:
            said = (made.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise UserError(
                f"--with: {self.words}: `{what}` ended with status {made.returncode}: {said}; {HOW}"
            )
        try:
            return json.loads(made.stdout)
        except ValueError:
            told = f"`{what}` printed no JSON object"
            raise UserError(f"--with: {self.words}: {told}; {HOW}") from None


def _command(words: str) -> list[str]:
    """The words of a command, the first as a path. Raises `UserError` if there is none."""
    try:
        command = shlex.split(words)
    except ValueError as error:
        raise UserError(f"--with: {words}: {error}") from None
    found = shutil.which(command[0]) if command else None
    if found is None:
        raise UserError(f"--with: {words}: no such program; {HOW}")
    return [found, *command[1:]]


def asked_line(at: int, job: Job, networks: Mapping[str, str]) -> str:
    """The cell of a job as a line; `networks` says what each file of a network is called."""
    return json.dumps(
        {
            "cell": at,
            "stack": job.stack,
            "network": networks[job.name],
            "set": list(job.overrides),
            "seed": job.seed,
            "replication": job.replication,
        }
    )


def speech(command: Sequence[str], networks: Mapping[str, str]) -> Speech:
    """What is said to the processes of `command` with `cells`, and heard of them."""
    return Speech(
        [*command, "cells"],
        lambda at, job: asked_line(at, job, networks),
        _heard,
        ready=True,
    )


def _heard(at: int | None, line: str) -> str:
    """An answer as a worker of Forebay gives it: `D` and the document, or `F` and a reason."""
    try:
        answer = json.loads(line)
        cell = answer["cell"]
        if cell != at:
            return _failed(f"answered cell {cell}, and was asked for {at}")
        if "result" not in answer:
            return _failed(str(answer["error"]))
        result = answer["result"]
        check_shape(Path("result"), result, _RESULT)
    except UserError as error:
        return _failed(str(error))
    except (ValueError, KeyError, TypeError):
        return _failed(f"answered no cell: {line[:200]}")
    if not any(group["name"] == STACK for group in result["groups"]):
        return _failed(f'its result has no group "{STACK}"')
    # The journal keeps runs of this build; that of the program has its own.
    return "D" + json.dumps({**result, "build": build(), "host_build": result.get("build")})


def _failed(reason: str) -> str:
    return "F" + json.dumps(reason)
