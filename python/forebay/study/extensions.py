"""Extensions of a study: reading and checking `extensions.toml`.

A published study ends with questions that the paper could not ask. `extensions.toml` asks them:
comparisons of designs (see `forebay.study.comparison`). What is data stands there, what is code in
`extensions.py`, whose functions it names.

    [[metric]]                                  # quantities that several comparisons show
    quantity = "delay_s"                        # as measured, in SI units
    label = "mean queuing delay"
    unit = "ms"
    better = "less"                             # or "more"; left out: neither

    [[design]]                                  # choices of mechanisms
    id = "red"
    title = "RED"
    about = "A sentence that says what it is."
    set = { "links.core.queue.red.weight" = 0.002 }     # see forebay.study.change.Change
    remove = ["links.core.queue.droptail"]
    change = "with_red"                         # def with_red(network, case)

    [[comparison]]
    id = "queues"
    title = "RED against a plain queue"
    question = "What it asks, a paragraph."
    designs = ["plain", "red"]                  # the first is the baseline; or tables as above
    metrics = ["delay_s", { quantity = "loss_ratio", label = "packets lost", unit = "%" }]
    cases = [{ label = "10 flows", point = { flows = 10 } }]    # or def NAME() -> list[Case]
    quantities = "measured"                     # def measured(run, case) -> dict[str, float]
    change = "scenario_of"                      # def scenario_of(network, case): all designs' part
    conclusion = ["How long packets wait. {delay_s}", "..."]    # or def NAME(findings) -> list[str]

Further keys of a comparison are those of `forebay.study.comparison.Comparison`: `set`, `remove`,
`by_replication` (a function), `scenario` (the text of one of its own), `replications`,
`quick_replications`, `quick_overrides`, `record`.

In the paragraphs of a conclusion `{delay_s, loss_ratio}` stands for a sentence about each of these
metrics, with three significant digits, or as many as `{delay_s:4}` says; `{NAME}` for what the
function NAME of extensions.py makes of the findings, or for its constant NAME, formatted as in
Python (`{NAME:g}`). A paragraph `{ when = "NAME", text = "..." }` stands there only if the function
NAME of the findings says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from forebay.errors import UserError, nearest
from forebay.study.change import Change
from forebay.study.comparison import (
    FILE,
    Case,
    Comparison,
    Design,
    Findings,
    Metric,
    problems,
)
from forebay.study.data_files import STRICT, read_data, refuse_twice
from forebay.study.findings_text import described
from forebay.study.variants import function_named

__all__ = ["FILE", "load_extensions"]

Entry = TypeVar("Entry")


class _Model(BaseModel):
    model_config = STRICT


class _Metric(_Model):
    quantity: str
    label: str
    unit: str
    better: Literal["less", "more", ""] = ""


class _Change(_Model):
    set: dict[str, Any] = {}
    remove: list[str] = []
    change: str = ""


class _Design(_Change):
    id: str
    title: str
    about: str = ""


class _Case(_Model):
    label: str
    point: dict[str, bool | int | float | str]
    group: str = ""
    quick: bool = True


class _Paragraph(_Model):
    text: str
    when: str


class _Comparison(_Change):
    id: str
    title: str
    question: str
    designs: list[str | _Design]
    metrics: list[str | _Metric]
    cases: str | list[_Case]
    quantities: str
    conclusion: str | list[str | _Paragraph] = []
    by_replication: str = ""
    scenario: str | None = None
    replications: int = 10
    quick_replications: int = 3
    quick_overrides: list[str] = []
    record: bool = False


class _File(_Model):
    metric: list[_Metric] = []
    design: list[_Design] = []
    comparison: list[_Comparison] = []


def load_extensions(path: Path, module: ModuleType) -> tuple[Comparison, ...]:
    """The comparisons of a study; `module` is its extensions.py.

    Raises `UserError` for anything wrong with the file, or a name that the module does not define.
    """
    file = read_data(path, "a list of comparisons", _File)
    if not file.comparison:
        raise UserError(f"{path}: has no [[comparison]]")
    refuse_twice(path, "comparisons", [entry.id for entry in file.comparison])
    return tuple(_Reader(path, file, entry, vars(module)).comparison() for entry in file.comparison)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Makes a comparison of what the file says of it."""

    path: Path
    file: _File
    entry: _Comparison
    module: Mapping[str, Any]

    @property
    def place(self) -> str:
        """Name of the comparison in errors."""
        return f"{self.path}: comparison {self.entry.id!r}"

    def comparison(self) -> Comparison:
        entry = self.entry
        designs = [self._design(one) for one in entry.designs]
        if not designs:
            raise UserError(f"{self.place}: designs is empty; give a baseline and another")
        made = Comparison(
            id=entry.id,
            title=entry.title,
            question=" ".join(entry.question.split()),
            baseline=designs[0],
            designs=designs[1:],
            cases=self._cases(),
            quantities=self._function("quantities", entry.quantities),
            metrics=[self._metric(one) for one in entry.metrics],
            scenario=entry.scenario,
            change=self._change(entry),
            by_replication=self._function("by_replication", entry.by_replication),
            replications=entry.replications,
            quick_replications=entry.quick_replications,
            quick_overrides=tuple(entry.quick_overrides),
            record=entry.record,
            conclusion=self._conclusion(),
        )
        for problem in problems(made):
            raise UserError(f"{self.place}: {problem}")
        return made

    def _function(self, key: str, name: str) -> Any:
        return function_named(self.place, key, name, self.module) if name else None

    def _change(self, entry: _Change) -> Change:
        return Change(entry.set, tuple(entry.remove), self._function("change", entry.change))

    def _design(self, entry: str | _Design) -> Design:
        shared = {one.id: one for one in self.file.design}
        found = self._shared("designs", entry, shared) if isinstance(entry, str) else entry
        about = " ".join(found.about.split())
        return Design(found.id, found.title, self._change(found), about)

    def _metric(self, entry: str | _Metric) -> Metric:
        shared = {one.quantity: one for one in self.file.metric}
        found = self._shared("metrics", entry, shared) if isinstance(entry, str) else entry
        return Metric(found.quantity, found.label, found.unit, found.better)

    def _shared(self, key: str, name: str, known: Mapping[str, Entry]) -> Entry:
        if name not in known:
            hint = nearest(name, known)
            raise UserError(f"{self.place}: {key}: the file has no [[{key[:-1]}]] {name!r}{hint}")
        return known[name]

    def _cases(self) -> Sequence[Case]:
        cases = self.entry.cases
        if isinstance(cases, str):
            made: Sequence[Case] = self._function("cases", cases)()
            return made
        return [Case(one.label, one.point, one.group, one.quick) for one in cases]

    def _conclusion(self) -> Callable[[Findings], Sequence[str]]:
        paragraphs = self.entry.conclusion
        if isinstance(paragraphs, str):
            made: Callable[[Findings], Sequence[str]] = self._function("conclusion", paragraphs)
            return made

        said = [
            (one, None)
            if isinstance(one, str)
            else (one.text, self._function("conclusion: when", one.when))
            for one in paragraphs
        ]

        def conclude(findings: Findings) -> list[str]:
            told = _Told(findings, self.module)
            return [text.format_map(told) for text, when in said if when is None or when(findings)]

        return conclude


class _Told(dict[str, Any]):
    """Values that stand for `{...}` in a conclusion."""

    def __init__(self, findings: Findings, module: Mapping[str, Any]) -> None:
        super().__init__()
        self._findings = findings
        self._module = module

    def __missing__(self, name: str) -> Any:
        if name in self._module:
            found = self._module[name]
            return found(self._findings) if callable(found) else found
        return _Metrics(self._findings, [part.strip() for part in name.split(",")])


@dataclass(frozen=True, slots=True)
class _Metrics:
    """Metrics in words; the format is the number of digits."""

    findings: Findings
    quantities: Sequence[str]

    def __format__(self, digits: str) -> str:
        known = [metric.quantity for metric in self.findings.comparison.metrics]
        for name in self.quantities:
            if name not in known:
                raise UserError(f"no metric {name!r}{nearest(name, known)}")
        return described(self.findings, *self.quantities, digits=int(digits or 3))
