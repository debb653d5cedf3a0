"""`forebay.linux.endpoint`: a Linux kernel whose clock and network device are ours."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from struct import Struct, pack, pack_into, unpack, unpack_from
from typing import Any

import pytest
from kernels import needs_kernel

from forebay.errors import MachineError, UserError
from forebay.linux.clock import FOREVER, Clock
from forebay.linux.device import MAC, NetworkDevice
from forebay.linux.endpoint import Endpoint

# --- the clock: operations of include/uapi/linux/um_timetravel.h

MESSAGE = Struct("=IIQ")
ACK, START, REQUEST, WAIT, GET, UPDATE, RUN, FREE_UNTIL, GET_TOD = range(9)


@pytest.fixture
def clock() -> Iterator[tuple[Clock, socket.socket]]:
    """A clock, and the kernel's end of its socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(5.0)
        yield Clock(ours, 1000), theirs


def test_clock_follows_the_kernel(clock: tuple[Clock, socket.socket]) -> None:
    """Each message of the kernel is answered by its sequence number, GET and GET_TOD with a time.
    The kernel stands still until it has an answer, and panics at one of another number."""
    ours, kernel = clock
    said = [(START, 7), (UPDATE, 40), (GET, 0), (GET_TOD, 0), (REQUEST, 90), (WAIT, 0)]
    answers = []
    for number, (op, time) in enumerate(said, 1):
        kernel.sendall(MESSAGE.pack(op, number, time))
        ours.serve()
        answers.append(MESSAGE.unpack(kernel.recv(MESSAGE.size)))
    assert answers == [(ACK, n, t) for n, t in enumerate((0, 0, 40, 1040, 0, 0), 1)]
    assert (ours.now_ns, ours.wanted_ns, ours.waiting) == (40, 90, True)


def test_clock_lets_the_kernel_run(clock: tuple[Clock, socket.socket]) -> None:
    """What the kernel asks before it acknowledges RUN is answered with the new time: an interrupt
    that falls between is otherwise put into the past, and the kernel panics."""
    ours, kernel = clock
    kernel.sendall(MESSAGE.pack(ACK, 1, 0) + MESSAGE.pack(GET, 9, 0) + MESSAGE.pack(ACK, 2, 0))
    ours.free_until(500)
    ours.run(90)
    got = [MESSAGE.unpack(kernel.recv(MESSAGE.size)) for _ in range(3)]
    assert got == [(FREE_UNTIL, 1, 500), (RUN, 2, 90), (ACK, 9, 90)]
    assert not ours.waiting


def test_clock_without_a_kernel(clock: tuple[Clock, socket.socket]) -> None:
    """A kernel that has ended is an error, as is a word that it does not have: a run would hang."""
    ours, kernel = clock
    kernel.sendall(MESSAGE.pack(RUN, 1, 0))
    with pytest.raises(MachineError, match="6, which is no operation"):
        ours.serve()
    kernel.close()
    with pytest.raises(MachineError, match="has ended"):
        ours.serve()


# --- the device: a driver with rings of four buffers, each of 64 B, in 8 KiB of memory

BASE, SIZE, BUFFER = 0x10000, 4, 64
HEAD = Struct("=III")
NEED_REPLY = 1 << 3


class Driver:
    """The kernel's side of a device, as arch/um/drivers/virtio_uml.c has it."""

    def __init__(self) -> None:
        ours, self.line = socket.socketpair()
        self.requests, theirs = socket.socketpair()
        self.file = os.memfd_create("memory")
        os.ftruncate(self.file, 8192)
        self.device = NetworkDevice(ours)
        region = pack("=IIQQQQ", 1, 0, BASE, 8192, BASE, 0)
        self.tell(5, region, [self.file])
        self.tell(21, b"", [theirs.fileno()])
        theirs.close()
        for index in (0, 1):
            start = BASE + 4096 * index
            self.tell(8, pack("=II", index, SIZE))
            self.tell(10, pack("=II", index, 0))
            self.tell(9, pack("=IIQQQQ", index, 0, start, start + 256, start + 128, 0))
            self.tell(18, pack("=II", index, 1))

    def tell(self, request: int, payload: bytes, files: list[int] | None = None) -> None:
        """Send a message that needs no answer."""
        message = HEAD.pack(request, 1, len(payload)) + payload
        socket.send_fds(self.line, [message], files or [])
        self.device.serve()

    def offer(self, index: int, number: int, head: int, flags: int = 0) -> None:
        """Make a buffer available as the `number`-th."""
        os.pwrite(self.file, pack("<H", head), 4096 * index + 132 + 2 * (number % SIZE))
        os.pwrite(self.file, pack("<HH", flags, number + 1), 4096 * index + 128)

    def describe(self, index: int, place: int, length: int, follower: int | None = None) -> None:
        """Fill in a descriptor; its buffer is the one of the same number."""
        address = BASE + 4096 * index + 1024 + BUFFER * place
        data = pack("<QIHH", address, length, follower is not None, follower or 0)
        os.pwrite(self.file, data, 4096 * index + 16 * place)

    def used(self, index: int) -> list[tuple[int, int]]:
        """The ring of used buffers: heads and lengths, in the order of the ring."""
        data = os.pread(self.file, 4 + 8 * SIZE, 4096 * index + 256)
        count = unpack_from("<H", data, 2)[0]
        return [unpack_from("<II", data, 4 + 8 * n) for n in range(min(count, SIZE))]

    def buffer(self, index: int, place: int, size: int) -> bytes:
        """The first bytes of a buffer."""
        return os.pread(self.file, size, 4096 * index + 1024 + BUFFER * place)


@pytest.fixture
def driver() -> Iterator[Driver]:
    """A driver and its device."""
    made = Driver()
    yield made
    made.device.close()
    made.line.close()
    made.requests.close()
    os.close(made.file)


def test_device_takes_chains(driver: Driver) -> None:
    """A frame that lies in two buffers is taken whole and without the 12 B of its virtio header,
    and the buffer goes back by its head: the driver would run out of them otherwise."""
    driver.describe(1, 2, 12, follower=0)
    driver.describe(1, 0, 5)
    os.pwrite(driver.file, b"frame", 4096 + 1024)
    driver.offer(1, 0, 2, flags=1)
    driver.tell(35, pack("=II", 1, 0))
    assert driver.device.sent == [b"frame"]
    assert driver.used(1) == [(2, 0)]
    assert driver.device.unanswered == 0


def test_device_puts_around_the_ring(driver: Driver) -> None:
    """Six frames go through a ring of four one by one, each behind a header that says one buffer;
    without a buffer none is taken: indices of rings count on beyond their size (2.6.6)."""
    for number in range(6):
        assert not driver.device.put(b"early")
        place = number % SIZE
        driver.describe(0, place, BUFFER)
        driver.offer(0, number, place, flags=1)
        frame = b"frame %d" % number
        assert driver.device.put(frame)
        assert driver.buffer(0, place, 19) == bytes(10) + b"\1\0" + frame
        assert driver.used(0)[place] == (place, 19)


def test_device_splits_over_buffers(driver: Driver) -> None:
    """A frame is laid over the buffers of a chain, and one that does not fit is an error: a short
    copy would be a broken packet that is not seen."""
    driver.describe(0, 0, 12, follower=1)
    driver.describe(0, 1, 4)
    driver.offer(0, 0, 0)
    assert driver.device.put(b"four")
    assert driver.buffer(0, 1, 4) == b"four"
    driver.offer(0, 1, 0)
    with pytest.raises(ValueError, match="a frame of 5 bytes"):
        driver.device.put(b"fives")


def test_kick_is_answered_after_its_interrupt(driver: Driver) -> None:
    """The driver that wants an interrupt for what it has sent gets it before the answer to its
    kick: it is then at the time of the kick, not at one that depends on the machine's speed."""
    driver.line.setblocking(False)
    driver.describe(1, 0, 12)
    driver.offer(1, 0, 0)
    driver.line.sendall(HEAD.pack(35, 1 | NEED_REPLY, 8) + pack("=II", 1, 0))
    driver.device.serve()
    assert unpack("=IIIII", driver.requests.recv(64)) == (4, 1 | NEED_REPLY, 8, 1, 0)
    with pytest.raises(BlockingIOError):
        driver.line.recv(64)
    driver.requests.sendall(HEAD.pack(4, 5, 8) + bytes(8))
    driver.device.interrupted()
    assert unpack("=IIIQ", driver.line.recv(64)) == (35, 5, 8, 0)


def test_device_is_asked(driver: Driver) -> None:
    """Without offloads and with its address, version 1 (bit 32) of the interface: a kernel that
    was offered more would send what no network carries. Unknown requests and addresses outside
    of the memory end the run."""
    for request, bits in ((1, {5, 30, 32}), (15, {3, 5, 9, 14})):
        driver.tell(request, b"")
        assert unpack("=IIIQ", driver.line.recv(64))[3] == sum(1 << bit for bit in bits)
    driver.tell(24, pack("=III", 0, 6, 0) + bytes(6))
    assert driver.line.recv(64)[24:] == MAC
    with pytest.raises(MachineError, match="asks for 6,"):
        driver.tell(6, b"")
    driver.offer(1, 0, 0)
    data = bytearray(16)
    pack_into("<QIHH", data, 0, BASE + 8192, 12, 0, 0)
    os.pwrite(driver.file, data, 4096)
    with pytest.raises(MachineError, match="0x12000, not its memory"):
        driver.tell(35, pack("=II", 1, 0))
    driver.line.close()
    with pytest.raises(MachineError, match="has ended"):
        driver.device.serve()


# --- the endpoint


def test_endpoint_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that is none, and a kernel that has not been built, are named with the remedy."""
    with pytest.raises(UserError, match=r"IPv4, as 10\.0\.0\.1: .*'fe80::1'"):
        Endpoint("fe80::1", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UserError, match=r"linux-uml; validation/linux/kernel\.sh builds it"):
        Endpoint("10.0.0.1", "")


@needs_kernel
@pytest.mark.long
def test_script_and_clock() -> None:
    """A script begins within 10 ms of time 0, sees the same date in every run, sleeps as long as it
    says and leaves its status: what it does is a function of the network's time alone."""
    script = "date -u +%s >begin\nsleep 2\nexit 3\n"
    with Endpoint("10.0.0.1", script) as host:
        now = 0.0
        while host.status is None:
            now = host.get_timer() or FOREVER
            host.handle_timer(now)
        # Time 0 is 10 s after the kernel's start, which is at 2024-01-01 00:00:00.
        assert (host.folder / "begin").read_text("utf-8") == "1704067210\n"
        assert 2.0 < now < 2.02
        assert host.status == 3
        assert host.datagrams_to_send(now) == []


@needs_kernel
@pytest.mark.long
def test_kernel_that_ends() -> None:
    """A kernel that powers off is an error at the call that meets it, not a run that hangs."""
    with Endpoint("10.0.0.1", "poweroff -f\n") as host, pytest.raises(MachineError, match="ended"):
        host.handle_timer(1.0)


@needs_kernel
@pytest.mark.long
def test_handshake_takes_a_round_trip(two: Any) -> None:
    """SYN and SYN-ACK have 60 B (20 of IPv4, 20 of TCP, 20 of options), 48 us at 10 Mbit/s: the
    third packet of the handshake leaves 2 x 20.048 ms after the first, to the nanosecond. Linux
    so has the network's time and no other."""
    sent, _, got = two.transfer("reno", 65536, 5.0)
    syn, syn_ack, ack = sent[:3]
    assert [size for _, size, _ in sent[:3]] == [60, 60, 52]
    assert syn_ack[0] - syn[0] == pytest.approx(0.020048, abs=1.5e-9)
    assert ack[0] - syn[0] == pytest.approx(0.040096, abs=1.5e-9)
    assert got == 65536


@needs_kernel
@pytest.mark.long
def test_going_ahead_changes_nothing(two: Any) -> None:
    """A kernel that runs alone while nothing can arrive sends the same packets at the same times
    as one that asks for each event, in another boot: else results would depend on the network's
    foresight."""
    # A transfer that has not ended by then: each full packet and each acknowledgement counts.
    fast, slow = (two.transfer("cubic", 10**7, 0.9, ahead=ahead)[0] for ahead in (True, False))
    assert fast[-1][0] > 0.89
    assert fast == slow


@needs_kernel
@pytest.mark.long
def test_slow_start_meets_the_queue(two: Any) -> None:
    """Reno in slow start fills path and queue with W packets: 40 ms at 1.2 ms each are 33.3, 1 is
    in transmission, 49 wait: 83 to 84. When the first is dropped, W acknowledgements are still to
    come from before, and each releases two packets where there is room for one: W drops, and those
    of the three duplicate acknowledgements of RFC 5681 at most. From then on half the window, 42,
    exceeds the path's 33.3, and the link is never idle."""
    _, links, got = two.transfer("reno", 6_000_000, two.NEVER)
    forth = links["10.0.0.2"]
    assert got == 6_000_000 // 65536 * 65536
    burst = [time for time in forth.drops if time < forth.drops[0] + 0.2]
    assert 83 <= len(burst) <= 84 + 3
    # A packet begins when the one before has ended; the last ones, without data, are short.
    busy = [(end, size) for end, size in forth.sent if end > forth.drops[0] and size == 1500]
    gaps = [later - 8 * size / 10e6 - end for (end, _), (later, size) in pairwise(busy)]
    assert max(gaps) < 1e-9
