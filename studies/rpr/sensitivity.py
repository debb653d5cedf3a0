"""Sensitivity runs of the study: one assumption chosen otherwise, where it matters.

Distances, thresholds, LP_ALLOW and station count are not here: they are grid points, the map.
"""

from __future__ import annotations

from forebay.study.definition import Point, Variant

__all__ = ["VARIANTS"]

HIGH = ("model/srp-fa/utilization/320kb/sc4/*", "model/srp-fa/utilization/40kb/sc4/*")
ANCHORS = (
    "model/srp-fa/utilization/320kb/sc1/*",
    "model/srp-fa/utilization/40kb/sc1/*",
    *HIGH,
)
VOQ = ("model/voq/utilization/50us/*",)
LAW = "rings.ring.fairness.srp_fa"


def _stop_low(point: Point) -> list[str]:
    """Low host traffic stops at TB_LO_THRESHOLD instead of TB_HI_THRESHOLD."""
    return [f'rings.ring.stop="{point["threshold_kb"]} kB"']


def _payload(point: Point) -> list[str]:
    """SONET's payload instead of the line's rate: 149.76 of 155.52 Mbit/s."""
    mbps = 599.04 if point["line"] == "oc12" else 2396.16
    return [f'rings.ring.rate="{mbps} Mbit/s"']


VARIANTS = [
    Variant(
        id="usage-all",
        title="my_usage counts all octets of the host",
        why="The pseudo-code of RFC 2892 says so, its text that low priority is meant.",
        overrides=(f'{LAW}.usage="all"',),
        claims=HIGH,
    ),
    Variant(
        id="stop-low",
        title="low-priority host traffic stops at TB_LO_THRESHOLD",
        why="The comment on the constant says so, figure 17 of RFC 2892 has TB_HI_THRESHOLD.",
        overrides=_stop_low,
        claims=ANCHORS,
    ),
    Variant(
        id="interval-106",
        title="interval of 106 us",
        why="RFC 2892 has a usage packet about every 106 us beside a decay interval of 102.88 us.",
        overrides=(f'{LAW}.interval="106 us"',),
        claims=ANCHORS,
    ),
    Variant(
        id="payload-rate",
        title="rate of the payload, 599.04 and 2396.16 Mbit/s",
        why="102.88 us is 8000 octets of the line; the slides say OC-12 and OC-48 only.",
        overrides=_payload,
        claims=ANCHORS,
    ),
    Variant(
        id="one-queue",
        title="one host queue for all destinations",
        why="Of hosts RFC 2892 says only that they have a queue for each class.",
        overrides=('rings.ring.host_queues="one"',),
        claims=("model/parallel-lot/*",),
    ),
    Variant(
        id="voq-activity-1ms",
        title="VoQ: a source counts as active for 1 ms",
        why="The slides do not say how activity is told.",
        overrides=('rings.ring.fairness.voq.activity="1 ms"',),
        claims=VOQ,
    ),
    Variant(
        id="voq-depth-15kb",
        title="VoQ: buckets of ten packets",
        why="The slides do not say how rates are enforced.",
        overrides=('rings.ring.fairness.voq.depth="15 kB"',),
        claims=VOQ,
    ),
    Variant(
        id="voq-dual",
        title="VoQ with dual transit buffers",
        why="The slides do not say what transit buffers VoQ has.",
        overrides=('rings.ring.transit="dual"',),
        claims=VOQ,
    ),
]
