"""The command that gives a run again, as a shell reads it."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from forebay.run.jobs import Job

__all__ = ["command_line", "quoted"]

# Characters that mean nothing to a shell.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


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
    if job.check:
        words += ["--check"]
    if job.ties is not None:
        words += ["--ties", "shuffle"]
    return quoted(words)


def quoted(words: Sequence[str]) -> str:
    """The words as a shell reads them: `shlex.join`, which would import regular expressions."""
    return " ".join(
        word if word and _PLAIN.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"
        for word in words
    )
