"""Rate-based congestion control in ATM networks with a satellite link: grid points and quantities.

A grid point has a `scenario` (1 voice and video, 2 data, 3 the mixture), a `case` (1 uncontrolled,
2 the full scheme, 3 notifications on discarded cells only) and a number of `sources`; some have a
`change`, of what the thesis argues about without showing it. `network.py` lays it, `measure.py`
reads a run; `readings.py`, `realtime.py`, `data.py`, `mixture.py` and `whole.py` hold what the
sentences mean; `drawings.py` redraws the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forebay.study import Point, Replications, Run
from forebay_studies.atm.drawings import RECORDINGS, figures
from forebay_studies.atm.measure import measured
from forebay_studies.atm.network import network
from forebay_studies.atm.network import without as lacking
from forebay_studies.atm.readings import (
    DATA,
    DISCARD_BASED,
    MIX,
    OVERLOADED,
    RATE_BASED,
    REALTIME,
    UNCONTROLLED,
)
from forebay_studies.atm.sensitivity import VARIANTS

__all__ = [
    "RECORDINGS",
    "RECORD_RUNS",
    "REPLICATIONS",
    "VARIANTS",
    "figures",
    "overrides",
    "quantities",
    "without",
]

RECORD_RUNS = True
"""When cells are dropped is read from the time series."""

MANY: Mapping[tuple[int, int], Sequence[int]] = {
    (REALTIME, UNCONTROLLED): (120,),
    (REALTIME, RATE_BASED): OVERLOADED[REALTIME],
    (REALTIME, DISCARD_BASED): OVERLOADED[REALTIME],
    (DATA, DISCARD_BASED): (15,),
    (MIX, RATE_BASED): (106, 113),
}
"""Scenario, case and numbers of sources at which sixteen runs decide too little: runs differ much
(120), some lose cells and some do not (15, 106 and 113), or a difference is near its limit."""


def cap(point: Point) -> int:
    """At most how many replications a grid point gets."""
    counts = MANY.get((int(point["scenario"]), int(point["case"])), ())
    return 48 if int(point["sources"]) in counts and "change" not in point else 16


REPLICATIONS = Replications(
    first=6,
    cap=cap,
    quick_first=2,
    quick_cap=3,
    quick_s=82.0,
    variant=6,
)


def overrides(point: Point) -> list[str]:
    """Sources, control and changes of a grid point."""
    return network(point)


def without(point: Point) -> list[str]:
    """Kinds of sources, policing and detection that a grid point does not have."""
    return lacking(point)


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Loads, losses, late cells, file times, rates and notifications of one run; in SI units."""
    return measured(run, point)
