"""Networks and quantities of the comparison: those of the study."""

from __future__ import annotations

from forebay.study import Case, Network, Run
from forebay_studies.cake.study import grid_point, quantities


def cell(network: Network, case: Case) -> None:
    """One cell of the measurements."""
    grid_point(network, case.point)


def measured(run: Run, case: Case) -> dict[str, float]:
    """What the study measures."""
    return quantities(run, case.point)
