"""The runs of the thesis, made of scenario.toml: sources, control and changes of a grid point."""

from __future__ import annotations

from typing import NamedTuple

from forebay.study import Network, Point
from forebay_studies.atm.criteria import COUNTS, DATA, MIX, RATE_BASED, REALTIME, UNCONTROLLED

CELL_BITS = 424
LINK_BPS = 6e6
"""Rate of the satellite link (chapter 6)."""
DURATION_S = 180.0
"""Simulated time (section 7.4)."""
KINDS = ("voice", "video", "data")
BY_PRIORITY = {"realtime": (0, 2), "data": (1, 3)}
"""Precedences of the two priorities: without and with CLP."""
DISCARDS_ONLY = {"discard": {"hold_off": "50 ms"}}
"""The detector of Case 3."""


class Sources(NamedTuple):
    """Number of sources of each kind."""

    voice: int
    video: int
    data: int


FIRST = {REALTIME: Sources(48, 24, 0), DATA: Sources(0, 0, 15), MIX: Sources(8, 16, 5)}
"""With the fewest sources. The thesis prints totals only (chapter 7). These are the ones that
exceed the capacity from 96 and 57 sources on and give video 80 to 85 % of the load of Scenario 1,
voice and video 60 to 70 % of that of Scenario 3: see deviations.toml."""
ADDED = {REALTIME: Sources(5, 1, 0), DATA: Sources(0, 0, 2), MIX: Sources(5, 1, 1)}
"""With each step (sections 7.1 to 7.3)."""


def sources(point: Point, first: Sources | None = None) -> Sources:
    """The sources of a grid point; `first` are the fewest, those of the study if left out."""
    scenario = int(point["scenario"])
    counts = COUNTS[scenario]
    steps = (int(point["sources"]) - counts.start) // counts.step
    begun, added = first or FIRST[scenario], ADDED[scenario]
    return Sources(*(few + steps * more for few, more in zip(begun, added, strict=True)))


def thesis_point(network: Network, point: Point) -> None:
    """Turn the mixture in Case 2 into a grid point; its change may be one of other modules."""
    present(network, sources(point))
    if point.get("change") == "without-data":
        network.remove("flows.data")
    if point["case"] == UNCONTROLLED:
        network.remove("links.satellite.detector")
        network.set_each("flows.*.paced.pace", "uncontrolled")
        for kind in network.section("flows"):
            network.remove(f"flows.{kind}.policing")
    elif point["case"] != RATE_BASED:
        network.set("links.satellite.detector", DISCARDS_ONLY)
    # What the thesis argues about without showing it.
    match point.get("change"):
        case "one-queue":
            network.set("links.satellite.queue", {"droptail": {"limit": "1536 packets"}})
        case "half-queues":
            # Half of Table 2.
            for number, limit in enumerate((256, 512)):
                law = f"links.satellite.queue.priority.classes.{number}.partial_buffer_sharing"
                network.set(f"{law}.limit", f"{limit} packets")
                network.set(f"{law}.threshold", f"{limit // 2} packets")
        case "bucket-queue":
            network.set_each("flows.*.policing.bucket.queue", "512 packets")


def present(network: Network, numbers: Sources) -> None:
    """So many sources of each kind that a network has; of which there are none, the kind goes."""
    for kind, count in zip(KINDS, numbers, strict=True):
        if network.set_each(f"flows.{kind}.count", count) and not count:
            network.remove(f"flows.{kind}")


def fewest_47_25(network: Network, point: Point) -> None:
    """Another division of the fewest sources of Scenario 1."""
    present(network, sources(point, Sources(47, 25, 0)))


def fewest_9_15_5(network: Network, point: Point) -> None:
    """Another division of the fewest sources of Scenario 3."""
    present(network, sources(point, Sources(9, 15, 5)))


def fewest_8_15_6(network: Network, point: Point) -> None:
    """Another division of the fewest sources of Scenario 3."""
    present(network, sources(point, Sources(8, 15, 6)))
