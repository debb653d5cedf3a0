"""`forebay.linux.host`: Linux kernels as hosts on networks of Forebay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from kernels import needs_kernel

import forebay
from forebay import Network, queue
from forebay.errors import MachineError, StackError, UserError
from forebay.linux import host
from forebay.linux.endpoint import Endpoint

LIMIT = "49 packets"


def line(duration: str, law: Any = None) -> Network:
    """The link of examples/two_kernels.py, or one with another queue law."""
    net = Network("line", duration=duration)
    law = law or queue.droptail(limit=LIMIT)
    net.link("line", "a", "b", rate="10 Mbit/s", delay="20 ms", queue=law)
    return net.set("links.line.reverse.queue.droptail.limit", LIMIT)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Endpoints that note, as attributes of their class, themselves and what they have sent."""

    class Watched(Endpoint):
        sent: ClassVar[list[tuple[float, int, str]]] = []
        made: ClassVar[list[Endpoint]] = []

        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            self.made.append(self)

        def datagrams_to_send(self, now: float) -> list[tuple[bytes, str]]:
            packets = super().datagrams_to_send(now)
            self.sent.extend((now, len(data), to) for data, to in packets)
            return packets

    monkeypatch.setattr(host, "Endpoint", Watched)
    return Watched


# --- headers


def test_checksum_is_adjusted() -> None:
    """The example of RFC 1624, section 4: 0xDD2F becomes 0x0000 as 0x5555 becomes 0x3285, where
    the equation of RFC 1141 gives 0xFFFF, which no receiver accepts."""
    assert host.adjusted(0xDD2F, 0x5555, 0x3285) == 0x0000


def test_class_of_a_packet() -> None:
    """Whatever class a network gives a packet, its words add up to 0xFFFF as before (RFC 1071), and
    the octet alone has changed: Linux drops a packet with a wrong checksum without a word."""
    header = bytearray.fromhex("4500 003c 1c46 4000 4006 0000 0a00 0001 0a00 0002")
    # RFC 1071: the complement of the sum of the words, with its carries.
    header[10:12] = (0xFFFF - _sum(header)).to_bytes(2)
    packet = bytes(header) + b"data"
    for tos in range(256):
        made = host.with_tos(packet, tos)
        assert made[1] == tos
        assert _sum(made[:20]) == 0xFFFF
        assert made[2:10] + made[12:] == packet[2:10] + packet[12:]
        assert host.with_tos(made, 0) == packet


def _sum(header: bytes | bytearray) -> int:
    total = sum(int.from_bytes(header[at : at + 2]) for at in range(0, len(header), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_without_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that has not been built is named with the remedy where it is attached: it would
    else be found missing in the midst of a run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UserError, match=r"linux-uml; validation/linux/kernel\.sh builds it"):
        host.attach(line("1 s"), "a", "")


# --- kernels


@needs_kernel
@pytest.mark.long
def test_same_packets_as_over_a_loop_in_python(
    two: Any,
    watched: Any,
) -> None:
    """Over Forebay's tail drop two kernels send the packets that they send over the forty lines of
    the example, each at the same nanosecond, and as many are lost: neither the engine nor what lies
    between it and the kernel adds anything. Slow start overflows the queue within the first second,
    as test_slow_start_meets_the_queue has it: so the queues meet at their limits."""
    until = 2.0
    packets, links, _ = two.transfer("reno", 10**7, until)
    net = line(f"{until} s")
    for node, script in zip("ab", two.scripts("reno", 10**7), strict=True):
        host.attach(net, node, script)
    drops = net.run().values("links", "line", "drops")
    assert drops == [len(links["10.0.0.2"].drops)]
    assert drops[0] > 83

    def nanoseconds(sent: list[tuple[float, int, str]]) -> list[tuple[int, str, int]]:
        return sorted((round(time * 1e9), to, size) for time, size, to in sent)

    assert nanoseconds(watched.sent) == nanoseconds(packets)


MARKED_SERVER = """
sysctl -qw net.ipv4.tcp_ecn=1
/usr/bin/python3 - <<'END'
import socket
line = socket.create_server(("", 5001)).accept()[0]
while line.recv(1 << 20):
    pass
END
# The names of counters are on a line, their values on the next.
cat /proc/net/snmp /proc/net/netstat | awk '
    !($1 in names) { names[$1] = $0; next }
    { n = split(names[$1], name); for (i = 2; i <= n; i++) print name[i], $i; delete names[$1] }
' >figures
"""

MARKED_CLIENT = """
sysctl -qw net.ipv4.tcp_ecn=1
sleep 0.1
exec /usr/bin/python3 - <<'END'
import socket
line = socket.create_connection(("10.0.0.1", 5001))
line.sendall(bytes(1_000_000))
END
"""


@needs_kernel
@pytest.mark.long
def test_marks_reach_the_kernel() -> None:
    """Linux counts as many packets with CE (InCEPkts) as the queue has marked, and no header with a
    wrong checksum (InHdrErrors); nothing is lost, as the sender hears of the marks. All that it
    sends after the handshake but the FIN without data and acknowledgements is ECT(0) (InECT0Pkts):
    1 MB at 1448 B are 691 segments."""
    net = line("4 s", queue.step(threshold="20 packets"))
    host.attach(net, "b", MARKED_SERVER)
    host.attach(net, "a", MARKED_CLIENT)
    results = net.run()
    server = forebay.host.reports(results)[0]["b"]
    marks = results.values("links", "line", "marks")[0]
    assert server.failed is None
    assert server.finished_s is not None
    assert marks > 0
    assert server.figures["InCEPkts"] == marks == server.marked
    assert server.figures["InCEPkts"] + server.figures["InECT0Pkts"] == 691
    assert server.figures["InHdrErrors"] == server.figures["no_room"] == 0
    assert results.values("links", "line", "drops") == [0]


@needs_kernel
@pytest.mark.long
def test_scripts_begin_and_end() -> None:
    """A script begins within 10 ms of the start of its host and is finished with status 0, else it
    has failed, with the last line of its log: results must not hide that Linux did nothing."""
    net = line("5 s")
    host.attach(net, "a", "sleep 1\necho count 3 >figures\n", start="2 s")
    host.attach(net, "b", "echo no such thing >&2\nexit 3\n")
    report = forebay.host.reports(net.run())[0]
    finished, failed = report["a"].finished_s, report["b"].failed
    assert finished is not None
    assert 3.0 < finished < 3.02
    assert report["a"].figures == {"no_room": 0, "count": 3}
    assert failed is not None
    assert 0 <= failed[0] < 0.02
    assert failed[1] == "its script ended with status 3: + exit 3"


class Fails:
    """A stack that raises as its timer expires."""

    def receive_datagram(self, data: bytes, addr: Any, now: float) -> None:
        """Nothing."""

    def datagrams_to_send(self, now: float) -> list[tuple[bytes, Any]]:
        """Nothing."""
        return []

    def get_timer(self) -> float | None:
        """After the kernel's start."""
        return 0.3

    def handle_timer(self, now: float) -> None:
        """Raise."""
        raise LookupError("not here")


def _kernel(net: Network) -> None:
    host.attach(net, "b", "sleep 100")


def _failing(net: Network) -> None:
    forebay.host.attach(net, "b", lambda now: Fails(), lambda: lambda now, connection: None)


@needs_kernel
@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "other", "cause", "kernels"),
    [
        ("sleep 100", _kernel, None, 4),
        ("sleep 100", _failing, LookupError, 1),
        ("poweroff -f", _kernel, MachineError, 2),
    ],
    ids=["run ends", "other stack raises", "kernel ends"],
)
def test_no_kernel_is_left(
    script: str,
    other: Callable[[Network], None],
    cause: type[Exception] | None,
    kernels: int,
    watched: Any,
) -> None:
    """When a run is over, for whatever reason, its kernels have ended and their folders are gone;
    each replication has its own. Kernels that are left would take 40 MB each."""
    net = line("1 s")
    host.attach(net, "a", script)
    other(net)
    if cause is None:
        net.run(replications=2)
    else:
        with pytest.raises(StackError) as found:
            net.run()
        assert isinstance(found.value.__cause__, cause)
    assert len(watched.made) == kernels
    for kernel in watched.made:
        assert kernel._kernel._process.returncode is not None
        assert not kernel.folder.exists()
