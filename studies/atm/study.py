"""Rate-based congestion control in ATM networks with a satellite link: grid points and quantities.

A grid point has a `scenario` (1 voice and video, 2 data, 3 the mixture), a `case` (1 uncontrolled,
2 the full scheme, 3 notifications on discarded cells only) and a number of `sources`; some have a
`change`, of what the thesis argues about without showing it. `network.py` makes it, `measure.py`
reads a run; `criteria.py` and `predicates/` hold what the sentences mean; `figures.py` redraws the
figures.
"""

from __future__ import annotations

from collections.abc import Mapping

from forebay.study import Network, Point, Replications, Run
from forebay_studies.atm import alternatives, changes, measure
from forebay_studies.atm.criteria import (
    DATA,
    DISCARD_BASED,
    MIX,
    OVERLOADED,
    RATE_BASED,
    REALTIME,
    UNCONTROLLED,
)
from forebay_studies.atm.figures import RECORDINGS, figures
from forebay_studies.atm.measure_alternatives import of_alternatives
from forebay_studies.atm.measure_changes import more_quantities
from forebay_studies.atm.network import (
    fewest_8_15_6,
    fewest_9_15_5,
    fewest_47_25,
    thesis_point,
)

__all__ = [
    "RECORDINGS",
    "fewest_8_15_6",
    "fewest_9_15_5",
    "fewest_47_25",
    "figures",
    "grid_point",
    "quantities",
]

RECORD_RUNS = True
"""Records of runs are needed: the time at which cells are dropped is read from the time series."""

MAX_REPLICATIONS: Mapping[tuple[int, int], Mapping[int, int]] = {
    # Highest of three runs, whose values need not be normal.
    (REALTIME, UNCONTROLLED): {120: 60},
    (MIX, DISCARD_BASED): {92: 48, 113: 60},
    # Throughput near the limit of "clearly", and of runs that differ much.
    (MIX, UNCONTROLLED): {92: 48},
    # A difference of loads near the limit of the sentence; with 120 sources, a highest of three.
    (REALTIME, RATE_BASED): dict.fromkeys(OVERLOADED[REALTIME], 48),
    (REALTIME, DISCARD_BASED): dict.fromkeys(OVERLOADED[REALTIME], 48) | {120: 60},
    # Some runs lose cells and some do not.
    (DATA, DISCARD_BASED): {15: 48, 29: 48},
    # How many runs are within the axis, near whose end they are.
    (DATA, UNCONTROLLED): {29: 48},
    (MIX, RATE_BASED): dict.fromkeys(OVERLOADED[MIX], 48),
}
"""Maximum number of replications where sixteen decide too little, by scenario and case and by
number of sources."""


MAX_REPLICATIONS_CHANGED = {"above-average": 48, "half-queues": 48, "two-nominal-rates": 6}
"""The same of changes: few runs of the first have late cells, losses of the second differ little
from those of whole queues, all long runs of the third agree."""


def cap(point: Point) -> int:
    """At most how many replications a grid point gets."""
    many = MAX_REPLICATIONS.get((int(point["scenario"]), int(point["case"])), {})
    if "change" in point:
        return MAX_REPLICATIONS_CHANGED.get(str(point["change"]), 16)
    return many.get(int(point["sources"]), 16)


REPLICATIONS = Replications(
    first=6,
    cap=cap,
    quick_first=2,
    quick_cap=6,
    quick_events=5_000_000_000,
    variant=6,
)


def grid_point(network: Network, point: Point) -> None:
    """Turn the mixture in Case 2 into a grid point, with its change."""
    thesis_point(network, point)
    alternatives.apply(network, point)
    changes.apply(network, point)


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Loads, losses, late cells, file times, rates and notifications of one run, and what its
    change is about; in SI units."""
    found = measure.quantities(run, point) | of_alternatives(run, point)
    if point.get("change") in changes.OFFENDING:
        # These would count cells of the offenders as lost by others.
        found = {name: value for name, value in found.items() if not name.startswith("realtime_")}
    return found | more_quantities(run, point, found)
