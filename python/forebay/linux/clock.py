"""The clock of a User Mode Linux kernel, kept outside of it: the other end of `time-travel=ext`.

The kernel asks for the time of its next event and waits; the other end lets it run at that time or
at an earlier one. Messages are those of include/uapi/linux/um_timetravel.h.
"""

from __future__ import annotations

import socket
from enum import IntEnum
from struct import Struct

from forebay.errors import MachineError

__all__ = ["FOREVER", "Clock"]

FOREVER = 2**63 - 1
"""The time in ns that a kernel without an event asks for (`time_travel_sleep`)."""

_MESSAGE = Struct("=IIQ")  # operation, sequence number, time in ns


class _Op(IntEnum):
    ACK = 0
    START = 1
    REQUEST = 2
    WAIT = 3
    GET = 4
    UPDATE = 5
    RUN = 6
    FREE_UNTIL = 7
    GET_TOD = 8


class Clock:
    """One kernel's clock.

    `now_ns` is the time that the kernel was told or has told last, `wanted_ns` that of its next
    event, `waiting` whether it stands still. `time_of_day_ns` is the date that it sees at time 0,
    in ns since 1970.
    """

    def __init__(self, connection: socket.socket, time_of_day_ns: int) -> None:
        self.connection = connection
        self.now_ns = 0
        self.wanted_ns = FOREVER
        self.waiting = False
        self._time_of_day_ns = time_of_day_ns
        self._sent = 0

    def serve(self) -> None:
        """Answer one message of the kernel; it must have sent one.

        Raises `MachineError` if the kernel has ended or says what is not in the protocol.
        """
        self._answer(*self._read())

    def free_until(self, time_ns: int) -> None:
        """Let the waiting kernel go from event to event on its own before `time_ns`, once it
        runs."""
        self._tell(_Op.FREE_UNTIL, time_ns)

    def run(self, time_ns: int) -> None:
        """Let the waiting kernel run at `time_ns`, at most the time that it wants."""
        self.waiting = False
        self.now_ns = time_ns
        self._tell(_Op.RUN, time_ns)

    def _tell(self, op: _Op, time_ns: int) -> None:
        self._sent += 1
        self.connection.sendall(_MESSAGE.pack(op, self._sent, time_ns))
        while True:
            found, sequence, time = self._read()
            if found == _Op.ACK:
                return
            self._answer(found, sequence, time)

    def _read(self) -> tuple[int, int, int]:
        data = self.connection.recv(_MESSAGE.size, socket.MSG_WAITALL)
        if len(data) < _MESSAGE.size:
            raise MachineError("the kernel has ended")
        op, sequence, time = _MESSAGE.unpack(data)
        return op, sequence, time

    def _answer(self, op: int, sequence: int, time_ns: int) -> None:
        answer = 0
        if op == _Op.REQUEST:
            self.wanted_ns = time_ns
        elif op == _Op.WAIT:
            self.waiting = True
        elif op == _Op.GET:
            answer = self.now_ns
        elif op == _Op.UPDATE:
            self.now_ns = time_ns
        elif op == _Op.GET_TOD:
            answer = self._time_of_day_ns + self.now_ns
        elif op != _Op.START:
            raise MachineError(f"the kernel's clock says {op}, which is no operation of a kernel")
        self.connection.sendall(_MESSAGE.pack(_Op.ACK, sequence, answer))
