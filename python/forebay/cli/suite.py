"""The command `suite`: a published evaluation for laws under test, run, written and printed."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forebay import text
from forebay.cli.lab import page
from forebay.cli.stored import ADVICE, StoredOptions, folder_of, say_what_is_there
from forebay.cli.terminal import console, plain_markup, print_json, table
from forebay.errors import MachineError, UserError, output_folder
from forebay.native import program
from forebay.pages.page import REPORT, refuse_foreign_report
from forebay.run.executors import executor as find_executor
from forebay.run.expressions import read
from forebay.run.interrupts import how_to_continue, terminated_like_interrupted
from forebay.run.journal import Journal
from forebay.run.laws import law_words, limit_words
from forebay.run.progress import say, say_warnings
from forebay.run.repeat import quoted
from forebay.run.store import json_rows, refuse_foreign, take_over, write_text
from forebay.run.sweep import Planned, plan, run_all
from forebay.suite.against import compared, read_earlier, worse
from forebay.suite.cells import RATE, Asked, Cell, cells_of, screen_names
from forebay.suite.definition import SuiteFile, load_definition
from forebay.suite.folders import suite_folder, suite_folders
from forebay.suite.lab import LAB
from forebay.suite.laws import law_of
from forebay.suite.page import suite_page
from forebay.suite.pilots import Part, settled
from forebay.suite.results import JSON, cell_path, document_of
from forebay.suite.sensitivity import Screen, screens_of
from forebay.suite.tables import screening_tables, section_tables, written_tables
from forebay.suite.verdicts import matrix
from forebay.units import symbolised

__all__ = ["Request", "list_cells", "list_suites", "run_suite", "show_changes"]

OPTIONS = {"queue": "--queue", "control": "--control", "adaptation": "--media"}
"""The option that names laws of a category."""
TABLES = {"table.md": "markdown", "tables.tex": "latex"}


@dataclass(frozen=True, slots=True)
class Request:
    """What the options of the command ask for; `laws` are words by category."""

    laws: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rate: str | None = None
    cells: str | None = None
    replications: int | None = None
    quick: bool = False
    seed: int | None = None
    against: Path | None = None
    grid: bool = False


def list_suites(as_json: bool) -> None:
    """Print every suite: its name, and what it is of."""
    found = {name: load_definition(folder).suite for name, folder in suite_folders().items()}
    if as_json:
        rows = [
            {"id": name, "title": suite.title, "source": suite.source, "law": suite.law,
             "baseline": suite.baseline}
            for name, suite in found.items()
        ]  # fmt: skip
        print_json({"suites": rows})
        return
    screen = console()
    shown = table("", "suite", "law", "baseline", "what it is", left=4)
    for name, suite in found.items():
        words = (name, suite.law, ", ".join(suite.baseline), f"{suite.title}. {suite.source}")
        shown.add_row(*map(plain_markup, words))
    screen.print(shown)
    screen.print("\nits cells: forebay suite NAME --list; run it: forebay suite NAME --queue LAW")


def list_cells(name: str, request: Request, as_json: bool) -> None:
    """Print the cells of a suite that a request asks for. Raises `UserError`."""
    suite, folder = _suite(name)
    cells = cells_of(folder, suite, _asked(suite, request))
    rows = [
        {"name": cell.name, "section": cell.file.section, "weight": cell.file.weight,
         "title": cell.file.title, "quantities": [each.key for each in cell.measures]}
        for cell in cells
    ]  # fmt: skip
    if (of := suite.screening) is not None:
        facts = {"section": of.section, "weight": of.weight, "title": of.title}
        screens = fnmatch.filter(screen_names(suite), request.cells or "*")
        rows += [{"name": each, **facts, "quantities": of.metrics} for each in screens]
    omitted = [each.model_dump() for each in suite.omitted]
    if as_json:
        print_json({"suite": name, "cells": rows, "omitted": omitted})
        return
    shown = table(plain_markup(f"{suite.suite.title}. {suite.suite.source}"),
                  "cell", "section", "weight", "what it is", left=4)  # fmt: skip
    for row in rows:
        words = (row["name"], row["section"], row["weight"], row["title"])
        shown.add_row(*(plain_markup(str(word)) for word in words))
    screen = console()
    screen.print(shown)
    by_name = len(rows) - len(cells)
    alone = f", and {by_name} that run only by name" if by_name else ""
    screen.print(text.counted(len(cells), "cell") + alone)
    _show_omitted(omitted)


def run_suite(name: str, request: Request, options: StoredOptions) -> int:
    """Run what the folder does not hold yet, write tables and page, and print; the exit status.

    It is 1 if a run gave no result, a law under test fails a check or a case, or something became
    worse than in the result that `--against` names. Raises `UserError` for wrong input, and
    `KeyboardInterrupt` on Ctrl-C or SIGTERM.
    """
    suite, source = _suite(name)
    asked = _asked(suite, request)
    cells = cells_of(source, suite, asked)
    earlier = None
    if request.against is not None:
        earlier = read_earlier(request.against / JSON, name, [asked.seed])
    parts: list[Part] = [(cell, _planned(cell, asked)) for cell in cells]
    screens = [(each, _planned(each.cell, asked)) for each in screens_of(source, suite, asked)]
    if not parts and not screens:
        raise UserError("--cells: none of the laws has a parameter that could be varied")
    folder = output_folder(folder_of(Path(name), options))
    files = [JSON, *TABLES, LAB]
    refuse_foreign(folder, [*files, *_scenario_files(cells)])
    refuse_foreign_report(folder, "--out")
    words = _words(name, request, options)
    where = find_executor(options.executor, options.jobs)
    with closing(where), terminated_like_interrupted(), Journal(folder, ADVICE) as journal:
        say_what_is_there(journal, folder)
        try:
            parts = settled(parts, asked.laws, name, journal, where)
            made = [*parts, *((screen.cell, planned) for screen, planned in screens)]
            run_all([(cell.sweep, planned) for cell, planned in made], name, journal, where)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(how_to_continue(folder, words)) from None
        document = document_of(name, suite, asked, parts, journal, quoted(words), screens)
    if earlier is not None:
        document["against"] = compared(document, earlier)
    scenarios = _scenario_files([cell for cell, _ in parts])
    scenarios |= _failed_files(document, [each for each, _ in screens])
    take_over(folder, [*files, *scenarios])
    _write(folder, document, scenarios)
    if options.as_json:
        print_json(document)
    else:
        _show(document, folder)
    return _status(document)


def _write(folder: Path, document: Mapping[str, Any], scenarios: Mapping[str, str]) -> None:
    """Write what a suite gives: scenarios, tables, the lab if this installation has it, a page."""
    for path, scenario in scenarios.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(folder / path, scenario)
    write_text(folder / JSON, json_rows(document) + "\n")
    for path, style in TABLES.items():
        write_text(folder / path, written_tables(document, style))
    with suppress(MachineError):
        write_text(folder / LAB, page(None))
    suite_page(folder, document)


def _planned(cell: Cell, asked: Asked) -> list[Planned]:
    """The points of a cell; what is wrong in a file of parameters is said of that file."""
    try:
        return plan(cell.sweep)
    except UserError as error:
        complaints = (law.complaint(error.lines[0], cell.places) for law in asked.laws)
        raise UserError(next((told for told in complaints if told), str(error))) from None


def _suite(name: str) -> tuple[SuiteFile, Path]:
    folder = suite_folder(name)
    return load_definition(folder), folder


def _asked(suite: SuiteFile, request: Request) -> Asked:
    """The laws of a request, the baseline of the suite first. Raises `UserError`."""
    tested = suite.suite.law
    for category, words in request.laws.items():
        takes = category == tested or _takes_beside(suite, category)
        if words and not takes:
            raise UserError(
                f"{OPTIONS[category]}: the suite tests {tested} laws; name some by "
                f"{OPTIONS[tested]}"
            )
    if request.rate is not None:
        if RATE not in suite.parameters:
            raise UserError("--rate: this suite has no rate of the bottleneck that could be set")
        rate = read(request.rate, "--rate")
        if rate.unit.symbol != "bit/s" or not (rate.of({}).value or 0.0) > 0.0:
            raise rate.error("allowed is a rate above 0, such as 10 Mbit/s")
    option = OPTIONS[tested]
    under_test = [law_of(word, tested, option) for word in request.laws.get(tested, ())]
    laws = [law_of(word, tested, "baseline") for word in suite.suite.baseline]
    laws += under_test
    controls = [] if tested == "control" else request.laws.get("control", ())
    others = [law_of(word, "control", "--control") for word in controls or suite.suite.controls]
    queues = [] if tested == "queue" else request.laws.get("queue", ())
    plain = suite.suite.quick if request.quick else suite.suite.replications
    return Asked(
        laws=list({law.label: law for law in laws}.values()),
        tested=[law.label for law in under_test],
        controls=list({law.label: law for law in others}.values()),
        queues=[law_of(word, "queue", "--queue") for word in dict.fromkeys(queues)],
        rate=request.rate,
        cells=request.cells,
        # Who names cells wants these.
        without=suite.suite.quick_without if request.quick and request.cells is None else [],
        replications=request.replications or plain,
        seed=suite.suite.seed if request.seed is None else request.seed,
        grid=_has_grid(suite, request),
    )


def _takes_beside(suite: SuiteFile, category: str) -> bool:
    """Whether cells of a suite take laws of a category beside what it tests."""
    if category == "control":
        return bool(suite.suite.controls)
    return category == "queue" and any(cell.queues for cell in suite.cells.values())


def _has_grid(suite: SuiteFile, request: Request) -> bool:
    if request.grid and suite.grid is None:
        raise UserError("--grid: this suite has no grid")
    return request.grid


def _words(name: str, request: Request, options: StoredOptions) -> list[str]:
    """The command that gives the same again."""
    words = [*program(), "suite", name]
    for category, laws in request.laws.items():
        words += [word for law in laws for word in (OPTIONS[category], law)]
    given = {
        "--rate": request.rate,
        "--cells": request.cells,
        "--replications": request.replications,
        "--seed": request.seed,
        "--out": options.out,
    }
    for option, value in given.items():
        words += [option, str(value)] if value is not None else []
    words += ["--quick"] if request.quick else []
    words += ["--grid"] if request.grid else []
    return [*words, *law_words(), *limit_words()]


def _scenario_files(cells: Sequence[Cell]) -> dict[str, str]:
    """The scenario of each cell and column by its path in the folder of results."""
    return {
        cell_path(cell.name, str(choice.values["variant"])): cell.scenario(choice)
        for cell in cells
        for choice in cell.sweep.axes[0]
    }


def _failed_files(document: Mapping[str, Any], screens: Sequence[Screen]) -> dict[str, str]:
    """The scenarios of points of a screening that failed; of the others there would be hundreds."""
    failed = {row["scenario"] for row in document["failed"]}
    found = _scenario_files([screen.cell for screen in screens]) if failed else {}
    return {path: text for path, text in found.items() if path in failed}


def _status(document: Mapping[str, Any]) -> int:
    """Name what went wrong; the exit status."""
    failed: dict[tuple[str, str], list[str]] = {}
    for row in document["failed"]:
        failed.setdefault((row["cell"], row["column"]), []).append(row["reason"])
    for (cell, column), (reason, *others) in failed.items():
        more = f" (and {len(others)} more of this cell)" if others else ""
        say(f"forebay: run failed: {cell}, {column}: {reason}{more}")
    failing = [each for each in document["checks"] if not each["holds"]]
    for each in failing:
        say(f"forebay: check fails: {_named(each)}: {each['text']}")
    broken = [each for each in document["verdicts"] if each["verdict"] == "fail"]
    for each in broken:
        say(f"forebay: case fails: {_named(each)}: {each['told']}")
    # What is expected of the baseline says how far the network is that of the document.
    failing = [each for each in (*failing, *broken) if each["of"] != "baseline"]
    lost = worse(document.get("against", {}).get("changes", ()))
    return 1 if document["failed"] or failing or lost else 0


def _named(row: Mapping[str, Any]) -> str:
    what = " (baseline)" if row["of"] == "baseline" else ""
    return f"{row['cell']}, {row['column']}{what}"


def _show(document: Mapping[str, Any], folder: Path) -> None:
    screen = console()
    if document["verdicts"]:
        _show_cases(document)
    for section in section_tables(document):
        columns = zip(section.whole.columns, section.whole.headline, strict=True)
        picked = [column for column, shown in columns if shown]
        grown = table(plain_markup(section.title), "cell", "law",
                      *(plain_markup(column.words) for column in picked), left=2)  # fmt: skip
        for at, name in enumerate(section.whole.names):
            rows = [(column.rows[at], column.unit) for column in picked]
            means = ["-" if row is None else text.quantity(row["mean"], of) for row, of in rows]
            grown.add_row(*map(plain_markup, name), *means)
        screen.print(grown)
        screen.print()
    for title, heads, lines in screening_tables(document):
        grown = table(plain_markup(title), *map(plain_markup, heads), left=3)
        for words in lines:
            grown.add_row(*map(plain_markup, words))
        screen.print(grown)
        screen.print()
    for cell in document["cells"]:
        for column, reason in cell["lacking"].items():
            screen.print(plain_markup(f"{cell['name']}: not run for {column}: {reason}"))
    if "against" in document:
        show_changes(document["against"])
    if tested := [each for each in document["checks"] if each["of"] != "baseline"]:
        held = sum(each["holds"] for each in tested)
        screen.print(f"checks of laws: {held} of {len(tested)} hold")
    if document["without"]:
        told = ", ".join(document["without"])
        screen.print(plain_markup(f"left out by --quick: {told}"), soft_wrap=True)
    runs = document["runs"] - len(document["failed"])
    told = f"{text.counted(runs, 'run')}; means here, 95 % intervals in {folder / 'table.md'} and "
    told += f"{folder / REPORT}"
    screen.print(plain_markup(told), soft_wrap=True)


def _show_cases(document: Mapping[str, Any]) -> None:
    screen = console()
    heads, cases = matrix(document)
    grown = table(plain_markup("Cases"), *map(plain_markup, heads), left=len(heads))
    for case in cases:
        grown.add_row(*map(plain_markup, case))
    screen.print(grown)
    _show_omitted(document["omitted"])
    screen.print()


def _show_omitted(omitted: Sequence[Mapping[str, Any]]) -> None:
    for each in omitted:
        told = f"not simulated: {each['section']} {each['what']}: {each['reason']}"
        console().print(plain_markup(told), soft_wrap=True)


def show_changes(against: Mapping[str, Any], column: str = "law") -> None:
    """Print what changed since an earlier result; `column` heads what the columns are."""
    screen = console()
    changes = [each for each in against["changes"] if not each["is"].startswith("perhaps")]
    perhaps = len(against["changes"]) - len(changes)
    said = f"against {against['command']}: {against['compared']} quantities compared, "
    said += f"{len(changes)} changed beyond chance"
    said += f", {perhaps} beyond their own intervals only" if perhaps else ""
    screen.print(plain_markup(said), soft_wrap=True)
    if against["settings"]:
        told = ", ".join(against["settings"])
        say_warnings([f"the earlier result has other settings: {told}"])
    if not changes:
        return
    grown = table("", "cell", column, "quantity", "before", "now", "it is", left=3)
    for each in changes:
        unit = symbolised(each["unit"])
        values = (text.quantity(each["before"], unit), text.quantity(each["now"], unit))
        names = (each["cell"], each["column"], each["words"])
        grown.add_row(*map(plain_markup, names), *values, each["is"])
    screen.print(grown)
