"""Predicates of the ends of axes that are legible in the text: no value of a figure is above that
of its axis."""

from __future__ import annotations

from forebay.study import Quantities, Truth, every, for_each
from forebay_studies.atm.criteria import (
    ALL_THREE,
    DATA,
    DISCARD_BASED,
    MIX,
    RATE_BASED,
    UNCONTROLLED,
    curve,
)

LOSS, TIME = "data_loss_ratio", "file_time_s"


@for_each(
    {
        "f23": (DATA, UNCONTROLLED, LOSS),
        "f26": (DATA, RATE_BASED, LOSS),
        "f29": (DATA, DISCARD_BASED, LOSS),
        "f30": (DATA, DISCARD_BASED, TIME),
        "f45": (MIX, DISCARD_BASED, "realtime_loss_ratio"),
    }
)
def within_its_axis(run: Quantities, shown: tuple[int, int, str]) -> Truth:
    """At every number of sources, so many runs are within the axis of the figure that the three it
    shows may all be, with a probability of 2.5 % or more."""
    scenario, case, quantity = shown
    return every(curve(run, scenario, case, f"{quantity}_in_axis_ratio")) >= ALL_THREE
