"""The command `run`: one run of a scenario file."""

from __future__ import annotations

import os

from forebay.errors import output_folder
from forebay.run.jobs import load, run_jobs
from forebay.run.progress import meter

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from forebay.run.jobs import Job, Run

__all__ = ["command_line", "run_scenario"]

# Characters that mean nothing to a shell.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


def run_scenario(
    scenario: Path | str, options: Mapping[str, Any], out: Path | None, as_json: bool
) -> None:
    """`forebay run`: one run of a scenario file, printed and, with `out`, kept.

    `options` are fields of `forebay.run.jobs.Job`.

    Raises `UserError` for a wrong scenario or an `out` that cannot be written.
    """
    job = load(scenario).but(record=out is not None, **options)
    job = job.but(command=command_line(scenario, job))
    if out is not None:
        output_folder(out)
    runs: list[Run] = []
    with meter(1, os.path.basename(scenario)) as progress:
        run_jobs([job], lambda _index, run: runs.append(run), 1, progress.tick)
    run = runs[0]
    if out is not None:
        _keep(out, job, run)
    if as_json:
        print(run.text)
        return
    from forebay.cli.show_run import show_run

    show_run(run)
    if out is not None:
        print(f"results: {out}; a page of them: forebay report {_quoted([str(out)])}")


def command_line(scenario: Path | str, job: Job) -> str:
    """The command that gives the same run again."""
    words = ["forebay", "run", str(scenario)]
    for flag, value in (("--seed", job.seed), ("--until", job.until)):
        if value is not None:
            words += [flag, str(value)]
    if job.replication:
        words += ["--replication", str(job.replication)]
    for assignment in job.overrides:
        words += ["--set", assignment]
    return _quoted(words)


def _quoted(words: Sequence[str]) -> str:
    """The words as a shell reads them: `shlex.join`, which would import regular expressions."""
    return " ".join(
        word if word and _PLAIN.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"
        for word in words
    )


def _keep(out: Path, job: Job, run: Run) -> None:
    from forebay.run.store import write_tables, write_text

    write_text(out / "scenario.toml", job.text)
    write_tables(out, run.tables)
    write_text(out / "run.json", run.text + "\n")
