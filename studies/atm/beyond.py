"""Beyond the thesis: what its section 9.2 leaves to future work, and the link sizes that it scaled.

Networks, designs and quantities are in `beyond_designs.py`; here is what is asked, and what came of
it. Explicit rates, and files in frames of cells, have modules of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from forebay.study.comparison import Case, Comparison, Design, Findings, Shown
from forebay.study.findings_text import described
from forebay_studies.atm.beyond_abr import EXPLICIT
from forebay_studies.atm.beyond_designs import (
    DATA_LOSS,
    DISCARDS,
    FILE_TIME,
    FULL,
    LATE,
    NOTHING,
    REALTIME_LOSS,
    THROUGHPUT,
    UTILIZATION,
    VIDEO_RATE,
    detecting,
    mixed,
    of_one_link,
    of_two_links,
    one_round_trip,
    true_size,
    two_bottlenecks,
)
from forebay_studies.atm.beyond_frames import FRAMES

# What it comes to. Every figure and every verdict below is read from the findings.


def _concluded_sizes(findings: Findings) -> list[str]:
    return [
        f"""What is lost. {described(findings, "realtime_loss_ratio", "data_loss_ratio")}""",
        f"""What comes late. {described(findings, "realtime_late_ratio")} The queues keep the
        lengths of Table 2: 512 cells take 36 ms at 6 Mbit/s and 4.8 ms at 45 Mbit/s, so at the true
        size no queue of voice and video can make a cell 20 ms late, with control or without.""",
        f"""How well the link is used. {
            described(findings, "utilization_ratio", "throughput_ratio", "file_time_s")
        }""",
        """Limits: the mixture with the most sources alone, 7.5 times as many at 45 Mbit/s; runs of
        120 s there, less than one session of three minutes, which half of the sources are
        in from the start.""",
    ]


def _concluded_network(findings: Findings) -> list[str]:
    return [
        f"""What is lost and late. {
            described(findings, "realtime_loss_ratio", "data_loss_ratio", "realtime_late_ratio")
        }""",
        f"""How well both links are used. {described(findings, "utilization_ratio")}""",
        f"""Who gets the capacity that is left to data. {
            described(
                findings, "long_throughput_ratio", "near_throughput_ratio", "local_throughput_ratio"
            )
        } Long ways are told to slow down by two
        ports, and recover by 2 % of the nominal rate once in a round trip; who is near recovers
        as many times as often as the round trip is shorter.""",
        f"""How long notifications take. {described(findings, "notification_delay_s")}""",
        """Limits: two bottlenecks of one rate, 78 sources through each, and control that knows its
        round trip exactly.""",
    ]


def _concluded_detector(findings: Findings) -> list[str]:
    return [
        f"""What is lost. {described(findings, "data_loss_ratio", "realtime_late_ratio")}""",
        f"""What data get, and what it costs voice and video. {
            described(findings, "throughput_ratio", "file_time_s", "realtime_rate_ratio")
        } Data settle at the share below
        which voice and video are slowed as well: it divides the link between the two, and the
        more of it data keep, the more there is to be cut when voice and video surge.""",
        f"""How well the link is used. {described(findings, "utilization_ratio")}""",
        """Limits: the mixture alone, and one number changed at a time.""",
    ]


SIZES = Comparison(
    id="sizes",
    title="True link sizes, and sessions of three minutes",
    question="""The thesis scaled 45 and 155 Mbit/s down to 6 and 21, and sessions to 15 s, to have
    runs that end (chapters 6 and 7). Do its conclusions about the mixture hold at the sizes that it
    meant, and with sessions of three minutes?""",
    baseline=FULL,
    designs=[DISCARDS, NOTHING],
    cases=[
        Case("6 Mbit/s, sessions of 15 s", {"mbps": 6, "session_s": 15}),
        Case("45 Mbit/s, sessions of 3 min", {"mbps": 45, "session_s": 180}, quick=False),
    ],
    quantities=of_one_link,
    shown=[
        REALTIME_LOSS,
        LATE,
        DATA_LOSS,
        UTILIZATION,
        THROUGHPUT,
        FILE_TIME,
    ],
    overrides=true_size,
    replications=4,
    quick_replications=2,
    conclusion=_concluded_sizes,
)

NETWORK = Comparison(
    id="network",
    title="Two bottlenecks, cross traffic and notifications over long ways",
    question="""The thesis has one bottleneck whose port is 5 ms from all sources; it would have the
    algorithm tested in larger networks with cross traffic and more realistic delays of
    notifications (section 9.2). Here are two bottlenecks of 6 Mbit/s in a row, one of them the
    satellite link. Of 117 sources a third passes both, a third each only one; both are overloaded.
    What becomes of losses, and how do long and short ways share?""",
    baseline=FULL,
    designs=[
        Design(
            "one-round-trip",
            "one round trip for all",
            one_round_trip,
            "The full scheme, but all sources recover as slowly as those of the longest way.",
        ),
        DISCARDS,
        NOTHING,
    ],
    cases=[
        Case("satellite link first", {"first_ms": 270, "second_ms": 20}),
        Case("satellite link second", {"first_ms": 20, "second_ms": 270}, quick=False),
    ],
    quantities=of_two_links,
    shown=[
        REALTIME_LOSS,
        LATE,
        DATA_LOSS,
        Shown("utilization_ratio", "mean utilisation of the bottlenecks", "%", "more"),
        Shown("long_throughput_ratio", "throughput of data over both, of a link", "%"),
        Shown("near_throughput_ratio", "throughput of data over the second, of a link", "%"),
        Shown("local_throughput_ratio", "throughput of data over the first, of a link", "%"),
        Shown("notification_delay_s", "delay of notifications to data over both", "ms", "less"),
    ],
    overrides=two_bottlenecks,
    replications=4,
    quick_replications=2,
    conclusion=_concluded_network,
)

DETECTOR = Comparison(
    id="detector",
    title="The two numbers of the detector",
    question="""A port is congested above 90 % of its rate, and tells the lowest classes that have
    20 % of it (section 5.1); the thesis tries no others. In the mixture a burst of voice and video
    now and then costs some cells of data. Do other numbers lose less, and what do they cost?""",
    baseline=Design("thesis", "90 % and 20 %", about="The numbers of the thesis."),
    designs=[
        Design("share-30", "90 % and 30 %", detecting(share=0.3), "More has to slow down."),
        Design("share-40", "90 % and 40 %", detecting(share=0.4), "Still more."),
        Design("early", "80 % and 20 %", detecting(threshold=0.8), "Congested earlier."),
        Design("late", "95 % and 20 %", detecting(threshold=0.95), "Congested later."),
    ],
    cases=[
        Case("113 sources", {"sources": 113}),
    ],
    quantities=of_one_link,
    shown=[
        DATA_LOSS,
        LATE,
        THROUGHPUT,
        FILE_TIME,
        VIDEO_RATE,
        UTILIZATION,
    ],
    overrides=mixed,
    replications=6,
    quick_replications=2,
    conclusion=_concluded_detector,
)

COMPARISONS: Sequence[Comparison] = [SIZES, NETWORK, DETECTOR, EXPLICIT, FRAMES]
