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
    from forebay.study.definition import Variant

__all__ = ["sensitivity_of"]

DIGITS = 6
"""Significant digits of what `result.json` keeps; a study has thousands of these numbers."""


def sensitivity_of(outcome: Outcome) -> list[dict[str, Any]]:
    """Every sensitivity run of which there are samples, with the numeric claims at its points:
    those of the kind `result`."""
    made = [_variant(outcome, variant) for variant in outcome.study.variants]
    return [block for block in made if block["rows"]]


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
        "moved": sum(map(is_moved, rows)),
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


def is_moved(row: Mapping[str, Any]) -> bool:
    """True if the interval of the difference leaves no doubt that there is one."""
    low, high = row["low"], row["high"]
    return low is not None and high is not None and not low <= 0.0 <= high


def _rounded(value: float) -> float | None:
    if finite(value) is None or not value:
        return finite(value)
    return round(value, DIGITS - 1 - math.floor(math.log10(abs(value))))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
