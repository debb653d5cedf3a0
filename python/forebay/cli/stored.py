"""Commands that keep their runs in a journal: options, folder, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forebay.errors import UserError
from forebay.native import program
from forebay.run.journal import JOURNAL, Journal
from forebay.run.laws import limit_words
from forebay.run.progress import say
from forebay.run.store import move_aside

__all__ = ["ADVICE", "StoredOptions", "folder_of", "say_what_is_there", "words_of"]

ADVICE = "with --fresh, the folder is moved aside and a new one begun"

OLD = "runs.jsonl"
"""Journal of earlier versions; its runs name no build, and are not read."""


@dataclass(frozen=True, slots=True)
class StoredOptions:
    """The options of such a command; `limits` are fields of `Job` that bound each run."""

    jobs: int | None = None
    executor: str = "local"
    overrides: Sequence[str] = ()
    until: str | None = None
    seed: int | None = None
    check: bool = False
    out: Path | None = None
    resume: bool = False
    fresh: bool = False
    retry: bool = False
    formats: Sequence[str] = ()
    as_json: bool = False
    limits: Mapping[str, Any] = field(default_factory=dict)


def folder_of(file: Path, options: StoredOptions) -> Path:
    """The output folder of the command for a file. Raises `UserError` if there must be one and is
    none."""
    folder = options.out or Path("out") / file.stem
    if options.resume and options.fresh:
        raise UserError("--resume, --fresh: one continues what is there, the other does not")
    if options.resume and not (folder / JOURNAL).exists():
        raise UserError(
            f"--resume: {folder / JOURNAL}: no such file; allowed is a folder in which "
            "runs were begun; without --resume they are begun, or continued if they were"
        )
    if options.fresh and folder.exists():
        say(f"forebay: what was in {folder} is now in {move_aside(folder)}")
    return folder


def words_of(
    command: str, file: Path, settings: Sequence[str], options: StoredOptions
) -> list[str]:
    """The command, without what has an effect at its start only; `settings` are its words that
    change what is run."""
    words = [*program(), command, str(file), *settings]
    bytes_of = options.limits.get("max_memory")
    given = {
        "--jobs": options.jobs,
        "--executor": None if options.executor == "local" else options.executor,
        "--out": options.out,
        "--max-packets": options.limits.get("max_packets"),
        "--max-memory": None if bytes_of is None else f"{bytes_of} B",
        "--timeout": options.limits.get("timeout"),
    }
    for name, value in given.items():
        words += [name, str(value)] if value is not None else []
    words += limit_words()
    return [*words, "--check"] if options.check else words


def say_what_is_there(journal: Journal, folder: Path) -> None:
    """Reports the parts of the folder that are not used, and stay."""
    for name, count in journal.others().items():
        say(f"forebay: {journal.path}: {count} runs of build {name} are kept, and not used")
    if (folder / OLD).exists():
        say(f"forebay: {folder / OLD}: a journal of an older version is kept, and not used")
