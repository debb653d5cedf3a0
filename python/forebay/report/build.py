"""The command `report`: the pages of a folder of results, from its files alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from forebay.errors import UserError, nearest, output_folder
from forebay.extras import need
from forebay.pages.page import refuse_foreign_report
from forebay.pages.sweep import sweep_report
from forebay.report.about import write_study_pages
from forebay.report.find_pages import find_report
from forebay.report.replication_pages import replication_report
from forebay.report.run_pages import run_report
from forebay.report.tables import folder_tables, is_newest
from forebay.run.documents import read_document
from forebay.study.assumptions import load_notes
from forebay.study.files import load_outcome
from forebay.study.folders import study_folders
from forebay.study.loading import load_study
from forebay.suite.page import suite_report
from forebay.suite.results import JSON as SUITE_TABLE

__all__ = ["build_report", "build_tables"]

Made = TypeVar("Made")


def build_report(folder: Path) -> Path:
    """`forebay report DIR`: the page of a folder of results of reproduce, run, sweep, find or
    suite; its path.

    Raises `UserError` for a folder without results.
    """
    _see(folder)
    for name, (build, libraries) in PAGES.items():
        if (folder / name).exists() and is_newest(folder, name):
            need(f"report of {name}", *libraries)
            output_folder(folder, "report")
            refuse_foreign_report(folder, "report")
            return _built(build, folder)
    raise UserError(
        f"{folder}: holds no results; expected result.json (of reproduce), run.json or "
        "replications.json (of run --out), sweep.json (of sweep), find.json (of find) or "
        "table.json (of suite)"
    )


def build_tables(folder: Path, style: str) -> str:
    """`forebay report DIR --format STYLE`: tables of the folder for a paper.

    Raises `UserError` for a folder without results of `run`, `sweep` or `suite`.
    """
    _see(folder)
    return _built(lambda found: folder_tables(found, style), folder)


def _see(folder: Path) -> None:
    """Raise `UserError` for what is no folder."""
    if not folder.exists():
        siblings = [p.name for p in folder.parent.iterdir()] if folder.parent.is_dir() else []
        raise UserError(f"{folder}: no such folder{nearest(folder.name, siblings)}")
    if not folder.is_dir():
        raise UserError(f"{folder}: is a file; a report is built of a folder of results")


def _built(build: Callable[[Path], Made], folder: Path) -> Made:
    """Returns what `build` makes of a folder; files of any content may be there."""
    try:
        return build(folder)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        if os.environ.get("FOREBAY_TRACEBACK"):
            raise
        raise UserError(
            f"{folder}: no report can be built of its files: they are damaged, or of another "
            "version; FOREBAY_TRACEBACK=1 shows where it failed"
        ) from None


def _study_report(folder: Path) -> Path:
    path = folder / "result.json"
    study_id = read_document(path, {"study": str})["study"]
    if study_id not in study_folders():
        raise UserError(f'{path}: study: no study "{study_id}"{nearest(study_id, study_folders())}')
    study = load_study(study_id)
    outcome, document = load_outcome(study, folder)
    return write_study_pages(outcome, document, load_notes(study), folder)


PAGES: dict[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "result.json": (_study_report, ("matplotlib", "pyarrow")),
    "replications.json": (replication_report, ("matplotlib",)),
    "run.json": (run_report, ("matplotlib", "pyarrow")),
    "sweep.json": (sweep_report, ()),
    "find.json": (find_report, ()),
    SUITE_TABLE: (suite_report, ()),
}
"""Makers of the page of a folder, and the files each needs, by the file that tells whose it is."""
