"""The runs of the thesis as assignments on top of scenario.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from forebay.study.definition import Point
from forebay_studies.atm.readings import COUNTS, DATA, MIX, RATE_BASED, REALTIME, UNCONTROLLED

__all__ = [
    "DURATION_S",
    "KINDS",
    "LINK_BPS",
    "ROUND_TRIP_S",
    "Sources",
    "network",
    "sources",
    "template",
]

LINK_BPS = 6e6
"""Rate of the satellite link (chapter 6)."""
DURATION_S = 180.0
"""Simulated time (section 7.4)."""
ROUND_TRIP_S = 2 * (0.005 + 0.270 + 0.005)
"""Propagation there and back (section 5.3)."""
KINDS = ("voice", "video", "data")


class Sources(NamedTuple):
    """How many sources of each kind there are."""

    voice: int
    video: int
    data: int


FIRST = {REALTIME: Sources(48, 24, 0), DATA: Sources(0, 0, 15), MIX: Sources(8, 16, 5)}
"""With the fewest sources. The thesis prints totals only (chapter 7). These are the ones that
exceed the capacity from 96 and 57 sources on and give video 80 to 85 % of the load of Scenario 1,
voice and video 60 to 70 % of that of Scenario 3: see deviations.toml."""
ADDED = {REALTIME: Sources(5, 1, 0), DATA: Sources(0, 0, 2), MIX: Sources(5, 1, 1)}
"""With each step (sections 7.1 to 7.3)."""

ONE_QUEUE = '{ droptail = { limit = "1536 packets" } }'
HALF = ((256, 128), (512, 256))
"""Lengths and thresholds of half of Table 2."""


def sources(point: Point, first: Sources | None = None) -> Sources:
    """The sources of a grid point; `first` are the fewest, those of the study if left out."""
    scenario = int(point["scenario"])
    counts = COUNTS[scenario]
    steps = (int(point["sources"]) - counts.start) // counts.step
    begun, added = first or FIRST[scenario], ADDED[scenario]
    return Sources(*(few + steps * more for few, more in zip(begun, added, strict=True)))


def network(point: Point) -> list[str]:
    """Assignments that make a grid point of the mixture in Case 2."""
    found = counted(point, sources(point))
    if point["case"] == UNCONTROLLED:
        found += [f'flows.{kind}.paced.pace="uncontrolled"' for kind in present(point)]
    elif point["case"] != RATE_BASED:
        found.append('links.satellite.detector={ discard = { hold_off = "50 ms" } }')
    return [*found, *_changed(point)]


@cache
def template() -> Mapping[str, Any]:
    """scenario.toml, whose groups of flows others are made of."""
    text = (Path(__file__).parent / "scenario.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def without(point: Point) -> list[str]:
    """Sections that a grid point does not have: sources of other kinds, and in Case 1 policing and
    the detector."""
    found = [f"flows.{kind}" for kind in KINDS if kind not in present(point)]
    if point["case"] == UNCONTROLLED:
        found.append("links.satellite.detector")
        found += [f"flows.{kind}.policing" for kind in present(point)]
    return found


def present(point: Point) -> list[str]:
    """The kinds of sources of a grid point."""
    alone = point.get("change") == "without-data"
    some = zip(KINDS, sources(point), strict=True)
    return [kind for kind, count in some if count and not (alone and kind == "data")]


def counted(point: Point, numbers: Sources) -> list[str]:
    """So many sources of the kinds that a grid point has."""
    named = dict(zip(KINDS, numbers, strict=True))
    return [f"flows.{kind}.count={named[kind]}" for kind in present(point)]


def _changed(point: Point) -> list[str]:
    """What the thesis argues about without showing it."""
    match point.get("change"):
        case "one-queue":
            return [f"links.satellite.queue={ONE_QUEUE}"]
        case "half-queues":
            sizes = ", ".join(
                f'{{ partial_buffer_sharing = {{ limit = "{limit} packets", '
                f'threshold = "{threshold} packets" }} }}'
                for limit, threshold in HALF
            )
            return [f"links.satellite.queue.priority.classes=[{sizes}]"]
        case "bucket-queue":
            kinds = present(point)
            return [f'flows.{kind}.policing.bucket.queue="512 packets"' for kind in kinds]
    return []
