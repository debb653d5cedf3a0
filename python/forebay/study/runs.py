"""The runs of a study, made side by side, or taken from a journal where they are finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.run.jobs import Run, Tables, run_jobs
from forebay.study.journal import Finished, RunJournal
from forebay.study.results import FACTS, Cell, Outcome

if TYPE_CHECKING:
    from forebay.run.progress import Meter
    from forebay.study.tasks import Task

__all__ = ["Runs"]


@dataclass(frozen=True, slots=True)
class Runs:
    """Makes runs and adds what they measured and recorded to `outcome`.

    What `journal` holds is not run again, and what finishes goes into it. `jobs` run side by side,
    by default as many as there are cores. `cost` is what runs of some cells cost, for the estimate
    of the time that is left.
    """

    outcome: Outcome
    journal: RunJournal | None
    jobs: int | None
    cost: Callable[[Sequence[Cell]], float]

    def batch(self, tasks: Sequence[Task], progress: Meter) -> None:
        """Run what is not in the journal."""
        samples = self.outcome.samples
        samples.expect([task.cell for task in tasks if task.cell is not None])
        left = [task for task in tasks if not self._restored(task, progress)]
        costs = [self.cost([task.costs_like]) for task in left]
        progress.batch(costs)

        def done(index: int, run: Run) -> None:
            task = left[index]
            finished = _finished(task, run)
            if self.journal is not None:
                self.journal.keep(task, finished)
            self._take(task, finished)
            progress.finished(costs[index])

        run_jobs([task.job for task in left], done, self.jobs, progress.tick)

    def _restored(self, task: Task, progress: Meter) -> bool:
        """True if a run was in the journal; then it counts as run."""
        finished = self.journal.find(task) if self.journal is not None else None
        if finished is None:
            return False
        self._take(task, finished)
        progress.expect(-1, -self.cost([task.costs_like]))
        return True

    def _take(self, task: Task, finished: Finished) -> None:
        if task.cell is not None:
            self.outcome.samples.add(task.cell, task.replication, finished.facts)
        if task.recording is not None:
            found = {**self.outcome.recordings, task.recording.id: finished.tables}
            ids = [recording.id for recording in self.outcome.study.recordings]
            self.outcome.recordings = {name: found[name] for name in ids if name in found}


def _finished(task: Task, run: Run) -> Finished:
    """Record to keep of a run: what identifies it, what was measured, what was recorded."""
    facts: dict[str, Any] = {name: run.document[name] for name in FACTS}
    if task.measure is not None:
        facts |= {name: _plain(value) for name, value in task.measure(run).items()}
    return Finished(facts, _arrow(task.recording.tables(run)) if task.recording else {})


def _plain(value: Any) -> Any:
    """A NumPy number as Python's, as it comes back from the journal."""
    return value.item() if hasattr(value, "item") else value


def _arrow(tables: Tables) -> dict[str, Any]:
    import pyarrow as pa

    return {name: pa.table(dict(columns)) for name, columns in tables.items()}
