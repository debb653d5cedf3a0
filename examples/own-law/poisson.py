"""Poisson traffic, as traffic of one's own."""

import forebay
from forebay.laws import Rate, Size, State, exponential, refuse


@forebay.law(
    kind="traffic",
    source="draft-elloumi-diffserv-threevstwo-00, section 2 (UDP source)",
    example="""
        rate = "100 kbit/s"
        size = "250 B"
    """,
    draws=True,
)
class my_poisson:
    """Packets of one size at exponentially distributed gaps.

    rate: Mean bit rate on the wire, IP header included.
    size: Packet size on the wire.
    """

    rate: Rate
    size: Size
    mean_gap: State[int]

    def create(law, at):
        if law.rate == 0:
            refuse("rate", "is zero; allowed are rates above 0")
        if law.size > 65535:
            refuse("size", "is more than a packet of IP can have; allowed are up to 65535 B")
        # Rounded up, as transmission times are: no more is sent than the rate.
        law.mean_gap = -(-8 * law.size * 10**12 // law.rate)

    def describe(law, at):
        at.largest = law.size
        at.mean_rate = law.rate

    def next(law, at):
        at.gap = int(law.mean_gap * exponential(at) + 0.5)
        at.bytes = law.size
        return 1
