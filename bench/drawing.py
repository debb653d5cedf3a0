"""Drawings of the folders beside this file: SVG files of their own, in the reports' style."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.drawing import COLOURS, LINES, LOOK, MARKERS, with_legend
from forebay.run.store import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "LINES", "MARKERS", "blank", "save"]


def blank(panels: int = 1, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """An empty drawing with panels side by side, each with a vertical axis of its own."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(LOOK):
        drawing = Figure(figsize=(8.4, height), layout="constrained", facecolor="white")
        FigureCanvasSVG(drawing)
        return drawing, list(drawing.subplots(1, panels, squeeze=False)[0])


def save(drawing: Figure, axes: list[Axes], path: Path) -> None:
    """Write the drawing with one legend for all panels; the same drawing gives the same text.

    A path that ends in `.png` gives a picture of points instead, for a look at it.
    """
    from matplotlib import rc_context

    with_legend(drawing, axes)
    if path.suffix == ".png":
        drawing.savefig(path, dpi=110)
        return
    buffer = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": path.stem}):
        drawing.savefig(buffer, format="svg", metadata={"Date": None})
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", buffer.getvalue(), flags=re.DOTALL)
    # A hundredth of a point is finer than any screen or printer.
    svg = re.sub(r"(\d+\.\d{2})\d+", r"\1", svg)
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", "sans-serif", svg)
    write_text(path, "\n".join(line.rstrip() for line in svg.splitlines()) + "\n")
