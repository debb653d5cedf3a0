"""Beyond the slides: "other traffic patterns including TCP and multimedia", and more laws.

The slides compare two mechanisms on one hub. Here both stand beside the two modes of what became
IEEE 802.17 (as reconstructed) and a ring without any law. Rings, designs and quantities are in
`beyond_designs.py`, the shares that fairness would give in `rias.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from forebay.study.comparison import Case, Comparison, Design, Findings, Shown
from forebay.study.definition import Point
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


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _each(
    findings: Findings,
    quantity: str,
    pick: Callable[[Iterable[float]], float],
    cases: Sequence[Case] | None = None,
) -> str:
    """`71.4 % with SRP-fa, 95.8 % with VoQ`: the least or the most of each design's means."""
    shown = findings.shown(quantity)
    words = []
    for design in findings.comparison.every_design:
        chosen = findings.cases if cases is None else cases
        means = [findings.interval(quantity, design, case) for case in chosen]
        known = [mean.mean for mean in means if mean is not None]
        if known:
            words.append(f"{_number(pick(known) / shown.size)} {shown.unit} with {design.title}")
    return ", ".join(words)


def _against(findings: Findings, quantity: str) -> str:
    """`VoQ better in 6; ...`: what paired differences from the baseline say, case by case."""
    shown = findings.shown(quantity)
    told = []
    for design in findings.comparison.designs:
        tally = findings.tally(shown, design)
        words = ", ".join(f"{verdict} in {count}" for verdict, count in tally.items())
        told.append(f"{design.title} {words}")
    count, baseline = len(findings.cases), findings.comparison.baseline.title
    return f"Against {baseline}, of {count} cases: {'; '.join(told)}."


def _fair(findings: Findings, cases: Sequence[Case]) -> str:
    """The designs under which no flow gets much less than its share in the mean of any case."""
    fair = []
    for design in findings.comparison.every_design:
        means = [findings.interval("worst_ratio", design, case) for case in cases]
        if all(mean is not None and mean.mean >= SETTLED for mean in means):
            fair.append(design.title)
    return ", ".join(fair) or "none"


def _of(findings: Findings, *labels: str) -> list[Case]:
    """The cases of these labels, or of these groups."""
    return [case for case in findings.cases if case.label in labels or case.group in labels]


def _concluded_laws(findings: Findings) -> list[str]:
    return [
        f"""Utilisation, the least of all cases: {_each(findings, "utilization_ratio", min)}.
        {_against(findings, "utilization_ratio")} The aggressive mode is SRP-fa's control with a
        faster filter and congestion from an eighth of the buffer on, 65 kB, which is less than a
        burst of the slides. The conservative mode aims at less than the line.""",
        f"""What F gets at the least: {_each(findings, "f_share_ratio", min)}. VoQ owes its lead to
        what it is told: who is active, and what D reserves.""",
        f"""What the fairness of a law is for shows without one: F then gets all of the line, and of
        D's packets {_each(findings, "d_got_ratio", min)} are delivered at the least. Above the
        full transit buffer D's host may send nothing, high priority included.""",
        f"""D's packets wait at their host for at most {_each(findings, "d_wait_s", max)}. Under
        SRP-fa bursts of low priority wait, as a host with a backlog in transit sends no more than
        it forwards; under VoQ everything in transit goes first.""",
        """Limits: one station with bursts and one behind it; the modes of 802.17 are reconstructed
        from the standard's MIB and from RFC 2892.""",
    ]


def _concluded_lots(findings: Findings) -> list[str]:
    small, large = _of(findings, "small rings"), _of(findings, "parking lots")
    found = [
        f"""Of its RIAS share the worst flow gets at the least: on small rings
        {_each(findings, "worst_ratio", min, small)}. {_against(findings, "worst_ratio")}"""
    ]
    if large:
        found.append(
            f"""In parking lots of 16 and 64 stations: {_each(findings, "worst_ratio", min, large)}.
            Until no flow gets less than {100 * SETTLED:.0f} % of its share over 50 ms it takes at
            most {_each(findings, "settling_s", max, large)}; a run lasts 3 s. In the mean nobody
            gets less than that, up to 64 stations and 1,000 km, with: {_fair(findings, large)}.
            Of 64 stations each may send a frame in twelve intervals, which counters that age by a
            quarter in each hardly resolve; the conservative mode also waits for a round trip after
            each change."""
        )
    parallel = _of(findings, "parallel parking lot")
    found.append(
        f"""Spatial reuse. In the parallel parking lot, where the flow that leaves after one span
        is due three quarters of the line, the worst flow gets, of its share:
        {_each(findings, "worst_ratio", min, parallel)}. SRP-fa throttles a station, whatever the
        destination; VoQ divides its formula's share among the queues of a station, and what one
        does not use is lost; both modes of 802.17 limit only what passes the congestion.
        Of disjoint spans each flow gets
        {_each(findings, "worst_ratio", min, _of(findings, "disjoint spans"))}."""
    )
    light = _of(findings, "F against 50 Mbit/s")
    if light:
        found.append(
            f"""A station that asks for little. Of a backlogged station and one of 50 Mbit/s
            downstream the worse off gets, of its share:
            {_each(findings, "worst_ratio", min, light)}. VoQ keeps half of the line for whoever is
            active: its known weak spot."""
        )
    limits = """Limits: all stations begin at once and always have packets; equal weights; OC-12;
    thresholds that do not grow with the ring. A flow that starves others stands under no law."""
    return [*found, limits]


def _concluded_media(findings: Findings) -> list[str]:
    several = [
        f"{case.label}, {_each(findings, 'f_goodput_ratio', min, [case])}"
        for case in findings.cases
    ]
    return [
        f"""Goodput of F's TCP: {"; ".join(several)}. Utilisation of the link to the hub, the least:
        {_each(findings, "utilization_ratio", min)}. {_against(findings, "f_goodput_ratio")} Bursts
        at D cost TCP what they cost the slides' constant source; where D has video, VoQ keeps half
        of the line for it, needed or not.""",
        f"""Voice waits at most {_each(findings, "voice_wait_s", max)}. With two transit buffers
        that is for packets in transmission and for its own bunches. VoQ as reconstructed has one
        buffer, in which everything in transit goes first, and holds high priority to what is
        reserved.""",
        f"""D's traffic is delayed by {_each(findings, "d_delay_s", max)} in the mean at most: with
        TCP that is the queue of its own host, 4 MB.""",
        """Limits: CUBIC with a round trip of 4.5 ms; video and voice without loss recovery; one
        ring of 60 km.""",
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
