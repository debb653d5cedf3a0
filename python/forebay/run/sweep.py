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

A quantity is `KIND.NAME.FIELD`, where KIND is a kind of rows of `forebay run --json`: `hosts`,
`links`, `classes`, `transfers`, `video`, `calls`, `paced`, `policing`, `lateness`, `rings`, or
`flows` with the name of a group, summed over the group where that has a meaning (throughput,
packets) and averaged over its packets otherwise (mean delay). Or it is a field of the run itself,
such as `events`.

Every combination gets the same replication numbers, so that combinations see the same arrivals. The
output folder holds `runs.sqlite` (the journal: every run's whole document, kept as it finishes),
`runs.parquet` (values and quantities of every run), `summary.parquet` (means and 95 %
intervals), `sweep.json` (the same intervals and what made them) and, built from that,
`report.html`. Without pyarrow the tables are `runs.csv` and `summary.csv`. A sweep continues what
its folder holds.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay.errors import MachineError, UserError, located, nearest, read_text
from forebay.paths import parted
from forebay.run.axes import (
    VARIANT,
    Axis,
    Combination,
    Value,
    combinations,
    read_axes,
    varied,
)
from forebay.run.columns import column_of, kinds, percentile_note
from forebay.run.executors import Executor
from forebay.run.jobs import Job, Run, build, check, load, version
from forebay.run.journal import Failure, Journal, Key, Record
from forebay.run.laws import law_words, refuse_unsaved
from forebay.run.limits import MAX_RUNS
from forebay.run.progress import meter, note
from forebay.run.repeat import quoted, repeat_line
from forebay.run.resolved import resolved_scenario
from forebay.run.store import (
    FORMATS,
    columns_of,
    own_files,
    read_table,
    stored_format,
    take_over,
    write_columns,
    write_tables,
    write_text,
)
from forebay.run.tables import result_tables
from forebay.stats import finite, replication_interval
from forebay.toml import inline, parse

__all__ = [
    "SUMMARY",
    "Planned",
    "Sweep",
    "failures",
    "files",
    "load_sweep",
    "plan",
    "run_missing",
    "source_of",
    "value_of",
    "warnings",
    "write_all_tables",
    "write_summary",
]

SUMMARY = "sweep.json"
TABLES = ("runs", "summary")
"""The tables of a sweep: a row for each run, and one for each mean with its interval."""

WAIT_S = 0.2
"""Interval of looks whether runs that another process makes are finished."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    scenario: str
    name: str = ""
    replications: Annotated[int, Field(ge=1)] = 5
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    quantities: Annotated[list[str], Field(min_length=1)]
    variants: dict[str, dict[str, Any]] = {}
    zip: list[dict[str, Any]] = []
    grid: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep, read and checked: what to run and what to look at.

    `settings` are the options of the command that change what is run.
    """

    path: Path
    name: str
    scenario: Job
    replications: int
    seed: int | None
    quantities: tuple[str, ...]
    axes: tuple[Axis, ...]
    settings: tuple[str, ...] = ()

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
        file = _File.model_validate(raw)
    except ValidationError as error:
        raise located(path, error.errors(), _File.model_fields) from None
    axes = read_axes(str(path), file.variants, file.zip, file.grid)
    for name, option in (("duration", until), ("seed", seed)):
        if option is not None and any(name in choice.keys for axis in axes for choice in axis):
            flag = "--until" if name == "duration" else "--seed"
            raise UserError(f"{flag}: {path} varies {name}; leave one of the two out")
    settings = [word for assignment in overrides for word in ("--set", assignment)]
    settings += ["--until", until] if until is not None else []
    settings += ["--seed", str(seed)] if seed is not None else []
    settings += law_words()
    runs = file.replications * math.prod(map(len, axes))
    if runs > MAX_RUNS:
        raise UserError(f"{path}: asks for {runs} runs; allowed are {MAX_RUNS}")
    return Sweep(
        path=path,
        name=file.name or path.stem,
        scenario=load(path.parent / file.scenario).but(overrides=tuple(overrides), until=until),
        replications=file.replications,
        seed=file.seed if seed is None else seed,
        quantities=tuple(file.quantities),
        axes=axes,
        settings=tuple(settings),
    )


@dataclass(frozen=True, slots=True)
class Planned:
    """A point of a sweep with what the engine makes of it: the hash of the resolved scenario, the
    seed, and what is hardly meant in the scenario."""

    combination: Combination
    scenario_hash: str
    seed: int
    warnings: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, bool | int | float | str]:
        """Its value in each column."""
        return {name: _shown(value) for name, value in self.combination.values.items()}

    def key(self, replication: int) -> Key:
        """Key by which the journal knows a run."""
        return Key(self.scenario_hash, self.seed, replication)


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
    return Planned(combination, found["scenario_hash"], seed, tuple(found["warnings"]))


def run_missing(
    sweep: Sweep, planned: Sequence[Planned], journal: Journal, where: Executor
) -> None:
    """Make the runs that `journal` does not hold, and keep each there as it ends.

    Runs that failed before are not made again. Other processes at work in the same folder make
    runs of their own; those that they have begun are waited for. Raises `UserError` for a quantity
    that no run has.
    """
    todo = _Todo(sweep, planned, journal)
    if not todo.jobs:
        return
    _try_quantities(sweep, where)
    with meter(len(todo.jobs), sweep.name) as progress:

        def done(at: int, run: Run) -> None:
            if run.document["build"] != build():
                raise MachineError(
                    f"--executor: a worker has build {run.document['build']} of the engine; "
                    f"this is {build()}"
                )
            journal.keep(todo.keys[at], Record(run.document))
            for quantity in sweep.quantities:
                value_of(run, quantity)
            progress.finished()

        def failed(at: int, reason: str) -> None:
            job = todo.jobs[at]
            journal.fail(Failure(todo.keys[at], reason, repeat_line(job)))
            progress.finished()

        while todo.left:
            where.run(todo.jobs, todo.take, done, failed, progress.tick)
            if todo.wait():
                note(f"{sweep.name}: waiting for runs that another process makes")
                progress.tick([])
                time.sleep(WAIT_S)


class _Jobs(Sequence[Job]):
    """The jobs of runs, each made when it is asked for: there may be millions."""

    def __init__(self, sweep: Sweep, runs: Sequence[tuple[Combination, int]]) -> None:
        self._sweep = sweep
        self._runs = runs

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, at: int) -> Job: ...
    @overload
    def __getitem__(self, at: slice) -> list[Job]: ...
    def __getitem__(self, at: int | slice) -> Job | list[Job]:
        if isinstance(at, slice):
            return [self._sweep.job(*run) for run in self._runs[at]]
        return self._sweep.job(*self._runs[at])


class _Todo:
    """The runs that a journal lacks, first replications first: cut short, every combination has
    some. `left` are the places of those not yet taken."""

    def __init__(self, sweep: Sweep, planned: Sequence[Planned], journal: Journal) -> None:
        self._journal = journal
        self._elsewhere: list[int] = []
        asked = {
            entry.key(replication): (entry.combination, replication)
            for replication, entry in itertools.product(range(sweep.replications), planned)
        }
        self.keys = [key for key in asked if not self._settled(key)]
        self.jobs = _Jobs(sweep, [asked[key] for key in self.keys])
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


def _try_quantities(sweep: Sweep, where: Executor) -> None:
    """A misspelt quantity must show before an hour of runs, not after: look at a short run."""
    job = sweep.job(next(combinations(sweep.axes)), 0).but(until=None)
    warm_up = check(job)["warm_up_s"]
    trial = job.but(until=f"{warm_up + 1e-3:.6f} s")
    try:
        check(trial)
    except UserError:
        # A scenario in which something begins later cannot be cut so short: the first whole run
        # tells.
        return
    once = deque([0])

    def done(_index: int, run: Run) -> None:
        for quantity in sweep.quantities:
            value_of(run, quantity)

    def failed(_index: int, _reason: str) -> None:
        """The whole runs will tell."""

    where.run([trial], lambda: once.popleft() if once else None, done, failed, lambda _: None)


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


def source_of(sweep: Sweep, planned: Sequence[Planned], journal: Journal) -> str:
    """A fingerprint of all that `write_summary` and the report look at."""
    keys = [
        entry.key(replication) for entry in planned for replication in range(sweep.replications)
    ]
    asked = json.dumps(
        [sweep.name, str(sweep.path), sweep.settings, sweep.quantities, sweep.grid, version()]
    )
    return f"{asked} {journal.state(keys)}"


def finished(
    sweep: Sweep, entry: Planned, journal: Journal
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The runs of a point that `journal` holds: replications and documents."""
    for replication in range(sweep.replications):
        found = journal.find(entry.key(replication))
        if found is not None:
            yield replication, found.document


def files(formats: Sequence[str] = ()) -> list[str]:
    """The files that `write_summary` writes, and its tables in further formats."""
    kept = dict.fromkeys([stored_format(), *formats])
    return [*(f"{name}.{ending}" for ending in kept for name in TABLES), SUMMARY]


def write_all_tables(
    sweep: Sweep,
    planned: Sequence[Planned],
    journal: Journal,
    folder: Path,
    formats: Sequence[str],
) -> None:
    """Write every kind of rows of every run that `journal` holds in each of the formats, and the
    tables of `write_summary` in those that they are not in. Those of other formats go."""
    runs = (
        ({**entry.values, "replication": replication, "seed": entry.seed}, document)
        for entry in planned
        for replication, document in finished(sweep, entry, journal)
    )
    write_tables(folder, {}, result_tables(runs) if formats else {}, formats)
    wanted, kept = files(formats), stored_format()
    every = {f"{name}.{ending}" for ending in FORMATS for name in TABLES}
    for name in own_files(folder).intersection(every.difference(wanted)):
        (folder / name).unlink(missing_ok=True)
    take_over(folder, wanted)
    for name, ending in itertools.product(TABLES, set(formats) - {kept}):
        table = read_table(folder / f"{name}.{kept}")
        write_columns(folder / f"{name}.{ending}", table.to_pydict())


def write_summary(
    sweep: Sweep, planned: Sequence[Planned], journal: Journal, folder: Path
) -> dict[str, Any]:
    """Write the tables and `sweep.json` of the runs that `journal` holds; the document."""
    rows: list[dict[str, Any]] = []
    summary: list[dict[str, Any]] = []
    laws: dict[tuple[str, str], Mapping[str, Any]] = {}
    for entry in planned:
        values: dict[str, list[float]] = {quantity: [] for quantity in sweep.quantities}
        behind: dict[str, list[Mapping[str, Any]]] = {quantity: [] for quantity in values}
        for replication, found in finished(sweep, entry, journal):
            laws |= {(law["name"], law["contents"]): law for law in found.get("laws", ())}
            facts = {q: value_of(Run(found), q) for q in sweep.quantities}
            for quantity, value in facts.items():
                values[quantity].append(value)
                behind[quantity].append(_row_of(Run(found), quantity)[0])
            rows.append(
                {
                    **entry.values,
                    "replication": replication,
                    "seed": entry.seed,
                    "scenario_hash": entry.scenario_hash,
                    "digest": found["digest"],
                    **facts,
                }
            )
        summary += [
            {**entry.values, **_summary(quantity, values[quantity], behind[quantity])}
            for quantity in sweep.quantities
            if values[quantity]
        ]
    take_over(folder, files())
    for name, table in zip(TABLES, (rows, summary), strict=True):
        write_columns(folder / f"{name}.{stored_format()}", columns_of(table))
    document = {
        "name": sweep.name,
        "version": version(),
        "build": build(),
        "command": quoted(["forebay", "sweep", str(sweep.path), *sweep.settings]),
        "seeds": sorted({entry.seed for entry in planned}),
        "runs": len(rows),
        **({"laws": list(laws.values())} if laws else {}),
        "grid": sweep.grid,
        **_scenario(sweep, planned),
        "quantities": list(sweep.quantities),
        "summary": summary,
        "warnings": warnings(planned),
        "failed": [
            {
                **entry.values,
                "replication": failure.key.replication,
                "seed": failure.key.seed,
                "reason": failure.reason,
                "command": failure.command,
            }
            for entry, failure in failures(sweep, planned, journal)
        ],
    }
    write_text(folder / SUMMARY, json.dumps(document, indent=1) + "\n")
    return document


def _scenario(sweep: Sweep, planned: Sequence[Planned]) -> dict[str, Any]:
    """What the first point of a sweep runs, the keys that its points set, and those of variants."""
    names = [choice for axis in sweep.axes for choice in axis if VARIANT in choice.values]
    variants = {str(choice.values[VARIANT]): choice.keys for choice in names}
    keys = dict.fromkeys(key for axis in sweep.axes for choice in axis for key in choice.keys)
    return {
        "scenario": resolved_scenario(sweep.job(planned[0].combination, 0)),
        "varied": list(keys),
        **({"variants": variants} if variants else {}),
    }


def _summary(
    quantity: str, values: Sequence[float], rows: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    # Whatever is measured of a run is a count, a size, a time or a ratio of these.
    interval = replication_interval(values, least=0.0)
    return {
        "quantity": quantity,
        "mean": interval.mean,
        "low": finite(interval.low),
        "high": finite(interval.high),
        "replications": interval.n,
        "note": percentile_note(column_of(quantity), rows, interval.note),
    }


def value_of(run: Run, quantity: str) -> float:
    """A quantity of a run by its name; `UserError` with the nearest one if there is none."""
    row, field = _row_of(run, quantity)
    found = row.get(field)
    if isinstance(found, bool) or not isinstance(found, int | float):
        numbers = [k for k, v in row.items() if isinstance(v, int | float)]
        raise UserError(
            f'quantities: "{quantity}": no number "{field}"{nearest(field, numbers)}; there are '
            f"{', '.join(numbers)}; write KIND.NAME.FIELD, where KIND is one of "
            f"{', '.join(kinds())}"
        )
    return float(found)


def _row_of(run: Run, quantity: str) -> tuple[Mapping[str, Any], str]:
    """The row of a run that a quantity is in, and its column there."""
    place, name, field = parted(quantity)
    if place not in kinds() or not name:
        return run.document, quantity
    try:
        return run.row(place, name), field
    except KeyError as error:
        raise UserError(f'quantities: "{quantity}": {error.args[0]}') from None


def _shown(value: Value) -> bool | int | float | str:
    return inline(value) if isinstance(value, list | dict) else value
