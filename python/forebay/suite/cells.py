"""The cells of a suite as sweeps: a scenario each, and a variant for each law under test.

All columns of a cell have the same seed and replications, and so the same random numbers.

A cell with a pilot depends on when a law does something: its link slows down at the moment at which
the law drains its queue, say. It is a sweep of pilot runs first, and becomes one cell for each law
(`settled`) with the times that these gave. Up to then both runs are the same, so that the law does
the same at that moment.
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomli_w

from forebay.errors import UserError, read_text
from forebay.paths import names_of
from forebay.run.axes import VARIANT, Combination
from forebay.run.executors import Executor
from forebay.run.expressions import Expression, read
from forebay.run.jobs import Job
from forebay.run.journal import Journal
from forebay.run.measured import Measured, plan_of
from forebay.run.summary import finished
from forebay.run.sweep import Sweep, plan, run_all
from forebay.suite.definition import CellFile, Check, Metric, Place, SuiteFile
from forebay.suite.laws import Law
from forebay.suite.template import filled, parameters
from forebay.toml import parse
from forebay.units import symbolised

__all__ = ["PASSES", "RATE", "Asked", "Cell", "Limit", "Measure", "cells_of", "settled"]

RATE = "rate"
"""The parameter of a suite that `--rate` sets."""

PASSES = "passes"
"""The key of the measure that says whether a case is passed: 1 or 0."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric in a cell: `quantity` has its key as a name, and `metric` says what it means."""

    key: str
    words: str
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

    `lacking` has, by column, why the cell is not run for a law; `case` and `point` are the parts of
    its name, of which the second is a point of the grid. `settle` makes the cell of a column from
    what pilot runs gave, if it has any; `sweep` is then that of these, and `measures` are theirs.
    """

    name: str
    file: CellFile
    sweep: Sweep
    measures: Sequence[Measure]
    limits: Sequence[Limit]
    lacking: Mapping[str, str]
    case: str = ""
    point: str = ""
    settle: Callable[[Sequence[Law], Mapping[str, str]], Cell] | None = None

    def scenario(self, combination: Combination) -> str:
        """The scenario of a column as a file that stands by itself."""
        tables = parse(self.sweep.scenario.text, self.name)
        for path, value in combination.keys.items():
            _assign(tables, path, value)
        return tomli_w.dumps(tables)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command asks of a suite: laws (baseline first), other controls and queues, a rate of
    the bottleneck, names of cells as a pattern, replications and seed, and whether all points of
    the grid are run."""

    laws: Sequence[Law]
    controls: Sequence[Law] = ()
    queues: Sequence[Law] = ()
    rate: str | None = None
    cells: str = "*"
    replications: int = 10
    seed: int = 1
    grid: bool = False


def cells_of(folder: Path, suite: SuiteFile, asked: Asked) -> list[Cell]:
    """The cells that are asked for. Raises `UserError` for a wrong suite, or if there are none."""
    reader = _Reader(folder, suite, asked)
    found = [cell for name, file in suite.cells.items() for cell in reader.cells(name, file)]
    if not found:
        raise UserError(
            f'--cells: none is called "{asked.cells}"; there are {", ".join(reader.names)}'
        )
    return found


def settled(
    cells: Iterable[Cell], laws: Sequence[Law], name: str, journal: Journal, where: Executor
) -> list[Cell]:
    """The cells, those with a pilot as one for each law, with what the pilot runs gave that
    `journal` does not hold. A law for which these have no value is in `lacking`."""
    cells = list(cells)
    pilots = {cell.name: plan(cell.sweep) for cell in cells if cell.settle is not None}
    parts = [(cell.sweep, pilots[cell.name]) for cell in cells if cell.settle is not None]
    run_all(parts, f"{name}: pilots", journal, where)
    found: list[Cell] = []
    for cell in cells:
        if cell.settle is None:
            found.append(cell)
            continue
        lacking = dict(cell.lacking)
        for entry in pilots[cell.name]:
            column = str(entry.values[VARIANT])
            given: dict[str, str] = {}
            for _, document in finished(cell.sweep, entry, journal):
                answers = {each.key: each.quantity.of(document) for each in cell.measures}
                lacks = [answer.reason for answer in answers.values() if answer.value is None]
                lacking |= {column: lacks[0]} if lacks else {}
                given = {
                    each.key: f"{answers[each.key].value!r} {each.quantity.unit.symbol}"
                    for each in cell.measures
                }
            if column not in lacking and given:
                found.append(cell.settle([law for law in laws if law.label == column], given))
            elif not given:
                lacking[column] = "its pilot run gave no result"
        if lacking:
            empty = replace(cell.sweep, axes=([],))
            found.append(replace(cell, sweep=empty, measures=[], lacking=lacking, settle=None))
    return found


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

    def add(self, key: str, function: str, unit: str, of: str = "") -> Measured:
        self.calls[key] = (function, of)
        return Measured(key, symbolised(unit))


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
            names = (variant.name, variant.full)
            if any(fnmatch.fnmatchcase(name, self._asked.cells) for name in names):
                if file.pilot:
                    yield self._pilot(variant, file)
                else:
                    yield self._cell(variant, file, self._asked.laws)

    def _variants(self, name: str, file: CellFile) -> Iterator[_Variant]:
        for row in file.each or [{}]:
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
        fill = {"ecn": marks, **self._suite.suite.fill}
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
        columns, lacking = self._columns(variant, file, laws, known, place)
        quantities = [each.quantity for each in measures]
        return Cell(
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
                axes=(columns,),
            ),
            measures=measures,
            limits=[_limit(check, measures, known, place) for check in file.checks if not is_pilot],
            lacking=lacking,
            case=variant.name,
            point=variant.point,
        )

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
            yield Measure(name, name, quantity, Metric(function=pilot.function, words=name))

    def _all(
        self, file: CellFile, known: Mapping[str, Expression], calls: _Calls, place: str
    ) -> Iterator[Measure]:
        if file.judge:
            metric = Metric(function=file.judge, words=PASSES, better="more", headline=True)
            yield Measure(PASSES, PASSES, calls.add(PASSES, file.judge, "share"), metric)
        yield from self._measures(file, known, calls, place)

    def _scenario(self, name: str) -> dict[str, Any]:
        if name not in self._texts:
            path = self._folder / name
            self._texts[name] = parse(read_text(path), path)
        return self._texts[name]

    def _columns(
        self,
        variant: _Variant,
        file: CellFile,
        laws: Sequence[Law],
        known: Mapping[str, Expression],
        place: str,
    ) -> tuple[list[Combination], dict[str, str]]:
        places = [
            Place(at=each) if isinstance(each, str) else each
            for each in file.places or self._suite.suite.places
        ]
        fill = {"ecn": variant.marking, **self._suite.suite.fill}
        fill = filled(fill, known, f"{place}.fill")
        columns, lacking = [], {}
        for law in laws:
            if lack := law.lacks(places):
                lacking[law.label] = (
                    f"{law.page.name} has no parameter {lack}, which is varied here"
                )
                continue
            keys = dict(law.assignment(each, fill) for each in places)
            columns.append(Combination({VARIANT: law.label}, keys))
        return columns, lacking

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
                    called = calls.add(key, metric.function, metric.unit, part)
                    yield Measure(key, words, called, metric)
                    continue
                told = filled(metric.quantity.replace("{of}", part), known, f"{place}.{name}")
                quantity = read(told, f"metrics.{name}").called(key)
                yield Measure(key, words, quantity, metric)


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
