"""The cells of a suite as sweeps: a scenario each, and a variant for each law under test.

All columns of a cell have the same seed and replications, and so the same random numbers.

A cell with a pilot depends on when a law does something: its link slows down at the moment at which
the law drains its queue, say. It is a sweep of pilot runs first, and becomes one cell for each law
(`forebay.suite.pilots`).
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomli_w

from forebay.errors import UserError, nearest, read_text
from forebay.paths import names_of
from forebay.run.axes import VARIANT, Combination
from forebay.run.expressions import Expression, read
from forebay.run.jobs import Job
from forebay.run.measured import plan_of
from forebay.run.quantities import Measured
from forebay.run.sweep import Sweep
from forebay.suite.definition import CellFile, Check, Metric, Place, SuiteFile
from forebay.suite.laws import ECN, Law
from forebay.suite.template import filled, parameters
from forebay.toml import parse
from forebay.units import symbolised

__all__ = ["PASSES", "RATE", "Asked", "Cell", "Limit", "Measure", "cells_of", "screen_names"]

RATE = "rate"
"""The parameter of a suite that `--rate` sets."""

PASSES = "passes"
"""The key of the measure that says whether a case is passed: 1 or 0."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric in a cell: `quantity` has its key as a name, `part` is the class of traffic that it
    is of, empty for all, and `metric` says what it means."""

    key: str
    words: str
    part: str
    quantity: Expression | Measured
    metric: Metric


@dataclass(frozen=True, slots=True)
class Limit:
    """A check of a cell, with its bounds as values in the base unit of its metric."""

    check: Check
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: what its file says, its measures and checks, and the sweep over the columns.

    `lacking` has, by column, why the cell is not run for a law, `places` where laws stand, and
    `fill` the parameters that those have of the suite which take them. `case` and `point` are the
    parts of its name, of which the second is a point of the grid. `settle` makes the cell of some
    laws from what pilot runs gave, if it has any; `sweep` is then that of these, and `measures` are
    theirs.
    """

    name: str
    file: CellFile
    sweep: Sweep
    measures: Sequence[Measure]
    limits: Sequence[Limit]
    lacking: Mapping[str, str]
    places: Sequence[Place]
    fill: Mapping[str, Any]
    case: str = ""
    point: str = ""
    settle: Callable[[Sequence[Law], Mapping[str, str]], Cell] | None = None

    def column(self, law: Law) -> Combination:
        """A law as a column of the cell."""
        keys = dict(law.assignment(each, self.fill) for each in self.places)
        return Combination({VARIANT: law.label}, keys)

    def scenario(self, combination: Combination) -> str:
        """The scenario of a column as a file that stands by itself."""
        tables = parse(self.sweep.scenario.text, self.name)
        for path, value in combination.keys.items():
            _assign(tables, path, value)
        return tomli_w.dumps(tables)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command asks of a suite: laws (baseline first), other controls and queues, labels of
    the laws under test, a rate of the bottleneck, names of cells as a pattern (all without),
    patterns of those that are left out, replications and seed, and whether all points of the grid
    are run."""

    laws: Sequence[Law]
    controls: Sequence[Law] = ()
    queues: Sequence[Law] = ()
    tested: Sequence[str] = ()
    rate: str | None = None
    cells: str | None = None
    without: Sequence[str] = ()
    replications: int = 10
    seed: int = 1
    grid: bool = False

    def has(self, *names: str) -> bool:
        """True for a cell that is asked for by one of its names, and left out by none."""
        left_out = any(fnmatch.filter(names, each) for each in self.without)
        return bool(fnmatch.filter(names, self.cells or "*")) and not left_out


def cells_of(folder: Path, suite: SuiteFile, asked: Asked) -> list[Cell]:
    """The cells that are asked for. Raises `UserError` for a wrong suite, or if there are none
    and no screening is asked for."""
    reader = _Reader(folder, suite, asked)
    found = [cell for name, file in suite.cells.items() for cell in reader.cells(name, file)]
    others = screen_names(suite)
    if not found and asked.cells and not fnmatch.filter(others, asked.cells):
        names = [*reader.names, *others]
        near = nearest(asked.cells, [*names, *suite.cells])
        raise UserError(
            f'--cells: none is called "{asked.cells}"{near}; there are {", ".join(names)}'
        )
    return found


def screen_names(suite: SuiteFile) -> list[str]:
    """The names by which the cells of a screening are asked for."""
    asked = suite.screening
    return [] if asked is None else [f"{asked.name}/{cell}" for cell in asked.cells]


@dataclass(frozen=True, slots=True)
class _Variant:
    """One of the cells that an entry of the file makes: its parameters, and what is set in it."""

    name: str
    parameters: Mapping[str, str]
    settings: Mapping[str, Any]
    marking: bool
    point: str = ""

    @property
    def full(self) -> str:
        """The name of the cell."""
        return "/".join(part for part in (self.name, self.point) if part)


@dataclass(frozen=True, slots=True)
class _Calls:
    """What is measured by functions: the function of each key, and the part that it is of."""

    calls: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(
        self, key: str, function: str, unit: str, of: str = "", nonnegative: bool = False
    ) -> Measured:
        self.calls[key] = (function, of)
        return Measured(key, symbolised(unit), nonnegative)


class _Reader:
    def __init__(self, folder: Path, suite: SuiteFile, asked: Asked) -> None:
        self._folder = folder
        self._suite = suite
        self._asked = asked
        self._texts: dict[str, dict[str, Any]] = {}
        self.names: list[str] = []

    def cells(self, name: str, file: CellFile) -> Iterator[Cell]:
        """The cells of an entry that are asked for."""
        for variant in self._variants(name, file):
            self.names.append(variant.full)
            if self._asked.has(variant.name, variant.full):
                if file.pilot:
                    yield self._pilot(variant, file)
                else:
                    yield self._cell(variant, file, self._asked.laws)

    def _variants(self, name: str, file: CellFile) -> Iterator[_Variant]:
        for row in self._suite.rows(file):
            full = "/".join(part for part in (name, row.get("id", "")) if part)
            own = {key: text for key, text in row.items() if key != "id"}
            # New ones of its row stand above all, so that any can name them.
            new = {key: text for key, text in own.items() if key not in self._suite.parameters}
            given = {**new, **self._suite.parameters, **self._rate(), **file.parameters, **own}
            for (control, settings), queue, (point, values) in itertools.product(
                self._controlled(file), self._queued(file), self._points(file, given)
            ):
                ending = control if queue is None else f"{control}/{queue.label}"
                all_given = {**given, **values}
                plain = {**settings, **self._queues(file, queue, False)}
                yield _Variant(full + ending, all_given, plain, False, point)
                if file.marking:
                    marked = {**settings, **file.marking, **self._queues(file, queue, True)}
                    yield _Variant(f"{full}{ending}/ecn", all_given, marked, True, point)

    def _points(
        self, file: CellFile, given: Mapping[str, str]
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """The points of the grid that are not too large: names and values."""
        grid = self._suite.grid
        if not (self._asked.grid and file.grid and grid is not None):
            yield "", {}
            return
        for texts in itertools.product(*grid.values.values()):
            values = dict(zip(grid.values, texts, strict=True))
            known = parameters({**given, **values}, "grid")
            if (read(grid.cost, "grid.cost", known).of({}).value or 0.0) <= grid.most:
                yield "-".join(text.replace(" ", "").replace("/s", "") for text in texts), values

    def _rate(self) -> dict[str, str]:
        return {} if self._asked.rate is None else {RATE: self._asked.rate}

    def _controlled(self, file: CellFile) -> Iterator[tuple[str, dict[str, Any]]]:
        """The ends of names and the settings, one for each control that the cell is run with."""
        if not file.controls:
            yield "", file.settings
            return
        for law in self._asked.controls:
            control = {at: law.at(Place(at=at), {}) for at in file.controls}
            yield f"/{law.label}", {**file.settings, **control}

    def _queued(self, file: CellFile) -> list[Law | None]:
        """The queues that the cell is run with: that of its scenario, and others if it has them."""
        return [None, *(self._asked.queues if file.queues else ())]

    def _queues(self, file: CellFile, law: Law | None, marks: bool) -> dict[str, Any]:
        """The settings of a queue in place of that of the scenario."""
        if law is None:
            return {}
        fill = {ECN: marks, **self._suite.suite.fill}
        return {at: law.at(Place(at=at), fill) for at in file.queues}

    def _pilot(self, variant: _Variant, file: CellFile) -> Cell:
        """The pilot runs of a cell, which has one cell for each law when these are made."""

        def settle(laws: Sequence[Law], given: Mapping[str, str]) -> Cell:
            known = {**variant.parameters, **given}
            return self._cell(replace(variant, parameters=known), file, laws)

        return replace(self._cell(variant, file, self._asked.laws, is_pilot=True), settle=settle)

    def _cell(
        self, variant: _Variant, file: CellFile, laws: Sequence[Law], is_pilot: bool = False
    ) -> Cell:
        place = f'{self._folder / "suite.toml"}: cells."{variant.name}"'
        known = parameters(variant.parameters, f"{place}.parameters")
        tables = filled(self._scenario(file.scenario), known, f"{self._folder / file.scenario}")
        for path, value in filled(dict(variant.settings), known, f"{place}.settings").items():
            _assign(tables, path, value)
        tables["name"] = variant.full
        flows = tables.get("flows", {})
        tables["flows"] = {name: of for name, of in flows.items() if of.get("count") != 0}
        calls = _Calls()
        found = self._piloted(file, calls) if is_pilot else self._all(file, known, calls, place)
        measures = list(found)
        quantities = [each.quantity for each in measures]
        fill = {ECN: variant.marking, **self._suite.suite.fill}
        places = [
            each.model_copy(update={"fill": filled(each.fill, known, f"{place}.places")})
            for each in self._places(file)
        ]
        cell = Cell(
            name=variant.full,
            file=file,
            sweep=Sweep(
                path=self._folder / "suite.toml",
                name=variant.full,
                scenario=Job(
                    tomli_w.dumps(tables),
                    f"{self._folder / file.scenario}",
                    **self._recorded(calls, known),
                ),
                replications=1 if file.pilot else self._asked.replications,
                seed=self._asked.seed,
                quantities=tuple(each for each in quantities if isinstance(each, Expression)),
                axes=(),
            ),
            measures=measures,
            limits=[_limit(check, measures, known, place) for check in file.checks if not is_pilot],
            lacking={},
            places=places,
            fill=filled(fill, known, f"{place}.fill"),
            case=variant.name,
            point=variant.point,
        )
        lacks = {law.label: (law, law.lacks(places)) for law in laws}
        columns = [cell.column(law) for law, lack in lacks.values() if not lack]
        lacking = {
            label: f"{law.page.name} has no parameter {lack}, which is varied here"
            for label, (law, lack) in lacks.items()
            if lack
        }
        return replace(cell, lacking=lacking, sweep=replace(cell.sweep, axes=(columns,)))

    def _recorded(self, calls: _Calls, known: Mapping[str, Expression]) -> dict[str, Any]:
        """What a job records and measures by functions: nothing if there are none."""
        if not calls.calls:
            return {}
        values = {name: each.of({}).value for name, each in known.items()}
        given = {name: value for name, value in values.items() if value is not None}
        return {"record": True, "measures": plan_of(self._folder, calls.calls, given)}

    def _piloted(self, file: CellFile, calls: _Calls) -> Iterator[Measure]:
        for name, pilot in file.pilot.items():
            quantity = calls.add(name, pilot.function, pilot.unit)
            yield Measure(name, name, "", quantity, Metric(function=pilot.function, words=name))

    def _all(
        self, file: CellFile, known: Mapping[str, Expression], calls: _Calls, place: str
    ) -> Iterator[Measure]:
        if file.judge:
            metric = Metric(function=file.judge, words=PASSES, better="more", headline=True)
            yield Measure(PASSES, PASSES, "", calls.add(PASSES, file.judge, "share"), metric)
        yield from self._measures(file, known, calls, place)

    def _scenario(self, name: str) -> dict[str, Any]:
        if name not in self._texts:
            path = self._folder / name
            self._texts[name] = parse(read_text(path), path)
        return self._texts[name]

    def _places(self, file: CellFile) -> list[Place]:
        return [
            Place(at=each) if isinstance(each, str) else each
            for each in file.places or self._suite.suite.places
        ]

    def _measures(
        self, file: CellFile, known: Mapping[str, Expression], calls: _Calls, place: str
    ) -> Iterator[Measure]:
        wanted = self._suite.suite.metrics if file.metrics is None else file.metrics
        names = [*wanted, *file.also, *(check.metric for check in file.checks)]
        if file.trade_off:
            names += self._suite.suite.trade_off
        for name in dict.fromkeys(names):
            metric = self._suite.metrics[name]
            parts = file.classes if "{of}" in metric.quantity + metric.words else [""]
            for part in parts:
                key = f"{name}.{part}" if part else name
                words = metric.words.replace("{of}", part)
                if metric.function:
                    unit = metric.unit
                    called = calls.add(key, metric.function, unit, part, metric.nonnegative)
                    yield Measure(key, words, part, called, metric)
                    continue
                told = filled(metric.quantity.replace("{of}", part), known, f"{place}.{name}")
                quantity = read(told, f"metrics.{name}").called(key)
                yield Measure(key, words, part, quantity, metric)


def _limit(
    check: Check, measures: Sequence[Measure], known: Mapping[str, Expression], place: str
) -> Limit:
    measure = next(each for each in measures if each.key == check.metric)

    def bound(text: str | None) -> float | None:
        if text is None:
            return None
        found = read(text, f"{place}.checks", known)
        if found.unit.symbol != measure.quantity.unit.symbol:
            raise found.error(f"is in {found.unit.symbol}, not {measure.quantity.unit.symbol}")
        return found.of({}).value

    return Limit(check, bound(check.least), bound(check.most))


def _assign(tables: dict[str, Any], path: str, value: Any) -> None:
    """Set the value of a key path, and the tables above it where there are none."""
    *above, last = names_of(path)
    for name in above:
        found = tables.get(name)
        if not isinstance(found, dict):
            found = tables[name] = {}
        tables = found
    tables[last] = value
