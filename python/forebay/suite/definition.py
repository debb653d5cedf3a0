"""The file of a suite: what it tests, its cells, metrics and checks, and what it had to choose.

The guide (docs/guides/suites.md) explains each key of `suites/NAME/suite.toml`. Scenario files
stand beside it, and, where something is asked of recorded series, files with functions that measure
and judge (`forebay.run.measured`). All else is data: expressions are those of
`forebay.run.expressions`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay.errors import UserError, located, nearest, read_text
from forebay.toml import parse

__all__ = [
    "Asked",
    "CellFile",
    "Check",
    "Metric",
    "Pilot",
    "Place",
    "ScreeningFile",
    "SuiteFile",
    "load_definition",
]

Number = Annotated[int, Field(ge=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Place(_Table):
    """A place where the law under test stands: the key path `at`. `fill` is what a law that has
    such parameters gets there; `scale` multiplies ones that it must have, such as a target."""

    at: str
    fill: dict[str, Any] = {}
    scale: dict[str, float] = {}


class Metric(_Table):
    """A quantity of the suite: an expression (`quantity`), or a `function` of the recorded run with
    the `unit` of what it returns. `{of}` in `quantity` and `words` stands for each of a cell's
    `classes`, for each of which a function is called then; `better` says in which direction a law
    is better; `headline` ones are on the terminal. With `over_baseline` it is the quotient of the
    value and that of the first baseline in the same replication. The interval of a function that is
    `nonnegative` ends at 0. `{...}` are parameters, as in scenarios."""

    quantity: str = ""
    function: str = ""
    unit: str = "number"
    words: str
    section: str = ""
    better: Literal["more", "less", "neither"] = "neither"
    headline: bool = False
    over_baseline: bool = False
    nonnegative: bool = False


class Check(_Table):
    """A condition on the mean of a metric: `least` and `most`, expressions of its unit; `of` the
    laws, the baseline beside them, or of the baseline alone, which decides nothing."""

    metric: str
    text: str
    least: str | None = None
    most: str | None = None
    of: Literal["baseline", "laws"] = "laws"


class Pilot(_Table):
    """A parameter of a cell that a pilot run gives: what a `function` returns, in seconds or bytes.
    In that run the parameter is what `parameters` say."""

    function: str
    unit: Literal["s", "B"] = "s"


class CellFile(_Table):
    """A cell, or several that differ in parameters: `each` is a list of these, or the name of one
    in `grids`; `id` is the end of the name.

    `judge` is a function that says whether a case is passed. `pilot` are parameters for which
    another run of the cell is made before; then there is one run, since its start is fixed.
    """

    title: str
    section: str
    weight: str
    scenario: str
    text: str = ""
    places: list[str | Place] = []
    settings: dict[str, Any] = {}
    parameters: dict[str, str] = {}
    each: list[dict[str, str]] | str = []
    marking: dict[str, Any] = {}
    controls: list[str] = []
    queues: list[str] = []
    metrics: list[str] | None = None
    also: list[str] = []
    classes: list[str] = []
    trade_off: bool = True
    checks: list[Check] = []
    judge: str = ""
    pilot: dict[str, Pilot] = {}
    grid: bool = True


class _Suite(_Table):
    title: str
    source: str
    law: Literal["queue", "control", "adaptation"]
    baseline: list[str]
    metrics: list[str]
    summary: str = ""
    places: list[str | Place] = []
    fill: dict[str, Any] = {}
    controls: list[str] = []
    trade_off: list[str] = []
    replications: Number = 10
    quick: Number = 3
    quick_without: list[str] = []
    seed: int = 1


class _Choice(_Table):
    open: str
    chosen: str
    reason: str


class _Omitted(_Table):
    section: str
    what: str
    reason: str


class _Grid(_Table):
    """What `--grid` varies: a point for each combination of values of parameters, where the
    expression `cost` is at most `most`."""

    values: dict[str, list[str]]
    cost: str = "0"
    most: float = 0.0


class ScreeningFile(_Table):
    """The screening of the laws' parameters, a `factor` down and up, in some cells and by some
    metrics; run only where it is asked for by name."""

    name: str
    title: str
    section: str
    weight: str
    cells: list[str]
    metrics: list[str]
    factor: Annotated[float, Field(gt=1.0)] = 4.0
    trajectories: Annotated[int, Field(ge=2)] = 10
    levels: Annotated[int, Field(ge=2, multiple_of=2)] = 4


class Asked(_Table):
    """A thing that a report must say of each law. `says` is what answers it of what is known of
    laws: a sentence, the source, parameters (given, filled in by the suite, fixed by default, those
    that are times), the meaning of `ecn`, and the inner quantities. Without, it is for the author.
    """

    asked: str
    section: str = ""
    says: Literal[
        "", "summary", "source", "given", "filled", "fixed", "marking", "times", "state"
    ] = ""


REPORT = [
    Asked(asked="where it is published", says="source"),
    Asked(asked="parameters that were set for these runs", says="given"),
    Asked(asked="parameters that cells set", says="filled"),
    Asked(asked="parameters that stay at their defaults", says="fixed"),
]
"""What is said of each law where a suite asks nothing."""


class SuiteFile(_Table):
    """A suite as its file has it: `grids` are lists of rows that cells share, and `grid` what
    `--grid` varies; `omitted` is what its document asks for and no cell has."""

    suite: _Suite
    parameters: dict[str, str] = {}
    grids: dict[str, list[dict[str, str]]] = {}
    grid: _Grid | None = None
    metrics: dict[str, Metric]
    cells: dict[str, CellFile]
    choices: list[_Choice] = []
    omitted: list[_Omitted] = []
    report: list[Asked] = REPORT
    screening: ScreeningFile | None = None

    @property
    def fills(self) -> dict[str, str]:
        """What laws that have such parameters get, wherever they stand: the values as the file has
        them."""
        places = [*self.suite.places, *(each for of in self.cells.values() for each in of.places)]
        own = [each.fill for each in places if isinstance(each, Place)]
        found: dict[str, dict[str, None]] = {}
        for name, value in (pair for fill in (self.suite.fill, *own) for pair in fill.items()):
            found.setdefault(name, {})[str(value).strip("{}")] = None
        return {name: " or ".join(values) for name, values in found.items()}

    def rows(self, cell: CellFile) -> list[dict[str, str]]:
        """The rows of parameters of a cell, one for each cell that it makes."""
        rows = self.grids[cell.each] if isinstance(cell.each, str) else cell.each
        return rows or [{}]


def load_definition(folder: Path) -> SuiteFile:
    """Read the file of a suite. Raises `UserError` for anything wrong in it."""
    path = folder / "suite.toml"
    raw = parse(read_text(path, "a suite"), path)
    try:
        found = SuiteFile.model_validate(raw)
    except ValidationError as error:
        models = (
            *(SuiteFile, _Suite, CellFile, Metric, Check, Place, Pilot),
            *(_Choice, _Omitted, _Grid, Asked, ScreeningFile),
        )
        keys = dict.fromkeys(key for model in models for key in model.model_fields)
        raise located(path, error.errors(), keys) from None
    for name, metric in found.metrics.items():
        if bool(metric.quantity) == bool(metric.function):
            raise UserError(f"{path}: metrics.{name}: give a quantity or a function")
        if metric.nonnegative and metric.quantity:
            raise UserError(f"{path}: metrics.{name}.nonnegative: is of functions only")
    for name, cell in found.cells.items():
        place = f'{path}: cells."{name}"'
        asked = [*(cell.metrics or ()), *cell.also, *(check.metric for check in cell.checks)]
        for wanted in (*found.suite.metrics, *found.suite.trade_off, *asked):
            if wanted not in found.metrics:
                near = nearest(wanted, found.metrics)
                raise UserError(f'{place}: no metric "{wanted}"{near}')
        if isinstance(cell.each, str) and cell.each not in found.grids:
            near = nearest(cell.each, found.grids)
            raise UserError(f'{place}.each: no grid "{cell.each}"{near}')
        if cell.each and any("id" not in row for row in found.rows(cell)):
            raise UserError(f"{place}.each: each row has an id, the end of the cell's name")
    if found.screening is not None:
        _check_screening(found, found.screening, path)
    return found


def _check_screening(suite: SuiteFile, screening: ScreeningFile, path: Path) -> None:
    """Raises `UserError` for a cell or metric that a screening names and there is not."""
    names = {
        "/".join((name, row["id"]) if row else (name,)): cell
        for name, cell in suite.cells.items()
        for row in suite.rows(cell)
    }
    for name in screening.cells:
        if name not in names:
            near = nearest(name, names)
            raise UserError(f'{path}: screening.cells: no cell "{name}"{near}')
        if names[name].pilot:
            raise UserError(f'{path}: screening.cells: "{name}" has a pilot; name cells without')
    for name in screening.metrics:
        if name not in suite.suite.metrics:
            near = nearest(name, suite.suite.metrics)
            raise UserError(f'{path}: screening.metrics: no metric "{name}" of all cells{near}')
