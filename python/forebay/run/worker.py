"""A worker: a process that makes one run at a time, and that a run may end without harm to others.

`forebay.run.pool` starts it. It reads jobs from standard input, a line of JSON each, and answers on
standard output with a letter and what belongs to it, a line each: `R` it is ready, `S` the share of
the run that is done, `D` the run's document, `F` why there is none. When standard input ends, the
process that started it is gone, and so is the worker, at once.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

from forebay.errors import UserError
from forebay.run.jobs import Job, Run, native, run_jobs
from forebay.run.laws import load_same

__all__ = ["main"]


def main() -> None:
    """Make runs until standard input ends."""
    # Ctrl-C in a terminal reaches the whole group of processes; who started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    # What anything else prints must not be taken for an answer.
    os.dup2(2, 1)
    native()
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()

    def answer(kind: str, what: str = "") -> None:
        answers.write(f"{kind}{what}\n")
        answers.flush()

    answer("R")
    while True:
        job = Job.read(jobs.get())

        def tick(shares: Sequence[float]) -> None:
            answer("S", str(shares[0]))

        def done(_index: int, run: Run) -> None:
            answer("D", run.line)

        try:
            load_same(job.laws, job.law_timeout)
            run_jobs([job], done, 1, tick)
        except (UserError, RuntimeError) as error:
            answer("F", json.dumps(getattr(error, "reason", str(error))))


def _listen(jobs: queue.SimpleQueue[Any]) -> None:
    for line in sys.stdin:
        jobs.put(line)
    # Without the interpreter: it would wait for the run.
    os._exit(0)
