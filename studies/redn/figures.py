"""The figures of the thesis, in its order and under its numbers, redrawn from our runs.

Left out are those that show no law and no run: the algorithms of Figures 1.2 and 2.1, and the
networks of Figures 4.1 and 4.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay import drawing as plot
from forebay.drawing import DOTTED, INK, Figure
from forebay.study import Change, NotRecordedError, Outcome, Point, Recording, Run
from forebay_studies.redn import criteria as thesis
from forebay_studies.redn import network
from forebay_studies.redn.measure_gateways import CHANGES
from forebay_studies.redn.series import PACKET_BITS, Array, Gate, Path, by_second, column

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

PALETTE = {"green": 2, "yellow": 4, "red": 1}
"""Places of the colours of packets in the reports' palette."""
MARK_EVERY = 18
"""Seconds from one marker of a curve to the next."""
NEAR = 1.5
"""A threshold further than so many times what is drawn is left out."""
CROSS: Any = {"linestyle": "none", "marker": "x", "markersize": 4, "markeredgewidth": 0.8}
EXPECTED: Any = {"linestyle": DOTTED, "linewidth": 1.4}
CELL_S = 0.5
"""Crosses of the same value within so many seconds are drawn as one."""
BASELINE = 3
"""Baseline expected throughput in Mbit/s of the flows of Figure 4.2; the higher one is twice it."""

ADAPTED = "with Adaptive REDn"
QUEUES = "Average Queue Lengths and Overall Queuing Delay"
EFFECTIVE = "Effective Maximum Packet Marking Probabilities of"
GATEWAYS = {"redn": "REDn", "self-configuring": "Self-Configuring REDn"}
MARKINGS = {"drop": "packet drop", "ecn": "ECN", "mixed": "ECN for TCP, packet drop for UDP"}

Table = dict[str, Array]

# Runs whose series are kept: one of each setting that the thesis shows.

CLUSTERS = "clusters"
"""Recording of one conditioner, fine enough to see a roundtrip."""

CLUSTERED = "in-3-200-a"
CLUSTERS_S = (92.0, 93.1)
"""Five roundtrips of the flow of 3 Mbit/s and 200 ms, while it sends all three colours."""


def recording_id(point: Point) -> str:
    """Id of the recording of a run of the thesis."""
    return "-".join(map(str, point.values()))


def _keep(run: Run, point: Point) -> Mapping[str, Table]:
    """Throughputs of flows, what gateways do by the second, and their adjustments."""
    tables = {"flows": _throughputs(run, point), "adjustments": _adjustments(run)}
    for gateway in network.gateways(point):
        gate = Gate(run, gateway.link, gateway.mbps)
        table = tables[gateway.link] = {"time_s": np.arange(1.0, len(gate.delay) + 1.0)}
        for colour, series in zip(thesis.COLOURS, gate.average, strict=True):
            table[f"average_{colour}_packets"] = by_second(series)
        table |= {"delay_s": gate.delay, "utilization": gate.utilization}
        table["early_ratio"] = gate.early
    if point == thesis.ADAPTIVE:
        tables["conditioners"] = _conditioners(run)
    return tables


def _throughputs(run: Run, point: Point) -> Table:
    """Throughput of one of each two replicas in bit/s, by the second; NaN while it is disabled."""
    length = round(network.phases(point)[-1][2])
    found: Table = {"time_s": np.arange(1.0, length + 1.0)}
    spans = {name: slice(round(start), round(end)) for name, start, end in network.phases(point)}
    for flow in network.flows(point):
        if flow.path.replica != "a":
            continue
        got = by_second(column(run, f"series/flows.{flow.name}", "throughput_bps"))
        kept = found.setdefault(flow.path.pair, np.full(length, np.nan))
        for phase in flow.phases:
            kept[spans[phase]] = got[spans[phase]]
    return found


def _adjustments(run: Run) -> dict[str, Array]:
    """Rows in which a dynamic or an effective maximum probability moves."""
    recorded = run.tables.get("adjustments")
    if recorded is None:
        return {}
    names = ("time_s", "precedence", "dynamic_probability", "max_probability")
    table = {name: column(run, "adjustments", name) for name in names}
    links = np.asarray(recorded["link"])
    moved = np.zeros(len(links), dtype=bool)
    for link, precedence in product(sorted(set(links.tolist())), range(len(thesis.COLOURS))):
        mine = np.flatnonzero((links == link) & (table["precedence"] == precedence))
        for name in names[2:]:
            moved[mine[1:]] |= np.diff(table[name][mine]) != 0.0
        moved[mine[:1]] = True
    return {"link": links[moved], **{name: values[moved] for name, values in table.items()}}


def _conditioners(run: Run) -> Table:
    """Rates that the conditioners of Figure 4.2 let through in bit/s, by the second."""
    found: Table = {}
    for rtt in thesis.CONDITIONED:
        seen = Path(run, f"in-3-{rtt}-a")
        found["time_s"] = np.arange(1.0, len(seen.sent) + 1.0)
        for colour, series in zip(thesis.COLOURS, seen.colour, strict=True):
            found[f"{colour}_{rtt}ms_bps"] = series
        found[f"total_{rtt}ms_bps"] = seen.sent
    return found


def _keep_clusters(run: Run, _: Point) -> Mapping[str, Table]:
    series = f"series/links.{CLUSTERED}"
    time = column(run, series, "time_s")
    within = (time > CLUSTERS_S[0]) & (time <= CLUSTERS_S[1])
    rates = {
        f"{colour}_bps": column(run, series, f"throughput_bps.{precedence}")[within]
        for precedence, colour in enumerate(thesis.COLOURS)
    }
    return {"conditioner": {"time_s": time[within], **rates}}


RECORDED = (thesis.REDN, thesis.SELF_CONFIGURING, *thesis.ARCHITECTURE.values(), thesis.MIX)

# Sampled as all runs of the study are: `series` counts on it, and no run is done twice.
RECORDINGS = [Recording(recording_id(shown), shown, None, keep=_keep) for shown in RECORDED]
WATCHED = Change({"record.series_of": [f"links.{CLUSTERED}"]})
RECORDINGS.append(Recording(CLUSTERS, thesis.ADAPTIVE, "5 ms", WATCHED, _keep_clusters))


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure of the thesis: its number, its caption, the run it shows, and which part of it.

    `part` is what the names of its flows, or of one of two bottlenecks, begin with.
    """

    number: str
    caption: str
    point: Point
    part: str = ""

    def table(self, outcome: Outcome, name: str) -> Table:
        """A table of its recording."""
        return outcome.recorded(recording_id(self.point), name)

    def bottlenecks(self) -> list[network.Gateway]:
        """The gateways that it is about."""
        return [one for one in network.gateways(self.point) if self.part in ("", one.prefix)]

    def figure(
        self, drawing: Drawing, axes: Sequence[Axes], words: str, columns: int | None = None
    ) -> Figure:
        """A finished drawing; its caption says which run it shows, then `words`."""
        head = self.number if self.number.startswith("Table") else f"Figure {self.number}"
        gateway = GATEWAYS.get(str(self.point["gateway"]), "Adaptive REDn")
        marking, scenario = MARKINGS[str(self.point["marking"])], str(self.point["scenario"])
        run = f"{gateway}, {marking}, scenario {scenario.upper()}, first replication."
        title, place = f"{head}: {self.caption}", plot.slug(head)
        words = f"{run} {words}"
        return plot.finished(drawing, axes, title, words, identity=place, columns=columns)


Graph = Callable[[Outcome, Shown], Figure]
"""Drawer of a kind of graph. Raises `NotRecordedError` if its run was not recorded."""


def figures(outcome: Outcome) -> list[Figure]:
    """Those of the thesis's figures of which a run was recorded, and the laws."""
    drawn = []
    for draw in _drawers(outcome):
        with suppress(NotRecordedError):
            drawn.append(draw())
    return drawn


def _drawers(outcome: Outcome) -> Iterator[Callable[[], Figure]]:
    yield red_law
    yield partial(clusters, outcome)
    for shown, graph in sequence():
        if shown.number == "4.2":
            yield effective_law
        yield partial(graph, outcome, shown)


def sequence() -> Iterator[tuple[Shown, Graph]]:
    """Figures of the grid's runs and Table 3.1, in the thesis's order; how each is drawn."""
    configured = GATEWAYS["self-configuring"]
    law = f"Dynamic Maximum Packet Marking Probabilities of {configured}"
    conditioner = "Traffic Conditionings with Adaptive Token Bucket Traffic Conditioner"
    yield Shown("3.1", "Per-Flow Throughputs with REDn", thesis.REDN), throughputs
    yield Shown("3.2", f"{QUEUES} with REDn", thesis.REDN), queues
    yield Shown("Table 3.1", law, thesis.SELF_CONFIGURING), table_3_1
    yield (
        Shown("3.3", f"Per-Flow Throughputs with {configured}", thesis.SELF_CONFIGURING),
        throughputs,
    )
    yield Shown("3.4", f"{QUEUES} with {configured}", thesis.SELF_CONFIGURING), queues
    yield Shown("4.2", conditioner, thesis.ADAPTIVE), conditionings
    yield from _numbered("4.", 3, thesis.ADAPTIVE)
    yield from _numbered("4.", 9, thesis.DUAL)
    yield Shown("4.17", f"Per-Flow Throughputs {ADAPTED}", thesis.MIX), throughputs
    yield Shown("4.18", f"Average Queue Lengths {ADAPTED}", thesis.MIX), queues
    number = 1
    for point in thesis.ARCHITECTURE.values():
        if point not in (thesis.ADAPTIVE, thesis.DUAL):
            section = list(_numbered("A.", number, point))
            yield from section
            number += len(section)


def _numbered(chapter: str, first: int, point: Point) -> Iterator[tuple[Shown, Graph]]:
    """All figures of a run, with numbers from `first` on."""
    plan = _of_two() if point["network"] == "dual" else _of_one()
    # Without drops there is no drop ratio.
    kept = [entry for entry in plan if point["marking"] == "drop" or entry[0] is not drop_ratios]
    for number, (graph, caption, *part) in enumerate(kept, first):
        yield Shown(f"{chapter}{number}", caption, point, *part), graph


_Plan = list[tuple[Graph, str] | tuple[Graph, str, str]]


def _of_one() -> _Plan:
    return [
        (throughputs, f"Per-Flow Throughputs {ADAPTED}"),
        (queues, f"{QUEUES} {ADAPTED}"),
        (utilizations, f"Bottleneck Link Utilization {ADAPTED}"),
        (drop_ratios, f"Early Drop Ratio {ADAPTED}"),
        (probabilities, f"{EFFECTIVE} Adaptive REDn"),
    ]


def _of_two() -> _Plan:
    traversing, gateway = "Per-Flow Throughputs of Flows Traversing", "Adaptive REDn Gateway"
    return [
        (throughputs, f"{traversing} Two {gateway}s", "two_"),
        (throughputs, f"{traversing} One {gateway}", "one_"),
        (queues, f"{QUEUES} at the First {gateway}", "first_"),
        (queues, f"{QUEUES} at the Second {gateway}", "second_"),
        (utilizations, f"Utilizations of Bottleneck Links {ADAPTED}"),
        (drop_ratios, f"Early Drop Ratios {ADAPTED}"),
        (probabilities, f"{EFFECTIVE} the First {gateway}", "first_"),
        (probabilities, f"{EFFECTIVE} the Second {gateway}", "second_"),
    ]


def letters(titles: Sequence[str]) -> list[str]:
    """Titles of panels as the thesis numbers them; a single one needs none."""
    if len(titles) == 1:
        return [""]
    return [f"({letter}) {title}" for letter, title in zip("abcdef", titles, strict=False)]


def time_axis(point: Point, axes: Sequence[Axes], columns: int) -> None:
    """Simulated time across panels: ticks at the phases' ends, their letters between."""
    spans = network.phases(point)
    ends = [0.0, *(end for _, _, end in spans)]
    for axis in axes:
        axis.set_xlim(ends[0], ends[-1])
        axis.set_xticks(ends)
        if len(spans) > 1:
            middles = [(start + end) / 2 for _, start, end in spans]
            axis.set_xticks(middles, [name.upper() for name, _, _ in spans], minor=True)
            axis.tick_params("x", which="minor", length=0, labelsize=8)
    for axis in axes[-columns:]:
        axis.set_xlabel("time (s)")


# Flows and their conditioners.


def throughputs(outcome: Outcome, shown: Shown) -> Figure:
    """Received throughputs by delay, one flow of each expected throughput."""
    table = shown.table(outcome, "flows")
    mix = shown.point == thesis.MIX
    delays, columns, udp = (
        (thesis.CONDITIONED, 3, network.UDP_RATES) if mix else (thesis.RTTS, 2, ())
    )
    titles = letters([f"{rtt} ms roundtrip transit delay" for rtt in delays])
    drawing, axes = plot.new_grid(titles, columns, 1.75)
    for axis, rtt in zip(axes, delays, strict=True):
        for index, rate in enumerate(reversed(network.RATES)):
            values = table[f"{shown.part}{rate}mbps_{rtt}ms"] / thesis.MBPS
            label = f"{rate} Mbps (UDP)" if rate in udp else f"{rate} Mbps"
            plot.curve(axis, index, table["time_s"], values, label, every=MARK_EVERY)
            for phase, start, end in network.phases(shown.point):
                due = rate if mix else thesis.ASSURED[phase].get(rate)
                if due is not None:
                    axis.plot([start, end], [due, due], color=plot.COLOURS[index], **EXPECTED)
        axis.plot([], [], color=INK, label="expected", **EXPECTED)
        axis.set_ylim(bottom=0)
    time_axis(shown.point, axes, columns)
    for axis in axes[::columns]:
        axis.set_ylabel("throughput (Mbps)")
    words = (
        "Received throughput by the second, one of each two replicas, while enabled; dotted, in "
        f"the colour of the flow: {'baselines' if mix else 'Table 4.1'}."
    )
    return shown.figure(drawing, axes, words)


def conditionings(outcome: Outcome, shown: Shown) -> Figure:
    """Figure 4.2: what conditioners let through, by colour and in all."""
    table = shown.table(outcome, "conditioners")
    titles = letters([f"{rtt} ms roundtrip transit delay" for rtt in thesis.CONDITIONED])
    drawing, axes = plot.new_grid(titles, 1, 1.5)
    for axis, rtt in zip(axes, thesis.CONDITIONED, strict=True):
        for name, index in (("total", 0), *PALETTE.items()):
            rates = table[f"{name}_{rtt}ms_bps"] / thesis.MBPS
            plot.curve(axis, index, table["time_s"], rates, name, every=MARK_EVERY)
        plot.level(axis, "baseline", BASELINE)
        plot.level(axis, "higher", 2 * BASELINE)
        axis.set_ylim(bottom=0)
        axis.set_ylabel("rate (Mbps)")
    time_axis(thesis.ADAPTIVE, axes, 1)
    return shown.figure(drawing, axes, "Flows of 3 Mbps, by the second.")


def clusters(outcome: Outcome) -> Figure:
    """Figure 2.2: packets of a flow behind its conditioner, by colour, over a few roundtrips."""
    table = outcome.recorded(CLUSTERS, "conditioner")
    time = table["time_s"]
    step = float(time[1] - time[0])
    drawing, (axis,) = plot.new_grid([""], 1, 2.0)
    below = np.zeros(len(time))
    for colour in thesis.COLOURS:
        above = below + table[f"{colour}_bps"] * step / PACKET_BITS
        ink = plot.COLOURS[PALETTE[colour]]
        axis.fill_between(time, below, above, step="pre", color=ink, linewidth=0, label=colour)
        below = above
    axis.set_xlim(*CLUSTERS_S)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("time (s)")
    axis.set_ylabel(f"packets in {1e3 * step:.0f} ms")
    title = "Figure 2.2: Throughput-Based Deterministic Traffic Conditioning for TCP"
    words = (
        "Five roundtrips of a flow of 3 Mbps and 200 ms behind its conditioner: Adaptive REDn, "
        "packet drop, scenario B-U-O, first replication."
    )
    return plot.finished(drawing, [axis], title, words, identity="figure-2-2")


# Queues and links of gateways.


def queues(outcome: Outcome, shown: Shown) -> Figure:
    """Average queue lengths by colour and, but for section 4.3, the overall queuing delay."""
    (gateway,) = shown.bottlenecks()
    table = shown.table(outcome, gateway.link)
    mix = shown.point == thesis.MIX
    titles = [f"{colour} packets" for colour in thesis.COLOURS]
    titles += [] if mix else ["overall queuing delay"]
    columns = 3 if mix else 2
    drawing, axes = plot.new_grid(letters(titles), columns, 1.75)
    averages = [table[f"average_{colour}_packets"] for colour in thesis.COLOURS]
    top = max(float(series.max()) for series in averages)
    levels = {"min": gateway.minimum, "mid": gateway.middle, "max": gateway.maximum}
    if shown.point["gateway"] in GATEWAYS:
        # Neither has a middle threshold.
        del levels["mid"]
    near = {name: value for name, value in levels.items() if value <= NEAR * top}
    for axis, colour, series in zip(axes, thesis.COLOURS, averages, strict=False):
        plot.curve(axis, PALETTE[colour], table["time_s"], series)
        for name, value in near.items():
            plot.level(axis, name, value)
        axis.set_ylim(0, 1.12 * max(top, *near.values()))
    for axis in axes[:3:columns]:
        axis.set_ylabel("average queue (packets)")
    words = "Means over each second"
    if not mix:
        words += ", the delay by Little's law"
        plot.curve(axes[3], 0, table["time_s"], 1e3 * table["delay_s"])
        if "mid" in levels:
            plot.level(axes[3], "15 ms", 1e3 * network.MEAN_DELAY_S)
        axes[3].set_ylabel("queuing delay (ms)")
        axes[3].set_ylim(bottom=0)
    time_axis(shown.point, axes, columns)
    words += f". Thresholds in packets: {', '.join(f'{n} {at}' for n, at in levels.items())}"
    words += ", the highest outside of the axes." if len(near) < len(levels) else "."
    return shown.figure(drawing, axes, words)


def utilizations(outcome: Outcome, shown: Shown) -> Figure:
    """Utilisation of the bottleneck links, by the second."""
    words = "Rate of what left over the rate of the link, by the second; dotted: expected."
    return _bottlenecks(outcome, shown, ("utilization", "bottleneck link", "utilisation"), words)


def drop_ratios(outcome: Outcome, shown: Shown) -> Figure:
    """Early drops over arrivals, by the second."""
    kind = ("early_ratio", "bottleneck gateway", "early drop ratio")
    return _bottlenecks(outcome, shown, kind, "Early drops over arrivals, by the second.")


def _bottlenecks(outcome: Outcome, shown: Shown, kind: tuple[str, str, str], words: str) -> Figure:
    """A column of the tables of all bottlenecks side by side; `kind` is its name, what it is of,
    and what its axis says."""
    column, what, label = kind
    bottlenecks = shown.bottlenecks()
    titles = letters([f"{place} {what}" for place in ("first", "second")[: len(bottlenecks)]])
    drawing, axes = plot.new_grid(titles, len(titles), 1.75, share_y="row")
    for axis, gateway in zip(axes, bottlenecks, strict=True):
        table = shown.table(outcome, gateway.link)
        plot.curve(axis, 0, table["time_s"], table[column])
    time_axis(shown.point, axes, len(axes))
    for axis in axes:
        if column == "utilization":
            plot.level(axis, "", 1.0)
            axis.set_ylim(0, 1.1)
        else:
            axis.set_ylim(bottom=0)
    axes[0].set_ylabel(label)
    return shown.figure(drawing, axes, words)


# Maximum probabilities of the laws.


def red_law() -> Figure:
    """Figure 1.1: both phases of RED's marking probability, with the parameters of section 4.1."""
    (gateway,) = network.gateways(thesis.ADAPTIVE)
    drawing, (axis,) = plot.new_grid([""], 1, 2.2)
    thresholds = {
        "minimum": gateway.minimum,
        "maximum": gateway.maximum,
        "twice maximum": 2 * gateway.maximum,
    }
    # Equations 1.2 and 1.3.
    ends = [0, *thresholds.values(), 2.3 * gateway.maximum]
    plot.curve(axis, 0, ends, [0, 0, thesis.STATIC, 1, 1])
    axis.set_xticks(list(thresholds.values()), [f"{name}\n{at}" for name, at in thresholds.items()])
    axis.set_yticks([0, thesis.STATIC, 0.5, 1])
    axis.set_xlim(0, 2.3 * gateway.maximum)
    axis.set_ylim(0, 1.05)
    axis.set_xlabel("average queue length (packets)")
    axis.set_ylabel("packet marking probability")
    words = "The law, drawn from equations 1.2 and 1.3 with the parameters of section 4.1."
    return plot.finished(drawing, [axis], "Figure 1.1: RED Algorithm", words, identity="figure-1-1")


def effective_law() -> Figure:
    """Figure 3.5: which maximum probability is in effect on either side of the middle threshold."""
    titles = ("average below the middle threshold", "average above the middle threshold")
    drawing, axes = plot.new_grid(titles, 2, 2.0, share_y="row")
    dynamic = np.array([1e-4, thesis.STATIC, 1.0])
    for axis, effective in zip(axes, (dynamic, np.maximum(dynamic, thesis.STATIC)), strict=True):
        plot.curve(axis, 0, dynamic, effective)
        axis.set(xscale="log", yscale="log")
        axis.margins(x=0)
        axis.set_xlabel("dynamic maximum probability")
    plot.level(axes[1], "static", thesis.STATIC)
    axes[0].set_ylabel("effective maximum probability")
    title = (
        "Figure 3.5: Integration of Middle Threshold Algorithm and Dynamic Maximum Packet Marking "
        "Probability Adjustment Algorithm"
    )
    words = "The law of yellow and red packets, drawn from section 3.3 with the parameters of 4.1."
    return plot.finished(drawing, axes, title, words, identity="figure-3-5")


def table_3_1(outcome: Outcome, shown: Shown) -> Figure:
    """Table 3.1: dynamic probabilities as steps, beside the printed ones."""
    table = shown.table(outcome, "adjustments")
    drawing, (axis,) = plot.new_grid([""], 1, 3.0)
    end = network.phases(thesis.SELF_CONFIGURING)[-1][2]
    for number, colour in enumerate(thesis.COLOURS):
        mine = table["precedence"] == number
        time = np.concatenate([[0.0], table["time_s"][mine], [end]])
        value = np.concatenate([[thesis.STATIC], table["dynamic_probability"][mine]])
        value = np.append(value, value[-1])
        ink = plot.COLOURS[PALETTE[colour]]
        axis.step(time, value, where="post", color=ink, linewidth=1.2, label=colour)
        x, y = (_printed(outcome, colour, quantity) for quantity in ("time_s", "maxp_ratio"))
        plot.published(axis, PALETTE[colour], x, y, f"{colour}, published")
    axis.set_yscale("log")
    axis.set_ylabel("dynamic maximum probability")
    time_axis(thesis.SELF_CONFIGURING, [axis], 1)
    words = "Hollow marks: the rows of the printed table."
    return shown.figure(drawing, [axis], words, columns=len(thesis.COLOURS))


def _printed(outcome: Outcome, colour: str, quantity: str) -> list[float]:
    """A column of Table 3.1."""
    names = [f"{colour}_change{row:02d}_{quantity}" for row in range(1, CHANGES[colour] + 1)]
    claims = [outcome.published(name, thesis.SELF_CONFIGURING) for name in names]
    return [claim.published * claim.unit_size for (claim,) in claims]


def probabilities(outcome: Outcome, shown: Shown) -> Figure:
    """Effective maximum probabilities by colour, and whether each is dynamic or the static one."""
    (gateway,) = shown.bottlenecks()
    table = shown.table(outcome, "adjustments")
    titles = letters([f"{colour} packets" for colour in thesis.COLOURS])
    drawing, axes = plot.new_grid(titles, 1, 1.3)
    end = network.phases(shown.point)[-1][2]
    for number, axis in enumerate(axes):
        mine = (table["link"] == gateway.link) & (table["precedence"] == number)
        adopted = _Adopted({name: values[mine] for name, values in table.items()}, end)
        colour = plot.COLOURS[PALETTE[thesis.COLOURS[number]]]
        axis.plot(*adopted.lasting(static=False), color=colour, linewidth=1.0)
        axis.plot(*adopted.lasting(static=True), color=INK, linewidth=1.6)
        axis.plot(*adopted.crosses(), color=colour, clip_on=False, **CROSS)
        axis.set_ylim(bottom=0)
    # Of all colours, so that the legend has none of theirs.
    axes[0].plot([], [], color=INK, label="dynamic adopted", **CROSS)
    axes[0].plot([], [], color=INK, linewidth=1.6, label="static in effect")
    time_axis(shown.point, axes, 1)
    axes[1].set_ylabel("effective maximum probability")
    words = "Crosses, with lines while they are in effect: dynamic probabilities, when adopted."
    return shown.figure(drawing, axes, words)


class _Adopted:
    """The effective maximum probability of a colour, from one change to the next."""

    def __init__(self, rows: Table, end: float) -> None:
        """Of its `rows` of adjustments; the last one is in effect until `end`."""
        value = np.concatenate([[thesis.STATIC], rows["max_probability"]])
        static = value > np.concatenate([[thesis.STATIC], rows["dynamic_probability"]])
        moved = (np.diff(value) != 0.0) | (np.diff(static) != 0)
        changes = np.flatnonzero(np.concatenate([[True], moved]))
        self.time = np.concatenate([[0.0], rows["time_s"]])[changes]
        self.until = np.append(self.time[1:], end)
        self.value = value[changes]
        self.static = static[changes]

    def lasting(self, *, static: bool) -> tuple[Array, Array]:
        """Horizontal lines while a static or a dynamic one is in effect, gaps between them."""
        mine = self.static == static
        gap = np.full(int(mine.sum()), np.nan)
        times = np.stack([self.time[mine], self.until[mine], gap], axis=1)
        return times.ravel(), np.repeat(self.value[mine], 3)

    def crosses(self) -> tuple[Array, Array]:
        """Times and values at which dynamic ones are adopted; those that would lie on each other
        once."""
        time, value = self.time[~self.static], self.value[~self.static]
        cells = np.stack([np.floor(time / CELL_S), value], axis=1)
        first = np.sort(np.unique(cells, axis=0, return_index=True)[1])
        return time[first], value[first]
