"""Published studies: a paper's claims, the runs that they need, samples and grades.

What the modules of a study are made of can be imported from here:

    from forebay.study import Network, Point, Quantities, Replications, Run, Truth, at, every

Everything is imported when it is first used.
"""

# ruff: noqa: PLC0415 (imports a name when it is used)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay.run.jobs import Run
    from forebay.scenario.network import Network
    from forebay.study.change import Change
    from forebay.study.comparison import Case, Design, Findings, Metric
    from forebay.study.criteria import Values, at, every, for_each, most, some, values
    from forebay.study.definition import Recording, Replications, Study
    from forebay.study.grades import (
        CLOSE,
        EXACT,
        Bounds,
        Point,
        Quantities,
        Truth,
        all_of,
        any_of,
        at_least_count,
        most_of,
        total,
    )
    from forebay.study.loading import load_study
    from forebay.study.results import Cell, NotRecordedError, Outcome

_HOMES = {
    "forebay.run.jobs": ("Run",),
    "forebay.scenario.network": ("Network",),
    "forebay.study.change": ("Change",),
    "forebay.study.comparison": ("Case", "Design", "Findings", "Metric"),
    "forebay.study.criteria": ("Values", "at", "every", "for_each", "most", "some", "values"),
    "forebay.study.definition": ("Recording", "Replications", "Study"),
    "forebay.study.grades": (
        "CLOSE", "EXACT", "Bounds", "Point", "Quantities", "Truth", "all_of", "any_of",
        "at_least_count", "most_of", "total",
    ),
    "forebay.study.loading": ("load_study",),
    "forebay.study.results": ("Cell", "NotRecordedError", "Outcome"),
}  # fmt: skip

__all__ = [
    "CLOSE",
    "EXACT",
    "Bounds",
    "Case",
    "Cell",
    "Change",
    "Design",
    "Findings",
    "Metric",
    "Network",
    "NotRecordedError",
    "Outcome",
    "Point",
    "Quantities",
    "Recording",
    "Replications",
    "Run",
    "Study",
    "Truth",
    "Values",
    "all_of",
    "any_of",
    "at",
    "at_least_count",
    "every",
    "for_each",
    "load_study",
    "most",
    "most_of",
    "some",
    "total",
    "values",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'forebay.study' has no attribute {name!r}")
