"""802.17 resilient packet ring, SRP-fa ("Gandalf") against VoQ: grid points and quantities.

`network.py` lays the ring of a grid point after scenario.toml, `measure.py` and `formulas.py` read
its run by way of `samples.py`; `readings.py` holds what the sentences mean; `recordings.py`,
`drawings.py` and `map.py` redraw the figures, which are lost, and map what the slides leave open.
"""

from __future__ import annotations

from forebay.study.definition import Point, Replications, Run
from forebay_studies.rpr.drawings import figures
from forebay_studies.rpr.measure import quantities as measured
from forebay_studies.rpr.network import network
from forebay_studies.rpr.network import without as left_out
from forebay_studies.rpr.recordings import RECORDINGS
from forebay_studies.rpr.sensitivity import VARIANTS

__all__ = [
    "RECORDINGS",
    "REPLICATIONS",
    "VARIANTS",
    "figures",
    "overrides",
    "quantities",
    "without",
]

RECORD_RUNS = True

REPLICATIONS = Replications(
    first=5,
    cap=10,
    quick_first=2,
    quick_cap=6,
    quick_events=2_400_000_000,
    quick_overrides=('duration="0.83 s"',),
    variant=3,
)
"""Nothing is random but when stations' intervals begin. Quick: a window of 10 periods, not 40."""


def overrides(point: Point) -> list[str]:
    """Ring, law and flows of a grid point."""
    return network(point)


def without(point: Point) -> list[str]:
    """What of scenario.toml a grid point does not have."""
    return left_out(point)


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Utilisation and shares; what laws did."""
    return measured(run, point)
