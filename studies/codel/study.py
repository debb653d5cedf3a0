"""Controlling queue delay: grid points, quantities, sensitivity.

`network.py` makes the network of a grid point, `measure.py` reads runs.
"""

from __future__ import annotations

from forebay.study import Point, Replications
from forebay_studies.codel.measure import quantities
from forebay_studies.codel.network import grid_point

__all__ = ["RECORD_RUNS", "REPLICATIONS", "grid_point", "quantities"]

RECORD_RUNS = True


REPLICATIONS = Replications(first=5, cap=20, quick_first=2, quick_cap=4, variant=4)
