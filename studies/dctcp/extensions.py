"""Incasts of section 4.2.1 in switches of other shares, with Prague beside DCTCP and TCP."""

from __future__ import annotations

from forebay.study import Case, Network, Point, Run
from forebay_studies.dctcp.measure import quantities
from forebay_studies.dctcp.network import grid_point

__all__ = ["asked", "shared", "shared_cases"]

CONTROLS = {"tcp": "TCP", "dctcp": "DCTCP", "prague": "Prague"}


def shared_cases() -> list[Case]:
    """One client that asks 40 servers, and 41 that all ask each other."""
    one: Point = {"experiment": "incast", "servers": 40, "buffer": "dynamic", "rto_ms": 10}
    everyone: Point = {"experiment": "all-to-all"}
    return [
        Case(f"{what}, {title}", {**point, "control": control})
        for what, point in (("40 servers", one), ("all to all", everyone))
        for control, title in CONTROLS.items()
    ]


def shared(network: Network, case: Case) -> None:
    """The network of the experiment."""
    grid_point(network, case.point)


def asked(run: Run, case: Case) -> dict[str, float]:
    """What the study measures of queries."""
    return quantities(run, case.point)
