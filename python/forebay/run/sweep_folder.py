"""Sweeps from Python: the files of one, run into a folder as `forebay sweep` runs them.

The folder gets `scenario.toml` and `sweep.toml` beside what the command writes, so that the command
continues what Python began, and Python what the command began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import tomli_w

from forebay import text
from forebay.errors import nearest, output_folder, printable, warn_of
from forebay.run.executors import executor as find_executor
from forebay.run.jobs import Job, Run, check
from forebay.run.journal import Journal
from forebay.run.notebook import html_table
from forebay.run.paper_formats import sweep_table
from forebay.run.portable import portable_text
from forebay.run.results import Results
from forebay.run.store import refuse_foreign, rows_table, take_over, write_text
from forebay.run.summary import files, finished, write_summary
from forebay.run.sweep import Planned, Sweep, failures, load_sweep, plan, run_missing, warnings
from forebay.run.words import quantity_words, setting_words, value_words
from forebay.toml import inline

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SweepResults", "sweep_into"]

SCENARIO, SWEEP = "scenario.toml", "sweep.toml"
Publish: TypeAlias = "Callable[[Sweep, Sequence[Planned], Journal, Path], dict[str, Any]]"
"""The maker of summary and page (`forebay.pages.publish`); its document is that of the summary."""
ADVICE = "choose another folder, or move it away"


def sweep_into(
    folder: Path,
    job: Job,
    asked: Mapping[str, Any],
    publish: Publish,
    *,
    jobs: int | None = None,
    executor: str = "local",
    retry: bool = False,
) -> SweepResults:
    """Run what a folder does not hold yet of a sweep of a job; `asked` are the keys of its file,
    and `publish` makes of the runs what the folder has beside them.

    Raises `UserError` for a wrong sweep or scenario, or a folder that cannot be used. On Ctrl-C the
    runs that have finished are in the folder.
    """
    sweep = _written(folder, job, asked)
    limits = {name: getattr(job, name) for name in ("max_packets", "max_memory", "timeout")}
    sweep = replace(sweep, scenario=sweep.scenario.but(**limits))
    planned = plan(sweep)
    warn_of(dict.fromkeys(row["warning"] for row in warnings(planned)))
    with closing(find_executor(executor, jobs)) as where, Journal(folder, ADVICE) as journal:
        if retry:
            for _, failure in failures(sweep, planned, journal):
                journal.forget_failure(failure.key)
        there = len(journal)
        try:
            run_missing(sweep, planned, journal, where)
        except KeyboardInterrupt:
            write_summary(sweep, planned, journal, folder)
            raise
        document = publish(sweep, planned, journal, folder)
        made = len(journal) - there
    failed = document["failed"]
    told = [f"{row['reason']}; repeat it: {row['command']}" for row in failed]
    warn_of((f"run failed: {words}" for words in told), RuntimeWarning)
    return SweepResults(folder, sweep, planned, document, made)


def _written(folder: Path, job: Job, asked: Mapping[str, Any]) -> Sweep:
    """The sweep of the two files, which are written if they are not there as they must be."""
    check(job)
    texts = {
        SCENARIO: portable_text(job) or job.text,
        SWEEP: tomli_w.dumps({"scenario": SCENARIO, **asked}),
    }
    output_folder(folder, "out")
    changed = [name for name, told in texts.items() if not _holds(folder / name, told)]
    refuse_foreign(folder, [*changed, *files()])
    take_over(folder, changed)
    for name in changed:
        write_text(folder / name, texts[name])
    sweep = load_sweep(folder / SWEEP)
    # The command that is kept leads to the same folder.
    return replace(sweep, settings=(*sweep.settings, "--out", str(folder)))


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


@dataclass(frozen=True)
class SweepResults:
    """Results of a sweep: means with intervals at its points, and all runs of each.

    `folder` is where they are, `document` what `sweep.json` holds, and `made` the number of runs
    that this call made; the others were there.
    """

    folder: Path
    _sweep: Sweep
    _planned: Sequence[Planned]
    document: Mapping[str, Any]
    made: int

    @property
    def points(self) -> list[dict[str, Any]]:
        """The points in order: the value of each parameter that is varied, and of `variant` the
        name. Tables and lists are written as TOML has them."""
        return [entry.values for entry in self._planned]

    @property
    def failed(self) -> list[Mapping[str, Any]]:
        """The runs that gave no result, each with the `reason` and the `command` that repeats
        it."""
        return list(self.document["failed"])

    @property
    def warnings(self) -> list[Mapping[str, Any]]:
        """What is hardly meant in the scenario, with the number of `points` that it is about."""
        return list(self.document["warnings"])

    def intervals(self) -> list[dict[str, Any]]:
        """The rows of `summary`."""
        return [dict(row) for row in self.document["summary"]]

    def summary(self) -> pa.Table:
        """Means with 95 % intervals of every quantity at every point: a column for each parameter,
        `quantity`, `mean`, `low`, `high`, `replications` and `note`, as in `Results.summary`."""
        return rows_table(self.intervals())

    def at(self, point: Mapping[str, Any] | str) -> Results:
        """All runs at a point, such as `{"links.core.rate": "5 Mbit/s"}` or the name of a variant;
        parameters that need not be told apart may be left out.

        Raises `KeyError` if there is no such point, several, or none of its runs gave a result.
        """
        wanted = {"variant": point} if isinstance(point, str) else dict(point)
        for name in wanted:
            if name not in self._sweep.grid:
                known = list(self._sweep.grid)
                raise KeyError(f"no parameter {name!r}{nearest(name, known)}; there are {known}")
        told = {name: _told(value) for name, value in wanted.items()}
        found = [
            entry
            for entry in self._planned
            if all(_told(entry.values[name]) == value for name, value in told.items())
        ]
        if len(found) != 1:
            counted = f"{len(found)} points" if found else "no point"
            raise KeyError(f"{counted} with {told}; `points` has all")
        return self._results(found[0])

    def by_point(self) -> Iterator[tuple[dict[str, Any], Results]]:
        """The points with all their runs, one after the other: there may be more than fit into
        memory. Points none of whose runs gave a result are left out."""
        for entry in self._planned:
            try:
                yield entry.values, self._results(entry)
            except KeyError:
                continue

    def to_latex(self, quantities: Sequence[str] | None = None) -> str:
        """A table for a paper, a row for each point: a `tabular` of LaTeX's package booktabs with
        units in heads and values rounded to their intervals. Raises `KeyError` for a quantity that
        the sweep does not have."""
        return self._table(quantities, "latex")

    def to_markdown(self, quantities: Sequence[str] | None = None) -> str:
        """The same table in Markdown."""
        return self._table(quantities, "markdown")

    def _table(self, quantities: Sequence[str] | None, style: str) -> str:
        known = {each.name: each for each in self._sweep.quantities}
        for name in quantities or ():
            if name not in known:
                there = ", ".join(known)
                raise KeyError(f"no quantity {name!r}{nearest(name, known)}; there are {there}")
        wanted = [known[name] for name in (known if quantities is None else quantities)]
        return sweep_table(self.document["summary"], list(self._sweep.grid), wanted, style)

    def _results(self, entry: Planned) -> Results:
        with Journal(self.folder, ADVICE) as journal:
            runs = [Run(document) for _, document in finished(self._sweep, entry, journal)]
        if not runs:
            raise KeyError(f"no run at {entry.values} gave a result; `failed` says why")
        return Results(runs)

    def _repr_html_(self) -> str:
        rows = [
            [*(value_words(row[name]) for name in self._sweep.grid),
             quantity_words(row["quantity"]), f"{row['mean']:.4g}"]
            for row in self.document["summary"] if row["mean"] is not None
        ]  # fmt: skip
        heads = [*map(setting_words, self._sweep.grid), "quantity", "mean"]
        return html_table(heads, rows)

    def __repr__(self) -> str:
        points = text.counted(len(self._planned), "point")
        runs = text.counted(self.document["runs"], "run")
        return (
            f"<SweepResults {printable(self._sweep.name)!r}: {points}, {runs}, {self.made} of them "
            f"made now, in {self.folder}>"
        )


def _told(value: Any) -> Any:
    """A value of a parameter as points have it."""
    return inline(value) if isinstance(value, list | dict) else value
