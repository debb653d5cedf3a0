"""Linux kernels as hosts on networks: Linux's TCP meets queues that Forebay simulates.

    import forebay
    from forebay.linux import host

    net = forebay.Network.from_toml("bottleneck.toml")
    server = host.attach(net, "server", "iperf3 -s -1")
    host.attach(net, "client", f"sleep 1; iperf3 -c {server.address[0]}")
    results = net.run()
    forebay.host.reports(results)[0]["client"].finished_s

What two kernels send each other are the groups of flows `SERVER-CLIENT` and `CLIENT-SERVER`, each
a single flow to queues that tell flows apart: connections that are to be queued apart need kernels
of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forebay import host
from forebay.host import Address, Failed, Host
from forebay.host.contract import ApplicationMaker
from forebay.linux.endpoint import Endpoint
from forebay.linux.machine import built
from forebay.scenario.network import Network

__all__ = ["LinuxHost", "Script", "adjusted", "attach", "with_tos"]

_FIGURES = "figures"


class LinuxHost:
    """A kernel, `endpoint`, as a stack of `forebay.host`: the network has the DSCP and the ECN
    field of its packets, and what the network makes of these comes back into their headers."""

    tos = True

    def __init__(self, endpoint: Endpoint, port: int) -> None:
        self.endpoint = endpoint
        self._port = port

    def receive_datagram(
        self, data: bytes, addr: Address, now: float, tos: int | None = None
    ) -> None:
        """An IP packet arrives, with the second octet `tos`, if that is said."""
        packet = data if tos is None else with_tos(data, tos)
        self.endpoint.receive_datagram(packet, addr, now)

    def datagrams_to_send(self, now: float) -> list[tuple[bytes, Address, int]]:
        """The IP packets that the kernel has sent up to `now`."""
        packets = self.endpoint.datagrams_to_send(now)
        return [(data, (to, self._port), data[1]) for data, to in packets]

    def get_timer(self) -> float | None:
        """The time of the kernel's next event or packet."""
        return self.endpoint.get_timer()

    def handle_timer(self, now: float) -> None:
        """Let the kernel do what is due at `now`."""
        self.endpoint.handle_timer(now)

    def close(self) -> None:
        """End the kernel."""
        self.endpoint.close()


class Script:
    """The application of a kernel: its script, which finishes with status 0 and fails with others.

    Figures for the report are those that the script has written to the file `figures` of its
    folder, a name and a number on each line, and `no_room`, the number of packets that the kernel
    had no room for.
    """

    def __init__(self) -> None:
        self._outcome: bool | Failed | None = None
        self._endpoint: Endpoint | None = None

    def advance(self, now: float, connection: LinuxHost) -> bool | Failed | None:
        """See whether the script has ended."""
        self._endpoint = connection.endpoint
        if self._outcome is None and (status := self._endpoint.status) is not None:
            log = (self._endpoint.folder / "log").read_text("utf-8", "replace").splitlines()
            said = f": {log[-1]}" if log else ""
            self._outcome = status == 0 or Failed(f"its script ended with status {status}{said}")
        return self._outcome

    def figures(self) -> Mapping[str, float]:
        """Numbers by name. Raises `ValueError` for a line of the file that is none."""
        if self._endpoint is None:
            return {}
        found: dict[str, float] = {"no_room": self._endpoint.missed}
        file = self._endpoint.folder / _FIGURES
        for line in file.read_text("utf-8").splitlines() if file.exists() else ():
            name, _, number = line.partition(" ")
            found[name] = float(number)
        return found


def attach(
    network: Network,
    node: str,
    script: str,
    *,
    mtu: int = 1500,
    switches: Sequence[str] = (),
    start: str = "0 s",
    application: ApplicationMaker = Script,
) -> Host:
    """Make a kernel a host at a node of a network, as `forebay.host.attach` does.

    Each run boots a kernel, whose `script` for `sh` begins at `start`, and ends it. Its IP address
    is the first part of the host's `address`; it keeps it, and so does not move. `mtu` and
    `switches` are those of `forebay.linux.endpoint.Endpoint`. An `application` of one's own is
    handed a `LinuxHost`, with the folder of the script in its `endpoint`.

    Raises `UserError` if the kernel has not been built here (validation/linux/kernel.sh). A kernel
    that does not boot or answer ends the run by `StackError`.
    """
    built()

    def boot(now: float) -> LinuxHost:
        address, port = made.address
        return LinuxHost(Endpoint(address, script, mtu=mtu, switches=switches, start=now), port)

    made = host.attach(network, node, boot, application, start=start, headers=False)
    return made


def with_tos(packet: bytes, tos: int) -> bytes:
    """An IPv4 packet with the second octet `tos`, and the checksum of its header so."""
    if packet[1] == tos:
        return packet
    old, checksum = (int.from_bytes(packet[at : at + 2]) for at in (0, 10))
    new = old & 0xFF00 | tos
    changed = adjusted(checksum, old, new).to_bytes(2)
    return new.to_bytes(2) + packet[2:10] + changed + packet[12:]


def adjusted(checksum: int, old: int, new: int) -> int:
    """The checksum of a header in which a word of 16 bits changes (RFC 1624, equation 3)."""
    total = (checksum ^ 0xFFFF) + (old ^ 0xFFFF) + new
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF
