"""The command `find`: the largest or smallest value of a parameter at which a condition holds."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from forebay import text
from forebay.cli.stored import ADVICE, StoredOptions, folder_of, say_what_is_there, words_of
from forebay.cli.terminal import console, plain_markup, print_json, table
from forebay.errors import output_folder
from forebay.pages.page import REPORT, refuse_foreign_report
from forebay.report.find_pages import find_report, grids_of, said_of
from forebay.run.executors import executor as find_executor
from forebay.run.find import FOUND, find, load_find
from forebay.run.interrupts import how_to_continue, terminated_like_interrupted
from forebay.run.journal import Journal
from forebay.run.store import refuse_foreign

__all__ = ["run_find"]


def run_find(file: Path, options: StoredOptions) -> int:
    """Search, making the runs that the folder does not hold yet, and print what was found; the exit
    status.

    It is 1 if the condition was found to hold nowhere. Raises `UserError` for a wrong file or
    scenario, or a folder that cannot be used, and `KeyboardInterrupt` on Ctrl-C or SIGTERM.
    """
    asked = load_find(file, options.overrides, options.until, options.seed)
    scenario = asked.sweep.scenario.but(**options.limits)
    asked = replace(asked, sweep=replace(asked.sweep, scenario=scenario))
    where = find_executor(options.executor, options.jobs)
    folder = output_folder(folder_of(file, options))
    refuse_foreign(folder, [FOUND])
    refuse_foreign_report(folder, "--out")
    with closing(where), terminated_like_interrupted(), Journal(folder, ADVICE) as journal:
        say_what_is_there(journal, folder)
        try:
            document = find(asked, journal, where, folder, options.retry)
        except KeyboardInterrupt:
            words = words_of("find", file, asked.sweep.settings, options)
            raise KeyboardInterrupt(how_to_continue(folder, words)) from None
        find_report(folder)
    if options.as_json:
        print_json(document)
    else:
        _show(document, folder / REPORT)
    return 1 if document["status"] == "none" else 0


def _show(document: Mapping[str, Any], page: Path) -> None:
    screen = console()
    for grid in grids_of(document):
        screen.print(f"[bold]{plain_markup(grid.title)}[/]", soft_wrap=True)
        grown = table("", *map(plain_markup, grid.heads))
        for row in grid.rows:
            grown.add_row(*map(plain_markup, row))
        screen.print(grown)
        screen.print()
    rows = [row for point in document["points"] for row in point["comparisons"]]
    for sentence in [*text.notes(rows), *said_of(document)]:
        screen.print(plain_markup(sentence), soft_wrap=True)
    runs = sum(point["replications"] for point in document["points"])
    screen.print(plain_markup(f"{text.counted(runs, 'run')}; report: {page}"), soft_wrap=True)
