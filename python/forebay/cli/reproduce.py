"""The command `reproduce`: studies run, written down and printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forebay.cli.show_study import first_table, print_documents, print_preview
from forebay.errors import output_folder
from forebay.report.about import check_about, write_study_pages
from forebay.run.interrupts import how_to_continue, terminated_like_interrupted
from forebay.run.progress import say
from forebay.study.driver import Driver, Preview, Request
from forebay.study.files import document_of, write_results
from forebay.study.folders import study_folders
from forebay.study.journal import RunJournal, check_journal, has_journal
from forebay.study.loading import load_study

__all__ = ["Request", "reproduce_studies"]

INTERRUPTED = 130


def reproduce_studies(study_id: str, request: Request) -> int:
    """Reproduce one study or all; the exit status.

    Ctrl-C and SIGTERM end it alike: what was finished is published. Raises `UserError` for an
    unknown study, claims that match nothing, a folder that cannot be written to, or one from which
    it cannot be resumed.
    """
    all_of_them = study_id == "all"
    chosen = list(study_folders()) if all_of_them else [study_id]
    base = request.out or Path("out")
    folders = {name: base / name if all_of_them or request.out is None else base for name in chosen}
    # Of several studies some may be finished, one begun, and others not.
    begun = {name for name, folder in folders.items() if has_journal(folder)} or set(chosen)
    documents = []
    status = 0
    with terminated_like_interrupted():
        for name in chosen:
            study = load_study(name)
            check_about(study)
            driver = Driver(study, request)
            resume = request.resume and name in begun
            if resume:
                check_journal(study, folders[name])
            out = output_folder(folders[name])
            with RunJournal(study, out, resume) as journal:
                driver.run(journal, _preview(driver))
            document = _publish(driver, out)
            documents.append((study, driver.outcome, document, out))
            if driver.stopped:
                status = INTERRUPTED
                break
    print_documents(documents, request.as_json, many=all_of_them)
    if status == INTERRUPTED:
        # The folder of the study that was being run.
        told = how_to_continue(documents[-1][3], request.resuming(study_id))
        say(f"forebay: interrupted; {told}")
    return status


def _preview(driver: Driver) -> Preview | None:
    """The first table of the paper, shown before the long rest is run; `None` for a short run and
    for one that is read by a program."""
    quiet = driver.request.quick or driver.request.as_json
    if quiet or (shown := first_table(driver.study)) is None:
        return None
    points = [cell.point for row in shown.rows for cell in row.cells if cell is not None]
    return Preview(points, lambda: print_preview(shown, document_of(driver)))


def _publish(driver: Driver, out: Path) -> dict[str, Any]:
    """Write all files of a finished (or interrupted) study; its document."""
    document = write_results(driver, out)
    if document["claims"]:
        write_study_pages(driver.outcome, document, driver.notes, out)
    return document
