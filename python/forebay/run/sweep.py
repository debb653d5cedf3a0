"""Sweeps: a scenario over a grid of parameters, with replications and intervals.

A sweep file:

    name = "red against buffer size"            # default: the file's name
    scenario = "dumbbell.toml"                  # beside this file
    replications = 5                            # default 5
    seed = 1                                    # default: the scenario's
    quantities = ["flows.tcp.throughput_bps", "links.bottleneck.mean_queue_packets"]

    [grid]                                      # every combination is run
    "links.bottleneck.rate" = ["10 Mbit/s", "34 Mbit/s"]
    "links.bottleneck.queue.red.weight" = [0.001, 0.002, 0.004]

A quantity is `KIND.NAME.FIELD`, where KIND is a kind of rows of `forebay run --json`: `links`,
`calls`, `paced`, `policing`, `lateness`, `rings`, or `flows` with the name of a group, summed over
the group where that has a meaning (throughput, packets) and averaged over its packets otherwise
(mean delay). Or it is a field of the run itself, such as `events`.

Every combination gets the same replication numbers, so that combinations see the same arrivals. The
output folder holds `runs.jsonl` (every run's whole document, kept as it finishes), `runs.parquet`
(grid values and quantities of every run), `summary.parquet` (means and 95 % intervals),
`sweep.json` and, built from those, `report.html`.
"""

from __future__ import annotations

import itertools
import json
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay.errors import UserError, located, nearest, read_text
from forebay.run.columns import kinds
from forebay.run.executors import Executor
from forebay.run.jobs import Job, Run, check, load, run_jobs, version
from forebay.run.progress import meter
from forebay.run.store import Journal, rows_table, write_table, write_text
from forebay.stats import finite, summarize
from forebay.toml import inline

__all__ = ["Sweep", "check_all", "load_sweep", "run_missing", "value_of", "write_summary"]

Value = bool | int | float | str | list[Any] | dict[str, Any]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    scenario: str
    name: str = ""
    replications: Annotated[int, Field(ge=1)] = 5
    seed: Annotated[int, Field(ge=0)] | None = None
    quantities: Annotated[list[str], Field(min_length=1)]
    grid: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep, read and checked: what to run and what to look at."""

    path: Path
    name: str
    scenario: Job
    replications: int
    seed: int | None
    quantities: tuple[str, ...]
    grid: Mapping[str, Sequence[Value]]

    def combinations(self) -> list[dict[str, Value]]:
        """Every combination of the grid's values, the last parameter changing fastest."""
        return [
            dict(zip(self.grid, values, strict=True))
            for values in itertools.product(*self.grid.values())
        ]

    def job(self, combination: Mapping[str, Value], replication: int) -> Job:
        """One run."""
        overrides = tuple(f"{path}={inline(value)}" for path, value in combination.items())
        return self.scenario.but(overrides=overrides, seed=self.seed, replication=replication)


def load_sweep(path: Path) -> Sweep:
    """Read a sweep file and the scenario it names.

    Raises `UserError` for anything wrong with either file; the scenario's contents are checked
    when it is run.
    """
    try:
        raw = tomllib.loads(read_text(path, "a sweep"))
        if "links" in raw and "scenario" not in raw:
            raise UserError(
                f"{path}: is a scenario; a sweep is a file of its own that names one "
                f'(scenario = "{path.name}"), with quantities and a [grid] of values'
            )
        file = _File.model_validate(raw)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    except ValidationError as error:
        raise located(path, error.errors(), _File.model_fields) from None
    grid = _flattened(file.grid)
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UserError(f'{path}: grid."{name}": read {values!r}; it takes a list of values')
    return Sweep(
        path=path,
        name=file.name or path.stem,
        scenario=load(path.parent / file.scenario),
        replications=file.replications,
        seed=file.seed,
        quantities=tuple(file.quantities),
        grid=grid,
    )


def check_all(sweep: Sweep) -> list[str]:
    """Check every combination before anything runs; their scenario hashes, in order."""
    return [check(sweep.job(entry, 0))["scenario_hash"] for entry in sweep.combinations()]


def run_missing(sweep: Sweep, hashes: Sequence[str], journal: Journal, where: Executor) -> None:
    """Run what `journal` does not hold, and keep it there as it finishes.

    `hashes` are those that `check_all` gave. Raises `UserError` for a quantity that no run has.
    """
    seed = sweep.seed if sweep.seed is not None else _scenario_seed(sweep)
    pairs = zip(sweep.combinations(), hashes, strict=True)
    missing = [
        sweep.job(combination, replication)
        for replication, (combination, digest) in itertools.product(
            range(sweep.replications), list(pairs)
        )
        if journal.find((version(), digest, seed, replication)) is None
    ]
    if not missing:
        return
    _try_quantities(sweep)
    with meter(len(missing), sweep.name) as progress:

        def done(_index: int, run: Run) -> None:
            for quantity in sweep.quantities:
                value_of(run, quantity)
            journal.add(run.document)
            progress.finished()

        where.run(missing, done, progress.tick)


def _try_quantities(sweep: Sweep) -> None:
    """A misspelt quantity must show before an hour of runs, not after: look at a short run."""
    job = sweep.job(sweep.combinations()[0], 0).but(until=None)
    warm_up = check(job)["warm_up_s"]
    trial = job.but(until=f"{warm_up + 1e-3:.6f} s")
    try:
        check(trial)
    except UserError:
        # A scenario in which something begins later cannot be cut so short: the first whole run
        # tells.
        return

    def done(_index: int, run: Run) -> None:
        for quantity in sweep.quantities:
            value_of(run, quantity)

    run_jobs([trial], done, 1)


def _scenario_seed(sweep: Sweep) -> int:
    return int(check(sweep.job(sweep.combinations()[0], 0))["resolved"].get("seed", 1))


def write_summary(
    sweep: Sweep, hashes: Sequence[str], journal: Journal, folder: Path
) -> dict[str, Any]:
    """Write the tables and `sweep.json` of the runs that `journal` holds; the document.

    `hashes` are those that `check_all` gave.
    """
    seed = sweep.seed if sweep.seed is not None else _scenario_seed(sweep)
    rows: list[dict[str, Any]] = []
    summary: list[dict[str, Any]] = []
    for combination, digest in zip(sweep.combinations(), hashes, strict=True):
        shown = {name: _shown(value) for name, value in combination.items()}
        values: dict[str, list[float]] = {quantity: [] for quantity in sweep.quantities}
        for replication in range(sweep.replications):
            found = journal.find((version(), digest, seed, replication))
            if found is None:
                continue
            facts = {q: value_of(Run(found), q) for q in sweep.quantities}
            for quantity, value in facts.items():
                values[quantity].append(value)
            rows.append(
                {
                    **shown,
                    "replication": replication,
                    "seed": seed,
                    "scenario_hash": digest,
                    "digest": found["digest"],
                    **facts,
                }
            )
        summary += [
            {**shown, **_summary(quantity, values[quantity])}
            for quantity in sweep.quantities
            if values[quantity]
        ]
    write_table(folder / "runs.parquet", rows_table(rows))
    write_table(folder / "summary.parquet", rows_table(summary))
    document = {
        "name": sweep.name,
        "version": version(),
        "command": shlex.join(["forebay", "sweep", str(sweep.path)]),
        "seeds": [seed],
        "runs": len(rows),
        "grid": dict(sweep.grid),
        "quantities": list(sweep.quantities),
        "summary": summary,
    }
    write_text(folder / "sweep.json", json.dumps(document, indent=1) + "\n")
    return document


def _summary(quantity: str, values: Sequence[float]) -> dict[str, Any]:
    interval = summarize(values)
    return {
        "quantity": quantity,
        "mean": interval.mean,
        "low": finite(interval.low),
        "high": finite(interval.high),
        "replications": interval.n,
    }


def value_of(run: Run, quantity: str) -> float:
    """A quantity of a run by its name; `UserError` with the nearest one if there is none."""
    place, _, rest = quantity.partition(".")
    name, _, field = rest.rpartition(".")
    row: Mapping[str, Any]
    try:
        if place in kinds() and name:
            row = run.row(place, name)
        else:
            row, field = run.document, quantity
    except KeyError as error:
        raise UserError(f'quantities: "{quantity}": {error.args[0]}') from None
    found = row.get(field)
    if isinstance(found, bool) or not isinstance(found, int | float):
        numbers = [k for k, v in row.items() if isinstance(v, int | float)]
        raise UserError(
            f'quantities: "{quantity}": no number "{field}"{nearest(field, numbers)}; there are '
            f"{', '.join(numbers)}; write KIND.NAME.FIELD, where KIND is one of "
            f"{', '.join(kinds())}"
        )
    return float(found)


def _flattened(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """`links.a.rate = [...]` without quotes is a table in a table: one path all the same."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        path = f"{above}.{name}" if above else name
        if isinstance(value, dict):
            found |= _flattened(value, path)
        else:
            found[path] = value
    return found


def _shown(value: Value) -> bool | int | float | str:
    return inline(value) if isinstance(value, list | dict) else value
