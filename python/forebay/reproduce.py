"""`forebay reproduce`: run a study until its claims can be graded, and write down what came out.

Every grid point gets the same replication numbers under the same seed, so that points and variants
see the same random arrivals. Runs are added in rounds: after each, points get more replications
where an interval is too wide for a grade that more runs could give. What decides is the width of
intervals and whether a claim can be graded at all, never whether the grade is a good one, and never
the clock (except for the limit of `--quick`, which a result that met it says): the same command
gives the same digits on any number of cores.

Last come the comparisons of the study's `beyond.py`, with a fixed number of replications.
"""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.assumptions import Notes, load_notes
from forebay.comparison import check_scenarios, run_cells
from forebay.errors import UserError, nearest, output_folder
from forebay.grades import Grade, Point
from forebay.outcome import FACTS, Cell, Outcome, Samples, unique_points
from forebay.progress import Meter, meter, note
from forebay.run import Job, Run, Tables, check, run_jobs
from forebay.stats import Interval
from forebay.study import Recording, Study, Variant, load_study, study_folders

if TYPE_CHECKING:
    from forebay.claims import NumericClaim, Statement

__all__ = ["Request", "reproduce_studies"]

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Request:
    """The options of `forebay reproduce`."""

    quick: bool = False
    claims: str | None = None
    replications: int | None = None
    jobs: int | None = None
    out: Path | None = None
    as_json: bool = False

    def command(self, study_id: str) -> str:
        """The command that gives the same digits again."""
        words = ["forebay", "reproduce", study_id]
        if self.quick:
            words.append("--quick")
        if self.claims is not None:
            words += ["--claims", self.claims]
        if self.replications is not None:
            words += ["--replications", str(self.replications)]
        return shlex.join(words)


def reproduce_studies(study_id: str, request: Request) -> int:
    """Reproduce one study or all; the exit status.

    Raises `UserError` for an unknown study, claims that match nothing, or a folder that cannot be
    written to.
    """
    from forebay.results import publish
    from forebay.show_study import print_documents

    all_of_them = study_id == "all"
    chosen = list(study_folders()) if all_of_them else [study_id]
    documents = []
    status = 0
    for name in chosen:
        study = load_study(name)
        base = request.out or Path("out")
        out = output_folder(base / name if all_of_them or request.out is None else base)
        driver = Driver(study, request)
        driver.run()
        document = publish(driver, out)
        documents.append((study, driver.outcome, document, out))
        if driver.stopped == "interrupted":
            status = INTERRUPTED
            break
    print_documents(documents, request.as_json, many=all_of_them)
    return status


class _OutOfTimeError(Exception):
    """The time limit of `--quick` was reached."""


@dataclass(slots=True)
class _Task:
    """One run to do: a replication of a cell, a recording, or both."""

    job: Job
    cell: Cell | None = None
    replication: int = 0
    recording: Recording | None = None
    measure: Callable[[Run], Mapping[str, float]] | None = None
    """What a run of a cell measured."""


@dataclass(slots=True)
class Driver:
    """Runs a study; afterwards `outcome` holds what was measured.

    `stopped` says why it ended early: empty, `"deadline"` or `"interrupted"`.
    """

    study: Study
    request: Request
    outcome: Outcome = field(init=False)
    notes: Notes = field(init=False)
    scenario_hash: str = field(init=False)
    stopped: str = ""
    wall_s: float = 0.0
    _begun: float = 0.0

    def __post_init__(self) -> None:
        self.outcome = Outcome(self.study, Samples())
        self.notes = load_notes(self.study)
        self.scenario_hash = check(Job(self.study.scenario, self.study.scenario_name))[
            "scenario_hash"
        ]
        pattern = self.request.claims
        if pattern is not None and not any(self.study.paper.select(pattern)):
            ids = [claim.id for claim in self.study.paper.claims]
            ids += [statement.id for statement in self.study.paper.statements]
            raise UserError(
                f'--claims: nothing matches "{pattern}"{nearest(pattern, ids)}; '
                f'claims are named like "{ids[0]}", and * matches anything'
            )
        if pattern is None:
            check_scenarios(self.study, self.request.quick)

    def run(self) -> None:
        """Run everything; on Ctrl-C or out of time, keep what is done and say so."""
        self._begun = time.monotonic()
        points = self.points()
        first = self._first()
        recordings = self._recordings(points)
        variants = self._variant_targets()
        beyond = self._comparison_tasks()
        apart = sum(task.cell is None for task in recordings)
        total = first * len(points) + apart + sum(variants.values()) + len(beyond)
        note(f"{self.study.id}: {len(points)} grid points, {total} runs to begin with")
        try:
            with meter(total, self.study.id) as progress:
                self._batch(recordings, progress)
                self._rounds(points, first, progress)
                self._batch(self._tasks(variants), progress)
                self._batch(beyond, progress)
        except _OutOfTimeError:
            self.stopped = "deadline"
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        self.wall_s = time.monotonic() - self._begun

    def selected(self) -> tuple[list[NumericClaim], list[Statement]]:
        """The numeric claims and the statements that were asked for."""
        return self.study.paper.select(self.request.claims or "*")

    def points(self) -> list[Point]:
        """The grid points that the selected claims look at."""
        numbers, statements = self.selected()
        points: list[Point] = [claim.point for claim in numbers]
        for statement in statements:
            points += [point for point, _ in self.outcome.statement_points(statement)]
        return unique_points(points)

    def _rounds(self, points: Sequence[Point], first: int, progress: Meter) -> None:
        targets = dict.fromkeys((Cell.of(point) for point in points), first)
        while tasks := self._tasks(targets):
            self._batch(tasks, progress)
            if self.request.replications is not None:
                return
            more = self._wanted(first)
            if not more:
                return
            targets = more
            progress.expect(len(self._tasks(targets)))

    def _wanted(self, first: int) -> dict[Cell, int]:
        """How many replications cells should have that deserve more than they have."""
        numbers, statements = self.selected()
        grades = self.outcome.grades()
        lines = self.study.paper.lines()
        wanted: dict[Cell, int] = {}

        def ask(point: Point, replications: int) -> None:
            cell = Cell.of(point)
            have = len(self.outcome.samples.replications(cell))
            if replications > have:
                wanted[cell] = max(wanted.get(cell, 0), replications)

        for claim in numbers:
            if grades.get(claim.id) is Grade.IMPRECISE and claim.line is not None:
                # Whether it is a trend shows only when the whole line was measured.
                for other in lines[claim.line]:
                    ask(other.point, first)
            ask(claim.point, self._enough(claim, grades.get(claim.id)))
        for statement in statements:
            if grades.get(statement.id) is Grade.IMPRECISE:
                for point in self.outcome.culprits(statement):
                    have = len(self.outcome.samples.replications(Cell.of(point)))
                    ask(point, min(2 * have, self._cap(point)))
        return wanted

    def _enough(self, claim: NumericClaim, grade: Grade | None) -> int:
        """How many replications a numeric claim should have, judged by those it has."""
        measured = self.outcome.interval(claim.quantity, claim.point)
        if measured is None:
            return 0
        interval = claim.in_published_unit(measured)
        cap = self._cap(claim.point)
        if grade is Grade.IMPRECISE:
            needed = _replications_for(interval, claim.tolerance.close)
            if (expected := self.outcome.prediction(claim)) and not expected.enough:
                needed = expected.needed
            return min(max(needed, interval.n + 1), 2 * interval.n, cap)
        needed = _replications_for(interval, claim.tolerance.exact)
        if self.request.quick or not interval.n < needed <= cap:
            return 0
        return min(needed, 2 * interval.n)

    def _first(self) -> int:
        limits = self.study.replications
        if self.request.replications is not None:
            return self.request.replications
        return limits.quick_first if self.request.quick else limits.first

    def _cap(self, point: Point) -> int:
        return self.study.replications.most(point, quick=self.request.quick)

    def _tasks(self, targets: Mapping[Cell, int]) -> list[_Task]:
        """The runs that cells lack, first replications first: cut short, every cell has some."""
        lacking = [
            (replication, order, cell)
            for order, (cell, target) in enumerate(targets.items())
            for replication in _missing(self.outcome.samples.replications(cell), target)
        ]
        lacking.sort(key=lambda entry: entry[:2])
        return [self._task(cell, replication) for replication, _, cell in lacking]

    def _task(self, cell: Cell, replication: int) -> _Task:
        variants = {variant.id: variant for variant in self.study.variants}
        extra = self.study.replications.quick_overrides if self.request.quick else ()
        point = dict(cell.point)
        return _Task(
            self.study.job(point, replication, variants.get(cell.variant), extra),
            cell,
            replication,
            measure=partial(_quantities, self.study, point),
        )

    def _comparison_tasks(self) -> list[_Task]:
        """The runs of what goes beyond the paper, first replications first."""
        if self.request.claims is not None:
            return []
        quick = self.request.quick
        tasks = [
            _Task(
                comparison.job(self.study, design, case, replication, quick),
                cell,
                replication,
                measure=partial(comparison.measure, self.study, design, case),
            )
            for comparison, design, case, cell in run_cells(self.study, quick)
            for replication in range(
                self.request.replications
                or (comparison.quick_replications if quick else comparison.replications)
            )
        ]
        return sorted(tasks, key=lambda task: task.replication)

    def _variant_targets(self) -> dict[Cell, int]:
        """The sensitivity runs: part of the full study only."""
        if self.request.quick or self.request.claims is not None:
            return {}
        replications = min(self.study.replications.variant, self._first())
        return {
            Cell.of(point, variant.id): replications
            for variant in self.study.variants
            for point in variant_points(self.study, variant)
        }

    def _recordings(self, points: Sequence[Point]) -> list[_Task]:
        """The runs to record; one that is the first replication of its point counts as that."""
        ours = {Cell.of(point) for point in points}
        tasks = []
        for recording in self.study.recordings:
            cell = Cell.of(recording.point)
            if cell in ours:
                first = self._task(cell, 0)
                job = self.study.recording_job(recording)
                task = first if job == first.job else _Task(job)
                tasks.append(replace(task, recording=recording))
        return tasks

    def _batch(self, tasks: Sequence[_Task], progress: Meter) -> None:
        recorded = dict(self.outcome.recordings)

        def done(index: int, run: Run) -> None:
            task = tasks[index]
            if task.cell is not None and task.measure is not None:
                facts = _facts(run) | dict(task.measure(run))
                self.outcome.samples.add(task.cell, task.replication, facts)
            if task.recording is not None:
                recorded[task.recording.id] = _arrow(task.recording.tables(run))
                self.outcome.recordings = recorded
            progress.finished()
            self._look_at_clock()

        def tick(shares: Sequence[float]) -> None:
            progress.tick(shares)
            self._look_at_clock()

        run_jobs([task.job for task in tasks], done, self.request.jobs, tick)

    def _look_at_clock(self) -> None:
        limit = self.study.replications.quick_s
        if self.request.quick and time.monotonic() - self._begun > limit:
            raise _OutOfTimeError


def variant_points(study: Study, variant: Variant) -> list[Point]:
    """The grid points where a variant is tried."""
    points: list[Point] = []
    for pattern in variant.claims:
        claims, _ = study.paper.select(pattern)
        if not claims:
            raise UserError(f'{study.id}: variant {variant.id}: no claim matches "{pattern}"')
        points += [claim.point for claim in claims]
    return unique_points(points)


def _quantities(study: Study, point: Point, run: Run) -> Mapping[str, float]:
    return study.quantities(run, point)


def _facts(run: Run) -> dict[str, Any]:
    """What identifies a run."""
    return {name: run.document[name] for name in FACTS}


def _arrow(tables: Tables) -> dict[str, Any]:
    import pyarrow as pa

    return {name: pa.table(dict(columns)) for name, columns in tables.items()}


def _missing(have: Iterable[int], target: int) -> list[int]:
    done = set(have)
    return [number for number in range(target) if number not in done]


def _replications_for(interval: Interval, half_width: float) -> int:
    """How many replications would narrow an interval to a half-width; it shrinks as 1/sqrt(n)."""
    if interval.n < 2 or interval.half_width <= half_width:
        return interval.n
    if half_width <= 0.0:
        return 10**9
    return math.ceil(interval.n * (interval.half_width / half_width) ** 2)
