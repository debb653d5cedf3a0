"""Numbers of the interface of laws, as `forebay_law.h` has them, and kinds of laws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = [
    "ACK",
    "CORRUPTED",
    "DATA",
    "DELAYED",
    "DOUBLED",
    "DROP_EARLY",
    "DROP_FORCED",
    "DROP_OVERFLOW",
    "KINDS",
    "LOST_ON_WIRE",
    "MARK",
    "NEVER",
    "NONE",
    "NOTIFICATION",
    "NO_CLASS",
    "PASS",
    "PASSES",
    "POLICE",
    "PROBE",
    "REPORT",
    "RESOURCE_CELL",
    "SECOND",
    "SEND",
    "SEND_MARKED",
    "SIGNAL_ECN",
    "SIGNAL_LOSS",
    "SIGNAL_TIMEOUT",
    "SIGNAL_TIMEOUT_AGAIN",
    "Kind",
]

NEVER = 2**63 - 1
"""Never, not known, absent."""

SECOND = 10**12
"""Picoseconds in a second."""

PASS = 0
"""Verdict: the packet is admitted, or leaves."""
MARK = 1
"""Verdict: it passes with a congestion mark; it must be ECN-capable."""
DROP_EARLY = 2
"""Verdict: it is dropped by chance, or by a rule that wants less traffic."""
DROP_FORCED = 3
"""Verdict: it is dropped because it must go: an average or a delay is too large."""
DROP_OVERFLOW = 4
"""Verdict: it is dropped for want of room."""
POLICE = 5
"""Verdict of conditioners: it is dropped because it does not conform."""

NONE = 0
"""Answer of a discipline: nothing is sent."""
SEND = 1
"""Answer of a discipline: the packet with the handle that it has written is sent."""
SEND_MARKED = 2
"""Answer of a discipline: the same, marked."""
NO_CLASS = 64
"""Answer of a scheduler that shapes: no class may be served yet."""

PASSES = 0
"""Passage of a wire: the packet arrives in time."""
DELAYED = 1
"""Passage of a wire: it arrives later, by `delay`."""
LOST_ON_WIRE = 2
"""Passage of a wire: it is lost."""
CORRUPTED = 3
"""Passage of a wire: its bits are wrong, and it is thrown away."""
DOUBLED = 4
"""Passage of a wire: it arrives twice."""

SIGNAL_LOSS = 1
"""Signal of congestion: a segment was lost, and fast retransmit repairs it."""
SIGNAL_ECN = 2
"""Signal of congestion: ECN-Echo, or marks that counters report."""
SIGNAL_TIMEOUT = 3
"""Signal of congestion: the retransmission timer expired, for this segment first."""
SIGNAL_TIMEOUT_AGAIN = 4
"""Signal of congestion: the same segment timed out before."""

DATA = 0
"""Kind of packet: data of UDP or TCP."""
PROBE = 1
"""Kind of packet: a probe of admission control."""
ACK = 2
"""Kind of packet: an acknowledgement of TCP."""
NOTIFICATION = 3
"""Kind of packet: tells a source of congestion."""
REPORT = 4
"""Kind of packet: a receiver's report, or a request."""
RESOURCE_CELL = 5
"""Kind of packet: a resource-management cell."""


class Kind(NamedTuple):
    """A kind of laws.

    `facts` is the struct of the facts that its methods get; `calls` are the methods with their
    places in the table; a law has all of `needs`, or one at least if `any`. `category` is that of
    the mechanisms among which its laws are found.
    """

    number: int
    category: str
    facts: str
    calls: Mapping[str, int]
    needs: tuple[str, ...]
    any: bool = False


KINDS: Mapping[str, Kind] = {
    "queue": Kind(
        1, "queue", "forebay_queue_facts",
        {"enqueue": 0, "dequeue": 1, "departed": 2}, ("enqueue", "dequeue"), any=True,
    ),
    "discipline": Kind(
        2, "queue", "forebay_queue_facts",
        {"enqueue": 0, "dequeue": 1, "ready_at": 3}, ("enqueue", "dequeue"),
    ),
    "scheduler": Kind(
        3, "queue", "forebay_scheduler_facts",
        {"select": 0, "activate": 1, "deactivate": 2, "served": 3, "ready_at": 4}, ("select",),
    ),
    "conditioner": Kind(
        4, "conditioner", "forebay_conditioner_facts",
        {"condition": 0, "green_at": 1}, ("condition",),
    ),
    "control": Kind(
        5, "control", "forebay_control_facts",
        {"opened": 0, "acknowledged": 1, "congested": 2, "sampled": 3, "lost": 4, "restarted": 5},
        ("acknowledged", "sampled"), any=True,
    ),
    "traffic": Kind(
        6, "traffic", "forebay_traffic_facts", {"next": 0, "describe": 1}, ("next",),
    ),
    "impairment": Kind(7, "impairment", "forebay_impairment_facts", {"passage": 0}, ("passage",)),
}  # fmt: skip
"""Every kind, by its name."""

FLAGS: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "draws": (1, tuple(KINDS)),
    "own_limit": (2, ("queue", "discipline")),
    "transparent": (4, ("queue",)),
    "shapes": (8, ("discipline", "scheduler")),
    "keeps_colours": (16, ("conditioner",)),
    "uses_rtt": (32, ("conditioner",)),
    "reorders": (64, ("impairment",)),
    "samples": (128, ("control",)),
    "exact_marks": (256, ("control",)),
    "l4s": (512, ("control",)),
    "endless": (1024, ("traffic",)),
    "transfers": (2048, ("traffic",)),
}
"""Flags with their bits, and the kinds that have them."""
