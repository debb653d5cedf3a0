"""Runs whose traces are kept, and the figures drawn from them: those of the draft's lost slides."""

from __future__ import annotations

from collections.abc import Iterator

from forebay.drawing import Figure
from forebay.report.plot import time_series
from forebay.study import Change, Outcome, Point, Recording
from forebay_studies.pcn.draft import MBPS, NO_LOSS, VOICE_MBPS
from forebay_studies.pcn.network import VIDEO

VOICE: dict[str, tuple[str, Point]] = {
    "large-cbr": (
        "large number of CBR flows, px 2064 B, RTT 50 ms",
        {
            "flows": "large",
            "traffic": "cbr",
            "px_bytes": 2064,
            "rtt_ms": 50,
            "forward_pct": NO_LOSS,
        },
    ),
    "large-vbr": (
        "large number of VBR flows, px 8064 B, RTT 200 ms",
        {
            "flows": "large",
            "traffic": "vbr",
            "px_bytes": 8064,
            "rtt_ms": 200,
            "forward_pct": NO_LOSS,
        },
    ),
    "large-mix": (
        "codec mix, px 4064 B, RTT 200 ms",
        {
            "flows": "large",
            "traffic": "mix",
            "px_bytes": 4064,
            "rtt_ms": 200,
            "forward_pct": NO_LOSS,
        },
    ),
    "over": (
        "over-termination: CBR, px 2064 B, RTT 800 ms",
        {
            "flows": "large",
            "traffic": "cbr",
            "px_bytes": 2064,
            "rtt_ms": 800,
            "forward_pct": NO_LOSS,
        },
    ),
    "loss": (
        "CBR with 40 % loss, px 8064 B, RTT 200 ms",
        {"flows": "large", "traffic": "cbr", "px_bytes": 8064, "rtt_ms": 200, "forward_pct": 120},
    ),
    "small-cbr": (
        "small number of CBR flows, px 2064 B, RTT 50 ms",
        {
            "flows": "small",
            "traffic": "cbr",
            "px_bytes": 2064,
            "rtt_ms": 50,
            "forward_pct": NO_LOSS,
        },
    ),
}
"""Of section 4: title and grid point, without the family."""

ADMISSION: Point = {"family": "admission", "test": "overload", "size": "M", "media_delay_s": 10}
PARKING: Point = {
    "family": "parking",
    "sr_mbps": 16,
    "traffic": "cbr",
    "preferential": True,
    "s_bytes": 1064,
}

VIDEO_POINT: Point = {
    "family": "video",
    "video": "medium",
    "tb_kb": 400,
    "px_kb": 200,
    "rtt_ms": 200,
}


RECORDINGS = [
    *(Recording(name, {"family": "steps", **point}, "50 ms") for name, (_, point) in VOICE.items()),
    Recording("video", VIDEO_POINT, "200 ms"),
    Recording("parking", PARKING, "20 ms", Change({"duration": "8 s"})),
    Recording("admission", ADMISSION, "500 ms"),
]


def figures(outcome: Outcome) -> list[Figure]:
    """Load, active flows and marks after the failures; video; the parking lot; the state of
    admission."""
    drawn: list[Figure | None] = []
    for name, (title, point) in VOICE.items():
        drawn += _failure(outcome, name, title, VOICE_MBPS[str(point["flows"])])
    drawn += [_video(outcome), *_parking_lot(outcome), *_overload(outcome)]
    return [figure for figure in drawn if figure is not None]


def _failure(outcome: Outcome, name: str, title: str, sr_mbps: float) -> Iterator[Figure | None]:
    yield time_series(
        outcome,
        name,
        "links.ab",
        {"arrived_bps": "into the router", "throughput_bps": "out of the router"},
        title=f"Load, {title}",
        ylabel="rate (Mbit/s)",
        scale=1 / MBPS,
        thresholds={"SR": sr_mbps},
    )
    yield time_series(
        outcome,
        name,
        "aggregates.eh",
        {"talking_flows": "talking now", "active_flows": "have sent, not terminated"},
        title=f"Active flows, {title}",
        ylabel="flows",
    )
    if name == "large-cbr":
        yield time_series(
            outcome,
            name,
            "links.ab",
            {"marks": "ET marks in 50 ms"},
            title=f"Marking, {title}",
            ylabel="packets marked",
        )


def _video(outcome: Outcome) -> Figure | None:
    rate, _, _ = VIDEO[str(VIDEO_POINT["video"])]
    return time_series(
        outcome,
        "video",
        "links.ab",
        {"arrived_bps": "load"},
        title="80 flows of video, and 100 more at 3 s and at 24 s",
        ylabel="rate (Mbit/s)",
        scale=1 / MBPS,
        thresholds={"SR": float(rate)},
    )


def _parking_lot(outcome: Outcome) -> Iterator[Figure | None]:
    for number, (link, units) in enumerate((("ab", 2), ("bc", 3), ("cd", 2)), start=1):
        yield time_series(
            outcome,
            "parking",
            f"links.{link}",
            {"arrived_bps": "load"},
            title=f"Parking lot, CBR, base SR 16 Mbit/s: Link {number}",
            ylabel="rate (Mbit/s)",
            scale=1 / MBPS,
            thresholds={"SR": 16.0 * units},
            window=(4.5, 6.5),
        )


def _overload(outcome: Outcome) -> Iterator[Figure | None]:
    yield time_series(
        outcome,
        "admission",
        "links.ab",
        {"arrived_bps": "load"},
        title="Admission control at twice the base load, N = 50",
        ylabel="rate (Mbit/s)",
        scale=1 / MBPS,
        thresholds={"AR": 3.92},
    )
    yield time_series(
        outcome,
        "admission",
        "aggregates.eh",
        {"blocking": "blocking new flows"},
        title="State of admission at twice the base load, N = 50",
        ylabel="blocking (1) or not (0)",
    )
