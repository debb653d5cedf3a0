"""The records of the studies: runs drawn from them give the same digests again.

`result.json` beside a study's files is what its pages, README and `--quick` are made of. It would
age in silence: nothing else runs a study as it was recorded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from forebay.run.jobs import Job, Run, cores, run_jobs
from forebay.study.comparison import run_cells
from forebay.study.definition import Study
from forebay.study.folders import study_folders
from forebay.study.loading import load_study
from forebay.study.results import Cell
from forebay.study.tasks import cell_task, comparison_tasks

pytestmark = pytest.mark.long

DRAWN = 20
"""Points of each study that are run again."""

EVENTS = 25_000_000
"""Packet events of a run at most: 5 s at 5 million a second, as `redn` has it, the slowest."""

SEED = 1


def advice(study: Study) -> str:
    """Returns the command that makes a record anew."""
    return f"record it again: forebay reproduce {study.id} --out {study.folder}"


def record(study: Study) -> dict[str, Any]:
    """The recorded result of a study, which must have digests."""
    path = study.folder / "result.json"
    assert path.is_file(), f"{path}: no such file; {advice(study)}"
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    lacking = [row for row in document["points"] if not row.get("digest")]
    assert not lacking, f"{path}: {len(lacking)} points without a digest; {advice(study)}"
    return document


def drawn(document: dict[str, Any]) -> Iterator[tuple[Cell, str]]:
    """Points of a record that cost little, with their digests."""
    few = [row for row in document["points"] if row["events"] < EVENTS]
    order = np.random.default_rng(SEED).permutation(len(few))
    for row in [few[place] for place in order[:DRAWN]]:
        yield Cell.of(row["point"], row["variant"]), row["digest"]


def job(study: Study, cell: Cell) -> Job:
    """Replication 0 of a grid point, as `reproduce` makes it."""
    if not cell.variant.startswith("beyond/"):
        variants = {"", *(variant.id for variant in study.variants)}
        assert cell.variant in variants, f"{study.id}: no variant {cell.variant}; {advice(study)}"
        return cell_task(study, cell, 0, quick=False).job
    known = {each: 1 for *_, each in run_cells(study, quick=False) if each == cell}
    assert known, f"{study.id}: no comparison has {cell}; {advice(study)}"
    (task,) = comparison_tasks(study, known, quick=False)
    return task.job


@pytest.mark.parametrize(
    "name", ["af", "pcn", "redn", "atm", "rpr", "cake", "codel", "dctcp", "l4s"]
)
def test_records_are_what_runs_give(name: str) -> None:
    """Records are what runs give: a change of the engine or of a study that alters a digest is
    noticed.

    Digests cover every packet event of a run: equal ones mean the same run.
    """
    study = load_study(name)
    expected = list(drawn(record(study)))
    assert expected
    found: dict[int, str] = {}

    def done(index: int, run: Run) -> None:
        found[index] = run.document["digest"]

    run_jobs([job(study, cell) for cell, _ in expected], done, cores())
    other = [
        f"{cell.variant} {dict(cell.point)}: recorded {digest}, is {found[index]}"
        for index, (cell, digest) in enumerate(expected)
        if found[index] != digest
    ]
    assert not other, "\n".join([f"{name}: {advice(study)}", *other])


def test_every_study_has_a_record_that_is_tested() -> None:
    """Every study has a record that is tested."""
    (marks,) = (
        mark.args[1]
        for mark in test_records_are_what_runs_give.pytestmark  # type: ignore[attr-defined]
        if mark.name == "parametrize"
    )
    assert sorted(marks) == sorted(study_folders())
