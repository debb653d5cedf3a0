"""Search of the largest or smallest value of a parameter at which a condition holds.

A file for `forebay find` is a sweep file with `[find]` in place of a grid:

    scenario = "voice.toml"
    replications = 10                           # of the first look at a value; default 10
    quantities = ["links.core.utilization"]     # shown at each value; may be left out

    [find]
    parameter = "flows.voice.count"
    between = [1, 200]                          # with units as the scenario has them
    condition = "flows.voice.p99_delay < 20 ms"
    goal = "largest"                            # or "smallest"; default largest
    precision = 1                               # or "5 %" of the interval; default 1 %, or 1
    confidence = 0.95                           # of the whole answer
    max_replications = 100                      # at a value, which then is undecided

The condition is one of `forebay.run.expressions`, about the means of its sides; how it is decided,
and with which confidence, is in `forebay.run.bisection`. Every value gets the same replication
numbers, so that values see the same arrivals. Runs are kept in the journal of the output folder, as
those of a sweep, and not made again. `find.json` there is the document of `--json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay.errors import UserError, located, read_text
from forebay.native import program
from forebay.run.axes import Combination
from forebay.run.bisection import (
    Decision,
    Found,
    Rule,
    combined,
    looks,
    most_points,
    search,
)
from forebay.run.executors import Executor
from forebay.run.expressions import Comparison, Expression, derived, read
from forebay.run.jobs import build, load, version
from forebay.run.journal import Journal
from forebay.run.parameter import Parameter, read_parameter
from forebay.run.progress import say_warnings
from forebay.run.quantities import summarised
from forebay.run.repeat import quoted
from forebay.run.store import take_over, write_text
from forebay.run.summary import finished
from forebay.run.sweep import Sweep, failures, plan, run_missing, settings_of, try_points
from forebay.stats import finite
from forebay.toml import parse

__all__ = ["FOUND", "Search", "find", "load_find"]

FOUND = "find.json"

UNVARIED = ("grid", "variants", "zip")


class _Find(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    parameter: str
    between: list[int | float | str]
    condition: str
    goal: Literal["largest", "smallest"] = "largest"
    precision: int | float | str | None = None
    confidence: Annotated[float, Field(ge=0.5, lt=1.0)] = 0.95
    max_replications: Annotated[int, Field(ge=2, le=100_000)] = 100


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    scenario: str
    name: str = ""
    replications: Annotated[int, Field(ge=2)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    quantities: list[str] = []
    derived: dict[str, str] = {}
    find: _Find


@dataclass(frozen=True, slots=True)
class Search:
    """A search, read and checked; `sweep` has the scenario, and what else is looked at."""

    sweep: Sweep
    parameter: Parameter
    condition: Expression
    largest: bool
    rule: Rule

    def place(self, number: int) -> int:
        """The steps from the low end after which place `number` of the search is, which begins at
        the end where the condition should hold."""
        return number if self.largest else self.parameter.steps - number

    def at(self, number: int, replications: int) -> Sweep:
        """The sweep of so many replications at one place of the search."""
        value = self.parameter.value(self.place(number))
        key = {self.parameter.path: value}
        return replace(
            self.sweep,
            name=f"{self.sweep.name}: {value}",
            replications=replications,
            axes=((Combination(key, key),),),
        )


def load_find(
    path: Path,
    overrides: Sequence[str] = (),
    until: str | None = None,
    seed: int | None = None,
) -> Search:
    """Read a file for `forebay find`, and the scenario it names; the others are options as those of
    `load_sweep`. Raises `UserError` for anything wrong with them."""
    raw = parse(read_text(path, "a search"), path)
    for key in UNVARIED:
        if key in raw:
            raise UserError(
                f"{path}: {key}: find varies one parameter, and nothing else; remove it"
            )
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        keys = [*_File.model_fields, *_Find.model_fields]
        raise located(path, error.errors(), keys) from None
    asked, names = file.find, derived(file.derived, f"{path}: derived")
    condition = read(asked.condition, f"{path}: find.condition", names)
    if condition.condition is None:
        raise condition.error("compares nothing; a condition has <, <=, > or >=, as in X < 20 ms")
    parameter = read_parameter(f"{path}: find", asked.parameter, asked.between, asked.precision)
    for name, option in (("duration", until), ("seed", seed)):
        if option is not None and asked.parameter == name:
            flag = "--until" if name == "duration" else "--seed"
            raise UserError(f"{flag}: {path} varies {name}; leave one of the two out")
    first = min(file.replications, asked.max_replications)
    sweep = Sweep(
        path=path,
        name=file.name or path.stem,
        scenario=load(path.parent / file.scenario).but(overrides=tuple(overrides), until=until),
        replications=first,
        seed=file.seed if seed is None else seed,
        quantities=tuple(read(text, f"{path}: quantities", names) for text in file.quantities),
        axes=(),
        settings=settings_of(overrides, until, seed),
        derived=names,
    )
    rule = Rule(
        asked.confidence,
        looks(first, asked.max_replications),
        most_points(parameter.steps),
        len(condition.comparisons),
    )
    return Search(sweep, parameter, condition, asked.goal == "largest", rule)


def find(
    asked: Search, journal: Journal, where: Executor, folder: Path, retry: bool = False
) -> dict[str, Any]:
    """Make the runs of a search that `journal` does not hold, and write `find.json`; the document.
    With `retry`, runs that failed before are made once more.

    Raises `UserError` for a scenario that is wrong at an end of the interval, and for a condition
    about what the scenario has at neither of them.
    """
    ends = [asked.at(number, 1) for number in (0, asked.parameter.steps)]
    planned = [entry for end in ends for entry in plan(end)]
    say_warnings(dict.fromkeys(told for entry in planned for told in entry.warnings))
    margins = [each.margin for each in asked.condition.comparisons]
    points = [end.job(end.axes[0][0], 0) for end in ends]
    try_points([*margins, *asked.sweep.quantities], points, where)
    told: list[dict[str, Any]] = []
    laws: dict[str, Mapping[str, Any]] = {}

    def evaluate(number: int) -> Decision:
        point = _Point(asked, number, journal, where, retry)
        told.append(point.decided())
        laws.update((law["name"] + law["contents"], law) for law in point.laws)
        decision: Decision = told[-1]["decision"]
        return decision

    found = search(asked.parameter.steps, evaluate)
    document = _document(asked, planned[0].seed, found, told)
    document |= {"laws": [*laws.values()]} if laws else {}
    take_over(folder, [FOUND])
    write_text(folder / FOUND, json.dumps(document, indent=1) + "\n")
    return document


class _Point:
    """A value of the parameter, at which replications are made until it is decided."""

    def __init__(
        self, asked: Search, number: int, journal: Journal, where: Executor, retry: bool
    ) -> None:
        self._asked = asked
        self._number = number
        self._journal = journal
        self._where = where
        self._retry = retry
        self.laws: list[Mapping[str, Any]] = []

    def decided(self) -> dict[str, Any]:
        """The decision, with what it rests on."""
        condition = self._asked.condition.condition
        assert condition is not None
        decision: Decision = "undecided"
        documents: list[Mapping[str, Any]] = []
        rows: list[dict[str, Any]] = []
        reason = ""
        for replications in self._asked.rule.looks:
            documents, reason = self._made(replications)
            found = (
                []
                if reason
                else [self._compared(e, documents) for e in self._asked.condition.comparisons]
            )
            rows = [row for _, _, row in found]
            reason = reason or next((row["reason"] for row in rows if "reason" in row), "")
            if reason:
                break
            decision = combined(condition, {each: decided for each, decided, _ in found})
            if decision != "undecided":
                break
        quantities = self._asked.sweep.quantities if documents else ()
        return {
            "step": self._asked.place(self._number),
            "value": self._asked.parameter.value(self._asked.place(self._number)),
            "decision": decision,
            "replications": len(documents),
            "comparisons": rows,
            "quantities": [summarised(q, [q.of(each) for each in documents]) for q in quantities],
            **({"reason": reason} if reason else {}),
        }

    def _made(self, replications: int) -> tuple[list[Mapping[str, Any]], str]:
        """The documents of so many replications, or the reason why one has none."""
        sweep = self._asked.at(self._number, replications)
        planned = plan(sweep)
        if self._retry:
            for _, failure in failures(sweep, planned, self._journal):
                self._journal.forget_failure(failure.key)
        run_missing(sweep, planned, self._journal, self._where)
        failed = failures(sweep, planned, self._journal)
        if failed:
            return [], f"a run failed: {failed[0][1].reason}; repeat it: {failed[0][1].command}"
        documents = [document for _, document in finished(sweep, planned[0], self._journal)]
        self.laws = [law for document in documents for law in document.get("laws", ())]
        return documents, ""

    def _compared(
        self, comparison: Comparison, documents: Sequence[Mapping[str, Any]]
    ) -> tuple[Comparison, Decision, dict[str, Any]]:
        """The decision about a comparison, and its row: the mean of its margin, with the interval
        that decided."""
        answers = [comparison.margin.of(document) for document in documents]
        told = {"comparison": comparison.text, "unit": comparison.margin.unit.symbol}
        margins = [answer.value for answer in answers if answer.value is not None]
        if len(margins) < len(answers):
            lacking = summarised(comparison.margin, answers)
            del lacking["quantity"], lacking["replications"]
            return comparison, "undecided", told | lacking | {"decision": "undecided"}
        alike = len({document["digest"] for document in documents}) == 1
        rule = self._asked.rule
        decision, found = rule.decide(margins, strict=comparison.strict, alike=alike)
        row: dict[str, Any] = {
            "mean": found.mean,
            "low": finite(found.low),
            "high": finite(found.high),
        }
        row |= {"note": found.note, "decision": decision}
        if found.note == "equal" and not alike:
            row["missed"] = rule.missed(len(margins))
        return comparison, decision, told | row


def _document(
    asked: Search, seed: int, found: Found, points: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    parameter, sweep = asked.parameter, asked.sweep

    def value(number: int | None) -> int | float | str | None:
        return None if number is None else parameter.value(asked.place(number))

    first, last = value(0), value(parameter.steps)
    status = "found"
    if found.value is None:
        status = "none"
    elif found.after is None:
        status = "bound"
    ends: list[int | None] = [None, None]
    if found.value is not None:
        after = found.value if found.after is None else found.after
        ends = [*sorted([found.value, after], key=asked.place)]
    return {
        "name": sweep.name,
        "version": version(),
        "build": build(),
        "command": quoted([*program(), "find", str(sweep.path), *sweep.settings]),
        "seed": seed,
        "parameter": parameter.path,
        "goal": "largest" if asked.largest else "smallest",
        "condition": asked.condition.text,
        "confidence": asked.rule.confidence,
        "between": [first, last] if asked.largest else [last, first],
        "status": status,
        "value": value(found.value),
        "low": value(ends[0]),
        "high": value(ends[1]),
        "holds_at": value(found.value),
        "first_failing": value(found.failing),
        "level": 1.0 - asked.rule.allowance,
        "looks": list(asked.rule.looks),
        "units": {q.name: q.unit.symbol for q in sweep.quantities},
        **({"derived": {n: q.text for n, q in sweep.derived.items()}} if sweep.derived else {}),
        "points": list(points),
    }
