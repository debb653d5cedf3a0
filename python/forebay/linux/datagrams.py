"""Sender and receiver of datagrams that carry their time: a part of scripts, which runs alone.

    datagrams.py send ADDRESS PORT SECONDS FLOWS TOS LAW NUMBER...
    datagrams.py receive PORT SECONDS FILE

iperf3 sends at constant rates, at the same instants for all its streams, and keeps no delays. FLOWS
sources have a port each. The laws, and their numbers, in seconds, bytes of data and bit/s:

    cbr INTERVAL SIZE JITTER PHASE     intervals drawn uniformly within the share JITTER of the mean
    poisson INTERVAL SIZE              exponential intervals
    on_off INTERVAL SIZE ON OFF        constant intervals in exponential times between others
    pulses INTERVAL SIZE COUNT PERIOD PHASE    so many datagrams at the start of each period
    video FRAMES PIXELS CORRELATION GAIN MEAN SIZE HEADER RATE
                                       frames a second, of a first-order autoregressive process

With PHASE 1 a source begins at a random time within its first interval or period, otherwise at
once. The receiver writes a line for each datagram to FILE: when it came (s), its delay (s), its
source, and its size as an IP packet (B).
"""

# ruff: noqa: TID251 (sends on a real network, without NumPy)

from __future__ import annotations

import contextlib
import heapq
import math
import random
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator

_STAMP = struct.Struct("!Id")
"""The number of the source, and when the datagram was sent."""

_HEADERS = 28
"""Bytes of IP and UDP in front of the data."""

_DRAWS = random.Random()


def _cbr(interval: float, size: float, jitter: float, phase: float) -> Iterator[tuple[float, int]]:
    when = interval * _DRAWS.random() * phase
    while True:
        yield when, int(size)
        when += interval * (1 + jitter * _DRAWS.uniform(-1, 1))


def _poisson(interval: float, size: float) -> Iterator[tuple[float, int]]:
    when = 0.0
    while True:
        when += _DRAWS.expovariate(1 / interval)
        yield when, int(size)


def _on_off(interval: float, size: float, on: float, off: float) -> Iterator[tuple[float, int]]:
    """It begins in the state, and at the time in it, in which it is found in the long run."""
    left = _DRAWS.expovariate(1 / on)
    when = interval * _DRAWS.random()
    if _DRAWS.random() >= on / (on + off):
        when = off * _DRAWS.expovariate(1.0)
    while True:
        yield when, int(size)
        if left > interval:
            when, left = when + interval, left - interval
        else:
            when += left + off * _DRAWS.expovariate(1.0)
            left = _DRAWS.expovariate(1 / on)


def _pulses(
    interval: float, size: float, count: float, period: float, phase: float
) -> Iterator[tuple[float, int]]:
    begin = period * _DRAWS.random() * phase
    while True:
        for number in range(int(count)):
            yield begin + number * interval, int(size)
        begin += period


def _video(
    frames: float, pixels: float, correlation: float, gain: float, mean: float, *rest: float
) -> Iterator[tuple[float, int]]:
    """A frame is sent from the end of its interval on, or when the line has sent those before; a
    packet that is not full is as long as what is left, and never shorter than its stamp."""
    size, header, rate = rest
    bits = gain * mean / (1 - correlation)
    bits += gain / math.sqrt(1 - correlation**2) * _DRAWS.gauss(0, 1)
    due, free = _DRAWS.random() / frames, 0.0
    while True:
        due += 1 / frames
        left = math.ceil(max(0.0, bits * pixels) / 8)
        bits = correlation * bits + gain * (mean + _DRAWS.gauss(0, 1))
        while left > 0:
            part, when = min(left, int(size)), max(due, free)
            yield when, max(_STAMP.size, part + int(header) - _HEADERS)
            left -= part
            free = when + 8 * (part + header) / rate


_LAWS: dict[str, Callable[..., Iterator[tuple[float, int]]]] = {
    "cbr": _cbr,
    "on_off": _on_off,
    "poisson": _poisson,
    "pulses": _pulses,
    "video": _video,
}


def _send(
    address: str, port: str, seconds: str, flows: str, tos: str, law: str, *numbers: str
) -> None:
    begin = time.time()
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(int(flows))]
    for one in sockets:
        one.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(tos))
        one.connect((address, int(port)))
    sources = [_LAWS[law](*map(float, numbers)) for _ in sockets]
    due = [(*next(source), index) for index, source in enumerate(sources)]
    heapq.heapify(due)
    while due[0][0] < float(seconds):
        when, size, index = due[0]
        if (wait := begin + when - time.time()) > 0:
            time.sleep(wait)
        # The answer to a former one, if the receiver has ended.
        with contextlib.suppress(ConnectionRefusedError):
            sockets[index].send(_STAMP.pack(index, time.time()) + bytes(size - _STAMP.size))
        heapq.heapreplace(due, (*next(sources[index]), index))


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
        rows.append(f"{now:.9f} {now - sent:.9f} {index} {len(data) + _HEADERS}\n")
    with open(file, "w", encoding="ascii") as out:
        out.writelines(rows)


if __name__ == "__main__":
    (_send if sys.argv[1] == "send" else _receive)(*sys.argv[2:])
