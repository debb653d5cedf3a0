"""Cells and their runs: replications against theory, packets against a reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forebay.run.jobs import Job, Run, run_jobs
from forebay.stats import t_quantile

__all__ = ["Cell", "Exact", "Outcome", "Sampled", "run_cell"]

LEVEL = 0.99
REPLICATIONS = 20
PRECISION = 0.01
# A pilot run's width is itself uncertain; aim somewhat below what is asked for.
AIM = 0.7
PILOT_SEED = 1_000_000


@dataclass(frozen=True)
class Outcome:
    """Outcome of a cell. `z` is the distance from theory in standard errors, `half_width` that of
    the 99 % interval as a share of the mean; of an exact cell both are 0 if all agrees."""

    theory: float
    found: float
    half_width: float
    z: float
    inside: bool
    count: int


@dataclass(frozen=True)
class Sampled:
    """A quantity of a run whose expectation is known.

    `text` makes the scenario for so many seconds of measured time; `pilot_s` is the time with which
    the pilot begins, and `longest` how many times that a run may take at most. `replications` are
    many where one run is short by nature: then their number is what grows.
    """

    text: Callable[[float], str]
    quantity: Callable[[Run], float]
    theory: float
    pilot_s: float
    longest: float = 150.0
    replications: int = REPLICATIONS
    grow_runs: bool = False


@dataclass(frozen=True)
class Exact:
    """A run of which every packet or sample is compared; `compare` gives (compared, differing)."""

    text: Callable[[int], str]
    compare: Callable[[Run], tuple[int, int]]
    packets: int = 20_000


@dataclass(frozen=True)
class Cell:
    """One oracle: the family it belongs to, what is compared, and how."""

    family: str
    title: str
    check: Sampled | Exact


def run_cell(cell: Cell, seed: int, quick: bool) -> Outcome:
    """Run a cell under a root seed of its own; quickly, only as long as its pilot."""
    check = cell.check
    if isinstance(check, Exact):
        packets = check.packets // 10 if quick else check.packets
        run = _runs(check.text(packets), seed, 1)[0]
        compared, differing = check.compare(run)
        assert compared >= packets // 2, f"{cell.title}: only {compared} compared"
        return Outcome(0.0, float(differing), 0.0, 0.0, differing == 0, compared)
    if quick:
        return _sample(check, seed, check.pilot_s, check.replications)
    pilot = _sample(check, PILOT_SEED + seed, check.pilot_s, check.replications)
    factor = min(max((pilot.half_width / (AIM * PRECISION)) ** 2, 1.0), check.longest)
    if check.grow_runs:
        return _sample(check, seed, check.pilot_s, math.ceil(check.replications * factor))
    return _sample(check, seed, check.pilot_s * factor, check.replications)


def _sample(check: Sampled, seed: int, seconds: float, replications: int) -> Outcome:
    runs = _runs(check.text(seconds), seed, replications)
    values = [check.quantity(run) for run in runs]
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    error = math.sqrt(variance / len(values))
    half_width = t_quantile(len(values) - 1, LEVEL) * error
    inside = bool(abs(mean - check.theory) <= half_width)
    z = (mean - check.theory) / error if error > 0.0 else math.inf
    return Outcome(check.theory, mean, half_width / abs(mean), z, inside, replications)


def _runs(text: str, seed: int, replications: int) -> Sequence[Run]:
    job = Job(text, seed=seed, record="[record]" in text)
    found: dict[int, Run] = {}
    jobs = [job.but(replication=number) for number in range(replications)]
    run_jobs(jobs, found.__setitem__, 1)
    return [found[index] for index in range(replications)]
