"""What the script of a scenario has left in its folder, as rows like those of a simulated run."""

from __future__ import annotations

import json
from pathlib import Path

from forebay.errors import MachineError
from forebay.linux.links import ETHERNET
from forebay.linux.topology import Topology
from forebay.linux.values import Remarks

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["read_counters"]


def read_counters(folder: Path, values: dict[str, str]) -> dict[str, Any]:
    """What flows and links did between the end of the warm-up and that of the run."""
    topology = Topology(values, Remarks())
    try:
        begin, end = (float(_text(folder, f"time.{when}")) for when in ("begin", "end"))
        window = end - begin
        flows = [_flow(folder, topology, name, window) for name in topology.flows]
        links = [
            _link(folder, topology, name, side, window)
            for name in topology.links
            for side in (0, 1)
        ]
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise MachineError(f"the run on Linux has left no counters: {error}") from error
    return {"measured_s": window, "flows": flows, "links": links}


def _text(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def _grown(folder: Path, name: str, key: str) -> int:
    """By how much a counter of a host's device, such as "rx.bytes", grew."""
    way, _, what = key.partition(".")
    begin, end = (
        json.loads(_text(folder, f"{name}.{when}.json"))[0]["stats64"][way][what]
        for when in ("begin", "end")
    )
    return int(end - begin)


def _flow(folder: Path, topology: Topology, name: str, window: float) -> dict[str, Any]:
    sender, receiver = topology.host(name, 0), topology.host(name, 1)
    packets = _grown(folder, receiver, "rx.packets")
    # A host's device counts Ethernet headers, a simulated link counts IP packets.
    size = _grown(folder, receiver, "rx.bytes") - ETHERNET * packets
    return {
        "name": name,
        "sent_packets": _grown(folder, sender, "tx.packets"),
        "delivered_packets": packets,
        "throughput_bps": 8 * size / window,
    }


def _link(folder: Path, topology: Topology, name: str, side: int, window: float) -> dict[str, Any]:
    device = topology.device(name, side)
    wire = f"{topology.device(name, 1 - side)}w"
    begin, end = (_sums(folder, device, wire, when) for when in ("begin", "end"))
    grown = {key: end[key] - begin[key] for key in end}
    return {
        "name": f"{name}.reverse" if side else name,
        "throughput_bps": 8 * grown["bytes"] / window,
        "drops": grown["drops"],
        "marks": grown["marks"],
    }


def _sums(folder: Path, device: str, wire: str, when: str) -> dict[str, int]:
    """Bytes sent by the device of a link, drops there and on its wire, and marks."""
    qdiscs = json.loads(_text(folder, f"{device}.{when}.json"))
    root = next(qdisc for qdisc in qdiscs if qdisc.get("root"))
    # A qdisc counts what those below it drop; a policer's filter drops at clsact.
    tops = [root, *(qdisc for qdisc in qdiscs if qdisc["kind"] == "clsact")]
    lost = [q for q in json.loads(_text(folder, f"{wire}.{when}.json")) if q["kind"] == "netem"]
    return {
        "bytes": root["bytes"],
        "drops": sum(qdisc["drops"] for qdisc in [*tops, *lost]),
        "marks": sum(_marks(qdiscs)),
    }


def _marks(tree: Any) -> Iterator[int]:
    """The counts of marks in what tc says of qdiscs, in their tins, too."""
    if isinstance(tree, list):
        for entry in tree:
            yield from _marks(entry)
    elif isinstance(tree, dict):
        for key, entry in tree.items():
            if key in ("ecn_mark", "marked"):
                yield int(entry)
            else:
                yield from _marks(entry)
