"""Sensitivity runs of the study: one assumption chosen otherwise, where it matters."""

from __future__ import annotations

from collections.abc import Callable

from forebay.study.definition import Point, Variant
from forebay_studies.atm.network import Sources, counted, present, sources
from forebay_studies.atm.readings import RATE_BASED, UNCONTROLLED

__all__ = ["VARIANTS"]

MIX_ZERO = ("f40-42/n92/*", "f40-42/n113/*")
MIX_MOST = ("s8.3/n113/*", "f44/*")
LATE_MOST = ("f14/*", "f16-17/n120/*")
DETECTOR = "links.satellite.detector.input_rate"


def _detector(setting: str) -> Callable[[Point], list[str]]:
    """A setting of the detector of Case 2; the others have none or another."""
    return lambda point: [f"{DETECTOR}.{setting}"] if point["case"] == RATE_BASED else []


def _control(setting: str) -> Callable[[Point], list[str]]:
    """A setting of the rate control of all sources, where there is one."""

    def assignments(point: Point) -> list[str]:
        if point["case"] == UNCONTROLLED:
            return []
        return [f"flows.{kind}.paced.pace.steps.{setting}" for kind in present(point)]

    return assignments


def _began_otherwise(first: Sources) -> Callable[[Point], list[str]]:
    """Another division of the fewest sources."""
    return lambda point: counted(point, sources(point, first))


def _spread(point: Point) -> list[str]:
    """Sources come within a mean session instead of all at once."""
    return [f'flows.{kind}.start={{ uniform = ["0 s", "15 s"] }}' for kind in present(point)]


def _no_slow_start(point: Point) -> list[str]:
    law = "uncontrolled" if point["case"] == UNCONTROLLED else "steps"
    return [f"flows.{kind}.paced.pace={{ {law} = {_begun(kind, law)} }}" for kind in present(point)]


def _begun(kind: str, law: str) -> str:
    """Control that begins at the nominal rate."""
    if law == "uncontrolled":
        return "{ start = 1.0 }"
    return "{ start = 1.0, floor = 0.0 }" if kind == "data" else "{ start = 1.0, ceiling = 1.0 }"


def _depth(factor: float) -> Callable[[Point], list[str]]:
    def assignments(point: Point) -> list[str]:
        if point["case"] == UNCONTROLLED:
            return []
        depths = {"voice": 34, "video": 143}
        return [
            f"flows.{kind}.policing.bucket.depth={round(factor * depths[kind])}"
            for kind in present(point)
            if kind in depths
        ]

    return assignments


def _payload(point: Point) -> list[str]:
    """1 Mbyte of payload in cells of 48 bytes of it."""
    return ['flows.data.paced.activity.files.size="1104167 B"'] if "data" in present(point) else []


VARIANTS = [
    Variant(
        "share-30",
        "classes with 30 % of the link are eligible for notifications",
        "The 20 % of section 5.1 are what data settle at in the mixture.",
        _detector("share=0.3"),
        (*MIX_ZERO, *MIX_MOST),
    ),
    Variant(
        "raw-memory",
        "filter with the previous measured rate",
        'Section 5.1 says "the previous value": of the filter, or of the rate?',
        _detector('memory="raw"'),
        (*MIX_ZERO, *MIX_MOST),
    ),
    Variant(
        "rate-first",
        "a high rate is told even of a cell that was dropped",
        "Section 5.1 does not order the two notifications.",
        _detector('order="rate_first"'),
        (*MIX_ZERO, *MIX_MOST),
    ),
    Variant(
        "warm-up",
        "the first 5 s are not counted",
        "Half of all sources begin at 0 s at once (section 6.2.1.5), and all of them slowly.",
        ('warm_up="5 s"',),
        (*MIX_ZERO, *MIX_MOST),
    ),
    Variant(
        "spread-start",
        "sources begin within the first 15 s",
        "As above: at 0 s half of them begin together, as section 6.2.1.5 has it.",
        _spread,
        MIX_ZERO,
    ),
    Variant(
        "no-slow-start",
        "no slow start",
        "What the slow start of section 6.2.1.4 does.",
        _no_slow_start,
        ("f24/n29/*", *MIX_ZERO, "f16-17/n120/*"),
    ),
    Variant(
        "no-hold-off",
        "no notification is ignored",
        "Section 5.3 has sources ignore notifications for a round trip.",
        _control('ignore="0 ms"'),
        (*MIX_MOST, "s8.2/n29/case2/*"),
    ),
    Variant(
        "free-timer",
        "notifications do not restart the round trip of the increase",
        "Unstated (section 5.3).",
        _control("restart_timer=false"),
        (*MIX_MOST, "f21/n15/*"),
    ),
    Variant(
        "47-25",
        "47 voice and 25 video sources of 72",
        "The thesis prints totals only; this, too, exceeds the capacity from 96 on.",
        _began_otherwise(Sources(47, 25, 0)),
        LATE_MOST,
    ),
    Variant(
        "9-15-5",
        "9 voice, 15 video and 5 data sources of 29",
        "The thesis prints totals only; here the load is just 1 with 57 sources.",
        _began_otherwise(Sources(9, 15, 5)),
        MIX_MOST,
    ),
    Variant(
        "8-15-6",
        "8 voice, 15 video and 6 data sources of 29",
        "The thesis prints totals only; here there is one data source more.",
        _began_otherwise(Sources(8, 15, 6)),
        (*MIX_MOST, *MIX_ZERO),
    ),
    Variant(
        "payload",
        "1 Mbyte of payload",
        "Section 6.2.1.3 does not say whether the headers of cells count.",
        _payload,
        ("f24/n29/*", *MIX_MOST),
    ),
    Variant(
        "far-control",
        "notifications take 280 ms",
        "The detecting port is 5 ms from the sources; from the far end it would be 280 ms.",
        ('links.user.reverse.delay="280 ms"',),
        (*MIX_MOST, "s8.2/n29/case2/*"),
    ),
    Variant(
        "half-depth",
        "leaky buckets of half the depth",
        "Table 2 has no depths; those of the study follow from section 3.1 for 0.5 s.",
        _depth(0.5),
        ("f16-17/n120/*", *MIX_MOST),
    ),
    Variant(
        "double-depth",
        "leaky buckets of twice the depth",
        "As above.",
        _depth(2.0),
        ("f16-17/n120/*", *MIX_MOST),
    ),
]
"""Where several points stand for a pattern, each gets the variant's replications."""
