"""The runs of a study, one by one: grid points, recordings, sensitivity runs, comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from forebay.errors import UserError
from forebay.run.jobs import Job, Run
from forebay.study.comparison import run_cells
from forebay.study.definition import Point, Recording, Study, Variant
from forebay.study.results import Cell, unique_points

__all__ = [
    "Task",
    "cell_task",
    "cell_tasks",
    "comparison_tasks",
    "recording_tasks",
    "variant_cells",
    "variant_points",
]


@dataclass(frozen=True, slots=True)
class Task:
    """One run to do: a replication of a cell, a recording, or both.

    `measure` is what a run of a cell measured. `costs_like` is the cell whose runs take about as
    long as this one.
    """

    job: Job
    costs_like: Cell
    cell: Cell | None = None
    replication: int = 0
    recording: Recording | None = None
    measure: Callable[[Run], Mapping[str, float]] | None = None


def cell_task(study: Study, cell: Cell, replication: int, quick: bool) -> Task:
    """One replication of a grid point, under the study's own assumptions or those of a variant."""
    variants = {variant.id: variant for variant in study.variants}
    extra = study.replications.quick_overrides if quick else ()
    point = dict(cell.point)
    return Task(
        study.job(point, replication, variants.get(cell.variant), extra),
        cell,
        cell,
        replication,
        measure=partial(_quantities, study, point),
    )


def cell_tasks(
    study: Study,
    targets: Mapping[Cell, int],
    have: Callable[[Cell], Sequence[int]],
    quick: bool,
) -> list[Task]:
    """The runs that cells lack, first replications first: cut short, every cell has some.

    `targets` is how many replications each cell should have; `have` tells those it has.
    """
    lacking = [
        (replication, order, cell)
        for order, (cell, target) in enumerate(targets.items())
        for replication in sorted(set(range(target)) - set(have(cell)))
    ]
    lacking.sort(key=lambda entry: entry[:2])
    return [cell_task(study, cell, replication, quick) for replication, _, cell in lacking]


def recording_tasks(study: Study, points: Sequence[Point], quick: bool) -> list[Task]:
    """The runs to record at some points; one that is the first replication of its point counts as
    that."""
    ours = {Cell.of(point) for point in points}
    tasks = []
    for recording in study.recordings:
        cell = Cell.of(recording.point)
        if cell in ours:
            first = cell_task(study, cell, 0, quick)
            job = study.recording_job(recording)
            task = first if job == first.job else Task(job, cell)
            tasks.append(replace(task, recording=recording))
    return tasks


def comparison_tasks(study: Study, targets: Mapping[Cell, int], quick: bool) -> list[Task]:
    """The runs of what goes beyond the paper, first replications first."""
    tasks = [
        Task(
            comparison.job(study, design, case, replication, quick),
            cell,
            cell,
            replication,
            measure=partial(comparison.measure, study, design, case),
        )
        for comparison, design, case, cell in run_cells(study, quick)
        for replication in range(targets.get(cell, 0))
    ]
    return sorted(tasks, key=lambda task: task.replication)


def variant_points(study: Study, variant: Variant) -> list[Point]:
    """The grid points where a variant is tried."""
    points: list[Point] = []
    for pattern in variant.claims:
        claims, _ = study.paper.select(pattern)
        if not claims:
            raise UserError(f'{study.id}: variant {variant.id}: no claim matches "{pattern}"')
        points += [claim.point for claim in claims]
    return unique_points(points)


def variant_cells(study: Study) -> list[Cell]:
    """Every grid point of every sensitivity run."""
    return [
        Cell.of(point, variant.id)
        for variant in study.variants
        for point in variant_points(study, variant)
    ]


def _quantities(study: Study, point: Point, run: Run) -> Mapping[str, float]:
    return study.quantities(run, point)
