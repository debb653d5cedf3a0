"""CoDel, controlled delay (RFC 8289), as a law of one's own.

Forebay asks on each packet at the head of the queue; after a drop it asks on the next, and once
more where none is left, with `at.empty`.
"""

import forebay
from forebay.laws import (
    DROP_FORCED,
    MARK,
    NEVER,
    PASS,
    Probe,
    Size,
    Span,
    State,
    Time,
    refuse,
    sqrt,
)


@forebay.law(
    kind="queue",
    source="RFC 8289",
    example="""
        interval = "40 ms"
        ecn = true
        limit = "12 packets"
    """,
)
class my_codel:
    """Controlled delay: drops at the head, ever faster, while packets wait too long for too long.

    target: Delay that a standing queue may have. [RFC 8289, section 5]
    interval: Time for which the delay may be above it. [RFC 8289, section 5]
    mtu: Queue that may always wait, in bytes. [RFC 8289, section 5 (maxpacket)]
    ecn: True to mark packets that are ECN-capable instead. [RFC 3168, section 5]
    sojourn_s: How long the packet waited that left the queue last.
    dropping: 1 in the dropping state, else 0.
    count: Drops (or marks) since that was entered, with those that a former stay counts for.
    """

    target: Span = "5 ms"
    interval: Span = "100 ms"
    mtu: Size = "1500 B"
    ecn: bool = False
    sojourn_s: Probe[Span]
    dropping: Probe[bool]
    count: Probe[int]
    at_entry: State[int]
    above_until: State[Time] = NEVER
    next_drop: State[Time]
    entering: State[bool]

    def create(law, at):
        if law.interval == 0:
            refuse("interval", "is zero; allowed is any time above 0 s")

    def dequeue(law, at):
        if not at.empty:
            law.sojourn_s = at.sojourn
        over = not at.empty and at.sojourn >= law.target and at.waiting_bytes > law.mtu
        if not over:
            law.above_until = NEVER
        elif law.above_until == NEVER:
            law.above_until = at.now + law.interval
        late = over and at.now >= law.above_until
        if law.entering:  # the head behind the first drop leaves, however long it waited
            law.entering = False
            return PASS
        marks = law.ecn and at.ecn > 0
        if not law.dropping:
            if not late:
                return PASS
            before = law.count - law.at_entry
            soon = at.now - law.next_drop < 16 * law.interval
            law.count = law.at_entry = before if before > 1 and soon else 1
            law.next_drop = at.now + spaced(law)
            law.dropping = True
            law.entering = not marks
            return MARK if marks else DROP_FORCED
        if at.round > 0 and late:
            law.next_drop += spaced(law)
        if late and at.now >= law.next_drop:
            law.count += 1
            if marks:
                law.next_drop += spaced(law)
                return MARK
            return DROP_FORCED
        law.dropping = late
        return PASS


def spaced(law):
    """Time to the next drop: the more there were, the shorter."""
    return int(law.interval * (1 / sqrt(law.count)) + 0.5)
