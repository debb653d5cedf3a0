"""The tables of a `paper.toml` as written, before they are claims (see `forebay.study.claims`).

Strict: a number in quotes is not a number, `true` is not 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, model_validator
from pydantic_core import PydanticCustomError

from forebay.errors import nearest
from forebay.study.grades import CLOSE, EXACT, Kind, Parameter, Statistic

__all__ = [
    "AbsoluteTolerance",
    "Citation",
    "Column",
    "File",
    "Reading",
    "Row",
    "Standing",
    "Statement",
    "Table",
    "describe",
]

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


_Word = TypeVar("_Word", bound=StrEnum)


def _kind(value: object) -> Kind:
    return _word(value, Kind, "kind")


def _statistic(value: object) -> Statistic:
    return _word(value, Statistic, "statistic")


def _word(value: object, words: type[_Word], what: str) -> _Word:
    names = [word.value for word in words]
    if value not in names:
        close = nearest(value, names) if isinstance(value, str) else ""
        raise PydanticCustomError(
            "word",
            "a {what} is one of {names}{close}",
            {"what": what, "names": ", ".join(names), "close": close},
        )
    return words(value)


_Kind = Annotated[Kind, PlainValidator(_kind)]
_Printed = Annotated[Decimal | None, PlainValidator(_printed)]
_Parameter = Annotated[Parameter, PlainValidator(_parameter)]
_Parameters = dict[_Name, _Parameter]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Citation(_Model):
    """Citation of a paper. `study` is the study's id, `identifier` a DOI, draft or report name."""

    study: _Name
    title: _Text
    authors: Annotated[list[_Text], Field(min_length=1)]
    venue: _Text
    date: _Text
    identifier: str = ""
    note: str = ""


class Standing(_Model):
    """Kind of a value, the runs that it is of, and the statement that counts for it: a table,
    column or row may state it."""

    kind: _Kind | None = None
    runs: Annotated[int, Field(ge=1)] | None = None
    statistic: Annotated[Statistic, PlainValidator(_statistic)] | None = None
    follows: _Id | None = None


_SLACK = 1.0 + 1e-9
"""A reading exactly one step off is not further off because 0.20 - 0.16 is more than 0.04."""


class AbsoluteTolerance(_Model):
    """Absolute distance that a value may be off, where a percentage of it means nothing, and the
    reason.

    Either `full_scale`, of which values at or near zero take their percentages, or distances for
    every value, in its unit: `exact`, `close` or both.
    """

    full_scale: _Positive | None = None
    exact: _Positive | None = None
    close: _Positive | None = None
    reason: _Text

    @model_validator(mode="after")
    def _one_form(self) -> AbsoluteTolerance:
        distances = self.exact is not None or self.close is not None
        if distances == (self.full_scale is not None):
            raise PydanticCustomError(
                "form", "an absolute tolerance is either full_scale, or exact, close or both"
            )
        return self

    def distances(self, published: float) -> tuple[float, float]:
        """Distances that it grants one value for `exact` and for `close`, in the value's unit."""
        if self.full_scale is None:
            return _SLACK * float(self.exact or 0), _SLACK * float(self.close or 0)
        scale = float(self.full_scale)
        near_zero = abs(published) <= EXACT * scale
        return (EXACT * scale, CLOSE * scale) if near_zero else (0.0, 0.0)


class Reading(Standing):
    """Properties that a column may state for itself instead of taking them from its table."""

    quantity: _Name | None = None
    unit: _Text | None = None
    decimals: Annotated[int, Field(ge=0, le=12)] | None = None
    resolution: _Positive | None = None
    absolute_tolerance: AbsoluteTolerance | None = None


class Column(Reading):
    """A column of a table, or a curve."""

    id: _Id
    label: _Text
    point: _Parameters = {}


class Row(Standing):
    """A row of a table, or a point of every curve; `notes` and `kinds` are by column id."""

    id: _Id | None = None
    label: _Text | None = None
    point: _Parameters = {}
    values: Annotated[list[_Printed], Field(min_length=1)]
    notes: dict[_Id, _Text] = {}
    kinds: dict[_Id, _Kind] = {}


class Table(Reading):
    """A table of the paper, or a figure."""

    id: _Id
    place: _Text
    how_read: Literal["printed", "graph", "reconstructed"]
    trend: Literal["row", "column", "none"]
    point: _Parameters = {}
    row_id: _Text | None = None
    row_label: _Text | None = None
    columns: Annotated[list[Column], Field(min_length=1)]
    rows: Annotated[list[Row], Field(min_length=1)]
    note: str = ""


class Statement(_Model):
    """One qualitative claim; `predicate` names a function of the study's predicates module."""

    id: _Id
    place: _Text
    how_read: Literal["quoted", "paraphrased", "reconstructed"]
    text: _Text
    predicate: _Name
    kind: _Kind = Kind.RESULT
    follows: _Id | None = None
    note: str = ""


class File(_Model):
    """All of a `paper.toml`."""

    paper: Citation
    grid: dict[_Name, Annotated[list[_Parameter], Field(min_length=1)]] = {}
    table: list[Table] = []
    statement: list[Statement] = []


_MODELS: Mapping[tuple[str, ...], type[BaseModel]] = {
    (): File,
    ("paper",): Citation,
    ("table",): Table,
    ("table", "columns"): Column,
    ("table", "rows"): Row,
    ("table", "absolute_tolerance"): AbsoluteTolerance,
    ("table", "columns", "absolute_tolerance"): AbsoluteTolerance,
    ("statement",): Statement,
}


def describe(error: Mapping[str, Any], raw: Mapping[str, Any]) -> str:
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
