"""A bulk transfer between two Linux kernels over a simulated link, in simulated time.

    validation/linux/kernel.sh                      # once
    python examples/two_kernels.py [CONTROL] [MB]

The link has 10 Mbit/s, 20 ms each way and a queue of 49 packets. Printed are what the receiver has
got and when, what the queue has dropped, and a digest of the times and sizes of all packets.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heappop, heappush
from itertools import count

from forebay.linux.endpoint import Endpoint

NEVER = float("inf")

SENDER = """
import socket, sys
line = socket.create_connection(("10.0.0.2", 5001))
line.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
for _ in range(int(sys.argv[2]) // 65536):
    line.sendall(bytes(65536))
line.shutdown(socket.SHUT_WR)
line.recv(1)
"""

RECEIVER = """
import socket
line = socket.create_server(("10.0.0.2", 5001)).accept()[0]
got = 0
while part := line.recv(1 << 20):
    got += len(part)
open("got", "w").write(str(got))
"""


@dataclass
class Link:
    """A link of `rate` bit/s and `delay` s behind `limit` waiting packets: tail drop.

    `drops` are the times of the packets that found it full, `sent` those at which transmissions
    ended, each with the size in bytes.
    """

    rate: float
    delay: float
    limit: int
    drops: list[float] = field(default_factory=list)
    sent: list[tuple[float, int]] = field(default_factory=list)
    _begins: deque[float] = field(default_factory=deque)

    def carry(self, size: int, now: float) -> float | None:
        """The time at which a packet that comes now is at the other end, `None` if dropped."""
        while self._begins and self._begins[0] <= now:
            self._begins.popleft()
        if len(self._begins) >= self.limit:
            self.drops.append(now)
            return None
        begin = max(now, self.sent[-1][0] if self.sent else 0.0)
        if begin > now:
            self._begins.append(begin)
        end = begin + 8 * size / self.rate
        self.sent.append((end, size))
        return end + self.delay


Packet = tuple[float, int, str, bytes]
"""When, a number, to whom and what."""


def exchange(
    hosts: Mapping[str, Endpoint],
    links: Mapping[str, Link],
    until: float,
    *,
    ahead: bool = True,
    finished: Callable[[], bool] = lambda: False,
) -> list[tuple[float, int, str]]:
    """Run hosts, by address, and the links to them up to a time; gives each packet that a host
    has sent with its time and size. `ahead` says that hosts run while nothing can arrive."""
    arrivals: list[Packet] = []
    numbers = count()
    sent: list[tuple[float, int, str]] = []
    timers = {name: host.get_timer() or NEVER for name, host in hosts.items()}
    while not finished():
        due, name = min((time, name) for name, time in timers.items())
        first = arrivals[0][0] if arrivals else NEVER
        now = min(due, first)
        if now > until:
            break
        packet = None
        if first <= due:
            _, _, name, packet = heappop(arrivals)
        host = hosts[name]
        if ahead:
            host.nothing_before(_horizon(name, now, arrivals, timers, links))
        if packet is not None:
            host.receive_datagram(packet, None, now)
        else:
            host.handle_timer(now)
        for data, to in host.datagrams_to_send(now):
            sent.append((now, len(data), to))
            if to in links and (time := links[to].carry(len(data), now)) is not None:
                heappush(arrivals, (time, next(numbers), to, data))
        timers[name] = host.get_timer() or NEVER
    return sent


def _horizon(
    name: str,
    now: float,
    arrivals: list[Packet],
    timers: Mapping[str, float],
    links: Mapping[str, Link],
) -> float:
    """The time before which nothing arrives at a host: what is under way to it, what others may
    send from their next event on, and what they may answer to what it sends now."""
    delay = min(link.delay for link in links.values())
    mine = (time for time, _, to, _ in arrivals if to == name)
    theirs = (time + delay for time, _, to, _ in arrivals if to != name)
    others = (time + delay for other, time in timers.items() if other != name)
    return min(now + 2 * delay, *mine, *theirs, *others)


def scripts(control: str, size: int) -> list[str]:
    """What the kernels do: that of the sender, which is 10.0.0.1, and that of the receiver."""
    programs = (SENDER, RECEIVER)
    words = (f"{control} {size}", "")
    return [
        f"cat >program.py <<'END'\n{program}END\n{wait}/usr/bin/python3 program.py {arguments}\n"
        for program, arguments, wait in zip(programs, words, ("sleep 0.5\n", ""), strict=True)
    ]


def transfer(
    control: str, size: int, until: float, *, ahead: bool = True
) -> tuple[list[tuple[float, int, str]], dict[str, Link], int]:
    """Send so many bytes; gives the packets that were sent, the links, the bytes received."""
    names = ("10.0.0.1", "10.0.0.2")
    told = scripts(control, size)
    with Endpoint(names[0], told[0]) as sender, Endpoint(names[1], told[1]) as receiver:
        links = {name: Link(10e6, 0.02, 49) for name in names}
        sent = exchange(
            {names[0]: sender, names[1]: receiver},
            links,
            until,
            ahead=ahead,
            finished=lambda: receiver.status is not None,
        )
        got = receiver.folder / "got"
        return sent, links, int(got.read_text("utf-8")) if got.exists() else 0


def main(control: str = "cubic", megabytes: str = "10") -> None:
    """Print one transfer."""
    sent, links, got = transfer(control, round(float(megabytes) * 1e6), NEVER)
    digest = sha256(repr([(round(time * 1e9), *rest) for time, *rest in sent]).encode())
    print(f"{got} B received, the last packet was sent at {sent[-1][0]:.6f} s")
    print(f"{len(sent)} packets sent, {len(links['10.0.0.2'].drops)} of them dropped")
    print(f"digest {digest.hexdigest()[:16]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
