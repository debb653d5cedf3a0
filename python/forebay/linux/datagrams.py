"""Sender and receiver of datagrams that carry their time: a part of scripts, which runs alone.

    datagrams.py send ADDRESS PORT LAW INTERVAL PAYLOAD SECONDS [FLOWS JITTER PHASE TOS]
    datagrams.py receive PORT SECONDS FILE

iperf3 sends at constant rates, at the same instants for all its streams, and keeps no delays. LAW
is `cbr` or `poisson`, INTERVAL the mean time in s between two datagrams of a flow, PAYLOAD their
size in bytes. FLOWS sources have a port each. Intervals of `cbr` are drawn uniformly within the
share JITTER of the mean; with PHASE 1 each source begins within the first of them. The receiver
writes a line for each datagram to FILE: when it came (s), its delay (s), and its source.
"""

from __future__ import annotations

import contextlib
import heapq
import random
import socket
import struct
import sys
import time

_STAMP = struct.Struct("!Id")
"""The number of the source, and when the datagram was sent."""


def _send(address: str, port: str, law: str, *numbers: str) -> None:
    interval, payload, seconds = float(numbers[0]), int(numbers[1]), float(numbers[2])
    flows, jitter, phase, tos = (*numbers[3:], *("1", "0", "0", "0")[len(numbers) - 3 :])
    draws = random.Random()

    def gap() -> float:
        if law == "poisson":
            return draws.expovariate(1 / interval)
        return interval * (1 + float(jitter) * draws.uniform(-1, 1))

    begin = time.time()
    sockets, due = [], []
    for index in range(int(flows)):
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(tos))
        one.connect((address, int(port)))
        sockets.append(one)
        first = gap() if law == "poisson" else interval * draws.random() * int(phase)
        due.append((begin + first, index))
    heapq.heapify(due)
    rest = bytes(payload - _STAMP.size)
    while due[0][0] < begin + seconds:
        when, index = due[0]
        if (wait := when - time.time()) > 0:
            time.sleep(wait)
        # The answer to a former one, if the receiver has ended.
        with contextlib.suppress(ConnectionRefusedError):
            sockets[index].send(_STAMP.pack(index, time.time()) + rest)
        heapq.heapreplace(due, (when + gap(), index))


def _receive(port: str, seconds: str, file: str) -> None:
    end = time.time() + float(seconds)
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("", int(port)))
    rows = []
    while (left := end - time.time()) > 0:
        one.settimeout(left)
        try:
            data = one.recv(65_536)
        except TimeoutError:
            break
        now = time.time()
        index, sent = _STAMP.unpack_from(data)
        rows.append(f"{now:.9f} {now - sent:.9f} {index}\n")
    with open(file, "w", encoding="ascii") as out:
        out.writelines(rows)


if __name__ == "__main__":
    (_send if sys.argv[1] == "send" else _receive)(*sys.argv[2:])
