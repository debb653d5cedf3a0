"""A link with a queue in exact arithmetic: what the models of mechanisms here have in common.

Times are `Fraction`s of seconds since the start, so no result depends on rounding. A model
(`Model`) reports each drop and mark to its `Log`. It is written from the standard alone and shares
nothing with a simulator.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

__all__ = ["Case", "Log", "Model", "Packet", "quantity", "read", "root", "run"]

NS = 10**9
UNITS = {
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "ns": Fraction(1, NS),
    "B": Fraction(1),
    "kB": Fraction(1000),
    "MB": Fraction(10**6),
    "packets": Fraction(1),
    "bit/s": Fraction(1),
    "kbit/s": Fraction(10**3),
    "Mbit/s": Fraction(10**6),
    "Gbit/s": Fraction(10**9),
}


def quantity(text: str) -> Fraction:
    """The number in `"5 ms"`, in seconds, bytes, packets or bit/s."""
    number, unit = text.split()
    return Fraction(number) * UNITS[unit]


def root(value: Fraction) -> Fraction:
    """The square root of `value`, to 40 digits behind the point and exact where it is rational."""
    exact = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    if exact * exact == value:
        return exact
    return Fraction(isqrt(value.numerator * 10**80 // value.denominator), 10**40)


@dataclass
class Packet:
    """A packet that arrives at `at`."""

    number: int
    at: Fraction
    size: int
    flow: int
    ecn: str
    precedence: int
    ack: bool
    dscp: int = 0
    hosts: tuple[int, int] | None = None
    entered: Fraction = Fraction(0)

    @property
    def capable(self) -> bool:
        """True if the packet may be marked."""
        return self.ecn != "not-ect"


@dataclass
class Log:
    """Log of packets: rows of a number, a time and, of drops, a reason."""

    departures: list[list[Any]] = field(default_factory=list)
    drops: list[list[Any]] = field(default_factory=list)
    marks: list[list[Any]] = field(default_factory=list)

    def drop(self, packet: Packet, now: Fraction, reason: str) -> None:
        """`packet` is dropped."""
        self.drops.append([packet.number, nanoseconds(now), reason])

    def mark(self, packet: Packet, now: Fraction) -> None:
        """`packet` gets the CE codepoint."""
        self.marks.append([packet.number, nanoseconds(now)])


class Model(Protocol):
    """A mechanism."""

    def enqueue(self, packet: Packet, now: Fraction, idle: Fraction | None) -> None:
        """Accept or drop an arriving packet; `idle`: since when the link is, if it is."""

    def dequeue(self, now: Fraction) -> Packet | None:
        """The packet to transmit next."""

    def waiting(self) -> list[Packet]:
        """Returns the packets that wait, in any order."""

    def state(self) -> dict[str, Fraction]:
        """Its named quantities."""


@runtime_checkable
class Shaper(Model, Protocol):
    """A mechanism that may hold packets back."""

    def ready(self, now: Fraction) -> Fraction:
        """Returns the time at which to ask again, if `dequeue` gave nothing at `now` and packets
        wait."""


@dataclass
class Case:
    """A vector: its inputs, and the instants and names of the states that it asks for."""

    mechanism: str
    link_bps: int
    parameters: dict[str, Any]
    arrivals: list[Packet]
    states: list[dict[str, Any]]


def read(path: Path) -> Case:
    """The case in a file."""
    data = tomllib.loads(path.read_text())
    packets = []
    for row in data["arrivals"]:
        for index in range(row.get("count", 1)):
            at = Fraction(row["at_ns"] + index * row.get("every_ns", 0), NS)
            ecn, precedence = row.get("ecn", "not-ect"), row.get("precedence", 0)
            flow, ack = row.get("flow", 0), row.get("ack", False)
            size, dscp = row["size_bytes"], row.get("dscp", 0)
            hosts = (row["from"], row["to"]) if "from" in row else None
            packets.append(Packet(0, at, size, flow, ecn, precedence, ack, dscp, hosts))
    packets.sort(key=lambda packet: packet.at)
    for number, packet in enumerate(packets):
        packet.number = number
    states = data["expected"].get("state", [])
    return Case(data["mechanism"], data["link_bps"], data["parameters"], packets, states)


def nanoseconds(time: Fraction) -> int:
    """A time to the nearest nanosecond."""
    return round(time * NS)


def run(case: Case, model: Model, log: Log) -> dict[str, Any]:
    """The outcome of a case under a model, as the section `expected` has it."""
    arrivals, free, states = list(case.arrivals), Fraction(0), []
    asked, last, held = list(case.states), -1, Fraction(0)
    while True:
        start = max(free, held) if model.waiting() else None
        arrival = arrivals[0].at if arrivals else None
        times = [time for time in (start, arrival) if time is not None]
        now = min(times) if times else None
        while asked and (now is None or nanoseconds(now) > asked[0]["at_ns"]):
            found = backlog(model) | model.state()
            row = asked.pop(0)
            assert row["at_ns"] == last, f"nothing happens at {row['at_ns']} ns"
            values = {name: found[name] for name in row if name != "at_ns"}
            states.append({"at_ns": row["at_ns"], **values})
        if now is None:
            break
        last = nanoseconds(now)
        if start == now:
            packet = model.dequeue(now)
            if packet is not None:
                log.departures.append([packet.number, nanoseconds(now)])
                free = now + Fraction(8 * packet.size, case.link_bps)
            elif model.waiting() and isinstance(model, Shaper):
                held = model.ready(now)
        else:
            idle = free if free <= now and not model.waiting() else None
            packet = arrivals.pop(0)
            packet.entered = now
            model.enqueue(packet, now, idle)
            free = free if idle is None else now
            # What arrived may leave before what is held back.
            held = now if free <= now else held
    outcome = {"departures": log.departures, "drops": log.drops, "marks": log.marks}
    return outcome | {"state": states}


def backlog(model: Model) -> dict[str, Fraction]:
    """Returns the packets and bytes that wait."""
    waiting = model.waiting()
    sizes = sum(packet.size for packet in waiting)
    return {"backlog_packets": Fraction(len(waiting)), "backlog_bytes": Fraction(sizes)}


def fits(limit: str | None, size: int, waiting: list[Packet]) -> bool:
    """Returns True if a buffer of `limit`, in packets or bytes, has room beside what waits."""
    if limit is None:
        return True
    if re.fullmatch(r"\d+ packets", limit):
        return len(waiting) < quantity(limit)
    return sum(packet.size for packet in waiting) + size <= quantity(limit)
