"""`forebay report DIR --format latex`: the tables of a folder of results for a paper."""

from __future__ import annotations

from pathlib import Path

from forebay.errors import UserError
from forebay.pages.sweep import SWEEP
from forebay.report.replication_pages import INTERVALS
from forebay.report.run_pages import RUN
from forebay.run.documents import ANY, read_document
from forebay.run.expressions import derived, read
from forebay.run.jobs import Run
from forebay.run.paper_formats import interval_tables, sweep_table
from forebay.run.replicated import DOCUMENT
from forebay.run.results import Results
from forebay.suite.page import SUITE
from forebay.suite.results import JSON as SUITE_TABLE
from forebay.suite.tables import written_tables

__all__ = ["folder_tables", "is_newest"]


RUNS = ("run.json", DOCUMENT)


def is_newest(folder: Path, name: str) -> bool:
    """Returns true unless a file is of a run or of replications, and the folder has had the other
    since."""
    others = [folder / other for other in RUNS if name in RUNS and other != name]
    written = (folder / name).stat().st_mtime_ns
    return all(not other.exists() or other.stat().st_mtime_ns <= written for other in others)


def folder_tables(folder: Path, style: str) -> str:
    """The tables of a folder that `run`, `sweep` or `suite` wrote, in a style of
    `forebay.run.paper_formats`.

    Raises `UserError` for a folder without such results, and for damaged ones.
    """
    if (folder / "sweep.json").exists():
        sweep = read_document(folder / "sweep.json", SWEEP | {"name": str})
        named = {"summary": [dict.fromkeys(sweep["grid"], ANY)]}
        read_document(folder / "sweep.json", named)
        names = derived(sweep.get("derived", {}), f"{folder}: derived")
        quantities = [read(each, f"{folder}: quantities", names) for each in sweep["quantities"]]
        rows, grid = sweep["summary"], list(sweep["grid"])
        return sweep_table(rows, grid, quantities, style, caption=sweep["name"])
    if (folder / DOCUMENT).exists() and is_newest(folder, DOCUMENT):
        found = read_document(folder / DOCUMENT, INTERVALS)
        return interval_tables(found["intervals"], style)
    if (folder / "run.json").exists():
        run = read_document(folder / "run.json", RUN)
        return interval_tables(Results([Run(run)]).intervals(), style)
    if (folder / SUITE_TABLE).exists():
        return written_tables(read_document(folder / SUITE_TABLE, SUITE), style)
    raise UserError(
        f"{folder}: holds no results for such tables; expected run.json or replications.json (of "
        "run --out), sweep.json (of sweep), or table.json (of suite)"
    )
