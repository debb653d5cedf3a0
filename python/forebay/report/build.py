"""The command `report`: the page of a folder of results, from its files alone."""

from __future__ import annotations

import json
from pathlib import Path

from forebay.errors import UserError, nearest
from forebay.report.run_pages import run_report, sweep_report
from forebay.report.study_page import write_study_report
from forebay.study.assumptions import load_notes
from forebay.study.files import load_outcome
from forebay.study.loading import load_study

__all__ = ["build_report"]


def build_report(folder: Path) -> Path:
    """`forebay report DIR`: the page of a folder that reproduce, run or sweep wrote; its path.

    Raises `UserError` for a folder without results.
    """
    if not folder.exists():
        siblings = [p.name for p in folder.parent.iterdir()] if folder.parent.is_dir() else []
        raise UserError(f"{folder}: no such folder{nearest(folder.name, siblings)}")
    if not folder.is_dir():
        raise UserError(f"{folder}: is a file; a report is built of a folder of results")
    if (folder / "result.json").is_file():
        return _study_report(folder)

    if (folder / "run.json").is_file():
        return run_report(folder)
    if (folder / "sweep.json").is_file():
        return sweep_report(folder)
    raise UserError(
        f"{folder}: holds no results; expected result.json (of reproduce), run.json (of run --out) "
        "or sweep.json (of sweep)"
    )


def _study_report(folder: Path) -> Path:

    try:
        study_id = json.loads((folder / "result.json").read_text(encoding="utf-8"))["study"]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / 'result.json'}: not a study's result: {error!r}") from None
    study = load_study(study_id)
    outcome, document = load_outcome(study, folder)
    return write_study_report(outcome, document, load_notes(study), folder)
