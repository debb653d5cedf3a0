"""The contract of stacks and applications in Python, and what makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

__all__ = ["Address", "Application", "ApplicationMaker", "Member", "Stack", "StackMaker"]

Address: TypeAlias = tuple[str, int]
"""An address as sockets have it: host and port."""


class Stack(Protocol):
    """A protocol stack without a clock: aioquic's `QuicConnection` is one.

    Times are seconds of simulated time, which never decrease; where a timer is due, `now` is the
    very number that `get_timer` gave. Each call that may change something (`receive_datagram`,
    `handle_timer`, and the application's) is followed by one of `datagrams_to_send`, which gives
    all that is to be sent now, and by `get_timer`.

    An attribute `ecn` that is true says that the stack knows ECN: then it is handed the field of a
    datagram as the keyword `ecn` (0 to 3, as in the IP header), and may give `(data, addr, ecn)`.
    A method `moved(now, addr)` is told the new address of a host that moves, and `probes()` gives
    numbers by name, such as `cwnd_bytes`, for recorded series.
    """

    def receive_datagram(self, data: bytes, addr: Any, now: float) -> None:
        """A datagram has arrived from an address."""

    def datagrams_to_send(self, now: float) -> Sequence[tuple[bytes, Any]]:
        """The datagrams to be sent at `now`, each with the address that it goes to."""

    def get_timer(self) -> float | None:
        """The time at which it wants to be woken, if nothing arrives before."""

    def handle_timer(self, now: float) -> None:
        """The time that `get_timer` gave has come."""


class Application(Protocol):
    """An application on a stack: it reads and writes, and says how far it is.

    A function of the same arguments is one too. `delivered`, an attribute or a method, is the
    number of bytes that it has read so far: the goodput of results. `figures()` gives numbers of
    its own by name for the report, such as a time of completion in seconds.
    """

    def advance(self, now: float, connection: Any) -> Any:
        """Read what has arrived and write what there is room for: asked when the host starts,
        after a datagram has arrived, and after it was woken.

        Gives `None` to wait for the stack, a time in seconds to be asked again by then, `True` when
        it is done (it is asked further, as its peer may not be), or `forebay.host.Failed(reason)`
        if it cannot continue, which is an outcome. An exception ends the run.
        """


StackMaker: TypeAlias = Callable[[float], Stack]
"""Makes the stack of a host for one run; the time at which it starts is its argument."""

ApplicationMaker: TypeAlias = Callable[[], Any]
"""Makes the application of a host for one run: an `Application`, or such a function."""

Member: TypeAlias = tuple[StackMaker, ApplicationMaker]
"""What makes a host."""
