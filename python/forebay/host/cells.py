"""Cells of tables of stacks: a network in which connections of a stack take the place of flows."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from forebay.errors import UserError
from forebay.extras import MissingExtraError
from forebay.host.contract import Address, Member
from forebay.run.jobs import Run, load, run_jobs

__all__ = ["Pair", "Transfer", "located", "run_cell"]

GROUP = "stack"
"""The group of flows of a network whose place connections of a stack take."""


NAMED = {"aioquic": "forebay.host.aioquic:reno"}
"""Stacks with a name of their own, and the functions that they are."""


@dataclass(frozen=True)
class Transfer:
    """Data that are transferred over a connection: `size` in bytes, `None` without end, from the
    address `server` to the address `client`. `seed` is for what random numbers of a stack can be
    seeded, another for each connection and replication."""

    size: int | None
    server: Address
    client: Address
    seed: int


Pair: TypeAlias = Callable[[Transfer], tuple[Member, Member]]
"""Makes the two ends of a connection: those of the server, which sends, and of the client, which
connects to it and reads; each what makes a stack and an application (`forebay.host.attach`)."""


@dataclass(frozen=True)
class Taken:
    """Hosts in the place of a group of flows, as a job of `forebay.run.jobs` has them."""

    pair: Pair

    def as_native(self) -> dict[str, Any]:
        """The hosts as the engine takes them."""
        return {"hosts": [], "peers": [], "taken": [(GROUP, partial(_ends, self.pair))]}


def _ends(
    pair: Pair, size: int | None, server: Address, client: Address, seed: int
) -> Sequence[Sequence[Any]]:
    """The two ends of a connection, of which none is made before its host starts."""
    made: list[tuple[Member, Member]] = []

    def end(side: int, part: int) -> Callable[..., Any]:
        def make(*arguments: Any) -> Any:
            if not made:
                made.append(pair(Transfer(size, server, client, seed)))
            maker: Any = made[0][side][part]
            return maker(*arguments)

        return make

    return [[end(side, part) for part in range(2)] for side in range(2)]


def run_cell(
    stack: str | Pair,
    network: str,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    replication: int = 0,
) -> Mapping[str, Any]:
    """The document of one run in which connections of a stack take the place of the group `stack`
    of a network.

    `stack` is a `Pair`, or names one (`located`). `network` is the path of a scenario file, or the
    name of a network that comes with Forebay; `overrides` are as of `forebay run --set`, and `seed`
    is that of the scenario if `None`. Raises `UserError` for what is wrong, and `StackError` if a
    stack ends the run.
    """
    pair = located(stack) if isinstance(stack, str) else stack
    path = Path(network)
    if not path.suffix:
        path = Path(__file__).parents[1] / "networks" / f"{network}.toml"
    job = load(path).but(
        overrides=tuple(overrides), seed=seed, replication=replication, hosts=Taken(pair)
    )
    runs: list[Run] = []
    run_jobs([job], lambda _, run: runs.append(run))
    return runs[0].document


def located(stack: str) -> Pair:
    """The stack of that name: `aioquic`, or the function in `module:function` or
    `file.py:function`. Raises `UserError` if it cannot be loaded."""
    where, _, name = NAMED.get(stack, stack).rpartition(":")
    try:
        module = _loaded(Path(where)) if where.endswith(".py") else importlib.import_module(where)
        found: Pair = getattr(module, name)
    except MissingExtraError:
        raise
    except (ImportError, AttributeError, ValueError, OSError, SyntaxError) as error:
        raise UserError(f"{stack}: cannot be loaded: {error}") from error
    return found


def _loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
