"""Events that a congestion control is told in the vectors of controls, by time."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from cubic import Cubic
from prague import Prague

__all__ = ["CONTROLS", "expected_of_control"]


class Control(Protocol):
    """A congestion control."""

    def acknowledge(self, now: Fraction, row: dict[str, int]) -> None:
        """An acknowledgement, with what it reports."""

    def signal(self, now: Fraction, kind: str, flight: int) -> None:
        """A loss or a timeout, with the bytes in flight."""

    def state(self) -> dict[str, Fraction]:
        """Its named quantities."""


CONTROLS: dict[str, Callable[..., Control]] = {"cubic": Cubic, "prague": Prague}


def expected_of_control(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The states that a vector of a control asks for."""
    case = tomllib.loads(path.read_text())
    law = CONTROLS[case["mechanism"]](case)
    happens: list[tuple[int, int, dict[str, Any]]] = []
    for row in case["acks"]:
        times = (row["at_ns"] + n * row.get("every_ns", 0) for n in range(row.get("count", 1)))
        happens += [(at, 0, row) for at in times]
    happens += [(row["at_ns"], 1, row) for row in case.get("signals", [])]
    # Of what happens at one instant, acknowledgements come first, and rows in their order.
    happens.sort(key=lambda it: it[:2])
    states = []
    asked = case["expected"]["state"]
    for place, (at, order, row) in enumerate(happens):
        now = Fraction(at, 10**9)
        if order == 0:
            law.acknowledge(now, row)
        else:
            law.signal(now, row["kind"], row["flight_bytes"])
        if place + 1 == len(happens) or happens[place + 1][0] > at:
            found = law.state()
            for state in (it for it in asked if it["at_ns"] == at):
                states.append({name: found.get(name, at) for name in state})
    return {"state": states}
