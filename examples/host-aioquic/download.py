"""aioquic downloads 5 MB through FQ-CoDel beside a TCP flow of Forebay's with CUBIC."""

import sys

import forebay
from forebay import control, queue, tcp
from forebay.host import aioquic

RATE = 10e6
CONTROLS = ("reno", "cubic")


def network() -> forebay.Network:
    """An access line of 10 Mbit/s and 40 ms with FQ-CoDel, and one flow of TCP down it."""
    net = forebay.Network("download", duration="10 s")
    net.link("line", "server", "client", rate="10 Mbit/s", delay="20 ms", queue=queue.fq_codel())
    net.set("links.line.reverse.queue.droptail.limit", "100 packets")
    return net.flows("tcp", "server", "client", tcp=tcp(control=control.cubic()))


def download(congestion: str, replications: int) -> forebay.Results:
    """A download with that congestion control of aioquic's."""
    net = network()
    server = forebay.host.attach(
        net, "server", aioquic.server(congestion, mtu=1472), forebay.host.serve()
    )
    client = aioquic.client(mtu=1472)
    forebay.host.attach(net, "client", client, forebay.host.download(server, "5 MB"))
    return net.run(replications=replications)


def main() -> None:
    """Print what each congestion control has come to."""
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for congestion in CONTROLS:
        results = download(congestion, replications)
        for number, hosts in enumerate(forebay.host.reports(results)):
            client = hosts["client"]
            quic = results.values("groups", "server-client", "p95_delay_s")[number]
            other = results.values("groups", "tcp", "p95_delay_s")[number]
            print(
                f"aioquic {congestion}: {client.delivered / 1e6:g} MB in {client.finished_s:.2f} s,"
                f" {client.goodput_bps / 1e6:.2f} Mbit/s, {client.goodput_bps / RATE:.0%} of the"
                f" line; 95th percentile of delay {1e3 * quic:.1f} ms, of TCP {1e3 * other:.1f} ms;"
                f" digest {results.digests[number]}"
            )


if __name__ == "__main__":
    main()
