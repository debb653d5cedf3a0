"""Verdicts of a suite: which cases each law passes, as a matrix, and what broke the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forebay import text
from forebay.pages.sections import Section, Table

__all__ = ["matrix", "verdict_sections", "written_matrix"]

SHOWN = {"pass": "pass", "fail": "FAIL", "not applicable": "n/a"}


def matrix(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows: a row for each case, a column for each law and point of the grid."""
    verdicts = document["verdicts"]
    columns = list(dict.fromkeys((each["point"], each["column"]) for each in verdicts))
    sections = {each["case"]: each["section"] for each in verdicts}
    found = {(each["case"], each["point"], each["column"]): each["verdict"] for each in verdicts}
    heads = ["section", "case", *(" ".join(filter(None, column)) for column in columns)]
    rows = [
        [section, case, *(SHOWN.get(found.get((case, *column), ""), "-") for column in columns)]
        for case, section in sections.items()
    ]
    return heads, rows


def verdict_sections(document: Mapping[str, Any]) -> list[Section]:
    """The part of a page with the matrix, what broke cases, and what was not simulated; none for a
    suite without verdicts, but for the last."""
    if not document["verdicts"]:
        return [Section("Not simulated", listed=_omitted(document))] if document["omitted"] else []
    told = [
        [each["cell"], each["column"], each["verdict"], _runs(each["runs"]), each["told"]]
        for each in document["verdicts"]
    ]
    tables = [
        Table(*matrix(document), words=True),
        Table(
            ["cell", "law", "it is", "runs", "what decides"],
            [row for row in told if row[2] == "fail"],
            caption="What broke the cases that fail",
            words=True,
        ),
        Table(
            ["cell", "law", "it is", "runs", "what decides"],
            [row for row in told if row[2] != "fail"],
            caption="What decides the others",
            folded=True,
            words=True,
        ),
    ]
    section = Section("Cases", _sentence(document), tables=[each for each in tables if each.rows])
    section.listed = _omitted(document)
    return [section]


def _omitted(document: Mapping[str, Any]) -> list[str]:
    return [
        f"{each['case']} (section {each['section']}): not simulated: {each['reason']}"
        for each in document["omitted"]
    ]


def written_matrix(document: Mapping[str, Any]) -> str:
    """The matrix, what broke cases, and what was not simulated, as Markdown; empty without any."""
    if not document["verdicts"]:
        lines = [f"- {told}" for told in _omitted(document)]
        return "\n".join([*lines, "", ""]) if lines else ""
    heads, rows = matrix(document)
    lines = [f"**Cases.** {_sentence(document)}", ""]
    lines += [f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows)]
    lines.append("")
    for each in document["verdicts"]:
        if each["verdict"] != "pass":
            shown = f"{each['cell']}, {each['column']}: {each['verdict']}: {each['told']}"
            lines.append(f"- {shown}")
    for each in document["omitted"]:
        lines.append(f"- {each['case']}: not simulated: {each['reason']}")
    return "\n".join([*lines, "", ""])


def _sentence(document: Mapping[str, Any]) -> str:
    verdicts = document["verdicts"]
    words = []
    for column in dict.fromkeys(each["column"] for each in verdicts):
        of = [each["verdict"] for each in verdicts if each["column"] == column]
        counts = ", ".join(f"{of.count(kind)} {kind}" for kind in SHOWN if kind in of)
        words.append(f"{column}: {counts}")
    omitted = len(document["omitted"])
    more = f" {text.counted(omitted, 'case')} not simulated." if omitted else ""
    return f"{'; '.join(words)}.{more}"


def _runs(runs: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in runs.items()) or "-"
