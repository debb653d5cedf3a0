"""The claims of a published study: reading and checking `paper.toml`.

A `paper.toml` holds what a paper says and nothing about what was measured:

    [paper]
    study = "af"
    title = "..."
    authors = ["..."]                   # and venue, date, identifier: see Citation

    [[table]]                           # also a curve: rows are its points
    id = "t3.1"
    place = "Table 3.1"
    how_read = "printed"                # or "graph", or "reconstructed"
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

    [grid]                              # values of parameters that statements alone look at
    precedences = [1]

    [[statement]]
    id = "s3/three/udp-only-cir"
    place = "section 3, page 4"
    how_read = "quoted"                 # or "paraphrased", or "reconstructed"
    text = "..."
    predicate = "udp_gets_only_its_cir" # a function of the study's predicates.py

A statement's predicate may ask for grid points whose parameters have values that cells have, or
`[grid]`: any other value is a slip of the pen, and refused.

Each cell becomes one claim, here `t3.1/udp5/two/tcp` at the grid point `{scenario = 1,
precedences = 2, udp_mbps = 5}`.

A column may override the table's `quantity`, `unit`, `decimals`, `resolution` and
`absolute_tolerance`. The last is for values at or near zero: `{ full_scale = 0.05, reason =
"..." }` grants cells whose published value is at most 2 % of the full scale the usual 2 % and
10 %, but of the full scale. For values on a grid, and for differences of shares, it states the
distances themselves, in the published unit and for every cell: `{ close = 0.04, reason = "..." }`,
one step of the grid, or `{ exact = 2, reason = "..." }`. `note` on a table or a statement, and
`notes = { "two/tcp" = "..." }` (by column) on a row, record what a reader of the comparison should
know, such as a misprint.

Four more keys say what a value is. A table, a column or a row may hold them, and what is nearest
to the cell counts: the row's before the column's before the table's.

    kind = "input"                      # default "result"
    kinds = { "two/tcp" = "repeat" }    # on a row: single cells, by column; counts before `kind`
    follows = "s3/three/udp-only-cir"   # the statement that a check follows from
    runs = 3                            # the paper tells that the value is from three runs
    statistic = "highest"               # of those runs, or "lowest", "median"; default "mean"

`kind` is `result` for what the document prints, or says, that came out of its experiments; only
results are counted. The others are checks, counted apart: `input` for a parameter of the paper
echoed, `formula` for a closed form evaluated, `repeat` for the same measurement in another unit or
one sentence repeated at every point, `reconstruction` for a value of ours that the document does
not print. What a simulator makes true by construction is a check. A statement may have a `kind`.
`how_read = "reconstructed"` says that a number, or a sentence, is ours and not read from the
document, even where it follows from a formula there; it takes decimals, and is never a `result`.

`follows` names the statement that counts for a check: where a sentence says of thirty flows at once
that they attain their throughputs, the sentence is one result, and the thirty values are checks
beneath it, which tables of checks show. A statement that is a check may have it as well, such as
one that judges another's sentence under another reading. A `result` follows from nothing.

`runs` is for numbers whose paper tells how many runs they are from, or shows single runs
(`runs = 1`): such a value is a random draw, and is compared with the interval in which a mean (or
the `highest`, `lowest` or `median`) of that many runs is to be expected (see
`forebay.study.grades`).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from forebay import units
from forebay.errors import UserError, nearest, read_text
from forebay.stats import Interval
from forebay.study import grades
from forebay.study.grades import (
    Grade,
    Kind,
    Measurements,
    Parameter,
    Predicate,
    Statistic,
    Tolerance,
    Truth,
)
from forebay.study.paper_schema import (
    AbsoluteTolerance,
    Citation,
    Column,
    File,
    Reading,
    Row,
    Standing,
    Statement,
    Table,
    describe,
)
from forebay.toml import parse

if TYPE_CHECKING:
    from forebay.study.prediction import Prediction

__all__ = [
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

_Value = TypeVar("_Value")

SHOWN_PROBLEMS = 12

RECONSTRUCTED = "reconstructed"
NOT_IN_DOCUMENT = (
    "read 'reconstructed', which is not in the document, but of kind result; give it the kind "
    "reconstruction, formula, input or repeat"
)


class PaperFileError(UserError):
    """A paper.toml is wrong: which file, and for each problem where, what was read, what is
    allowed."""

    def __init__(self, path: Path, problems: Sequence[str]) -> None:
        self.path = path
        self.problems = tuple(dict.fromkeys(problems))
        lines = [f"{path}: {problem}" for problem in self.problems[:SHOWN_PROBLEMS]]
        if len(self.problems) > SHOWN_PROBLEMS:
            lines.append(f"{path}: and {len(self.problems) - SHOWN_PROBLEMS} more problems")
        super().__init__(*lines)


@dataclass(frozen=True, slots=True)
class NumericClaim:
    """One published number.

    `published` is in `unit`; `unit_size` converts it: measured quantity = published * unit_size,
    in the unit that ends the name of `quantity`. `point` and `quantity` say which run and which
    of its results it is compared with. `line` names the row or column whose ordering decides
    `trend`, or is `None` where the paper's order means nothing. `decimals` is `None` for a value
    read from a graph. `rounding` is how far off the printed digits, or the reading, may be.
    `absolute_reason` explains an absolute tolerance. Only claims of the kind `result` are counted.
    `runs` is how many runs the paper tells that the value is from, `None` where it does not, and
    `statistic` what it is of those. `follows` is the id of the statement that counts for a check.
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
    rounding: float
    absolute_reason: str
    note: str
    kind: Kind = Kind.RESULT
    runs: int | None = None
    statistic: Statistic = Statistic.MEAN
    follows: str | None = None

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
    grid: Mapping[str, Sequence[Parameter]] = field(default_factory=dict)

    def select(self, pattern: str) -> tuple[list[NumericClaim], list[Statement]]:
        """The claims whose id matches a shell-style pattern; `*` also matches `/`."""
        return (
            [claim for claim in self.claims if fnmatchcase(claim.id, pattern)],
            [statement for statement in self.statements if fnmatchcase(statement.id, pattern)],
        )

    def values(self) -> dict[str, list[Parameter]]:
        """The values that each parameter has at grid points: those of numbers, and of `grid`."""
        found: dict[str, dict[Parameter, None]] = {}
        for claim in self.claims:
            for name, value in claim.point.items():
                found.setdefault(name, {})[value] = None
        for name, values in self.grid.items():
            found.setdefault(name, {}).update(dict.fromkeys(values))
        return {name: list(values) for name, values in found.items()}

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
        raw = parse(text, path, parse_float=Decimal)
    except UserError as error:
        raise PaperFileError(path, [str(error).removeprefix(f"{path}: ")]) from None
    try:
        file = File.model_validate(raw)
    except ValidationError as error:
        raise PaperFileError(path, [describe(e, raw) for e in error.errors()]) from error
    problems: list[str] = []
    claims = [
        claim
        for index, table in enumerate(file.table)
        for claim in _Expansion(table, f"table[{index}]", problems).claims()
    ]
    problems += [
        f"statement[{index}].how_read (in {entry.id!r}): {NOT_IN_DOCUMENT}"
        for index, entry in enumerate(file.statement)
        if entry.how_read == RECONSTRUCTED and entry.kind is Kind.RESULT
    ]
    problems += _unfounded(claims, file.statement)
    if not problems:
        names = [claim.id for claim in claims] + [entry.id for entry in file.statement]
        ids = Counter(names + [table.id for table in file.table])
        problems = [f"id {id!r}: given {n} times; ids are unique" for id, n in ids.items() if n > 1]
    if problems:
        raise PaperFileError(path, problems)
    return Paper(path, file.paper, tuple(claims), tuple(file.statement), file.grid)


def _unfounded(claims: Iterable[NumericClaim], statements: Sequence[Statement]) -> Iterator[str]:
    """Names faults in what checks are said to follow from, once for each."""
    known = {entry.id: entry for entry in statements}
    entries: list[NumericClaim | Statement] = [*claims, *statements]
    for name in dict.fromkeys(entry.follows for entry in entries if entry.follows):
        mine = [entry for entry in entries if entry.follows == name]
        where = f"follows (of {mine[0].id!r}): read {name!r}"
        if name not in known:
            yield f"{where}; no statement has this id{nearest(name, known)}"
        elif known[name].follows:
            yield f"{where}; that statement follows from another itself"
        for entry in mine:
            if entry.kind is Kind.RESULT:
                yield f"follows (of {entry.id!r}): a result is counted, and follows from nothing"


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
    paper: Paper,
    measurements: Measurements,
    predicates: Mapping[str, Predicate],
    predictions: Mapping[str, Prediction] | None = None,
) -> dict[str, Grade]:
    """Grade every claim that was measured, by claim id, in the order of the paper.

    `predicates` is what `bind_predicates` returns; `predictions` holds, by claim id, what is to be
    expected of values published from a stated number of runs, in the published unit. A claim some
    of whose quantities were not measured is left out. A value that is off, on a line with cells not
    measured, is `imprecise`, because the ordering that could make it a `trend` is not known.
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
            expected = predictions.get(claim.id) if predictions else None
            verdicts[claim.id] = grades.grade_number(measured, claim.tolerance, ordering, expected)
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


@dataclass(frozen=True, slots=True)
class _Format:
    """Properties that the cells of one column have in common, the table's defaults filled in."""

    quantity: str
    unit: str
    unit_size: float
    decimals: int | None
    rounding: float
    absolute: AbsoluteTolerance | None


class _Expansion:
    """One `[[table]]` on its way to claims; what is wrong is added to `problems`."""

    def __init__(self, table: Table, where: str, problems: list[str]) -> None:
        self._table = table
        self._where = where
        self._problems = problems

    def claims(self) -> Iterator[NumericClaim]:
        table = self._table
        formats = [self._format(column, f"columns[{i}]") for i, column in enumerate(table.columns)]
        self._check_points()
        if table.trend == "row" and len({form.unit for form in formats if form}) > 1:
            self._problem("trend", "read 'row', but the columns differ in unit and have no order")
        for index, row in enumerate(table.rows):
            where = f"rows[{index}]"
            row_id = row.id or self._fill(table.row_id, row, where, "id")
            label = row.label or self._fill(table.row_label, row, where, "label")
            self._check_columns(row, where)
            if len(row.values) != len(formats):
                self._problem(
                    f"{where}.values",
                    f"read {len(row.values)} values; there are {len(formats)} columns",
                )
                continue
            for position, (column, form, value) in enumerate(
                zip(table.columns, formats, row.values, strict=True)
            ):
                if form is None or value is None:
                    continue
                self._check_digits(value, form, f"{where}.values[{position}]")
                self._check_statistic(row, column, f"{where}.values[{position}]")
                claim = self._claim(_Cell(row, row_id, label, column, form, float(value)))
                if claim.how_read == RECONSTRUCTED and claim.kind is Kind.RESULT:
                    self._problem("how_read", NOT_IN_DOCUMENT)
                yield claim

    def _claim(self, cell: _Cell) -> NumericClaim:
        table, form = self._table, cell.form
        line = {
            "none": None,
            "row": f"{table.id}/{cell.row_id}",
            "column": f"{table.id}/*/{cell.column.id}",
        }[table.trend]
        absolute = form.absolute.distances(cell.value) if form.absolute else (0.0, 0.0)
        return NumericClaim(
            id=f"{table.id}/{cell.row_id}/{cell.column.id}",
            place=f"{table.place}, {cell.label}, {cell.column.label}",
            quantity=form.quantity,
            unit=form.unit,
            unit_size=form.unit_size,
            published=cell.value,
            decimals=form.decimals,
            how_read=table.how_read,
            point={**table.point, **cell.column.point, **cell.row.point},
            line=line,
            tolerance=Tolerance.around(cell.value, form.rounding, *absolute),
            rounding=form.rounding,
            absolute_reason=form.absolute.reason if form.absolute and any(absolute) else "",
            note=cell.row.notes.get(cell.column.id, ""),
            kind=cell.row.kinds.get(cell.column.id)
            or _stated(cell.row.kind, cell.column.kind, table.kind)
            or Kind.RESULT,
            runs=_stated(cell.row.runs, cell.column.runs, table.runs),
            statistic=_stated(cell.row.statistic, cell.column.statistic, table.statistic)
            or Statistic.MEAN,
            follows=_stated(cell.row.follows, cell.column.follows, table.follows),
        )

    def _format(self, column: Column, where: str) -> _Format | None:
        table = self._table
        quantity, unit = column.quantity or table.quantity, column.unit or table.unit
        own = column.decimals is not None or column.resolution is not None
        source: Reading = column if own else table
        unit_of_name = units.of_name(quantity or "")
        multiples = unit_of_name.multiples if unit_of_name else {}
        if quantity is None or unit is None:
            missing = "quantity" if quantity is None else "unit"
            self._problem(where, f"no {missing}; give one here or for the whole table")
        elif not multiples:
            endings = ", ".join(f"_{name}" for name in units.UNITS)
            self._problem(
                f"{where}.quantity", f"read {quantity!r}; its name must end in its unit: {endings}"
            )
        elif unit not in multiples:
            self._problem(
                f"{where}.unit",
                f"read {unit!r}; {quantity} may be published in {', '.join(multiples)}",
            )
        elif (table.how_read != "graph", table.how_read == "graph") != (
            source.decimals is not None,
            source.resolution is not None,
        ):
            self._problem(
                where,
                "how_read 'printed' or 'reconstructed' takes decimals only, 'graph' resolution "
                "only",
            )
        else:
            digits, resolution = source.decimals, float(source.resolution or 0)
            rounding = resolution if digits is None else 0.5 * 10.0**-digits
            absolute = column.absolute_tolerance or table.absolute_tolerance
            return _Format(quantity, unit, multiples[unit], digits, rounding, absolute)
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

    def _check_digits(self, value: Decimal, form: _Format, where: str) -> None:
        if form.decimals is not None and value.as_tuple().exponent != -form.decimals:
            self._problem(
                where, f"read {value}; write it as printed, with {form.decimals} decimals"
            )

    def _check_columns(self, row: Row, where: str) -> None:
        """Reports a problem for each single cell of a row whose column the table lacks."""
        columns = [column.id for column in self._table.columns]
        for key, given in (("notes", row.notes), ("kinds", row.kinds)):
            for name in given:
                if name not in columns:
                    self._problem(
                        f"{where}.{key}",
                        f"read {name!r}; no column has this id{nearest(name, columns)}",
                    )

    def _check_statistic(self, row: Row, column: Column, where: str) -> None:
        """A statistic means something only of a stated number of runs."""
        given: tuple[Standing, ...] = (row, column, self._table)
        statistic = _stated(*(entry.statistic for entry in given))
        if statistic is not None and _stated(*(entry.runs for entry in given)) is None:
            self._problem(
                where,
                f'statistic is "{statistic}", but no runs are given; say of how many runs the '
                "value is that",
            )

    def _fill(self, template: str | None, row: Row, where: str, what: str) -> str:
        if template is None:
            self._problem("rows", f"no {what}; give one in each row, or row_{what} for all")
            return "?"
        try:
            parts = list(string.Formatter().parse(template))
        except ValueError as error:
            self._problem(f"row_{what}", f"read {template!r}: {error}")
            return "?"
        text = ""
        for literal, key, spec, conversion in parts:
            text += literal
            if key is None:
                continue
            if spec or conversion or key not in row.point:
                self._problem(
                    f"row_{what}",
                    f"read {template!r}; only the names of the row's parameters may stand in "
                    f"braces: {_listed(row.point)}{nearest(key, row.point)}",
                )
                return "?"
            value = row.point[key]
            text += str(value).lower() if isinstance(value, bool) else str(value)
        if what == "id" and not re.fullmatch(r"[a-z0-9][a-z0-9._/-]*", text):
            self._problem(where, f"its id comes out as {text!r}; ids use a-z 0-9 . _ - /")
        return text

    def _problem(self, where: str, what: str) -> None:
        self._problems.append(f'{self._where}.{where} (in "{self._table.id}"): {what}')


@dataclass(frozen=True, slots=True)
class _Cell:
    row: Row
    row_id: str
    label: str
    column: Column
    form: _Format
    value: float


def _stated(*given: _Value | None) -> _Value | None:
    """The first that is given: what is nearest to the cell comes first."""
    return next((value for value in given if value is not None), None)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
