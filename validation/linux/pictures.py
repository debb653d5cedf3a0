"""Pictures of the cells: what is simulated beside what Linux gives."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grades import GRADES, QUANTITIES, Graded

from forebay.drawing import COLOURS, LOOK, MARKERS

COLOUR = dict(zip(GRADES, (COLOURS[2], COLOURS[5], "#9aa0a6", COLOURS[4], COLOURS[1]), strict=True))
MARKER = dict(zip(GRADES, MARKERS, strict=False))
TICKS = {
    "mean_delay_s": [20, 30, 50, 70, 100, 150],
    "p95_delay_s": [20, 30, 50, 70, 100, 150],
    **{key: [0, 10, 100, 1000, 10000] for key in ("drops", "marks", "retransmissions")},
}
"""Quantities that span orders of magnitude, and what stands at their axes; others are linear."""
SPAN = 4.0
"""As many tolerances as are shown; what is farther stands at the edge."""


def scatter(rows: Sequence[Graded], file: Path) -> None:
    """A panel for each quantity: simulated across, Linux up, the diagonal where they are equal."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(LOOK | {"axes.titlesize": 9, "axes.titleweight": "normal", "font.size": 8}):
        figure = Figure(figsize=(9.2, 5.0), layout="constrained")
        grid = list(figure.subplots(2, 4).flat)
        for axis, (key, quantity) in zip(grid, QUANTITIES.items(), strict=False):
            _panel(axis, [row for row in rows if row.key == key], TICKS.get(key))
            axis.set_title(quantity.title)
        for axis in grid[4:7]:
            axis.set_xlabel("simulated")
        grid[3].set_xlabel("simulated")
        for axis in (grid[0], grid[4]):
            axis.set_ylabel("Linux")
        grid[7].axis("off")
        _legend(grid[7])
        _save(figure, file)


def _panel(axis: Any, rows: Sequence[Graded], ticks: Sequence[int] | None) -> None:
    means = [side.mean for row in rows for side in (row.simulated, row.linux)]
    least, most = min(means), max(means)
    if ticks:
        low, high = -2.0 if ticks[0] == 0 else 0.85 * least, 1.3 * most
        for way in (axis.set_xscale, axis.set_yscale):
            way("symlog", linthresh=10, linscale=0.4)
        places = [tick for tick in ticks if low <= tick <= high]
        for way in (axis.set_xticks, axis.set_yticks):
            way(places, [str(place) for place in places])
            way([], minor=True)
    else:
        room = 0.06 * (most - least)
        low, high = least - room, most + room
    axis.plot([low, high], [low, high], color="#9aa0a6", linewidth=0.8, zorder=1)
    for name in GRADES:
        found = [row for row in rows if row.grade == name]
        axis.plot(
            [row.simulated.mean for row in found],
            [row.linux.mean for row in found],
            linestyle="",
            marker=MARKER[name],
            markersize=4.5,
            markerfacecolor=COLOUR[name] if name != "imprecise" else "none",
            markeredgecolor=COLOUR[name] if name == "imprecise" else "white",
            markeredgewidth=0.5 if name != "imprecise" else 1.0,
            zorder=2 + list(GRADES).index(name),
        )
    axis.set_xlim(low, high)
    axis.set_ylim(low, high)
    axis.set_box_aspect(1)


def ratios(rows: Sequence[Graded], file: Path) -> None:
    """A line for each cell, a column for each quantity: the difference over its tolerance."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row.cell for row in rows))
    look = {"axes.titlesize": 8.5, "axes.titleweight": "normal", "font.size": 7.5}
    with rc_context(LOOK | look):
        figure = Figure(figsize=(9.2, 0.155 * len(names) + 1.0), layout="constrained")
        axes = list(figure.subplots(1, len(QUANTITIES), sharey=True))
        for axis, (key, quantity) in zip(axes, QUANTITIES.items(), strict=True):
            axis.set_title(quantity.title.replace(", ", ",\n"))
            axis.axvspan(-1, 1, color="#e8f0ec", zorder=0)
            axis.axvline(0, color="#9aa0a6", linewidth=0.8, zorder=1)
            for row in rows:
                if row.key == key:
                    _bar(axis, names.index(row.cell), row)
            axis.set_xlim(-SPAN - 0.4, SPAN + 0.4)
            axis.set_xticks([-SPAN, -1, 1, SPAN])
            axis.grid(axis="y", visible=False)
            axis.tick_params(axis="y", length=0)
        for place in _borders(names):
            for axis in axes:
                axis.axhline(place - 0.5, color="#c8c9ca", linewidth=0.6)
        axes[0].set_yticks(range(len(names)), names)
        axes[0].set_ylim(len(names) - 0.4, -0.6)
        label = "Linux less simulated, in tolerances of the quantity, with 95 % intervals"
        figure.supxlabel(label, fontsize=8)
        _save(figure, file)


def _bar(axis: Any, place: int, row: Graded) -> None:
    tolerance = QUANTITIES[row.key].tolerance(row.linux.mean)
    middle = row.difference.mean / tolerance
    ends = [
        max(-SPAN, min(SPAN, (row.difference.mean + sign * row.difference.half_width) / tolerance))
        for sign in (-1, 1)
    ]
    colour = COLOUR[row.grade]
    axis.plot(ends, [place, place], color=colour, linewidth=1.0, zorder=2)
    beyond = abs(middle) > SPAN
    marker = ("<" if middle < 0 else ">") if beyond else MARKER[row.grade]
    axis.plot(
        [max(-SPAN, min(SPAN, middle))],
        [place],
        marker=marker,
        markersize=3.6,
        color=colour,
        zorder=3,
    )


def _borders(names: Sequence[str]) -> list[int]:
    """Returns the places at which the traffic changes from one line to the next."""
    kinds = [name.partition(" ")[0] for name in names]
    return [place for place in range(1, len(kinds)) if kinds[place] != kinds[place - 1]]


def _legend(axis: Any) -> None:
    for name in GRADES:
        hollow = name == "imprecise"
        axis.plot(
            [],
            [],
            linestyle="",
            marker=MARKER[name],
            markersize=5,
            markerfacecolor="none" if hollow else COLOUR[name],
            markeredgecolor=COLOUR[name],
            label=name,
        )
    axis.legend(loc="center", frameon=False, title="difference", fontsize=8.5, title_fontsize=8.5)


def _save(figure: Any, file: Path) -> None:
    from matplotlib import rc_context

    # A fixed salt makes the same picture the same text, to a hundredth of a point.
    with rc_context({"svg.hashsalt": file.stem, "svg.fonttype": "none"}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None}, facecolor="white")
    text = re.sub(r"(\d+\.\d{2})\d+", r"\1", buffer.getvalue())
    file.write_text(re.sub(r"[ \n]+", " ", text).replace("> <", ">\n<") + "\n", encoding="utf-8")
