"""Two against three drop precedences: what is drawn, and the runs recorded for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forebay import drawing
from forebay.drawing import Figure
from forebay.report.plot import shares, time_series
from forebay.study import Outcome, Point, Recording, Run

TRACE: Point = {"scenario": 2, "precedences": 3, "udp_mbps": 30}
TRACE_TWO: Point = {"scenario": 2, "precedences": 2, "udp_mbps": 30}

SERIES = "series/links.bottleneck"


def _keep(run: Run, _: Point) -> Mapping[str, Mapping[str, Any]]:
    """The queue alone, not the series of every flow and port."""
    return {SERIES: run.tables[SERIES]}


RECORDINGS = [
    Recording("three", TRACE, interval="50 ms", keep=_keep),
    Recording("two", TRACE_TWO, interval="50 ms", keep=_keep),
]


UDP_RATES = (0, *range(5, 65, 5))
SHOWN = (
    ("two precedences, CBS 5 kB", {"precedences": 2, "scenario": 1}),
    ("two precedences, CBS 50 kB", {"precedences": 2, "scenario": 3}),
    ("three precedences, CBS 5 kB", {"precedences": 3, "scenario": 1}),
)


def figures(outcome: Outcome) -> list[Figure]:
    """Figures of what TCP gets beside UDP, of queue traces against the thresholds they are judged
    by, and of the marks of packets."""
    drawn = [
        _tcp_beside_udp(outcome),
        time_series(
            outcome,
            "three",
            "links.bottleneck",
            {
                "queue_bytes": "queue",
                "average.0": "average, precedence 0",
                "average.1": "average, precedences 0-1",
                "average.2": "average, precedences 0-2",
            },
            title="Queue at the bottleneck, three precedences, UDP 30 Mbit/s",
            ylabel="queue length (kB)",
            scale=1e-3,
            thresholds={"yellow max": 180, "yellow min, red max": 90, "red min": 45},
            window=(20.0, 40.0),
        ),
        time_series(
            outcome,
            "two",
            "links.bottleneck",
            {
                "queue_bytes": "queue",
                "average.0": "average, precedence 0",
                "average.1": "average, precedences 0-1",
            },
            title="Queue at the bottleneck, two precedences, UDP 30 Mbit/s",
            ylabel="queue length (kB)",
            scale=1e-3,
            thresholds={"max": 180, "min": 90},
            window=(20.0, 40.0),
        ),
    ]
    for precedences, parts in (
        (2, [("in profile", "green"), ("out of profile", "yellow")]),
        (3, [("green", "green"), ("yellow", "yellow"), ("red", "red")]),
    ):
        for customer, who in ((1, "TCP customer 1"), (4, "UDP customer")):
            rates = (5, 10, 20, 30, 45, 60)
            points: list[tuple[str, Point]] = [
                (f"{rate}", {"scenario": 2, "precedences": precedences, "udp_mbps": rate})
                for rate in rates
            ]
            drawn.append(
                shares(
                    outcome,
                    points,
                    [(label, f"customer{customer}_{name}_ratio") for label, name in parts],
                    title=f"Marking of the {who} by UDP rate (Mbit/s), {precedences} precedences",
                )
            )
    return [figure for figure in drawn if figure is not None]


def _tcp_beside_udp(outcome: Outcome) -> Figure | None:
    """The sum of TCP by the rate that UDP offers: Tables 3.1 and 3.3."""
    picture, axis = drawing.new_axis()
    drawn = 0
    for index, (label, fixed) in enumerate(SHOWN):
        points = {rate: {**fixed, "udp_mbps": rate} for rate in UDP_RATES}
        found = {rate: outcome.interval("tcp_sum_bps", point) for rate, point in points.items()}
        known = {rate: interval.mean / 1e6 for rate, interval in found.items() if interval}
        axis.plot([*known], [*known.values()], label=label, **drawing.line_style(index))
        printed = {
            rate: claim.published
            for rate, point in points.items()
            for claim in outcome.published("tcp_sum_bps", point)
        }
        drawing.published(axis, index, [*printed], [*printed.values()])
        drawn += len(known)
    if not drawn:
        return None
    drawing.level(axis, "reserved for TCP", 6.0)
    axis.set_xlabel("rate that UDP offers (Mbit/s)")
    axis.set_ylabel("sum of TCP (Mbit/s)")
    axis.set_ylim(bottom=0)
    return drawing.finished(
        picture,
        [axis],
        "What TCP gets of 34 Mbit/s beside UDP",
        "Hollow marks: published, Tables 3.1 and 3.3. Lines: measured.",
        identity="tcp-beside-udp",
    )
