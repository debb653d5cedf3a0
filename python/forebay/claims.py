"""The claims of a published study: reading and checking `paper.toml`.

A `paper.toml` holds what a paper says and nothing about what was measured:

    [paper]
    study = "af"
    title = "..."
    authors = ["..."]                   # and venue, date, identifier: see Citation

    [[table]]                           # also a curve: rows are its points
    id = "t3.1"
    place = "Table 3.1"
    how_read = "printed"                # or "graph"
    unit = "Mbit/s"                     # of the values; quantities themselves are in SI units
    decimals = 2                        # printed digits; for a graph: resolution = 0.05
    trend = "column"                    # the line along which the paper's ordering counts
    point = { scenario = 1 }            # parameters common to all cells
    row_id = "udp{udp_mbps}"            # names filled in from the row's point; a row may
    row_label = "UDP {udp_mbps}"        # instead state its own id and label
    rows = [
      { point.udp_mbps = 5, values = [29.05] },             # one per column; "-": not printed
    ]

    [[table.columns]]                   # or, where short enough, columns = [{ ... }, { ... }]
    id = "two/tcp"
    label = "two precedences, sum of TCP"
    quantity = "tcp_sum_bps"
    point.precedences = 2

    [[statement]]
    id = "s3/three/udp-only-cir"
    place = "section 3, page 4"
    how_read = "quoted"                 # or "paraphrased"
    text = "..."
    predicate = "udp_gets_only_its_cir" # a function of the study's predicates.py

Each cell becomes one claim, here `t3.1/udp5/two/tcp` at the grid point `{scenario = 1,
precedences = 2, udp_mbps = 5}`.

A column may override the table's `quantity`, `unit`, `decimals`, `resolution` and
`absolute_tolerance`. The last is for values at or near zero: `{ full_scale = 0.05, reason =
"..." }` grants cells whose published value is at most 2 % of the full scale the usual 2 % and
10 %, but of the full scale. `note` on a table or a statement, and `notes = { "two/tcp" = "..." }`
(by column) on a row, record what a reader of the comparison should know, such as a misprint.
"""

from __future__ import annotations

import re
import string
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError
from pydantic_core import PydanticCustomError

from forebay import grades
from forebay.errors import UserError, nearest, read_text
from forebay.grades import Grade, Measurements, Parameter, Predicate, Tolerance, Truth
from forebay.stats import Interval

__all__ = [
    "UNITS",
    "Citation",
    "NumericClaim",
    "Paper",
    "PaperFileError",
    "Statement",
    "bind_predicates",
    "grade_claims",
    "load_paper",
    "parse_paper",
    "published_measurements",
]

UNITS: Mapping[str, Mapping[str, float]] = {
    "bps": {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    "pps": {"packets/s": 1.0, "cells/s": 1.0},
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6},
    "bytes": {"B": 1.0, "kB": 1e3, "MB": 1e6},
    "packets": {"packets": 1.0, "kilopackets": 1e3},
    "cells": {"cells": 1.0, "kcells": 1e3},
    "ratio": {"1": 1.0, "%": 1e-2},
    "count": {"1": 1.0},
}
"""Units a value may be published in, by the last word of the quantity's name (`tcp_sum_bps`),
which names the unit it is measured in; each with its size in that unit."""


SHOWN_PROBLEMS = 12


class PaperFileError(UserError):
    """A paper.toml is wrong: which file, and for each problem where, what was read, what is
    allowed."""

    def __init__(self, path: Path, problems: Sequence[str]) -> None:
        self.path = path
        self.problems = tuple(dict.fromkeys(problems))
        lines = [f"{path}: {problem}" for problem in self.problems[:SHOWN_PROBLEMS]]
        if len(self.problems) > SHOWN_PROBLEMS:
            lines.append(f"{path}: and {len(self.problems) - SHOWN_PROBLEMS} more problems")
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True)
class NumericClaim:
    """One published number.

    `published` is in `unit`; `unit_size` converts it: measured quantity = published * unit_size,
    in the unit that ends the name of `quantity`. `point` and `quantity` say which run and which
    of its results it is compared with. `line` names the row or column whose ordering decides
    `trend`, or is `None` where the paper's order means nothing. `decimals` is `None` for a value
    read from a graph. `absolute_reason` explains an absolute tolerance.
    """

    id: str
    place: str
    quantity: str
    unit: str
    unit_size: float
    published: float
    decimals: int | None
    how_read: str
    point: dict[str, Parameter]
    line: str | None
    tolerance: Tolerance
    absolute_reason: str
    note: str

    def in_published_unit(self, measured: Interval) -> Interval:
        """A measured interval, converted from the quantity's unit to the published one."""
        return measured.scaled(1.0 / self.unit_size)


@dataclass(frozen=True, slots=True)
class Paper:
    """A study's citation and claims, in the order of its file."""

    path: Path
    citation: Citation
    claims: tuple[NumericClaim, ...]
    statements: tuple[Statement, ...]

    def select(self, pattern: str) -> tuple[list[NumericClaim], list[Statement]]:
        """The claims whose id matches a shell-style pattern; `*` also matches `/`."""
        return (
            [claim for claim in self.claims if fnmatchcase(claim.id, pattern)],
            [statement for statement in self.statements if fnmatchcase(statement.id, pattern)],
        )

    def lines(self) -> dict[str, list[NumericClaim]]:
        """The claims of each row or column whose ordering counts, by its name."""
        lines: dict[str, list[NumericClaim]] = {}
        for claim in self.claims:
            if claim.line is not None:
                lines.setdefault(claim.line, []).append(claim)
        return lines


def load_paper(path: Path) -> Paper:
    """Read and check a `paper.toml`.

    Raises `PaperFileError` listing every problem found, or another `UserError` if the file cannot
    be read as text.
    """
    return parse_paper(read_text(path, "a study's paper.toml"), path)


def parse_paper(text: str, path: Path = Path("paper.toml")) -> Paper:
    """`load_paper` for a text already read; `path` appears in messages."""
    try:
        # Decimal keeps the digits as printed, so that 28.5 is told from 28.50.
        raw = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise PaperFileError(path, [f"not TOML: {error}"]) from error
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        raise PaperFileError(path, [_describe(e, raw) for e in error.errors()]) from error
    problems: list[str] = []
    claims = [
        claim
        for index, table in enumerate(file.table)
        for claim in _Expansion(table, f"table[{index}]", problems).claims()
    ]
    if not problems:
        names = [claim.id for claim in claims] + [entry.id for entry in file.statement]
        ids = Counter(names + [table.id for table in file.table])
        problems = [f"id {id!r}: given {n} times; ids are unique" for id, n in ids.items() if n > 1]
    if problems:
        raise PaperFileError(path, problems)
    return Paper(path, file.paper, tuple(claims), tuple(file.statement))


def bind_predicates(paper: Paper, available: Mapping[str, Predicate]) -> dict[str, Predicate]:
    """The predicate of each statement, by statement id.

    Raises `PaperFileError` for a name that is not available, with the nearest one that is.
    """
    problems = [
        f"statement {entry.id!r}: predicate: read {entry.predicate!r}, which the study's "
        f"predicates do not define{nearest(entry.predicate, available)}"
        for entry in paper.statements
        if entry.predicate not in available
    ]
    if problems:
        raise PaperFileError(paper.path, problems)
    return {entry.id: available[entry.predicate] for entry in paper.statements}


def grade_claims(
    paper: Paper, measurements: Measurements, predicates: Mapping[str, Predicate]
) -> dict[str, Grade]:
    """Grade every claim that was measured, by claim id, in the order of the paper.

    `predicates` is what `bind_predicates` returns. A claim some of whose quantities were not
    measured is left out. A value that is off, on a line with cells not measured, is `imprecise`,
    because the ordering that could make it a `trend` is not known.
    """
    orderings = {
        name: grades.ordering_holds(
            [c.published for c in line], [_measured(c, measurements) for c in line]
        )
        for name, line in paper.lines().items()
    }
    verdicts: dict[str, Grade] = {}
    for claim in paper.claims:
        measured = _measured(claim, measurements)
        if measured is not None:
            ordering = Truth.FALSE if claim.line is None else orderings[claim.line]
            verdicts[claim.id] = grades.grade_number(measured, claim.tolerance, ordering)
    for statement in paper.statements:
        try:
            verdicts[statement.id] = grades.grade_statement(predicates[statement.id](measurements))
        except grades.MissingMeasurementError:
            continue
    return verdicts


def published_measurements(paper: Paper) -> Measurements:
    """The paper's own numbers as measurements without error, in SI units.

    Judging the statements on them shows where a paper's text and tables contradict each other.
    A quantity published twice with different values counts as known only to lie between them.
    """
    measurements = Measurements()
    for claim in paper.claims:
        value = claim.published * claim.unit_size
        known = measurements.interval(claim.point, claim.quantity) or Interval.known(value)
        low, high = min(known.low, value), max(known.high, value)
        hull = Interval((low + high) / 2, low, high, (high - low) / 2, 1)
        measurements.record(claim.point, claim.quantity, hull)
    return measurements


def _measured(claim: NumericClaim, measurements: Measurements) -> Interval | None:
    interval = measurements.interval(claim.point, claim.quantity)
    return None if interval is None else claim.in_published_unit(interval)


# The file as written. Strict: a number in quotes is not a number, `true` is not 1.

_Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$")]
_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
_Text = Annotated[str, Field(pattern=r"\S")]
_Positive = Annotated[Decimal | int, Field(gt=0)]


def _printed(value: object) -> Decimal | None:
    if value == "-":
        return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise PydanticCustomError("printed", 'a value is a number or "-", for none printed')
    if not Decimal(value).is_finite():
        raise PydanticCustomError("printed", 'a value is a finite number or "-"')
    return Decimal(value)


def _parameter(value: object) -> Parameter:
    if isinstance(value, Decimal):
        return float(value)
    if not isinstance(value, bool | int | str):
        raise PydanticCustomError("parameter", "a parameter is a number, true, false or a string")
    return value


_Printed = Annotated[Decimal | None, PlainValidator(_printed)]
_Parameters = dict[_Name, Annotated[Parameter, PlainValidator(_parameter)]]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Citation(_Model):
    """Which paper it is. `study` is the study's id; `identifier` a DOI, draft or report name."""

    study: _Name
    title: _Text
    authors: Annotated[list[_Text], Field(min_length=1)]
    venue: _Text
    date: _Text
    identifier: str = ""
    note: str = ""


class _AbsoluteTolerance(_Model):
    full_scale: _Positive
    reason: _Text


class _Reading(_Model):
    """What a column may state for itself instead of taking it from its table."""

    quantity: _Name | None = None
    unit: _Text | None = None
    decimals: Annotated[int, Field(ge=0, le=12)] | None = None
    resolution: _Positive | None = None
    absolute_tolerance: _AbsoluteTolerance | None = None


class _Column(_Reading):
    id: _Id
    label: _Text
    point: _Parameters = {}


class _Row(_Model):
    id: _Id | None = None
    label: _Text | None = None
    point: _Parameters = {}
    values: Annotated[list[_Printed], Field(min_length=1)]
    notes: dict[_Id, _Text] = {}


class _Table(_Reading):
    id: _Id
    place: _Text
    how_read: Literal["printed", "graph"]
    trend: Literal["row", "column", "none"]
    point: _Parameters = {}
    row_id: _Text | None = None
    row_label: _Text | None = None
    columns: Annotated[list[_Column], Field(min_length=1)]
    rows: Annotated[list[_Row], Field(min_length=1)]
    note: str = ""


class Statement(_Model):
    """One qualitative claim; `predicate` names a function of the study's predicates module."""

    id: _Id
    place: _Text
    how_read: Literal["quoted", "paraphrased"]
    text: _Text
    predicate: _Name
    note: str = ""


class _File(_Model):
    paper: Citation
    table: list[_Table] = []
    statement: list[Statement] = []


@dataclass(frozen=True, slots=True)
class _Kind:
    """What the cells of one column have in common, the table's defaults filled in."""

    quantity: str
    unit: str
    unit_size: float
    decimals: int | None
    rounding: float
    absolute: _AbsoluteTolerance | None


class _Expansion:
    """One `[[table]]` on its way to claims; what is wrong is added to `problems`."""

    def __init__(self, table: _Table, where: str, problems: list[str]) -> None:
        self._table = table
        self._where = where
        self._problems = problems

    def claims(self) -> Iterator[NumericClaim]:
        table = self._table
        kinds = [self._kind(column, f"columns[{i}]") for i, column in enumerate(table.columns)]
        self._check_points()
        if table.trend == "row" and len({kind.unit for kind in kinds if kind}) > 1:
            self._problem("trend", "read 'row', but the columns differ in unit and have no order")
        for index, row in enumerate(table.rows):
            where = f"rows[{index}]"
            row_id = row.id or self._fill(table.row_id, row, where, "id")
            label = row.label or self._fill(table.row_label, row, where, "label")
            for name in row.notes.keys() - {column.id for column in table.columns}:
                self._problem(f"{where}.notes", f"read {name!r}; no column has this id")
            if len(row.values) != len(kinds):
                self._problem(
                    f"{where}.values",
                    f"read {len(row.values)} values; there are {len(kinds)} columns",
                )
                continue
            for position, (column, kind, value) in enumerate(
                zip(table.columns, kinds, row.values, strict=True)
            ):
                if kind is None or value is None:
                    continue
                self._check_digits(value, kind, f"{where}.values[{position}]")
                yield self._claim(_Cell(row, row_id, label, column, kind, float(value)))

    def _claim(self, cell: _Cell) -> NumericClaim:
        table, kind = self._table, cell.kind
        line = {
            "none": None,
            "row": f"{table.id}/{cell.row_id}",
            "column": f"{table.id}/*/{cell.column.id}",
        }[table.trend]
        scale = float(kind.absolute.full_scale) if kind.absolute else 0.0
        near_zero = abs(cell.value) <= grades.EXACT * scale
        if not near_zero:
            scale = 0.0
        return NumericClaim(
            id=f"{table.id}/{cell.row_id}/{cell.column.id}",
            place=f"{table.place}, {cell.label}, {cell.column.label}",
            quantity=kind.quantity,
            unit=kind.unit,
            unit_size=kind.unit_size,
            published=cell.value,
            decimals=kind.decimals,
            how_read=table.how_read,
            point={**table.point, **cell.column.point, **cell.row.point},
            line=line,
            tolerance=Tolerance.around(
                cell.value, kind.rounding, grades.EXACT * scale, grades.CLOSE * scale
            ),
            absolute_reason=kind.absolute.reason if kind.absolute and near_zero else "",
            note=cell.row.notes.get(cell.column.id, ""),
        )

    def _kind(self, column: _Column, where: str) -> _Kind | None:
        table = self._table
        quantity, unit = column.quantity or table.quantity, column.unit or table.unit
        own = column.decimals is not None or column.resolution is not None
        source: _Reading = column if own else table
        units = UNITS.get((quantity or "").rsplit("_", 1)[-1], {})
        if quantity is None or unit is None:
            missing = "quantity" if quantity is None else "unit"
            self._problem(where, f"no {missing}; give one here or for the whole table")
        elif not units:
            endings = ", ".join(f"_{name}" for name in UNITS)
            self._problem(
                f"{where}.quantity", f"read {quantity!r}; its name must end in its unit: {endings}"
            )
        elif unit not in units:
            self._problem(
                f"{where}.unit", f"read {unit!r}; {quantity} may be published in {', '.join(units)}"
            )
        elif (table.how_read == "printed", table.how_read == "graph") != (
            source.decimals is not None,
            source.resolution is not None,
        ):
            self._problem(where, "how_read 'printed' takes decimals only, 'graph' resolution only")
        else:
            digits, resolution = source.decimals, float(source.resolution or 0)
            rounding = resolution if digits is None else 0.5 * 10.0**-digits
            absolute = column.absolute_tolerance or table.absolute_tolerance
            return _Kind(quantity, unit, units[unit], digits, rounding, absolute)
        return None

    def _check_points(self) -> None:
        """Parameters must not be given twice, nor by some rows (columns) and not by others."""
        table = self._table
        points = {
            "columns": [column.point for column in table.columns],
            "rows": [row.point for row in table.rows],
        }
        for name, given in points.items():
            for index, point in enumerate(given):
                if point.keys() != given[0].keys():
                    self._problem(
                        f"{name}[{index}].point",
                        f"read {_listed(point)}; the first of the {name} gives "
                        f"{_listed(given[0])}, and all must give the same parameters",
                    )
        parts = Counter([*table.point, *points["columns"][0], *points["rows"][0]])
        for parameter, times in parts.items():
            if times > 1:
                self._problem(
                    "point", f"{parameter} is given {times} times, among table, columns and rows"
                )

    def _check_digits(self, value: Decimal, kind: _Kind, where: str) -> None:
        if kind.decimals is not None and value.as_tuple().exponent != -kind.decimals:
            self._problem(
                where, f"read {value}; write it as printed, with {kind.decimals} decimals"
            )

    def _fill(self, template: str | None, row: _Row, where: str, what: str) -> str:
        if template is None:
            self._problem("rows", f"no {what}; give one in each row, or row_{what} for all")
            return "?"
        try:
            parts = list(string.Formatter().parse(template))
        except ValueError as error:
            self._problem(f"row_{what}", f"read {template!r}: {error}")
            return "?"
        text = ""
        for literal, field, spec, conversion in parts:
            text += literal
            if field is None:
                continue
            if spec or conversion or field not in row.point:
                self._problem(
                    f"row_{what}",
                    f"read {template!r}; only the names of the row's parameters may stand in "
                    f"braces: {_listed(row.point)}{nearest(field, row.point)}",
                )
                return "?"
            value = row.point[field]
            text += str(value).lower() if isinstance(value, bool) else str(value)
        if what == "id" and not re.fullmatch(r"[a-z0-9][a-z0-9._/-]*", text):
            self._problem(where, f"its id comes out as {text!r}; ids use a-z 0-9 . _ - /")
        return text

    def _problem(self, where: str, what: str) -> None:
        self._problems.append(f'{self._where}.{where} (in "{self._table.id}"): {what}')


@dataclass(frozen=True, slots=True)
class _Cell:
    row: _Row
    row_id: str
    label: str
    column: _Column
    kind: _Kind
    value: float


_MODELS: Mapping[tuple[str, ...], type[BaseModel]] = {
    (): _File,
    ("paper",): Citation,
    ("table",): _Table,
    ("table", "columns"): _Column,
    ("table", "rows"): _Row,
    ("table", "absolute_tolerance"): _AbsoluteTolerance,
    ("table", "columns", "absolute_tolerance"): _AbsoluteTolerance,
    ("statement",): Statement,
}


def _describe(error: Mapping[str, Any], raw: Mapping[str, Any]) -> str:
    """One pydantic error as: key path, what was read, what is allowed."""
    location: tuple[str | int, ...] = error["loc"]
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    path += _named(location, raw)
    if error["type"] == "missing":
        return f"{path}: missing; it is required"
    if error["type"] == "extra_forbidden":
        key = str(location[-1])
        names = tuple(part for part in location[:-1] if isinstance(part, str))
        model = _MODELS.get(names)
        allowed = list(model.model_fields) if model else []
        return f"{path}: unknown key; allowed are {', '.join(allowed)}{nearest(key, allowed)}"
    read = str(error["input"]) if isinstance(error["input"], Decimal) else repr(error["input"])
    return f"{path}: read {read}; {error['msg'][:1].lower()}{error['msg'][1:]}"


def _named(location: Sequence[str | int], raw: Mapping[str, Any]) -> str:
    """The id of the table or statement an error is in: an index alone is hard to find."""
    try:
        name = raw[location[0]][location[1]]["id"]  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return ""
    return f' (in "{name}")'


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
