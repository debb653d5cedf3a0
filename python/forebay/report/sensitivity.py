"""Sensitivity runs in reports: tables in Markdown, and the blocks of the HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forebay.study.sensitivity import is_moved
from forebay.study.tally import published_text

if TYPE_CHECKING:
    from forebay.study.definition import Study

__all__ = ["sensitivity_lines", "sensitivity_parts"]

LONG = 25
"""A README shows as many claims of a variant; the report shows all."""


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
                "moved": is_moved(row),
            }
            for row in block["rows"]
            if row["claim"] in claims
        ]
        shares = {name: _percent(block[name]) for name in ("error_study", "error_variant")}
        parts.append({**block, **shares, "rows": rows})
    return parts


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


def _with_half(row: Mapping[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return f"{row['difference']:+.3g} ± ?"
    return f"{row['difference']:+.3g} ± {(row['high'] - row['low']) / 2:.2g}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
