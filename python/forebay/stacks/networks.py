"""The networks of a table: scenario files in which the group `stack` is what is under test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay.errors import UserError, nearest, read_text
from forebay.run.jobs import expanded

__all__ = ["STACK", "Network", "network_of", "ready_networks"]

STACK = "stack"
"""The group of flows that a stack takes the place of."""

_GROUP_KEYS = ("from", "to", "count", "start", "stop", "tcp", "traffic")
_TCP_KEYS = ("control", "ecn")


@dataclass(frozen=True, slots=True)
class Network:
    """A network: its `name`, its file with its text, and the groups beside the stack.

    `rivals` are groups of TCP, `pings` those of UDP whose datagrams the far end answers; with
    `transfers` the stack sends files and ends. `ready` ones come with Forebay.
    """

    name: str
    path: Path
    text: str
    rivals: Sequence[str]
    pings: Sequence[str]
    transfers: bool
    ready: bool

    @property
    def called(self) -> str:
        """What a program is told: its name if it is ready, or the absolute path of its file."""
        return self.name if self.ready else str(self.path.resolve())


def ready_networks() -> dict[str, Path]:
    """The files of the networks that come with Forebay, by name."""
    folder = Path(__file__).parents[1] / "networks"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def network_of(word: str, folder: Path) -> Network:
    """The network that a table names: a ready one, or a file beside the table in `folder`.

    Raises `UserError` for a name that there is not, a file that cannot be read, and one whose group
    `stack` asks for what a stack in its place cannot be told.
    """
    known = ready_networks()
    is_file = word.endswith(".toml")
    if not is_file and word not in known:
        raise UserError(
            f'networks: none is called "{word}"{nearest(word, known)}; there are '
            f"{', '.join(known)}, and files ending in .toml"
        )
    path = folder / word if is_file else known[word]
    text = read_text(path)
    flows: Mapping[str, Any] = expanded(text, str(path)).get("flows", {})
    _check(path, flows)
    others = {name: group for name, group in flows.items() if name != STACK}
    return Network(
        name=path.stem,
        path=path,
        text=text,
        rivals=[name for name, group in others.items() if "tcp" in group],
        pings=[name for name, group in others.items() if _echoes(group.get("udp"))],
        transfers="file" in _table(flows[STACK].get("traffic")),
        ready=not is_file,
    )


def _check(path: Path, flows: Mapping[str, Any]) -> None:
    """Raise `UserError` unless the group `stack` says no more than a stack can be told."""
    if STACK not in flows:
        raise UserError(f"{path}: flows.{STACK}: missing; it is the group of flows under test")
    group = flows[STACK]
    place = f"{path}: flows.{STACK}"
    if "tcp" not in group:
        raise UserError(f"{place}.tcp: missing; stacks take the place of flows of TCP")
    traffic = _table(group.get("traffic", "bulk"))
    file = _table(traffic.get("file"))
    for found, allowed, where in (
        (group, _GROUP_KEYS, place),
        (_table(group["tcp"]), _TCP_KEYS, f"{place}.tcp"),
        (traffic, ("bulk", "file"), f"{place}.traffic"),
        (file, ("size",), f"{place}.traffic.file"),
    ):
        for key in found:
            if key not in allowed:
                raise UserError(
                    f"{where}.{key}: a stack cannot be told it{nearest(key, allowed)}; allowed are "
                    f"{', '.join(allowed)}"
                )


def _table(value: Any) -> Mapping[str, Any]:
    """A table of keys; of a name alone, one with that key."""
    if isinstance(value, str):
        return {value: {}}
    return value if isinstance(value, Mapping) else {}


def _echoes(udp: Any) -> bool:
    return isinstance(udp, Mapping) and udp.get("echo") is True
