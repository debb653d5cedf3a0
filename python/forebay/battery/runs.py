"""Runs of the battery: in processes of their own, so that a law that crashes or hangs costs one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from forebay.run.jobs import Job, Run, cores
from forebay.run.laws import law_timeout, near
from forebay.run.pool import Pool
from forebay.run.progress import meter
from forebay.run.repeat import quoted
from forebay.run.store import write_text

__all__ = ["MAX_PACKETS", "MAX_SECONDS", "Bench", "Command", "Outcome"]

MAX_PACKETS = 2_000_000
"""Packets that a run of the battery may send: ten times as many as any of ours."""

MAX_SECONDS = 30.0
"""Time that a run of the battery may take."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: its document, or the reason why there is none. It is `refused` if the
    scenario was, before anything ran."""

    document: Mapping[str, Any] | None = None
    reason: str = ""
    refused: bool = False

    @property
    def digest(self) -> str:
        """The digest of the run; empty if there was none."""
        return "" if self.document is None else str(self.document["digest"])

    def link(self, name: str) -> Mapping[str, Any]:
        """The counters of a link."""
        assert self.document is not None
        found: Mapping[str, Any] = next(
            row for row in self.document["links"] if row["name"] == name
        )
        return found


@dataclass(frozen=True, slots=True)
class Command:
    """A command that has ended: its exit status, its output, the last that it said besides."""

    status: int
    output: str
    said: str


@dataclass(slots=True)
class Bench:
    """Runs scenarios with the laws of a file, and keeps those that fail in a folder."""

    path: str
    folder: Path
    label: str
    _pool: Pool | None = field(default=None, repr=False)

    def close(self) -> None:
        """End its processes."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def job(self, scenario: Mapping[str, Any], **options: Any) -> Job:
        """The job of running a scenario, within the limits of the battery."""
        limits = {"max_packets": MAX_PACKETS, "timeout": MAX_SECONDS}
        return Job(tomli_w.dumps(scenario), "scenario.toml", **{**limits, **options})

    def run(self, jobs: Sequence[Job], fresh: Mapping[str, str] | None = None) -> list[Outcome]:
        """Make runs, each in a process that makes no other meanwhile; with `fresh`, all in one that
        is new, and has these variables of the environment."""
        outcomes: dict[int, Outcome] = {}
        waiting = iter(range(len(jobs)))
        with meter(len(jobs), self.label) as progress:

            def done(index: int, run: Run) -> None:
                outcomes[index] = Outcome(run.document)
                progress.finished()

            def failed(index: int, reason: str) -> None:
                name = f"{jobs[index].name}: "
                refused = reason.startswith(name)
                outcomes[index] = Outcome(None, reason.removeprefix(name), refused)
                progress.finished()

            given = jobs, lambda: next(waiting, None), done, failed, progress.tick
            if fresh is None:
                self._pool = self._pool or Pool(cores())
                self._pool.run(*given)
            else:
                with environment(**fresh), closing(Pool(1)) as pool:
                    pool.run(*given)
        return [outcomes[index] for index in range(len(jobs))]

    def keep(self, name: str, scenario: Mapping[str, Any], *options: str) -> str:
        """Write a scenario that failed to the folder; the command that runs it again."""
        path = self.folder / f"{name}.toml"
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(path, tomli_w.dumps(scenario))
        return quoted(["forebay", "run", str(path), *options, *self.laws()])

    def command(self, words: Sequence[str], **values: str) -> Command:
        """Run a command of Forebay with the laws in a process of its own, with these variables of
        the environment; it has as much time as a run."""
        start = "import sys; sys.path.append(sys.argv.pop(1)); "
        start += "from forebay.cli.commands import main"
        whence = str(Path(__file__).parents[2])
        given = [sys.executable, "-P", "-c", f"{start}; sys.exit(main())", whence]
        ran = subprocess.run(
            [*given, *words, *self.laws(), "--timeout", f"{MAX_SECONDS:g}"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONUTF8": "1", **values},
            check=False,
        )
        lines = ran.stderr.strip().splitlines() or [_ended(ran.returncode)]
        return Command(ran.returncode, ran.stdout, lines[-1].removeprefix("forebay: error: "))

    def laws(self) -> list[str]:
        """The options with which a command has the same laws."""
        seconds = law_timeout()
        limit = [] if seconds is None else ["--law-timeout", f"{seconds:g}"]
        return ["--laws", near(self.path), *limit]


def _ended(status: int) -> str:
    try:
        return f"its process ended with signal {signal.Signals(-status).name}"
    except ValueError:
        return f"its process ended with exit status {status}"


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Variables of the environment for the processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
