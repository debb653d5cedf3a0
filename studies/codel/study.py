"""Controlling queue delay: grid points, quantities, sensitivity.

`network.py` makes the network of a grid point, `measure.py` reads runs.
"""

from __future__ import annotations

from forebay.study import Network, Point, Replications
from forebay_studies.codel.figures import RECORDINGS, figures
from forebay_studies.codel.measure import quantities
from forebay_studies.codel.network import ACCESS_MS, edge_buffer, grid_point, packet_bytes

__all__ = [
    "RECORDINGS",
    "RECORD_RUNS",
    "REPLICATIONS",
    "buffers_in_bytes",
    "eight_bdp",
    "far_server",
    "figures",
    "grid_point",
    "quantities",
    "two_bdp",
]

RECORD_RUNS = True


def _cap(point: Point) -> int:
    """Many of the short runs of the consumer edge, each of which is one draw of the web."""
    return 40 if point["family"] == "edge" else 8


REPLICATIONS = Replications(
    first=6, cap=_cap, quick_first=2, quick_cap=4, quick_events=500_000_000, variant=6
)


def two_bdp(network: Network, point: Point) -> None:
    """A sensitivity run: buffers of the consumer edge twice as long."""
    _limit(network, point, f"{2 * edge_buffer(point)} packets")


def eight_bdp(network: Network, point: Point) -> None:
    """A sensitivity run: buffers of the consumer edge eight times as long."""
    _limit(network, point, f"{8 * edge_buffer(point)} packets")


def buffers_in_bytes(network: Network, point: Point) -> None:
    """A sensitivity run: buffers of as many full packets that count bytes."""
    _limit(network, point, f"{edge_buffer(point) * packet_bytes(point)} B")


def _limit(network: Network, point: Point, limit: str) -> None:
    for direction in ("links.core", "links.core.reverse"):
        network.set(f"{direction}.queue.{point['queue']}.limit", limit)


def far_server(network: Network, point: Point) -> None:
    """A sensitivity run: the server of the endless FTP as far as all others."""
    network.set("links.ftp_server.delay", f"{ACCESS_MS} ms")
