"""A Linux kernel as a host of a network in simulated time.

What the kernel sends and is sent are IP packets, at the times that the network says, so that
Linux's own TCP meets queues that are simulated.
"""

from __future__ import annotations

import ipaddress
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from forebay.errors import UserError
from forebay.linux.device import MAC
from forebay.linux.kernel import Kernel
from forebay.linux.machine import PATH

__all__ = ["Endpoint"]

_BOOT_NS = 10 * 10**9
"""The kernel's clock as its script begins: it has booted by then."""

_ETHERNET = MAC + MAC + b"\x08\x00"

# Without ARP each frame has the device's own address. The kernel gathers its randomness by reading
# the clock, thousands of times, when it is first asked for some. The script's first command begins
# up to 10 ms late, which is the resolution of /proc/uptime.
_INIT = """\
#!/bin/sh
export PATH={path} TMPDIR=/run/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mkdir -p /run/tmp /run/out
mount -t hostfs none /run/out -o {out}
ip link set lo up
ip link set eth0 arp off mtu {mtu}
ethtool -K eth0 gro off
ip addr add {address} dev eth0
ip link set eth0 up
ip route add default dev eth0
head -c 1 /dev/random >/dev/null
cd /run/out
read -r up rest </proc/uptime
sleep "$(awk "BEGIN {{ print {boot} - $up }}")"
status=0
sh -x ./script.sh >log 2>&1 || status=$?
echo "$status" >status.new
mv status.new status
sleep infinity
"""


class Endpoint:
    """A Linux kernel with one network device, which runs a shell script.

    Its four calls are those of protocol stacks without a clock of their own, such as aioquic's.
    Times are seconds of the network and never go back.

    Parameters
    ----------
    address
        IPv4 address of the device, as `10.0.0.1`; what is for any other goes out.
    script
        Commands for `sh`. They run as root of the kernel, with the programs of this machine, whose
        files they can read and not change, in `folder`, where they may write.
    mtu
        Bytes of the largest IP packet, by default 1500.
    switches
        More parameters of the kernel.
    start
        Time at which the script begins, in seconds.

    Attributes
    ----------
    folder
        What the script has written, with its output in `log`; it goes when this is closed.
    missed
        Number of packets for which the kernel had left no room.

    Raises
    ------
    UserError
        The kernel has not been built here (validation/linux/kernel.sh), or the address is none.
    MachineError
        The kernel did not boot, has ended or does not answer; also from the calls.
    """

    def __init__(
        self,
        address: str,
        script: str,
        *,
        mtu: int = 1500,
        switches: Sequence[str] = (),
        start: float = 0.0,
    ) -> None:
        try:
            self.address = str(ipaddress.IPv4Address(address))
        except ValueError as wrong:
            raise UserError(f"an endpoint's address is IPv4, as 10.0.0.1: {wrong}") from None
        self.missed = 0
        # The kernel's clock at time 0 of the network.
        self._zero_ns = _BOOT_NS - round(start * 10**9)
        self._free_ns = 0
        with ExitStack() as stack:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forebay-uml-")))
            self.folder = place / "out"
            self.folder.mkdir()
            (self.folder / "script.sh").write_text(script, encoding="utf-8")
            init = _INIT.format(
                path=PATH, out=self.folder, mtu=mtu, address=self.address, boot=_BOOT_NS // 10**9
            )
            self._kernel = Kernel(init, place, _BOOT_NS, switches)
            stack.callback(self._kernel.close)
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the kernel."""
        self._stack.close()

    @property
    def status(self) -> int | None:
        """Exit status of the script, `None` as long as it runs."""
        file = self.folder / "status"
        return int(file.read_text(encoding="utf-8")) if file.exists() else None

    def receive_datagram(self, data: bytes, addr: object, now: float) -> None:
        """An IP packet arrives; it has its source, so that `addr` is not read."""
        self._kernel.run(self._to_ns(now))
        if not self._kernel.put(_ETHERNET + data, self._to_ns(now)):
            self.missed += 1
        self._go(now)

    def datagrams_to_send(self, now: float) -> list[tuple[bytes, str]]:
        """The IP packets that the kernel has sent up to `now`, each with its destination."""
        self._go(now)
        packets = []
        while self._kernel.sent and self._kernel.sent[0][0] <= self._to_ns(now):
            packet = self._kernel.sent.popleft()[1][len(_ETHERNET) :]
            packets.append((packet, str(ipaddress.IPv4Address(packet[16:20]))))
        return packets

    def get_timer(self) -> float | None:
        """The time of the kernel's next event or packet, `None` if it has none unless a packet
        arrives."""
        due = self._kernel.sent[0][0] if self._kernel.sent else self._kernel.next_ns
        return None if due is None else max(0, due - self._zero_ns) / 10**9

    def handle_timer(self, now: float) -> None:
        """Let the kernel do what is due at `now`."""
        self._go(now)

    def nothing_before(self, time: float) -> None:
        """Let the kernel go ahead on its own at the next call, since nothing arrives before `time`
        whatever it does. Nothing comes out otherwise for it, but sooner: each event of the
        kernel costs messages."""
        self._free_ns = self._to_ns(time)

    def _go(self, now: float) -> None:
        """Take the kernel to a time, that it does all that is due then."""
        self._kernel.run(self._to_ns(now), self._free_ns)

    def _to_ns(self, time: float) -> int:
        """The kernel's clock at a time of the network."""
        return round(time * 10**9) + self._zero_ns
