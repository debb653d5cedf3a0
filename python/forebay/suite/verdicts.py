"""Verdicts of a suite: which cases each law passes, as a matrix, and what broke the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["counted_verdicts", "matrix", "told_tables"]

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


def told_tables(
    document: Mapping[str, Any],
) -> tuple[list[str], list[list[str]], list[list[str]]]:
    """Heads, rows of what broke the cases that fail, and rows of what decides the others."""
    told = [
        [each["cell"], each["column"], each["verdict"], _runs(each["runs"]), each["told"]]
        for each in document["verdicts"]
    ]
    broken = [row for row in told if row[2] == "fail"]
    others = [row for row in told if row[2] != "fail"]
    return ["cell", "law", "it is", "runs", "what decides"], broken, others


def counted_verdicts(document: Mapping[str, Any]) -> str:
    """A sentence with the number of verdicts of each kind, by law."""
    verdicts = document["verdicts"]
    words = []
    for column in dict.fromkeys(each["column"] for each in verdicts):
        of = [each["verdict"] for each in verdicts if each["column"] == column]
        counts = ", ".join(f"{of.count(kind)} {kind}" for kind in SHOWN if kind in of)
        words.append(f"{column}: {counts}")
    return f"{'; '.join(words)}. What fails for a baseline is shown, and decides nothing."


def _runs(runs: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in runs.items()) or "-"
