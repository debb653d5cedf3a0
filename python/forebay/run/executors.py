"""Where a sweep's runs happen: this machine's cores, or the workers of a Dask cluster.

Wherever they run, the journal of finished runs is the record of what is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from forebay.errors import UserError, nearest
from forebay.run.jobs import Job, Run, run_jobs

__all__ = ["Executor", "executor"]

Done = Callable[[int, Run], None]
Tick = Callable[[Sequence[float]], None]


class Executor(Protocol):
    """Runs jobs and hands each over as it finishes, in any order."""

    def run(self, jobs: Sequence[Job], done: Done, tick: Tick) -> None:
        """Run all jobs. `KeyboardInterrupt` stops them; finished ones were handed over."""


def executor(name: str, threads: int | None) -> Executor:
    """`local`, or `dask:ADDRESS` for the scheduler at that address.

    Raises `UserError` for another name, or if Dask is not installed or not reached.
    """
    kind, _, address = name.partition(":")
    if kind == "local" and not address:
        return _Local(threads)
    if kind == "dask" and address:
        return _Dask(address)
    raise UserError(
        f'--executor: read "{name}"{nearest(kind, ["local", "dask"])}; allowed are local and '
        "dask:ADDRESS, such as dask:tcp://10.0.0.1:8786"
    )


class _Local:
    """The engine's own threads."""

    def __init__(self, threads: int | None) -> None:
        self._threads = threads

    def run(self, jobs: Sequence[Job], done: Done, tick: Tick) -> None:
        run_jobs(jobs, done, self._threads, tick)


class _Dask:
    """A cluster's workers, one run a task; a lost worker's runs are done again elsewhere."""

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise UserError(
                "--executor: Dask is not installed; pip install 'forebay[cluster]'"
            ) from None
        self._distributed: Any = distributed
        try:
            self._client: Any = self._distributed.Client(address, timeout="10s")
        except (OSError, TimeoutError, ValueError) as error:
            raise UserError(f"--executor: no Dask scheduler at {address}: {error}") from None

    def run(self, jobs: Sequence[Job], done: Done, tick: Tick) -> None:
        futures = [self._client.submit(_remote, job, pure=False) for job in jobs]
        index = {future.key: number for number, future in enumerate(futures)}
        try:
            for future in self._distributed.as_completed(futures):
                done(index[future.key], Run(future.result()))
                tick([])
        finally:
            self._client.cancel(futures)


def _remote(job: Job) -> dict[str, Any]:
    """What a worker does: one run on one core."""
    found: list[Run] = []
    run_jobs([job], lambda _index, run: found.append(run), 1)
    return dict(found[0].document)
