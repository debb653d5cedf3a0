"""Beyond the thesis: what it leaves to further research (chapter 5), and its section 4.3 mended.

Networks, designs and quantities are in `beyond_designs.py`; here is what is asked, and what came of
it.
"""

from __future__ import annotations

from collections.abc import Sequence

from forebay.study.comparison import Case, Comparison, Design, Findings, Shown
from forebay.study.definition import Point
from forebay.study.findings_text import described
from forebay_studies.redn.beyond_designs import (
    UDP_FAIR,
    WARM_UP_S,
    adjusting,
    bucket_by_customer,
    bucket_by_flow,
    by_rate,
    choke,
    crowded,
    mixed,
    oversubscribed,
    paired,
    phased,
    policed,
    replicas,
    self_adjusting,
    shares_of_customers,
    sred,
    tcp_and_udp,
    tsw_by_customer,
)
from forebay_studies.redn.network import MEAN_DELAY_S, PATTERN
from forebay_studies.redn.readings import MIX, RTTS, STATIC, Setting

DELAY = Shown("delay_s", "mean queuing delay", "ms", "less")
UTILIZATION = Shown("utilization_ratio", "utilisation of the bottleneck", "%", "more")


def _point(setting: Setting, **more: str | float) -> Point:
    return {**setting._asdict(), **more}


# What it comes to. Every figure and every verdict below is read from the findings.


def _told(findings: Findings, *quantities: str) -> str:
    return described(findings, *quantities, digits=4)


def _concluded_middle(findings: Findings) -> list[str]:
    late = [
        f"{case.label}: {_names(_beyond(findings, 'steady_delay_s', 1.1 * MEAN_DELAY_S, case))}"
        for case in findings.cases
    ]
    return [
        f"""How fast the queue is held when O begins. {_told(findings, "start_delay_max_s")}
        {_told(findings, "start_delay_s")} A static probability stays what it is until the average
        exceeds the maximum threshold, more than six times as high as the middle one; an adjusted
        one grows meanwhile.""",
        f"""Afterwards. {_told(findings, "steady_delay_s", "above_middle_ratio")} Designs with a
        delay more than 10 % above the 15 ms that the middle threshold stands for, by the static
        probability: {"; ".join(late)}. An average that crosses the middle threshold more often than
        once an interval adjusts nothing: where the configured value is enough, there is nothing to
        do but at the start; one that is too small does not stay so.""",
        f"""What it costs, and who pays. {_told(findings, "utilization_ratio", "assured_ratio")}
        How far it went: {_told(findings, "middle_probability_ratio")}""",
        """Limits: one network, packet drop, the factor 2 of the thesis's increment both ways, and
        a probability that shrinks back to the configured value but not below it.""",
    ]


def _names(titles: Sequence[str]) -> str:
    return ", ".join(titles) or "none"


def _beyond(findings: Findings, quantity: str, limit: float, case: Case) -> list[str]:
    """The designs whose mean is above a limit."""
    return [
        design.title
        for design in findings.comparison.every_design
        if (mean := findings.interval(quantity, design, case)) is not None and mean.mean > limit
    ]


def _concluded_conditioning(findings: Findings) -> list[str]:
    return [
        f"""Who gets what share. {_told(findings, "b_share_ratio")} An estimate over one round
        trip follows every burst that TCP sends within it, and colours packets of the burst by its
        rate, where a bucket that holds a round trip's worth lets it pass; over 1 s bursts average
        out.""",
        f"""What is attained of the baseline expected throughputs.
        {_told(findings, "a_attained_ratio", "b_attained_ratio", "worst_ratio")}""",
        f"""The gateway. {_told(findings, "delay_s", "utilization_ratio")}""",
        f"""Limits: long-lived TCP alone; a path of its own for each flow; the first
        {WARM_UP_S:g} s are not counted; worst is the worst of 48 flows in one run, and varies.""",
    ]


def _concluded_aggregate(findings: Findings) -> list[str]:
    return [
        f"""What customers get. {_told(findings, "worst_customer_ratio", "attained_ratio")}""",
        f"""How a customer's flows share it. {_told(findings, "far_near_ratio", "jain_ratio")} A
        conditioner of its own gives every flow green packets at its own rate, however long its
        round trip. A common one gives them to whoever sends: then the old rule of TCP is back by
        which flows share in inverse proportion to their round-trip times, here
        {100 * min(RTTS) / max(RTTS):.0f} % without queuing.""",
        f"""The gateway. {_told(findings, "delay_s", "utilization_ratio", "green_ratio")} A common
        contract is used up by whoever can send more, so more packets are green; for green ones the
        gateway has no middle threshold, and where contracts exceed the link they fill its queue
        beyond that of the other colours.""",
        f"""Limits: six flows a customer, all active and all with data; the first {WARM_UP_S:g} s
        are not counted.""",
    ]


WHY_NOT = """Why a law at the gateway that looks at the queue does not mend it. The 24 flows of UDP
send 240 Mbit/s of 273.6: once TCP has yielded hardly any congestion is left in which CHOKe or SRED
would drop. Before it yields both drop whoever has many packets waiting, TCP of 10 Mbit/s as much as
UDP of 12; a fair share would take half of UDP's packets, while TCP of 10 Mbit/s and 120 ms, a
window of 150 packets, bears one loss in 15,000 (1.5 / 150^2). And both are blind to colours: CHOKe
holds the queue so short that the gateway behind it hardly comes to drop red and yellow packets
rather than green ones, and what TCP gets is shared alike by its flows, whatever they expect. To
drop at the edge what the contract calls red asks nothing of the gateway; what it calls yellow still
comes in full."""
"""Said where nothing brings UDP to its fair share."""


def _concluded_udp(findings: Findings) -> list[str]:
    mends = [_mends(findings, case) for case in findings.cases]
    fair = [
        f"{case.label}, {_names(names)}" for case, names in zip(findings.cases, mends, strict=True)
    ]
    return [
        f"""UDP's share; a fair one is {100 * UDP_FAIR:.0f} % (section 4.3).
        {_told(findings, "udp_share_ratio")} Designs that bring it there: {"; ".join(fair)}.""",
        f"""What TCP gets. {_told(findings, "tcp1_ratio", "tcp10_ratio")}""",
        f"""The gateway. {_told(findings, "delay_s", "dropped_ratio")}""",
        *([] if any(mends) else [WHY_NOT]),
        f"""Limits: RED-PD, the third law that the thesis names, is not among them: it drops by the
        rate of a flow, also when the queue is short, and might. CHOKe begins at the gateway's
        minimum threshold, SRED's buffer is six times that. The first {WARM_UP_S:g} s are not
        counted.""",
    ]


def _mends(findings: Findings, case: Case) -> list[str]:
    """Designs that bring UDP's share to the fair one, or within a tenth of it."""
    every = [design.title for design in findings.comparison.every_design]
    above = _beyond(findings, "udp_share_ratio", 1.1 * UDP_FAIR, case)
    return [title for title in every if title not in above]


MIDDLE = Comparison(
    id="middle",
    title="The static maximum probability of the middle threshold, adjusted at run time",
    question="""The thesis would have the maximum probability associated with a middle threshold
    adjusted at run time, and larger than the effective one. Let it grow by the increment when the
    average has been above the middle threshold for an interval, shrink as it stays below, and
    exceed the dynamic one by the increment at least. What does that change in the oversubscribed
    phase of B-U-O (section 4.1.1), with the static probability of the thesis, and with one of a
    tenth of it?""",
    baseline=Design("static", "static", about="The thesis's Adaptive REDn."),
    designs=[
        Design(
            "slow", "adjusted in 500 ms", adjusting(500), "In steps of 500 ms: its longest RTT."
        ),
        Design("fast", "adjusted in 100 ms", adjusting(100), "In steps of 100 ms."),
    ],
    cases=[
        Case(
            f"static {static:g}",
            _point(Setting("single", "adaptive", "drop", "b-u-o"), static=static),
            quick=static < STATIC,
        )
        for static in (STATIC, STATIC / 10)
    ],
    quantities=oversubscribed,
    shown=[
        Shown("start_delay_max_s", "longest queuing delay in the first 10 s of O", "ms", "less"),
        Shown("start_delay_s", "mean queuing delay in the first 10 s of O", "ms", "less"),
        Shown("steady_delay_s", "mean queuing delay in the rest of O", "ms", "less"),
        Shown("above_middle_ratio", "red average above the middle threshold, of O", "%"),
        Shown("utilization_ratio", "utilisation of the bottleneck in O", "%", "more"),
        Shown("assured_ratio", "of what Table 4.1 assures, attained in O", "%", "more"),
        Shown("middle_probability_ratio", "mean probability of red's middle threshold in O", "%"),
    ],
    overrides=phased,
    without=PATTERN,
    record=True,
    replications=4,
    quick_replications=2,
    conclusion=_concluded_middle,
)


def _loads(quick: str) -> list[Case]:
    setting = Setting("single", "adaptive", "drop", "o")
    labels = {"baseline": "83 % subscribed", "over": "113 % subscribed"}
    return [
        Case(label, _point(setting, load=load), quick=load == quick)
        for load, label in labels.items()
    ]


CONDITIONING = Comparison(
    id="conditioning",
    title="Conditioning by rate beside conditioning by throughput",
    question="""Who gets what share when flows that are conditioned by rate (time sliding window,
    RFC 2859) and by throughput (the adaptive token bucket) meet? 48 flows send, of all expected
    throughputs and delays in two replicas, a and b; baselines make up 83 % or 113 % of the
    bottleneck.""",
    baseline=Design("bucket", "all by throughput", about="The thesis's conditioner for all flows."),
    designs=[
        Design(
            "beside", "b by rate over 1 s", by_rate("b", "1 s"), "Replica b behind TSW with 1 s."
        ),
        Design(
            "beside-rtt",
            "b by rate over one RTT",
            by_rate("b"),
            "Replica b behind TSW with the roundtrip transit delay of each path.",
        ),
        Design("rate", "all by rate over 1 s", by_rate("ab", "1 s"), "TSW with 1 s for all flows."),
    ],
    cases=_loads("over"),
    quantities=replicas,
    shown=[
        Shown("b_share_ratio", "share of replica b in what all flows get", "%"),
        Shown("a_attained_ratio", "of their baselines, attained by replicas a", "%", "more"),
        Shown("b_attained_ratio", "of their baselines, attained by replicas b", "%", "more"),
        Shown("worst_ratio", "of its baseline, attained by the worst flow", "%", "more"),
        DELAY,
        UTILIZATION,
    ],
    overrides=paired,
    without=PATTERN,
    replications=5,
    quick_replications=2,
    conclusion=_concluded_conditioning,
)

AGGREGATE = Comparison(
    id="aggregate",
    title="One conditioner for all flows of a customer",
    question="""What becomes of shares when not each flow has a conditioner, but each customer: six
    flows of the six roundtrip transit delays and one expected throughput behind one access link,
    with the sum of their rates? Eight customers, two of each expected throughput; baselines make up
    83 % or 113 % of the bottleneck.""",
    baseline=Design(
        "flow", "a bucket for each flow", bucket_by_flow(), "The thesis's conditioner, by flow."
    ),
    designs=[
        Design(
            "customer",
            "one bucket by the last RTT",
            bucket_by_customer(1.0),
            "As deep as the round trip needs that was told last, as for a flow.",
        ),
        Design(
            "customer-mean",
            "one bucket by the mean RTT",
            bucket_by_customer(0.01),
            "As deep as the mean over about 100 packets of the round trips told needs.",
        ),
        Design("customer-rate", "one TSW over 1 s", tsw_by_customer(), "RFC 2859, with 1 s."),
    ],
    cases=_loads("baseline"),
    quantities=shares_of_customers,
    shown=[
        Shown(
            "worst_customer_ratio", "of its baseline, attained by the worst customer", "%", "more"
        ),
        Shown("attained_ratio", "of their baselines, attained by customers", "%", "more"),
        Shown("far_near_ratio", "flow of 200 ms against flow of 30 ms of a customer", "%", "more"),
        Shown("green_ratio", "green packets, of what the bottleneck carries", "%"),
        Shown("jain_ratio", "Jain's index of the flows of a customer", "%", "more"),
        DELAY,
        UTILIZATION,
    ],
    overrides=crowded,
    without=PATTERN,
    replications=5,
    quick_replications=2,
    conclusion=_concluded_aggregate,
)

UDP = Comparison(
    id="udp",
    title="UDP beside TCP: CHOKe, SRED, and policing at the edge",
    question=f"""In section 4.3 UDP, which does not react to drops, takes 87 % of the bottleneck
    instead of the {100 * UDP_FAIR:.0f} % of its baselines. Does CHOKe in front of the gateway, or
    SRED instead of it, mend that? Once with the 24 flows of UDP of the thesis, which send 8 and
    12 Mbit/s; once with one flow of twice the bottleneck's rate, as in CHOKe's paper.""",
    baseline=Design("plain", "Adaptive REDn", about="The thesis's gateway."),
    designs=[
        Design("choke", "CHOKe", choke(), "One drop candidate, then Adaptive REDn."),
        Design("choke-self", "self-adjusting CHOKe", self_adjusting(), "2 to 16 candidates."),
        Design("sred", "SRED", sred, "Full SRED instead of Adaptive REDn."),
        Design(
            "policed", "red UDP policed", policed, "UDP's red packets dropped at its conditioners."
        ),
    ],
    cases=[
        Case("24 flows of UDP", _point(MIX, udp="many")),
        Case("1 flow of UDP", _point(MIX, udp="one"), quick=False),
    ],
    quantities=tcp_and_udp,
    shown=[
        Shown("udp_share_ratio", "share of UDP in what is received", "%", "less"),
        Shown("tcp1_ratio", "of its baseline, attained by TCP of 1 Mbit/s", "%", "more"),
        Shown("tcp10_ratio", "of its baseline, attained by TCP of 10 Mbit/s", "%", "more"),
        Shown("dropped_ratio", "packets dropped at the gateway", "%"),
        DELAY,
    ],
    overrides=mixed,
    without=PATTERN,
    replications=4,
    quick_replications=2,
    conclusion=_concluded_udp,
)

COMPARISONS: Sequence[Comparison] = [MIDDLE, CONDITIONING, AGGREGATE, UDP]
