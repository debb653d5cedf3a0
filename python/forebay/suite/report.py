"""What a report must say of each law: what the registry knows of it, and what is for its author.

A suite asks (`[[report]]` in its file), section by section of its document. Where it names a fact,
the answer is that of the registry and of the command; where it names none, or there is no answer,
a line stays open and says so. Nothing is inferred from the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forebay.scenario.catalogue import Field
from forebay.suite.definition import SuiteFile
from forebay.suite.laws import ECN, Law

__all__ = ["OPEN", "asked_table", "report_of"]

OPEN = "not in the registry; for the author"
"""The answer where there is none."""

_TIME = "duration"
"""First word of the kind of a parameter that is a time."""


def report_of(suite: SuiteFile, laws: Sequence[Law]) -> list[dict[str, Any]]:
    """A row for each thing that the suite asks: `section`, `asked` and `answers`, a text for each
    law, empty where it is for the author."""
    facts = [_facts(suite, law) for law in laws]
    return [
        {
            "section": row.section,
            "asked": row.asked,
            "answers": [of[row.says] if row.says else "" for of in facts],
        }
        for row in suite.report
    ]


def asked_table(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The report of a document: heads, with a column for each law, and rows."""
    labels = [
        column["label"] + (" (baseline)" if column["baseline"] else "")
        for column in document["columns"]
    ]
    rows = [
        [
            row["asked"] + (f" ({row['section']})" if row["section"] else ""),
            *(answer or OPEN for answer in row["answers"]),
        ]
        for row in document["report"]
    ]
    return ["asked (section)", *labels], rows


def _facts(suite: SuiteFile, law: Law) -> dict[str, str]:
    """What is known of a law, by the words of `Asked.says`; empty where nothing is."""
    page = law.page
    set_by_suite = {
        name: value
        for name, value in {**suite.fills, ECN: "true in cells with ECN, else false"}.items()
        if name in law.fields and name not in law.given
    }
    fixed = [
        each
        for each in page.fields
        if each.default is not None and each.name not in {*law.given, *set_by_suite}
    ]
    return {
        "summary": page.summary,
        "source": page.source,
        "given": _settings({name: str(value) for name, value in law.given.items()}) or "none",
        "filled": _settings(set_by_suite) or "none",
        "fixed": _settings({each.name: each.default_text for each in fixed}) or "none",
        "marking": next((_said(each) for each in page.fields if each.name == ECN), ""),
        "times": ", ".join(e.name for e in page.fields if e.kind.startswith(_TIME)) or "none",
        "state": "; ".join(f"{e.name}: {e.meaning.rstrip('.')}" for e in page.probes) or "none",
    }


def _settings(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _said(parameter: Field) -> str:
    return f"{parameter.name} = true: {parameter.meaning}"
