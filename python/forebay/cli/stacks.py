"""The command `stacks`: a table of protocol stacks on networks, run, compared and printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay import text
from forebay.cli.stored import ADVICE, StoredOptions, folder_of, say_what_is_there
from forebay.cli.suite import show_changes
from forebay.cli.terminal import console, plain_markup, print_json
from forebay.cli.terminal import table as terminal_table
from forebay.errors import UserError, output_folder, unwritable
from forebay.native import program as own_words
from forebay.run.executors import executor as find_executor
from forebay.run.interrupts import how_to_continue, terminated_like_interrupted
from forebay.run.jobs import cores
from forebay.run.journal import Journal
from forebay.run.laws import law_words
from forebay.run.pool import Pool
from forebay.run.progress import say
from forebay.run.repeat import quoted
from forebay.run.store import json_rows, refuse_foreign, take_over, write_text
from forebay.run.sweep import run_all
from forebay.stacks import python_stacks
from forebay.stacks.columns import Column, column_of, part_of
from forebay.stacks.definition import Table, load_table
from forebay.stacks.programs import HOW, Program, speech
from forebay.stacks.report import markdown, quantity_tables, sure
from forebay.stacks.results import JSON, baseline_of, document_of, settings_of
from forebay.suite.against import compared, read_earlier, worse
from forebay.suite.pilots import Part
from forebay.units import symbolised

__all__ = ["Request", "run_stacks"]

MARKDOWN = "table.md"


@dataclass(frozen=True, slots=True)
class Request:
    """What the options of the command ask for."""

    program: str | None = None
    networks: str | None = None
    replications: int | None = None
    quick: bool = False
    baseline: Path | None = None
    save_baseline: Path | None = None
    markdown: Path | None = None


def run_stacks(file: Path, request: Request, options: StoredOptions) -> int:
    """Run what the folder does not hold yet, write and print the table; the exit status.

    It is 1 if a run gave no result, or something became worse than in the baseline. Raises
    `UserError` for wrong input, a stack that there is not among it, before anything runs, and
    `KeyboardInterrupt` on Ctrl-C or SIGTERM.
    """
    table = load_table(file).asked(request.networks, request.replications, request.quick)
    program = _program(table, request.program)
    columns = [column_of(table, label, of, program) for label, of in table.stacks.items()]
    settings = settings_of(table, columns)
    cells = [(column, part_of(table, network, column))
             for network in table.networks for column in columns]  # fmt: skip
    parts = [part for _, part in cells]
    earlier = None
    if request.baseline is not None:
        seeds = sorted({entry.seed for _, planned in parts for entry in planned})
        earlier = read_earlier(request.baseline, table.name, seeds, "--baseline")
    folder = output_folder(folder_of(file, options))
    refuse_foreign(folder, [JSON, MARKDOWN])
    words = _words(file, request)
    with terminated_like_interrupted(), Journal(folder, ADVICE) as journal:
        say_what_is_there(journal, folder)
        try:
            _run(table, cells, program, journal, options.jobs)
        except KeyboardInterrupt:
            told = [*words, *(["--with", request.program] if request.program else [])]
            told += ["--out", str(options.out)] if options.out else []
            raise KeyboardInterrupt(how_to_continue(folder, told)) from None
        document = document_of(table, columns, settings, parts, journal, quoted(words))
    if earlier is not None:
        document["baseline"] = compared(document, earlier)
    take_over(folder, [JSON, MARKDOWN])
    write_text(folder / JSON, json_rows(document) + "\n")
    write_text(folder / MARKDOWN, markdown(document))
    if request.markdown is not None:
        _write(request.markdown, markdown(document), "--markdown")
    if request.save_baseline is not None and not document["failed"]:
        baseline = json_rows(baseline_of(document)) + "\n"
        _write(request.save_baseline, baseline, "--save-baseline")
    if options.as_json:
        print_json(document)
    else:
        _show(document, folder)
    return _status(document)


def _program(table: Table, words: str | None) -> Program | None:
    """The program of `--with`, if there is a stack of one. Raises `UserError` if it is missing."""
    first = next((label for label, stack in table.stacks.items() if stack.program), None)
    if first is None:
        if words is not None:
            raise UserError(f"--with: {table.path} has no stack of a program")
        return None
    if words is None:
        raise UserError(f'{table.path}: stacks."{first}".program: needs {HOW}')
    return Program(words)


def _run(
    table: Table,
    cells: Sequence[tuple[Column, Part]],
    program: Program | None,
    journal: Journal,
    jobs: int | None,
) -> None:
    """Make the runs that the journal lacks: of models, of the program, of stacks in Python."""
    names = {str(network.path): network.called for network in table.networks}
    paths = {str(network.path): str(network.path.resolve()) for network in table.networks}
    size = jobs or cores()
    for kind in ("model", "program", "python"):
        own = [(cell.sweep, planned) for column, (cell, planned) in cells if column.kind == kind]
        if not own:
            continue
        if kind == "model":
            where = find_executor("local", jobs)
        elif kind == "program":
            assert program is not None
            where = Pool(size, speech(program.command, names))
        else:
            where = Pool(size, speech(python_stacks.COMMAND, paths))
        with closing(where):
            run_all(own, f"{table.name}: {kind}", journal, where)


def _words(file: Path, request: Request) -> list[str]:
    """The command that gives the same numbers again, on a machine that has the program."""
    given = {"--networks": request.networks, "--replications": request.replications}
    words = [*own_words(), "stacks", str(file)]
    for option, value in given.items():
        words += [option, str(value)] if value is not None else []
    words += ["--quick"] if request.quick else []
    return [*words, *law_words()]


def _write(path: Path, content: str, option: str) -> None:
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise unwritable(f"{option}: {path} cannot be written", error) from None


def _show(document: Mapping[str, Any], folder: Path) -> None:
    screen = console()
    for table in quantity_tables(document):
        grown = terminal_table(plain_markup(table.title), *map(plain_markup, table.heads))
        grown.columns[0].no_wrap = True
        for row in table.cells:
            grown.add_row(*map(plain_markup, row))
        screen.print(grown)
        screen.print()
    if (against := document.get("against")) is not None:
        found = against["differences"]
        told = f"beside {against['stack']}, by replication: {len(sure(found))} of "
        told += f"{len(found)} quantities differ beyond chance"
        screen.print(plain_markup(told), soft_wrap=True)
    if (earlier := document.get("baseline")) is not None:
        show_changes(earlier, "stack")
    runs = document["runs"] - len(document["failed"])
    told = f"{text.counted(runs, 'run')}; what differs is in {folder / MARKDOWN}, and all "
    told += f"quantities in {folder / JSON}"
    screen.print(plain_markup(told), soft_wrap=True)


def _status(document: Mapping[str, Any]) -> int:
    """Name what went wrong; the exit status."""
    for row in document["failed"]:
        place = f"{row['cell']}, {row['column']}, replication {row['replication']}"
        say(f"forebay: run failed: {place}: {row['reason']}")
    changes = document.get("baseline", {}).get("changes", ())
    for each in changes:
        if each["is"] == "worse":
            unit = symbolised(each["unit"])
            before, now = text.quantity(each["before"], unit), text.quantity(each["now"], unit)
            place = f"{each['cell']}, {each['column']}, {each['words']}"
            say(f"forebay: worse than the baseline: {place}: {now}, it was {before}")
    return 1 if document["failed"] or worse(changes) else 0
