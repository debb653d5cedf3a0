"""Beyond the slides: "other traffic patterns including TCP and multimedia", and more laws.

The slides compare two mechanisms on one hub. Here both stand beside the two modes of what became
IEEE 802.17 (as reconstructed) and a ring without any law. Rings, designs and quantities are in
`beyond_designs.py`, the shares that fairness would give in `rias.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from forebay.comparison import Case, Comparison, Design, Findings, Shown
from forebay.study import Point
from forebay_studies.rpr.beyond_designs import (
    SCENARIO,
    SETTLED,
    bursts,
    lots,
    measured_bursts,
    measured_lots,
    measured_media,
    media,
    of_law,
)
from forebay_studies.rpr.readings import LINES, OC12, SCENARIOS

SRP_FA = Design(
    "srp-fa",
    "SRP-fa",
    of_law("srp_fa"),
    "RFC 2892 with its constants: TB_LO_THRESHOLD 320 kB, LP_ALLOW 64.",
)
OTHERS = [
    Design(
        "voq",
        "VoQ",
        of_law("voq"),
        "The proposal of the slides: formulas as published, the rest reconstructed; it is told of "
        "reservations and of who is active.",
    ),
    Design(
        "aggressive",
        "802.17 aggressive",
        of_law("aggressive"),
        "A congested station tells its low-passed rate; coefficients and thresholds of the "
        "standard's MIB, rules reconstructed.",
    ),
    Design(
        "conservative",
        "802.17 conservative",
        of_law("conservative"),
        "A congested station sets a rate and changes it once in a round trip; rules reconstructed.",
    ),
    Design("none", "no law", of_law("none"), "Buffers and priorities alone."),
]

NEARLY = 0.02
"""Of a mean: designs that differ by less are called alike."""


def _shown(findings: Findings, quantity: str) -> Shown:
    return next(entry for entry in findings.comparison.shown if entry.quantity == quantity)


def _mean(findings: Findings, quantity: str, design: Design, case: Case) -> float | None:
    interval = findings.interval(quantity, design, case)
    return None if interval is None else interval.mean


def _told(findings: Findings, quantity: str, cases: Sequence[Case] | None = None) -> str:
    """`hub: 99 % with SRP-fa, 98 % with VoQ; ...`."""
    shown = _shown(findings, quantity)
    words = []
    for case in findings.cases if cases is None else cases:
        means = []
        for design in findings.comparison.every_design:
            mean = _mean(findings, quantity, design, case)
            if mean is not None:
                means.append(f"{mean / shown.size:.3g} {shown.unit} with {design.title}")
        words.append(f"{case.name}: {', '.join(means)}")
    label = shown.label[0].upper() + shown.label[1:]
    return f"{label}. {'; '.join(words)}."


def _least(findings: Findings, quantity: str) -> str:
    """The least mean of each design over the cases."""
    shown = _shown(findings, quantity)
    words = []
    for design in findings.comparison.every_design:
        means = [_mean(findings, quantity, design, case) for case in findings.cases]
        known = [mean for mean in means if mean is not None]
        if known:
            words.append(f"{min(known) / shown.size:.3g} {shown.unit} with {design.title}")
    return ", ".join(words)


def _winners(findings: Findings, quantity: str) -> str:
    """In how many cases each design is within 2 % of the best mean."""
    shown = _shown(findings, quantity)
    counts = dict.fromkeys((d.title for d in findings.comparison.every_design), 0)
    for case in findings.cases:
        means = {
            design.title: mean
            for design in findings.comparison.every_design
            if (mean := _mean(findings, quantity, design, case)) is not None
        }
        if shown.better == "less":
            best = min(means.values())
            near = [name for name, mean in means.items() if mean <= (1 + NEARLY) * best]
        else:
            best = max(means.values())
            near = [name for name, mean in means.items() if mean >= (1 - NEARLY) * best]
        for name in near:
            counts[name] += 1
    return ", ".join(f"{name} in {count}" for name, count in counts.items())


def _concluded_laws(findings: Findings) -> list[str]:
    count = len(findings.cases)
    return [
        f"""Utilisation. {_told(findings, "utilization_ratio")} Best, or within 2 % of it:
        {_winners(findings, "utilization_ratio")} of {count} cases.""",
        f"""What F gets. {_told(findings, "f_share_ratio")} The least over the cases:
        {_least(findings, "f_share_ratio")}.""",
        f"""What D's packets wait for. {_told(findings, "d_wait_s")} Without a law F fills the line
        too, and D's host goes ahead of it until its transit buffer is full.""",
        """Limits: one station with bursts and one behind it; VoQ is told D's rate and who is
        active, which the others must find out; the modes of 802.17 are reconstructed from the
        standard's MIB and from RFC 2892.""",
    ]


def _concluded_lots(findings: Findings) -> list[str]:
    settled = f"{100 * SETTLED:.0f} %"
    return [
        f"""Fairness. {_told(findings, "worst_ratio")} Over all cases the worst flow gets at least:
        {_least(findings, "worst_ratio")}.""",
        f"""Spatial reuse. {_told(findings, "most_ratio")} A flow that gets less than its share
        while others are content shows that its station is held back for spans that it does not
        use.""",
        f"""The whole ring. {_told(findings, "carried_ratio")}""",
        f"""How fast. {_told(findings, "settling_s")} A ring that never settles shows the length of
        its run. Settled is when no flow gets less than {settled} of its share over 50 ms.""",
        """Limits: all stations begin at once and always have packets, equal weights, OC-12, and
        thresholds that do not grow with the ring.""",
    ]


def _concluded_media(findings: Findings) -> list[str]:
    return [
        f"""TCP. {_told(findings, "f_goodput_ratio")} {_told(findings, "d_throughput_ratio")} Eight
        connections fill the queue of their station, 4 MB; what the law takes away they find as
        waiting first and as loss then.""",
        f"""The ring. {_told(findings, "utilization_ratio")} Best, or within 2 % of it:
        {_winners(findings, "utilization_ratio")} of {len(findings.cases)} cases.""",
        f"""Voice and D's traffic. {_told(findings, "voice_wait_s")} {_told(findings, "d_delay_s")}
        With two transit buffers high priority waits for packets in transmission only; VoQ as
        reconstructed has one, in which everything in transit goes first, and holds high priority to
        what is reserved.""",
        """Limits: voice and video are the codecs and the process of the study pcn, without loss
        recovery; CUBIC with a round trip of 4.5 ms; one ring of 60 km.""",
    ]


def _bursty() -> list[Case]:
    return [
        Case(
            f"scenario {scenario}",
            {"scenario": scenario, "line": line},
            "OC-12" if line == OC12 else "OC-48",
        )
        for line in LINES
        for scenario in SCENARIOS
    ]


LAWS = Comparison(
    id="laws",
    title="The slides' scenarios under five laws",
    question="""Do the modes that IEEE 802.17 standardised in 2004 mend what the slides complained
    of in 2002? Scenarios 1, 3 and 4 of the slides at both speeds, on the ring of the study.""",
    baseline=SRP_FA,
    designs=OTHERS,
    cases=_bursty(),
    quantities=measured_bursts,
    shown=[
        Shown("utilization_ratio", "utilisation of the link behind D", "%", "more"),
        Shown("f_share_ratio", "goodput of F, of the line", "%", "more"),
        Shown("d_wait_s", "longest wait of D's packets at their host", "us", "less"),
        Shown("d_got_ratio", "of D's packets, delivered in the window", "%", "more"),
    ],
    overrides=bursts,
    replications=5,
    quick_replications=2,
    quick_overrides=('duration="0.83 s"',),
    conclusion=_concluded_laws,
)


def _lots() -> list[Case]:
    named: dict[str, Point] = {
        "hub, two stations": {"lot": "hub", "km": 60},
        "parking lot of 4": {"lot": "parking", "stations": 5, "km": 50},
        "parallel parking lot": {"lot": "parallel", "km": 60},
        "disjoint spans": {"lot": "reuse", "km": 60},
        "F against 5 Mbit/s": {"lot": "hub", "km": 60, "light_mbps": 5},
        "F against 50 Mbit/s": {"lot": "hub", "km": 60, "light_mbps": 50},
    }
    found = [
        Case(label, {**point, "duration_s": 2}, "small rings", quick="light_mbps" not in point)
        for label, point in named.items()
    ]
    for stations, km in ((16, 100), (16, 1000), (64, 100), (64, 1000)):
        parked: Point = {"lot": "parking", "stations": stations, "km": km, "duration_s": 3}
        label = f"{stations} stations {km} km"
        found.append(Case(label, parked, "parking lots", quick=False))
    return found


LOTS = Comparison(
    id="lots",
    title="Backlogged stations, against the shares of RIAS fairness",
    question="""Do stations that always have packets get what RIAS fairness, max-min over ingress
    stations with spatial reuse, gives them? A hub; a parking lot, in which all stations send to the
    last; a parallel parking lot, in which the first one also sends to the second, where three
    quarters of the line are left; disjoint spans, each with all of the line; a backlogged station
    upstream of a slow one; and parking lots of up to 64 stations on up to 1,000 km.""",
    baseline=SRP_FA,
    designs=OTHERS,
    cases=_lots(),
    quantities=measured_lots,
    shown=[
        Shown("worst_ratio", "of its RIAS share, got by the worst flow", "%", "more"),
        Shown("most_ratio", "of its RIAS share, got by the best flow", "%"),
        Shown("carried_ratio", "got by all flows, of the sum of their shares", "%", "more"),
        Shown("settling_s", "time until no flow gets much less than its share", "s", "less"),
    ],
    scenario=SCENARIO,
    overrides=lots,
    record=True,
    replications=2,
    quick_replications=2,
    conclusion=_concluded_lots,
)

MEDIA = Comparison(
    id="media",
    title="TCP, video and voice",
    question="""What do the slides' "other traffic patterns including TCP and multimedia" make of
    the laws? Eight bulk transfers enter at F; at D eight more, or 500 streams of video, or the
    bursts of scenario 1, all at low priority; 200 voice calls each at E and D have high priority.
    All go to A, on the ring of the slides at OC-12.""",
    baseline=SRP_FA,
    designs=OTHERS,
    cases=[
        Case("TCP at D", {"elastic": "tcp"}),
        Case("video at D", {"elastic": "video"}, quick=False),
        Case("bursts at D", {"elastic": "bursts"}),
    ],
    quantities=measured_media,
    shown=[
        Shown("f_goodput_ratio", "goodput of F's TCP, of the line", "%", "more"),
        Shown("d_throughput_ratio", "throughput of D's traffic, of the line", "%"),
        Shown("utilization_ratio", "utilisation of the link to the hub", "%", "more"),
        Shown("voice_wait_s", "longest wait of voice", "us", "less"),
        Shown("d_delay_s", "mean delay of D's traffic", "ms", "less"),
    ],
    scenario=SCENARIO,
    overrides=media,
    replications=3,
    quick_replications=2,
    quick_overrides=('duration="3 s"',),
    conclusion=_concluded_media,
)

COMPARISONS = [LAWS, LOTS, MEDIA]
