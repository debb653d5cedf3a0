"""The finished runs of `reproduce`, from which `--resume` continues.

They are in the journal of the output folder (`forebay.run.journal`). A run's part there says which
run of its study it is, and holds a fingerprint of the files that decide what a run gives and what
is measured of it: runs of another state of the study stay in the file and are not used. Kept are
what identifies the run, what was measured, and the tables that it recorded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError
from forebay.run.jobs import build, check
from forebay.run.journal import JOURNAL, Journal, Key, Record
from forebay.run.store import table_bytes, table_of

if TYPE_CHECKING:
    import pyarrow as pa

    from forebay.study.definition import Study
    from forebay.study.tasks import Task

__all__ = ["Finished", "RunJournal", "check_journal", "has_journal"]

OLD = "journal.jsonl"
"""What earlier versions wrote; its runs name no build, and are not read."""


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
    path, advice = folder / JOURNAL, _advice(study)
    if not has_journal(folder):
        old = f" ({OLD} is of another format)" if (folder / OLD).exists() else ""
        raise UserError(
            f"--resume: {path}: no such file{old}; allowed is the folder of a run of {study.id} "
            f"that was begun there; {advice}"
        )
    with Journal(folder, advice) as journal:
        parts, others = journal.parts(), journal.others()
    here = [found for found in map(_read_part, parts) if found[0] == study.id]
    if any(found[1] == _files(study) for found in here) or not (parts or others):
        return
    if here:
        what = "another state of the study's files (modules, scenario, sensitivity, extensions)"
    elif parts:
        names = sorted({name or "a sweep" for name, _ in map(_read_part, parts)})
        what = f'study "{", ".join(names)}"; allowed is "{study.id}"'
    else:
        what = f"build {', '.join(others)} of the engine; this is {build()}"
    raise UserError(f"--resume: {path}: holds runs of {what}; {advice}")


class RunJournal:
    """The finished runs of one study in one folder. In a `with` statement: closed at its end.

    Without `resume` every run counts as not yet made, and replaces what is there of it.
    """

    def __init__(self, study: Study, folder: Path, resume: bool) -> None:
        self._study = study.id
        self._files = _files(study)
        self._scenarios: dict[tuple[str, tuple[str, ...]], tuple[str, int]] = {}
        self._journal = Journal(folder, _advice(study))
        # A journal just begun is not asked for every run.
        self._resume = resume and len(self._journal) > 0

    def __enter__(self) -> RunJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def find(self, task: Task) -> Finished | None:
        """What a run gave that is finished already; `None` if it is not."""
        if not self._resume:
            return None
        job = task.job
        scenario = (job.text, job.overrides)
        if scenario not in self._scenarios:
            description = check(job)
            seed = int(description["resolved"]["seed"])
            self._scenarios[scenario] = (description["scenario_hash"], seed)
        digest, seed = self._scenarios[scenario]
        found = self._journal.find(self._key(task, digest, seed if job.seed is None else job.seed))
        if found is None:
            return None
        return Finished(found.document, {n: table_of(c) for n, c in found.tables.items()})

    def keep(self, task: Task, finished: Finished) -> None:
        """Write down a finished run."""
        facts = finished.facts
        tables = {name: table_bytes(table) for name, table in finished.tables.items()}
        key = self._key(task, facts["scenario_hash"], facts["seed"])
        self._journal.keep(key, Record(facts, tables))

    def _key(self, task: Task, scenario: str, seed: int) -> Key:
        recording = task.recording.id if task.recording else ""
        cell = task.cell or task.costs_like
        # A recording of its own is another run than the replication of its point.
        variant = cell.variant if task.cell else "recording"
        place = [self._study, self._files, recording, variant, cell.point]
        return Key(scenario, seed, task.replication, json.dumps(place))


def _read_part(part: str) -> tuple[str, str]:
    """Study and fingerprint of its files; both empty for runs of a sweep."""
    if not part:
        return "", ""
    try:
        study, files, *_ = json.loads(part)
    except (ValueError, TypeError):
        return "?", ""
    return str(study), str(files)


def _advice(study: Study) -> str:
    return f"without --resume, forebay reproduce {study.id} makes all runs anew"


def _files(study: Study) -> str:
    """A fingerprint of the files that decide what a run gives and what is measured of it."""
    names = ("scenario.toml", "sensitivity.toml", "extensions.toml", "transports.toml")
    data = [path for path in map(study.folder.joinpath, names) if path.is_file()]
    files = hashlib.sha256()
    for path in sorted([*study.folder.rglob("*.py"), *data]):
        files.update(f"{path.name}\n".encode() + path.read_bytes())
    return files.hexdigest()[:16]
