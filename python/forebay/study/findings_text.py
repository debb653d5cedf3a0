"""Findings in words: what conclusions of comparisons say of quantities, from the findings alone."""

from __future__ import annotations

from forebay.study.comparison import Case, Design, Findings, Metric

__all__ = ["described", "difference", "of_designs"]


def described(findings: Findings, *quantities: str, digits: int = 3) -> str:
    """A sentence about the metric of each quantity: all designs, case by case."""
    sentences = []
    for quantity in quantities:
        label = findings.metric(quantity).label
        told = [
            f"{case.name}: {of_designs(findings, quantity, case, digits)}"
            for case in findings.cases
        ]
        sentences.append(f"{label[0].upper()}{label[1:]}. {'; '.join(told)}.")
    return " ".join(sentences)


def of_designs(findings: Findings, quantity: str, case: Case, digits: int = 3) -> str:
    """`81 % with the one, 97 % with the other (15.1 to 16.2 points more)`; what is open is said.

    `digits` are the significant ones of the means; differences have three.
    """
    metric = findings.metric(quantity)
    words = []
    for design in findings.comparison.every_design:
        mean = findings.interval(quantity, design, case)
        if mean is None:
            continue
        told = f"{mean.mean / metric.size:.{digits}g} {metric.unit} with {design.title}"
        if design is not findings.comparison.baseline:
            told += f" ({difference(findings, metric, design, case)})"
        words.append(told)
    return ", ".join(words)


def difference(findings: Findings, metric: Metric, design: Design, case: Case) -> str:
    """The interval of a paired difference from the baseline: `1.6 to 2.6 ms less`."""
    apart = findings.difference(metric.quantity, design, case)
    verdict = findings.verdict(metric, design, case)
    if apart is None or verdict in ("open", "equal"):
        return verdict
    way = "less" if apart.mean < 0.0 else "more"
    low, high = sorted(abs(bound) / metric.size for bound in (apart.low, apart.high))
    unit = "points" if metric.unit == "%" else metric.unit
    return f"{low:.3g} to {high:.3g} {unit} {way}"
