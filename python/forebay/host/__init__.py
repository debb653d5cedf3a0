"""Protocol stacks in Python as hosts on a network: their real bytes, in simulated time.

    import forebay
    from forebay.host import aioquic

    net = forebay.Network.from_toml("bottleneck.toml")
    server = forebay.host.attach(net, "server", aioquic.server("cubic"), forebay.host.serve())
    client = forebay.host.attach(
        net, "client", aioquic.client(), forebay.host.download(server, "5 MB")
    )
    results = net.run(replications=3)
    results.interval("groups", "server-client", "goodput_bps")
    forebay.host.reports(results)[0]["client"].finished_s

A stack is any object with the calls of aioquic's `QuicConnection` (`Stack`), which is told the time
and has no clock of its own; an application (`Application`) reads and writes on it. Both are made
anew for each run. Links, queue laws, other traffic and recordings are those of the scenario; hosts
exchange datagrams by groups of flows called `SERVER-CLIENT` and `CLIENT-SERVER`. A run repeats to
the last digit if its stacks do: `repeat` looks. `forebay[stacks]` installs aioquic.
"""

from __future__ import annotations

from forebay.host.applications import Download, Failed, Serve, download, serve
from forebay.host.attached import Host, attach, connect, repeat
from forebay.host.cells import Transfer, run_cell
from forebay.host.contract import Address, Application, Stack
from forebay.host.report import HostReport, reports

__all__ = [
    "Address",
    "Application",
    "Download",
    "Failed",
    "Host",
    "HostReport",
    "Serve",
    "Stack",
    "Transfer",
    "attach",
    "connect",
    "download",
    "repeat",
    "reports",
    "run_cell",
    "serve",
]
