"""Predicates of axes that end at the initial maximum probability, 0.1: nothing is above it."""

from __future__ import annotations

from forebay.study import Point, Quantities, Truth, all_of, at, for_each
from forebay_studies.redn.criteria import ARCHITECTURE, gateways

LOW_AXES: dict[str, tuple[Point, str]] = {
    "f4_15_yellow": (ARCHITECTURE["dual"], "first_yellow"),
    "f4_15_red": (ARCHITECTURE["dual"], "first_red"),
    "f4_16_yellow": (ARCHITECTURE["dual"], "second_yellow"),
    "a_19_yellow": (ARCHITECTURE["dual_ecn"], "first_yellow"),
    "a_19_red": (ARCHITECTURE["dual_ecn"], "first_red"),
    "a_28_yellow": (ARCHITECTURE["dual_bou"], "second_yellow"),
    "a_34_red": (ARCHITECTURE["dual_bou_ecn"], "first_red"),
}
"""Panels whose axis ends at 0.1: the run; gateway and colour, as quantities name them."""


@for_each(LOW_AXES)
def not_above_initial(run: Quantities, panel: tuple[Point, str]) -> Truth:
    """In most runs no sample of the dynamic maximum probability is above its initial 0.1."""
    point, name = panel
    return at(run, point, f"{name}_dynamic_above_ratio") < 0.5


def green_not_above_initial(run: Quantities) -> Truth:
    """The same of green at every gateway of all eight runs of Adaptive REDn."""
    return all_of(
        at(run, point, f"{gateway}green_dynamic_above_ratio") < 0.5
        for point in ARCHITECTURE.values()
        for gateway in gateways(point)
    )
