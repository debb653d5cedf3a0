"""The file of a suite: what it tests, its cells, metrics and checks, and what it had to choose.

`suites/NAME/suite.toml` has the tables `suite`, `parameters`, `metrics`, `cells` and `choices`; the
guide (docs/guides/suites.md) explains each key. Scenario files stand beside it, and, where
something is asked of recorded series, files with functions that measure and judge
(`forebay.run.measured`). All else is data: expressions are those of `forebay.run.expressions`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay.errors import UserError, located, nearest, read_text
from forebay.toml import parse

__all__ = [
    "CellFile",
    "Check",
    "Metric",
    "Pilot",
    "Place",
    "SuiteFile",
    "load_definition",
]

Number = Annotated[int, Field(ge=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Place(_Table):
    """A place where the law under test stands: the key path `at`. `scale` multiplies parameters
    that the law must have there, such as a target."""

    at: str
    scale: dict[str, float] = {}


class Metric(_Table):
    """A quantity of the suite: an expression (`quantity`), or a `function` of the recorded run with
    the `unit` of what it returns. `{of}` in `quantity` and `words` stands for each of a cell's
    `classes`, for each of which a function is called then; `better` says in which direction a law
    is better; `headline` ones are on the terminal. `{...}` are parameters, as in scenarios."""

    quantity: str = ""
    function: str = ""
    unit: str = "number"
    words: str
    section: str = ""
    better: Literal["more", "less", "neither"] = "neither"
    headline: bool = False


class Check(_Table):
    """A condition on the mean of a metric: `least` and `most`, expressions of its unit; `of` the
    baseline, of the laws under test, or of all."""

    metric: str
    text: str
    least: str | None = None
    most: str | None = None
    of: Literal["baseline", "laws", "all"] = "laws"


class Pilot(_Table):
    """A parameter of a cell that a pilot run gives: what a `function` returns, in seconds or bytes.
    In that run the parameter is what `parameters` say."""

    function: str
    unit: Literal["s", "B"] = "s"


class CellFile(_Table):
    """A cell, or several that differ in parameters (`each`; `id` is the end of the name).

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
    each: list[dict[str, str]] = []
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
    seed: int = 1


class _Choice(_Table):
    open: str
    chosen: str
    reason: str


class _Omitted(_Table):
    case: str
    section: str
    reason: str


class _Grid(_Table):
    """What `--grid` varies: a point for each combination of values of parameters, where the
    expression `cost` is at most `most`."""

    values: dict[str, list[str]]
    cost: str = "0"
    most: float = 0.0


class SuiteFile(_Table):
    """A suite as its file has it; `omitted` are cases of its document that are not simulated."""

    suite: _Suite
    parameters: dict[str, str] = {}
    grid: _Grid | None = None
    omitted: list[_Omitted] = []
    metrics: dict[str, Metric]
    cells: dict[str, CellFile]
    choices: list[_Choice] = []


def load_definition(folder: Path) -> SuiteFile:
    """Read the file of a suite. Raises `UserError` for anything wrong in it."""
    path = folder / "suite.toml"
    raw = parse(read_text(path, "a suite"), path)
    try:
        found = SuiteFile.model_validate(raw)
    except ValidationError as error:
        models = (
            *(SuiteFile, _Suite, CellFile, Metric, Check, Place, Pilot),
            *(_Choice, _Omitted, _Grid),
        )
        keys = dict.fromkeys(key for model in models for key in model.model_fields)
        raise located(path, error.errors(), keys) from None
    for name, metric in found.metrics.items():
        if bool(metric.quantity) == bool(metric.function):
            raise UserError(f"{path}: metrics.{name}: give a quantity or a function")
    for name, cell in found.cells.items():
        place = f'{path}: cells."{name}"'
        asked = [*(cell.metrics or ()), *cell.also, *(check.metric for check in cell.checks)]
        for wanted in (*found.suite.metrics, *found.suite.trade_off, *asked):
            if wanted not in found.metrics:
                near = nearest(wanted, found.metrics)
                raise UserError(f'{place}: no metric "{wanted}"{near}')
        if any("id" not in row for row in cell.each):
            raise UserError(f"{place}.each: each row has an id, the end of the cell's name")
    return found
