"""The command `run`: one run of a scenario file."""

from __future__ import annotations

import os

from forebay.errors import output_folder
from forebay.run.jobs import load, run_jobs
from forebay.run.progress import meter, note, say
from forebay.run.repeat import command_line, quoted

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from forebay.run.jobs import Job, Run

__all__ = ["Show", "announce", "begin_files", "files_for", "kept_text", "run_scenario"]

SCENARIO = "scenario.toml"


class Show:
    """What is shown of a run: one JSON document, or tables; what other orders of simultaneous
    events give, if `ties`; in which formats all tables are written, if any; and the files for
    flent and in the trace format of ns-2, if they are asked for."""

    __slots__ = ("as_json", "flent", "formats", "ns2", "ties")

    def __init__(
        self,
        as_json: bool,
        ties: bool,
        formats: Sequence[str] = (),
        flent: Path | None = None,
        ns2: Path | None = None,
    ) -> None:
        self.as_json = as_json
        self.ties = ties
        self.formats = formats
        self.flent = flent
        self.ns2 = ns2

    @property
    def records(self) -> bool:
        """Whether it takes what the scenario records."""
        return self.flent is not None or self.ns2 is not None


def run_scenario(
    scenario: Path | str, options: Mapping[str, Any], out: Path | None, show: Show
) -> None:
    """`forebay run`: one run of a scenario file, printed and, with `out`, kept.

    `options` are fields of `forebay.run.jobs.Job`.

    Raises `UserError` for a wrong scenario or an `out` that cannot be written.
    """
    job = load(scenario).but(record=out is not None or show.records, **options)
    if show.ties:
        job = job.but(ties=0)
    job = job.but(command=command_line(job.name, job))
    names = files_for(out, job, ["run.json"]) if out is not None else []
    run = _run(job, os.path.basename(scenario), show.ties)
    if out is not None:
        _keep(out, names, job, run, show.formats)
    _export(job, run, show)
    if show.as_json:
        print(run.text)
        return
    from forebay.cli.show_run import show_run

    show_run(run)
    if out is not None:
        print(f"results: {out}; a page of them: forebay report {quoted([str(out)])}")


def _export(job: Job, run: Run, show: Show) -> None:
    """Write the files in formats of other programs."""
    if show.flent is not None:
        from forebay.run.flent import write_flent

        write_flent(show.flent, run)
    if show.ns2 is not None:
        from forebay.run.ns2 import write_ns2

        write_ns2(show.ns2, job, run)


def _run(job: Job, label: str, ties: bool) -> Run:
    """The run, with what other orders of simultaneous events give in its document if `ties`."""
    jobs = [job]
    if ties:
        from forebay.run.ties import compare_orders, in_other_orders

        jobs += in_other_orders(job)
    runs: dict[int, Run] = {}
    with meter(len(jobs), label) as progress:
        run_jobs(jobs, runs.__setitem__, 1, progress.tick, announce)
    run = runs[0]
    if ties:
        found = compare_orders([runs[place] for place in range(len(jobs))])
        return type(run)({**run.document, "ties": found}, run.tables)
    return run


def files_for(out: Path, job: Job, names: Sequence[str]) -> list[str]:
    """The files of a run that will be written to `out` besides tables: `names` and the scenario,
    unless it is there. Raises `UserError` if they cannot be."""
    from forebay.run.store import refuse_foreign

    output_folder(out)
    found = [*names, SCENARIO]
    try:
        if (out / SCENARIO).read_text(encoding="utf-8") == kept_text(job):
            # It may be the very file that is run.
            found.remove(SCENARIO)
    except (OSError, ValueError):
        pass
    refuse_foreign(out, found)
    return found


def begin_files(out: Path, names: Sequence[str], job: Job) -> None:
    """Runs are done: list the files of `files_for` as ours, and write the scenario."""
    from forebay.run.store import take_over, write_text

    take_over(out, names)
    if SCENARIO in names:
        write_text(out / SCENARIO, kept_text(job))


def kept_text(job: Job) -> str:
    """The scenario as it is kept with results: with what it has from files beside it, which may
    change or not come along."""
    # Few scenarios have any, and to find out takes longer than some runs.
    if not any(word in job.text for word in ("include", "schedule", "trace")):
        return job.text
    from forebay.run.portable import portable_text

    return portable_text(job) or job.text


def announce(packets: Sequence[int], warnings: Sequence[Sequence[str]]) -> None:
    """Say, before runs of one scenario begin, what is hardly meant in it, and how long they are."""
    for warning in warnings[0]:
        say(f"forebay: warning: {warning}")
    each = "" if len(packets) == 1 else " in each run"
    note(f"about {packets[0]:,} packets are expected{each}")


def _results(run: Run) -> Mapping[str, Any]:
    from forebay.run.tables import result_tables

    return result_tables([({"replication": run.document["replication"]}, run.document)])


def _keep(out: Path, names: Sequence[str], job: Job, run: Run, formats: Sequence[str]) -> None:
    from forebay.run.store import write_tables, write_text

    begin_files(out, names, job)
    write_tables(out, run.tables, _results(run) if formats else {}, formats)
    write_text(out / "run.json", run.text + "\n")
