"""Stacks in Python that do what a script says, and networks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forebay import Network, queue

HEADERS = 28
"""Bytes of the headers of UDP (RFC 768) and IPv4 (RFC 791)."""


WIRE: dict[str, Any] = {
    "rate": "8 Mbit/s",
    "delay": "10 ms",
    "queue": queue.droptail(limit="100 packets"),
    "reverse": {"queue": queue.droptail(limit="100 packets")},
}
"""A link of a byte each microsecond, and 10 ms."""


def line(duration: str = "1 s") -> Network:
    """Two nodes and a link."""
    return Network("line", duration=duration).link("wire", "a", "b", **WIRE)


class Scripted:
    """A stack that sends `size` bytes to `peer` at each of `times`, and notes all calls."""

    def __init__(self, peer: Any = None, times: Sequence[float] = (), size: int = 972) -> None:
        self.peer = peer
        self.times = list(times)
        self.size = size
        self.calls: list[tuple[str, float]] = []
        self.heard: list[tuple[bytes, Any, float]] = []
        self.out: list[Any] = []

    def receive_datagram(self, data: bytes, addr: Any, now: float) -> None:
        self.calls.append(("receive", now))
        self.heard.append((data, addr, now))

    def datagrams_to_send(self, now: float) -> list[Any]:
        self.calls.append(("send", now))
        out, self.out = self.out, []
        return out

    def get_timer(self) -> float | None:
        return self.times[0] if self.times else None

    def handle_timer(self, now: float) -> None:
        self.calls.append(("timer", now))
        while self.times and now >= self.times[0]:
            self.out.append((bytes(self.size), self.peer))
            self.times.pop(0)


def waits(now: float, connection: Any) -> None:
    """An application that does nothing."""


def idle() -> Any:
    """Makes the application that does nothing."""
    return waits
