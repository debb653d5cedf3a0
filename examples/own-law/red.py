"""RED, random early detection (Floyd and Jacobson 1993), as a law of one's own that draws."""

import forebay
from forebay.laws import (
    DROP_EARLY,
    DROP_FORCED,
    MARK,
    NEVER,
    PASS,
    Length,
    Probe,
    Size,
    State,
    Time,
    exp,
    happens,
    ln_1p,
    refuse,
)  # fmt: skip


@forebay.law(
    kind="queue",
    source="Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993",
    example="""
        weight = 0.02
        limit = "25 packets"
        ecn = true
    """,
    draws=True,
)
class my_red:
    """Random early detection: drops by chance as the average queue grows.

    min_threshold: Average queue below which nothing is dropped early.
    max_threshold: Average queue from which on every packet is dropped.
    max_probability: Drop probability at the maximum threshold.
    weight: Weight of a sample in the average, above 0 and up to 1.
    mean_packet: Typical packet, in which idle time is counted.
    ecn: True to mark packets that are ECN-capable instead of early drops.
    average (packets or bytes): Average queue, in the unit of the thresholds.
    """

    min_threshold: Length = "5 packets"
    max_threshold: Length = "15 packets"
    max_probability: float = 0.1
    weight: float = 0.002
    mean_packet: Size = "500 B"
    ecn: bool = False
    average: Probe[float]
    count: State[int] = -1
    decayed: State[Time]
    packet_time: State[float]
    ln_keep: State[float]

    def create(law, at):
        if law.max_threshold <= law.min_threshold:
            refuse("max_threshold", "is not above min_threshold")
        if not 0 < law.weight <= 1:
            refuse("weight", f"{law.weight} is out of range; allowed are above 0 and up to 1")
        law.packet_time = 8.0 * law.mean_packet * 1e12 / at.link_rate
        law.ln_keep = max(ln_1p(-law.weight), -1.7976931348623157e308)

    def enqueue(law, at):
        if at.empty_since == NEVER:
            queue = at.waiting_packets if law.min_threshold_in_packets else at.waiting_bytes
            law.average += law.weight * (queue - law.average)
        elif law.average > 0:
            idle = at.now - max(at.empty_since, law.decayed)
            law.average *= exp(idle / law.packet_time * law.ln_keep)
        if at.empty_since != NEVER:
            law.decayed = at.now
        if law.average < law.min_threshold:
            law.count = -1
            return PASS
        if law.average >= law.max_threshold:
            law.count = 0
            return DROP_FORCED
        law.count += 1
        slope = law.max_probability / (law.max_threshold - law.min_threshold)
        chance = slope * (law.average - law.min_threshold)
        progress = law.count * chance
        if not happens(at, chance / (1 - progress) if progress < 1 else 1.0):
            return PASS
        law.count = 0
        return MARK if law.ecn and at.ecn > 0 else DROP_EARLY
