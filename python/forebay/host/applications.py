"""Applications on connections that have aioquic's calls: a server of bytes, and a download.

A request is a stream with eight bytes, the number of bytes that are wanted, of which all ones mean
without end; the answer comes on the same stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from forebay.errors import UserError
from forebay.host.attached import Host
from forebay.host.contract import Address
from forebay.native import native

__all__ = ["Download", "Failed", "Serve", "download", "serve", "size_of"]

REQUEST = 8
ENDLESS = 2**64 - 1

AHEAD = 1 << 20
"""Bytes that a server has waiting in its stack, while it has some to send."""

CHUNK = bytes(1 << 16)


@dataclass(frozen=True)
class Failed:
    """The outcome of an application that cannot continue, such as that its connection was lost."""

    reason: str


def serve() -> Callable[[], Serve]:
    """A server that answers each request for bytes, for `attach`."""
    return Serve


def download(server: Host | Address, size: str | int | None = None) -> Callable[[], Download]:
    """A client that connects to a server, asks it for `size` (`"5 MB"`, bytes; without end if
    left out) and reads that, for `attach`. Raises `UserError` for what is no size."""
    return partial(Download, server, size_of(size))


def size_of(size: str | int | None) -> int | None:
    """An amount of data in bytes. Raises `UserError` for what is none."""
    if not isinstance(size, str):
        if size is not None and not 0 < size < ENDLESS:
            raise UserError(f"size: read {size!r}; allowed are at least 1 B")
        return size
    try:
        return size_of(int(native().size_bytes(size)))
    except ValueError as error:
        raise UserError(f"size: {error}") from None


@dataclass
class _Answer:
    """The answer to a request: what has come of that, and bytes left to be sent."""

    request: bytes = b""
    left: int | None = None


@dataclass
class _Conversation:
    """A connection of a server: its answers by stream, and bytes written to it."""

    answers: dict[int, _Answer] = field(default_factory=dict)
    written: int = 0


class Serve:
    """The application of a server: it answers requests on all connections of its stack.

    A stack may have several `connections`; one without is a connection itself. Each has aioquic's
    `next_event` and `send_stream_data`. Where it has `sent_bytes`, the bytes of all its datagrams
    so far, what waits in it to be sent is bounded; other stacks are given an answer in one piece,
    and none without end.
    """

    def __init__(self) -> None:
        self._of: dict[int, _Conversation] = {}

    def advance(self, now: float, stack: Any) -> None:
        """Read requests, and write what there is room for."""
        for connection in getattr(stack, "connections", [stack]):
            conversation = self._of.setdefault(id(connection), _Conversation())
            while (event := connection.next_event()) is not None:
                match type(event).__name__:
                    case "StreamDataReceived":
                        answer = conversation.answers.setdefault(event.stream_id, _Answer())
                        answer.request += event.data
                        if answer.left is None and len(answer.request) >= REQUEST:
                            answer.left = int.from_bytes(answer.request[:REQUEST], "big")
                    case "ConnectionTerminated":
                        conversation.answers.clear()
            _write(conversation, connection)


def _write(conversation: _Conversation, connection: Any) -> None:
    """Write as much of the answers as there is room for."""
    # All of what a stack has sent for the first time is in its datagrams, so at least the
    # difference is yet to be sent.
    bound = hasattr(connection, "sent_bytes")
    for stream, answer in list(conversation.answers.items()):
        if answer.left == ENDLESS and not bound:
            raise UserError(f"{connection!r} has no sent_bytes, by which answers without end go")
        while answer.left and (not bound or conversation.written - connection.sent_bytes < AHEAD):
            chunk = CHUNK[: min(len(CHUNK), answer.left)]
            if answer.left != ENDLESS:
                answer.left -= len(chunk)
            connection.send_stream_data(stream, chunk, answer.left == 0)
            conversation.written += len(chunk)
        if answer.left == 0:
            del conversation.answers[stream]


class Download:
    """The application of a client: `delivered` bytes of `size`, without end if `None`, have come
    from `server`. Its figures are `connected_s` and `first_byte_s`, times in seconds."""

    def __init__(self, server: Host | Address, size: int | None = None) -> None:
        self.server = server
        self.size = size
        self.delivered = 0
        self._stream: int | None = None
        self._figures: dict[str, float] = {}
        self._outcome: bool | Failed | None = None

    def figures(self) -> dict[str, float]:
        """Times at which something happened."""
        return self._figures

    def advance(self, now: float, connection: Any) -> bool | Failed | None:
        """Connect, ask, and read."""
        if self._stream is None:
            server = self.server
            connection.connect(server.address if isinstance(server, Host) else server, now)
            self._stream = int(connection.get_next_available_stream_id())
            wanted = ENDLESS if self.size is None else self.size
            connection.send_stream_data(self._stream, wanted.to_bytes(REQUEST, "big"), True)
        while (event := connection.next_event()) is not None:
            match type(event).__name__:
                case "HandshakeCompleted":
                    self._figures["connected_s"] = now
                case "StreamDataReceived" if event.stream_id == self._stream:
                    self._read(event, now, connection)
                case "ConnectionTerminated" if self._outcome is None:
                    why = event.reason_phrase or f"error {event.error_code:#x}"
                    self._outcome = Failed(f"connection lost: {why}")
        return self._outcome

    def _read(self, event: Any, now: float, connection: Any) -> None:
        self._figures.setdefault("first_byte_s", now)
        self.delivered += len(event.data)
        if event.end_stream:
            complete = self.delivered == self.size
            self._outcome = complete or Failed(f"the answer ended after {self.delivered} B")
            connection.close()
