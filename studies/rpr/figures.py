"""The figures of the slides, which are lost, redrawn in their order from our runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from forebay.drawing import (
    COLOURS,
    DOTTED,
    INK,
    Figure,
    curve,
    level,
    new_grid,
    slug,
    to_svg,
    with_legend,
)
from forebay.study.results import Outcome
from forebay_studies.rpr.criteria import BURSTY, LINES, OC12, OC48, RATES, Setting
from forebay_studies.rpr.map import map_figures
from forebay_studies.rpr.network import INTERVAL_S, STATIONS, THRESHOLD_KB, starts
from forebay_studies.rpr.recordings import RAMP_STEPS, VIEW_S, recording_id
from forebay_studies.rpr.series import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


TITLE = {OC12: "OC-12", OC48: "OC-48"}
MECHANISM = {"srp-fa": "Gandalf", "voq": "VoQ"}
F, D, SUM = 0, 1, 2
"""Colours of the sites and of both together."""

LP_ALLOW = 64
TAU_S = -INTERVAL_S / math.log(1 - 1 / LP_ALLOW)
"""Time constant of the ramp: 6.53 ms."""

Table = dict[str, Array]


@dataclass(frozen=True, slots=True)
class Shown:
    """Both lines of a scenario under one mechanism and set of buffers."""

    scenario: int
    law: str
    buffers: str

    def setting(self, line: str) -> Setting:
        """Its run at one line."""
        return Setting(self.scenario, line, self.law, self.buffers)

    def tables(self, outcome: Outcome, name: str) -> dict[str, Table]:
        """A table of the recordings, by line; empty unless all were made."""
        found: dict[str, Table] = {}
        for line in LINES:
            table = outcome.recordings.get(recording_id(self.setting(line)), {}).get(name)
            if table is None:
                return {}
            found[line] = {column: table[column].to_numpy() for column in table.column_names}
        return found

    @property
    def described(self) -> str:
        """Beginning of a caption."""
        if self.law == "voq":
            return "VoQ with a single transit buffer, as reconstructed; first replication."
        words = "the constants of RFC 2892" if self.buffers == "rfc" else "TB_LO_THRESHOLD 40 kB"
        return f"SRP-fa with {words}; first replication."


def figures(outcome: Outcome) -> list[Figure]:
    """The graphs of the slides in their order, then the maps of what they leave open."""
    return [figure for figure in _sequence(outcome) if figure is not None]


def _sequence(outcome: Outcome) -> Iterator[Figure | None]:
    yield _setup(1, "Scenario #1 Simple Hubbing")
    for scenario in (1, 3, 4):
        if scenario != 1:
            yield _setup(scenario, f"Scenario #{scenario} Setup")
        yield _generated(outcome, scenario)
        for law, buffers in (("srp-fa", "rfc"), ("voq", "single")):
            shown = Shown(scenario, law, buffers)
            yield _throughputs(outcome, shown)
            yield _control(outcome, shown)
    yield _buffer_analysis(outcome)
    yield _ramp(outcome)
    yield from map_figures(outcome)


def _setup(scenario: int, title: str) -> Figure:
    """The ring as reconstructed: who sends, and which way."""
    drawing, (axis,) = new_grid([""], 1, 2.6)
    turns = [math.pi - 2 * math.pi * number / len(STATIONS) for number in range(len(STATIONS))]
    places = {name: (math.cos(t), math.sin(t)) for name, t in zip(STATIONS, turns, strict=True)}
    around = np.linspace(0, 2 * math.pi, 200)
    for radius, style in ((1.0, "solid"), (0.9, DOTTED)):
        axis.plot(
            radius * np.cos(around),
            radius * np.sin(around),
            color=INK,
            linestyle=style,
            linewidth=1.0,
        )
    for first, second in pairwise(turns):
        middle = (first + second) / 2
        _arrow(axis, 1.0, middle + 0.05, middle - 0.05)
        _arrow(axis, 0.9, middle - 0.05, middle + 0.05)
    roles = {"F": "F: upstream", "D": "D: downstream", "A": "A: hub"}
    for name, (x, y) in places.items():
        colour = {"F": COLOURS[F], "D": COLOURS[D]}.get(name, INK)
        axis.plot(x, y, "o", markersize=9, color=colour)
        axis.annotate(
            roles.get(name, name),
            (1.18 * x, 1.18 * y),
            color=INK,
            fontsize=9,
            ha="right" if x < -0.1 else "left",
            va="center",
        )
    axis.set_aspect("equal")
    axis.set_axis_off()
    axis.set_xlim(-2.6, 2.6)
    axis.set_ylim(-1.2, 1.2)
    traffic = {
        1: "F sends low priority all the time, D low-priority bursts",
        3: "F sends low priority, D constant high priority",
        4: "F sends low priority all the time, D high-priority bursts",
    }[scenario]
    words = (
        f"Reconstructed: {traffic}, to the hub. Solid: the ringlet of the data; dotted: that of "
        "the messages."
    )
    identity = slug(title)
    return Figure(identity, title, words, to_svg(drawing, identity, title))


def _arrow(axis: Axes, radius: float, first: float, last: float) -> None:
    tail, head = ((radius * math.cos(t), radius * math.sin(t)) for t in (first, last))
    axis.annotate("", head, tail, arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 0.8})


def _generated(outcome: Outcome, scenario: int) -> Figure | None:
    """Figure of the traffic that both sites generate; of scenario 1 the slides show OC-48."""
    tables = Shown(scenario, "srp-fa", "rfc").tables(outcome, "sent")
    if not tables:
        return None
    lines = (OC48,) if scenario == 1 else (OC48, OC12)
    titles = [f"{site}, {TITLE[line]}" for line in lines for site in ("upstream", "downstream")]
    drawing, axes = new_grid(titles, 2, 1.6)
    first = min(starts(scenario))
    span = (0.0, 0.4) if scenario not in BURSTY else (first - 0.01, first + 0.13)
    for row, line in enumerate(lines):
        for column, name in enumerate(("f", "d")):
            axis = axes[2 * row + column]
            table = tables[line]
            curve(axis, (F, D)[column], table["time_s"], table[f"{name}_bps"] / 1e6)
            axis.set_ylim(bottom=0)
            axis.set_xlim(*span)
    for axis in axes[::2]:
        axis.set_ylabel("traffic (Mbit/s)")
    _time(axes[-2:])
    what = TITLE[OC48] if scenario == 1 else "OC-48, OC-12"
    title = f"Scenario #{scenario} Traffic Generated for {what}"
    return _finished(title, "What the sites' hosts offer to the ring.", drawing, axes)


def _throughputs(outcome: Outcome, shown: Shown) -> Figure | None:
    """Throughput of each site at the hub, over a millisecond."""
    tables = shown.tables(outcome, "rates")
    if not tables:
        return None
    drawing, axes = new_grid([TITLE[line] for line in LINES], 2, 2.0)
    for axis, line in zip(axes, LINES, strict=True):
        table, mbps = tables[line], RATES[line] / 1e6
        for index, (label, series) in enumerate(
            {"F": table["f"], "D": table["d"], "both": table["f"] + table["d"]}.items()
        ):
            curve(axis, index, table["time_s"], series * mbps, label, every=15)
        level(axis, "line", mbps)
        axis.set_ylim(0, 1.15 * mbps)
        axis.set_xlim(*VIEW_S[shown.scenario])
    axes[0].set_ylabel("throughput (Mbit/s)")
    _time(axes)
    title = f"Scenario #{shown.scenario} {MECHANISM[shown.law]} Results: throughput"
    words = f"{shown.described} What arrives at the hub, over 1 ms."
    return _finished(title, words + _unpublished(shown), drawing, axes)


def _unpublished(shown: Shown) -> str:
    if shown.law == "voq" and shown.scenario == 4:
        return " The slides had no result of VoQ at OC-48 yet."
    return ""


def _control(outcome: Outcome, shown: Shown) -> Figure | None:
    """Figure of the rate that F may send, and of D's transit buffer under it."""
    tables = shown.tables(outcome, "control")
    if not tables:
        return None
    titles = [f"allowed rate, {TITLE[line]}" for line in LINES]
    titles += [f"D's transit buffer, {TITLE[line]}" for line in LINES]
    drawing, axes = new_grid(titles, 2, 1.7)
    for number, line in enumerate(LINES):
        table, above, below = tables[line], axes[number], axes[2 + number]
        names = {"allowed": "F may send"}
        if shown.law == "voq":
            names |= {"d_allowed": "D may send", "share": "RCF"}
        else:
            names |= {"usage": "F's my_usage, aged"}
        for index, (column, label) in enumerate(names.items()):
            curve(above, index, table["time_s"], table[column], label, every=60)
        above.set_ylim(0, 1.1)
        curve(below, 3, table["time_s"], table["transit_bytes"] / 1e3)
        if shown.law != "voq":
            _thresholds(below, shown.buffers)
        below.set_ylim(bottom=0)
        below.set_xlim(*VIEW_S[shown.scenario])
    axes[0].set_ylabel("part of the line")
    axes[2].set_ylabel("kB")
    _time(axes[2:])
    title = f"Scenario #{shown.scenario} {MECHANISM[shown.law]} Results: allowed rate and buffer"
    return _finished(title, shown.described + _unpublished(shown), drawing, axes)


def _thresholds(axis: Axes, buffers: str) -> None:
    low = THRESHOLD_KB[buffers]
    for label, value in {"LO/2": low / 2, "LO": low, "HI": low * 458 / 320}.items():
        level(axis, label, value)


def _buffer_analysis(outcome: Outcome) -> Figure | None:
    """Backup slide: D's transit buffer over bursts, and what the ramp leaves over."""
    buffers = ("rfc", "small")
    tables = {name: Shown(1, "srp-fa", name).tables(outcome, "control") for name in buffers}
    if not all(tables.values()):
        return None
    words = {"rfc": "TB_LO 320 kB", "small": "TB_LO 40 kB"}
    titles = [f"{TITLE[line]}, {words[name]}" for name in buffers for line in LINES]
    drawing, axes = new_grid(titles, 2, 1.7)
    panels = [(name, line) for name in buffers for line in LINES]
    for axis, (name, line) in zip(axes, panels, strict=True):
        table = tables[name][line]
        curve(axis, 3, table["time_s"], table["transit_bytes"] / 1e3)
        level(axis, "LO/2", THRESHOLD_KB[name] / 2)
        axis.set_xlim(*VIEW_S[1])
        axis.set_ylim(bottom=0)
    for axis in axes[::2]:
        axis.set_ylabel("kB")
    _time(axes[2:])
    deficits = " and ".join(f"{TAU_S * RATES[line] / 8e3:.0f} kB ({TITLE[line]})" for line in LINES)
    caption = (
        "Scenario 1. While it recovers from a cut to nothing, F leaves room for tau C/8 = "
        f"{deficits}: a buffer whose LO/2 exceeds that never runs empty, and the link never idles."
    )
    return _finished("Transit Buffer Analysis (SRP-fa)", caption, drawing, axes)


def _ramp(outcome: Outcome) -> Figure | None:
    """The ramp: formula, and every recorded one under it."""
    drawing, (axis,) = new_grid([""], 1, 2.6)
    drawn = 0
    for scenario in (1, 3, 4):
        for line, table in Shown(scenario, "srp-fa", "rfc").tables(outcome, "ramps").items():
            for name in sorted(set(table) - {"steps"}):
                # Ramps do not begin at 0: each is moved to where the formula has its first value.
                value = table[name]
                moved = math.log(1 - value[0]) / math.log(1 - 1 / LP_ALLOW)
                label = "runs" if drawn == 0 else None
                axis.plot(
                    table["steps"] + moved,
                    value,
                    color=COLOURS[LINES.index(line)],
                    linewidth=2.4,
                    alpha=0.35,
                    label=label,
                )
                drawn += 1
    if not drawn:
        return None
    steps = np.arange(RAMP_STEPS + 1.0)
    axis.plot(steps, 1 - (1 - 1 / LP_ALLOW) ** steps, color=INK, linewidth=0.9, label="formula")
    for part in (0.5, 0.9, 0.95):
        level(axis, f"{100 * part:.0f} %", part)
    axis.set_xlim(0, RAMP_STEPS)
    axis.set_ylim(0, 1.05)
    axis.set_xlabel("decay intervals since 0")
    axis.set_ylabel("allow_usage / MAX_LRATE")
    words = (
        "allow_usage += (MAX_LRATE - allow_usage)/64, and the longest ramps of six runs on top "
        "of each other: the ramp knows nothing of scenario, speed or traffic."
    )
    return _finished("SRP-fa Ramp up Mechanism", words, drawing, [axis])


def _time(axes: list[Axes]) -> None:
    for axis in axes:
        axis.set_xlabel("time (s)")


def _finished(title: str, words: str, drawing: Drawing, axes: list[Axes]) -> Figure:
    with_legend(drawing, axes)
    identity = slug(title)
    return Figure(identity, title, words, to_svg(drawing, identity, title))
