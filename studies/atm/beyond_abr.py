"""Explicit rates: the control that the ATM Forum chose in the end, on the traffic of the thesis.

The thesis sends binary notifications back from the port. The Traffic Management Specification of
1996 has sources ask for a rate by resource-management cells, and ports answer; ERICA is how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forebay.study.comparison import Case, Comparison, Design, Findings, Shown
from forebay.study.definition import Run
from forebay.study.findings_text import described
from forebay.toml import inline
from forebay_studies.atm.beyond_designs import (
    CELL_BITS,
    DATA,
    DATA_LOSS,
    FILE_TIME,
    FULL,
    LATE,
    NOTHING,
    REALTIME,
    REALTIME_LOSS,
    THROUGHPUT,
    UTILIZATION,
    VIDEO_RATE,
    WAY_BACK,
    mixed,
    of_one_link,
)
from forebay_studies.atm.network import KINDS, LINK_BPS

INTERVAL, TARGET, LOWER = "50 ms", 0.9, 0.8
"""Those of the thesis's own detector (section 5.1), so that both look as often and aim as high; and
a lower target, which leaves room for bursts."""
BEGIN = 0.5
"""A session begins at half its nominal rate (section 6.2.1.4)."""
PROMISED = {"voice": 0.5, "video": 0.5, "data": 0.0}
"""What the thesis leaves to each kind whatever happens (section 5.3)."""


def with_way_back(case: Case) -> list[str]:
    """The mixture under full control, with links on which cells come back all the way."""
    return [*mixed(case), *WAY_BACK]


def explicit(*kinds: str, target: float = TARGET) -> list[str]:
    """Explicit rates for some kinds of sources; the others hear nothing."""
    erica = {"erica": {"interval": INTERVAL, "target": target}}
    found = [f"links.satellite.explicit_rate={inline(erica)}"]
    for kind in KINDS:
        # A port that computes rates is to be followed at once: RIF of 1.
        abr = {"abr": {"mcr": PROMISED[kind], "icr": BEGIN, "rif": 1.0}}
        pace = abr if kind in kinds else "uncontrolled"
        found.append(f"flows.{kind}.paced.pace={inline(pace)}")
    return found


def of_rates(run: Run, case: Case) -> Mapping[str, float]:
    """What the thesis looks at, with the cost of telling rates and how data share."""
    capacity = LINK_BPS * float(run.document["measured_s"]) / CELL_BITS
    got = [
        float(row["delivered_packets"]) for row in run.document["flows"] if row["group"] == "data"
    ]
    told = sum(row["resource_cells"] for row in run.document["paced"])
    squares = sum(cells * cells for cells in got)
    return {
        **of_one_link(run, case),
        **{
            f"{name}_loss_ratio": _lost(run, groups, precedences)
            for name, groups, precedences in (
                ("realtime", KINDS[:2], REALTIME),
                ("data", KINDS[2:], DATA),
            )
        },
        "resource_ratio": told / capacity,
        "fairness_ratio": sum(got) ** 2 / (len(got) * squares) if squares else 1.0,
    }


def _lost(run: Run, groups: Sequence[str], precedences: Sequence[int]) -> float:
    """The share of cells sent that the port dropped, without cells that tell rates."""
    told = [row for row in run.document["paced"] if row["name"] in groups and row["resource_cells"]]
    others = sum(int(run.group(row["name"])["dropped_acks"]) for row in told)
    dropped = run.link("satellite")["dropped_packets"]
    lost = sum(int(dropped[precedence]) for precedence in precedences) - others
    return lost / max(sum(int(run.group(group)["sent_packets"]) for group in groups), 1)


def _concluded(findings: Findings) -> list[str]:
    return [
        f"""What is lost and late. {
            described(findings, "realtime_loss_ratio", "data_loss_ratio", "realtime_late_ratio")
        }""",
        f"""How well the link is used. {
            described(findings, "utilization_ratio", "throughput_ratio", "file_time_s")
        }""",
        f"""Who gets it. {described(findings, "realtime_rate_ratio", "fairness_ratio")}""",
        f"""What it costs to tell rates. {
            described(findings, "resource_ratio")
        } Sources of few cells tell their rate by the clock, each 100 ms (Trm), and not with every
        32nd cell.""",
        f"""Against the full scheme. {" ".join(_against(findings, d) for d in TOLD)}""",
        """Why. ERICA has one fair share for all sources that ask, whatever they are promised, where
        the thesis slows the lowest class first, and voice and video only when that is not enough:
        data have a share like any other source, and video shares with them what it has above its
        promise. A load factor of up to 1 + delta = 1.1 is left as it is: a target of 90 % is one of
        up to 99 %, and of 80 % up to 88 %, and what is promised may come on top. What the target
        leaves free is the room for sources of two rates, which change theirs sooner than cells go
        round. Where voice and video ask for no rate, nothing protects them from each other.""",
        """Limits: one bottleneck, where equal shares are max-min fair; a rate increase factor of 1;
        explicit rates alone, without congestion bits; no weights for kinds of sources, and no
        control of the queue (ERICA+).""",
    ]


def _against(findings: Findings, design: Design) -> str:
    """In which quantities a design is better and worse, case by case."""
    judged = [shown for shown in findings.comparison.shown if shown.better]
    told = []
    for case in findings.cases:
        words = []
        for verdict, word in (("better", "Better"), ("worse", "Worse")):
            labels = [
                shown.label for shown in judged if findings.verdict(shown, design, case) == verdict
            ]
            words.append(f"{word}: {'; '.join(labels) or 'nothing'}.")
        told.append(f"{case.name}. {' '.join(words)}")
    return f"{design.title[0].upper()}{design.title[1:]}, {' '.join(told)}"


DATA_ALONE = Design(
    "abr-data",
    "explicit rates for data",
    explicit("data"),
    "Data are ABR under ERICA; voice and video go first, at their nominal rates.",
    without=["links.satellite.detector"],
)
ALL = Design(
    "abr-all",
    "explicit rates for all",
    explicit(*KINDS),
    "All are ABR under ERICA, voice and video with half their nominal rates promised.",
    without=["links.satellite.detector"],
)
ALL_LOWER = Design(
    "abr-all-80",
    "explicit rates for all, target 80 %",
    explicit(*KINDS, target=LOWER),
    "The same with a target of 80 %.",
    without=["links.satellite.detector"],
)

TOLD = (DATA_ALONE, ALL, ALL_LOWER)
"""The designs in which a port tells rates."""

EXPLICIT = Comparison(
    id="explicit",
    title="Explicit rates: ABR with ERICA",
    question="""The thesis has ports tell sources to slow down; the ATM Forum chose in 1996 that
    ports tell sources a rate (Traffic Management Specification 4.0, section 5.10), for which ERICA
    (Kalyanaraman et al. 2000) became the standard example. What would it have done to the same
    voice, video and files, for data alone as it was meant, and for all that the thesis controls?
    Interval and target of ERICA are those of the thesis's detector, 50 ms and 90 %.""",
    baseline=FULL,
    designs=[*TOLD, NOTHING],
    cases=[
        Case("113 sources", {"sources": 113}),
        Case("57 sources", {"sources": 57}, quick=False),
    ],
    quantities=of_rates,
    shown=[
        REALTIME_LOSS,
        LATE,
        DATA_LOSS,
        UTILIZATION,
        THROUGHPUT,
        FILE_TIME,
        VIDEO_RATE,
        Shown("fairness_ratio", "fairness among data sources (Jain's index)", "%", "more"),
        Shown("resource_ratio", "resource-management cells, of the link", "%"),
    ],
    overrides=with_way_back,
    replications=6,
    quick_replications=2,
    conclusion=_concluded,
)
