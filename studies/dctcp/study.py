"""Data Center TCP: grid points, quantities, sensitivity.

`network.py` makes the network of a grid point, `formulas.py` evaluates the paper's analysis, and
`measure.py` reads runs.
"""

from __future__ import annotations

from forebay.study import Network, Point, Replications
from forebay_studies.dctcp.figures import figures
from forebay_studies.dctcp.measure import quantities
from forebay_studies.dctcp.network import grid_point, packet_time_s

__all__ = ["RECORD_RUNS", "REPLICATIONS", "figures", "grid_point", "more_noise", "quantities"]

RECORD_RUNS = True


def _cap(point: Point) -> int:
    """Few of the long runs: 33 Gbit/s beside queries, or two switches at 10 Gbit/s."""
    return 5 if point["experiment"] in ("pressure", "hops") else 10


REPLICATIONS = Replications(
    first=4, cap=_cap, quick_first=2, quick_cap=3, quick_events=500_000_000, variant=3
)


def more_noise(network: Network, point: Point) -> None:
    """A sensitivity run: simulations of the paper with longer delays of hosts."""
    mean = f"{4e9 * packet_time_s(point):g} ns"
    network.set_each("links.*.impairment.jitter.mean", mean)
