"""802.17 resilient packet ring, SRP-fa ("Gandalf") against VoQ: grid points and quantities.

`network.py` makes the ring of a grid point of scenario.toml, `measure.py` and `formulas.py` read
its run by way of `series.py`; `criteria.py` and `predicates.py` hold what the sentences mean;
`recordings.py`, `figures.py` and `map.py` redraw the figures, which are lost, and map what the
slides leave open.
"""

from __future__ import annotations

from forebay.study import Network, Point, Replications
from forebay_studies.rpr.figures import figures
from forebay_studies.rpr.measure import quantities
from forebay_studies.rpr.network import grid_point
from forebay_studies.rpr.recordings import RECORDINGS

__all__ = ["RECORDINGS", "REPLICATIONS", "figures", "grid_point", "payload", "quantities"]

RECORD_RUNS = True
REPLICATIONS = Replications(
    first=3,
    cap=10,
    quick_first=2,
    quick_cap=6,
    quick_events=2_400_000_000,
    quick_overrides=('duration="0.83 s"',),
    variant=3,
)
"""Nothing is random but when stations' intervals begin, so that three replications decide most of
the map; where they do not, there are more. Quick: a window of 10 periods, not 40."""


def payload(network: Network, point: Point) -> None:
    """A sensitivity run: SONET's payload, 149.76 of 155.52 Mbit/s, instead of the line's rate."""
    network.set("rings.ring.rate", f"{599.04 if point['line'] == 'oc12' else 2396.16} Mbit/s")
