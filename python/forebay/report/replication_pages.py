"""The page of replications of a run: every table and drawing of a run, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from forebay import text
from forebay.drawing import Figure
from forebay.pages.scenario import scenario_section
from forebay.pages.sections import MARKS, Section, Table, warned, write_page
from forebay.report.row_figures import means, precedences, purposes
from forebay.report.run_pages import LINKS, capital, most_of, network_section, table_of
from forebay.run.columns import shown_kinds
from forebay.run.documents import read_document
from forebay.run.expressions import Expression, read
from forebay.run.quantities import lacking_words
from forebay.run.replicated import DOCUMENT, Replicated
from forebay.run.resolved import SHAPE
from forebay.run.shown import shown_tables

__all__ = ["INTERVALS", "replication_report"]

_INTERVAL = {
    **dict.fromkeys(("mean", "low", "high"), (float, None)),
    **dict.fromkeys(("place", "name", "quantity", "note"), str),
}
INTERVALS = {"intervals": [_INTERVAL]}
"""Shape of the part of `replications.json` that tables for papers are made of."""
REPLICATIONS = {
    **MARKS,
    **INTERVALS,
    "scenario_hash": str,
    "seed": int,
    "simulated_s": float,
    "warnings?": [str],
    "scenario?": SHAPE,
    "replications": [{"replication": int, "digest": str, "events": int, "packet_hops": int}],
    "groups?": [{"name": str, "flows": int, "tags?": [str]}],
    "entries?": [{**_INTERVAL, "entry": (int, None)}],
    "derived?": {
        "*": {
            **dict.fromkeys(("mean", "low", "high"), (float, None)),
            **{"expression": str, "replications": int, "note": str, "reason?": str},
        }
    },
    "failed?": str,
}
"""Shape of the part of it that the page shows."""

INSTEAD = ("flows", "hosts")
"""Kinds of rows that have no table: flows are summed over their groups, which have."""
RATES = ("throughput_bps", "goodput_bps")
DELAYS = ("p50_delay_s", "p95_delay_s", "p99_delay_s")


def replication_report(folder: Path) -> Path:
    """The page of what `forebay run --replications --out` wrote; its path. Raises `UserError` if it
    is damaged."""
    document = read_document(folder / DOCUMENT, REPLICATIONS)
    number = len(document["replications"])
    replicated = Replicated(document)
    tables = _Tables(replicated)
    sections = warned(document.get("warnings", []))
    if "failed" in document:
        sections.append(Section("Failed runs", document["failed"]))
    sections += network_section(folder, document, replicated.document.get("links", []))
    sections += [scenario_section(document["scenario"])] if "scenario" in document else []
    derived, lacking = _derived(document)
    main, *further = tables.of("groups")
    said = (
        f"Means over {text.counted(number, 'replication')} with 95 % intervals. A value without "
        "one is the same in all of them, and - stands for none or too few samples."
    )
    sections.append(
        Section(
            "What matters",
            said,
            figures=_figures(replicated),
            tables=[*derived, *further],
            listed=lacking,
        )
    )
    others = [kind for kind in shown_kinds() if kind not in (*INSTEAD, "groups", *LINKS)]
    flows = [table for kind in others for table in tables.of(kind)]
    sections.append(Section("Flows", tables=[main, *flows]))
    links = [table for kind in LINKS for table in tables.of(kind)]
    sections.append(Section("Links", tables=links))
    notes = text.notes([*replicated.noted(), *document.get("derived", {}).values()])
    runs = [[str(row["replication"]), row["digest"], text.count(row["events"]),
             text.count(row["packet_hops"])] for row in document["replications"]]  # fmt: skip
    heads = ["replication", "digest", "events", "packet hops"]
    each = Table(heads, runs, "Each replication", folded=True)
    sections.append(Section("Replications", listed=notes, tables=[each]))
    keys = ("version", "build", "scenario_hash", "seed", "simulated_s")
    return write_page(folder, document, sections, keys)


def _figures(replicated: Replicated) -> list[Figure]:
    """What the run was for, and rates, delays and losses of all groups."""
    rows = {kind: replicated.drawn(kind) for kind in replicated.document}
    groups, ends = rows.get("groups", []), {kind: replicated.ends(kind) for kind in rows}
    own = ends.get("groups", {})
    drawn = [
        *purposes({"groups": groups, **rows}, ends),
        means("groups", RATES, groups, groups, own),
        means("groups", DELAYS, groups, groups, own),
        precedences(replicated.document.get("links", [])),
    ]
    return [figure for figure in drawn if figure is not None]


def _derived(document: Mapping[str, Any]) -> tuple[list[Table], list[str]]:
    """The table of expressions that were asked for, and why some have no value."""
    rows, told = [], []
    known: dict[str, Expression] = {}
    for name, row in document.get("derived", {}).items():
        # Each may name those before it.
        quantity = read(row["expression"], f"{DOCUMENT}: derived", known).called(name)
        known[name] = quantity
        unit = quantity.unit_of([row["mean"]])
        rows.append([quantity.title, text.quantity(row["mean"], unit), text.spread(row, unit)])
        told.append({"quantity": name, **row})
    tables = [Table(["quantity", "mean", "± 95 %"], rows, "Quantities asked for")] if rows else []
    return tables, lacking_words(told, [])


class _Tables:
    """The tables of a run, with means and intervals in them."""

    def __init__(self, replicated: Replicated) -> None:
        self._replicated = replicated
        self._most = most_of(replicated.document, "intervals.csv has all")

    def of(self, kind: str) -> list[Table]:
        """The tables of a kind of rows."""
        return list(self._made(kind))

    def _made(self, kind: str) -> Iterator[Table]:
        rows = self._replicated.document.get(kind, [])
        found = shown_tables(
            kind, rows, wide=True, most=self._most, told=self._replicated.told(kind)
        )
        for number, (title, heads, cells) in enumerate(found):
            yield table_of(kind, number, heads, cells, capital(title), self._most)
