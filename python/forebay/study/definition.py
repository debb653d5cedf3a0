"""A published study: its files, and what its `study.py` tells the driver.

A study is a folder `studies/<id>` with

- `paper.toml`: what the paper says, claim by claim (see `forebay.study.claims`);
- `predicates.py`, or modules in `predicates/`: what its sentences mean in numbers (see
  `forebay.study.criteria`);
- `scenario.toml`: the simulated network, every number tagged with its place in the paper or as
  `assumed: reason`;
- `deviations.toml`: where and why the study departs from the paper, and the best explanation
  known for cells that do not fit;
- `study.py`: how a grid point of the paper becomes a run, and a run becomes quantities;
- `sensitivity.toml`, if it has one: assumptions chosen otherwise (see `forebay.study.variants`);
- `extensions.toml` and `extensions.py`, if it has them: comparisons that the paper could not make
  (see `forebay.study.extensions`).

`study.py` defines two functions:

    def grid_point(network: Network, point: Point) -> None:
        \"\"\"Turn the network of scenario.toml into this grid point.\"\"\"

    def quantities(run: Run, point: Point) -> dict[str, float]:
        \"\"\"What the paper prints, and what the figures need, from one run; in SI units.\"\"\"

and may define

    def figures(outcome: Outcome) -> list[Figure]:
        \"\"\"Plots besides those that every table gets (`forebay.report.plot`).\"\"\"

    REPLICATIONS = Replications(...)        # how many, at least and at most
    RECORDINGS = [Recording(...), ...]      # runs of which time series are kept for figures
    RECORD_RUNS = True                      # quantities() reads run.tables: what [record] asks for

A study may have more modules. They import each other as `forebay_studies.<id>.<module>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.run.jobs import Job, Run, Tables
from forebay.scenario.network import Network
from forebay.study.change import Change
from forebay.study.grades import Point, Predicate
from forebay.study.guard import guarded

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
]

Cap = int | Callable[[Point], int]
"""A number of replications, the same everywhere or by grid point."""


@dataclass(frozen=True, slots=True)
class Replications:
    """Numbers of replications of the grid points and sensitivity runs of a study.

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
    study chose otherwise. `change` comes on top of what makes the grid point. `claims` are shell
    patterns of claim ids: the variant runs at the points of those.
    """

    id: str
    title: str
    why: str
    change: Change
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """One run (the first replication) of a grid point whose time series are kept.

    `interval` is the sampling interval (`"100 ms"`); with `None` it is the scenario's, and where
    the study records its runs anyway, one run serves both. `change` is what is different from the
    grid point. Figures find the tables under `id`: all that was recorded, or those that `keep`
    makes of the run and its grid point. A study of many links or flows keeps what its figures need,
    in few tables: each is a file of the results.
    """

    id: str
    point: Mapping[str, bool | int | float | str]
    interval: str | None = "100 ms"
    change: Change = field(default_factory=Change)
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
    grid_point: Callable[[Network, Point], None]
    quantities: Callable[[Run, Point], Mapping[str, float]]
    figures: Callable[[Outcome], Sequence[Figure]] | None = None
    replications: Replications = field(default_factory=Replications)
    variants: tuple[Variant, ...] = ()
    recordings: tuple[Recording, ...] = ()
    record_runs: bool = False
    comparisons: tuple[Comparison, ...] = ()
    _texts: dict[object, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def scenario_name(self) -> str:
        """Name of the scenario in errors."""
        return str(self.folder / "scenario.toml")

    def network(self, point: Point, change: Change | None = None) -> Network:
        """The network of a grid point, changed by `change` if one is given.

        Raises `UserError` that names the study's own file and line where its code fails.
        """
        network = Network.from_text(self.scenario, self.scenario_name)
        with guarded(self.folder, str(self.folder / "study.py")):
            self.grid_point(network, point)
            if change is not None:
                change.apply(network, point, point)
        return network

    def job(
        self,
        point: Point,
        replication: int,
        variant: Variant | None = None,
        extra: Sequence[str] = (),
    ) -> Job:
        """The run of one replication of a grid point, with `extra` overrides (`PATH=VALUE`).

        What a variant sets is not overridden.
        """
        if variant is not None:
            extra = [one for one in extra if one.partition("=")[0] not in variant.change.set]
        key = (tuple(sorted(point.items())), variant.id if variant else "")
        if key not in self._texts:
            self._texts[key] = self.network(point, variant.change if variant else None).job().text
        return Job(
            self._texts[key],
            self.scenario_name,
            tuple(extra),
            replication=replication,
            record=self.record_runs,
        )

    def recording_job(self, recording: Recording) -> Job:
        """The run whose time series `recording` keeps."""
        text = self.network(recording.point, recording.change).job().text
        interval = recording.interval
        extra = (f"record.series={interval}",) if interval else ()
        return Job(text, self.scenario_name, extra, record=True)
