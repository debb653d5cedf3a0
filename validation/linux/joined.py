#!/usr/bin/env python3
"""A cell with Linux's TCP through the simulated queue.

    joined.py dctcp codel-ecn [--replications 3]

What differs between the two sides of a cell (cells.py) is TCP's, the queue's, or both. Here the
four flows are those of two Linux kernels in simulated time, and the path, its queue and the probe
are simulated: what differs from the simulated side is TCP's, what differs from Linux is the path's.
Printed are the cell's quantities in the mean, with the recorded ones beside them.
"""

from __future__ import annotations

import argparse
import json
import warnings
from statistics import fmean

from cells import RESULT
from scenarios import Cell

import forebay
from forebay.errors import MachineError
from forebay.linux import host

_SETTINGS = """
sysctl -qw net.ipv4.tcp_ecn={ecn} net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_frto=0
ip route change default dev eth0 initcwnd 10 rto_min 200ms
exec /usr/bin/python3 - <<'END'
import select, socket
control = (socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{control}")
"""

_SERVER = """
server = socket.create_server(("", 5001))
server.setsockopt(*control)
lines = [server.accept()[0] for _ in range(4)]
while True:
    for line in select.select(lines, [], [])[0]:
        line.recv(1 << 17)
END
"""

_CLIENT = """
lines = [socket.socket() for _ in range(4)]
for line in lines:
    line.setsockopt(*control)
    line.connect(("{address}", 5001))
    line.setblocking(False)
while True:
    for line in select.select([], lines, [])[1]:
        line.send(bytes(1 << 17))
END
"""


def run(cell: Cell, seed: int) -> dict[str, float]:
    """The quantities of one run of a cell of a single group of TCP flows."""
    net = forebay.Network.from_text(cell.job().text, cell.name)
    net.remove("flows.bulk")
    ecn = int("ecn = true }" in cell.job().text.partition("[flows.bulk]")[2])
    settings = _SETTINGS.format(ecn=ecn, control=cell.traffic)
    server = host.attach(net, "b", settings + _SERVER)
    client = settings + _CLIENT.format(address=server.address[0])
    host.attach(net, "a", client)
    results = net.run(seed=seed)
    for end in forebay.host.reports(results)[0].values():
        if end.failed:
            raise MachineError(f"{end.name}: {end.failed[1]}")
    where = {"throughput_bps": "line", "drops": "line", "marks": "line"}
    found = {name: results.values("links", link, name)[0] for name, link in where.items()}
    for name in ("mean_delay_s", "p95_delay_s"):
        found[name] = results.values("groups", "probe", name)[0]
    return found


def main() -> None:
    """Print a table of three columns."""
    parser = argparse.ArgumentParser(description="Linux's TCP through the simulated queue.")
    parser.add_argument("control", choices=["reno", "cubic", "bbr", "vegas", "dctcp"])
    parser.add_argument("path")
    parser.add_argument("--replications", type=int, default=3)
    words = parser.parse_args()
    cell = Cell(words.control, words.path)
    record = json.loads(RESULT.read_text(encoding="utf-8"))["cells"]
    recorded = next(row for row in record if row["name"] == cell.name)
    # The way back has no limit, as in cells.py.
    warnings.simplefilter("ignore", forebay.errors.ScenarioWarning)
    runs = [run(cell, number + 1) for number in range(words.replications)]
    print(f"{cell.name}: simulated, Linux's TCP through the simulated queue, Linux")
    for name in runs[0]:
        simulated, linux = (fmean(recorded[name][side]) for side in ("simulated", "linux"))
        print(f"{name}: {simulated:.5g}, {fmean(each[name] for each in runs):.5g}, {linux:.5g}")


if __name__ == "__main__":
    main()
