"""The growth of cost as pictures: time and memory along each axis."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drawing import COLOURS, LINES, MARKERS, blank, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]


def draw(result: dict[str, Any], folder: Path, suffix: str = "svg") -> list[Path]:
    """Draw every axis of a result into `growth-AXIS.svg`; the files written."""
    written = []
    for name, axis in result["axes"].items():
        drawing, axes = blank(2)
        time, memory = axes
        xs = [point["x"] for points in axis["curves"].values() for point in points]
        for panel in axes:
            panel.set_xscale("log")
            panel.set_xlim(min(xs) / 1.5, max(xs) * 1.5)
            panel.set_xlabel(axis["label"])
        memory.set_yscale("log")
        for index, (label, points) in enumerate(axis["curves"].items()):
            known = [point for point in points if "note" not in point]
            style = {
                "color": COLOURS[index % len(COLOURS)],
                "linestyle": LINES[index % len(LINES)],
                "marker": MARKERS[index % len(MARKERS)],
                "markersize": 4,
                "label": label,
            }
            _time(time, known, style)
            peaks = [point["peak_rss_bytes"] / 1e6 for point in known]
            memory.plot([point["x"] for point in known], peaks, **style)
        time.set_ylim(bottom=0)
        points = [point for points in axis["curves"].values() for point in points]
        without = ", without start" if any("start_s" in point for point in points) else ""
        time.set_ylabel(f"ns for each packet hop{without}")
        low, high = memory.get_ylim()
        memory.set_ylim(min(low, 10), max(high, 1000))
        memory.set_ylabel("peak memory of the process, MB")
        time.set_title("\n".join(_absent(axis["curves"])), fontsize=7, fontweight="normal")
        path = folder / f"growth-{name}.{suffix}"
        save(drawing, axes, path)
        written.append(path)
    return written


def _absent(curves: dict[str, Any]) -> list[str]:
    """Lists the points that were not measured, with reasons."""
    return [
        f"{label}, {point['x']:,}: {point['note']}"
        for label, points in curves.items()
        for point in points
        if "note" in point
    ]


def _time(axis: Axes, points: list[dict[str, Any]], style: dict[str, Any]) -> None:
    spreads = [point["ns_per_hop"] for point in points]
    medians = [middle for _, middle, _ in spreads]
    below = [middle - low for low, middle, _ in spreads]
    above = [high - middle for _, middle, high in spreads]
    xs = [point["x"] for point in points]
    axis.errorbar(xs, medians, yerr=[below, above], capsize=2, elinewidth=0.8, **style)
