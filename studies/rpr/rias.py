"""The shares of ring ingress aggregated with spatial reuse (RIAS) fairness, by water-filling.

RIAS is max-min fairness whose unit on each span is the station at which traffic enters, not the
flow (Gambiroza, Yuan, Balzano, Liu, Sheafor and Knightly, ToN 12(1), 2004): stations share a span
alike, flows of a station share what it has, and none is held to less than the spans of its own
path leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TOLERANCE = 1e-9
"""Parts of the capacity below which a difference is rounding."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A flow: its ingress, the spans that it passes, and what it asks for at most, in bit/s."""

    ingress: str
    spans: tuple[str, ...]
    demand: float


def rias_shares(asks: Sequence[Ask], capacity: float) -> list[float]:
    """Rate that each flow gets of spans of that capacity, in bit/s.

    Rates are settled from the smallest on: each time, the span with the least left for a flow that
    is not settled, or the least demand, settles the flows that it limits.
    """
    rates: dict[int, float] = {}
    while len(rates) < len(asks):
        limits = {
            at: min([ask.demand, *(_share(asks, rates, capacity, at, span) for span in ask.spans)])
            for at, ask in enumerate(asks)
            if at not in rates
        }
        least = min(limits.values())
        for at, limit in limits.items():
            if limit <= least + TOLERANCE * capacity:
                rates[at] = limit
    return [rates[at] for at in range(len(asks))]


def _share(
    asks: Sequence[Ask], rates: dict[int, float], capacity: float, at: int, span: str
) -> float:
    """Rate that a span has left for flow `at`: an equal part for each ingress with a flow that is
    not settled, of which its flows get equal parts."""
    passing = [other for other, ask in enumerate(asks) if span in ask.spans]
    left = capacity - sum(rates[other] for other in passing if other in rates)
    open_ones = [other for other in passing if other not in rates]
    ingresses = {asks[other].ingress for other in open_ones}
    siblings = [other for other in open_ones if asks[other].ingress == asks[at].ingress]
    return max(left, 0.0) / len(ingresses) / len(siblings)
