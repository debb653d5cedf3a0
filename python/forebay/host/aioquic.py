"""aioquic (https://github.com/aiortc/aioquic) on networks: QUIC, RFC 9000, as released.

    from forebay.host import aioquic

    forebay.host.attach(net, "server", aioquic.server("cubic"), forebay.host.serve())
    forebay.host.attach(net, "client", aioquic.client(), forebay.host.download(server, "5 MB"))

Congestion controls are those that aioquic knows by name, `reno` and `cubic`, and those that were
registered with it (`aioquic.quic.congestion.base.register_congestion_control`). It sends no ECN.
`forebay[stacks]` installs it.
"""

from __future__ import annotations

import ssl
from collections import deque
from typing import Any

from forebay.errors import UserError
from forebay.extras import need
from forebay.host.applications import download, serve
from forebay.host.cells import Pair, Transfer
from forebay.host.contract import Address, Member, StackMaker
from forebay.native import native

need("forebay.host.aioquic", "aioquic")

from aioquic.buffer import Buffer  # type: ignore[attr-defined] # noqa: E402 (asked for above)
from aioquic.quic.configuration import (  # noqa: E402
    SMALLEST_MAX_DATAGRAM_SIZE,
    QuicConfiguration,
)
from aioquic.quic.congestion.base import create_congestion_control  # noqa: E402
from aioquic.quic.connection import QuicConnection  # noqa: E402
from aioquic.quic.events import (  # noqa: E402
    ConnectionIdIssued,
    ConnectionIdRetired,
    QuicEvent,
)
from aioquic.quic.packet import QuicPacketType, pull_quic_header  # noqa: E402
from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: E402
from cryptography.x509 import load_pem_x509_certificate  # noqa: E402

__all__ = ["Connection", "Server", "client", "configuration", "cubic", "pair", "reno", "server"]

PROTOCOL = "forebay"

WINDOW = 1 << 24
"""Flow-control windows, 16 MiB: so large that the congestion control alone decides."""


class Connection:
    """A connection of aioquic as a host has it: `quic` is aioquic's own, whose attributes this has
    besides. `sent_bytes` are those of all its datagrams so far."""

    def __init__(self, quic: QuicConnection) -> None:
        self.quic = quic
        self.sent_bytes = 0
        self.events: deque[QuicEvent] = deque()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.quic, name)

    def next_event(self) -> QuicEvent | None:
        """The next event, as of aioquic."""
        return self.events.popleft() if self.events else self.quic.next_event()

    def receive_datagram(self, data: bytes, addr: Address, now: float) -> None:
        """A datagram has arrived."""
        self.quic.receive_datagram(data, addr, now)

    def datagrams_to_send(self, now: float) -> list[tuple[bytes, Address]]:
        """The datagrams to be sent at `now`; none of a client that has not connected."""
        if self.quic.get_peer_address() is None:
            return []
        datagrams = self.quic.datagrams_to_send(now)
        self.sent_bytes += sum(len(data) for data, _ in datagrams)
        return datagrams

    def get_timer(self) -> float | None:
        """The time at which it wants to be woken."""
        return self.quic.get_timer()

    def handle_timer(self, now: float) -> None:
        """The time that `get_timer` gave has come."""
        self.quic.handle_timer(now)

    def probes(self) -> dict[str, float]:
        """Window, bytes in flight and smoothed round-trip time, as far as aioquic has them: they
        are no part of its interface."""
        recovery = getattr(self.quic, "_loss", None)
        names = {
            "cwnd_bytes": "congestion_window",
            "in_flight_bytes": "bytes_in_flight",
            "srtt_s": "_rtt_smoothed",
        }
        return {name: getattr(recovery, of) for name, of in names.items() if hasattr(recovery, of)}


class Server:
    """A server of aioquic: it makes a connection of each first datagram of a client, in
    `connections`, and hands it those that follow by their connection IDs."""

    def __init__(self, settings: QuicConfiguration) -> None:
        self._settings = settings
        self._by_id: dict[bytes, Connection] = {}
        self.connections: list[Connection] = []

    def receive_datagram(self, data: bytes, addr: Address, now: float) -> None:
        """A datagram has arrived: it is dropped unless it is of a connection, or begins one."""
        try:
            header = pull_quic_header(
                Buffer(data=data), host_cid_length=self._settings.connection_id_length
            )
        except ValueError:
            return
        connection = self._by_id.get(header.destination_cid)
        if connection is None:
            # RFC 9000, section 14.1: a smaller first datagram is not answered.
            if (
                header.packet_type is not QuicPacketType.INITIAL
                or len(data) < SMALLEST_MAX_DATAGRAM_SIZE
            ):
                return
            quic = QuicConnection(
                configuration=self._settings,
                original_destination_connection_id=header.destination_cid,
            )
            connection = Connection(quic)
            self.connections.append(connection)
            self._by_id[header.destination_cid] = self._by_id[quic.host_cid] = connection
        connection.receive_datagram(data, addr, now)
        self._note(connection)

    def _note(self, connection: Connection) -> None:
        """Know the connection IDs that a connection has issued, and forget those retired."""
        while (event := connection.quic.next_event()) is not None:
            if isinstance(event, ConnectionIdIssued):
                self._by_id[event.connection_id] = connection
            elif isinstance(event, ConnectionIdRetired):
                self._by_id.pop(event.connection_id, None)
            connection.events.append(event)

    def datagrams_to_send(self, now: float) -> list[tuple[bytes, Address]]:
        """The datagrams of all connections that are to be sent at `now`."""
        return [each for one in self.connections for each in one.datagrams_to_send(now)]

    def get_timer(self) -> float | None:
        """The first time at which a connection wants to be woken."""
        timers = (connection.get_timer() for connection in self.connections)
        return min((timer for timer in timers if timer is not None), default=None)

    def handle_timer(self, now: float) -> None:
        """The time of some connections has come."""
        for connection in self.connections:
            if (timer := connection.get_timer()) is not None and timer <= now:
                connection.handle_timer(now)

    def probes(self) -> dict[str, float]:
        """Those of the first connection."""
        return self.connections[0].probes() if self.connections else {}


def configuration(
    is_client: bool, congestion: str = "reno", *, mtu: int | None = None, **others: Any
) -> QuicConfiguration:
    """The configuration of a connection, with the certificate for tests, which is of fixed length,
    and windows of 16 MiB.

    `congestion` is the name of a congestion control, `mtu` the largest datagram in bytes, without
    headers of UDP and IP (default: aioquic's, 1200; 1500 B hold 1472), and `others` are fields of
    aioquic's `QuicConfiguration`. Raises `UserError` for a congestion control that aioquic does not
    know, or a datagram that is too small for QUIC.
    """
    size = SMALLEST_MAX_DATAGRAM_SIZE if mtu is None else mtu
    if size < SMALLEST_MAX_DATAGRAM_SIZE:
        raise UserError(f"mtu: read {mtu}; allowed are {SMALLEST_MAX_DATAGRAM_SIZE} B and more")
    try:
        create_congestion_control(congestion, max_datagram_size=size)
    except Exception as error:
        raise UserError(f"congestion: {error}; aioquic has reno and cubic, and what was "
                        "registered with it") from None  # fmt: skip
    certificate, key, name = native().host_certificate()
    made = QuicConfiguration(
        is_client=is_client,
        alpn_protocols=[PROTOCOL],
        congestion_control_algorithm=congestion,
        max_data=WINDOW,
        max_datagram_size=size,
        max_stream_data=WINDOW,
        server_name=name,
        verify_mode=ssl.CERT_REQUIRED,
    )
    if is_client:
        made.load_verify_locations(cadata=certificate.encode())
    else:
        made.certificate = load_pem_x509_certificate(certificate.encode())
        made.private_key = load_pem_private_key(key.encode(), password=None)
    for field, value in others.items():
        if not hasattr(made, field):
            raise UserError(f"{field}: is no field of aioquic's QuicConfiguration")
        setattr(made, field, value)
    return made


def server(congestion: str = "reno", *, mtu: int | None = None, **others: Any) -> StackMaker:
    """A server, for `forebay.host.attach`; arguments and errors are those of `configuration`."""
    settings = configuration(False, congestion, mtu=mtu, **others)
    return lambda now: Server(settings)


def client(congestion: str = "reno", *, mtu: int | None = None, **others: Any) -> StackMaker:
    """A client, for `forebay.host.attach`; arguments and errors are those of `configuration`."""
    settings = configuration(True, congestion, mtu=mtu, **others)
    return lambda now: Connection(QuicConnection(configuration=settings))


def pair(congestion: str = "reno", *, mtu: int | None = None, **others: Any) -> Pair:
    """A stack of tables: the two ends of a connection; arguments and errors are those of
    `configuration`."""
    sending = server(congestion, mtu=mtu, **others)
    reading = client(congestion, mtu=mtu, **others)

    def ends(transfer: Transfer) -> tuple[Member, Member]:
        return (sending, serve()), (reading, download(transfer.server, transfer.size))

    return ends


def reno(transfer: Transfer) -> tuple[Member, Member]:
    """A connection with aioquic's NewReno, for a table of stacks."""
    return pair("reno")(transfer)


def cubic(transfer: Transfer) -> tuple[Member, Member]:
    """A connection with aioquic's CUBIC, for a table of stacks."""
    return pair("cubic")(transfer)
