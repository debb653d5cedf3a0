"""The file of a table: networks, replications and stacks.

networks = ["bufferbloat", "my-network.toml"]   # default: all that come with Forebay
replications = 10                               # default
against = "forebay cubic"                       # compared with it by replication; default: none

[stacks."forebay cubic"]
model = "cubic"                                 # a control of Forebay's TCP
[stacks."quinn cubic"]
program = "quinn cubic"                         # a stack of the program that --with names
[stacks.aioquic]
python = "aioquic"                              # a stack in Python
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay.errors import UserError, located, nearest, read_text
from forebay.run.limits import MAX_RUNS
from forebay.stacks.networks import Network, network_of, ready_networks
from forebay.toml import parse

__all__ = ["QUICK", "StackFile", "Table", "load_table"]

QUICK = 3
"""Replications with `--quick`."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class StackFile(_Table):
    """A stack: a `model`, which is a control of Forebay's TCP, a stack of a `program`, or one in
    `python`; one of the three."""

    model: str = ""
    program: str = ""
    python: str = ""


class _File(_Table):
    networks: Annotated[list[str], Field(min_length=1)] | None = None
    replications: Annotated[int, Field(ge=2)] = 10
    against: str = ""
    stacks: dict[str, StackFile]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of stacks on networks as its file has it."""

    path: Path
    networks: Sequence[Network]
    replications: int
    against: str
    stacks: dict[str, StackFile]

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.path.stem

    def asked(self, networks: str | None, replications: int | None, quick: bool) -> Table:
        """The table with the networks that a pattern names, and other replications. Raises
        `UserError` for a pattern that none has, and too many runs."""
        names = [each.name for each in self.networks]
        wanted = fnmatch.filter(names, networks or "*")
        if not wanted:
            raise UserError(
                f'--networks: none is called "{networks}"{nearest(networks or "", names)}; there '
                f"are {', '.join(names)}"
            )
        number = replications or (QUICK if quick else self.replications)
        runs = number * len(wanted) * len(self.stacks)
        if runs > MAX_RUNS:
            raise UserError(f"{self.path}: asks for {runs} runs; allowed are {MAX_RUNS}")
        kept = [each for each in self.networks if each.name in wanted]
        return replace(self, networks=kept, replications=number)


def load_table(path: Path) -> Table:
    """Read the file of a table and its networks. Raises `UserError` for anything wrong in it; which
    stacks there are is found out by `forebay.stacks.columns`."""
    raw = parse(read_text(path, "a table of stacks"), path)
    if "links" in raw:
        raise UserError(
            f"{path}: is a scenario; a table of stacks is a file of its own that names one "
            f'(networks = ["{path.name}"]), with stacks'
        )
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        keys = {**_File.model_fields, **StackFile.model_fields}
        raise located(path, error.errors(), keys) from None
    if not file.stacks:
        raise UserError(f"{path}: stacks: none; a table has at least one")
    for label, stack in file.stacks.items():
        if sum(map(bool, (stack.model, stack.program, stack.python))) != 1:
            raise UserError(f'{path}: stacks."{label}": give one of model, program and python')
    if file.against and file.against not in file.stacks:
        near = nearest(file.against, file.stacks)
        told = ", ".join(file.stacks)
        raise UserError(f'{path}: against: no stack "{file.against}"{near}; there are {told}')
    words = [*ready_networks()] if file.networks is None else file.networks
    networks: dict[str, Network] = {}
    for word in words:
        try:
            found = network_of(word, path.parent)
        except UserError as error:
            raise UserError(*(f"{path}: {line}" for line in error.lines)) from None
        if found.name in networks:
            raise UserError(f'{path}: networks: two are called "{found.name}"; rename a file')
        networks[found.name] = found
    return Table(path, [*networks.values()], file.replications, file.against, file.stacks)
