"""Extensions of a paper: comparisons that it could not make, and what came of them.

A published study ends with questions that the paper could not ask, such as how its mechanism does
against what was standardised later. Each is a `Comparison`: several *designs* (choices of
mechanisms) on the same *cases* (network, traffic, failures), of which one design is the baseline.
Replication i of every design draws the same random numbers, so differences are paired by
replication: the interval of a difference is that of a paired t, and much narrower than those of the
means.

They are read from `extensions.toml` (see `forebay.study.extensions`). `forebay reproduce STUDY`
runs them after the claims. Their samples stand in `runs.parquet` under the variant
`beyond/<comparison>/<design>`; the report has a part for each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from forebay.errors import UserError, nearest
from forebay.run.jobs import Job, Run, check
from forebay.scenario.network import Network
from forebay.stats import Interval, finite, paired_difference
from forebay.study.change import Change
from forebay.study.data_files import twice
from forebay.study.grades import Parameter
from forebay.study.guard import guarded
from forebay.study.results import Cell, Outcome
from forebay.units import UNITS, of_name

if TYPE_CHECKING:
    from forebay.study.definition import Study

__all__ = [
    "Case",
    "Comparison",
    "Design",
    "Findings",
    "Metric",
    "check_scenarios",
    "findings_of",
    "problems",
    "run_cells",
]

Better = Literal["less", "more", ""]
Verdict = Literal["better", "worse", "less", "more", "equal", "open"]
"""Statement of a paired difference: of the design against the baseline. "less" and "more" stand
where neither is better; "equal" where every pair of runs agrees; "open" where the interval holds
0."""


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


@dataclass(frozen=True, slots=True)
class Design:
    """A choice of mechanisms: a change of the scenario that makes it.

    `title` names it in legends and tables, `about` says in a sentence what it is.
    """

    id: str
    title: str
    change: Change = field(default_factory=Change)
    about: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
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
    - `baseline`, `designs`, `cases`, `metrics`: see `Design`, `Case` and `Metric`.
    - `quantities(run, case)`: what one run gave, in SI units; it must hold the quantity of every
      metric, as a finite number.
    - `scenario`: the text of the scenario; the study's `scenario.toml` if `None`.
    - `change`: what all designs have in common, by case, below their own changes.
    - `by_replication(network, case, number)`: changes that differ from one replication to the next,
      such as the time of a failure; the same for all designs, on top of theirs.
    - `replications`: how often each design runs each case, at least 2; `quick_replications` with
      `--quick`, which also puts `quick_overrides` (`PATH=VALUE`) on top.
    - `record`: whether `quantities` reads `run.tables`, what the scenario's `[record]` asks for.
    - `conclusion`: what makes its paragraphs of the findings, so that figures are measured ones. It
      is asked for only when every run was made.
    """

    id: str
    title: str
    question: str
    baseline: Design
    designs: Sequence[Design]
    cases: Sequence[Case]
    quantities: Callable[[Run, Case], Mapping[str, float]]
    metrics: Sequence[Metric]
    scenario: str | None = None
    change: Change = field(default_factory=Change)
    by_replication: Callable[[Network, Case, int], None] | None = None
    replications: int = 10
    quick_replications: int = 3
    quick_overrides: tuple[str, ...] = ()
    record: bool = False
    conclusion: Callable[[Findings], Sequence[str]] | None = None

    @property
    def every_design(self) -> list[Design]:
        """The baseline, then the others."""
        return [self.baseline, *self.designs]

    def place(self, design: Design, case: Case) -> str:
        """Name of a run in errors."""
        return f"comparison {self.id}, design {design.id}, case {case.name}"

    def network(self, study: Study, design: Design, case: Case, replication: int = 0) -> Network:
        """The network of one run. Raises `UserError` if it cannot be made."""
        place = self.place(design, case)
        network = Network.from_text(self.scenario or study.scenario, place)
        with guarded(study.folder, f"{study.folder / FILE}: {place}"):
            for change in (self.change, design.change):
                for path in change.apply(network, case, case.point):
                    raise UserError(f"{study.folder / FILE}: {place}: set: no section for {path!r}")
            if self.by_replication is not None:
                self.by_replication(network, case, replication)
        return network

    def job(
        self, study: Study, design: Design, case: Case, replication: int = 0, quick: bool = False
    ) -> Job:
        """One run. Raises `UserError` if its network cannot be made."""
        return Job(
            self.network(study, design, case, replication).job().text,
            f"{study.folder / FILE} ({self.place(design, case)})",
            self.quick_overrides if quick else (),
            replication=replication,
            record=self.record,
        )

    def settings(self, study: Study, design: Design, case: Case) -> list[str]:
        """Lists the changes that make a design of the scenario in one case, a line each."""
        scenario = Network.from_text(self.scenario or study.scenario)
        return self.network(study, design, case).differences(scenario)

    def measure(self, study: Study, design: Design, case: Case, run: Run) -> Mapping[str, float]:
        """The quantities of one run. Raises `UserError` if that of a metric is not a number."""
        place = f"{study.folder / FILE}: {self.place(design, case)}"
        with guarded(study.folder, place):
            found = dict(self.quantities(run, case))
        for metric in self.metrics:
            name = metric.quantity
            if name not in found:
                hint = nearest(name, list(found))
                raise UserError(f'{place}: quantities gives no "{name}"{hint}')
            if not math.isfinite(found[name]):
                raise UserError(f"{place}: {name} is {found[name]}; it must be a finite number")
        return found


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings of the runs of a comparison; from the samples alone."""

    comparison: Comparison
    outcome: Outcome
    cases: list[Case] = field(init=False)
    """Those with at least one run."""

    def __post_init__(self) -> None:
        cases = [case for case in self.comparison.cases if any(self._counts(case))]
        object.__setattr__(self, "cases", cases)

    @property
    def complete(self) -> bool:
        """True if every case that was begun has as many runs of each design, two at least."""
        counts = {count for case in self.cases for count in self._counts(case)}
        return len(counts) == 1 and min(counts) > 1

    @property
    def replications(self) -> tuple[int, int]:
        """The fewest and the most pairs of runs of a design in a case."""
        counts = [count for case in self.cases for count in self._counts(case)]
        return min(counts, default=0), max(counts, default=0)

    def metric(self, quantity: str) -> Metric:
        """The metric of a quantity. Raises `StopIteration` if the report has none."""
        return next(entry for entry in self.comparison.metrics if entry.quantity == quantity)

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

    def verdict(self, metric: Metric, design: Design, case: Case) -> Verdict:
        """Verdict of the paired difference, at 95 % confidence."""
        difference = self.difference(metric.quantity, design, case)
        if difference is None or difference.n < 2:
            return "open"
        if difference.low == difference.high == 0.0:
            return "equal"
        if difference.low <= 0.0 <= difference.high:
            return "open"
        way: Literal["less", "more"] = "less" if difference.mean < 0.0 else "more"
        if not metric.better:
            return way
        return "better" if way == metric.better else "worse"

    def tally(self, metric: Metric, design: Design) -> dict[Verdict, int]:
        """In how many cases each verdict was given; verdicts not given are left out."""
        given = [self.verdict(metric, design, case) for case in self.cases]
        return {verdict: given.count(verdict) for verdict in VERDICTS if verdict in given}

    def conclusion(self) -> list[str]:
        """The paragraphs of the conclusion; a sentence that says why where there is none."""
        if not self.complete:
            return ["None is drawn: fewer runs were made than it takes."]
        study = self.outcome.study
        with guarded(study.folder, f"{study.folder / FILE}: conclusion of {self.comparison.id}"):
            conclusion = self.comparison.conclusion
            paragraphs = conclusion(self) if conclusion is not None else []
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
                self._row(metric, design, case)
                for metric in comparison.metrics
                for case in self.cases
                for design in comparison.every_design
            ],
            "conclusion": self.conclusion(),
        }

    def _row(self, metric: Metric, design: Design, case: Case) -> dict[str, Any]:
        baseline = design is self.comparison.baseline
        mean = self.interval(metric.quantity, design, case)
        apart = None if baseline else self.difference(metric.quantity, design, case)
        return {
            "design": design.id,
            "case": case.name,
            "point": dict(case.point),
            "quantity": metric.quantity,
            "replications": mean.n if mean else 0,
            "mean": mean.mean if mean else None,
            "low": finite(mean.low if mean else None),
            "high": finite(mean.high if mean else None),
            "difference": apart.mean if apart else None,
            "difference_low": finite(apart.low if apart else None),
            "difference_high": finite(apart.high if apart else None),
            "verdict": None if baseline else self.verdict(metric, design, case),
        }

    def _values(self, quantity: str, design: Design, case: Case) -> dict[int, float]:
        cell = Cell.of(case.point, _variant(self.comparison, design))
        return self.outcome.samples.values(cell, quantity)

    def _counts(self, case: Case) -> list[int]:
        """Number of replications of each design."""
        samples = self.outcome.samples
        return [
            len(samples.replications(Cell.of(case.point, _variant(self.comparison, design))))
            for design in self.comparison.every_design
        ]


VERDICTS: tuple[Verdict, ...] = ("better", "worse", "less", "more", "equal", "open")
FILE = "extensions.toml"


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


def problems(comparison: Comparison) -> list[str]:
    """Lists the faults of a comparison; nothing is run to find them."""
    found = [
        f"read id {name!r}; allowed are lower-case letters, digits and hyphens"
        for name in [comparison.id, *(design.id for design in comparison.every_design)]
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    ]
    for what, entries in {
        "designs": comparison.designs,
        "cases": comparison.cases,
        "metrics": comparison.metrics,
    }.items():
        if not entries:
            least = "two" if what == "designs" else "one"
            found.append(f"{what} has too few entries; give at least {least}")
    if comparison.cases and not any(case.quick for case in comparison.cases):
        found.append("every case has quick = false; --quick needs at least one")
    for what, number in {
        "replications": comparison.replications,
        "quick_replications": comparison.quick_replications,
    }.items():
        if number < 2:
            found.append(f"{what} is {number}; a paired difference needs at least 2")
    for what, names in {
        "designs": [design.id for design in comparison.every_design],
        "cases": [case.name for case in comparison.cases],
        "points": [str(sorted(case.point.items())) for case in comparison.cases],
        "metrics": [metric.quantity for metric in comparison.metrics],
    }.items():
        found += [f"two of the {what} are {name}" for name in twice(names)]
    return found + [problem for metric in comparison.metrics for problem in _unit(metric)]


def _unit(metric: Metric) -> list[str]:
    unit = of_name(metric.quantity)
    if unit is None:
        endings = ", ".join(f"_{name}" for name in UNITS)
        return [f"read quantity {metric.quantity!r}; its name must end in its unit: {endings}"]
    if metric.unit not in unit.multiples:
        allowed = ", ".join(unit.multiples)
        return [f"read unit {metric.unit!r}; {metric.quantity} may be shown in {allowed}"]
    return []


def _variant(comparison: Comparison, design: Design) -> str:
    return f"beyond/{comparison.id}/{design.id}"
