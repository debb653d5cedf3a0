"""Sensitivity of cells to the parameters of the laws under test: a Morris screening of each.

Every number, time, size and rate among the parameters of a law that has a value, given or by
default, and is not set by the suite, is varied by a factor, on a logarithmic scale. A trajectory
with a point at which the law refuses its parameters, as a threshold above another, is drawn anew.
All points have one replication, and so the same random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from forebay.errors import UserError
from forebay.run.expressions import Answer
from forebay.run.jobs import check
from forebay.run.journal import Journal
from forebay.run.summary import finished
from forebay.run.sweep import Planned
from forebay.stats import finite, summarize
from forebay.suite.cells import Asked, Cell, cells_of
from forebay.suite.definition import ScreeningFile, SuiteFile
from forebay.suite.laws import ECN, Law, scaled
from forebay.suite.morris import Point, effects, screened, trajectory

__all__ = ["Screen", "screen_rows", "screens_of"]

KINDS = ("number", "whole number", "duration", "size", "data rate", "queue length")
"""Beginnings of the kinds of parameters that are varied."""

ATTEMPTS = 200
"""Trajectories that are drawn for one that a law takes, on average, before it is given up."""

Run = tuple["Screen", Sequence[Planned]]


@dataclass(frozen=True, slots=True)
class Screen:
    """The screening of a law in a cell: the base values of its parameters, trajectories as points
    of the unit cube, and a `cell` with a column for each point."""

    law: Law
    of: str
    base: Mapping[str, Any]
    trajectories: Sequence[Sequence[Point]]
    cell: Cell


def screens_of(folder: Path, suite: SuiteFile, asked: Asked) -> list[Screen]:
    """The screenings that are asked for by name; none of a law without parameters to vary. Raises
    `UserError`."""
    file = suite.screening
    if file is None:
        return []
    found = []
    for of in file.cells:
        name = f"{file.name}/{of}"
        if asked.cells is None or not fnmatchcase(name, asked.cells):
            continue
        alone = replace(asked, cells=of, replications=1, grid=False)
        for law in asked.laws:
            base = _base(law, suite.fills)
            if base:
                found.append(_screen(folder, suite, alone, (law, of, base)))
    return found


def _base(law: Law, fill: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that are varied, with their values."""
    values = {each.name: law.given.get(each.name, each.default) for each in law.page.fields}
    return {
        each.name: values[each.name]
        for each in law.page.fields
        if each.kind.startswith(KINDS)
        and not each.list
        and each.name not in {*fill, ECN}
        and _is_positive(values[each.name])
    }


def _is_positive(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return value > 0
    return isinstance(value, str) and float(value.split()[0]) > 0.0


def _screen(
    folder: Path, suite: SuiteFile, asked: Asked, subject: tuple[Law, str, dict[str, Any]]
) -> Screen:
    from numpy.random import default_rng

    law, of, base = subject
    file = suite.screening
    assert file is not None
    (origin,) = cells_of(folder, suite, replace(asked, laws=[law]))
    # Named by law alone: all cells see the same points.
    random = default_rng([asked.seed, *law.label.encode()])
    trajectories: list[Sequence[Point]] = []
    for _ in range(ATTEMPTS * file.trajectories):
        points = trajectory(len(base), file.levels, random)
        if all(_is_taken(origin, _at(law, base, point, file)) for point in points):
            trajectories.append(points)
        if len(trajectories) == file.trajectories:
            break
    else:
        raise UserError(
            f"{file.name}: {law.label}: of {ATTEMPTS * file.trajectories} trajectories it takes "
            f"the parameters of {len(trajectories)}; {file.trajectories} are needed"
        )
    laws = [
        replace(_at(law, base, point, file), label=f"{law.label} {number}.{at}")
        for number, points in enumerate(trajectories)
        for at, point in enumerate(points)
    ]
    (cell,) = cells_of(folder, suite, replace(asked, laws=laws))
    name = f"{file.name}/{of}"
    cell = replace(cell, name=name, limits=[], sweep=replace(cell.sweep, name=name))
    return Screen(law, of, base, trajectories, cell)


def _at(law: Law, base: Mapping[str, Any], point: Point, file: ScreeningFile) -> Law:
    """The law with the parameters of a point: from 1/factor at 0 to factor at 1."""
    moved = {
        name: scaled(value, file.factor ** (2.0 * u - 1.0), f"{law.label}: {name}")
        for (name, value), u in zip(base.items(), point, strict=True)
    }
    return replace(law, given={**law.given, **moved})


def _is_taken(cell: Cell, law: Law) -> bool:
    try:
        check(cell.sweep.job(cell.column(law), 0))
    except UserError:
        return False
    return True


def screen_rows(runs: Sequence[Run], file: ScreeningFile, journal: Journal) -> list[dict[str, Any]]:
    """A row for each quantity, law, cell and parameter, the largest effect first: `mu`, `mu_star`
    with its 95 % interval `low` and `high` over trajectories, and `sigma`, in `unit`."""
    return [row for screen, planned in runs for row in _rows(screen, planned, file, journal)]


def _rows(
    screen: Screen, planned: Sequence[Planned], file: ScreeningFile, journal: Journal
) -> Iterator[dict[str, Any]]:
    documents = [
        next((found for _, found in finished(screen.cell.sweep, entry, journal)), None)
        for entry in planned
    ]
    for measure in screen.cell.measures:
        if measure.key not in file.metrics:
            continue
        answers = [
            Answer(None) if found is None else measure.quantity.of(found) for found in documents
        ]
        values = iter([answer.value for answer in answers])
        found = [effects(points, [next(values) for _ in points]) for points in screen.trajectories]
        rows = [
            _row(screen, measure, name, [of[number] for of in found if number in of])
            for number, name in enumerate(screen.base)
        ]
        yield from sorted(rows, key=lambda row: -(row["mu_star"] or 0.0))


def _row(screen: Screen, measure: Any, parameter: str, of: Sequence[float]) -> dict[str, Any]:
    row = {
        "law": screen.law.label,
        "cell": screen.of,
        "quantity": measure.key,
        "words": measure.words,
        "unit": measure.quantity.unit.symbol,
        "parameter": parameter,
        "value": str(screen.base[parameter]),
        "trajectories": len(of),
    }
    if len(of) < 2:
        return row | dict.fromkeys(("mu", "mu_star", "low", "high", "sigma"))
    told, interval = screened(of), summarize([abs(each) for each in of])
    ends = {"low": finite(max(interval.low, 0.0)), "high": finite(interval.high)}
    return row | {"mu": told.mean, "mu_star": told.size, **ends, "sigma": told.deviation}
