"""Sensitivity runs of the study: one assumption chosen otherwise, where it matters."""

from __future__ import annotations

from collections.abc import Callable

from forebay.study.definition import Point, Variant
from forebay_studies.redn.network import flows, gateways, is_udp, paths

__all__ = ["VARIANTS"]

SINGLE = ("flows/*ms/adaptive/*", "drop-ratio/4.1.1/*", "utilization/4.1.1/*")
SELF_CONFIGURING = (*SINGLE, "flows/*ms/self-configuring/*", "t3.1/*", "s3.1.2/*")
PRINTED = (*SELF_CONFIGURING, "drop-ratio/*")
"""With every run of which the text prints drop ratios or delays."""

THROUGHPUTS = ("flows/*", "s3.1.2/*")
SECOND = ("flows/dual/*", "drop-ratio/4.2.1/*", "utilization/4.2.1/*")
LAW = {"redn": "redn", "self-configuring": "self_configuring"}


def _tcp(setting: str) -> Callable[[Point], list[str]]:
    """The same for every TCP flow."""

    def assignments(point: Point) -> list[str]:
        tcp = [flow for flow in flows(point) if not is_udp(point, flow.path)]
        return [f"flows.{flow.name}.tcp.{setting}" for flow in tcp]

    return assignments


def _queue(setting: str) -> Callable[[Point], list[str]]:
    """The same for every gateway."""

    def assignments(point: Point) -> list[str]:
        law = LAW.get(str(point["gateway"]), "adaptive_redn")
        return [f"links.{gate.link}.queue.{law}.{setting}" for gate in gateways(point)]

    return assignments


def _floor(point: Point) -> list[str]:
    bucket = "conditioner.adaptive_token_bucket.floor=true"
    return [f"links.in-{path.name}.{bucket}" for path in paths(point)]


def _fast_second(point: Point) -> list[str]:
    """443.52 Mbit/s, from which the printed thresholds follow."""
    return ['links.core2.rate="443.52 Mbit/s"'] if point["network"] == "dual" else []


def _rule_second(point: Point) -> list[str]:
    """The thresholds that follow from 403.2 Mbit/s."""
    if point["network"] != "dual":
        return []
    law = "links.core2.queue.adaptive_redn"
    sizes = {"max": 5040, "middle": 756, "min": 378, "actual": 378}
    return [f'{law}.{name}_threshold="{packets} packets"' for name, packets in sizes.items()]


VARIANTS = [
    Variant(
        "growth-by-acks",
        "congestion windows grow by acknowledgement",
        "Section 1 has them grow by roughly a segment a round trip; in ns-2 every acknowledgement "
        "adds at most 1/cwnd, half of that where every second segment is acknowledged.",
        _tcp("byte_counting=false"),
        THROUGHPUTS,
    ),
    Variant(
        "ssthresh-128",
        "slow start up to 128 packets",
        "Section 1 has slow-start thresholds begin at half of the receiver's buffer, and section "
        "4.1 an unlimited one; 128 packets are what older stacks had (64 kB, half of it).",
        _tcp('initial_ssthresh="128 packets"'),
        PRINTED,
    ),
    Variant(
        "ssthresh-64",
        "slow start up to 64 packets",
        "As above, for a receiver's buffer of 128 packets.",
        _tcp('initial_ssthresh="64 packets"'),
        SELF_CONFIGURING,
    ),
    Variant(
        "spacing-wait",
        "marks at least 1/p packets apart",
        "The thesis builds on ns-2's RED, whose default this is; its mean gap of 0.5/p + 0.5 is "
        "that of uniform spacing.",
        _queue('spacing="wait"'),
        PRINTED,
    ),
    Variant(
        "count-code",
        "count of packets since the last mark as in RED's pseudo-code",
        "Floyd and Jacobson's analysis and pseudo-code differ by one packet.",
        _queue('count="code"'),
        SINGLE,
    ),
    Variant(
        "colour-alone",
        "actual queue of a colour: packets of it alone",
        "The minimum actual queue threshold could be meant of the queue of one colour; averages "
        "count it with all better ones.",
        _queue('actual_queue="decoupled"'),
        SINGLE,
    ),
    Variant(
        "kept-count",
        "a mark that the minimum actual queue spares does not restart the count",
        "Unstated; restarting spaces marks evenly.",
        _queue('spared_count="keep"'),
        SINGLE,
    ),
    Variant(
        "idle-cumulative",
        "idle time by colour",
        "A queue of one colour may be empty while others wait; ns-2's RIO does so.",
        _queue('idle="cumulative"'),
        SELF_CONFIGURING,
    ),
    Variant(
        "fine-timers",
        "retransmission timers with a tick of 1 ms, first timeout 1 s",
        "Unstated; the thesis was simulated with ns-2, whose timers have a tick of 100 ms.",
        lambda point: _tcp('rto_tick="1 ms"')(point) + _tcp('rto_initial="1 s"')(point),
        SINGLE,
    ),
    Variant(
        "limited-transmit",
        "limited transmit",
        "RFC 3042 appeared in January 2001, a month before the thesis.",
        _tcp("limited_transmit=true"),
        SINGLE,
    ),
    Variant(
        "bucket-floor",
        "buckets never shallower than 5 packets",
        "Section 4.1 has minimum depths of 5 packets; Figure 2.1 sets the depth to rate times RTT, "
        "which is less for 1 Mbit/s and 30 ms.",
        _floor,
        SINGLE,
    ),
    Variant(
        "second-link-443",
        "second bottleneck of 443.52 Mbit/s",
        "Section 4.2 prints 403.2 Mbit/s, but thresholds that follow from 443.52.",
        _fast_second,
        SECOND,
    ),
    Variant(
        "second-thresholds-403",
        "thresholds of the second gateway by the rule of section 4.1",
        "The other way to mend the same contradiction.",
        _rule_second,
        SECOND,
    ),
]
