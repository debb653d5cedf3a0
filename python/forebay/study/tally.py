"""Tally of the claims of a study, in numbers and words: results, and checks apart.

Rows are those of `result.json`. One without a kind is of an older version and counts as a result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forebay.study.grades import Grade, Kind, Summary

if TYPE_CHECKING:
    from forebay.study.claims import NumericClaim

__all__ = [
    "check_kind",
    "checks_text",
    "counts",
    "expectation_text",
    "measured_text",
    "predicted_text",
    "published_text",
    "runs_text",
    "shown_digits",
    "tally_text",
    "unmeasured_text",
]

Row = Mapping[str, Any]

SHOWN_ORDER = ("exact", "close", "consistent", "trend", "deviates", "holds", "fails", "imprecise")


def check_kind(row: Row) -> str:
    """Kind of check that a row is; empty for a result."""
    kind = str(row.get("kind", Kind.RESULT))
    return "" if kind == Kind.RESULT else kind


def counts(rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    """`summary`, how many results got each grade, and `checks`, the same of all else."""
    rows = list(rows)
    return {
        "summary": _summary(row for row in rows if not check_kind(row)),
        "checks": _summary(row for row in rows if check_kind(row)),
    }


def _summary(rows: Iterable[Row]) -> dict[str, int]:
    return Summary.of(Grade(row["grade"]) for row in rows).as_dict()


def tally_text(document: Mapping[str, Any]) -> str:
    """`12 results: 9 exact, 3 close; 2 checks (1 input, 1 formula): 2 exact.`"""
    parts = [_counted(document["summary"], "result"), checks_text(document)]
    return f"{'; '.join(filter(None, parts))}."


def checks_text(document: Mapping[str, Any]) -> str:
    """`2 checks (1 input, 1 formula): 2 exact`; empty where all claims are results."""
    kinds = Counter(filter(None, map(check_kind, document["claims"])))
    if not kinds:
        return ""
    of = ", ".join(_number(kinds[kind], kind) for kind in Kind if kinds[kind])
    return _counted(document["checks"], "check", f" ({of})")


def _counted(summary: Mapping[str, int], what: str, of: str = "") -> str:
    # Documents of older versions do not have every grade.
    grades = [f"{summary[name]} {name}" for name in SHOWN_ORDER if summary.get(name)]
    head = f"{_number(summary['total'], what)}{of}"
    return f"{head}: {', '.join(grades)}" if grades else head


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def runs_text(row: Row) -> str:
    """`mean of 3 runs`, `highest of 3 runs`, `one run`; empty where the paper does not tell."""
    runs = row.get("runs")
    if runs is None:
        return ""
    return "one run" if runs == 1 else f"{row['statistic']} of {runs} runs"


def predicted_text(row: Row, decimals: int | None = None) -> str:
    """`28.90 to 29.30`: where a value from the paper's number of runs is to be expected.

    Two digits of half its width, but no finer than the published value; empty for a value whose
    paper does not tell from how many runs it is.
    """
    if row.get("runs") is None:
        return ""
    low, high = row["predicted_low"], row["predicted_high"]
    if low is None or high is None:
        return "?"
    digits = shown_digits((high - low) / 2, decimals)
    return f"{low:.{digits}f} to {high:.{digits}f}"


def expectation_text(rows: Sequence[Row]) -> str:
    """Meaning of the second line in cells of a table, if they have one; else empty."""
    kinds = list(dict.fromkeys(filter(None, map(runs_text, rows))))
    return f"second line: 95 % prediction interval ({', '.join(kinds)})" if kinds else ""


def shown_digits(half_width: float, decimals: int | None) -> int:
    """Decimals that show two digits of a half-width, but no finer than the published value."""
    digits = 2 if half_width <= 0 else min(max(1 - math.floor(math.log10(half_width)), 0), 6)
    return digits if decimals is None else min(digits, max(decimals, 1))


def unmeasured_text(document: Mapping[str, Any]) -> str:
    """Sentence that names the claims for which no run measured what they need; empty if there are
    none."""
    names = document.get("unmeasured", ())
    return f"Not measured, so not counted: {', '.join(names)}." if names else ""


def published_text(claim: NumericClaim) -> str:
    """A published value with the digits it was printed with."""
    if claim.decimals is None:
        return f"{claim.published:g}"
    return f"{claim.published:.{claim.decimals}f}"


def measured_text(row: Mapping[str, Any], decimals: int | None = None) -> str:
    """`31.93 ± 0.02`: two digits of the half-width, but no finer than the published value."""
    if row["low"] is None or row["high"] is None:
        return f"{row['measured']:.4g} ± ?"
    half = (row["high"] - row["low"]) / 2
    digits = shown_digits(half, decimals)
    return f"{row['measured']:.{digits}f} ± {half:.{digits}f}"
