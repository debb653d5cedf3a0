"""Shared memories of switches in exact arithmetic: who may wait.

Dynamic thresholds are those of Choudhury and Hahne (IEEE/ACM Trans. Netw. 6(2), 1998):
T(t) = alpha (B - Q(t)). Static ones are those of Irland (1978), complete sharing that of Kamoun and
Kleinrock (1980, section II). What is reserved for a queue is apart from what is shared.
"""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

from link import quantity

__all__ = ["SHARINGS", "expected_of_memory"]


class Memory:
    """A memory with its queues, by port and number."""

    def __init__(self, case: dict[str, Any]) -> None:
        """The empty memory of a case."""
        memory = case["memory"]
        self.queues = memory.get("queues", 1)
        self.reserved = Fraction(memory.get("reserved_bytes", 0))
        self.shared = memory["bytes"] - self.reserved * self.queues * memory["ports"]
        self.law, self.parameters = case["mechanism"], case["parameters"]
        self.waiting: dict[tuple[int, int], list[int]] = {
            (port, queue): [] for port in range(memory["ports"]) for queue in range(self.queues)
        }

    def place(self, row: dict[str, Any]) -> tuple[int, int]:
        """The queue of a row."""
        return row["port"], min(row.get("precedence", 0), self.queues - 1)

    def beyond(self, held: Fraction) -> Fraction:
        """What of so many bytes of a queue is shared."""
        return max(held - self.reserved, Fraction(0))

    def free(self) -> Fraction:
        """The free part of what is shared: B - Q."""
        return self.shared - sum(self.beyond(Fraction(sum(q))) for q in self.waiting.values())

    def threshold(self, queue: int) -> Fraction:
        """What a queue may hold of it."""
        if self.law == "complete":
            return self.shared
        if self.law == "static":
            return quantity(self.parameters["limit"])
        alphas = self.parameters.get("alphas", [self.parameters.get("alpha", 1)] * self.queues)
        return Fraction(str(alphas[queue])) * self.free()

    def arrive(self, row: dict[str, Any]) -> bool:
        """A packet arrives: whether it may wait."""
        place, size = self.place(row), row["size_bytes"]
        held = Fraction(sum(self.waiting[place]))
        then, now = self.beyond(held + size), self.beyond(held)
        fits = then == 0 or (then <= self.threshold(place[1]) and then - now <= self.free())
        if fits:
            self.waiting[place].append(size)
        return fits

    def leave(self, row: dict[str, Any]) -> None:
        """The oldest packet of a queue leaves it."""
        self.waiting[self.place(row)].pop(0)

    def held(self) -> list[list[int]]:
        """Bytes by port and queue."""
        ports = sorted({port for port, _ in self.waiting})
        return [[sum(self.waiting[port, q]) for q in range(self.queues)] for port in ports]


SHARINGS = ("complete", "dynamic", "static")


def expected_of_memory(path: Path) -> dict[str, Any]:
    """What a vector of a memory expects: the number of packets taken of each row, and what is held
    after it."""
    case = tomllib.loads(path.read_text())
    memory, taken, held = Memory(case), [], []
    for row in case["events"]:
        count = row.get("count", 1)
        if row.get("leave", False):
            for _ in range(count):
                memory.leave(row)
            taken.append(0)
        else:
            taken.append(sum(memory.arrive(row) for _ in range(count)))
        held.append(memory.held())
    return {"taken": taken, "held": held}
