"""Plan of the runs of `--quick`, made before it starts.

A full run of a study leaves a record, the `result.json` beside the study's files. It tells how many
replications the grade of each claim takes (see `forebay.study.needed`) and how many packet events a
run of each grid point has. The plan gives a grid point what the most demanding of its claims needs,
between the study's `quick_first` and `quick_cap`; without a record that is `quick_first`, and
packet events are estimated from the packets that sources are expected to send. If all that has
more packet events than the study's `quick_events`, the largest numbers are lowered to one limit,
the same for every grid point. Then exactly the planned runs are made: neither the clock nor what
comes out changes the plan, so the same command gives the same digits on any machine.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError
from forebay.run.documents import read_document
from forebay.run.jobs import Job, check
from forebay.study.comparison import run_cells
from forebay.study.grades import Grade, Point
from forebay.study.results import Cell
from forebay.study.tasks import Task, recording_tasks
from forebay.text import count

if TYPE_CHECKING:
    from forebay.study.claims import NumericClaim, Statement
    from forebay.study.definition import Study

__all__ = [
    "Plan",
    "Planned",
    "Record",
    "load_record",
    "plan_text",
    "quick_plan",
    "shares_of_time",
]

RECORD = "result.json"

BY_LINE = (Grade.TREND, Grade.DEVIATES, Grade.IMPRECISE)
"""Grades for which every claim of a line must be measured: its ordering decides."""


@dataclass(frozen=True, slots=True)
class Record:
    """Findings of the last full run of a study, for planning.

    `needed` is how many replications the grade of a claim takes, `grades` that grade, both by claim
    id; `events` the packet events of one run of a cell.
    """

    version: str
    scenario_hash: str
    needed: Mapping[str, int]
    grades: Mapping[str, Grade]
    events: Mapping[Cell, float]


@dataclass(frozen=True, slots=True)
class Planned:
    """Number of runs of a cell: `because` of this claim or comparison. `events` are those expected
    of one run."""

    cell: Cell
    replications: int
    events: float
    because: str

    @property
    def total(self) -> float:
        """The packet events expected of all its runs."""
        return self.replications * self.events


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of `--quick`: `rows`, and recordings that no row's run can serve as well.

    `limit` is the study's `quick_events`; `lowered_to` the most replications of a grid point that
    it leaves room for, `None` where everything wanted fits. `estimated`: no record has events.
    """

    rows: tuple[Planned, ...]
    recordings: tuple[float, ...]
    limit: float
    lowered_to: int | None
    record: Record | None
    estimated: bool

    @property
    def runs(self) -> int:
        """Number of runs made."""
        return sum(row.replications for row in self.rows) + len(self.recordings)

    @property
    def events(self) -> float:
        """Number of packet events expected of them."""
        return math.fsum(row.total for row in self.rows) + math.fsum(self.recordings)

    def targets(self, beyond: bool) -> dict[Cell, int]:
        """The replications of every grid point, or of every cell of the comparisons."""
        return {row.cell: row.replications for row in self.rows if beyond is bool(row.cell.variant)}

    def points(self) -> list[Point]:
        """The grid points."""
        return [dict(cell.point) for cell in self.targets(beyond=False)]

    def document(self) -> dict[str, Any]:
        """The plan's part of `result.json`."""
        record = self.record
        return {
            "runs": self.runs,
            "events": round(self.events),
            "estimated": self.estimated,
            "limit_events": self.limit,
            "lowered_to": self.lowered_to,
            "record": record and {"version": record.version, "scenario_hash": record.scenario_hash},
            "rows": [
                {
                    "variant": row.cell.variant,
                    "point": dict(row.cell.point),
                    "replications": row.replications,
                    "events": round(row.events),
                    "because": row.because,
                }
                for row in self.rows
            ],
        }


def plan_text(plan: Mapping[str, Any]) -> str:
    """A plan, as `result.json` holds it, in a sentence."""
    beyond = sum(bool(row["variant"]) for row in plan["rows"])
    text = f"plan: {len(plan['rows']) - beyond} grid points"
    text += f" and {beyond} of comparisons, " if beyond else ", "
    text += f"{plan['runs']} runs"
    allowed = f"of {count(plan['limit_events'] / 1e6)} million allowed"
    text += f", about {count(plan['events'] / 1e6)} million packet events {allowed}"
    if plan["lowered_to"] is not None:
        text += f"; at most {plan['lowered_to']} replications, to stay within that"
    if plan["events"] > plan["limit_events"]:
        text += "; the fewest runs that have intervals take more"
    if plan["estimated"]:
        text += "; estimated from what sources send, as no full run is recorded"
    return text


RECORDED = {
    **dict.fromkeys(("version", "scenario_hash", "command", "stopped"), str),
    "claims": [{"id": str, "grade": str, "replications": int, "needed?": (int, None)}],
    "points?": [{"point": {}, "variant": str, "events": float}],
}
"""Shape that a record must have to be planned by."""


def load_record(study: Study) -> Record | None:
    """Reads the record of the study's full run; `None` if none left one.

    Raises `UserError` for a file that is no result.
    """
    path = study.folder / RECORD
    if not path.is_file():
        return None
    try:
        document = read_document(path, RECORDED)
        words = shlex.split(document["command"])
        if document["stopped"] or "--quick" in words or "--claims" in words:
            return None
        claims = document["claims"]
        return Record(
            document["version"],
            document["scenario_hash"],
            {row["id"]: row.get("needed") or row["replications"] for row in claims},
            {row["id"]: Grade(row["grade"]) for row in claims},
            {
                Cell.of(row["point"], row["variant"]): float(row["events"])
                for row in document.get("points", ())
            },
        )
    except (UserError, ValueError) as error:
        raise UserError(
            f"{path}: not the result of a full run, from which --quick plans: {error}; "
            f"remove it, or make it again: forebay reproduce {study.id} --out {study.folder}"
        ) from None


def quick_plan(
    study: Study,
    claims: Sequence[NumericClaim],
    statements: Sequence[tuple[Statement, Sequence[Point]]],
    *,
    comparisons: bool,
    replications: int | None = None,
) -> Plan:
    """The plan for some claims and for statements with the grid points that they look at.

    `comparisons`: whether those are run as well. `replications`: so many everywhere, instead.
    Raises `UserError` for a wrong record or scenario.
    """
    record = load_record(study)
    wishes = _Wishes(study, record)
    for claim in claims:
        wishes.add_claim(claim)
    for statement, points in statements:
        wishes.add(statement.id, points)
    expected = _Expected(study, record)
    rows = [
        Planned(cell, number, expected.of(cell, study.job(dict(cell.point), 0)), because)
        for cell, (number, because) in wishes.found.items()
    ]
    if comparisons:
        rows += _compared(study, expected)
    points = [dict(row.cell.point) for row in rows if not row.cell.variant]
    apart = _apart(recording_tasks(study, points, quick=True), rows)
    limit, estimated = study.replications.quick_events, expected.estimated
    if replications is not None:
        rows = [replace(row, replications=replications, because="--replications") for row in rows]
        return Plan(tuple(rows), apart, limit, None, record, estimated)
    lowered, most = _lowered(rows, limit - math.fsum(apart), study.replications.quick_first)
    return Plan(tuple(lowered), apart, limit, most, record, estimated)


class _Wishes:
    """The replications that each grid point wants, and the claim that wants most."""

    def __init__(self, study: Study, record: Record | None) -> None:
        self.found: dict[Cell, tuple[int, str]] = {}
        self._limits = study.replications
        self._lines = study.paper.lines()
        self._record = record

    def add_claim(self, claim: NumericClaim) -> None:
        """Adds the replications that a numeric claim wants, of the whole line if its ordering
        decides."""
        self.add(claim.id, [claim.point])
        grade = self._record and self._record.grades.get(claim.id)
        if claim.line is not None and grade in BY_LINE:
            self.add(claim.id, [other.point for other in self._lines[claim.line]])

    def add(self, name: str, points: Iterable[Point]) -> None:
        """Adds the replications that a claim wants of the grid points that it looks at."""
        first = self._limits.quick_first
        needed = self._record.needed.get(name, first) if self._record else first
        for point in points:
            number = max(min(needed, self._limits.most(point, quick=True)), first)
            cell = Cell.of(point)
            if number > self.found.get(cell, (0, ""))[0]:
                self.found[cell] = (number, name)


PACKET_EVENTS = 5.0
"""Packet events for each packet that sources are expected to send, where none were recorded: one at
each link and each host on the way of it and of its acknowledgement. In runs of the studies there
are 1 to 39, in most 3 to 8."""


class _Expected:
    """The packet events expected of a run: those recorded, in proportion to its duration, or an
    estimate without any."""

    def __init__(self, study: Study, record: Record | None) -> None:
        self._extra = study.replications.quick_overrides
        self._events = record.events if record else {}
        known = self._events.values()
        self._mean = math.fsum(known) / len(known) if known else 0.0
        self.estimated = not known

    def of(self, cell: Cell, job: Job, extra: Sequence[str] | None = None) -> float:
        """Those of a cell of which `job` is a full run; the mean where the record lacks it."""
        extra = self._extra if extra is None else extra
        if self.estimated:
            quick = job.but(overrides=(*job.overrides, *extra))
            return PACKET_EVENTS * float(check(quick)["expected_packets"])
        return self._events.get(cell, self._mean) * shares_of_time(job, extra)[0]


def _compared(study: Study, expected: _Expected) -> list[Planned]:
    return [
        Planned(
            cell,
            comparison.quick_replications,
            expected.of(
                cell, comparison.job(study, design, case), tuple(comparison.quick_overrides)
            ),
            f"comparison {comparison.id}",
        )
        for comparison, design, case, cell in run_cells(study, quick=True)
    ]


def _apart(tasks: Iterable[Task], rows: Iterable[Planned]) -> tuple[float, ...]:
    """The packet events of recordings that are runs of their own."""
    events = {row.cell: row.events for row in rows}
    return tuple(events[task.costs_like] for task in tasks if task.cell is None)


def _lowered(
    rows: Sequence[Planned], room: float, least: int
) -> tuple[Sequence[Planned], int | None]:
    """Numbers lowered to the highest limit that leaves them in the room; at least `least`."""
    highest = max((row.replications for row in rows), default=least)
    for most in range(highest, least - 1, -1):
        lowered = [replace(row, replications=min(row.replications, most)) for row in rows]
        if math.fsum(row.total for row in lowered) <= room or most == least:
            return lowered, most if most < highest else None
    return rows, None


def shares_of_time(job: Job, extra: Sequence[str]) -> tuple[float, float]:
    """Duration, and time measured, of a run with more assignments: shares of those without."""
    if not extra:
        return 1.0, 1.0
    whole, short = check(job), check(job.but(overrides=(*job.overrides, *extra)))
    measured = [document["duration_s"] - document["warm_up_s"] for document in (short, whole)]
    return short["duration_s"] / whole["duration_s"], measured[0] / measured[1]
