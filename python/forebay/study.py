"""A published study: its files, and what its `study.py` tells the driver.

A study is a folder `studies/<id>` with

- `paper.toml`: what the paper says, claim by claim (see `forebay.claims`);
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
        \"\"\"Plots of the report besides those that every table gets (see `forebay.plot`).\"\"\"

    REPLICATIONS = Replications(...)        # how many, at least and at most
    VARIANTS = [Variant(...), ...]          # sensitivity: other choices, and where they are tried
    RECORDINGS = [Recording(...), ...]      # runs of which time series are kept for figures
"""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError, nearest, read_text
from forebay.grades import Point, Predicate
from forebay.run import Job, Run
from forebay.studies_list import study_folders

if TYPE_CHECKING:
    from forebay.claims import Paper
    from forebay.outcome import Outcome
    from forebay.plot import Figure

__all__ = [
    "Point",
    "Recording",
    "Replications",
    "Run",
    "Study",
    "Variant",
    "load_study",
    "study_folders",
]

Overrides = Sequence[str] | Callable[[Point], Sequence[str]]
"""`PATH=VALUE` assignments, the same everywhere or by grid point."""


@dataclass(frozen=True, slots=True)
class Replications:
    """How often each grid point is run.

    A study starts with `first` replications of every point and adds some where a claim needs them,
    up to `cap`. `--quick` starts with `quick_first` and stops at `quick_cap`; after `quick_s`
    seconds it begins no more runs. Its runs take `quick_overrides` on top, such as a shorter
    duration. `variant` is how many replications each sensitivity run gets,
    paired with the same replications of the study itself.
    """

    first: int = 10
    cap: int = 60
    quick_first: int = 3
    quick_cap: int = 8
    quick_s: float = 100.0
    quick_overrides: tuple[str, ...] = ()
    variant: int = 5


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

    `interval` is the sampling interval (`"100 ms"`). Figures find the tables under `id`.
    """

    id: str
    point: Mapping[str, bool | int | float | str]
    interval: str = "100 ms"
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """A study, read and checked. Make one with `load_study`."""

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
        text = _removed(self.scenario, removed) if removed else self.scenario
        return Job(text, self.scenario_name, assignments, replication=replication)

    def recording_job(self, recording: Recording) -> Job:
        """The run whose time series `recording` keeps."""
        job = self.job(recording.point, 0)
        extra = (f"record.series={recording.interval}", *recording.overrides)
        return Job(job.text, job.name, job.overrides + extra, record=True)


def load_study(study_id: str) -> Study:
    """Read a study's files.

    Raises `UserError` for an unknown study or a wrong file in it.
    """
    from forebay.claims import PaperFileError, bind_predicates, load_paper

    folders = study_folders()
    if study_id not in folders:
        known = ", ".join([*folders, "all"])
        raise UserError(f'no study "{study_id}"{nearest(study_id, folders)}; there are {known}')
    folder = folders[study_id]
    try:
        paper = load_paper(folder / "paper.toml")
        predicates = bind_predicates(paper, vars(_module(study_id, folder, "predicates")))
    except PaperFileError as error:
        raise UserError(str(error)) from None
    scenario = read_text(folder / "scenario.toml")
    module = _module(study_id, folder, "study")
    return Study(
        id=study_id,
        folder=folder,
        paper=paper,
        predicates=predicates,
        scenario=scenario,
        overrides=_required(module, "overrides"),
        quantities=_required(module, "quantities"),
        without=getattr(module, "without", None),
        figures=getattr(module, "figures", None),
        replications=getattr(module, "REPLICATIONS", Replications()),
        variants=tuple(getattr(module, "VARIANTS", ())),
        recordings=tuple(getattr(module, "RECORDINGS", ())),
    )


def _module(study_id: str, folder: Path, name: str) -> ModuleType:
    path = folder / f"{name}.py"
    if not path.is_file():
        raise UserError(f"{path}: no such file; a study needs it")
    full_name = f"forebay_studies.{study_id}.{name}"
    spec = importlib.util.spec_from_file_location(full_name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path}: cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    return module


def _required(module: ModuleType, name: str) -> Any:
    function = getattr(module, name, None)
    if not callable(function):
        raise UserError(f"{module.__file__}: defines no function {name}; a study needs it")
    return function


def _removed(text: str, paths: Sequence[str]) -> str:
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
