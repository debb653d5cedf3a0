"""Maps of utilisation over what the slides leave open, with where 55 % lies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from forebay.drawing import COLOURS, INK, Figure, new_grid, slug, to_svg
from forebay.study.definition import Point
from forebay.study.results import Outcome
from forebay_studies.rpr.criteria import (
    BURSTY,
    FIFTY_FIVE,
    LINES,
    MAP_DELAYS_US,
    MAP_HOP_US,
    MAP_HOPS,
    MAP_LP_ALLOW,
    MAP_LP_THRESHOLDS_KB,
    MAP_THRESHOLDS_KB,
    OC12,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PointAt = Callable[[int, str, int, int], Point]
"""The grid point of a scenario and a line at a place of a map: row, column."""

RFC = 320
"""TB_LO_THRESHOLD of RFC 2892 in kB."""


def map_figures(outcome: Outcome) -> list[Figure]:
    """Over distance, over LP_ALLOW and over stations, each with the buffer's threshold."""
    drawn = [
        _map(
            outcome,
            "Bandwidth utilization over distance and buffer threshold",
            "one-way delay from F to D (us)",
            (MAP_THRESHOLDS_KB, MAP_DELAYS_US),
            lambda s, line, threshold, delay: _point(s, line, threshold_kb=threshold, fd_us=delay),
        ),
        _map(
            outcome,
            "Bandwidth utilization over LP_ALLOW and buffer threshold",
            "LP_ALLOW, one hop of 5 us",
            (MAP_LP_THRESHOLDS_KB, MAP_LP_ALLOW),
            lambda s, line, threshold, lp: _point(s, line, threshold_kb=threshold, lp_allow=lp),
        ),
        _map(
            outcome,
            "Bandwidth utilization over stations and buffer threshold",
            f"spans of {MAP_HOP_US} us between F and D",
            ((20, 40, RFC), MAP_HOPS),
            lambda s, line, threshold, hops: _point(
                s, line, threshold_kb=threshold, fd_us=MAP_HOP_US * hops, hops=hops
            ),
        ),
    ]
    return [figure for figure in drawn if figure is not None]


def _point(scenario: int, line: str, **more: int) -> Point:
    fixed: Point = {"family": "model", "law": "srp-fa", "transit": "dual", "lp_allow": 64}
    return {**fixed, "hops": 1, "fd_us": 5, "scenario": scenario, "line": line, **more}


def _map(
    outcome: Outcome,
    title: str,
    xlabel: str,
    scales: tuple[Sequence[int], Sequence[int]],
    point_at: PointAt,
) -> Figure | None:
    """Four panels of cells that say their utilisation in per cent; none if a run is missing."""
    panels = list(product(BURSTY, LINES))
    titles = [f"scenario {s}, {'OC-12' if line == OC12 else 'OC-48'}" for s, line in panels]
    rows, columns = scales
    drawing, axes = new_grid(titles, 2, 0.55 + 0.24 * len(rows))
    for axis, (scenario, line) in zip(axes, panels, strict=True):
        for (y, row), (x, column) in product(enumerate(rows), enumerate(columns)):
            measured = outcome.interval("utilization_ratio", point_at(scenario, line, row, column))
            if measured is None:
                return None
            _cell(axis, x, y, measured.mean)
        axis.set_xlim(-0.5, len(columns) - 0.5)
        axis.set_ylim(-0.5, len(rows) - 0.5)
        axis.set_xticks(range(len(columns)), [str(value) for value in columns])
        axis.set_yticks(range(len(rows)), [str(value) for value in rows])
        axis.grid(visible=False)
    for axis in axes[::2]:
        axis.set_ylabel("TB_LO (kB)")
    for axis in axes[2:]:
        axis.set_xlabel(xlabel)
    caption = (
        "Per cent of the line that D's link carries under SRP-fa, means over the replications. "
        "Framed: 55.5 % or less. RFC 2892 has 320 kB, at OC-12, and LP_ALLOW 64."
    )
    identity = slug(title)
    return Figure(identity, title, caption, to_svg(drawing, identity, title))


def _cell(axis: Axes, x: int, y: int, share: float) -> None:
    from matplotlib.patches import Rectangle

    shade = min(max(1.0 - share, 0.0), 1.0)
    axis.add_patch(
        Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=COLOURS[0], alpha=shade, linewidth=0)
    )
    axis.text(x, y, f"{100 * share:.0f}", ha="center", va="center", fontsize=7, color=INK)
    if share <= FIFTY_FIVE[1]:
        axis.add_patch(
            Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor=INK, linewidth=1.2)
        )
