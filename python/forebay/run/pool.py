"""Runs in processes of their own: whatever a run does to its process, it costs that run alone.

A worker (`forebay.run.worker`) that ends while it makes a run is replaced. If it ended itself, by a
fault of memory or a failed allocation, the run has failed, and would again. If it was ended from
outside (SIGKILL, SIGTERM), the run is made again, up to `ATTEMPTS` times: the system may have
chosen it because memory ran out.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from forebay.errors import MachineError
from forebay.run.jobs import Job, Run
from forebay.run.limits import available_memory

__all__ = ["Pool", "Speech"]

ATTEMPTS = 3
"""Attempts at a run whose worker is ended from outside."""

STARTS = 20
"""Number of workers in a row that may end before they are ready."""

MAX_SAID_BYTES = 2000
"""Bytes that are read of a worker's last words, for the reason why it ended."""

TICK_S = 0.1
"""Interval at which progress is shown."""

FROM_OUTSIDE = frozenset(
    -getattr(signal, name) for name in ("SIGKILL", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

STOPPED = 2
"""Exit status of a worker in which a call of a law took too long."""

START = "import sys; sys.path.append(sys.argv[1]); from forebay.run.worker import main; main()"

Take = Callable[[], int | None]
Done = Callable[[int, Run], None]
Failed = Callable[[int, str], None]
Tick = Callable[[Sequence[float]], None]
Events = queue.SimpleQueue[tuple["_Worker", str]]


@dataclass(frozen=True, slots=True)
class Speech:
    """A command whose processes make runs, and what is said to them and heard of them.

    `told` is the line for the job at a place, and `heard` makes of an answer, and of the place of
    the job at work or `None`, one as `forebay.run.worker` gives it. One that is `ready` takes jobs
    before it has said anything.
    """

    command: Sequence[str]
    told: Callable[[int, Job], str]
    heard: Callable[[int | None, str], str]
    ready: bool = False


OURS = Speech(
    [sys.executable, "-P", "-c", START, str(Path(__file__).parents[2])],
    lambda _at, job: job.line,
    lambda _at, line: line,
)
"""That of `forebay.run.worker`."""


class Pool:
    """Workers of this machine, started as they are needed. `close` ends them."""

    def __init__(self, size: int, speech: Speech = OURS) -> None:
        self._size = size
        self._speech = speech
        memory = available_memory()
        # What a run may take of its own accord: workers do not know of each other.
        self._share = None if memory is None else memory // size
        self._events: Events = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._lost = 0

    def run(self, jobs: Sequence[Job], take: Take, done: Done, failed: Failed, tick: Tick) -> None:
        """Make runs as `take` gives their places in `jobs`, until it gives `None`.

        Each is handed to `done` or, with a reason, to `failed` as it ends, in this thread. Raises
        `MachineError` if no worker can be started.
        """
        again: list[int] = []
        attempts: dict[int, int] = {}

        def following() -> int | None:
            return again.pop() if again else take()

        more = self._feed(jobs, following)
        while any(worker.at is not None for worker in self._workers) or more:
            try:
                worker, line = self._events.get(timeout=TICK_S)
            except queue.Empty:
                tick([worker.share for worker in self._workers if worker.at is not None])
                continue
            at = worker.at
            if line:
                line = self._speech.heard(at, line)
            if not line:
                self._bury(worker)
                if at is not None:
                    attempts[at] = attempts.get(at, 0) + 1
                    if worker.status in FROM_OUTSIDE and attempts[at] < ATTEMPTS:
                        again.append(at)
                    else:
                        failed(at, worker.epitaph())
            elif line[0] == "S":
                worker.share = float(line[1:])
                continue
            elif line[0] == "R":
                worker.ready, self._lost = True, 0
            elif at is not None:
                worker.at = None
                if line[0] == "D":
                    done(at, Run(line[1:]))
                else:
                    failed(at, str(json.loads(line[1:])))
            more = self._feed(jobs, following)

    def close(self) -> None:
        """End all workers; what they are making is dropped."""
        for worker in self._workers:
            worker.end()
        self._workers = []

    def _feed(self, jobs: Sequence[Job], following: Take) -> bool:
        """Give idle workers something to do; whether workers that start may get something."""
        at = 0
        while at < min(self._size, len(jobs)):
            if at == len(self._workers):
                self._workers.append(_Worker(self._events, self._speech))
            worker = self._workers[at]
            at += 1
            if worker.ready and worker.at is None:
                place = following()
                if place is None:
                    return False
                job = jobs[place]
                worker.give(place, job.but(max_memory=job.max_memory or self._share))
        return any(not worker.ready for worker in self._workers)

    def _bury(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.end()
        if worker.ready:
            return
        self._lost += 1
        if self._lost >= STARTS or worker.status not in FROM_OUTSIDE:
            raise MachineError(f"a process that makes runs cannot start: {worker.epitaph()}")


class _Worker:
    """A process; `at` is the place of the job that it has."""

    def __init__(self, events: Events, speech: Speech) -> None:
        self.at: int | None = None
        self.share = 0.0
        self.ready = speech.ready
        self._told = speech.told
        self.status = 0
        self._last = ""
        # Not a pipe: it is not read before the process ends, and might be full by then.
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                speech.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                encoding="utf-8",
                env={**os.environ, "PYTHONUTF8": "1"},
            )
        except OSError as error:
            self._said.close()
            name = speech.command[0]
            raise MachineError(f"{name}: cannot be started: {error.strerror}") from None
        threading.Thread(target=self._listen, args=(events,), daemon=True).start()

    def give(self, at: int, job: Job) -> None:
        """Have it make a run."""
        self.at, self.share = at, 0.0
        # If it has ended, that is about to be heard.
        with suppress(OSError):
            self._stdin.write(self._told(at, job) + "\n")
            self._stdin.flush()

    def end(self) -> None:
        """End it if it has not ended."""
        self._process.kill()
        self.status = self._process.wait()
        # What it was not given any more has nowhere to go.
        with suppress(OSError):
            self._stdin.close()
        with self._said as said:
            said.seek(0, os.SEEK_END)
            said.seek(max(0, said.tell() - MAX_SAID_BYTES))
            self._last = said.read().decode("utf-8", "replace").strip()

    def epitaph(self) -> str:
        """Words on how it ended, and the last that it said; it must have ended."""
        lines = self._last.splitlines()
        if lines and self.status == STOPPED:
            return lines[-1].removeprefix("forebay: error: ")
        try:
            how = f"signal {signal.Signals(-self.status).name}"
        except ValueError:
            how = f"exit status {self.status}"
        last = f" after saying: {lines[-1]}" if lines else ""
        return f"its process ended with {how}{last}"

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _listen(self, events: Events) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as answers:
            for line in answers:
                # A line without an end is what a process that was killed left of it.
                if line.endswith("\n"):
                    events.put((self, line[:-1]))
        events.put((self, ""))
