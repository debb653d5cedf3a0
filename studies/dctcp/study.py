"""Data Center TCP: grid points, quantities, sensitivity.

`network.py` makes the network of a grid point, `formulas.py` evaluates the paper's analysis, and
`measure.py` reads runs.
"""

from __future__ import annotations

from forebay.study import Point, Replications
from forebay_studies.dctcp.measure import quantities
from forebay_studies.dctcp.network import grid_point

__all__ = ["RECORD_RUNS", "REPLICATIONS", "grid_point", "quantities"]

RECORD_RUNS = True


def _cap(point: Point) -> int:
    """Few of the long runs: 33 Gbit/s beside queries, or two switches at 10 Gbit/s."""
    return 5 if point["experiment"] in ("pressure", "hops") else 10


REPLICATIONS = Replications(
    first=4, cap=_cap, quick_first=2, quick_cap=3, quick_events=500_000_000, variant=3
)
