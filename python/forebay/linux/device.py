"""The other end of a network device of User Mode Linux: virtio-net over vhost-user.

The kernel's driver is arch/um/drivers/virtio_uml.c. Notifications in both directions are messages
on the sockets (`VHOST_USER_PROTOCOL_F_INBAND_NOTIFICATIONS`), and each of the kernel's waits for
its answer, so that the kernel does nothing else meanwhile. Rings are split virtqueues of the
Virtual I/O Device specification 1.1, section 2.6.
"""

from __future__ import annotations

import mmap
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct, pack_into, unpack_from

from forebay.errors import MachineError

__all__ = ["MAC", "NetworkDevice"]

MAC = bytes([2, 0, 0, 0, 0, 1])
"""The address of a device, and of all that it sends to: there is none to be asked for."""


class _Request(IntEnum):
    GET_FEATURES = 1
    SET_FEATURES = 2
    SET_OWNER = 3
    SET_MEM_TABLE = 5
    SET_VRING_NUM = 8
    SET_VRING_ADDR = 9
    SET_VRING_BASE = 10
    GET_PROTOCOL_FEATURES = 15
    SET_PROTOCOL_FEATURES = 16
    SET_VRING_ENABLE = 18
    SET_SLAVE_REQ_FD = 21
    GET_CONFIG = 24
    VRING_KICK = 35


_OF_RINGS = {_Request.SET_VRING_NUM, _Request.SET_VRING_ENABLE, _Request.SET_VRING_BASE}
_ONLY_TOLD = {_Request.SET_OWNER, _Request.SET_FEATURES, _Request.SET_PROTOCOL_FEATURES}

_VRING_CALL = 4  # a request of the device's

_HEADER = Struct("=III")  # request, flags, size of the payload
_VERSION, _REPLY, _NEED_REPLY = 1, 1 << 2, 1 << 3
_INTEGER = Struct("=Q")
_STATE = Struct("=II")
_ADDRESSES = Struct("=IIQQQQ")  # index, flags, descriptors, used, available, log
_REGION = Struct("=QQQQ")
_CONFIG = Struct("=III")

# VIRTIO_NET_F_MAC, VHOST_USER_F_PROTOCOL_FEATURES, VIRTIO_F_VERSION_1: no offloads, no merging.
_FEATURES = 1 << 5 | 1 << 30 | 1 << 32
# REPLY_ACK, SLAVE_REQ, CONFIG, INBAND_NOTIFICATIONS.
_PROTOCOL_FEATURES = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14

_RECEIVE, _TRANSMIT = 0, 1
_DESCRIPTOR = Struct("<QIHH")  # address, length, flags, next
_NEXT, _NO_INTERRUPT = 1, 1
_NET_HEADER = 12  # struct virtio_net_hdr_v1


@dataclass
class _Ring:
    size: int = 0
    descriptors: int = 0
    available: int = 0
    used: int = 0
    seen: int = 0
    enabled: bool = False


class NetworkDevice:
    """A device with the address `MAC`; `connection` is the kernel's socket to it.

    `sent` are the frames that the kernel has handed over since it was emptied, `requests` is the
    socket on which it answers interrupts, once there, and `unanswered` their number.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.requests: socket.socket | None = None
        self.sent: list[bytes] = []
        self.unanswered = 0
        self._owed = b""
        self._rings = [_Ring(), _Ring()]
        self._regions: list[tuple[int, int, mmap.mmap, int]] = []
        self._calls: set[int] = set()

    @property
    def ready(self) -> bool:
        """Whether the kernel's driver has set up the device and given it room for frames."""
        ring = self._rings[_RECEIVE]
        return ring.enabled and self._available(ring) != ring.seen

    def close(self) -> None:
        """Let go of the kernel's memory and sockets."""
        for _, _, memory, _ in self._regions:
            memory.close()
        self._regions.clear()
        self.connection.close()
        if self.requests is not None:
            self.requests.close()

    # --- messages

    def serve(self) -> None:
        """Answer one message of the kernel's driver; it must have sent one."""
        head, files = self._receive(_HEADER.size)
        request, flags, size = _HEADER.unpack(head)
        payload = self._receive(size)[0] if size else b""
        answer = self._handle(request, payload, files)
        if answer is None and flags & _NEED_REPLY:
            answer = _INTEGER.pack(0)
        if answer is not None:
            self._owed = _HEADER.pack(request, _VERSION | _REPLY, len(answer)) + answer
        # Before its answer the kernel stands still: an interrupt for what it has sent has the
        # time at which it was sent.
        self.interrupt()
        self._settle()

    def _settle(self) -> None:
        if self._owed and not self.unanswered:
            self.connection.sendall(self._owed)
            self._owed = b""

    def _receive(self, size: int) -> tuple[bytes, list[int]]:
        data, files = b"", []
        while len(data) < size:
            part, found, _, _ = socket.recv_fds(self.connection, size - len(data), 2)
            if not part:
                raise MachineError("the kernel has ended")
            data += part
            files += found
        return data, files

    def _handle(self, request: int, payload: bytes, files: list[int]) -> bytes | None:
        if request == _Request.VRING_KICK:
            if _STATE.unpack(payload)[0] == _TRANSMIT:
                self._take()
        elif request == _Request.GET_FEATURES:
            return _INTEGER.pack(_FEATURES)
        elif request == _Request.GET_PROTOCOL_FEATURES:
            return _INTEGER.pack(_PROTOCOL_FEATURES)
        elif request == _Request.GET_CONFIG:
            offset, size, flags = _CONFIG.unpack_from(payload)
            data = MAC.ljust(offset + size, b"\0")[offset : offset + size]
            return _CONFIG.pack(offset, size, flags) + data
        elif request == _Request.SET_SLAVE_REQ_FD:
            self.requests = socket.socket(fileno=files[0])
            self.requests.settimeout(self.connection.gettimeout())
        elif request == _Request.SET_MEM_TABLE:
            self._map(payload, files)
        elif request in _OF_RINGS:
            self._set(request, *_STATE.unpack(payload))
        elif request == _Request.SET_VRING_ADDR:
            index, _, descriptors, used, available, _ = _ADDRESSES.unpack(payload)
            ring = self._rings[index]
            ring.descriptors, ring.used, ring.available = descriptors, used, available
        elif request not in _ONLY_TOLD:
            raise MachineError(f"the kernel's network device asks for {request}, which is unknown")
        return None

    def _set(self, request: int, index: int, number: int) -> None:
        ring = self._rings[index]
        if request == _Request.SET_VRING_NUM:
            ring.size = number
        elif request == _Request.SET_VRING_BASE:
            ring.seen = number
        else:
            ring.enabled = bool(number)

    def _map(self, payload: bytes, files: list[int]) -> None:
        count = _STATE.unpack_from(payload)[0]
        for number in range(count):
            start, size, _, offset = _REGION.unpack_from(payload, 8 + number * _REGION.size)
            skip = offset % mmap.ALLOCATIONGRANULARITY
            memory = mmap.mmap(files[number], size + skip, offset=offset - skip)
            os.close(files[number])
            self._regions.append((start, start + size, memory, skip - start))

    # --- rings

    def _at(self, address: int, size: int) -> tuple[mmap.mmap, int]:
        for start, end, memory, shift in self._regions:
            if start <= address and address + size <= end:
                return memory, address + shift
        raise MachineError(f"the kernel's network device points to {address:#x}, not its memory")

    def _available(self, ring: _Ring) -> int:
        memory, at = self._at(ring.available, 4)
        return int(unpack_from("<H", memory, at + 2)[0])

    def _chain(self, ring: _Ring, head: int) -> Iterator[tuple[mmap.mmap, int, int]]:
        """The parts of a buffer: memory, where in it, length."""
        while True:
            address, length, flags, follower = _DESCRIPTOR.unpack_from(
                *self._at(ring.descriptors + 16 * head, 16)
            )
            yield *self._at(address, length), length
            if not flags & _NEXT:
                return
            head = follower

    def _next(self, ring: _Ring) -> int:
        """The head of the next available buffer."""
        memory, at = self._at(ring.available + 4 + 2 * (ring.seen % ring.size), 2)
        ring.seen = (ring.seen + 1) % 2**16
        return int(unpack_from("<H", memory, at)[0])

    def _give_back(self, index: int, head: int, length: int) -> None:
        ring = self._rings[index]
        memory, at = self._at(ring.used, 4 + 8 * ring.size)
        used = unpack_from("<H", memory, at + 2)[0]
        pack_into("<II", memory, at + 4 + 8 * (used % ring.size), head, length)
        pack_into("<H", memory, at + 2, (used + 1) % 2**16)
        flags = unpack_from("<H", *self._at(ring.available, 2))[0]
        if not flags & _NO_INTERRUPT:
            self._calls.add(index)

    def _take(self) -> None:
        """Take what the kernel sends."""
        ring = self._rings[_TRANSMIT]
        while ring.seen != self._available(ring):
            head = self._next(ring)
            parts = [memory[at : at + size] for memory, at, size in self._chain(ring, head)]
            self._give_back(_TRANSMIT, head, 0)
            self.sent.append(b"".join(parts)[_NET_HEADER:])

    def put(self, frame: bytes) -> bool:
        """Put a frame into the kernel's memory; False if the kernel has left no room for it."""
        ring = self._rings[_RECEIVE]
        if not self.ready:
            return False
        head = self._next(ring)
        data = bytes(10) + b"\1\0" + frame  # num_buffers is 1
        left = data
        for memory, at, size in self._chain(ring, head):
            memory[at : at + min(size, len(left))] = left[:size]
            left = left[size:]
        if left:
            raise ValueError(f"a frame of {len(frame)} bytes does not fit into the kernel's buffer")
        self._give_back(_RECEIVE, head, len(data))
        return True

    def interrupt(self) -> None:
        """Interrupt the kernel for what was put or taken, if it wants to know; it answers on
        `requests`, and asks its clock before."""
        for index in sorted(self._calls):
            if self.requests is None:
                raise MachineError("the kernel's network device has no way for interrupts")
            payload = _STATE.pack(index, 0)
            head = _HEADER.pack(_VRING_CALL, _VERSION | _NEED_REPLY, len(payload))
            self.requests.sendall(head + payload)
            self.unanswered += 1
        self._calls.clear()

    def interrupted(self) -> None:
        """Read the kernel's answer to an interrupt; it must have sent one."""
        if self.requests is not None:
            self.requests.recv(_HEADER.size + _INTEGER.size, socket.MSG_WAITALL)
            self.unanswered -= 1
            self._settle()
