"""Sweeps: a scenario with other values of its parameters, with replications and intervals.

A sweep file:

    name = "red against buffer size"            # default: the file's name
    scenario = "dumbbell.toml"                  # beside this file
    replications = 5                            # default 5
    seed = 1                                    # default: the scenario's
    quantities = ["flows.tcp.throughput_bps", "links.bottleneck.mean_queue_packets"]

    [grid]                                      # every combination is run
    "links.bottleneck.rate" = ["10 Mbit/s", "34 Mbit/s"]
    "links.bottleneck.queue.red.weight" = [0.001, 0.002, 0.004]

Instead of a grid, or beside it, a sweep can have variants with names, and keys that change together
(see `forebay.run.axes`). With none of these it is replications of the scenario as it stands.

A quantity is an expression over the values of a run (`forebay.run.expressions`): in the simplest
case `KIND.NAME.COLUMN`, where KIND is a kind of rows of `forebay run --json`: `hosts`, `links`,
`calls`, ..., or `flows` with the name of a group, summed over the group where that has a meaning
(throughput, packets) and averaged over its packets otherwise (mean delay). A table `[derived]`
gives names to expressions; without `quantities` these are looked at.

Every combination gets the same replication numbers, so that combinations see the same arrivals.
What is kept in the output folder is in `forebay.run.summary`. A sweep continues what its folder
holds.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay.errors import MachineError, UserError, located, read_text
from forebay.run.axes import (
    VARIANT,
    Axis,
    Combination,
    Value,
    combinations,
    read_axes,
    varied,
)
from forebay.run.executors import Executor
from forebay.run.expressions import Expression, derived, read
from forebay.run.jobs import Job, Run, build, check, load
from forebay.run.journal import Failure, Journal, Key, Record
from forebay.run.laws import law_words, refuse_unsaved
from forebay.run.limits import MAX_RUNS
from forebay.run.measured import part_of
from forebay.run.progress import meter, note
from forebay.run.quantities import refuse_absent
from forebay.run.repeat import repeat_line
from forebay.toml import inline, parse

__all__ = [
    "Planned",
    "Sweep",
    "failures",
    "load_sweep",
    "plan",
    "run_all",
    "run_missing",
    "settings_of",
    "try_points",
    "warnings",
]

WAIT_S = 0.2
"""Interval of looks whether runs that another process makes are finished."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    scenario: str
    name: str = ""
    replications: Annotated[int, Field(ge=1)] = 5
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    quantities: list[str] = []
    derived: dict[str, str] = {}
    variants: dict[str, dict[str, Any]] = {}
    zip: list[dict[str, Any]] = []
    grid: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep, read and checked: what to run and what to look at.

    `derived` are the expressions that have names of their own, whether they are looked at or not,
    and `settings` the options of the command that change what is run.
    """

    path: Path
    name: str
    scenario: Job
    replications: int
    seed: int | None
    quantities: tuple[Expression, ...]
    axes: tuple[Axis, ...]
    settings: tuple[str, ...] = ()
    derived: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def grid(self) -> dict[str, list[Value]]:
        """The values of each column that are varied."""
        return varied(self.axes)

    def job(self, combination: Combination, replication: int) -> Job:
        """One run."""
        return self.scenario.but(
            overrides=self.scenario.overrides + combination.assignments,
            seed=self.seed,
            replication=replication,
        )


def load_sweep(
    path: Path,
    overrides: Sequence[str] = (),
    until: str | None = None,
    seed: int | None = None,
) -> Sweep:
    """Read a sweep file and the scenario it names, with `PATH=VALUE` assignments on top of it, and
    another end or seed than those of the files.

    Raises `UserError` for anything wrong with either file; the scenario's contents are checked
    when it is run.
    """
    raw = parse(read_text(path, "a sweep"), path)
    try:
        if "links" in raw and "scenario" not in raw:
            raise UserError(
                f"{path}: is a scenario; a sweep is a file of its own that names one "
                f'(scenario = "{path.name}"), with quantities and what is varied, if anything is'
            )
        if "find" in raw:
            raise UserError(f"{path}: find: is for `forebay find {path}`; a sweep has a grid")
        file = _File.model_validate(raw)
    except ValidationError as error:
        raise located(path, error.errors(), _File.model_fields) from None
    axes = read_axes(str(path), file.variants, file.zip, file.grid)
    for name, option in (("duration", until), ("seed", seed)):
        if option is not None and any(name in choice.keys for axis in axes for choice in axis):
            flag = "--until" if name == "duration" else "--seed"
            raise UserError(f"{flag}: {path} varies {name}; leave one of the two out")
    names = derived(file.derived, f"{path}: derived")
    if not names and not file.quantities:
        raise UserError(f"{path}: quantities: missing; name some, or define them in [derived]")
    asked = [read(text, "quantities", names) for text in file.quantities] or names.values()
    runs = file.replications * math.prod(map(len, axes))
    if runs > MAX_RUNS:
        raise UserError(f"{path}: asks for {runs} runs; allowed are {MAX_RUNS}")
    return Sweep(
        path=path,
        name=file.name or path.stem,
        scenario=load(path.parent / file.scenario).but(overrides=tuple(overrides), until=until),
        replications=file.replications,
        seed=file.seed if seed is None else seed,
        quantities=tuple({quantity.name: quantity for quantity in asked}.values()),
        axes=axes,
        settings=settings_of(overrides, until, seed),
        derived=names,
    )


def settings_of(overrides: Sequence[str], until: str | None, seed: int | None) -> tuple[str, ...]:
    """The options of a command that change what is run, as its words."""
    words = [word for assignment in overrides for word in ("--set", assignment)]
    words += ["--until", until] if until is not None else []
    words += ["--seed", str(seed)] if seed is not None else []
    return (*words, *law_words())


@dataclass(frozen=True, slots=True)
class Planned:
    """A point of a sweep with what the engine makes of it: the hash of the resolved scenario, the
    seed, and what is hardly meant in the scenario. `part` tells apart what is measured of its
    series, if anything is."""

    combination: Combination
    scenario_hash: str
    seed: int
    warnings: tuple[str, ...] = ()
    part: str = ""

    @property
    def values(self) -> dict[str, bool | int | float | str]:
        """Its value in each column."""
        return {name: _shown(value) for name, value in self.combination.values.items()}

    def key(self, replication: int) -> Key:
        """Key by which the journal knows a run."""
        return Key(self.scenario_hash, self.seed, replication, self.part)


def plan(sweep: Sweep) -> list[Planned]:
    """Check every combination before anything runs. Raises `UserError` for a wrong one, for a law
    that the processes of a sweep could not load, and for two values of one axis that make the same
    scenario: its runs would be counted twice. Variants, which have names, may be alike."""
    planned = [_planned(sweep, combination) for combination in combinations(sweep.axes)]
    first: dict[Any, int] = {}
    for number, entry in enumerate(planned):
        same = (entry.key(0), entry.values.get(VARIANT))
        other = first.setdefault(same, number)
        if other != number:
            raise UserError(
                f"{sweep.path}: {_places(sweep, other)} and {_places(sweep, number)} are the same "
                "scenario; each value may be there once"
            )
    return planned


def _places(sweep: Sweep, number: int) -> str:
    """The values that make point `number` of a sweep, each with its place in its list."""
    told: list[str] = []
    for axis in reversed(sweep.axes):
        number, place = divmod(number, len(axis))
        told = [
            f'"{name}"[{place}] = {inline(value)}'
            for name, value in axis[place].values.items()
            if name != VARIANT
        ] + told
    return ", ".join(told)


def _planned(sweep: Sweep, combination: Combination) -> Planned:
    found = check(sweep.job(combination, 0))
    refuse_unsaved(found.get("laws", ()))
    seed = int(found["resolved"]["seed"]) if sweep.seed is None else sweep.seed
    told = tuple(found["warnings"])
    part = part_of(sweep.scenario.measures)
    return Planned(combination, found["scenario_hash"], seed, told, part)


def run_missing(
    sweep: Sweep, planned: Sequence[Planned], journal: Journal, where: Executor
) -> None:
    """Make the runs that `journal` does not hold, and keep each there as it ends.

    Runs that failed before are not made again. Other processes at work in the same folder make
    runs of their own; those that they have begun are waited for. Raises `UserError` for a quantity
    that no point has.
    """
    todo = _Todo([(sweep, planned)], journal)
    if not todo.jobs:
        return
    points = (sweep.job(combination, 0) for combination in combinations(sweep.axes))
    try_points(sweep.quantities, points, where)
    _make(todo, sweep.name, journal, where)


def run_all(
    parts: Sequence[tuple[Sweep, Sequence[Planned]]], name: str, journal: Journal, where: Executor
) -> None:
    """Make the runs of several sweeps that `journal` does not hold, side by side and under one
    name, as `run_missing` makes those of one; quantities are not looked at before."""
    todo = _Todo(parts, journal)
    if todo.jobs:
        _make(todo, name, journal, where)


def _make(todo: _Todo, name: str, journal: Journal, where: Executor) -> None:
    with meter(len(todo.jobs), name) as progress:

        def done(at: int, run: Run) -> None:
            if run.document["build"] != build():
                raise MachineError(
                    f"--executor: a worker has build {run.document['build']} of the engine; "
                    f"this is {build()}"
                )
            journal.keep(todo.keys[at], Record(run.document))
            progress.finished()

        def failed(at: int, reason: str) -> None:
            job = todo.jobs[at]
            journal.fail(Failure(todo.keys[at], reason, repeat_line(job)))
            progress.finished()

        while todo.left:
            where.run(todo.jobs, todo.take, done, failed, progress.tick)
            if todo.wait():
                note(f"{name}: waiting for runs that another process makes")
                progress.tick([])
                time.sleep(WAIT_S)


class _Jobs(Sequence[Job]):
    """The jobs of runs, each made when it is asked for: there may be millions."""

    def __init__(self, runs: Sequence[tuple[Sweep, Combination, int]]) -> None:
        self._runs = runs

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, at: int) -> Job: ...
    @overload
    def __getitem__(self, at: slice) -> list[Job]: ...
    def __getitem__(self, at: int | slice) -> Job | list[Job]:
        if isinstance(at, slice):
            return [sweep.job(point, number) for sweep, point, number in self._runs[at]]
        sweep, point, number = self._runs[at]
        return sweep.job(point, number)


class _Todo:
    """The runs that a journal lacks, first replications first: cut short, every combination has
    some. `left` are the places of those not yet taken."""

    def __init__(self, parts: Sequence[tuple[Sweep, Sequence[Planned]]], journal: Journal) -> None:
        self._journal = journal
        self._elsewhere: list[int] = []
        asked = {
            entry.key(replication): (sweep, entry.combination, replication)
            for sweep, planned in parts
            for replication, entry in itertools.product(range(sweep.replications), planned)
        }
        self.keys = [key for key in asked if not self._settled(key)]
        self.jobs = _Jobs([asked[key] for key in self.keys])
        self.left = deque(range(len(self.jobs)))

    def take(self) -> int | None:
        """The next run that is ours to make; `None` if there is none at present."""
        while self.left:
            at = self.left.popleft()
            if self._journal.claim(self.keys[at]):
                return at
            self._elsewhere.append(at)
        return None

    def wait(self) -> bool:
        """Returns true if there are runs that another process has begun and not finished."""
        self.left = deque(at for at in self._elsewhere if not self._settled(self.keys[at]))
        self._elsewhere = []
        return bool(self.left)

    def _settled(self, key: Key) -> bool:
        return self._journal.failure(key) is not None or self._journal.holds(key)


def try_points(quantities: Sequence[Expression], points: Iterable[Job], where: Executor) -> None:
    """See that each quantity is there at some point. Raises `UserError` for one that is at none."""

    def made(trials: Sequence[Job]) -> list[Mapping[str, Any]]:
        left, found = deque(range(len(trials))), list[Mapping[str, Any]]()

        def take() -> int | None:
            return left.popleft() if left else None

        def done(_at: int, run: Run) -> None:
            found.append(run.document)

        where.run(trials, take, done, lambda *_: None, lambda _: None)
        return found

    for quantity in quantities:
        if quantity.needs_series:
            raise quantity.error(
                "needs recorded series, of which a journal keeps none; ask `forebay run "
                "--replications --quantity`, or Results.interval_of in Python"
            )
    if quantities:
        refuse_absent(quantities, points, made)


def failures(
    sweep: Sweep, planned: Sequence[Planned], journal: Journal
) -> list[tuple[Planned, Failure]]:
    """The runs of a sweep that gave no result."""
    found = [
        (entry, journal.failure(entry.key(replication)))
        for entry in planned
        for replication in range(sweep.replications)
    ]
    return [(entry, failure) for entry, failure in found if failure is not None]


def warnings(planned: Sequence[Planned]) -> list[dict[str, Any]]:
    """Warnings at points of a sweep: each once, with the number of points that have it, and for
    each column the values that it takes at these, where it does not take all."""
    points: dict[str, list[Planned]] = {}
    for entry in planned:
        for told in entry.warnings:
            points.setdefault(told, []).append(entry)
    every = _columns(planned)
    return [
        {
            "warning": told,
            "points": len(having),
            "where": {
                name: values
                for name, values in _columns(having).items()
                if len(values) < len(every[name])
            },
        }
        for told, having in points.items()
    ]


def _columns(planned: Sequence[Planned]) -> dict[str, list[Any]]:
    """The values that each column takes, in their order."""
    names = list(planned[0].values) if planned else []
    return {name: list(dict.fromkeys(entry.values[name] for entry in planned)) for name in names}


def _shown(value: Value) -> bool | int | float | str:
    return inline(value) if isinstance(value, list | dict) else value
