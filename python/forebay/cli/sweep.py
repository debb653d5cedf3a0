"""The command `sweep`: a scenario over a grid of parameters, run, written down and printed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forebay import text
from forebay.cli.terminal import console, plain_markup, print_json, table
from forebay.errors import output_folder
from forebay.report.run_pages import sweep_report
from forebay.run.columns import unit_of
from forebay.run.executors import executor as find_executor
from forebay.run.interrupts import terminated_like_interrupted
from forebay.run.store import Journal
from forebay.run.sweep import Sweep, check_all, load_sweep, run_missing, write_summary

__all__ = ["run_sweep"]


def run_sweep(
    sweep_file: Path,
    jobs: int | None,
    executor: str,
    out: Path | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Run a sweep, keep every run as it finishes, and print means with intervals.

    Raises `UserError` for a wrong sweep or scenario, `KeyboardInterrupt` on Ctrl-C or
    SIGTERM.
    """
    sweep = load_sweep(sweep_file)
    hashes = check_all(sweep)
    where = find_executor(executor, jobs)
    folder = output_folder(out or Path("out") / sweep.path.stem)
    with terminated_like_interrupted(), Journal(folder / "runs.jsonl", resume) as journal:
        try:
            run_missing(sweep, hashes, journal, where)
        finally:
            document = write_summary(sweep, hashes, journal, folder)
    page = sweep_report(folder)
    if as_json:
        print_json(document)
        return
    _show(sweep, document, page)


def _show(sweep: Sweep, document: Mapping[str, Any], page: Path) -> None:
    screen = console()
    for quantity in sweep.quantities:
        names, unit = [name.rsplit(".", 1)[-1] for name in sweep.grid], unit_of(quantity)
        grown = table(quantity, *names, "mean", "± 95 %", "runs", left=len(names))
        for row in document["summary"]:
            if row["quantity"] == quantity:
                half = None if row["low"] is None else (row["high"] - row["low"]) / 2
                grown.add_row(
                    *(plain_markup(str(row[name])) for name in sweep.grid),
                    text.quantity(row["mean"], unit),
                    text.quantity(half, unit),
                    str(row["replications"]),
                )
        screen.print(grown)
        screen.print()
    screen.print(f"{document['runs']} runs; report: {page}", soft_wrap=True)
