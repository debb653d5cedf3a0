"""The run of which single sources are kept: Figures 8 to 10 show one of each kind."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from forebay.study.definition import Point, Recording, Run
from forebay.toml import inline
from forebay_studies.atm.network import KINDS, sources, template
from forebay_studies.atm.readings import MIX, MOST, RATE_BASED

__all__ = ["RECORDINGS", "SHOWN", "SINGLE"]

SINGLE = "sources"
"""The recording of single sources."""
SHOWN: Point = {"scenario": MIX, "case": RATE_BASED, "sources": MOST[MIX]}
"""The mixture with the most sources, under full control."""


def _apart(point: Point) -> tuple[str, ...]:
    """One source of each kind in a group of its own, instead of one of the others."""
    groups = template()["flows"]
    found = []
    for kind, count in zip(KINDS, sources(point), strict=True):
        found += [
            f"flows.{kind}.count={count - 1}",
            f"flows.one-{kind}={inline(groups[kind] | {'count': 1})}",
        ]
    watched = inline([f"flows.one-{kind}" for kind in KINDS])
    return (*found, f"record.series_of={watched}")


def _keep(run: Run, _: Point) -> Mapping[str, Mapping[str, NDArray[np.float64]]]:
    """What arrives from each of them, in bit/s."""
    series = {kind: run.tables[f"series/flows.one-{kind}"] for kind in KINDS}
    rates = {f"{kind}_bps": np.asarray(of["throughput_bps"]) for kind, of in series.items()}
    return {"rates": {"time_s": np.asarray(series["voice"]["time_s"]), **rates}}


RECORDINGS = [Recording(SINGLE, SHOWN, "250 ms", _apart(SHOWN), keep=_keep)]
