"""The command that gives a run again, as a shell reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.native import program
from forebay.run.laws import law_words, limit_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from forebay.run.jobs import Job

__all__ = ["command_line", "quoted", "repeat_line"]

# Characters that mean nothing to a shell.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


def command_line(scenario: Path | str, job: Job) -> str:
    """The command that gives the same run again."""
    return quoted(_words(scenario, job))


def repeat_line(job: Job) -> str:
    """The command that gives a run again which failed: with its limits, and with all that it was
    to write, as a run that is recorded is executed otherwise."""
    words = _words(job.name, job)
    memory = None if job.max_memory is None else f"{job.max_memory} B"
    limits = (
        ("--max-packets", job.max_packets),
        ("--max-memory", memory),
        ("--timeout", job.timeout),
    )
    for flag, value in limits:
        if value is not None:
            words += [flag, str(value)]
    return quoted([*words, *limit_words(), *job.outputs])


def _words(scenario: Path | str, job: Job) -> list[str]:
    words = [*program(), "run", str(scenario)]
    for flag, value in (("--seed", job.seed), ("--until", job.until)):
        if value is not None:
            words += [flag, str(value)]
    if job.replication:
        words += ["--replication", str(job.replication)]
    for assignment in job.overrides:
        words += ["--set", assignment]
    if job.threads > 1:
        words += ["--threads", str(job.threads)]
    if job.check:
        words += ["--check"]
    if job.ties is not None:
        words += ["--ties", "shuffle"]
    return [*words, *law_words()]


def quoted(words: Sequence[str]) -> str:
    """The words as a shell reads them: `shlex.join`, which would import regular expressions."""
    return " ".join(
        word if word and _PLAIN.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"
        for word in words
    )
