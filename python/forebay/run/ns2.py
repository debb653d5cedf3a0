"""The packet trace of a run as text in the trace format of ns-2 (The ns Manual, section 26.4).

A line for each event of a packet at a link:

    event time from to type size flags fid src dst seq pktid

Events are `+` (arrival at the queue of a link), `r` (arrival at the other end) and `d` (drop; after
`+`, as in ns-2). There is no `-`: a trace does not record when a packet leaves a queue. Nodes are
numbers, in the order of the scenario; lines that begin with `#` say which are which, and so for
flows. `src` and `dst` are NODE.FLOW. Of flags there are `E` (congestion experienced) and `N`
(ECN-capable, of packets that are marked).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forebay.errors import UserError, nearest
from forebay.run.jobs import Job, Run, expanded
from forebay.run.store import write_text

__all__ = ["ns2_lines", "write_ns2"]


def write_ns2(path: Path, job: Job, run: Run) -> None:
    """Write the packet trace of a run of `job` to a text file.

    Raises `UserError` if there is none, and `MachineError` if it cannot be written.
    """
    lines = ns2_lines(expanded(job.text, job.name), run)
    write_text(path, "".join(f"{line}\n" for line in lines))


def ns2_lines(scenario: Mapping[str, Any], run: Run) -> list[str]:
    """The lines of the file. Raises `UserError` if the run has no trace."""
    trace = run.tables.get("trace")
    if trace is None:
        raise UserError(
            "--ns2: no packet trace was recorded; set record.trace, the most rows that it may "
            "have, in the scenario, or --set record.trace=100000"
        )
    writer = _Writer(scenario)
    rows = zip(*(trace[name] for name in _COLUMNS), strict=True)
    events = [line for row in rows for line in writer.lines(_Event(*row))]
    heads = [f"# node {number} {name}" for name, number in writer.nodes.items()]
    heads += [f"# flow {number} {name}" for name, number in writer.flows.items()]
    return heads + events


_COLUMNS = ("time_s", "event", "link", "flow", "number", "size_bytes", "kind")


@dataclass(frozen=True, slots=True)
class _Event:
    """A row of the trace."""

    time_s: float
    event: str
    link: str
    flow: str
    number: int
    size: int
    kind: str

    @property
    def backward(self) -> bool:
        """Whether it goes from the receiver to the sender."""
        return self.kind in ("ack", "notice", "report")

    @property
    def packet(self) -> tuple[str, bool, int]:
        """What packets have in common that only a repetition has, too."""
        return self.flow, self.backward, int(self.number)


@dataclass(slots=True)
class _Packet:
    """A packet under way: its number, the node at which it is or to which it is sent, and the node
    from which."""

    number: int
    to: str
    sender: str = ""


@dataclass(slots=True)
class _Writer:
    """Turns rows into lines, and knows which packets are where."""

    scenario: Mapping[str, Any]
    ends: dict[str, tuple[str, str]] = field(init=False)
    nodes: dict[str, int] = field(init=False)
    flows: dict[str, int] = field(default_factory=dict)
    under_way: dict[tuple[str, bool, int], list[_Packet]] = field(default_factory=dict)
    packets: int = 0

    def __post_init__(self) -> None:
        self.ends = {}
        for name, link in self.scenario.get("links", {}).items():
            ends = (str(link["from"]), str(link["to"]))
            self.ends[name] = ends
            self.ends[f"{name}.reverse"] = ends[::-1]
        names = dict.fromkeys(node for ends in self.ends.values() for node in ends)
        self.nodes = {name: number for number, name in enumerate(names)}

    def lines(self, event: _Event) -> Iterable[str]:
        """The lines for a row; none for colours, marks, and what happens in hosts."""
        if event.event == "sent":
            self._new(event)
        elif event.event == "delivered":
            yield from self._received(event, self._find(event, self._hosts(event)[1]))
        elif event.event == "enqueued" or event.event.startswith("dropped"):
            yield from self._at_link(event)

    def _at_link(self, event: _Event) -> Iterable[str]:
        if event.link not in self.ends:
            known = [name for name in self.ends if not name.endswith(".reverse")]
            raise UserError(
                f'--ns2: no nodes of "{event.link}" are known{nearest(event.link, known)}; the '
                "format has links from a node to a node, and no rings or hosts that drop"
            )
        start, end = self.ends[event.link]
        dropped = event.event != "enqueued"
        packet = self._find(event, start, end if dropped else None)
        if packet.to == start:
            yield from self._received(event, packet)
            packet.sender, packet.to = start, end
            yield self._line("+", event, packet)
        if dropped:
            self.under_way[event.packet].remove(packet)
            yield self._line("d", event, packet)

    def _received(self, event: _Event, packet: _Packet) -> Iterable[str]:
        """It has come to the end of a link, if it has passed one: forwarding takes no time."""
        if packet.sender:
            yield self._line("r", event, packet)
        if event.event == "delivered":
            self.under_way[event.packet].remove(packet)

    def _new(self, event: _Event) -> _Packet:
        packet = _Packet(self.packets, self._hosts(event)[0])
        self.packets += 1
        self.under_way.setdefault(event.packet, []).append(packet)
        return packet

    def _find(self, event: _Event, *places: str | None) -> _Packet:
        """The first that was sent of those at the first of these nodes, or on their way there."""
        waiting = self.under_way.get(event.packet, [])
        for place in places:
            for packet in waiting:
                if packet.to == place:
                    return packet
        # A copy of one that was delivered.
        packet = self._new(event)
        packet.to = str(places[0])
        return packet

    def _hosts(self, event: _Event) -> tuple[str, str]:
        """Where the packet comes from, and where it goes."""
        group = self.scenario.get("flows", {}).get(event.flow.partition("[")[0], {})
        ends = str(group.get("from", "")), str(group.get("to", ""))
        return ends[::-1] if event.backward else ends

    def _line(self, letter: str, event: _Event, packet: _Packet) -> str:
        source, target = (self.nodes.get(host, 0) for host in self._hosts(event))
        flow = self.flows.setdefault(event.flow, len(self.flows))
        flags = "----E-N" if "CE" in event.kind else "-------"
        start, end = self.nodes[packet.sender], self.nodes[packet.to]
        return (
            f"{letter} {event.time_s:.12g} {start} {end} {self._kind(event)} {event.size} {flags} "
            f"{flow} {source}.{flow} {target}.{flow} {event.number} {packet.number}"
        )

    def _kind(self, event: _Event) -> str:
        """The type of a packet as ns-2 calls it."""
        kind = event.kind.partition(",")[0]
        if kind not in ("data", "retransmission"):
            return kind
        group = self.scenario.get("flows", {}).get(event.flow.partition("[")[0], {})
        if "tcp" in group:
            return "tcp"
        return "cbr" if "cbr" in group.get("traffic", {}) else "udp"
