"""A published study: its files, and what its `study.py` tells the driver.

A study is a folder `studies/<id>` with

- `paper.toml`: what the paper says, claim by claim (see `forebay.study.claims`);
- `predicates.py`: what its sentences mean in numbers;
- `scenario.toml`: the simulated network, every number tagged with its place in the paper or as
  `assumed: reason`;
- `deviations.toml`: where and why the study departs from the paper, and the best explanation
  known for cells that do not fit;
- `study.py`: how a grid point of the paper becomes a run, and a run becomes quantities.

`study.py` defines two functions:

    def overrides(point: Point) -> list[str]:
        \"\"\"PATH=VALUE assignments that turn scenario.toml into this grid point.\"\"\"

    def quantities(run: Run, point: Point) -> dict[str, float]:
        \"\"\"What the paper prints, and what the figures need, from one run; in SI units.\"\"\"

and may define

    def without(point: Point) -> list[str]:
        \"\"\"Sections that this grid point does not have, such as "flows.udp".\"\"\"

    def figures(outcome: Outcome) -> list[Figure]:
        \"\"\"Plots besides those that every table gets (`forebay.report.plot`).\"\"\"

    REPLICATIONS = Replications(...)        # how many, at least and at most
    VARIANTS = [Variant(...), ...]          # sensitivity: other choices, and where they are tried
    RECORDINGS = [Recording(...), ...]      # runs of which time series are kept for figures
    RECORD_RUNS = True                      # quantities() reads run.tables: what [record] asks for

A study may have a `beyond.py`: comparisons that the paper could not make (see
`forebay.study.comparison`); and more modules. They import each other as
`forebay_studies.<id>.<module>`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError
from forebay.run.jobs import Job, Run, Tables
from forebay.study.grades import Point, Predicate

if TYPE_CHECKING:
    from forebay.drawing import Figure
    from forebay.study.claims import Paper
    from forebay.study.comparison import Comparison
    from forebay.study.results import Outcome

__all__ = [
    "Point",
    "Recording",
    "Replications",
    "Run",
    "Study",
    "Variant",
    "without_sections",
]

Overrides = Sequence[str] | Callable[[Point], Sequence[str]]
"""`PATH=VALUE` assignments, the same everywhere or by grid point."""


Cap = int | Callable[[Point], int]
"""A number of replications, the same everywhere or by grid point."""


@dataclass(frozen=True, slots=True)
class Replications:
    """How often each grid point is run.

    A study starts with `first` replications of every point and adds some where a claim needs them,
    up to `cap`: a number, or a function of the grid point where runs differ in what they cost.
    `--quick` makes as many as the claims of a grid point need by the study's recorded result,
    between `quick_first` (at least 2) and `quick_cap`, and all together no more than `quick_events`
    packet events (see `forebay.study.plan`). Its runs take `quick_overrides` on top, such as a
    shorter duration. `variant` is how many replications each sensitivity run gets, paired with the
    same replications of the study itself. Raises `ValueError` for a `quick_first` below 2.
    """

    first: int = 10
    cap: Cap = 60
    quick_first: int = 3
    quick_cap: Cap = 8
    quick_events: int = 2_000_000_000
    quick_overrides: tuple[str, ...] = ()
    variant: int = 5

    def __post_init__(self) -> None:
        if self.quick_first < 2:
            raise ValueError(f"quick_first is {self.quick_first}; an interval needs at least 2")

    def most(self, point: Point, *, quick: bool) -> int:
        """At most how many replications a grid point gets."""
        cap = self.quick_cap if quick else self.cap
        return cap(point) if callable(cap) else cap


@dataclass(frozen=True, slots=True)
class Variant:
    """A sensitivity run: one assumption chosen otherwise, tried at some claims' grid points.

    `id` is short and unique; `title` says what is different; `why` why it matters, or why the
    study chose otherwise. `overrides` come on top of those of the grid point. `claims` are shell
    patterns of claim ids: the variant runs at the points of those.
    """

    id: str
    title: str
    why: str
    overrides: Overrides
    claims: tuple[str, ...]

    def assignments(self, point: Point) -> tuple[str, ...]:
        """The assignments at one grid point."""
        return tuple(self.overrides(point) if callable(self.overrides) else self.overrides)


@dataclass(frozen=True, slots=True)
class Recording:
    """One run (the first replication) of a grid point whose time series are kept.

    `interval` is the sampling interval (`"100 ms"`); with `None` it is the scenario's, and where
    the study records its runs anyway, one run serves both. Figures find the tables under `id`: all
    that was recorded, or those that `keep` makes of the run and its grid point. A study of many
    links or flows keeps what its figures need, in few tables: each is a file of the results.
    """

    id: str
    point: Mapping[str, bool | int | float | str]
    interval: str | None = "100 ms"
    overrides: tuple[str, ...] = ()
    keep: Callable[[Run, Point], Tables] | None = None

    def tables(self, run: Run) -> Tables:
        """The tables of its run that are kept."""
        return run.tables if self.keep is None else self.keep(run, self.point)


@dataclass(frozen=True, slots=True)
class Study:
    """A study, read and checked. Make one with `forebay.study.loading.load_study`."""

    id: str
    folder: Path
    paper: Paper
    predicates: Mapping[str, Predicate]
    scenario: str
    overrides: Callable[[Point], Sequence[str]]
    quantities: Callable[[Run, Point], Mapping[str, float]]
    without: Callable[[Point], Sequence[str]] | None = None
    figures: Callable[[Outcome], Sequence[Figure]] | None = None
    replications: Replications = field(default_factory=Replications)
    variants: tuple[Variant, ...] = ()
    recordings: tuple[Recording, ...] = ()
    record_runs: bool = False
    comparisons: tuple[Comparison, ...] = ()

    @property
    def scenario_name(self) -> str:
        """What errors call the scenario."""
        return str(self.folder / "scenario.toml")

    def job(
        self,
        point: Point,
        replication: int,
        variant: Variant | None = None,
        extra: Sequence[str] = (),
    ) -> Job:
        """The run of one replication of a grid point, with `extra` overrides."""
        assignments = (*self.overrides(point), *extra)
        if variant is not None:
            assignments += variant.assignments(point)
        removed = tuple(self.without(point)) if self.without else ()
        text = without_sections(self.scenario, removed) if removed else self.scenario
        return Job(
            text,
            self.scenario_name,
            assignments,
            replication=replication,
            record=self.record_runs,
        )

    def recording_job(self, recording: Recording) -> Job:
        """The run whose time series `recording` keeps."""
        job = self.job(recording.point, 0)
        interval = recording.interval
        extra = (*([f"record.series={interval}"] if interval else []), *recording.overrides)
        return Job(job.text, job.name, job.overrides + extra, record=True)


def without_sections(text: str, paths: Sequence[str]) -> str:
    """A scenario without some of its sections."""
    import tomli_w

    document = tomllib.loads(text)
    for path in paths:
        *above, last = path.split(".")
        table: Any = document
        for part in above:
            table = table.get(part) if isinstance(table, dict) else None
        if not isinstance(table, dict) or last not in table:
            raise UserError(f"without: scenario.toml has no section {path}")
        del table[last]
    return tomli_w.dumps(document)
