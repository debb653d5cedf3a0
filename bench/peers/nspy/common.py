"""Shared parts of the ns.py programs: arguments, the timed run, and its result as one line of
JSON."""

from __future__ import annotations

import json
import sys
import time

import simpy
from ns.packet.sink import PacketSink


def arguments(defaults: dict[str, float]) -> dict[str, float]:
    """Reads words such as ``seconds=60``; a wrong one ends the program."""
    read = dict(defaults)
    for word in sys.argv[1:]:
        name, _, value = word.partition("=")
        if name not in read:
            sys.exit(f"no argument {name!r}; there are {', '.join(defaults)}")
        read[name] = float(value)
    return read


def counting_sink(env: simpy.Environment) -> PacketSink:
    """A sink that counts and records no times, which would cost time and memory."""
    return PacketSink(env, rec_arrivals=False, rec_waits=False)


def run(name: str, env: simpy.Environment, sink: PacketSink, until: float, rate: float) -> None:
    """Runs and reports; each packet that is delivered has crossed one link of this rate, bit/s."""
    begun = time.perf_counter()
    env.run(until=until)
    wall = time.perf_counter() - begun
    delivered = sum(sink.packets_received.values())
    udp = 8 * sum(sink.bytes_received.values()) / until
    result = {
        "simulator": f"ns.py/{name}",
        "simulated_s": until,
        "run_wall_s": wall,
        "packets_delivered": delivered,
        "packet_hops": delivered,
        "udp_bps": udp,
        "utilization": udp / rate,
    }
    print(json.dumps(result))
