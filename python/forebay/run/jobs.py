"""Running scenarios: one run or a thousand, on this machine's cores.

A `Job` says what to run; `run_jobs` runs many without the interpreter lock and hands each `Run`
over as it finishes. Results depend on the scenario, the seed and the replication number, never on
the number of threads or the order in which runs end.
"""

# ruff: noqa: PLC0415 (the engine may not be built, and json is slow to import)

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from forebay.errors import LawError, StackError, UserError, nearest, read_text
from forebay.native import native
from forebay.run.laws import law_files, law_timeout
from forebay.run.limits import LimitError, available_memory
from forebay.run.measured import measured
from forebay.run.repeat import repeat_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any, Protocol, TypeAlias

    from forebay._native import Document
    from forebay.run.laws import LawFile

    class Hosts(Protocol):
        """Hosts with stacks in Python, as the engine takes them."""

        def as_native(self) -> Mapping[str, Any]: ...


__all__ = [
    "Job",
    "Run",
    "RunFailedError",
    "Tables",
    "build",
    "check",
    "cores",
    "expanded",
    "files_read",
    "load",
    "native",
    "run_jobs",
    "version",
]

Tables: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""Recorded data: columns (NumPy arrays, or lists of words) by table and name."""

# The next two are written out: `forebay run` would start half as fast again if it had to import
# dataclasses for them.


class Job:
    """One run: a scenario, changes to it, and which random numbers it draws.

    `text` is the scenario file's text and `name` what errors call it. `overrides` are `PATH=VALUE`
    assignments on top of it. `seed` is the root seed, that of the scenario if `None`; `replication`
    counts independent repetitions. `until` replaces the scenario's duration (`"10 s"`). `record`
    switches on what the scenario's `[record]` asks for. `threads` is how many cores this one run
    may use: a network of several partitions joined by links with a delay runs on two or more, with
    the same result. `check` repeats the run, observed, and checks everything that must hold in any
    run, among it that it gives the same again. `ties` counts simultaneous arrivals, in the order of
    the scenario (0) or in a random one of that number. `max_packets`, `max_memory` in bytes
    (`None`: what the machine has left) and `timeout` in seconds bound what it may take: a run that
    exceeds them has failed. `command`, the command that gives the run again, is kept in its
    document. `outputs` are the words of that command that say which files are written. `measures`
    is a plan of `forebay.run.measured`: what is measured of its recorded series. `stack` is what a
    program puts in place of the group `stack` (`forebay.stacks.programs`), and empty otherwise.
    `hosts` are stacks in Python (`forebay.host`); such a job stays in its process.

    `laws` are the files of laws of one's own that another process must load for it, each a path and
    a hash of what it held, and `law_timeout` the seconds that a call of them may take there; left
    empty, they are those of the process that sends it (`line`).
    """

    text: str
    name: str
    overrides: tuple[str, ...]
    seed: int | None = None
    replication: int = 0
    until: str | None = None
    record: bool = False
    threads: int = 1
    check: bool = False
    ties: int | None = None
    command: str | None = None
    max_packets: int | None = None
    max_memory: int | None = None
    timeout: float | None = None
    outputs: tuple[str, ...] = ()
    measures: str = ""
    stack: str = ""
    hosts: Hosts | None = None
    laws: tuple[LawFile, ...] = ()
    law_timeout: float | None = None

    def __init__(
        self,
        text: str,
        name: str = "scenario",
        overrides: tuple[str, ...] = (),
        **others: Any,
    ) -> None:
        self.text = text
        self.name = name
        self.overrides = overrides
        for key, value in others.items():
            if key not in Job.__annotations__:
                raise TypeError(f"a job has no {key!r}{nearest(key, Job.__annotations__)}")
            setattr(self, key, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self.as_native() == other.as_native()

    def but(self, **changes: Any) -> Job:
        """The same job with other values for some of these."""
        return Job(**{**vars(self), **changes})

    @property
    def line(self) -> str:
        """The job as JSON on one line, for another process; `read` makes it one again. Raises
        `UserError` if it has hosts."""
        import json

        if self.hosts is not None:
            raise UserError(
                f"{self.name}: its hosts have stacks in Python, which stay in a process"
            )
        fields = {name: getattr(self, name) for name in Job.__annotations__ if name != "hosts"}
        fields["laws"] = self.laws or law_files()
        fields["law_timeout"] = self.law_timeout or law_timeout()
        return json.dumps(fields)

    @classmethod
    def read(cls, line: str) -> Job:
        """The job that gave this `line`."""
        import json

        fields = json.loads(line)
        laws = tuple((str(path), str(contents)) for path, contents in fields["laws"])
        return cls(**{**fields, "overrides": tuple(fields["overrides"]), "laws": laws})

    def as_native(self) -> dict[str, Any]:
        """The job as the engine takes it."""
        return {
            "text": self.text,
            "name": self.name,
            "set": list(self.overrides),
            "seed": self.seed,
            "replication": self.replication,
            "until": self.until,
            "record": self.record,
            "threads": self.threads,
            "check": self.check,
            "ties": self.ties,
            "command": self.command,
            "max_packets": self.max_packets,
            "max_memory": self.max_memory,
            "timeout": self.timeout,
            "hosts": None if self.hosts is None else self.hosts.as_native(),
        }


class Run:
    """Result of one run: the document of `forebay run --json`, and recorded tables if any.

    The document is given as such, or as JSON: a string, or what has JSON as its `str`, and is not
    written before it is asked for.
    """

    __slots__ = ("_document", "_named", "tables")

    def __init__(
        self, document: Mapping[str, Any] | str | Document, tables: Tables | None = None
    ) -> None:
        self._document = document
        self._named: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
        self.tables: Tables = {} if tables is None else tables

    @property
    def document(self) -> Mapping[str, Any]:
        """The document; what its columns mean is in the reference of results."""
        if isinstance(self._document, dict):
            return self._document
        import json

        document: dict[str, Any] = json.loads(str(self._document))
        self._document = document
        return document

    @property
    def text(self) -> str:
        """The document as `forebay run --json` prints it."""
        import json

        return json.dumps(self.document, indent=1)

    @property
    def line(self) -> str:
        """The document as JSON on one line."""
        import json

        if isinstance(self._document, dict):
            return json.dumps(self._document)
        return str(self._document)

    def flows(self, group: str) -> list[Mapping[str, Any]]:
        """Every flow of a group, in order. Raises `KeyError` for an unknown group."""
        found: list[Mapping[str, Any]] = [
            _Row(flow) for flow in self.document["flows"] if flow["group"] == group
        ]
        if not found:
            raise KeyError(f"no flows {group!r}{_known(self.document['groups'])}")
        return found

    def group(self, name: str) -> Mapping[str, Any]:
        """The sums over a group of flows. Raises `KeyError` for an unknown group."""
        return self._only("groups", name, "flows")

    def link(self, name: str) -> Mapping[str, Any]:
        """The row of one direction of a link. Raises `KeyError` for an unknown one."""
        return self._only("links", name, "link")

    def call_class(self, name: str) -> Mapping[str, Any]:
        """The counters of a class of calls. Raises `KeyError` for an unknown one."""
        return self._only("calls", name, "calls")

    def row(self, kind: str, name: str) -> Mapping[str, Any]:
        """The row with a name among those of a kind: `"links"`, `"calls"`, `"paced"`, ...

        Of `"flows"`, which also takes names of groups, a group's row is the sum over its flows; a
        flow that is alone in its group has the columns of both. Raises `KeyError` for an unknown
        kind or name.
        """
        if kind != "flows":
            return self._only(
                kind,
                name,
                kind.removesuffix("s") if kind in ("links", "groups", "hosts", "rings") else kind,
            )
        found = [row for rows in ("flows", "groups") for row in self._of(rows).get(name, ())]
        if not found:
            raise KeyError(f"no flows {name!r}{_known(self.document['groups'])}")
        return _Row({key: value for row in found for key, value in row.items()})

    def _of(self, kind: str) -> dict[str, list[Mapping[str, Any]]]:
        """The rows of a kind by name."""
        named = self._named.get(kind)
        if named is None:
            named = self._named[kind] = {}
            for row in self.document[kind]:
                named.setdefault(row["name"], []).append(row)
        return named

    def _only(self, kind: str, name: str, what: str) -> Mapping[str, Any]:
        """The row of a kind with a name; `what` is what errors call it."""
        for row in self._of(kind).get(name, ()):
            return _Row(row)
        raise KeyError(f"no {what} {name!r}{_known(self.document[kind])}")


class _Row(dict[str, object]):
    """A row of results; of a column that it lacks, the error names the nearest."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        near = nearest(str(name), self)
        raise KeyError(f"no column {name!r}{near or '; there are ' + ', '.join(self)}")


class RunFailedError(RuntimeError):
    """The engine gave up on a run: a bug in it, not in the scenario. `reason` is that of the first
    run on which it did."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def load(path: Path | str) -> Job:
    """The job of running a scenario file as it stands.

    Raises `UserError` if it cannot be read; what it says is checked when it is run.
    """
    # A name of a file need not be text.
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return Job(read_text(path), name)


def check(job: Job) -> dict[str, Any]:
    """Check a scenario without running it; what it consists of.

    Keys: `name`, `scenario_hash`, `duration_s`, `warm_up_s`, `nodes`, `links`, `flows`,
    `expected_packets`, `expected_memory` in bytes, `warnings` of what can be run and is hardly
    meant, `resolved`, every parameter by key path, defaults included, and `laws`, those of one's
    own that it chooses, if it does: `category`, `name`, `file`, `contents` (a hash), `ran_as`
    (`python`, `numba 0.68.1`, `library`), `abi`. Raises `UserError`.
    """
    import json

    engine = native()
    overrides = list(job.overrides)
    if job.until is not None:
        overrides.append(f'duration="{job.until}"')
    try:
        hosts = job.as_native()["hosts"]
        description: dict[str, Any] = json.loads(engine.check(job.text, job.name, overrides, hosts))
    except engine.ScenarioError as error:
        raise UserError(str(error)) from None
    return description


def expanded(text: str, name: str) -> dict[str, Any]:
    """The tables of a scenario with what it includes from files beside `name`, and what it repeats
    for sites. Raises `UserError`; values are not checked."""
    import json

    engine = native()
    try:
        tables: dict[str, Any] = json.loads(engine.expand(text, name))
    except engine.ScenarioError as error:
        raise UserError(str(error)) from None
    return tables


def edited(text: str, name: str, removed: Sequence[str], assignments: Sequence[str]) -> str:
    """The text of a scenario file without the key paths `removed`, and with `assignments`
    (`PATH=VALUE`) made in it; comments and layout stay. Raises `UserError` if the text is no TOML
    or a path leads nowhere; what it says is not checked."""
    engine = native()
    try:
        return str(engine.edit(text, name, removed, assignments))
    except engine.ScenarioError as error:
        raise UserError(str(error)) from None


def data_file(name: str, file: str) -> str:
    """The text of a data file that the scenario file `name` names as `file`; of a capture, its
    packets as a table. Raises `UserError` if it cannot be read."""
    engine = native()
    try:
        return str(engine.data_file(name, file))
    except engine.ScenarioError as error:
        raise UserError(f"{name}: {error}") from None


def files_read(job: Job) -> list[str]:
    """The files that a job reads: its scenario, and what that includes and names as data. Raises
    `UserError`."""
    engine = native()
    try:
        return [job.name, *map(str, engine.files_of(job.text, job.name, list(job.overrides)))]
    except engine.ScenarioError as error:
        raise UserError(str(error)) from None


def run_jobs(
    jobs: Sequence[Job],
    done: Callable[[int, Run], None],
    threads: int | None = None,
    tick: Callable[[Sequence[float]], None] | None = None,
    begins: Callable[[Sequence[int], Sequence[Sequence[str]]], None] | None = None,
) -> None:
    """Run all jobs; `done(index, run)` is called in this thread as each finishes, in any order.

    `threads` defaults to the cores this process may use. `tick` is told about ten times a second
    what share of each job is done, and `begins`, before the first begins, how many packets the
    sources of each are expected to send, and the warnings of its scenario. On Ctrl-C runs under
    way are dropped and `KeyboardInterrupt` is raised; finished ones have been handed over. Raises
    `UserError`, before anything runs, if a scenario is wrong; after all other jobs,
    `RunFailedError` if the engine failed on one, else `LawError` or `StackError` if a law or a
    stack of one's own ended one, and else `LimitError` if one exceeded its limits. Jobs with hosts
    go one after the other unless `threads` are given: the interpreter runs one at a time.
    """
    engine = native()
    failed: list[tuple[Job, Exception]] = []
    threads = threads or (1 if any(job.hosts is not None for job in jobs) else cores())
    if any(job.record for job in jobs):
        # The engine imports it for tables; interrupted there, it would give up with a traceback.
        import numpy  # noqa: F401

    def receive(index: int, document: Document, tables: Tables) -> None:
        run = Run(document, tables)
        if plan := jobs[index].measures:
            run = Run({**run.document, "measured": measured(run, plan)}, tables)
        done(index, run)

    def fail(index: int, error: Exception) -> None:
        failed.append((jobs[index], error))

    memory = available_memory()
    share = None if memory is None else memory // max(1, min(threads, len(jobs)))
    try:
        natives = [job.as_native() for job in jobs]
        for each in natives:
            if each["max_memory"] is None:
                each["max_memory"] = share
        engine.run_batch(natives, threads, receive, fail, tick, begins)
    except engine.ScenarioError as error:
        raise UserError(str(error)) from None
    _raise_first(engine, failed, len(jobs))


def _raise_first(engine: Any, failed: Sequence[tuple[Job, Exception]], jobs: int) -> None:
    """Raise what became of the runs without a result, if there are some among so many `jobs`: the
    gravest kind, with the first run of that."""
    kinds = (
        (engine.LawError, LawError),
        (engine.StackError, StackError),
        (engine.LimitError, LimitError),
    )
    known = tuple(kind for kind, _ in kinds)
    if bugs := [(job, str(error)) for job, error in failed if not isinstance(error, known)]:
        told = [
            f"{_repeated(job)}: {reason}" + (f"\nrepeat: {repeat_line(job)}" if job.command else "")
            for job, reason in bugs[:3]
        ]
        raise RunFailedError(
            "the engine failed on a run; this is a bug in Forebay, please report it to its "
            "authors with the scenario and this message: " + "; ".join(told),
            bugs[0][1],
        )
    for kind, raised in kinds:
        if found := [(job, error) for job, error in failed if isinstance(error, kind)]:
            ended = [(job, str(error)) for job, error in found]
            raise raised(_told(ended, jobs), ended[0][1]) from found[0][1].__cause__


def _told(found: Sequence[tuple[Job, str]], jobs: int) -> str:
    """The first of the runs that ended too early, and why, and how many others did."""
    job, reason = found[0]
    where = job.name if jobs == 1 else _repeated(job)
    others = "" if len(found) == 1 else f"; so did {len(found) - 1} more"
    return f"{where}: {reason}{others}"


def _repeated(job: Job) -> str:
    """Name of a run among others of the same file."""
    return f"{job.name}, replication {job.replication}, seed {job.seed}"


def cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def version() -> str:
    """Version of the engine."""
    return str(native().version())


def build() -> str:
    """Build of the engine: a hash of its sources, the same wherever and however they are compiled.

    It covers the Rust crates that a result is computed by and the locked versions of what they
    depend on, not the Python of studies and statistics.
    """
    return str(native().build())


def _known(rows: Sequence[Mapping[str, Any]]) -> str:
    return "; there are " + (", ".join(str(row["name"]) for row in rows) or "none")
