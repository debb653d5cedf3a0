"""Results of a study's runs: samples by grid point and variant, and what follows from them.

The samples alone decide everything else (intervals, grades, comparisons), so a report can be built
again from `runs.parquet` without running anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.run.store import rows_table
from forebay.stats import Interval, paired_difference, summarize
from forebay.study.claims import NumericClaim, Statement, grade_claims
from forebay.study.grades import (
    Bounds,
    Grade,
    Measurements,
    MissingMeasurementError,
    Point,
    grade_statement,
    points_needed,
)
from forebay.study.prediction import Prediction, predict

if TYPE_CHECKING:
    import pyarrow as pa

    from forebay.study.definition import Study, Variant

__all__ = ["Cell", "NotRecordedError", "Outcome", "Samples", "point_key"]

PointKey = tuple[tuple[str, Any], ...]
BASE = ""
"""The variant that is none: the study's own assumptions."""


def point_key(point: Point) -> PointKey:
    """A grid point as a dictionary key."""
    return tuple(sorted(point.items()))


@dataclass(frozen=True, slots=True)
class Cell:
    """A grid point under one variant (`""` for the study's own assumptions)."""

    variant: str
    point: PointKey

    @classmethod
    def of(cls, point: Point, variant: str = BASE) -> Cell:
        """The cell of a grid point."""
        return cls(variant, point_key(point))


class Samples:
    """The quantities of every finished run, by cell and replication."""

    def __init__(self) -> None:
        self._rows: dict[Cell, dict[int, Mapping[str, Any]]] = {}

    def expect(self, cells: Iterable[Cell]) -> None:
        """Give cells their places before runs of them end, in whatever order they do."""
        for cell in cells:
            self._rows.setdefault(cell, {})

    def add(self, cell: Cell, replication: int, facts: Mapping[str, Any]) -> None:
        """Keep one run: its quantities and what identifies it."""
        self._rows.setdefault(cell, {})[replication] = facts

    def cells(self) -> Iterator[Cell]:
        """Every cell with at least one run, in the order in which they were expected or added."""
        return (cell for cell, runs in self._rows.items() if runs)

    def replications(self, cell: Cell) -> list[int]:
        """Numbers of the replications that are there, ascending."""
        return sorted(self._rows.get(cell, {}))

    def values(self, cell: Cell, quantity: str) -> dict[int, float]:
        """One quantity by replication, ascending; without runs that do not have it."""
        runs = self._rows.get(cell, {})
        return {
            number: float(runs[number][quantity])
            for number in sorted(runs)
            if runs[number].get(quantity) is not None
        }

    def digest(self, cell: Cell) -> str | None:
        """The digest of replication 0; `None` if it was not made."""
        found = self._rows.get(cell, {}).get(0, {}).get("digest")
        return None if found is None else str(found)

    def quantities(self, cell: Cell) -> list[str]:
        """Names of the quantities measured there."""
        names: dict[str, None] = {}
        for _, facts in sorted(self._rows.get(cell, {}).items()):
            names |= dict.fromkeys(name for name in facts if name not in FACTS)
        return list(names)

    def table(self) -> pa.Table:
        """All runs as a table: what was run, its facts, its quantities."""
        order = {cell: at for at, cell in enumerate(self._rows)}
        return rows_table(
            [
                {
                    "variant": cell.variant,
                    "point": json.dumps(dict(cell.point)),
                    "replication": number,
                    **facts,
                }
                for cell in sorted(self._rows, key=order.__getitem__)
                for number, facts in sorted(self._rows[cell].items())
            ]
        )

    @classmethod
    def from_table(cls, table: pa.Table) -> Samples:
        """Reads the samples that `table` wrote."""
        samples = cls()
        for row in table.to_pylist():
            point = json.loads(row.pop("point"))
            cell = Cell.of(point, row.pop("variant"))
            samples.add(cell, row.pop("replication"), row)
        return samples


FACTS = ("seed", "scenario_hash", "digest", "version", "build", "events", "packet_hops", "wall_s")
"""Facts that every run states of itself besides its quantities."""


class NotRecordedError(LookupError):
    """A table was asked for that no recording of the results has."""


@dataclass(slots=True)
class Outcome:
    """A study with its samples: intervals, grades, comparisons, and what figures draw from."""

    study: Study
    samples: Samples
    recordings: Mapping[str, Mapping[str, pa.Table]] = field(default_factory=dict)

    def measurements(self, variant: str = BASE) -> Measurements:
        """The interval of every quantity at every point of one variant, in SI units."""
        found = Measurements()
        for cell in self.samples.cells():
            if cell.variant == variant:
                for quantity in self.samples.quantities(cell):
                    interval = self._interval(cell, quantity)
                    if interval is not None:
                        found.record(dict(cell.point), quantity, interval)
        return found

    def interval(self, quantity: str, point: Point, variant: str = BASE) -> Interval | None:
        """The interval of one quantity at one point, in SI units; `None` if not measured."""
        return self._interval(Cell.of(point, variant), quantity)

    def published(self, quantity: str, point: Point) -> list[NumericClaim]:
        """Claims of the paper on a quantity at a point."""
        wanted = point_key(point)
        return [
            claim
            for claim in self.study.paper.claims
            if claim.quantity == quantity and point_key(claim.point) == wanted
        ]

    def recorded(self, recording: str, table: str) -> dict[str, Any]:
        """The columns of a table that a recording kept, as NumPy arrays.

        Raises `NotRecordedError` if it was not made.
        """
        found = self.recordings.get(recording, {}).get(table)
        if found is None:
            raise NotRecordedError(f"{recording}: no table {table}")
        return {name: found[name].to_numpy() for name in found.column_names}

    def grades(self, variant: str = BASE) -> dict[str, Grade]:
        """The grade of every claim that was measured, by claim id."""
        predictions = {
            claim.id: prediction
            for claim in self.study.paper.claims
            if (prediction := self.prediction(claim, variant))
        }
        return grade_claims(
            self.study.paper, self.measurements(variant), self.study.predicates, predictions
        )

    def prediction(self, claim: NumericClaim, variant: str = BASE) -> Prediction | None:
        """Prediction interval of a value from the number of runs that the paper tells.

        In the published unit, for the value as printed: its rounding is part of the interval.
        `None` where the paper tells no number of runs, or nothing was measured.
        """
        values = self._values(Cell.of(claim.point, variant), claim.quantity)
        if claim.runs is None or not values:
            return None
        expected = predict(values, claim.runs, claim.statistic)
        return expected.scaled(1.0 / claim.unit_size).widened(claim.rounding)

    def difference(self, variant: Variant, quantity: str, point: Point) -> Interval | None:
        """Variant minus study, paired by replication under common random numbers."""
        ours = self.samples.values(Cell.of(point), quantity)
        theirs = self.samples.values(Cell.of(point, variant.id), quantity)
        common = sorted(ours.keys() & theirs.keys())
        if not common:
            return None
        return paired_difference([theirs[n] for n in common], [ours[n] for n in common])

    def statement_points(self, statement: Statement) -> list[tuple[Point, str]]:
        """The grid points and quantities that a statement's predicate looks at."""
        return [
            (point, quantity)
            for point, quantity in points_needed(self.study.predicates[statement.id])
        ]

    def culprits(self, statement: Statement) -> list[Point]:
        """The points whose intervals keep a statement from being judged.

        Each is tried alone, every other quantity taken as its mean. Where no single one is to
        blame, all are.
        """
        predicate = self.study.predicates[statement.id]
        needed = self.statement_points(statement)
        measured = self.measurements()
        blamed = []
        for point, quantity in needed:
            try:
                truth = predicate(_OneUncertain(measured, quantity, point))
            except MissingMeasurementError:
                return [point for point, _ in needed]
            if grade_statement(truth) is Grade.IMPRECISE:
                blamed.append(point)
        return blamed or [point for point, _ in needed]

    def _interval(self, cell: Cell, quantity: str) -> Interval | None:
        values = self._values(cell, quantity)
        return summarize(values) if values else None

    def _values(self, cell: Cell, quantity: str) -> list[float]:
        """Values of the replications; none where one of them has no finite value."""
        values = list(self.samples.values(cell, quantity).values())
        return values if all(map(math.isfinite, values)) else []


class _OneUncertain:
    """Measurements of which all but one are taken as exact."""

    def __init__(self, measured: Measurements, quantity: str, point: Point) -> None:
        self._measured = measured
        self._uncertain = (quantity, point_key(point))

    def value(self, quantity: str, /, **point: bool | int | float | str) -> Bounds:
        interval = self._measured.interval(point, quantity)
        if interval is None:
            raise MissingMeasurementError(quantity, point)
        if (quantity, point_key(point)) == self._uncertain:
            return Bounds.of(interval)
        return Bounds.exactly(interval.mean)


def unique_points(points: Iterable[Point]) -> list[Point]:
    """Each point once, in the order of its first mention."""
    return [dict(key) for key in dict.fromkeys(point_key(point) for point in points)]
