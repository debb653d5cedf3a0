"""The driver of a study: runs it until its claims can be graded.

Every grid point gets the same replication numbers under the same seed, so that points and variants
see the same random arrivals. Runs are added in rounds: after each, points get more replications
where an interval is too wide for a grade that more runs could give. What decides is the width of
intervals and whether a claim can be graded at all, never whether the grade is a good one. `--quick`
makes one round that was planned before (`forebay.study.plan`). Nothing that is run depends on the
clock: the same command gives the same digits on any machine and any number of cores.

Last come the comparisons of the study's `beyond.py`, with a fixed number of replications. Finished
runs go into a journal (`forebay.study.journal`), from which `--resume` takes them.
"""

# ruff: noqa: TID251 (reports how long it took)

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.errors import UserError, nearest
from forebay.native import program
from forebay.run.jobs import Job, check
from forebay.run.laws import law_words, limit_words
from forebay.run.progress import Meter, meter, note
from forebay.stats import Interval
from forebay.study.assumptions import Notes, load_notes
from forebay.study.comparison import check_scenarios, run_cells
from forebay.study.definition import Study
from forebay.study.grades import Grade, Point
from forebay.study.journal import RunJournal
from forebay.study.plan import Plan, load_record, plan_text, quick_plan
from forebay.study.results import Cell, Outcome, Samples, unique_points
from forebay.study.runs import Runs
from forebay.study.tasks import (
    Task,
    cell_task,
    cell_tasks,
    comparison_tasks,
    recording_tasks,
    variant_cells,
)

if TYPE_CHECKING:
    from forebay.study.claims import NumericClaim, Statement

__all__ = ["Driver", "Preview", "Request"]

PREVIEW_REPLICATIONS = 2
"""Runs of each point of a preview: the fewest that have an interval."""


@dataclass(frozen=True, slots=True)
class Request:
    """The options of `forebay reproduce`."""

    quick: bool = False
    claims: str | None = None
    replications: int | None = None
    jobs: int | None = None
    out: Path | None = None
    resume: bool = False
    as_json: bool = False

    def command(self, study_id: str) -> str:
        """The command that gives the same digits again."""
        return shlex.join(self._words(study_id))

    def resuming(self, study_id: str) -> list[str]:
        """The words of the command that continues, with `--resume`, where this one was
        interrupted."""
        words = self._words(study_id)
        if self.jobs is not None:
            words += ["--jobs", str(self.jobs)]
        if self.out is not None:
            words += ["--out", str(self.out)]
        return [*words, *limit_words()]

    def _words(self, study_id: str) -> list[str]:
        words = [*program(), "reproduce", study_id]
        if self.quick:
            words.append("--quick")
        if self.claims is not None:
            words += ["--claims", self.claims]
        if self.replications is not None:
            words += ["--replications", str(self.replications)]
        return [*words, *law_words()]


@dataclass(frozen=True, slots=True)
class Preview:
    """Grid points to run before all others, and what is called once they have a few runs each."""

    points: Sequence[Point]
    show: Callable[[], None]


@dataclass(slots=True)
class Driver:
    """Runs a study; afterwards `outcome` holds what was measured.

    `plan` says what `--quick` runs, and is `None` without it. `stopped` says why it ended early:
    empty or `"interrupted"`.
    """

    study: Study
    request: Request
    outcome: Outcome = field(init=False)
    notes: Notes = field(init=False)
    scenario_hash: str = field(init=False)
    plan: Plan | None = field(init=False, default=None)
    stopped: str = ""
    wall_s: float = 0.0
    _costs: dict[Cell, float] = field(init=False, default_factory=dict)
    _runs: Runs = field(init=False)

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
        if self.request.quick:
            self.plan = self._quick_plan()

    def run(self, journal: RunJournal | None = None, preview: Preview | None = None) -> None:
        """Run everything; on Ctrl-C keep what is done and say so.

        What `journal` holds is not run again, and what finishes goes into it. `preview` comes
        first, where it is only a part of what is run.
        """
        begun = time.monotonic()
        self._runs = Runs(self.outcome, journal, self.request.jobs, self._cost)
        points = self.plan.points() if self.plan else self.points()
        targets = self._targets(points)
        recordings = recording_tasks(self.study, points, self.request.quick)
        variants = dict.fromkeys(self._variant_cells(), self._variant_replications())
        for cell in variants:
            # They come late: a mistake in one must show before hours of runs, not after.
            check(cell_task(self.study, cell, 0, quick=False).job)
        beyond = comparison_tasks(self.study, self._comparison_targets(), self.request.quick)
        self._costs = self._expected_costs()
        apart = [task.costs_like for task in recordings if task.cell is None]
        cells = [*_repeated(targets), *apart, *_repeated(variants)]
        cells += [task.costs_like for task in beyond]
        begin = f"{len(points)} grid points, {len(cells)} runs to begin with"
        note(f"{self.study.id}: {plan_text(self.plan.document()) if self.plan else begin}")
        self.outcome.samples.expect(targets)
        try:
            with meter(len(cells), self.study.id, self._cost(cells)) as progress:
                if preview is not None:
                    self._show_first(preview, targets, progress)
                self._runs.batch(recordings, progress)
                self._rounds(targets, progress)
                self._runs.batch(self._tasks(variants), progress)
                self._runs.batch(beyond, progress)
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        self.wall_s = time.monotonic() - begun

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

    def _quick_plan(self) -> Plan:
        numbers, statements = self.selected()
        looked_at = [
            (statement, [point for point, _ in self.outcome.statement_points(statement)])
            for statement in statements
        ]
        return quick_plan(
            self.study,
            numbers,
            looked_at,
            comparisons=self.request.claims is None,
            replications=self.request.replications,
        )

    def _targets(self, points: Sequence[Point]) -> dict[Cell, int]:
        """Number of replications that each grid point gets to begin with."""
        if self.plan is not None:
            return self.plan.targets(beyond=False)
        return dict.fromkeys(map(Cell.of, points), self._first())

    def _show_first(self, preview: Preview, targets: Mapping[Cell, int], progress: Meter) -> None:
        asked = set(map(Cell.of, preview.points))
        few = {
            cell: min(target, PREVIEW_REPLICATIONS)
            for cell, target in targets.items()
            if cell in asked
        }
        if few and len(few) < len(targets):
            self._runs.batch(self._tasks(few), progress)
            preview.show()

    def _rounds(self, targets: Mapping[Cell, int], progress: Meter) -> None:
        first = self._first()
        while tasks := self._tasks(targets):
            self._runs.batch(tasks, progress)
            if self.plan is not None or self.request.replications is not None:
                return
            targets = self._wanted(first)
            more = [task.costs_like for task in self._tasks(targets)]
            progress.expect(len(more), self._cost(more))

    def _wanted(self, first: int) -> dict[Cell, int]:
        """Number of replications wanted of each cell that deserves more than it has."""
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
        """Number of replications that a numeric claim should have, judged by those it has."""
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
        if not interval.n < needed <= cap:
            return 0
        return min(needed, 2 * interval.n)

    def _first(self) -> int:
        return self.request.replications or self.study.replications.first

    def _cap(self, point: Point) -> int:
        return self.study.replications.most(point, quick=False)

    def _variant_cells(self) -> list[Cell]:
        """The sensitivity runs: part of the full study only."""
        if self.request.quick or self.request.claims is not None:
            return []
        return variant_cells(self.study)

    def _variant_replications(self) -> int:
        return min(self.study.replications.variant, self._first())

    def _comparison_targets(self) -> dict[Cell, int]:
        if self.plan is not None:
            return self.plan.targets(beyond=True)
        if self.request.claims is not None:
            return {}
        return {
            cell: self.request.replications or comparison.replications
            for comparison, _, _, cell in run_cells(self.study, quick=False)
        }

    def _tasks(self, targets: Mapping[Cell, int]) -> list[Task]:
        """The runs that cells lack."""
        have = self.outcome.samples.replications
        return cell_tasks(self.study, targets, have, self.request.quick)

    def _expected_costs(self) -> dict[Cell, float]:
        """Expected cost of a run of each cell, for an estimate of the time that is left."""
        if self.plan is not None:
            return {row.cell: row.events for row in self.plan.rows}
        try:
            record = load_record(self.study)
        except UserError:
            # This run may be the one that makes a sound record again.
            return {}
        return dict(record.events) if record else {}

    def _cost(self, cells: Sequence[Cell]) -> float:
        """Cost of runs of these cells; one that is not known counts as the mean of the others."""
        known = self._costs.values()
        mean = math.fsum(known) / len(known) if known else 1.0
        return math.fsum(self._costs.get(cell, mean) for cell in cells)


def _repeated(targets: Mapping[Cell, int]) -> list[Cell]:
    return [cell for cell, number in targets.items() for _ in range(number)]


def _replications_for(interval: Interval, half_width: float) -> int:
    """Number of replications that narrow an interval to a half-width; it shrinks as 1/sqrt(n)."""
    if interval.n < 2 or interval.half_width <= half_width:
        return interval.n
    if half_width <= 0.0:
        return 10**9
    return math.ceil(interval.n * (interval.half_width / half_width) ** 2)
