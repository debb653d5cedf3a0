"""The command `run --replications N`: several runs of a scenario file, as means with intervals."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay import text
from forebay.cli.run import Show, announce, begin_files, files_for, read_quantities
from forebay.cli.terminal import MOST, console, plain_markup, print_json, table
from forebay.errors import LawError
from forebay.run.columns import columns, kinds, unit_in
from forebay.run.jobs import load
from forebay.run.laws import law_sentence
from forebay.run.quantities import lacking_words
from forebay.run.repeat import command_line, quoted
from forebay.run.replicated import DOCUMENT, Replicated
from forebay.run.resolved import resolved_scenario
from forebay.run.results import Results, run_replications
from forebay.run.shown import COLOUR_WORDS
from forebay.run.store import columns_of, json_rows, write_tables, write_text
from forebay.run.tables import result_tables
from forebay.samples import FEW_SAMPLES, SAMPLES, samples_needed
from forebay.units import of_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from forebay.run.expressions import Expression

__all__ = ["replicate_scenario"]

TABLE = "intervals.csv"


def replicate_scenario(
    scenario: Path | str,
    options: Mapping[str, Any],
    replications: int,
    threads: int | None,
    out: Path | None,
    show: Show,
) -> None:
    """Run a scenario file so many times, print and, with `out`, keep means and intervals.

    `options` are fields of `forebay.run.jobs.Job`; replications are numbered from that one on.
    Raises `UserError` for a wrong scenario or an `out` that cannot be written, and
    `KeyboardInterrupt` if Ctrl-C ended the runs, or `LawError` if a law of one's own ended some;
    what had finished is shown.
    """
    job = load(scenario).but(**options)
    names = files_for(out, job, [DOCUMENT, TABLE]) if out is not None else []
    quantities = read_quantities(show.quantities, job)
    job = job.but(record=any(quantity.needs_series for quantity in quantities))
    first = job.replication
    label = os.path.basename(scenario)
    numbers = range(first, first + replications)
    command = command_line(job.name, job)
    ended: LawError | None = None
    try:
        results = run_replications(job.but(command=command), label, numbers, threads, announce)
    except LawError as error:
        if error.finished is None:
            raise
        results, ended = error.finished, error
    more = quoted(["--replications", str(replications), *show.words])
    document = _document(results, f"{command} {more}")
    if quantities:
        document["derived"] = {
            quantity.name: {"expression": quantity.text, "unit": quantity.unit.symbol}
            | {key: value for key, value in results.row_of(quantity).items() if key != "quantity"}
            for quantity in quantities
        }
    if ended is not None:
        document["failed"] = str(ended)
    if out is not None:
        # What stands in the folder must tell what was run, wherever the files it read are then.
        document["scenario"] = resolved_scenario(job)
        begin_files(out, names, job)
        write_text(out / DOCUMENT, json_rows(document) + "\n")
        write_text(out / TABLE, _csv(document["intervals"]))
        write_tables(out, {}, _tables(results) if show.formats else {}, show.formats)
    if show.as_json:
        print_json(document)
    else:
        _show(document, quantities, out)
    if ended is not None:
        raise ended
    if results.interrupted:
        raise KeyboardInterrupt


def _document(results: Results, command: str) -> dict[str, Any]:
    first = results.documents[0]
    same = ("name", "scenario_hash", "version", "build", "seed", "simulated_s")
    return {
        **{name: first[name] for name in same},
        "command": command,
        "interrupted": results.interrupted,
        **({"laws": first["laws"]} if first.get("laws") else {}),
        **({"warnings": results.warnings} if results.warnings else {}),
        "replications": [
            {name: document[name] for name in ("replication", "digest", "events", "packet_hops")}
            for document in results.documents
        ],
        "groups": [
            {name: group[name] for name in ("name", "flows", "tags") if name in group}
            for group in first["groups"]
        ],
        "intervals": results.intervals(),
        "entries": results.entries(),
    }


def _tables(results: Results) -> dict[str, Any]:
    runs = [({"replication": found["replication"]}, found) for found in results.documents]
    return result_tables(runs) | {"intervals": columns_of(results.intervals())}


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else ["place"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _show(document: Mapping[str, Any], quantities: Sequence[Expression], out: Path | None) -> None:
    """Prints a summary of each kind of rows: mean, and half-width of the interval."""
    screen = console()
    number = len(document["replications"])
    screen.print(
        f"[bold]{plain_markup(document['name'])}[/]: {number} replications of "
        f"{document['simulated_s']:g} s, seed {document['seed']}, scenario "
        f"{document['scenario_hash']}, version {document['version']}"
    )
    for law in document.get("laws", ()):
        screen.print(f"law: {plain_markup(law_sentence(law))}")
    told = []
    for kind in kinds():
        shown = [row for row in document["intervals"] if row["place"] == kind and _is_shown(row)]
        if not shown:
            continue
        told += shown
        names = list(dict.fromkeys(row["name"] for row in shown))
        title = kind
        if len(names) > MOST.rows:
            left = len(names) - MOST.first
            title = f"{kind}: the first {MOST.first}; {left} more: {MOST.where}"
            shown = [row for row in shown if row["name"] in names[: MOST.first]]
        grown = table(title, "name", "quantity", "mean", "± 95 %", left=2)
        above = ""
        for row in shown:
            unit = unit_in(kind, row["quantity"])
            name = "" if row["name"] == above else row["name"]
            above = row["name"]
            mean = text.quantity(row["mean"], unit)
            grown.add_row(*map(plain_markup, (name, row["quantity"])), mean, text.spread(row, unit))
        screen.print(grown)
    told += _show_precedences(screen, document)
    if quantities:
        told += _show_derived(screen, document["derived"], quantities)
    for sentence in text.notes(told):
        screen.print(sentence)
    for sentence in lacking_words(told, []):
        screen.print(plain_markup(sentence), soft_wrap=True)
    screen.print(f"again: {plain_markup(document['command'])}", soft_wrap=True)
    if out is not None:
        screen.print(f"results: {out / DOCUMENT}, {out / TABLE}", soft_wrap=True)
        page = f"a page of them: forebay report {quoted([str(out)])}"
        screen.print(plain_markup(page), soft_wrap=True)


def _show_precedences(screen: Console, document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Prints what links did with packets of each precedence, where several came; its rows."""
    found = Replicated(document).precedences()
    if not found:
        return []
    grown = table(
        f"links by precedence ({COLOUR_WORDS})", "name", "quantity", "mean", "± 95 %", left=2
    )
    above = ""
    for name, column, row in found[: MOST.rows]:
        unit = of_name(column)
        words = (plain_markup("" if name == above else name), column)
        grown.add_row(*words, text.quantity(row["mean"], unit), text.spread(row, unit))
        above = name
    screen.print(grown)
    if len(found) > MOST.rows:
        screen.print(f"{len(found) - MOST.rows} more rows: {MOST.where}")
    return [row for _, _, row in found]


TRAFFIC = {"classes": ("arrived_packets", "departed_packets", "drops")}
"""Counts that matter beside what the engine calls so: what became of a class."""


def _is_shown(row: Mapping[str, Any]) -> bool:
    """Returns true if a quantity is of those that matter, or the 99th percentile beside them where
    samples suffice for it."""
    column = columns(row["place"])[row["quantity"]]
    is_tail = bool(column.head) and samples_needed(column.name) == SAMPLES["99"]
    matters = column.headline or column.name in TRAFFIC.get(row["place"], ())
    return matters or (is_tail and row["note"] != FEW_SAMPLES)


def _show_derived(
    screen: Console, derived: Mapping[str, Mapping[str, Any]], quantities: Sequence[Expression]
) -> list[dict[str, Any]]:
    """Prints the intervals of expressions; their rows."""
    grown = table("quantities", "", "mean", "± 95 %")
    rows = []
    for quantity in quantities:
        row = derived[quantity.name]
        unit = quantity.unit_of([row["mean"]])
        mean = text.quantity(row["mean"], unit)
        grown.add_row(plain_markup(quantity.title), mean, text.spread(row, unit))
        rows.append({"quantity": quantity.name, **row})
    screen.print(grown)
    return rows
