"""Statements of pages on the studies' records: the table in README.md, and docs/transports.md.

    python -m manual docs

Counts come from `studies/ID/result.json` and `studies/ID/transports.json`, what `forebay reproduce
ID --out studies/ID` and `forebay transports ID --out studies/ID` leave there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

SUBJECTS = {
    "af": "two against three drop precedences in Assured Forwarding",
    "pcn": "three-state PCN marking: flow termination and admission control",
    "redn": "Adaptive REDn gateways and adaptive token buckets, TCP at 200 to 400 Mbit/s",
    "atm": "rate-based congestion control on a satellite ATM link",
    "rpr": "fairness on a resilient packet ring, SRP-fa against VoQ",
    "cake": "Piece of CAKE: classes and flows through a shaper of 1 and 10 Mbit/s",
    "codel": "CoDel against tail drop and RED: a consumer edge, a link whose rate changes",
    "dctcp": "DCTCP against TCP in data centres: queues, incast, shared buffers",
    "l4s": "Prague beside CUBIC through DualPI2, a FIFO and single queues of RFC 3168",
}
"""The studies in the order of README.md, with what they are about."""

GOOD = ("exact", "close", "consistent", "holds")
OWN = ""
SENDERS = {"reno": "SACK", "cubic": "CUBIC", "bbr": "BBR"}
"""Senders of the ring's comparison `media`, by what its cases call them."""

Document = Mapping[str, Any]


def readme(text: str) -> str:
    """README.md with the table of the studies that is made of their records."""
    pattern = r"(?<=<!-- scores: made by `make docs` -->\n).*?(?=<!-- end of scores -->)"
    found = re.findall(pattern, text, re.DOTALL)
    if len(found) != 1:
        raise SystemExit(f"README.md: {len(found)} parts marked as scores, not one")
    return text.replace(found[0], "".join(f"{line}\n" for line in scores()))


def scores() -> list[str]:
    """Returns the number of results of each study, and of those that come out."""
    lines = ["", "| study | subject | results | good |", "|---|---|---|---|"]
    for name, subject in SUBJECTS.items():
        summary = read(name, "result.json")["summary"]
        total, good = summary["total"], sum(summary[grade] for grade in GOOD)
        share = f"{good} ({100 * good / total:.0f} %)"
        lines.append(f"| [`{name}`](studies/{name}) | {subject} | {total} | {share} |")
    return [*lines, ""]


def wrapped(text: str) -> list[str]:
    """A paragraph in lines of the width of the pages."""
    from textwrap import wrap

    return wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def surviving(document: Document) -> tuple[int, dict[str, str]]:
    """Counts the sentences that hold with the study's own transport, and those of them that hold
    with each other one: `14`, or `3 of 4` where it was tried for so many."""
    holding = [row for row in document["statements"] if row["grades"].get(OWN) == "holds"]
    kept = {}
    for each in document["transports"]:
        tried = [row["grades"][each["id"]] for row in holding if each["id"] in row["grades"]]
        of = f" of {len(tried)}" if len(tried) < len(holding) else ""
        kept[each["title"]] = f"{tried.count('holds')}{of}"
    return len(holding), kept


def transports() -> str:
    """docs/transports.md."""
    lines = [*HEAD]
    for name in ("af", "redn", "cake", "codel", "dctcp", "l4s"):
        lines += ["", f"## {name}: {SUBJECTS[name]}", "", *study_lines(name)]
    lines += ["", f"## rpr: {SUBJECTS['rpr']}", "", *ring_lines()]
    return "\n".join([*lines, *TAIL]) + "\n"


def study_lines(name: str) -> Iterator[str]:
    """Yields lines on a study's conclusions with other transports."""
    document = read(name, "transports.json")
    if not document:
        yield f"Not recorded: `forebay transports {name} --out studies/{name}` does it."
        return
    yield from wrapped(
        f"`{document['command']}`, {document['replications']} runs of each grid point; "
        f"[every sentence and every number](../studies/{name}/transports.md)."
    )
    yield ""
    yield from (f"- **{each['title']}**: {each['about']}" for each in document["transports"])
    titles = {each["id"]: each["title"] for each in document["transports"]}
    if not document["statements"]:
        yield from number_lines(document, titles)
        return
    own, kept = surviving(document)
    yield from ["", "| of the sentences that hold with the TCP of its time | |", "|---|---|"]
    yield f"| all | {own} |"
    yield from (f"| hold with {title} | {count} |" for title, count in kept.items())
    yield from moved_lines(document, titles)


def number_lines(document: Document, titles: Mapping[str, str]) -> Iterator[str]:
    """How many numbers of a study without sentences move under each transport."""
    yield from ["", "| of its numbers, beyond their 95 % intervals | |", "|---|---|"]
    yield f"| all | {len(document['numbers'])} |"
    for name, title in titles.items():
        moved = [row["with"][name]["moved"] for row in document["numbers"] if name in row["with"]]
        yield f"| move with {title} | {sum(moved)} |"


def moved_lines(document: Document, titles: Mapping[str, str]) -> Iterator[str]:
    """The sentences that another transport overturns, and those that it makes true."""
    heads = {"holds": "No longer so", "fails": "So only with another transport"}
    for grade, head in heads.items():
        other = "fails" if grade == "holds" else "holds"
        rows = []
        for row in document["statements"]:
            found = [title for name, title in titles.items() if row["grades"].get(name) == other]
            if row["grades"].get(OWN) == grade and found:
                with_whom = ", ".join(found)
                why = f" {row['why']}" if row["why"] else ""
                rows.append(f'- {with_whom}: "{row["text"]}" ({row["place"]}).{why}')
        if rows:
            yield from ["", f"{head}:", "", *rows]


def ring_lines() -> Iterator[str]:
    """The ring of the slides with TCP at F: what each law leaves it, sender by sender."""
    block = next(
        each for each in read("rpr", "result.json")["comparisons"] if each["id"] == "media"
    )
    yield from wrapped(RING)
    titles = {design["id"]: design["title"] for design in block["designs"]}
    for quantity, what in RING_SHOWN.items():
        yield from ["", f"| {what} | {' | '.join(titles.values())} |"]
        yield f"|---|{'--:|' * len(titles)}"
        for case in dict.fromkeys(row["case"] for row in block["rows"]):
            rows = [r for r in block["rows"] if r["case"] == case and r["quantity"] == quantity]
            means = {row["design"]: row["mean"] for row in rows}
            cells = " | ".join(f"{100 * means[name]:.1f} %" for name in titles)
            sender = SENDERS[rows[0]["point"]["control"]]
            label = case if sender in case else f"{case}, {sender} at F"
            yield f"| {label} | {cells} |"
    yield ""
    yield from wrapped(ring_verdict(block["rows"]))


def ring_verdict(rows: list[Document]) -> str:
    """Counts the verdicts on whether what a law does to F's TCP is the same with every sender."""
    told = []
    for design in dict.fromkeys(row["design"] for row in rows if row["verdict"] is not None):
        found = Counter(
            row["verdict"]
            for row in rows
            if (row["design"], row["quantity"]) == (design, "f_goodput_ratio")
            and row["point"]["elastic"] == "bursts"
        )
        counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(found.items()))
        told.append(f"`{design}` {counted}")
    return (
        "Against SRP-fa, the goodput of F beside bursts with the three senders: "
        f"{'; '.join(told)}. `open` where the paired 95 % interval holds 0."
    )


def read(study: str, name: str) -> Any:
    """A record of a study; empty if it has none."""
    path = ROOT / "studies" / study / name
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


HEAD = [
    "# Which conclusions hold with the TCP of today?",
    "",
    "<!-- made by `make docs` of the studies' records; do not edit -->",
    "",
    *wrapped(
        "The documents of the studies are of 1999 to 2020, and their senders are those of their "
        "time. Here the same networks carry CUBIC, BBR and, where packets are marked, Prague. "
        "Every grid point is run with the study's own transport and with the others, on the same "
        "random numbers, and the study's own predicates say whether a sentence of the paper holds."
    ),
]

RING = (
    "The slides have no TCP: their sources send at constant rates or in bursts, and so do the "
    "study's claims. The study's comparison `media` asks what becomes of \"other traffic patterns "
    'including TCP and multimedia": bulk transfers enter at F, and at D there are more of them, '
    "video, or the bursts of scenario 1. It is recorded with the study."
)
RING_SHOWN = {
    "f_goodput_ratio": "goodput of F, of the line",
    "utilization_ratio": "utilisation of the link to the hub",
}

TAIL = [
    "",
    "## pcn and atm",
    "",
    *wrapped(
        "Neither has TCP. The flows of `pcn` are voice and video without a transport that answers "
        "loss or marks: the network admits and ends them. Those of `atm` are voice, video and "
        "files on a rate that the network sets. No transport of 2026 changes a run of them."
    ),
]


def main() -> None:
    """Write both."""
    page = ROOT / "README.md"
    page.write_text(readme(page.read_text(encoding="utf-8")), encoding="utf-8")
    (ROOT / "docs" / "transports.md").write_text(transports(), encoding="utf-8")


if __name__ == "__main__":
    main()
