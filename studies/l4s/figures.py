"""Prague beside CUBIC: what is drawn."""

from __future__ import annotations

from forebay import drawing
from forebay.drawing import Figure
from forebay.study import Outcome

GROUPS = {
    "DualPI2": "s1/dualpi2/",
    "FIFO": "s1/pfifo/",
    "fq_codel": "s1/fq_codel/",
    "single queues, beside CUBIC": "s6/cubic-",
    "single queues, beside Reno": "s6/reno-",
}
"""Pairs of flows, by the beginning of their claims."""

TICKS = (1 / 32, 1 / 8, 1 / 2, 2, 8, 32)
NAMES = ("1 : 32", "1 : 8", "1 : 2", "2 : 1", "8 : 1", "32 : 1")
ENDS = (1 / 64, 80)


def figures(outcome: Outcome) -> list[Figure]:
    """The ratio of the two rates of every pair, printed and measured."""
    picture, axis = drawing.new_axis(3.8)
    drawn = 0
    for index, (label, start) in enumerate(GROUPS.items()):
        pairs = _ratios(outcome, start)
        axis.plot(
            [printed for printed, _ in pairs],
            [measured for _, measured in pairs],
            drawing.MARKERS[index],
            color=drawing.COLOURS[index],
            markersize=5,
            markerfacecolor="none",
            label=label,
        )
        drawn += len(pairs)
    if not drawn:
        return []
    axis.plot(ENDS, ENDS, color=drawing.INK, linewidth=0.7, linestyle=drawing.DOTTED)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlim(*ENDS)
    axis.set_ylim(*ENDS)
    axis.set_xticks(TICKS, NAMES)
    axis.set_yticks(TICKS, NAMES)
    axis.minorticks_off()
    axis.set_xlabel("flow 1 : flow 2, printed")
    axis.set_ylabel("flow 1 : flow 2, measured")
    title = "Who gets how much: every pair of flows"
    caption = (
        "On the dotted line the ratio is as printed. "
        "The winner is wrong where a mark lies on the other side of 1 : 1."
    )
    return [drawing.finished(picture, [axis], title, caption, identity="pairs")]


def _ratios(outcome: Outcome, start: str) -> list[tuple[float, float]]:
    """Printed and measured ratio of the pairs whose claims begin so."""
    published: dict[tuple[object, ...], dict[str, float]] = {}
    found: dict[tuple[object, ...], dict[str, float]] = {}
    for claim in outcome.study.paper.claims:
        interval = outcome.interval(claim.quantity, claim.point)
        if claim.id.startswith(start) and interval and claim.quantity in ("rate1_bps", "rate2_bps"):
            point = tuple(sorted(claim.point.items()))
            published.setdefault(point, {})[claim.quantity] = claim.published
            found.setdefault(point, {})[claim.quantity] = interval.mean
    return [
        (rates["rate1_bps"] / rates["rate2_bps"], ours["rate1_bps"] / ours["rate2_bps"])
        for rates, ours in zip(published.values(), found.values(), strict=True)
    ]
