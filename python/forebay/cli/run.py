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

__all__ = ["run_scenario"]


def run_scenario(
    scenario: Path | str, options: Mapping[str, Any], out: Path | None, as_json: bool
) -> None:
    """`forebay run`: one run of a scenario file, printed and, with `out`, kept.

    `options` are fields of `forebay.run.jobs.Job`.

    Raises `UserError` for a wrong scenario or an `out` that cannot be written.
    """
    job = load(scenario).but(record=out is not None, **options)
    job = job.but(command=command_line(job.name, job))
    names = _names(out, job) if out is not None else []
    runs: list[Run] = []
    with meter(1, os.path.basename(scenario)) as progress:
        run_jobs([job], lambda _index, run: runs.append(run), 1, progress.tick, _announce)
    run = runs[0]
    if out is not None:
        _keep(out, names, job, run)
    if as_json:
        print(run.text)
        return
    from forebay.cli.show_run import show_run

    show_run(run)
    if out is not None:
        print(f"results: {out}; a page of them: forebay report {quoted([str(out)])}")


def _names(out: Path, job: Job) -> list[str]:
    """The files that will be written besides tables. Raises `UserError` if they cannot be."""
    from forebay.run.store import refuse_foreign

    output_folder(out)
    names = ["run.json", "scenario.toml"]
    try:
        if (out / "scenario.toml").read_text(encoding="utf-8") == job.text:
            # It may be the very file that is run.
            names.remove("scenario.toml")
    except (OSError, ValueError):
        pass
    refuse_foreign(out, names)
    return names


def _announce(packets: Sequence[int], warnings: Sequence[Sequence[str]]) -> None:
    for warning in warnings[0]:
        say(f"forebay: warning: {warning}")
    note(f"about {packets[0]:,} packets are expected")


def _keep(out: Path, names: Sequence[str], job: Job, run: Run) -> None:
    from forebay.run.store import take_over, write_tables, write_text

    take_over(out, names)
    if "scenario.toml" in names:
        write_text(out / "scenario.toml", job.text)
    write_tables(out, run.tables)
    write_text(out / "run.json", run.text + "\n")
