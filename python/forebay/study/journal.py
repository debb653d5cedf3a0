"""The journal of `reproduce`: its finished runs, from which `--resume` continues.

`journal.jsonl` in the output folder begins with a line that says what the runs are of: the study,
the version and build of the engine, and a fingerprint of the files that decide what a run gives and
what is measured of it. Then follows a line for each finished run: its cell, replication, scenario
hash and seed, and what was measured. Tables that a run recorded are written before its line. A
process that is killed leaves whole lines and perhaps a part of one, which is dropped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError
from forebay.run.jobs import check, native, version
from forebay.run.store import Journal, add_tables, read_tables
from forebay.study.results import PointKey

if TYPE_CHECKING:
    import pyarrow as pa

    from forebay.study.definition import Study
    from forebay.study.tasks import Task

__all__ = ["JOURNAL", "Finished", "RunJournal", "check_journal", "has_journal"]

JOURNAL = "journal.jsonl"

IDENTITY = {
    "study": "study",
    "version": "version",
    "engine": "build of the engine",
    "files": "state of the study's files (modules, scenario, sensitivity, extensions)",
}
"""What all runs of a journal have in common, and how messages call it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What is kept of a finished run: facts with quantities, and recorded tables."""

    facts: Mapping[str, Any]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


def has_journal(folder: Path) -> bool:
    """Whether a study was begun in a folder."""
    try:
        return (folder / JOURNAL).is_file()
    except OSError:
        return False


def check_journal(study: Study, folder: Path) -> None:
    """See that there is a journal of runs that this study would make now; raises `UserError`."""
    path, identity = folder / JOURNAL, _identity(study)
    advice = f"without --resume, forebay reproduce {study.id} begins anew"
    wrong = f"--resume: {path}: line 1: not the beginning of a journal of reproduce"
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = json.loads(file.readline())
    except FileNotFoundError:
        raise UserError(
            f"--resume: {path}: no such file; allowed is the folder of a run of {study.id} that "
            f"was begun there; {advice}"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{wrong}: {error}; {advice}") from None
    if not isinstance(found, dict) or not found.keys() >= identity.keys():
        raise UserError(f"{wrong}; {advice}")
    for name, what in IDENTITY.items():
        if found[name] != identity[name]:
            raise UserError(
                f'--resume: {path}: holds runs of {what} "{found[name]}"; allowed is '
                f'"{identity[name]}"; {advice}'
            )


class RunJournal:
    """The finished runs of one study in one folder. In a `with` statement: closed at its end.

    Without `resume` it begins empty; with it, it must be one that `check_journal` lets pass.
    """

    def __init__(self, study: Study, folder: Path, resume: bool) -> None:
        self._folder = folder
        self._scenarios: dict[tuple[str, tuple[str, ...]], tuple[str, int]] = {}
        self._rows = Journal(folder / JOURNAL, resume, _key, _identity(study))

    def __enter__(self) -> RunJournal:
        return self

    def __exit__(self, *error: object) -> None:
        self._rows.__exit__(*error)

    def find(self, task: Task) -> Finished | None:
        """What a run gave that is finished already; `None` if it is not, or its tables are gone."""
        if len(self._rows) < 2:
            return None
        job = task.job
        scenario = (job.text, job.overrides)
        if scenario not in self._scenarios:
            description = check(job)
            seed = int(description["resolved"]["seed"])
            self._scenarios[scenario] = (description["scenario_hash"], seed)
        row = self._rows.find((*_place(task), version(), *self._scenarios[scenario]))
        if row is None:
            return None
        try:
            return Finished(row["facts"], self._tables(row))
        except (OSError, ValueError):
            return None

    def keep(self, task: Task, finished: Finished) -> None:
        """Write down a finished run, its tables first."""
        recording = task.recording.id if task.recording else ""
        add_tables(self._folder, {f"{recording}/{n}": t for n, t in finished.tables.items()})
        recorded, variant, point, replication = _place(task)
        self._rows.add(
            {
                "recording": recorded,
                "variant": variant,
                "point": dict(point),
                "replication": replication,
                "tables": list(finished.tables),
                "facts": finished.facts,
            }
        )

    def _tables(self, row: Mapping[str, Any]) -> dict[str, pa.Table]:
        names = {f"{row['recording']}/{name}": name for name in row["tables"]}
        found = read_tables(self._folder, list(names))
        return {names[path]: table for path, table in found.items()}


def _place(task: Task) -> tuple[str, str, PointKey, int]:
    """Which run of its study a task is."""
    recording = task.recording.id if task.recording else ""
    cell = task.cell or task.costs_like
    # A recording of its own is another run than the replication of its point.
    variant = cell.variant if task.cell else "recording"
    return recording, variant, cell.point, task.replication


def _key(row: Mapping[str, Any]) -> Hashable:
    if "facts" not in row:
        return tuple(IDENTITY)
    facts = row["facts"]
    point = tuple(sorted(row["point"].items()))
    place = (row["recording"], row["variant"], point, row["replication"])
    return (*place, facts["version"], facts["scenario_hash"], facts["seed"])


def _identity(study: Study) -> dict[str, str]:
    names = ("scenario.toml", "sensitivity.toml", "extensions.toml")
    data = [path for path in map(study.folder.joinpath, names) if path.is_file()]
    sources = sorted([*study.folder.rglob("*.py"), *data])
    files = hashlib.sha256()
    for path in sources:
        files.update(f"{path.name}\n".encode() + path.read_bytes())
    engine = hashlib.sha256(Path(native().__file__).read_bytes())
    return {
        "study": study.id,
        "version": version(),
        "engine": engine.hexdigest()[:16],
        "files": files.hexdigest()[:16],
    }
