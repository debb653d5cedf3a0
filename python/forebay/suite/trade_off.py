"""The trade-off of two quantities (RFC 7928, section 2.7): a point for each run, and by law the
1-sigma ellipse of the Gaussian that fits them, with a circle at the medians (Winstein and
Balakrishnan, SIGCOMM 2013, figure 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from forebay.drawing import COLOURS, MARKERS, Figure, finished, line_style, new_grid, slug
from forebay.run.words import axis_scale
from forebay.units import symbolised

__all__ = ["Ellipse", "ellipse_of", "trade_off_figure"]

COLUMNS = 3
"""Panels side by side at most."""

Row = Mapping[str, Any]
Ellipse = tuple[float, float, float]
"""Half-axes, the larger first, and the angle of the larger one in degrees."""


def ellipse_of(x: Sequence[float], y: Sequence[float]) -> Ellipse:
    """The 1-sigma ellipse of the Gaussian with the sample covariance of some points: the square
    roots of the covariance's eigenvalues, and the direction of the larger one's eigenvector."""
    n = len(x)
    mean_x, mean_y = math.fsum(x) / n, math.fsum(y) / n
    pairs = [(a - mean_x, b - mean_y) for a, b in zip(x, y, strict=True)]
    xx = math.fsum(a * a for a, _ in pairs) / (n - 1)
    yy = math.fsum(b * b for _, b in pairs) / (n - 1)
    xy = math.fsum(a * b for a, b in pairs) / (n - 1)
    middle, reach = (xx + yy) / 2.0, math.hypot((xx - yy) / 2.0, xy)
    angle = math.degrees(math.atan2(2.0 * xy, xx - yy)) / 2.0
    return math.sqrt(middle + reach), math.sqrt(max(0.0, middle - reach)), angle


def trade_off_figure(
    rows: Sequence[Row], title: str, cells: Sequence[str], axes: Sequence[str]
) -> Figure:
    """A panel for each cell: the first of two quantities to the right, the second upwards."""
    found = {(row["cell"], row["column"], row["quantity"]): row for row in rows}
    across, up = (next(row for row in rows if row["quantity"] == name) for name in axes)
    laws = list(dict.fromkeys(row["column"] for row in rows))
    scales = [axis_scale(symbolised(of["unit"]), _seen(rows, of)) for of in (across, up)]
    drawing, panels = new_grid(cells, min(COLUMNS, max(2, len(cells))), 2.5, share_x="none")
    for cell, panel in zip(cells, panels, strict=True):
        for number, law in enumerate(laws):
            sides = [found.get((cell, law, name)) for name in axes]
            if sides[0] is not None and sides[1] is not None:
                points = _points(sides[0], sides[1], scales[0][0], scales[1][0])
                _draw(panel, number, law, points)
        panel.set_xlabel(f"{across['words']} ({scales[0][1]})")
        panel.set_ylabel(f"{up['words']} ({scales[1][1]})")
    caption = (
        "Each run a point; ellipses are one standard deviation of the Gaussian that fits the runs "
        "of a law, circles are at the medians. Up and to the left is better."
    )
    heading = f"{up['words']} against {across['words']}".capitalize()
    return finished(drawing, panels, heading, caption, identity=slug(f"trade-off-{title}"))


def _seen(rows: Sequence[Row], of: Row) -> list[float]:
    """All values of a quantity: a run in which nothing arrived has none."""
    return [
        value
        for row in rows
        if row["quantity"] == of["quantity"]
        for value in row["values"]
        if value is not None
    ]


def _points(across: Row, up: Row, scale_x: float, scale_y: float) -> list[tuple[float, float]]:
    pairs = zip(across["values"], up["values"], strict=True)
    return [(scale_x * a, scale_y * b) for a, b in pairs if a is not None and b is not None]


def _draw(panel: Any, number: int, law: str, points: Sequence[tuple[float, float]]) -> None:
    from matplotlib.patches import Ellipse as Drawn

    if not points:
        return
    look = line_style(number)
    x, y = zip(*points, strict=True)
    marker = MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]
    panel.plot(x, y, marker, color=look["color"], markersize=3.0, markerfacecolor="none", label=law)
    panel.plot(median(x), median(y), "o", color=look["color"], markersize=6.0)
    if len(points) > 1:
        major, minor, angle = ellipse_of(x, y)
        centre = (math.fsum(x) / len(x), math.fsum(y) / len(y))
        shape = Drawn(centre, 2.0 * major, 2.0 * minor, angle=angle, fill=False)
        shape.set(edgecolor=look["color"], linestyle=look["linestyle"], linewidth=1.0)
        panel.add_patch(shape)
