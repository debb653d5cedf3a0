"""The command `sweep`: a scenario with other values of its parameters, run, written and printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from forebay import text
from forebay.cli.stored import ADVICE, StoredOptions, folder_of, say_what_is_there, words_of
from forebay.cli.terminal import console, plain_markup, print_json, table
from forebay.errors import output_folder
from forebay.extras import is_installed
from forebay.pages.page import REPORT, refuse_foreign_report
from forebay.pages.publish import publish
from forebay.pages.sweep import warning_words
from forebay.paths import joined, names_of
from forebay.run.executors import executor as find_executor
from forebay.run.interrupts import how_to_continue, terminated_like_interrupted
from forebay.run.journal import Journal
from forebay.run.progress import say, say_warnings
from forebay.run.quantities import lacking_words
from forebay.run.store import refuse_foreign
from forebay.run.summary import files, write_all_tables, write_summary
from forebay.run.sweep import Sweep, failures, load_sweep, plan, run_missing, warnings

__all__ = ["run_sweep"]


def run_sweep(sweep_file: Path, options: StoredOptions) -> int:
    """Run what a sweep's folder does not hold yet, and print means with intervals; the exit status.

    It is 1 if a run gave no result. Raises `UserError` for a wrong sweep or scenario, or a folder
    that cannot be used, and `KeyboardInterrupt` on Ctrl-C or SIGTERM.
    """
    sweep = load_sweep(sweep_file, options.overrides, options.until, options.seed)
    sweep = replace(sweep, scenario=sweep.scenario.but(**options.limits))
    if options.check:
        # Runs that the folder holds are not made, and so not checked, again.
        sweep = replace(sweep, scenario=sweep.scenario.but(check=True))
    planned = plan(sweep)
    say_warnings(map(warning_words, warnings(planned)))
    where = find_executor(options.executor, options.jobs)
    folder = output_folder(folder_of(sweep.path, options))
    refuse_foreign(folder, files(options.formats))
    refuse_foreign_report(folder, "--out")
    with closing(where), terminated_like_interrupted(), Journal(folder, ADVICE) as journal:
        say_what_is_there(journal, folder)
        if options.retry:
            for _, failure in failures(sweep, planned, journal):
                journal.forget_failure(failure.key)
        try:
            run_missing(sweep, planned, journal, where)
        except KeyboardInterrupt:
            write_summary(sweep, planned, journal, folder)
            words = words_of("sweep", sweep.path, sweep.settings, options)
            raise KeyboardInterrupt(how_to_continue(folder, words)) from None
        document = publish(sweep, planned, journal, folder)
        write_all_tables(sweep, planned, journal, folder, options.formats)
    page = folder / REPORT
    if options.as_json:
        print_json(document)
    else:
        _show(sweep, document, page)
    return _say_what_failed(document)


def _heads(paths: Sequence[str]) -> list[str]:
    """Heads of columns: as many last keys of each path as it takes to tell them apart."""
    return [_head(names_of(path), [other for other in paths if other != path]) for path in paths]


def _head(keys: Sequence[str], others: Sequence[str]) -> str:
    ends = [joined(keys[at:]) for at in reversed(range(len(keys)))]
    alike = (end for end in ends if not any(f".{other}".endswith(f".{end}") for other in others))
    return next(alike, ends[-1])


def _say_what_failed(document: Mapping[str, Any]) -> int:
    """Name every run without a result and how to repeat it; the exit status."""
    for row in document["failed"]:
        say(f"forebay: run failed: {row['reason']}; repeat it: {row['command']}")
    if document["failed"]:
        say("forebay: failed runs are not made again by themselves; --retry makes them")
    return 1 if document["failed"] else 0


def _show(sweep: Sweep, document: Mapping[str, Any], page: Path) -> None:
    screen = console()
    for quantity in sweep.quantities:
        rows = [row for row in document["summary"] if row["quantity"] == quantity.name]
        names, unit = _heads(list(sweep.grid)), quantity.unit_of(row["mean"] for row in rows)
        # As wide as the terminal, not as the table: an expression may be long.
        screen.print(f"[bold]{plain_markup(quantity.title)}[/]", soft_wrap=True)
        grown = table(
            "",
            *map(plain_markup, names),
            "mean",
            "± 95 %",
            "runs",
            left=len(names),
        )
        for row in rows:
            grown.add_row(
                *(plain_markup(str(row[name])) for name in sweep.grid),
                text.quantity(row["mean"], unit),
                text.spread(row, unit),
                str(row["replications"]),
            )
        screen.print(grown)
        screen.print()
    for sentence in text.notes(document["summary"]):
        screen.print(sentence)
    for sentence in lacking_words(document["summary"], list(sweep.grid)):
        screen.print(plain_markup(sentence), soft_wrap=True)
    plots = "" if is_installed("matplotlib") else " (plots need pip install 'forebay[plots]')"
    told = f"{text.counted(document['runs'], 'run')}; report: {page}{plots}"
    screen.print(plain_markup(told), soft_wrap=True)
