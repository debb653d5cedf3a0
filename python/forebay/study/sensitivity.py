"""Sensitivity runs: one assumption at a time chosen otherwise, and what that does to the claims.

`sensitivity_of` makes the part of `result.json`, once; the table in a study's README and the page
of the report are made of that part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forebay.stats import finite
from forebay.study.grades import CLOSE, Kind, Point
from forebay.study.results import Outcome, point_key
from forebay.study.tasks import variant_points

if TYPE_CHECKING:
    from forebay.study.claims import NumericClaim
    from forebay.study.definition import Study, Variant

__all__ = ["sensitivity_lines", "sensitivity_of", "sensitivity_parts"]

DIGITS = 6
"""Significant digits of what `result.json` keeps; a study has thousands of these numbers."""

LONG = 25
"""A README shows as many claims of a variant; the report shows all."""


def sensitivity_of(outcome: Outcome) -> list[dict[str, Any]]:
    """Every sensitivity run of which there are samples, with the numeric claims at its points:
    those of the kind `result`."""
    made = [_variant(outcome, variant) for variant in outcome.study.variants]
    return [block for block in made if block["rows"]]


def sensitivity_lines(study: Study, document: Mapping[str, Any]) -> list[str]:
    """The sensitivity runs in Markdown: a table of all, then the claims that each moves."""
    blocks = sensitivity_parts(study, document)
    if not blocks:
        return []
    lines = [
        "",
        "### Sensitivity: what the open choices do",
        "",
        "One assumption at a time chosen otherwise, on the same random numbers. Moved is a claim "
        "whose paired 95 % interval of the difference does not hold 0. The error is the distance "
        "from the published value, the mean over the claims.",
        "",
        "| choice | replications | claims | moved | error here | error with it |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {block['title']} | {block['replications']} | {len(block['rows'])} "
        f"| {block['moved']} | {block['error_study']} | {block['error_variant']} |"
        for block in blocks
    ]
    for block in blocks:
        lines += _details(block)
    return lines


def sensitivity_parts(study: Study, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The blocks of `document` with their numbers as a reader wants them."""
    from forebay.study.files import published_text

    claims = {claim.id: claim for claim in study.paper.claims}
    parts = []
    for block in document.get("sensitivity", ()):
        rows = [
            {
                "place": claims[row["claim"]].place,
                "published": f"{published_text(claims[row['claim']])} {claims[row['claim']].unit}",
                "study": f"{row['study']:.4g}",
                "variant": f"{row['variant']:.4g}",
                "difference": _with_half(row),
                "moved": _is_moved(row),
            }
            for row in block["rows"]
            if row["claim"] in claims
        ]
        shares = {name: _percent(block[name]) for name in ("error_study", "error_variant")}
        parts.append({**block, **shares, "rows": rows})
    return parts


def _variant(outcome: Outcome, variant: Variant) -> dict[str, Any]:
    rows = []
    errors: list[tuple[float, float]] = []
    replications = 0
    for claim in _claims_at(outcome, variant_points(outcome.study, variant)):
        ours = outcome.interval(claim.quantity, claim.point)
        theirs = outcome.interval(claim.quantity, claim.point, variant.id)
        difference = outcome.difference(variant, claim.quantity, claim.point)
        if ours is None or theirs is None or difference is None:
            continue
        means = [claim.in_published_unit(interval).mean for interval in (ours, theirs)]
        apart = claim.in_published_unit(difference)
        replications = max(replications, difference.n)
        # The scale of the grades: the published value, or what paper.toml states where that is
        # near zero.
        scale = claim.tolerance.close / CLOSE
        if scale > 0.0:
            here, there = (abs(mean - claim.published) / scale for mean in means)
            errors.append((here, there))
        rows.append(
            {
                "claim": claim.id,
                "published": claim.published,
                "study": _rounded(means[0]),
                "variant": _rounded(means[1]),
                "difference": _rounded(apart.mean),
                "low": _rounded(apart.low),
                "high": _rounded(apart.high),
            }
        )
    return {
        "id": variant.id,
        "title": variant.title,
        "why": " ".join(variant.why.split()),
        "replications": replications,
        "moved": sum(map(_is_moved, rows)),
        "error_study": _mean([here for here, _ in errors]),
        "error_variant": _mean([there for _, there in errors]),
        "rows": rows,
    }


def _claims_at(outcome: Outcome, points: Sequence[Point]) -> list[NumericClaim]:
    wanted = {point_key(point) for point in points}
    return [
        claim
        for claim in outcome.study.paper.claims
        if claim.kind is Kind.RESULT and point_key(claim.point) in wanted
    ]


def _details(block: Mapping[str, Any]) -> list[str]:
    moved = [row for row in block["rows"] if row["moved"]]
    if not moved:
        return []
    head = f"{block['title']}: {len(moved)} of {len(block['rows'])} claims moved"
    lines = ["", f"<details><summary>{head}</summary>", "", block["why"], ""]
    if len(moved) > LONG:
        lines += [f"{len(moved)} claims: the table is in the report.", ""]
    else:
        lines += ["| claim | published | here | with it | difference |", "|---|---|---|---|---|"]
        lines += [
            f"| {row['place']} | {row['published']} | {row['study']} | {row['variant']} "
            f"| {row['difference']} |"
            for row in moved
        ]
        lines.append("")
    return [*lines, "</details>"]


def _is_moved(row: Mapping[str, Any]) -> bool:
    """Whether the interval of the difference leaves no doubt that there is one."""
    low, high = row["low"], row["high"]
    return low is not None and high is not None and not low <= 0.0 <= high


def _with_half(row: Mapping[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return f"{row['difference']:+.3g} ± ?"
    return f"{row['difference']:+.3g} ± {(row['high'] - row['low']) / 2:.2g}"


def _rounded(value: float) -> float | None:
    if finite(value) is None or not value:
        return finite(value)
    return round(value, DIGITS - 1 - math.floor(math.log10(abs(value))))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
