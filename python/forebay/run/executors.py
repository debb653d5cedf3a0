"""Where a sweep's runs happen: this machine's cores, or the workers of a Dask cluster.

Wherever they run, the journal of finished runs is the record of what is done.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from forebay.errors import MachineError, UserError, nearest
from forebay.run.jobs import Job, Run, RunFailedError, cores, run_jobs
from forebay.run.pool import Pool

__all__ = ["Executor", "executor"]

Take = Callable[[], int | None]
Done = Callable[[int, Run], None]
Failed = Callable[[int, str], None]
Tick = Callable[[Sequence[float]], None]

AHEAD = 2
"""How many runs each thread of a cluster has, so that it need not wait for its next one."""


class Executor(Protocol):
    """Makes runs and hands each over as it ends, in any order."""

    def run(self, jobs: Sequence[Job], take: Take, done: Done, failed: Failed, tick: Tick) -> None:
        """Make the runs whose places in `jobs` are what `take` gives, until it gives `None`.

        A run that gives no result is handed to `failed` with the reason, and costs no other run.
        """

    def close(self) -> None:
        """Drop what is not finished."""


def executor(name: str, threads: int | None) -> Executor:
    """`local`, or `dask:ADDRESS` for the scheduler at that address.

    Raises `UserError` for another name, or if Dask is not installed or not reached.
    """
    kind, _, address = name.partition(":")
    if kind == "local" and not address:
        return Pool(threads or cores())
    if kind == "dask" and address:
        return _Dask(address)
    raise UserError(
        f'--executor: read "{name}"{nearest(kind, ["local", "dask"])}; allowed are local and '
        "dask:ADDRESS, such as dask:tcp://10.0.0.1:8786"
    )


class _Dask:
    """A cluster's workers, one run a task; a lost worker's runs are made again elsewhere."""

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise UserError(
                "--executor: Dask is not installed; pip install 'forebay[cluster]'"
            ) from None
        self._distributed: Any = distributed
        self._address = address
        try:
            self._client: Any = self._distributed.Client(address, timeout="10s")
        except (OSError, TimeoutError, ValueError) as error:
            raise UserError(f"--executor: no Dask scheduler at {address}: {error}") from None

    def run(self, jobs: Sequence[Job], take: Take, done: Done, failed: Failed, tick: Tick) -> None:
        threads = sum(self._client.nthreads().values())
        places: dict[str, int] = {}
        futures: dict[str, Any] = {}
        finished = self._distributed.as_completed()

        def feed() -> None:
            while len(futures) < max(1, AHEAD * threads):
                at = take()
                if at is None:
                    return
                future = self._client.submit(_remote, jobs[at], pure=False)
                places[future.key], futures[future.key] = at, future
                finished.add(future)

        try:
            feed()
            while futures:
                future = next(finished)
                del futures[future.key]
                self._hand_over(future, places.pop(future.key), done, failed)
                tick([])
                feed()
        finally:
            self._client.cancel(list(futures.values()))

    def close(self) -> None:
        self._client.close()

    def _hand_over(self, future: Any, at: int, done: Done, failed: Failed) -> None:
        if future.status == "finished":
            document, reason = future.result()
            if document is None:
                failed(at, reason)
            else:
                done(at, Run(document))
        elif future.status == "error":
            # Among them KilledWorker: several workers ended while they made it.
            error = future.exception()
            failed(at, f"{type(error).__name__}: {error}")
        else:
            raise MachineError(f"--executor: the Dask scheduler at {self._address} was lost")


def _remote(job: Job) -> tuple[dict[str, Any] | None, str]:
    """What a worker does: one run on one core; its document, or why there is none."""
    found: list[str] = []
    try:
        run_jobs([job], lambda _index, run: found.append(run.line), 1)
    except (UserError, RunFailedError) as error:
        return None, getattr(error, "reason", str(error))
    return json.loads(found[0]), ""
