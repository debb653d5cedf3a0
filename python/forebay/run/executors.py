"""Places where a sweep's runs happen: this machine's cores, or the workers of a Dask cluster.

Wherever they run, the journal of finished runs is the record of what is done.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from forebay import text
from forebay.errors import MachineError, UserError, nearest
from forebay.run.jobs import Job, Run, RunFailedError, build, cores, run_jobs, version
from forebay.run.pool import Pool
from forebay.run.progress import note, say

__all__ = ["Executor", "executor"]

Take = Callable[[], int | None]
Done = Callable[[int, Run], None]
Failed = Callable[[int, str], None]
Tick = Callable[[Sequence[float]], None]

AHEAD = 2
"""Number of runs that each thread of a cluster has, so that it need not wait for its next one."""

CONNECT_S = 10
WORKERS_S = 8
"""Time that a cluster's scheduler may take to answer, and its first worker to come."""

TICK_S = 0.05
LOOK_S = 2.0
"""Intervals of looks whether a run has ended, and whether there are workers."""

TELL_S = 60.0
GIVE_UP_S = 600.0
"""Times after which a wait without workers is told again, and given up."""

MAX_NAMED = 3
"""Number of workers that a message names."""


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

    Raises `UserError` for another name, or if Dask is not installed or not reached, and
    `MachineError` if no worker can make runs.
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
    """A cluster's workers, one run a task; a lost worker's runs are made again elsewhere.

    Raises `MachineError`, before anything runs, if no worker is connected within `WORKERS_S`
    seconds, or one has no Forebay or another build of it.
    """

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
            self._client: Any = self._distributed.Client(address, timeout=f"{CONNECT_S}s")
        except (OSError, TimeoutError, ValueError) as error:
            raise UserError(f"--executor: no Dask scheduler at {address}: {error}") from None
        try:
            self._see_workers()
        except BaseException:
            self._client.close()
            raise

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
                future = self._client.submit(eval, REMOTE, {"job": jobs[at].line}, pure=False)
                places[future.key], futures[future.key] = at, future
                finished.add(future)

        try:
            feed()
            while futures:
                self._wait(finished, len(futures), tick)
                future = next(finished)
                del futures[future.key]
                self._hand_over(future, places.pop(future.key), done, failed)
                tick([])
                feed()
        finally:
            self._client.cancel(list(futures.values()))

    def close(self) -> None:
        self._client.close()

    def _see_workers(self) -> None:
        """See that there are workers, and that each can make runs."""
        there = f"the Dask scheduler at {self._address}"
        start = f"start some with: dask worker {self._address}"
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_S)
        except TimeoutError:
            raise MachineError(f"--executor: no worker is connected to {there}; {start}") from None
        builds = self._builds()
        ours = f"build {build()}"
        wrong = [f"{name} has {found}" for name, found in sorted(builds.items()) if found != ours]
        if wrong:
            more = f" and {len(wrong) - MAX_NAMED} more" if len(wrong) > MAX_NAMED else ""
            raise MachineError(
                f"--executor: of {len(builds)} workers at {there} {len(wrong)} cannot make these "
                f"runs: {', '.join(wrong[:MAX_NAMED])}{more}; they need Forebay {version()}, "
                f"{ours}"
            )
        note(f"dask: {len(builds)} workers, {sum(self._client.nthreads().values())} threads")

    def _builds(self) -> dict[str, str]:
        """Build of the engine that each worker has, if any."""
        found: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def ask() -> None:
            try:
                found.put(self._client.run(eval, BUILD, on_error="return"))
            except Exception as error:
                found.put(error)

        # A worker that hangs would be waited for without end.
        threading.Thread(target=ask, daemon=True).start()
        try:
            answers = found.get(timeout=CONNECT_S)
        except queue.Empty:
            answers = TimeoutError(f"no answer within {CONNECT_S} s")
        if isinstance(answers, Exception):
            raise MachineError(f"--executor: workers at {self._address}: {answers}")
        there: dict[str, str] = {}
        for name, answer in answers.items():
            if isinstance(answer, ImportError):
                there[name] = "no Forebay"
            elif isinstance(answer, UserError):
                there[name] = f"no engine: {answer}"
            elif not isinstance(answer, Exception):
                there[name] = f"build {answer}"
            # All others were lost as they were asked.
        if not there:
            raise MachineError(f"--executor: no worker at {self._address} answers")
        return there

    def _wait(self, finished: Any, number: int, tick: Tick) -> None:
        """Wait until one of so many runs has ended; while no worker is there, say so."""
        waited, look, alone, tell = 0.0, LOOK_S, 0.0, 0.0
        while not finished.has_ready():
            time.sleep(TICK_S)
            tick([])
            waited += TICK_S
            if waited < look:
                continue
            look = waited + LOOK_S
            if self._client.status != "running" or self._client.nthreads():
                alone = waited
                continue
            if waited - alone >= GIVE_UP_S:
                raise MachineError(
                    f"--executor: no worker was connected to the Dask scheduler at {self._address} "
                    f"for {GIVE_UP_S:g} s; finished runs are kept"
                )
            if waited >= tell:
                tell = waited + TELL_S
                say(
                    f"forebay: no worker is connected to the Dask scheduler at {self._address}; "
                    f"{text.counted(number, 'run')} {'waits' if number == 1 else 'wait'} for one"
                )

    def _hand_over(self, future: Any, at: int, done: Done, failed: Failed) -> None:
        if future.status == "finished":
            document, reason = future.result()
            if document is None:
                failed(at, reason)
            else:
                done(at, Run(document))
        elif future.status == "error":
            error = future.exception()
            if isinstance(error, ImportError):
                # One that came later; the run itself is not to blame.
                raise MachineError(f"--executor: a worker has no Forebay: {error}")
            # Among them KilledWorker: several workers ended while they made it.
            failed(at, f"{type(error).__name__}: {error}")
        else:
            raise MachineError(f"--executor: the Dask scheduler at {self._address} was lost")


REMOTE = "__import__('forebay.run.executors', fromlist=['remote']).remote(job)"
"""Expression that a worker evaluates. A function of this package would be looked for when the task
arrives, by scheduler and worker, and one without Forebay would end in place of an answer."""
BUILD = "__import__('forebay.run.jobs', fromlist=['build']).build()"


def remote(job: str) -> tuple[dict[str, Any] | None, str]:
    """Makes one run on one core; returns its document, or the reason why there is none."""
    found: list[str] = []
    asked = Job.read(job)
    if asked.laws:
        return _aside(asked)
    try:
        run_jobs([asked], lambda _index, run: found.append(run.line), 1)
    except (UserError, RunFailedError) as error:
        return None, getattr(error, "reason", str(error))
    return json.loads(found[0]), ""


_HERE = threading.local()
"""Pool of one process of each thread of a cluster's worker, and the laws that it was begun for."""


def _aside(job: Job) -> tuple[dict[str, Any] | None, str]:
    """Makes a run with laws of one's own in a process of its own, which they may end, and which is
    begun anew for other laws: a cluster's worker stays, and may serve others."""
    if getattr(_HERE, "laws", None) != job.laws:
        if pool := getattr(_HERE, "pool", None):
            pool.close()
        _HERE.pool, _HERE.laws = Pool(1), job.laws
    places = deque([0])
    found: list[Run] = []
    reasons: list[str] = []
    _HERE.pool.run(
        [job],
        lambda: places.popleft() if places else None,
        lambda _at, run: found.append(run),
        lambda _at, reason: reasons.append(reason),
        lambda _shares: None,
    )
    return (dict(found[0].document), "") if found else (None, reasons[0])
