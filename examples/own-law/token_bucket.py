"""A token bucket that marks or polices, as a conditioner of one's own.

Tokens are whole numbers of picobits, as in Forebay's own meters: a rate in bit/s times a time in ps
gives them without rounding. 64 bits hold a bucket of a megabyte.
"""

from typing import Literal

import forebay
from forebay.laws import PASS, POLICE, Probe, Rate, Size, State, Time, refuse

BYTE = 8 * 10**12


@forebay.law(
    kind="conditioner",
    source="RFC 2475, section 2.3.3",
    example="""
        cir = "900 kbit/s"
        cbs = "3 kB"
        excess = "drop"
    """,
)
class my_token_bucket:
    """Token bucket marker or policer: packets within rate and burst conform.

    cir: Committed information rate: tokens arrive at it. IP headers count.
    cbs: Committed burst size, 20 B to 1 MB: depth of the bucket, which is full at the start.
    excess: Treatment of packets out of profile.
    excess.mark: They get precedence 1.
    excess.drop: They are dropped.
    tokens (bytes): Tokens in the bucket.
    """

    cir: Rate
    cbs: Size
    excess: Literal["mark", "drop"] = "mark"
    tokens: Probe[float]
    level: State[int]
    last: State[Time]

    def create(law, at):
        if not 20 <= law.cbs <= 10**6:
            refuse("cbs", f'"{law.cbs} B" is out of range; allowed are 20 B to 1 MB')
        law.level = law.cbs * BYTE
        law.tokens = law.cbs

    def condition(law, at):
        full = law.cbs * BYTE
        # What fills the bucket comes in a time that is known: no product is beyond 64 bits.
        waited = at.now - law.last
        if law.cir > 0 and waited > (full - law.level) // law.cir:
            law.level = full
        else:
            law.level += law.cir * waited
        law.last = at.now
        conforms = law.level >= at.bytes * BYTE
        if conforms:
            law.level -= at.bytes * BYTE
        law.tokens = law.level / BYTE
        at.precedence = 0 if conforms else 1
        return POLICE if not conforms and law.excess == "drop" else PASS
