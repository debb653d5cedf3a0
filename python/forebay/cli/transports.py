"""The command `transports`: a study run with other transports than its own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.cli.terminal import console, plain_markup, print_json, table
from forebay.errors import output_folder
from forebay.native import program
from forebay.report.transports import OWN, counted, transports_page
from forebay.run.interrupts import how_to_continue, terminated_like_interrupted
from forebay.run.laws import law_words, limit_words
from forebay.run.store import json_rows, write_text
from forebay.study.journal import RunJournal, check_journal
from forebay.study.results import BASE
from forebay.study.transports import load_transports, run_transports, transports_document

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["compare_transports"]


def compare_transports(
    study_id: str,
    *,
    replications: int | None,
    jobs: int | None,
    out: Path | None,
    resume: bool,
    as_json: bool,
) -> int:
    """Run a study with its own transport and with others, write and print what came of it.

    `transports.json` and the page `transports.md` go to `out`. Raises `UserError` for an unknown
    study, one that names no other transports, or a folder that cannot be written to, and
    `KeyboardInterrupt` on Ctrl-C; finished runs are kept for `--resume`.
    """
    transports = load_transports(study_id)
    folder = out or Path("out") / study_id / "transports"
    if resume:
        check_journal(transports.study, folder)
    words = [*program(), "transports", study_id]
    if replications is not None:
        words += ["--replications", str(replications)]
    words += law_words()
    place = output_folder(folder)
    with (
        terminated_like_interrupted(),
        RunJournal(transports.study, place, resume) as journal,
    ):
        try:
            outcome = run_transports(transports, journal, jobs, replications)
        except KeyboardInterrupt:
            words += ["--jobs", str(jobs)] if jobs is not None else []
            words += ["--out", str(out)] if out is not None else []
            words += limit_words()
            raise KeyboardInterrupt(how_to_continue(folder, words)) from None
    document = transports_document(transports, outcome, shlex.join(words))
    write_text(place / "transports.json", json_rows(document) + "\n")
    write_text(place / "transports.md", transports_page(transports.study, document))
    if as_json:
        print_json(document)
    else:
        _print(document, place)
    return 0


def _print(document: Mapping[str, Any], out: Path) -> None:
    screen = console()
    names = {BASE: OWN} | {each["id"]: each["title"] for each in document["transports"]}
    grown = table("what the paper says", *names.values(), "place", "sentence", left=2 + len(names))
    for row in document["statements"]:
        grades = [row["grades"].get(name, "-") for name in names]
        grown.add_row(*grades, plain_markup(row["place"]), plain_markup(row["text"]))
    screen.print(grown)
    for name, title in names.items():
        screen.print(f"{title}: {counted(document, name)}")
    for row in document["statements"]:
        if row["id"] in document["unexplained"]:
            told = f"no [why] of {row['id']}: it holds with {OWN}, not with another"
            screen.print(plain_markup(told), soft_wrap=True)
    screen.print(f"again: {plain_markup(document['command'])}")
    screen.print(f"page: {out / 'transports.md'}", soft_wrap=True)
