"""Quantities of many runs: their means with intervals, and which of them no run has.

A quantity is an expression (`forebay.run.expressions`), or what a function measured. One that a
run does not have, or that has no value in it, has none over its replications either: the mean of
the others would be that of the runs in which all went well. Its row then has the note `no value`,
and a reason.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forebay.errors import UserError
from forebay.run.expressions import Answer, Expression
from forebay.run.jobs import Job, check
from forebay.run.rows import Document
from forebay.samples import FEW_SAMPLES
from forebay.stats import finite, replication_interval
from forebay.text import NO_VALUE
from forebay.units import Unit

__all__ = ["Measured", "lacking_words", "refuse_absent", "summarised"]

TRIED = 1000
AT_ONCE = 50
"""Numbers of points that are tried in search of a quantity, and of those tried at once."""

TOLD = 3
"""Number of points that a message names."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A quantity that a function measured (`forebay.run.measured`); `name` is its key in a plan. As
    an `Expression`, it has the value of a run's document by `of`."""

    name: str
    unit: Unit
    nonnegative: bool = False

    def of(self, document: Document) -> Answer:
        """Its value in a run, or why there is none."""
        value, told = document["measured"][self.name]
        return Answer(value, told if value is None else "")

    def told(self, document: Document) -> str:
        """What the function said of its value in a run."""
        return str(document["measured"][self.name][1])


def summarised(quantity: Expression | Measured, answers: Sequence[Answer]) -> dict[str, Any]:
    """The row of a quantity's interval over replications: `mean`, `low`, `high`, `replications`,
    `note`, and the `reason` if there is no value.

    The interval ends at 0 where the quantity cannot be below; a difference can.
    """
    values = [answer.value for answer in answers if answer.value is not None]
    lacking = [answer.reason for answer in answers if answer.value is None]
    row: dict[str, Any] = {"quantity": quantity.name}
    if lacking:
        row |= {"mean": None, "low": None, "high": None}
        some = f"in {len(lacking)} of {len(answers)} replications: " if values else ""
        row |= {"replications": len(answers), "note": NO_VALUE, "reason": f"{some}{lacking[0]}"}
        return row
    interval = replication_interval(values, least=0.0 if quantity.nonnegative else -math.inf)
    few = any(answer.few for answer in answers)
    row |= {"mean": interval.mean, "low": finite(interval.low), "high": finite(interval.high)}
    return row | {"replications": interval.n, "note": FEW_SAMPLES if few else interval.note}


def lacking_words(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    """Sentences about the rows that have no value: which quantity, at which values of `columns`,
    and why."""
    points: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.get("reason"):
            at = ", ".join(f"{name} = {row[name]}" for name in columns)
            points.setdefault((row["quantity"], row["reason"]), []).append(at)
    found = []
    for (quantity, reason), where in points.items():
        more = f" and {len(where) - TOLD} more" if len(where) > TOLD else ""
        at = f" at {'; '.join(where[:TOLD])}{more}" if where[0] else ""
        found.append(f"{NO_VALUE} of {quantity}{at}: {reason}")
    return found


def refuse_absent(
    quantities: Sequence[Expression],
    jobs: Iterable[Job],
    made: Callable[[Sequence[Job]], Iterable[Document]],
) -> None:
    """Raise `UserError` for a quantity that none of some jobs has.

    A misspelt quantity must show before an hour of runs, not after: `made` gives the documents of
    runs that end right behind their warm-up. Where these cannot be made, whole runs will tell.
    """
    reasons: dict[str, str] = {}
    wanted = list(quantities)
    for some in _batches(jobs):
        trials = [trial for trial in map(_trial, some) if trial is not None]
        documents = list(made(trials))
        for document in documents:
            answers = [(each, each.of(document)) for each in wanted]
            wanted = [each for each, answer in answers if answer.absent]
            for each, answer in answers:
                reasons.setdefault(each.name, answer.reason)
        if not wanted or len(documents) < len(some):
            return
    for each in wanted:
        raise each.error(reasons[each.name])


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """The first alone, as it has most of what is asked for, and then many at once."""
    left = iter(jobs)
    yield list(itertools.islice(left, 1))
    for _ in range(TRIED // AT_ONCE):
        if some := list(itertools.islice(left, AT_ONCE)):
            yield some


def _trial(job: Job) -> Job | None:
    """The same job, as short as can be; `None` if it cannot be cut."""
    warm_up = check(job.but(until=None))["warm_up_s"]
    trial = job.but(until=f"{warm_up + 1e-3:.6f} s", record=False)
    try:
        check(trial)
    except UserError:
        # Something in the scenario begins later.
        return None
    return trial
