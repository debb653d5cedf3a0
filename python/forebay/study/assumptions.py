"""Assumptions of a study, its departures from its paper, and why cells do not fit.

`scenario.toml` tags each value with a comment: the place in the paper that states it, or
`assumed: reason` (`reconstructed: reason` for what follows from other places). A value without one
is refused; what is no part of the network needs none (`name`, `seed`, `[record]`).
`deviations.toml` holds

    [[deviation]]
    title = "threshold order"
    paper = "(45, 90), (90, 180), (180, 360) kB for precedences 0, 1, 2 (section 2)"
    ours = "(180, 360), (90, 180), (45, 90) kB"
    reason = "..."
    variant = "printed-thresholds"      # optional: the sensitivity run that shows what it does

    [[explanation]]                     # shown at claims that do not fit
    claims = "t4.2/cbs5/*"
    text = "..."
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from forebay.errors import UserError, located, read_text
from forebay.toml import parse

if TYPE_CHECKING:
    from forebay.study.definition import Study

__all__ = ["Assumption", "Deviation", "Explanation", "Notes", "load_notes", "tagged_values"]

FITTING = ("exact", "close", "consistent", "holds")


@dataclass(frozen=True, slots=True)
class Assumption:
    """One value of scenario.toml: its key path, what is written, and its tag. `assumed` tells a
    choice of ours from what the paper states; `tag` is empty where there is no comment. `line` is
    where it stands."""

    path: str
    value: str
    tag: str
    assumed: bool
    line: int


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Deviation(_Model):
    """A departure of the study from its paper, and its reason."""

    title: str
    paper: str
    ours: str
    reason: str
    variant: str = ""


class Explanation(_Model):
    """The best explanation known for claims that do not fit."""

    claims: str
    text: str


class _File(_Model):
    deviation: list[Deviation] = []
    explanation: list[Explanation] = []


@dataclass(frozen=True, slots=True)
class Notes:
    """Everything a reader must know besides the numbers."""

    values: tuple[Assumption, ...]
    deviations: tuple[Deviation, ...]
    explanations: tuple[Explanation, ...]

    def explanation(self, row: Mapping[str, Any]) -> str:
        """Known reason why a claim does not fit; empty for one that does."""
        if row["grade"] in FITTING:
            return ""
        return " ".join(
            entry.text.strip()
            for entry in self.explanations
            if fnmatchcase(row["id"], entry.claims)
        )


def load_notes(study: Study) -> Notes:
    """Read the tags of scenario.toml, and deviations.toml if there is one.

    Raises `UserError` for a wrong deviations.toml, and for a value of scenario.toml that does not
    say where it is from.
    """
    path = study.folder / "deviations.toml"
    file = _File()
    if path.exists():
        try:
            file = _File.model_validate(parse(read_text(path, "a deviations.toml"), path))
        except ValidationError as error:
            keys = [*_File.model_fields, *Deviation.model_fields, *Explanation.model_fields]
            raise located(path, error.errors(), keys) from None
    variants = {variant.id for variant in study.variants}
    for entry in file.deviation:
        if entry.variant and entry.variant not in variants:
            raise UserError(f'{path}: "{entry.title}": no variant "{entry.variant}" in study.py')
    values = tuple(tagged_values(study.scenario))
    problems = [
        f"{study.scenario_name}: line {value.line}: {value.path}: {wrong}; behind each value "
        'stands its place in the paper, such as "section 3.1" or "Table 2", or "assumed: reason"'
        for value in values
        if (wrong := _without_source(value))
    ]
    if problems:
        raise UserError(*problems)
    return Notes(values, tuple(file.deviation), tuple(file.explanation))


def tagged_values(text: str) -> list[Assumption]:
    """Every `key = value` line of a TOML text with the comment at its end.

    An array or a table over several lines counts at its first; a comment there tags all of it, and
    without one those within.
    """
    found: list[Assumption] = []
    section = ""
    depth = 0
    within: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        code, comment = _split(line)
        inside = depth > 0
        depth += sum(code.count(c) for c in "[{") - sum(code.count(c) for c in "]}")
        words = code.strip()
        if inside:
            within += [comment] if comment else []
            if depth == 0 and not found[-1].tag and within:
                last = found[-1]
                found[-1] = _assumption(last.path, last.value, "; ".join(within), last.line)
            continue
        if not words:
            continue
        if words.startswith("["):
            section = words.strip("[] ")
            continue
        key, _, value = words.partition("=")
        path = f"{section}.{key.strip()}" if section else key.strip()
        found.append(_assumption(path, value.strip(), comment, number))
        within = []
    return found


def _assumption(path: str, value: str, comment: str, line: int) -> Assumption:
    assumed, _, reason = comment.partition(":")
    is_assumed = assumed.strip() == "assumed"
    return Assumption(path, value, reason.strip() if is_assumed else comment, is_assumed, line)


APART = ("name", "seed", "record")
"""Keys and sections that are no part of what is simulated."""

PLACE = re.compile(
    r"\b(?i:(section|table|figure|page|equation|chapter|appendix|abstract|algorithm|footnote"
    r"|listing|slide|paragraph|title|caption|example)(s|es)?|appendices)\b|\b[A-Z]\w*\.? #?\d"
)
"""A place in a publication: a part of it by its kind, or a name with a number behind it."""


def _without_source(value: Assumption) -> str:
    """Names the fault in the tag of a value; empty if there is none."""
    if value.path.partition(".")[0] in APART:
        return ""
    if not value.tag:
        return '"assumed" without a reason' if value.assumed else "no comment"
    word, _, reason = value.tag.partition(":")
    if value.assumed or (word.strip() == "reconstructed" and reason.strip()):
        return ""
    return "" if PLACE.search(value.tag) else f'the comment "{value.tag}" names no place'


def _split(line: str) -> tuple[str, str]:
    """A line without its comment, and the comment; a # in quotes begins none."""
    quote = ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#":
            return line[:at], line[at + 1 :].strip()
    return line, ""
