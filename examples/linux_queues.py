"""Linux's TCP through queues that Forebay simulates, beside a TCP flow of Forebay's own.

    validation/linux/kernel.sh                      # once
    python examples/linux_queues.py [CONTROL]

Two Linux kernels in simulated time are hosts at both ends of a line of 10 Mbit/s and 40 ms. Printed
is for each queue law what the two flows have got, what the queue has dropped and marked, and how
long packets of Linux took to the other end.
"""

from __future__ import annotations

import sys

import forebay
from forebay import control, queue, tcp
from forebay.linux import host

QUEUES = {
    "droptail": queue.droptail(limit="50 packets"),
    "codel": queue.codel(ecn=True),
    "fq_codel": queue.fq_codel(ecn=True),
    "dualpi2": queue.dualpi2(),
}

SERVER = """
sysctl -qw net.ipv4.tcp_ecn=1
exec /usr/bin/python3 - <<'END'
import socket
server = socket.create_server(("", 5001))
server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{control}")
line = server.accept()[0]
while line.recv(1 << 20):
    pass
END
"""

# Retransmissions are the 13th word of that line of /proc/net/snmp.
CLIENT = """
sysctl -qw net.ipv4.tcp_ecn=1
(sleep 19.9; awk '/^Tcp: [0-9]/ {{ print "retransmissions", $13 }}' /proc/net/snmp >figures) &
sleep 0.1
exec /usr/bin/python3 - <<'END'
import socket
line = socket.socket()
line.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{control}")
line.connect(("{address}", 5001))
while True:
    line.send(bytes(65536))
END
"""


def run(law: object, congestion: str) -> forebay.Results:
    """Twenty seconds of the two flows through a queue law."""
    net = forebay.Network("linux", duration="20 s", warm_up="5 s")
    net.link("line", "client", "server", rate="10 Mbit/s", delay="20 ms", queue=law)
    net.set("links.line.reverse.queue.droptail.limit", "100 packets")
    net.flows("tcp", "client", "server", tcp=tcp(control=control.cubic(), ecn=True))
    server = host.attach(net, "server", SERVER.format(control=congestion))
    script = CLIENT.format(address=server.address[0], control=congestion)
    host.attach(net, "client", script)
    return net.run()


def main(congestion: str = "cubic") -> None:
    """Print a line for each queue law."""
    for name, law in QUEUES.items():
        results = run(law, congestion)
        linux, own = (
            results.values("groups", group, "throughput_bps")[0] / 1e6
            for group in ("client-server", "tcp")
        )
        drops, marks = (results.values("links", "line", what)[0] for what in ("drops", "marks"))
        delay = results.values("groups", "client-server", "p95_delay_s")[0]
        again = forebay.host.reports(results)[0]["client"].figures["retransmissions"]
        print(
            f"{name}: Linux {linux:.2f} Mbit/s, Forebay's CUBIC {own:.2f}; {drops:g} drops, "
            f"{marks:g} marks from 5 s on; {again:g} retransmissions of Linux in all; "
            f"95th percentile of delay {1e3 * delay:.1f} ms"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
