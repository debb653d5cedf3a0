"""The figures of the thesis, in its order and under its numbers, redrawn from our runs.

Left out are those that show no law and no run: the algorithms of Figures 1.2 and 2.1, and the
networks of Figures 4.1 and 4.8.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forebay.drawing import COLOURS as INKS
from forebay.drawing import Figure, curve, level, new_grid, published, to_svg, with_legend
from forebay.study.results import Outcome
from forebay_studies.redn.graphs import (
    MARK_EVERY,
    PALETTE,
    Graph,
    Shown,
    drop_ratios,
    figure_of,
    letters,
    probabilities,
    queues,
    throughputs,
    time_axis,
    utilizations,
)
from forebay_studies.redn.measure_gates import CHANGES
from forebay_studies.redn.network import gateways, phases
from forebay_studies.redn.readings import (
    ADAPTIVE,
    ADAPTIVE_BOU,
    ADAPTIVE_BOU_ECN,
    ADAPTIVE_ECN,
    COLOURS,
    CONDITIONED,
    DUAL,
    DUAL_BOU,
    DUAL_BOU_ECN,
    DUAL_ECN,
    MBPS,
    MIX,
    REDN,
    SELF_CONFIGURING,
    STATIC,
    Setting,
)
from forebay_studies.redn.recordings import CLUSTERS, CLUSTERS_S, RECORDINGS

__all__ = ["RECORDINGS", "figures", "sequence"]

SELF = "Self-Configuring REDn"
ADAPTED = "with Adaptive REDn"
QUEUES = "Average Queue Lengths and Overall Queuing Delay"
EFFECTIVE = "Effective Maximum Packet Marking Probabilities of"

BASELINE = 3
"""Baseline expected throughput in Mbit/s of the flows of Figure 4.2; the higher one is twice it."""

APPENDIX = (
    ADAPTIVE_ECN,
    ADAPTIVE_BOU,
    ADAPTIVE_BOU_ECN,
    DUAL_ECN,
    DUAL_BOU,
    DUAL_BOU_ECN,
)
"""Settings in the order of appendix A."""


def figures(outcome: Outcome) -> list[Figure]:
    """Those of the thesis's figures of which a run was recorded, and the laws."""
    drawn: list[Figure | None] = [red_law(), clusters(outcome)]
    for shown, graph in sequence():
        if shown.number == "4.2":
            drawn.append(effective_law())
        drawn.append(graph(outcome, shown))
    return [figure for figure in drawn if figure is not None]


def sequence() -> Iterator[tuple[Shown, Graph]]:
    """Figures of the grid's runs and Table 3.1, in the thesis's order; how each is drawn."""
    yield Shown("3.1", "Per-Flow Throughputs with REDn", REDN), throughputs
    yield Shown("3.2", f"{QUEUES} with REDn", REDN), queues
    title = f"Dynamic Maximum Packet Marking Probabilities of {SELF}"
    yield Shown("Table 3.1", title, SELF_CONFIGURING), table_3_1
    yield Shown("3.3", f"Per-Flow Throughputs with {SELF}", SELF_CONFIGURING), throughputs
    yield Shown("3.4", f"{QUEUES} with {SELF}", SELF_CONFIGURING), queues
    title = "Traffic Conditionings with Adaptive Token Bucket Traffic Conditioner"
    yield Shown("4.2", title, ADAPTIVE), conditionings
    for first, setting in ((3, ADAPTIVE), (9, DUAL)):
        yield from _numbered("4.", first, setting)
    yield Shown("4.17", f"Per-Flow Throughputs {ADAPTED}", MIX), throughputs
    yield Shown("4.18", f"Average Queue Lengths {ADAPTED}", MIX), queues
    number = 1
    for setting in APPENDIX:
        section = list(_numbered("A.", number, setting))
        yield from section
        number += len(section)


def _numbered(chapter: str, first: int, setting: Setting) -> Iterator[tuple[Shown, Graph]]:
    """All figures of a setting, with numbers from `first` on."""
    graphs = _one(setting) if setting.network == "single" else _two(setting)
    for number, (shown, graph) in enumerate(graphs, start=first):
        yield Shown(f"{chapter}{number}", *shown), graph


_Parts = tuple[str, Setting] | tuple[str, Setting, str] | tuple[str, Setting, str, str]


def _one(setting: Setting) -> Iterator[tuple[_Parts, Graph]]:
    yield (f"Per-Flow Throughputs {ADAPTED}", setting), throughputs
    yield (f"{QUEUES} {ADAPTED}", setting), queues
    yield (f"Bottleneck Link Utilization {ADAPTED}", setting), utilizations
    # Without drops there is no drop ratio.
    if setting.marking == "drop":
        yield (f"Early Drop Ratio {ADAPTED}", setting), drop_ratios
    yield (f"{EFFECTIVE} Adaptive REDn", setting), probabilities


def _two(setting: Setting) -> Iterator[tuple[_Parts, Graph]]:
    flows = "Per-Flow Throughputs of Flows Traversing"
    gateway = "Adaptive REDn Gateway"
    yield (f"{flows} Two {gateway}s", setting, "two_"), throughputs
    yield (f"{flows} One {gateway}", setting, "one_"), throughputs
    yield (f"{QUEUES} at the First {gateway}", setting, "", "first_"), queues
    yield (f"{QUEUES} at the Second {gateway}", setting, "", "second_"), queues
    yield (f"Utilizations of Bottleneck Links {ADAPTED}", setting), utilizations
    if setting.marking == "drop":
        yield (f"Early Drop Ratios {ADAPTED}", setting), drop_ratios
    yield (f"{EFFECTIVE} the First {gateway}", setting, "", "first_"), probabilities
    yield (f"{EFFECTIVE} the Second {gateway}", setting, "", "second_"), probabilities


def red_law() -> Figure:
    """Figure 1.1: both phases of RED's marking probability, with the parameters of section 4.1."""
    (gateway,) = gateways(ADAPTIVE._asdict())
    drawing, (axis,) = new_grid([""], 1, 2.2)
    thresholds = {
        "minimum": gateway.minimum,
        "maximum": gateway.maximum,
        "twice maximum": 2 * gateway.maximum,
    }
    # Equations 1.2 and 1.3.
    curve(axis, 0, [0, *thresholds.values(), 2.3 * gateway.maximum], [0, 0, STATIC, 1, 1])
    axis.set_xticks(list(thresholds.values()), [f"{name}\n{at}" for name, at in thresholds.items()])
    axis.set_yticks([0, STATIC, 0.5, 1])
    axis.set_xlim(0, 2.3 * gateway.maximum)
    axis.set_ylim(0, 1.05)
    axis.set_xlabel("average queue length (packets)")
    axis.set_ylabel("packet marking probability")
    title = "Figure 1.1: RED Algorithm"
    words = "The law, drawn from equations 1.2 and 1.3 with the parameters of section 4.1."
    return Figure("figure-1-1", title, words, to_svg(drawing, "figure-1-1", title))


def effective_law() -> Figure:
    """Figure 3.5: which maximum probability is in effect on either side of the middle threshold."""
    titles = ("average below the middle threshold", "average above the middle threshold")
    drawing, axes = new_grid(titles, 2, 2.0, share_y="row")
    dynamic = np.array([1e-4, STATIC, 1.0])
    for axis, effective in zip(axes, (dynamic, np.maximum(dynamic, STATIC)), strict=True):
        curve(axis, 0, dynamic, effective)
        axis.set(xscale="log", yscale="log")
        axis.margins(x=0)
        axis.set_xlabel("dynamic maximum probability")
    level(axes[1], "static", STATIC)
    axes[0].set_ylabel("effective maximum probability")
    title = (
        "Figure 3.5: Integration of Middle Threshold Algorithm and Dynamic Maximum Packet Marking "
        "Probability Adjustment Algorithm"
    )
    words = "The law of yellow and red packets, drawn from section 3.3 with the parameters of 4.1."
    return Figure("figure-3-5", title, words, to_svg(drawing, "figure-3-5", title))


def clusters(outcome: Outcome) -> Figure | None:
    """Figure 2.2: packets of a flow behind its conditioner, by colour, over a few roundtrips."""
    table = outcome.recordings.get(CLUSTERS, {}).get("conditioner")
    if table is None:
        return None
    time = table["time_s"].to_numpy()
    step = float(time[1] - time[0])
    drawing, (axis,) = new_grid([""], 1, 2.0)
    below = np.zeros(len(time))
    for colour in COLOURS:
        # Packets of 1000 bytes.
        above = below + table[f"{colour}_bps"].to_numpy() * step / 8000.0
        axis.fill_between(
            time, below, above, step="pre", color=INKS[PALETTE[colour]], linewidth=0, label=colour
        )
        below = above
    axis.set_xlim(*CLUSTERS_S)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("time (s)")
    axis.set_ylabel(f"packets in {1e3 * step:.0f} ms")
    with_legend(drawing, [axis])
    title = "Figure 2.2: Throughput-Based Deterministic Traffic Conditioning for TCP"
    words = (
        "Five roundtrips of a flow of 3 Mbps and 200 ms behind its conditioner: Adaptive REDn, "
        "packet drop, scenario B-U-O, first replication."
    )
    return Figure("figure-2-2", title, words, to_svg(drawing, "figure-2-2", title))


def conditionings(outcome: Outcome, shown: Shown) -> Figure | None:
    """Figure 4.2: what conditioners let through, by colour and in all."""
    table = shown.table(outcome, "conditioners")
    if table is None:
        return None
    titles = letters([f"{rtt} ms roundtrip transit delay" for rtt in CONDITIONED])
    drawing, axes = new_grid(titles, 1, 1.5)
    for axis, rtt in zip(axes, CONDITIONED, strict=True):
        for name, index in (("total", 0), *PALETTE.items()):
            curve(
                axis,
                index,
                table["time_s"],
                table[f"{name}_{rtt}ms_bps"] / MBPS,
                name,
                every=MARK_EVERY,
            )
        level(axis, "baseline", BASELINE)
        level(axis, "higher", 2 * BASELINE)
        axis.set_ylim(bottom=0)
        axis.set_ylabel("rate (Mbps)")
    time_axis(ADAPTIVE, axes, 1)
    return figure_of(shown, drawing, axes, "Flows of 3 Mbps, by the second.")


def table_3_1(outcome: Outcome, shown: Shown) -> Figure | None:
    """Table 3.1: dynamic probabilities as steps, beside the printed ones."""
    table = shown.table(outcome, "adjustments")
    if table is None:
        return None
    drawing, (axis,) = new_grid([""], 1, 3.0)
    end = phases(SELF_CONFIGURING._asdict())[-1][2]
    for number, colour in enumerate(COLOURS):
        mine = table["precedence"] == number
        time = np.concatenate([[0.0], table["time_s"][mine], [end]])
        value = np.concatenate([[STATIC], table["dynamic_probability"][mine]])
        axis.step(
            time,
            np.append(value, value[-1]),
            where="post",
            color=INKS[PALETTE[colour]],
            linewidth=1.2,
            label=colour,
        )
        published(axis, PALETTE[colour], *_printed(outcome, colour), f"{colour}, published")
    axis.set_yscale("log")
    axis.set_ylabel("dynamic maximum probability")
    time_axis(SELF_CONFIGURING, [axis], 1)
    words = "Hollow marks: the rows of the printed table."
    return figure_of(shown, drawing, [axis], words, columns=len(COLOURS))


def _printed(outcome: Outcome, colour: str) -> tuple[list[float], list[float]]:
    """Times and probabilities of Table 3.1."""
    point = SELF_CONFIGURING._asdict()
    found: tuple[list[float], list[float]] = ([], [])
    for row in range(1, CHANGES[colour] + 1):
        name = f"{colour}_change{row:02d}"
        for values, quantity in zip(found, ("time_s", "maxp_ratio"), strict=True):
            (claim,) = outcome.published(f"{name}_{quantity}", point)
            values.append(claim.published * claim.unit_size)
    return found
