"""Beyond the paper: what a study's `beyond.py` compares, and what came of it.

A published study ends with questions that the paper could not ask, such as how its mechanism does
against what was standardised later. Each is a `Comparison`: several *designs* (choices of
mechanisms) on the same *cases* (network, traffic, failures), of which one design is the baseline.
Replication i of every design draws the same random numbers, so differences are paired by
replication: the interval of a difference is that of a paired t, and much narrower than those of the
means.

`beyond.py` defines

    COMPARISONS = [Comparison(...), ...]

`forebay reproduce STUDY` runs them after the claims. Their samples stand in `runs.parquet` under
the variant `beyond/<comparison>/<design>`; the report has a part for each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from forebay.errors import UserError, nearest
from forebay.run.jobs import Job, Run, check
from forebay.stats import Interval, finite, paired_difference
from forebay.study.definition import without_sections
from forebay.study.grades import Parameter
from forebay.study.guard import guarded
from forebay.study.results import Cell, Outcome
from forebay.units import UNITS, of_name

if TYPE_CHECKING:
    from types import ModuleType

    from forebay.drawing import Figure
    from forebay.study.definition import Study

__all__ = [
    "Case",
    "Comparison",
    "Design",
    "Findings",
    "Shown",
    "check_scenarios",
    "comparisons_of",
    "findings_of",
    "run_cells",
]

Better = Literal["less", "more", ""]
Verdict = Literal["better", "worse", "less", "more", "equal", "open"]
"""What a paired difference says: of the design against the baseline. "less" and "more" stand where
neither is better; "equal" where every pair of runs agrees; "open" where the interval holds 0."""


@dataclass(frozen=True, slots=True)
class Case:
    """A point at which all designs are tried: `case["rtt_ms"]` is one of its parameters.

    `label` names it on the axis of plots (short; spaces that follow no digit break lines) and
    `group` the panel that it is drawn in. Both together are unique, and so is `point`. Cases with
    `quick=False` are left out by `--quick`.
    """

    label: str
    point: Mapping[str, Parameter]
    group: str = ""
    quick: bool = True

    def __getitem__(self, name: str) -> Any:
        return self.point[name]

    @property
    def name(self) -> str:
        """Group and label: what tables and errors call it."""
        return ", ".join(filter(None, [self.group, self.label]))


Assignments = Sequence[str] | Callable[[Case], Sequence[str]]
"""`PATH=VALUE` assignments or key paths: the same in every case, or by case."""


@dataclass(frozen=True, slots=True)
class Design:
    """A choice of mechanisms: assignments on top of the scenario that make it.

    `title` names it in legends and tables, `about` says in a sentence what it is. `without` are
    sections of the scenario that it does not have. `scenario` is a scenario's text of its own,
    instead of the comparison's; its seed must be the same.
    """

    id: str
    title: str
    overrides: Assignments = ()
    about: str = ""
    without: Assignments = ()
    scenario: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A quantity of the report.

    `quantity` is its name among those measured, which ends in its SI unit (`settling_s`, see
    `forebay.units.UNITS`); `label` what readers call it; `unit` the unit that it is shown in
    (`"ms"`, `"%"`). `better` says which way is better, `"less"` or `"more"`; neither if empty.
    """

    quantity: str
    label: str
    unit: str
    better: Better = ""

    @property
    def size(self) -> float:
        """The unit shown, in SI units."""
        unit = of_name(self.quantity)
        if unit is None:
            raise KeyError(self.quantity)
        return unit.multiples[self.unit]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Designs compared with a baseline on the same random numbers.

    - `id`: lower-case letters, digits and hyphens. `title`: a line. `question`: a paragraph.
    - `baseline`, `designs`, `cases`, `shown`: see `Design`, `Case` and `Shown`.
    - `quantities(run, case)`: what one run gave, in SI units; it must hold every quantity shown, as
      a finite number.
    - `scenario`: the text of the scenario; the study's `scenario.toml` if `None`.
    - `overrides`, `without`: by case, below those of the design.
    - `by_replication(case, number)`: assignments that differ from one replication to the next, such
      as the time of a failure; the same for all designs, on top of theirs.
    - `replications`: how often each design runs each case, at least 2; `quick_replications` with
      `--quick`, which also puts `quick_overrides` on top.
    - `record`: whether `quantities` reads `run.tables`, what the scenario's `[record]` asks for.
    - `conclusion`: paragraphs, or what makes them of the findings, so that figures are measured
      ones. It is asked for only when every run was made.
    - `figures`: plots besides the one that every quantity shown gets.
    """

    id: str
    title: str
    question: str
    baseline: Design
    designs: Sequence[Design]
    cases: Sequence[Case]
    quantities: Callable[[Run, Case], Mapping[str, float]]
    shown: Sequence[Shown]
    scenario: str | None = None
    overrides: Assignments = ()
    without: Assignments = ()
    by_replication: Callable[[Case, int], Sequence[str]] | None = None
    replications: int = 10
    quick_replications: int = 3
    quick_overrides: Sequence[str] = ()
    record: bool = False
    conclusion: Sequence[str] | Callable[[Findings], Sequence[str]] = ()
    figures: Callable[[Findings], Sequence[Figure]] | None = None

    @property
    def every_design(self) -> list[Design]:
        """The baseline, then the others."""
        return [self.baseline, *self.designs]

    def place(self, design: Design, case: Case) -> str:
        """What errors call a run."""
        return f"comparison {self.id}, design {design.id}, case {case.name}"

    def assignments(self, design: Design, case: Case) -> list[str]:
        """What makes a design of the scenario, in one case."""
        return [*_by_case(self.overrides, case), *_by_case(design.overrides, case)]

    def job(
        self, study: Study, design: Design, case: Case, replication: int = 0, quick: bool = False
    ) -> Job:
        """One run. Raises `UserError` if an assignment cannot be made."""
        place = self.place(design, case)
        text = design.scenario or self.scenario or study.scenario
        with guarded(study.folder, f"{study.folder / FILE}: {place}"):
            removed = [*_by_case(self.without, case), *_by_case(design.without, case)]
            made = self.assignments(design, case)
            if self.by_replication is not None:
                made += self.by_replication(case, replication)
            text = without_sections(text, removed) if removed else text
        extra = self.quick_overrides if quick else ()
        return Job(
            text,
            f"{study.folder / FILE} ({place})",
            (*made, *extra),
            replication=replication,
            record=self.record,
        )

    def measure(self, study: Study, design: Design, case: Case, run: Run) -> Mapping[str, float]:
        """The quantities of one run. Raises `UserError` if one that is shown is not a number."""
        place = f"{study.folder / FILE}: {self.place(design, case)}"
        with guarded(study.folder, place):
            found = dict(self.quantities(run, case))
        for shown in self.shown:
            name = shown.quantity
            if name not in found:
                hint = nearest(name, list(found))
                raise UserError(f'{place}: quantities gives no "{name}"{hint}')
            if not math.isfinite(found[name]):
                raise UserError(f"{place}: {name} is {found[name]}; it must be a finite number")
        return found


@dataclass(frozen=True, slots=True)
class Findings:
    """What the runs of a comparison gave; from the samples alone."""

    comparison: Comparison
    outcome: Outcome
    cases: list[Case] = field(init=False)
    """Those with at least one run."""

    def __post_init__(self) -> None:
        cases = [case for case in self.comparison.cases if any(self._counts(case))]
        object.__setattr__(self, "cases", cases)

    @property
    def complete(self) -> bool:
        """Whether every case that was begun has as many runs of each design, two at least."""
        counts = {count for case in self.cases for count in self._counts(case)}
        return len(counts) == 1 and min(counts) > 1

    @property
    def replications(self) -> tuple[int, int]:
        """The fewest and the most pairs of runs of a design in a case."""
        counts = [count for case in self.cases for count in self._counts(case)]
        return min(counts, default=0), max(counts, default=0)

    def shown(self, quantity: str) -> Shown:
        """How a quantity of the report is shown. Raises `StopIteration` if it is not."""
        return next(entry for entry in self.comparison.shown if entry.quantity == quantity)

    def interval(self, quantity: str, design: Design, case: Case) -> Interval | None:
        """The mean of one quantity, with its interval; `None` if there is no run."""
        return self.outcome.interval(quantity, case.point, _variant(self.comparison, design))

    def difference(self, quantity: str, design: Design, case: Case) -> Interval | None:
        """Design minus baseline, paired by replication; `None` if there is no pair."""
        theirs = self._values(quantity, design, case)
        ours = self._values(quantity, self.comparison.baseline, case)
        common = sorted(theirs.keys() & ours.keys())
        if not common:
            return None
        return paired_difference([theirs[n] for n in common], [ours[n] for n in common])

    def verdict(self, shown: Shown, design: Design, case: Case) -> Verdict:
        """What the paired difference says, at 95 % confidence."""
        difference = self.difference(shown.quantity, design, case)
        if difference is None or difference.n < 2:
            return "open"
        if difference.low == difference.high == 0.0:
            return "equal"
        if difference.low <= 0.0 <= difference.high:
            return "open"
        way: Literal["less", "more"] = "less" if difference.mean < 0.0 else "more"
        if not shown.better:
            return way
        return "better" if way == shown.better else "worse"

    def tally(self, shown: Shown, design: Design) -> dict[Verdict, int]:
        """In how many cases each verdict was given; verdicts not given are left out."""
        given = [self.verdict(shown, design, case) for case in self.cases]
        return {verdict: given.count(verdict) for verdict in VERDICTS if verdict in given}

    def conclusion(self) -> list[str]:
        """The paragraphs of the conclusion; a sentence that says why where there is none."""
        if not self.complete:
            return ["None is drawn: fewer runs were made than it takes."]
        made = self.comparison.conclusion
        study = self.outcome.study
        with guarded(study.folder, f"{study.folder / FILE}: conclusion of {self.comparison.id}"):
            paragraphs = made(self) if callable(made) else made
        return [" ".join(paragraph.split()) for paragraph in paragraphs]

    def document(self) -> dict[str, Any]:
        """The comparison's part of `result.json`; all values in SI units."""
        comparison = self.comparison
        return {
            "id": comparison.id,
            "title": comparison.title,
            "baseline": comparison.baseline.id,
            "designs": [{"id": d.id, "title": d.title} for d in comparison.every_design],
            "complete": self.complete,
            "rows": [
                self._row(shown, design, case)
                for shown in comparison.shown
                for case in self.cases
                for design in comparison.every_design
            ],
            "conclusion": self.conclusion(),
        }

    def _row(self, shown: Shown, design: Design, case: Case) -> dict[str, Any]:
        baseline = design is self.comparison.baseline
        mean = self.interval(shown.quantity, design, case)
        apart = None if baseline else self.difference(shown.quantity, design, case)
        return {
            "design": design.id,
            "case": case.name,
            "point": dict(case.point),
            "quantity": shown.quantity,
            "replications": mean.n if mean else 0,
            "mean": mean.mean if mean else None,
            "low": finite(mean.low if mean else None),
            "high": finite(mean.high if mean else None),
            "difference": apart.mean if apart else None,
            "difference_low": finite(apart.low if apart else None),
            "difference_high": finite(apart.high if apart else None),
            "verdict": None if baseline else self.verdict(shown, design, case),
        }

    def _values(self, quantity: str, design: Design, case: Case) -> dict[int, float]:
        cell = Cell.of(case.point, _variant(self.comparison, design))
        return self.outcome.samples.values(cell, quantity)

    def _counts(self, case: Case) -> list[int]:
        """How many replications each design has."""
        samples = self.outcome.samples
        return [
            len(samples.replications(Cell.of(case.point, _variant(self.comparison, design))))
            for design in self.comparison.every_design
        ]


VERDICTS: tuple[Verdict, ...] = ("better", "worse", "less", "more", "equal", "open")
FILE = "beyond.py"


def findings_of(outcome: Outcome) -> list[Findings]:
    """The comparisons of which there are runs."""
    every = [Findings(comparison, outcome) for comparison in outcome.study.comparisons]
    return [findings for findings in every if findings.cases]


def run_cells(study: Study, quick: bool) -> list[tuple[Comparison, Design, Case, Cell]]:
    """Everything to run, comparison by comparison, designs of a case together."""
    return [
        (comparison, design, case, Cell.of(case.point, _variant(comparison, design)))
        for comparison in study.comparisons
        for case in comparison.cases
        if case.quick or not quick
        for design in comparison.every_design
    ]


def check_scenarios(study: Study, quick: bool) -> None:
    """Refuse a scenario that is wrong, or designs that would not see the same random numbers."""
    seeds: dict[str, str] = {}
    for comparison, design, case, _ in run_cells(study, quick):
        job = comparison.job(study, design, case, quick=quick)
        seed = check(job)["resolved"]["seed"]
        expected = seeds.setdefault(comparison.id, seed)
        if seed != expected:
            raise UserError(
                f"{job.name}: seed is {seed}, elsewhere in the comparison {expected}; differences "
                "are paired, so all designs need the same"
            )


def comparisons_of(module: ModuleType) -> tuple[Comparison, ...]:
    """What a `beyond.py` defines. Raises `UserError` for what cannot be compared."""
    found = getattr(module, "COMPARISONS", None)
    path = module.__file__
    if not isinstance(found, list | tuple) or not found:
        raise UserError(
            f"{path}: defines no list COMPARISONS of forebay.study.comparison.Comparison"
        )
    for entry in found:
        if not isinstance(entry, Comparison):
            raise UserError(f"{path}: COMPARISONS holds {entry!r}; allowed are Comparisons")
        for problem in _problems(entry):
            raise UserError(f"{path}: comparison {entry.id!r}: {problem}")
    for twice in _twice([entry.id for entry in found]):
        raise UserError(f"{path}: there are two comparisons {twice!r}")
    return tuple(found)


def _problems(comparison: Comparison) -> list[str]:
    """What is wrong with a comparison; nothing is run to find out."""
    problems = [
        f"read id {name!r}; allowed are lower-case letters, digits and hyphens"
        for name in [comparison.id, *(design.id for design in comparison.every_design)]
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    ]
    for what, entries in {
        "designs": comparison.designs,
        "cases": comparison.cases,
        "shown": comparison.shown,
    }.items():
        if not entries:
            problems.append(f"{what} is empty; give at least one")
    if comparison.cases and not any(case.quick for case in comparison.cases):
        problems.append("every case has quick=False; --quick needs at least one")
    for what, number in {
        "replications": comparison.replications,
        "quick_replications": comparison.quick_replications,
    }.items():
        if number < 2:
            problems.append(f"{what} is {number}; a paired difference needs at least 2")
    for what, names in {
        "designs": [design.id for design in comparison.every_design],
        "cases": [case.name for case in comparison.cases],
        "points": [str(sorted(case.point.items())) for case in comparison.cases],
        "quantities shown": [shown.quantity for shown in comparison.shown],
    }.items():
        problems += [f"two of the {what} are {name}" for name in _twice(names)]
    return problems + [problem for shown in comparison.shown for problem in _unit(shown)]


def _unit(shown: Shown) -> list[str]:
    unit = of_name(shown.quantity)
    if unit is None:
        endings = ", ".join(f"_{name}" for name in UNITS)
        return [f"read quantity {shown.quantity!r}; its name must end in its unit: {endings}"]
    if shown.unit not in unit.multiples:
        allowed = ", ".join(unit.multiples)
        return [f"read unit {shown.unit!r}; {shown.quantity} may be shown in {allowed}"]
    if shown.better not in ("less", "more", ""):
        return [f'read better {shown.better!r}; allowed are "less", "more" and ""']
    return []


def _twice(names: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def _by_case(given: Assignments, case: Case) -> Sequence[str]:
    return given(case) if callable(given) else given


def _variant(comparison: Comparison, design: Design) -> str:
    return f"beyond/{comparison.id}/{design.id}"
