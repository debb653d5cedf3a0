"""The finished runs of `reproduce`, from which `--resume` continues.

They are in the journal of the output folder (`forebay.run.journal`). A run's part there says which
run of its study it is, and holds a fingerprint of what decides what is measured of it: runs of
another state of the study stay in the file and are not used. Kept are what identifies the run, what
was measured, and the tables that it recorded.

What a run gives is in the hash of its scenario, whatever code and data made it, but for what it
records. So the part holds that, and a fingerprint of the code that measures
(`forebay.study.fingerprint`): of `quantities` for grid points and sensitivity runs, of `RECORDINGS`
for recordings, of its own function for a comparison. Claims, predicates and figures are free to
change, and the runs of one comparison are not those of another.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError
from forebay.run.jobs import Job, build, check
from forebay.run.journal import JOURNAL, Journal, Key, Record
from forebay.run.store import table_bytes, table_of
from forebay.study.comparison import run_cells
from forebay.study.fingerprint import WHOLE, Sources
from forebay.study.loading import PACKAGE
from forebay.study.results import Cell, Outcome, Samples, unique_points
from forebay.study.tasks import Task, cell_task, comparison_tasks, recording_tasks

if TYPE_CHECKING:
    import pyarrow as pa

    from forebay.study.comparison import Comparison
    from forebay.study.definition import Study
    from forebay.study.grades import Point

__all__ = ["Finished", "RunJournal", "check_journal", "has_journal"]

OLD = "journal.jsonl"
"""Journal file of earlier versions; its runs name no build, and are not read."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Record of a finished run: facts with quantities, and recorded tables."""

    facts: Mapping[str, Any]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


def has_journal(folder: Path) -> bool:
    """True if a study was begun in a folder."""
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
        places, others = journal.places(), journal.others()
    if not (places or others):
        return
    names = sorted({_study_of(part) or "a sweep" for _, part in places})
    if study.id in names:
        keys = _Keys(study)
        first = (keys.of(task) for task in _first_runs(study))
        if any((key.scenario, key.part) in places for key in first):
            return
        what = "another state of the study's files (scenario, laws, grid points, what is measured)"
    elif places:
        what = f'study "{", ".join(names)}"; allowed is "{study.id}"'
    else:
        what = f"build {', '.join(others)} of the engine; this is {build()}"
    raise UserError(f"--resume: {path}: holds runs of {what}; {advice}")


class RunJournal:
    """The finished runs of one study in one folder. In a `with` statement: closed at its end.

    Without `resume` every run counts as not yet made, and replaces what is there of it.
    """

    def __init__(self, study: Study, folder: Path, resume: bool) -> None:
        self._keys = _Keys(study)
        self._journal = Journal(folder, _advice(study))
        # A journal just begun is not asked for every run.
        self._resume = resume and len(self._journal) > 0

    def __enter__(self) -> RunJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def find(self, task: Task) -> Finished | None:
        """Returns the record of a run that is finished already; `None` if it is not."""
        if not self._resume:
            return None
        found = self._journal.find(self._keys.of(task))
        if found is None or not self._keys.metrics(task) <= found.document.keys():
            return None
        return Finished(found.document, {n: table_of(c) for n, c in found.tables.items()})

    def keep(self, task: Task, finished: Finished) -> None:
        """Write down a finished run."""
        facts = finished.facts
        tables = {name: table_bytes(table) for name, table in finished.tables.items()}
        self._journal.keep(self._keys.of(task), Record(facts, tables))


class _Keys:
    """The keys of a study's runs in a journal."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._sources = Sources(study.folder, f"{PACKAGE}.{study.id}")
        self._scenarios: dict[tuple[str, tuple[str, ...]], tuple[str, int, str]] = {}
        self._measuring: dict[tuple[str, bool], str] = {}

    def of(self, task: Task) -> Key:
        """The key of a run; the same as long as it would give, and be measured, the same."""
        job = task.job
        digest, seed, recorded = self._scenario(job)
        cell = task.cell or task.costs_like
        # A recording of its own is another run than the replication of its point.
        variant = cell.variant if task.cell else "recording"
        recording = task.recording.id if task.recording else ""
        files = f"{recorded}-{self._fingerprint(variant, bool(recording))}"
        place = [self._study.id, files, recording, variant, cell.point]
        seed = seed if job.seed is None else job.seed
        return Key(digest, seed, task.replication, json.dumps(place))

    def metrics(self, task: Task) -> set[str]:
        """Quantities that a run of a comparison must have measured."""
        comparison = self._comparison(task.cell.variant if task.cell else "")
        return {metric.quantity for metric in comparison.metrics} if comparison else set()

    def _scenario(self, job: Job) -> tuple[str, int, str]:
        """Hash and seed of a job's scenario, and a fingerprint of what it records, which is not in
        the hash."""
        scenario = (job.text, job.overrides)
        if scenario not in self._scenarios:
            description = check(job)
            resolved = description["resolved"]
            record = [(name, to) for name, to in resolved.items() if name.startswith("record.")]
            recorded = hashlib.sha256(repr(sorted(record)).encode()).hexdigest()[:8]
            self._scenarios[scenario] = (
                description["scenario_hash"],
                int(resolved["seed"]),
                recorded,
            )
        return self._scenarios[scenario]

    def _fingerprint(self, variant: str, recorded: bool) -> str:
        """A fingerprint of the code that measures a run."""
        if (variant, recorded) not in self._measuring:
            roots = {("study", "RECORDINGS")} if recorded else set()
            if comparison := self._comparison(variant):
                roots |= self._names(comparison)
            elif variant != "recording":
                roots.add(("study", "quantities"))
            self._measuring[variant, recorded] = self._sources.fingerprint(roots)
        return self._measuring[variant, recorded]

    def _comparison(self, variant: str) -> Comparison | None:
        beyond, _, rest = variant.partition("/")
        known = {each.id: each for each in self._study.comparisons}
        return known[rest.partition("/")[0]] if beyond == "beyond" else None

    def _names(self, comparison: Comparison) -> set[tuple[str, str]]:
        """Names in extensions.py of the measuring function of a comparison."""
        module = vars(sys.modules[f"{PACKAGE}.{self._study.id}.extensions"])
        names = {name for name, entry in module.items() if entry is comparison.quantities}
        return {("extensions", name) for name in names or {WHOLE}}


def _first_runs(study: Study) -> Iterator[Task]:
    """Recordings and replication 0 of grid points, and then of comparisons: of what is made first,
    or is there if anything of its kind is."""
    outcome = Outcome(study, Samples())
    points: list[Point] = [claim.point for claim in study.paper.claims]
    for statement in study.paper.statements:
        points += [point for point, _ in outcome.statement_points(statement)]
    points = unique_points(points)
    for quick in (False, True):
        yield from recording_tasks(study, points, quick)
        yield from (cell_task(study, Cell.of(point), 0, quick) for point in points)
    for quick in (False, True):
        once = {cell: 1 for *_, cell in run_cells(study, quick)}
        yield from comparison_tasks(study, once, quick)


def _study_of(part: str) -> str:
    """The study that a run's part names; empty for a run of a sweep."""
    try:
        return str(json.loads(part)[0]) if part else ""
    except (ValueError, TypeError, LookupError):
        return "?"


def _advice(study: Study) -> str:
    return f"without --resume, forebay reproduce {study.id} makes all runs anew"
