"""Counters that the script of a scenario has left in its folder, as rows like those of a simulated
run."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forebay.errors import MachineError
from forebay.linux.links import ETHERNET
from forebay.linux.topology import Topology
from forebay.linux.values import Remarks
from forebay.samples import rank

__all__ = ["read_counters"]


def read_counters(folder: Path, values: dict[str, str]) -> dict[str, Any]:
    """Reads the counts of flows and links between the end of the warm-up and that of the run."""
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
    """Growth of a counter of a host's device, such as "rx.bytes"."""
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
    row = {
        "name": name,
        "sent_packets": _grown(folder, sender, "tx.packets"),
        "delivered_packets": packets,
        "throughput_bps": 8 * size / window,
    }
    read = _datagrams if topology.flows[name].below("udp") else _connections
    return {**row, **read(folder, topology, name, window)}


def _connections(folder: Path, topology: Topology, name: str, window: float) -> dict[str, Any]:
    """Segments sent again, and what each connection of a flow over TCP has brought across."""
    texts = [_text(folder, f"{topology.host(name, 0)}.tcp.{when}") for when in ("begin", "end")]
    begin, end = (_acknowledged(text) for text in texts)
    # The connection over which the ends of iperf3 agree carries less than any other.
    data = sorted(end, key=lambda port: end[port])[1:]
    again = [_retransmitted(text) for text in texts]
    found: dict[str, Any] = {"retransmissions": again[1] - again[0]}
    if len(data) == int(topology.flows[name].get("count") or "1"):
        found["shares_bps"] = [8 * (end[port] - begin.get(port, 0)) / window for port in data]
    return found


def _acknowledged(text: str) -> dict[str, int]:
    """The bytes that were acknowledged, by the local port of the connection."""
    found = re.findall(r"^\S+ +\d+ +\d+ +\S+:(\d+) .*? bytes_acked:(\d+)", text, re.MULTILINE)
    return {port: int(count) for port, count in found}


def _retransmitted(text: str) -> int:
    names, counts = (line.split() for line in text.splitlines() if line.startswith("Tcp: "))
    return int(counts[names.index("RetransSegs")])


def _datagrams(folder: Path, topology: Topology, name: str, window: float) -> dict[str, Any]:
    """Delays of what arrived in the measured time, and the share of each source."""
    index = list(topology.flows).index(name)
    begin, end = (float(_text(folder, f"time.{when}")) for when in ("begin", "end"))
    rows = [line.split() for line in _text(folder, f"flow{index}.delays").splitlines()]
    rows = [row for row in rows if begin <= float(row[0]) < end]
    delays = sorted(float(row[1]) for row in rows)
    sizes = [0] * int(topology.flows[name].get("count") or "1")
    for row in rows:
        sizes[int(row[2])] += int(row[3])
    return {
        "mean_delay_s": math.fsum(delays) / len(delays) if delays else 0.0,
        "p95_delay_s": delays[rank(0.95, len(delays)) - 1] if delays else 0.0,
        "shares_bps": [8 * size / window for size in sizes],
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
            if key in ("ecn_mark", "ce_mark", "marked"):
                yield int(entry)
            else:
                yield from _marks(entry)
