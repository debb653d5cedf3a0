"""The packet trace of a run as text in the trace format of ns-2 (The ns Manual, section 26.4).

A line for each event of a packet at a link:

    event time from to type size flags fid src dst seq pktid

Events are `+` (arrival at the queue of a link), `-` (start of its transmission), `r` (arrival at
the other end) and `d` (drop; after `+`, as in ns-2). A trace does not record when a packet leaves a
queue: that follows from its arrival at the other end, less the propagation delay and the time that
its transmission takes. So packets that did not arrive have no `-`, nor do those of links of which
these change or a wire may delay packets, and of links to one that shapes them. Nodes are numbers,
in the order of the scenario; lines that begin with `#` say which are which, and so for flows. `src`
and `dst` are NODE.FLOW. Of flags there are `E` (congestion experienced) and `N` (ECN-capable, of
packets that are marked).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from forebay.errors import UserError, nearest
from forebay.paths import as_key
from forebay.run.jobs import Job, Run, check, expanded
from forebay.units import UNITS

__all__ = ["ns2_bytes", "ns2_lines"]


def ns2_bytes(job: Job, run: Run) -> bytes:
    """The packet trace of a run of `job` as the content of a text file. Raises `UserError` if there
    is none."""
    resolved = check(job.but(until=None))["resolved"]
    lines = ns2_lines(expanded(job.text, job.name), run, resolved)
    return "".join(f"{line}\n" for line in lines).encode()


def ns2_lines(
    scenario: Mapping[str, Any], run: Run, resolved: Mapping[str, str] | None = None
) -> list[str]:
    """The lines of the file, with `-` for links whose parameters are in `resolved` (those that the
    engine echoes). Raises `UserError` if the run has no trace."""
    trace = run.tables.get("trace")
    if trace is None:
        raise UserError(
            "--ns2: no packet trace was recorded; set record.trace, the most rows that it may "
            "have, in the scenario, or --set record.trace=100000"
        )
    _refuse_many(scenario)
    writer = _Writer(scenario, resolved or {})
    rows = zip(*(trace[name] for name in _COLUMNS), strict=True)
    timed = [line for row in rows for line in writer.lines(_Event(*row))]
    # The sort is stable: what happens at the same time stays in the order of its causes.
    events = [line for _, line in sorted(timed, key=lambda each: each[0])]
    heads = [f"# node {number} {name}" for name, number in writer.nodes.items()]
    heads += [f"# flow {number} {name}" for name, number in writer.flows.items()]
    return heads + events


def _refuse_many(scenario: Mapping[str, Any]) -> None:
    """Refuse a scenario with fabrics or lists of nodes: a row of its trace does not say between
    which nodes the packet is."""
    where = [f"fabrics.{as_key(name)}" for name in scenario.get("fabrics", {})]
    for name, group in scenario.get("flows", {}).items():
        lists = [end for end in ("from", "to") if isinstance(group.get(end), list)]
        where += [f"flows.{as_key(name)}.{end}" for end in lists]
    if where:
        raise UserError(
            f"--ns2: {where[0]}: the format has flows from a node to a node over links of [links]"
        )


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
        """True if it goes from the receiver to the sender."""
        return self.kind in ("ack", "notice", "report")

    @property
    def packet(self) -> tuple[str, bool, int]:
        """Identity of a packet, which only a repetition shares."""
        return self.flow, self.backward, int(self.number)


@dataclass(slots=True)
class _Packet:
    """A packet under way: its number, the node at which it is or to which it is sent, and the node
    from which."""

    number: int
    to: str
    sender: str = ""
    link: str = ""
    arrived_s: float = 0.0
    """The link that it is at, and since when."""


@dataclass(slots=True)
class _Writer:
    """Turns rows into lines, and knows which packets are where."""

    scenario: Mapping[str, Any]
    resolved: Mapping[str, str]
    ends: dict[str, tuple[str, str]] = field(init=False)
    nodes: dict[str, int] = field(init=False)
    wires: dict[str, tuple[float, float]] = field(init=False)
    """Rate and delay of links whose packets arrive a fixed time after their transmission begins."""
    shaping: set[str] = field(init=False)
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
        wires = {name: _wire(self.resolved, name) for name in self.ends}
        self.wires = {name: wire for name, wire in wires.items() if wire is not None}
        self.shaping = {name for name in self.ends if _has(self.resolved, name, "shaper")}

    def lines(self, event: _Event) -> Iterable[tuple[float, str]]:
        """The lines for a row, each with its time; none for colours, marks, and what happens in
        hosts."""
        if event.event == "sent":
            self._new(event)
        elif event.event == "delivered":
            yield from self._received(event, self._find(event, self._hosts(event)[1]))
        elif event.event == "enqueued" or event.event.startswith("dropped"):
            yield from self._at_link(event)

    def _at_link(self, event: _Event) -> Iterable[tuple[float, str]]:
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
            packet.link, packet.arrived_s = event.link, event.time_s
            yield event.time_s, self._line("+", event, packet)
        if dropped:
            self.under_way[event.packet].remove(packet)
            yield event.time_s, self._line("d", event, packet)

    def _received(self, event: _Event, packet: _Packet) -> Iterable[tuple[float, str]]:
        """It has come to the end of a link, if it has passed one: forwarding takes no time."""
        if packet.sender:
            if packet.link in self.wires and event.link not in self.shaping:
                rate, delay = self.wires[packet.link]
                begun = event.time_s - delay - 8 * event.size / rate
                # Sums of decimal fractions differ in their last digits.
                begun = max(packet.arrived_s, begun)
                yield begun, self._line("-", replace(event, time_s=begun), packet)
            yield event.time_s, self._line("r", event, packet)
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
        """Host that the packet comes from, and the one that it goes to."""
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


_LATER = ("impairment", "residual", "schedule", "trace", "profile", "rate_steps", "failure")
"""Mechanisms that make packets of a link arrive later than its rate and its delay say."""


def _sections(link: str) -> tuple[str, str]:
    """The paths of the section of a link, and of that for its own direction."""
    there = f"links.{as_key(link.removesuffix('.reverse'))}"
    return there, f"{there}.reverse" if link.endswith(".reverse") else there


def _has(resolved: Mapping[str, str], link: str, key: str) -> bool:
    """Returns true if a link, or the link whose way back it is, has a parameter or a mechanism."""
    path, _ = _sections(link)
    places = (f"{path}.{key}", f"{path}.reverse.{key}")
    return any(
        value != "absent" and (name in places or name.startswith(tuple(f"{p}." for p in places)))
        for name, value in resolved.items()
    )


def _wire(resolved: Mapping[str, str], link: str) -> tuple[float, float] | None:
    """Rate in bit/s and delay in seconds of a link, if these are all that packets meet."""
    if any(_has(resolved, link, key) for key in _LATER):
        return None
    there, own = _sections(link)
    values = []
    for key, unit in (("rate", "bps"), ("delay", "s")):
        given = resolved.get(f"{own}.{key}", "absent")
        word = given if given != "absent" else resolved.get(f"{there}.{key}", "absent")
        number, _, symbol = word.partition(" ")
        if symbol not in UNITS[unit].multiples:
            return None
        values.append(float(number) * UNITS[unit].multiples[symbol])
    return values[0], values[1]
