"""Comparisons in reports: a part of the HTML page each, a plot a quantity, and short tables.

Everything is made of the samples, so that a report can be built again from its files.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forebay.drawing import (
    COLOURS,
    INK,
    MARKERS,
    Figure,
    new_axes,
    slug,
    to_svg,
    with_legend,
)
from forebay.stats import Interval
from forebay.study.comparison import Case, Design, Findings, Metric, findings_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from forebay.study.results import Outcome

__all__ = ["case_count", "comparison_lines", "comparison_parts", "summary_rows"]

ARROWS = {"up": "\u25b2", "down": "\u25bc"}
LEVEL_MISSED = 0.05
"""Share of 95 % intervals that miss 0 although there is no difference."""


def comparison_parts(outcome: Outcome, command: str) -> list[dict[str, Any]]:
    """Parts of the page, one for each comparison."""
    return [_part(findings, command) for findings in findings_of(outcome)]


def comparison_lines(outcome: Outcome) -> list[str]:
    """Every comparison in Markdown: its question, the counted verdicts, its conclusion."""
    lines = []
    for findings in findings_of(outcome):
        comparison = findings.comparison
        lines += [
            "",
            f"### Beyond the paper: {comparison.title}",
            "",
            " ".join(comparison.question.split()),
            "",
            f"Differences from {comparison.baseline.title}, paired by replication, 95 % intervals, "
            f"in {case_count(findings)}:",
            "",
            "| quantity | design | verdicts | differences of the means |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {metric.label} | {design.title} | {verdicts} | {difference} |"
            for metric, design, verdicts, difference in summary_rows(findings)
        ]
        for paragraph in findings.conclusion():
            lines += ["", paragraph]
    return [*lines, ""] if lines else []


def summary_rows(findings: Findings) -> list[tuple[Metric, Design, str, str]]:
    """Rows by quantity and design: verdicts counted, and the range of the differences."""
    rows = []
    for metric in findings.comparison.metrics:
        for design in findings.comparison.designs:
            tally = findings.tally(metric, design)
            verdicts = ", ".join(f"{count} {verdict}" for verdict, count in tally.items())
            found = [findings.difference(metric.quantity, design, case) for case in findings.cases]
            means = [difference.mean / metric.size for difference in found if difference]
            rows.append((metric, design, verdicts, _range(means, metric.unit)))
    return rows


def case_count(findings: Findings) -> str:
    """In how many cases the designs were compared, in words."""
    number = len(findings.cases)
    return "1 case" if number == 1 else f"{number} cases"


def draw_cases(findings: Findings, metric: Metric) -> Figure:
    """A quantity as a plot: cases along the axis, a mark with its interval for each design."""
    groups: dict[str, list[Case]] = {}
    for case in findings.cases:
        groups.setdefault(case.group, []).append(case)
    drawing, axes = new_axes(len(groups), height=3.4)
    for axis, (group, cases) in zip(axes, groups.items(), strict=True):
        for index, design in enumerate(findings.comparison.every_design):
            _series(axis, findings, metric, (index, design), cases)
        axis.set_title(group, fontsize=10)
        axis.set_xticks(range(len(cases)), [_broken(case.label) for case in cases])
        axis.tick_params(axis="x", labelsize=8)
        axis.set_xlim(-0.5, len(cases) - 0.5)
        axis.margins(y=0.1)
        axis.axhline(0.0, color=INK, linewidth=0.6)
    unit = "" if metric.unit == "1" else f" ({metric.unit})"
    axes[0].set_ylabel("\n".join(textwrap.wrap(f"{metric.label}{unit}", 38)))
    with_legend(drawing, axes)
    identity = slug(f"beyond-{findings.comparison.id}-{metric.quantity}")
    caption = (
        "Means with their 95 % intervals. Those of two designs may overlap although the paired "
        "difference is clear: the table below has it."
    )
    title = f"{findings.comparison.title}: {metric.label}"
    return Figure(identity, metric.label, caption, to_svg(drawing, identity, title))


def _broken(label: str) -> str:
    """A label in lines, so that many fit side by side; a number keeps its unit."""
    return re.sub(r"(?<!\d) ", "\n", label)


def _series(
    axis: Axes, findings: Findings, metric: Metric, numbered: tuple[int, Design], cases: list[Case]
) -> None:
    index, design = numbered
    designs = len(findings.comparison.every_design)
    offset = (index - (designs - 1) / 2) * 0.6 / designs
    x, means, halves = [], [], []
    for place, case in enumerate(cases):
        interval = findings.interval(metric.quantity, design, case)
        if interval is not None:
            x.append(place + offset)
            means.append(interval.mean / metric.size)
            halves.append(interval.half_width / metric.size if interval.n > 1 else 0.0)
    axis.errorbar(
        x,
        means,
        yerr=halves,
        color=COLOURS[index % len(COLOURS)],
        marker=MARKERS[index % len(MARKERS)],
        markersize=5,
        linestyle="none",
        elinewidth=1.2,
        capsize=2.5,
        label=design.title,
    )


def _part(findings: Findings, command: str) -> dict[str, Any]:
    comparison = findings.comparison
    least, most = findings.replications
    count = len(comparison.metrics) * len(comparison.designs) * len(findings.cases)
    return {
        "anchor": f"beyond-{slug(comparison.id)}",
        "title": comparison.title,
        "question": comparison.question,
        "designs": [
            {
                "title": design.title,
                "about": design.about,
                "baseline": design is comparison.baseline,
                "settings": comparison.settings(findings.outcome.study, design, findings.cases[0]),
            }
            for design in comparison.every_design
        ],
        "example": findings.cases[0].name,
        "quantities": [
            {
                "label": metric.label,
                "heading": metric.label[:1].upper() + metric.label[1:],
                "unit": metric.unit,
                "better": metric.better,
                "figure": draw_cases(findings, metric),
                "rows": [_row(findings, metric, case) for case in findings.cases],
            }
            for metric in comparison.metrics
        ],
        "cases": case_count(findings),
        "left_out": len(comparison.cases) - len(findings.cases),
        "replications": f"{least}" if least == most else f"{least} to {most}",
        "chance": f"{count} intervals of 95 %, of which about {max(1, round(LEVEL_MISSED * count))}"
        " would miss 0 by chance if the designs did not differ",
        "conclusion": findings.conclusion(),
        "command": command,
    }


def _row(findings: Findings, metric: Metric, case: Case) -> dict[str, Any]:
    comparison = findings.comparison
    baseline = findings.interval(metric.quantity, comparison.baseline, case)
    return {
        "case": case.name,
        "baseline": _with_half(baseline, metric),
        "designs": [
            {
                "mean": _mean(findings.interval(metric.quantity, design, case), metric),
                "difference": _with_half(
                    findings.difference(metric.quantity, design, case), metric, sign="+"
                ),
                "arrow": _arrow(findings, metric, design, case),
                "verdict": findings.verdict(metric, design, case),
            }
            for design in comparison.designs
        ],
    }


def _arrow(findings: Findings, metric: Metric, design: Design, case: Case) -> str:
    """The sign of a difference that its interval leaves no doubt about."""
    difference = findings.difference(metric.quantity, design, case)
    if difference is None or findings.verdict(metric, design, case) in ("open", "equal"):
        return ""
    return ARROWS["down" if difference.mean < 0.0 else "up"]


def _range(values: Sequence[float], unit: str) -> str:
    if not values:
        return "-"
    metric = "" if unit == "1" else f" {unit}"
    low, high = min(values), max(values)
    digits = _digits(max(abs(low), abs(high)) / 10)
    return f"{_signed(low, digits)} to {_signed(high, digits)}{metric}"


def _mean(interval: Interval | None, metric: Metric) -> str:
    if interval is None:
        return "-"
    return f"{interval.mean / metric.size:.{_digits(interval.half_width / metric.size)}f}"


def _with_half(interval: Interval | None, metric: Metric, sign: str = "") -> str:
    """`31.93 ± 0.02`: two digits of the half-width."""
    if interval is None:
        return "-"
    half = interval.half_width / metric.size
    digits = _digits(half)
    mean = interval.mean / metric.size
    text = _signed(mean, digits) if sign else f"{mean:.{digits}f}"
    return f"{text} ± {half:.{digits}f}" if math.isfinite(half) else f"{text} ± ?"


def _signed(value: float, digits: int) -> str:
    """With its sign, unless it is shown as 0."""
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0.0:.{digits}f}"


def _digits(half_width: float) -> int:
    """Decimals that show two digits of a half-width."""
    if not math.isfinite(half_width) or half_width <= 0.0:
        return 2
    return min(max(1 - math.floor(math.log10(half_width)), 0), 6)
