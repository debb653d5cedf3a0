"""The benchmarks as configurations for daytone, and the reader of what it logs.

All switches of a daytone network have ports of one rate, buffer and queue, links have no delay,
there is no meter, and the thresholds of RED cannot be set. What it can run of the benchmarks is
written here; README.md says how far that is from them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

BENCHMARKS = ("s1-tcp-red", "s2-cbr", "s3-mm1")
TCP_FLOWS = 30
#: Links that a packet of each benchmark crosses.
LINKS = {"s1-tcp-red": 3, "s2-cbr": 1, "s3-mm1": 1}


def configuration(benchmark: str, seconds: float, log_path: str) -> str:
    """The configuration file of a benchmark for so many simulated seconds."""
    phase = random.Random(1).random
    if benchmark == "s3-mm1":
        head = _head([(0, 1)], 10e6, "TailDrop", 10_000_000)
        flows = [_flow(0, 1, 0, seconds, _exponential(2500), _exponential(1 / 400))]
    elif benchmark == "s2-cbr":
        head = _head([(0, 1)], 400e6, "TailDrop", 10_000_000)
        flows = [
            _flow(0, 1, 0.02 * phase(), seconds, _constant(0.02), _constant(200))
            for _ in range(2000)
        ]
    else:
        # Customers are nodes 0 to 3, their routers 4 and 5, destinations 6 to 9.
        edges = [(node, 4) for node in range(4)] + [(4, 5)] + [(5, node) for node in range(6, 10)]
        head = _head(edges, 34e6, "RED", 2000)
        # The application writes faster than any share of the link: it is never idle.
        greedy = _constant(1e-4)
        flows = [
            _flow(number % 3, 6 + number % 3, 0.5 * phase(), seconds, greedy, _constant(576), "TCP")
            for number in range(TCP_FLOWS)
        ]
        flows.append(_flow(3, 9, 0, seconds, _exponential(30e6 / (8 * 576)), _constant(576)))
    general = f'seed = 1\nduration = {seconds!r}\nnum_threads = 1\nlog_path = "{log_path}"\n'
    return general + head + "".join(flows)


def read(benchmark: str, text: str) -> dict[str, Any]:
    """The result in a log of daytone's, with its table of sinks behind it.

    TCP is taken to have sent an acknowledgement back for each segment. Raises `ValueError` if
    daytone has panicked, after which it reports success, too, or if nothing arrived.
    """
    if panic := re.search(r"panicked at .*\n(.*)", text):
        raise ValueError(f"daytone panicked: {panic[1]}")
    wall = re.search(r"Elapsed wall-clock time: ([\d.]+) seconds", text)
    end = re.search(r"completed at time ([\d.]+) seconds", text)
    rows = list(_sinks(text))
    delivered = sum(packets for _, packets, _ in rows)
    if wall is None or end is None or not delivered:
        raise ValueError("daytone reports no packets" if wall else "no end of the run in the log")
    simulated = float(end[1])
    result: dict[str, Any] = {
        "simulated_s": simulated,
        "run_wall_s": float(wall[1]),
        "packets_delivered": delivered,
    }
    tcp_flows = TCP_FLOWS if benchmark == "s1-tcp-red" else 0
    acks = sum(packets for flow, packets, _ in rows if flow < tcp_flows)
    tcp = sum(size for flow, _, size in rows if flow < tcp_flows)
    udp = sum(size for flow, _, size in rows if flow >= tcp_flows)
    if tcp_flows:
        result["tcp_bps"] = 8 * tcp / simulated
    hops = LINKS[benchmark] * (delivered + acks)
    return result | {"udp_bps": 8 * udp / simulated, "packet_hops": hops}


def _sinks(text: str) -> Iterator[tuple[int, int, int]]:
    """Flow, packets and bytes of each row of the table that follows the log."""
    _, _, table = text.partition("id,flow_id,start_time")
    columns = ("id,flow_id,start_time" + table.partition("\n")[0]).split(",")
    places = [columns.index(name) for name in ("flow_id", "received_packets", "received_sizes")]
    for line in table.splitlines()[1:]:
        words = line.split(",")
        flow, packets, size = (int(words[place]) for place in places)
        yield flow, packets, size


def _head(edges: list[tuple[int, int]], rate: float, drop: str, capacity: int) -> str:
    nodes = sorted({node for edge in edges for node in edge})
    hosts = [node for node in nodes if sum(node in edge for edge in edges) == 1]
    return (
        f"edges = {[list(edge) for edge in edges]}\nhosts = {hosts}\n\n[switch]\n"
        f"port_rate = {rate!r}\ncapacity = {capacity}\nweights = [1]\n"
        f'discipline = "FIFO"\ndrop = "{drop}"\n'
    )


def _flow(
    source: int, sink: int, start: float, end: float, gap: str, size: str, kind: str = ""
) -> str:
    text = (
        f'\n[[flow]]\nflow_type = "{kind or "PacketDistribution"}"\ngraph = [[{source}, {sink}]]\n'
        f"[flow.traffic]\ninitial_delay = {float(start)!r}\nduration = {float(end - start)!r}\n"
        f"arr_dist = {gap}\npkt_size_dist = {size}\n"
    )
    return text + ('[flow.traffic.tcp]\ncc_algorithm = "TCPReno"\n' if kind == "TCP" else "")


def _constant(value: float) -> str:
    return f'{{type = "Uniform", low = {float(value)!r}, high = {float(value)!r}}}'


def _exponential(rate: float) -> str:
    return f'{{type = "Exp", lambda = {float(rate)!r}}}'
