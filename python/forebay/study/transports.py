"""A study under other transports: which of its published conclusions hold with them?

`transports.toml` of a study names them:

    replications = 5

    [[transport]]
    id = "cubic"
    title = "CUBIC"
    about = "RFC 9438 with the defaults of Linux."
    tcp = { profile = "linux", control = "cubic" }  # of every flow of TCP, in place of its own
    keep = ["ecn"]                                  # what stays of its own (default: nothing)
    where = { marking = "ecn" }                     # at these grid points only (default: all)

    [why]                                           # of statements that another transport changes
    "s3/some-claim" = "What is known of the reason."

Every grid point that results look at is run with the study's own transport and with each of these,
with the same random numbers. Sentences are graded by the study's own predicates; of numbers there
is the difference from the study's own, paired by replication.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from forebay.errors import UserError, nearest
from forebay.run.jobs import Job, check, version
from forebay.run.progress import meter, note
from forebay.study.change import Change
from forebay.study.data_files import STRICT, read_data, refuse_twice
from forebay.study.definition import Study, Variant
from forebay.study.grades import Grade, Kind, Parameter
from forebay.study.journal import RunJournal
from forebay.study.loading import load_study
from forebay.study.results import BASE, Cell, Outcome, Samples, unique_points
from forebay.study.runs import Runs
from forebay.study.sensitivity import is_moved, sensitivity_of
from forebay.study.tasks import cell_task, cell_tasks

if TYPE_CHECKING:
    from forebay.scenario.network import Network
    from forebay.study.claims import NumericClaim

__all__ = ["FILE", "Transports", "load_transports", "run_transports", "transports_document"]

FILE = "transports.toml"


@dataclass(frozen=True, slots=True)
class Transports:
    """A study whose variants are transports, how often each of its grid points is run with each,
    and what is known of the reasons why statements do not hold with one, by id. `where` has the
    parameters of the grid points at which a transport is run, by its id; all if it has none."""

    study: Study
    replications: int
    where: Mapping[str, Mapping[str, Parameter]] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)


class _Transport(BaseModel):
    model_config = STRICT

    id: str
    title: str
    about: str
    tcp: dict[str, Any]
    keep: list[str] = []
    where: dict[str, bool | int | float | str] = {}


class _File(BaseModel):
    model_config = STRICT

    replications: int = Field(default=5, ge=2)
    transport: list[_Transport] = Field(min_length=1)
    why: dict[str, str] = {}


def load_transports(study_id: str) -> Transports:
    """Read a study and its transports.

    Raises `UserError` for an unknown study, one without them, and for anything wrong.
    """
    study = load_study(study_id)
    path = study.folder / FILE
    if not path.is_file():
        raise UserError(f"{path}: no such file; study {study.id} names no other transports")
    file = read_data(path, "a list of transports", _File)
    refuse_twice(path, "transports", [entry.id for entry in file.transport])
    known = [statement.id for statement in study.paper.statements]
    for name in file.why:
        if name not in known:
            raise UserError(f"{path}: why: no statement {name!r}{nearest(name, known)}")
    variants = tuple(_variant(entry) for entry in file.transport)
    where = {entry.id: entry.where for entry in file.transport}
    return Transports(replace(study, variants=variants), file.replications, where, file.why)


def _variant(entry: _Transport) -> Variant:
    def replaced(network: Network, _: Any) -> None:
        flows = network.section("flows")
        for flow in flows.values():
            if "tcp" in flow:
                kept = {name: flow["tcp"][name] for name in entry.keep if name in flow["tcp"]}
                flow["tcp"] = entry.tcp | kept
        network.set("flows", flows)

    about = " ".join(entry.about.split())
    return Variant(entry.id, entry.title, about, Change(by=replaced), ("*",))


def run_transports(
    transports: Transports, journal: RunJournal | None, jobs: int | None, replications: int | None
) -> Outcome:
    """Run every grid point of the results with every transport.

    Raises `UserError` for a wrong scenario before anything runs, `KeyboardInterrupt` on Ctrl-C.
    """
    study = transports.study
    outcome = Outcome(study, Samples())
    number = replications or transports.replications
    points = unique_points(
        [
            *(claim.point for claim in _numbers(study)),
            *(
                point
                for statement in study.paper.statements
                if statement.kind is Kind.RESULT
                for point, _ in outcome.statement_points(statement)
            ),
        ]
    )
    variants = [BASE, *(variant.id for variant in study.variants)]
    targets = {
        Cell.of(point, name): number
        for point in points
        for name in variants
        if transports.where.get(name, {}).items() <= point.items()
    }
    for name in variants:
        if not any(cell.variant == name for cell in targets):
            where = dict(transports.where[name])
            raise UserError(f"{study.folder / FILE}: transport {name!r}: no grid point has {where}")
    for cell in targets:
        check(cell_task(study, cell, 0, quick=False).job)
    tasks = cell_tasks(study, targets, outcome.samples.replications, quick=False)
    note(f"{study.id}: {len(points)} grid points, {len(variants)} transports, {len(tasks)} runs")
    with meter(len(tasks), study.id, float(len(tasks))) as progress:
        Runs(outcome, journal, jobs, lambda cells: float(len(cells))).batch(tasks, progress)
    return outcome


def transports_document(transports: Transports, outcome: Outcome, command: str) -> dict[str, Any]:
    """Document of the outcome: grades of every sentence with every transport, and the numbers."""
    study = transports.study
    names = [BASE, *(variant.id for variant in study.variants)]
    grades = {name: outcome.grades(name) for name in names}
    statements = [
        {
            "id": statement.id,
            "place": statement.place,
            "text": " ".join(statement.text.split()),
            "grades": {
                name: str(grades[name][statement.id])
                for name in names
                if statement.id in grades[name]
            },
            "why": " ".join(transports.why.get(statement.id, "").split()),
        }
        for statement in study.paper.statements
        if statement.kind is Kind.RESULT
    ]
    return {
        "study": study.id,
        "version": version(),
        "scenario_hash": check(Job(study.scenario, study.scenario_name))["scenario_hash"],
        "command": command,
        "replications": max(
            (len(outcome.samples.replications(cell)) for cell in outcome.samples.cells()),
            default=0,
        ),
        "transports": [
            {"id": variant.id, "title": variant.title, "about": variant.why}
            for variant in study.variants
        ],
        "statements": statements,
        "numbers": _number_rows(outcome),
        "unexplained": _unexplained(statements),
    }


def _numbers(study: Study) -> list[NumericClaim]:
    return [claim for claim in study.paper.claims if claim.kind is Kind.RESULT]


def _number_rows(outcome: Outcome) -> list[dict[str, Any]]:
    """Every number of the paper, what it is with the study's own transport, and with the others."""
    found: dict[str, dict[str, Any]] = {claim.id: {} for claim in _numbers(outcome.study)}
    for block in sensitivity_of(outcome):
        for row in block["rows"]:
            bounds = {"low": row["low"], "high": row["high"]}
            there = {"mean": row["variant"], **bounds, "moved": is_moved(row)}
            found[row["claim"]][block["id"]] = there
    return [_number(outcome, claim, found[claim.id]) for claim in _numbers(outcome.study)]


def _number(outcome: Outcome, claim: NumericClaim, found: Mapping[str, Any]) -> dict[str, Any]:
    own = outcome.interval(claim.quantity, claim.point)
    return {
        "id": claim.id,
        "place": claim.place,
        "unit": claim.unit,
        "published": claim.published,
        "decimals": claim.decimals,
        "measured": None if own is None else claim.in_published_unit(own).mean,
        "with": dict(found),
    }


def _unexplained(statements: Sequence[Mapping[str, Any]]) -> list[str]:
    """The statements that hold with the study's own transport, fail with another, and of which
    no reason is given."""
    return [
        row["id"]
        for row in statements
        if row["grades"].get(BASE) == Grade.HOLDS
        and Grade.FAILS in row["grades"].values()
        and not row["why"]
    ]
