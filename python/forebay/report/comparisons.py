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
from forebay.study.comparison import Case, Design, Findings, Shown, findings_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from forebay.study.results import Outcome

__all__ = ["case_count", "comparison_lines", "comparison_parts", "summary_rows"]

ARROWS = {"up": "\u25b2", "down": "\u25bc"}
LEVEL_MISSED = 0.05
"""Share of 95 % intervals that miss 0 although there is no difference."""


def comparison_parts(outcome: Outcome, command: str) -> list[dict[str, Any]]:
    """What the page shows of each comparison."""
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
            f"| {shown.label} | {design.title} | {verdicts} | {difference} |"
            for shown, design, verdicts, difference in summary_rows(findings)
        ]
        for paragraph in findings.conclusion():
            lines += ["", paragraph]
    return [*lines, ""] if lines else []


def summary_rows(findings: Findings) -> list[tuple[Shown, Design, str, str]]:
    """By quantity and design: verdicts counted, and from where to where the differences go."""
    rows = []
    for shown in findings.comparison.shown:
        for design in findings.comparison.designs:
            tally = findings.tally(shown, design)
            verdicts = ", ".join(f"{count} {verdict}" for verdict, count in tally.items())
            found = [findings.difference(shown.quantity, design, case) for case in findings.cases]
            means = [difference.mean / shown.size for difference in found if difference]
            rows.append((shown, design, verdicts, _range(means, shown.unit)))
    return rows


def case_count(findings: Findings) -> str:
    """In how many cases the designs were compared, in words."""
    number = len(findings.cases)
    return "1 case" if number == 1 else f"{number} cases"


def draw_cases(findings: Findings, shown: Shown) -> Figure:
    """A quantity as a plot: cases along the axis, a mark with its interval for each design."""
    groups: dict[str, list[Case]] = {}
    for case in findings.cases:
        groups.setdefault(case.group, []).append(case)
    drawing, axes = new_axes(len(groups), height=3.4)
    for axis, (group, cases) in zip(axes, groups.items(), strict=True):
        for index, design in enumerate(findings.comparison.every_design):
            _series(axis, findings, shown, (index, design), cases)
        axis.set_title(group, fontsize=10)
        axis.set_xticks(range(len(cases)), [_broken(case.label) for case in cases])
        axis.tick_params(axis="x", labelsize=8)
        axis.set_xlim(-0.5, len(cases) - 0.5)
        axis.margins(y=0.1)
        axis.axhline(0.0, color=INK, linewidth=0.6)
    unit = "" if shown.unit == "1" else f" ({shown.unit})"
    axes[0].set_ylabel("\n".join(textwrap.wrap(f"{shown.label}{unit}", 38)))
    with_legend(drawing, axes)
    identity = slug(f"beyond-{findings.comparison.id}-{shown.quantity}")
    caption = (
        "Means with their 95 % intervals. Those of two designs may overlap although the paired "
        "difference is clear: the table below has it."
    )
    title = f"{findings.comparison.title}: {shown.label}"
    return Figure(identity, shown.label, caption, to_svg(drawing, identity, title))


def _broken(label: str) -> str:
    """A label in lines, so that many fit side by side; a number keeps its unit."""
    return re.sub(r"(?<!\d) ", "\n", label)


def _series(
    axis: Axes, findings: Findings, shown: Shown, numbered: tuple[int, Design], cases: list[Case]
) -> None:
    index, design = numbered
    designs = len(findings.comparison.every_design)
    offset = (index - (designs - 1) / 2) * 0.6 / designs
    x, means, halves = [], [], []
    for place, case in enumerate(cases):
        interval = findings.interval(shown.quantity, design, case)
        if interval is not None:
            x.append(place + offset)
            means.append(interval.mean / shown.size)
            halves.append(interval.half_width / shown.size if interval.n > 1 else 0.0)
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
    count = len(comparison.shown) * len(comparison.designs) * len(findings.cases)
    own = comparison.figures(findings) if comparison.figures else []
    return {
        "anchor": f"beyond-{slug(comparison.id)}",
        "title": comparison.title,
        "question": comparison.question,
        "designs": [
            {
                "title": design.title,
                "about": design.about,
                "baseline": design is comparison.baseline,
                "assignments": comparison.assignments(design, findings.cases[0]),
                "without": _without(findings, design),
            }
            for design in comparison.every_design
        ],
        "example": findings.cases[0].name,
        "quantities": [
            {
                "label": shown.label,
                "heading": shown.label[:1].upper() + shown.label[1:],
                "unit": shown.unit,
                "better": shown.better,
                "figure": draw_cases(findings, shown),
                "rows": [_row(findings, shown, case) for case in findings.cases],
            }
            for shown in comparison.shown
        ],
        "figures": own,
        "cases": case_count(findings),
        "left_out": len(comparison.cases) - len(findings.cases),
        "replications": f"{least}" if least == most else f"{least} to {most}",
        "chance": f"{count} intervals of 95 %, of which about {max(1, round(LEVEL_MISSED * count))}"
        " would miss 0 by chance if the designs did not differ",
        "conclusion": findings.conclusion(),
        "command": command,
    }


def _without(findings: Findings, design: Design) -> list[str]:
    case = findings.cases[0]
    given = [findings.comparison.without, design.without]
    return [path for one in given for path in (one(case) if callable(one) else one)]


def _row(findings: Findings, shown: Shown, case: Case) -> dict[str, Any]:
    comparison = findings.comparison
    baseline = findings.interval(shown.quantity, comparison.baseline, case)
    return {
        "case": case.name,
        "baseline": _with_half(baseline, shown),
        "designs": [
            {
                "mean": _mean(findings.interval(shown.quantity, design, case), shown),
                "difference": _with_half(
                    findings.difference(shown.quantity, design, case), shown, sign="+"
                ),
                "arrow": _arrow(findings, shown, design, case),
                "verdict": findings.verdict(shown, design, case),
            }
            for design in comparison.designs
        ],
    }


def _arrow(findings: Findings, shown: Shown, design: Design, case: Case) -> str:
    """The sign of a difference that its interval leaves no doubt about."""
    difference = findings.difference(shown.quantity, design, case)
    if difference is None or findings.verdict(shown, design, case) in ("open", "equal"):
        return ""
    return ARROWS["down" if difference.mean < 0.0 else "up"]


def _range(values: Sequence[float], unit: str) -> str:
    if not values:
        return "-"
    shown = "" if unit == "1" else f" {unit}"
    low, high = min(values), max(values)
    digits = _digits(max(abs(low), abs(high)) / 10)
    return f"{_signed(low, digits)} to {_signed(high, digits)}{shown}"


def _mean(interval: Interval | None, shown: Shown) -> str:
    if interval is None:
        return "-"
    return f"{interval.mean / shown.size:.{_digits(interval.half_width / shown.size)}f}"


def _with_half(interval: Interval | None, shown: Shown, sign: str = "") -> str:
    """`31.93 ± 0.02`: two digits of the half-width."""
    if interval is None:
        return "-"
    half = interval.half_width / shown.size
    digits = _digits(half)
    mean = interval.mean / shown.size
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
