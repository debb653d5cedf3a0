"""A study under other transports as a page of Markdown: which conclusions hold, and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forebay.study.results import BASE

if TYPE_CHECKING:
    from forebay.study.definition import Study

__all__ = ["OWN", "counted", "transports_page"]

OWN = "the study's own"
"""Name in tables of the transport that a study has."""

Document = Mapping[str, Any]


def transports_page(study: Study, document: Document) -> str:
    """The page; `document` is what `transports_document` makes."""
    titles = {each["id"]: each["title"] for each in document["transports"]}
    lines = [
        f"# {study.paper.citation.title}: under other transports",
        "",
        "Made by the command below; do not edit. Each grid point of the study is run with its own "
        "transport and with others, on the same random numbers; the study's own predicates say "
        "whether a sentence of the paper holds.",
        "",
        f"`{document['command']}`, Forebay {document['version']}, scenario "
        f"`{document['scenario_hash']}`, {document['replications']} runs of each grid point.",
        "",
        *(f"- **{each['title']}**: {each['about']}" for each in document["transports"]),
        "",
        "## Which conclusions hold",
        "",
        *_counts(document, titles),
        *_sentences(document, titles),
        *_numbers(document, titles),
    ]
    return "\n".join(lines) + "\n"


def counted(document: Document, name: str) -> str:
    """`20 hold, 3 fail, 4 imprecise`: the sentences with one transport; `""` is the study's own."""
    grades = Counter(row["grades"].get(name, "not measured") for row in document["statements"])
    words = {"holds": "hold", "fails": "fail", "imprecise": "imprecise"}
    words["not measured"] = "not measured"
    return ", ".join(f"{grades[grade]} {word}" for grade, word in words.items() if grades[grade])


def _counts(document: Document, titles: Mapping[str, str]) -> list[str]:
    names = {BASE: OWN} | dict(titles)
    lines = ["| transport | sentences |", "|---|---|"]
    lines += [f"| {title} | {counted(document, name)} |" for name, title in names.items()]
    return [*lines, ""]


def _sentences(document: Document, titles: Mapping[str, str]) -> list[str]:
    """Those whose grade another transport changes, with the reason; then the others."""
    changed = [row for row in document["statements"] if len(set(row["grades"].values())) > 1]
    same = [row for row in document["statements"] if row not in changed]
    lines = []
    if changed:
        lines += ["### Changed by a transport", "", *_table(changed, titles)]
        reasons = [row for row in changed if row["why"]]
        if reasons:
            lines += ["Why, as far as known:", ""]
            lines += [f'- {row["place"]}, "{_cell(row["text"])}": {row["why"]}' for row in reasons]
            lines.append("")
    if same:
        lines += ["### The same with all", "", *_table(same, titles)]
    return lines


def _table(rows: Sequence[Document], titles: Mapping[str, str]) -> list[str]:
    names = {BASE: OWN} | dict(titles)
    lines = [
        f"| what the paper says | place | {' | '.join(names.values())} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for row in rows:
        grades = " | ".join(row["grades"].get(name, "-") for name in names)
        lines.append(f"| {_cell(row['text'])} | {_cell(row['place'])} | {grades} |")
    return [*lines, ""]


def _numbers(document: Document, titles: Mapping[str, str]) -> list[str]:
    rows = [row for row in document["numbers"] if row["measured"] is not None]
    if not rows:
        return []
    lines = [
        "## The numbers",
        "",
        "Bold: the paired 95 % interval of the difference from the study's own transport does not "
        "hold 0.",
        "",
    ]
    for name, title in titles.items():
        moved = [row for row in rows if row["with"].get(name, {}).get("moved")]
        lines.append(f"- {title}: {len(moved)} of {len(rows)} moved")
    lines += [
        "",
        "<details><summary>All numbers</summary>",
        "",
        f"| place | published | {OWN} | {' | '.join(titles.values())} |",
        f"|---|--:|--:|{'--:|' * len(titles)}",
    ]
    for row in rows:
        cells = [_mean(row["with"].get(name)) for name in titles]
        published = f"{row['published']:g} {row['unit']}".strip()
        lines.append(
            f"| {_cell(row['place'])} | {published} | {row['measured']:.4g} | {' | '.join(cells)} |"
        )
    return [*lines, "", "</details>"]


def _mean(found: Document | None) -> str:
    if found is None:
        return "-"
    text = f"{found['mean']:.4g}"
    return f"**{text}**" if found["moved"] else text


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
