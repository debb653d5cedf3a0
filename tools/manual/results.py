"""The page of results: every column of every table and document, and every file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from forebay.run.columns import Column, columns, kinds
from forebay.run.jobs import Job, Run, run_jobs
from forebay.scenario.catalogue import catalogue
from forebay.study.comparison import run_cells
from forebay.study.driver import Driver, Request
from forebay.study.files import document_of, drawn_columns
from forebay.study.loading import load_study
from forebay.study.results import Cell
from manual.columns import (
    ADJUSTMENTS,
    ADMISSION,
    CALL_LOG,
    CLAIM,
    COMPARED,
    COMPARISON,
    DELAYS,
    DRAWN,
    JITTER,
    LOSS_RUNS,
    PACES,
    PLAN,
    PLANNED,
    POINT,
    REDUCTIONS,
    SENSITIVE,
    SENSITIVITY,
    SERIES,
    STUDY,
    TRACE,
    TRANSFER_LOG,
)
from manual.everything import everything

__all__ = ["results"]


def results() -> str:
    """Every column of every result, as a run gives them."""
    run, summed = _sample()
    group = summed.document["groups"][0]
    found: dict[str, Any] = {
        # Only where there are any, which is said in words.
        "run": run.document.keys() - {"warnings"},
        "flows": run.document["flows"][0],
        "groups": group,
        "spread": group["spread"],
        "quantiles": group["spread"]["sent_packets"],
        # A host with tags, which are left out without any.
        "hosts": max(run.document["hosts"], key=len),
        "drop_reasons": run.document["links"][0]["drop_reasons"],
    }
    for kind in kinds():
        found.setdefault(kind, run.document[kind][0])
    for part, there in found.items():
        _refuse_unlike(part, dict.fromkeys(columns(part), ""), there)
    # What a flow and a group count is told once.
    meanings = {
        part: {column.name: column.meaning for column in columns(part).values()}
        for part in ("flows", "groups")
    }
    counted = dict(meanings["flows"].items() & meanings["groups"].items())
    own = {part: meanings[part].keys() - counted for part in ("flows", "groups")}
    lines = ["# Results", "", _RESULTS_HEAD, ""]
    known = [part for part, *_ in _PARTS]
    further = [kind for kind in kinds() if kind not in known]
    told = [(kind, f"`{kind}`", columns("run")[kind].meaning) for kind in further]
    for part, title, head in (*_PARTS, *told):
        described = columns("flows" if part == "counted" else part)
        wanted = counted if part == "counted" else own.get(part, described)
        lines += _described(title, head, [c for name, c in described.items() if name in wanted])
    return "\n".join([*lines, *_recorded(run), *_studied(), *_FILES]) + "\n"


def _recorded(run: Run) -> list[str]:
    """The tables that `[record]` asks for."""
    series = {
        column.partition(".")[0]: name
        for name, columns in run.tables.items()
        if name.startswith("series/")
        for column in columns
    }
    meanings = _series_meanings()
    for column in series.keys() - meanings.keys():
        _refuse_unlike(f"Table `{series[column]}`", {}, [column])
    # The rows of the same name, of which the table has those with packets.
    waits = {c.name: c.meaning for c in columns("waits").values() if c.name != "name"}
    waits = {"link": "The link.", **waits}
    lines = _columns("Tables `series/...`", _SERIES_HEAD, meanings, series)
    for name, head, meanings in (
        ("delays", "With `record.delays`.", DELAYS),
        ("jitter", "With `record.jitter`; groups without a pair have no row.", JITTER),
        ("loss_runs", "With `record.losses`.", LOSS_RUNS),
        ("waits", _WAITS_HEAD, waits),
        ("transfers", _TRANSFER_LOG_HEAD, TRANSFER_LOG),
        ("calls", _CALL_LOG_HEAD, CALL_LOG),
        ("admission", "With `record.calls`.", ADMISSION),
        ("paces", _PACES_HEAD, PACES),
        ("adjustments", _ADJUSTMENTS_HEAD, ADJUSTMENTS),
        ("reductions", _REDUCTIONS_HEAD, REDUCTIONS),
        ("trace", "With `record.trace`.", TRACE),
    ):
        lines += _columns(f"Table `{name}`", head, meanings, run.tables[name].keys())
    return lines


def _series_meanings() -> dict[str, str]:
    """Returns the meaning of each column of series: those of elements, then what mechanisms
    show."""
    users: dict[str, dict[str, list[str]]] = {}
    for page in catalogue().pages():
        for probe in page.probes:
            unit = "" if probe.unit == "1" else f" ({probe.unit})"
            meaning = f"{probe.meaning.removesuffix('.')}{unit}."
            users.setdefault(probe.name, {}).setdefault(meaning, []).append(f"`{page.name}`")
    meanings = dict(SERIES)
    for name, by_meaning in users.items():
        shown = [f"{', '.join(pages)}: {meaning}" for meaning, pages in by_meaning.items()]
        meanings[name] = " ".join([meanings[name], *shown] if name in meanings else shown)
    return meanings


def _studied() -> list[str]:
    """The document of a study: that of one claim and one comparison, each measured once, with a
    sensitivity run."""
    study = load_study("pcn")
    variant, comparison = study.variants[0], study.comparisons[0]
    (claim, *_), _ = study.paper.select(variant.claims[0])
    driver = Driver(study, Request(claims=claim.id, quick=True))
    samples = driver.outcome.samples
    for name in ("", variant.id):
        samples.add(Cell.of(claim.point, name), 0, {"seed": 1, "events": 1, claim.quantity: 1.0})
    values = {"seed": 1, **{metric.quantity: 1.0 for metric in comparison.metrics}}
    for compared, _, case, cell in run_cells(study, quick=True):
        if compared is comparison and case is comparison.cases[0]:
            samples.add(cell, 0, values)
    document = document_of(driver)
    (block,) = document["comparisons"]
    (other,) = document["sensitivity"]
    plan = document["plan"]
    lines = _columns("A study", _STUDY_HEAD, STUDY, document.keys())
    lines += _columns("`claims` of a study", "", CLAIM, document["claims"][0].keys() - DRAWN)
    drawn = drawn_columns(driver.outcome, replace(claim, runs=1))
    lines += _columns("`claims` from a stated number of runs", _DRAWN_HEAD, DRAWN, drawn)
    lines += _columns("`sensitivity` of a study", _SENSITIVITY_HEAD, SENSITIVITY, other.keys())
    lines += _columns("`rows` of a sensitivity run", "", SENSITIVE, other["rows"][0].keys())
    lines += _columns("`comparisons` of a study", _COMPARISON_HEAD, COMPARISON, block.keys())
    lines += _columns("`rows` of a comparison", "", COMPARED, block["rows"][0].keys())
    lines += _columns("`points` of a study", "", POINT, document["points"][0].keys())
    lines += _columns("`plan` of a study", _PLAN_HEAD, PLAN, plan.keys())
    return lines + _columns("`rows` of a plan", "", PLANNED, plan["rows"][0].keys())


def _sample() -> list[Run]:
    """A run with everything that a result can have, once with a row for each flow, once without."""
    runs: dict[int, Run] = {}
    jobs = [
        Job(everything(), record=True),
        Job(everything(), overrides=('record.flows="groups"',)),
    ]
    run_jobs(jobs, runs.__setitem__, 1)
    return [runs[number] for number in sorted(runs)]


def _columns(title: str, head: str, meanings: Mapping[str, str], found: Any) -> list[str]:
    _refuse_unlike(title, meanings, found)
    return _table(title, head, meanings)


def _refuse_unlike(title: str, meanings: Mapping[str, str], found: Any) -> None:
    described, there = set(meanings), set(found)
    unlike = {"described, not found": described - there, "found, not described": there - described}
    told = [f"{what}: {', '.join(sorted(names))}" for what, names in unlike.items() if names]
    if told:
        raise SystemExit(f"the page of results: {title}: {'; '.join(told)}")


def _described(title: str, head: str, described: Sequence[Column]) -> list[str]:
    lines = [f"## {title}", "", *([head, ""] if head else [])]
    lines += ["| column | unit | meaning |", "|---|---|---|"]
    rows = [(f"`{column.name}`", column.unit, column.meaning) for column in described]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


def _table(title: str, head: str, meanings: Mapping[str, str]) -> list[str]:
    lines = [f"## {title}", "", *([head, ""] if head else [])]
    lines += ["| column | meaning |", "|---|---|"]
    return [*lines, *(f"| `{name}` | {meaning} |" for name, meaning in meanings.items()), ""]


_RESULTS_HEAD = """\
What `forebay run --json` prints, `run.json` and `runs.sqlite` hold, and `Results` gives as tables.
The name of a rate, time or amount ends in its unit: `_bps` bit/s, `_s` seconds, `_packets`,
`_bytes`. A share is from 0 to 1; the meaning of a number says what is counted. Counters cover the
window of measurement, from the end of the warm-up to the end of the run. Sums over a group add the
counters of its flows; its mean delay is the mean over the packets."""

_RUN_HEAD = """\
Besides, there is `warnings` where something is hardly meant in the scenario: a list of sentences,
each with its place."""

_QUANTILES_HEAD = """\
That of p is the smallest value which at least that share of the flows does not exceed."""

_HOSTS_HEAD = """\
A row a host, in the order in which groups of flows, by name, first have them: the node where flows
begin or end, or the machine behind it that `host` or `to_host` of the flows names. First what is
known of the flows that begin there, then of those that end there; acknowledgements do not count."""

_LINKS_HEAD = """\
Lists are by precedence from 0: up to the highest that occurred at the link, and at least to 3. In
Python tables they are columns of lists."""

_TRANSFERS_HEAD = """\
A row a group of TCP flows whose traffic is transfers (`file`, `transfers`, `requests`). A transfer
begins when the application writes it, or a client asks for it, and is completed when its last byte
has arrived and all before it. Those count that are completed in the window of measurement, whenever
they began. Quantiles are within 0.8 %; null if nothing was completed. Lists are by size: below 10
kB, below 100 kB, below 1 MB, and larger."""

_CALLS_HEAD = """\
A row a group of calls, in the order of the aggregates; where a call consists of several flows
(`linked`), one for each of them."""

_CLASSES_HEAD = """\
With `record.classes`: a row for each class of the queue of a link, of schedulers, `dualpi2` and
`cake`. Each row also has `drop_reasons`, as its link has."""

_PARTS = (
    ("run", "A run", _RUN_HEAD),
    ("flows", "`flows`", "Each row has these and the [counters](#counters)."),
    ("groups", "`groups`", "Each row has these and the [counters](#counters)."),
    ("counted", "Counters", "Of a flow in `flows`; of all flows of the group in `groups`."),
    ("spread", "`spread` of a group", "Of each quantity its [quantiles](#quantiles)."),
    ("quantiles", "Quantiles", _QUANTILES_HEAD),
    ("hosts", "`hosts`", _HOSTS_HEAD),
    ("links", "`links`", _LINKS_HEAD),
    ("drop_reasons", "`drop_reasons` of a link", ""),
    ("classes", "`classes`", _CLASSES_HEAD),
    ("transfers", "`transfers`", _TRANSFERS_HEAD),
    ("calls", "`calls`", _CALLS_HEAD),
)
"""Parts of which more is to be said than the engine says: the part, its title, and that."""

_ADJUSTMENTS_HEAD = """\
With `record.adjustments`: a row for each time that a queue law takes its average to be in another
region, or moves a maximum probability: `self_configuring`, `adaptive_redn`, `adaptive_red`."""

_PACES_HEAD = """\
With `record.paces`: a row for each change of the rate of a paced source."""

_TRANSFER_LOG_HEAD = """\
With `record.transfers`: a row for each transfer that is completed."""

_WAITS_HEAD = """\
With `record.waits`; links at which nothing was transmitted have no row. The same stands in the rows
`waits` of the results."""

_CALL_LOG_HEAD = """\
With `record.calls`: a row for each thing that happens to a flow of a call."""

_REDUCTIONS_HEAD = """\
With `record.reductions`: a row for each time that a TCP sender reduces its congestion window."""

_SERIES_HEAD = """\
With `record.series`, one table for each link direction (`series/links.NAME`), each group
(`series/flows.NAME`) and each aggregate (`series/aggregates.NAME`), which holds the columns of its
calls; those of calls without an aggregate are in the table of their group. Which columns there are
depends on the mechanisms used. Of quantities by precedence or class there is a column for each, as
`average.0`, `average.1`; those of several conditioners on one link are numbered in their order."""

_STUDY_HEAD = """\
What `forebay reproduce --json` prints and `result.json` holds; of `reproduce all --json`, a list of
such documents under `studies`."""

_DRAWN_HEAD = """\
Besides, where the paper tells how many runs a value is from (`runs` in `paper.toml`)."""

_COMPARISON_HEAD = """\
Designs tried in the same cases on the same random numbers. All values are in SI units."""

_SENSITIVITY_HEAD = """\
One assumption at a time chosen otherwise, on the same random numbers."""

_PLAN_HEAD = """\
A grid point gets the replications that the most demanding of its claims needs (`needed`), within
the study's limits; if that has more packet events than allowed, the largest numbers are lowered to
one limit for all. Exactly that is run, whatever comes out and however long it takes."""

_FILES = [
    "## Files",
    "",
    "| written by | file | content |",
    "|---|---|---|",
    "| `run --out` | `run.json` | the run's document and the command that gives it again |",
    "| | `scenario.toml` | the scenario's text |",
    "| | `tables/*.parquet` | what `[record]` asks for; `.csv` without pyarrow |",
    "| `run --replications --out` | `replications.json` | what was run; means and intervals |",
    "| | `intervals.csv` | means and intervals as a table |",
    "| | `scenario.toml` | the scenario's text |",
    "| `sweep` | `runs.sqlite` | the journal: every run's document, kept as it finishes |",
    "| | `runs.parquet` | grid values and quantities of every run |",
    "| | `summary.parquet` | means and intervals; both as `.csv` without pyarrow |",
    "| | `sweep.json` | what was run, its expressions (`derived`), their units, and the summary |",
    "| `find` | `runs.sqlite` | the journal: every run's document, kept as it finishes |",
    "| | `find.json` | what was asked, the answer, and each value with its decision |",
    "| `reproduce` | `runs.sqlite` | the journal: finished runs; `--resume` starts from them |",
    "| | `result.json` | the study's document: claims, sensitivity runs, comparisons, plan |",
    "| | `claims.csv` | its claims as a table |",
    "| | `runs.parquet` | grid point, identity and quantities of every run |",
    "| | `tables/*/*.parquet` | series of the runs that figures show |",
    "| | `README.md` | the study's page, made of its about.md, and figures `*.svg` for it |",
    "| | `results.md` | every claim, sensitivity runs and comparisons in tables |",
    "| `transports` | `transports.json` | grades and numbers with every transport |",
    "| | `transports.md` | the page made of it |",
    "| all | `report.html` | the page, self-contained; `forebay report DIR` builds it again |",
    "| | `manifest.json` | which files there Forebay wrote, tables above all |",
    "| | `runs.lock` | nothing; locked by the processes that have the journal open |",
]
