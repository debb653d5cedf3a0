"""The history of instruction counts: its file, and what makes a count fit or not.

`history.toml` has a record for each time that the numbers changed and the reason was given, oldest
first. Counts depend on the compiler as much as on the engine, so a record says which one made them,
and a count of another compiler is shown but not judged.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["TOLERANCE", "Compiler", "Record", "Verdict", "append", "judge", "last", "load"]

TOLERANCE = 0.02
"""Share by which a count may differ from the recorded one. The same program gives the same count
within about 0.1 % on any machine: the C library chooses its copying loops by processor."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiler that turned the engine into instructions."""

    rustc: str
    target: str

    def __str__(self) -> str:
        return f"rustc {self.rustc} for {self.target}"


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the history: instructions for each packet hop, by benchmark."""

    label: str
    version: str
    compiler: Compiler
    counts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on one benchmark. `change` is a share, `None` without a recorded count."""

    benchmark: str
    count: float | None
    recorded: float | None
    fits: bool

    @property
    def change(self) -> float | None:
        """Share of instructions above the recorded ones."""
        if self.count is None or self.recorded is None:
            return None
        return self.count / self.recorded - 1

    @property
    def reason(self) -> str:
        """Reason for which it does not fit, empty if it does."""
        if self.fits:
            return ""
        if self.recorded is None:
            return "new, not recorded"
        if self.change is None:
            return "recorded, but no longer counted"
        return "more than recorded" if self.change > 0 else "fewer than recorded"


def load(path: Path) -> list[Record]:
    """The records of a history, oldest first; none if there is no such file.

    Raises `ValueError` with file and record for one that cannot be read.
    """
    if not path.exists():
        return []
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("record", [])
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    records = []
    for number, entry in enumerate(entries, 1):
        try:
            counts = {name: float(count) for name, count in entry["counts"].items()}
            compiler = Compiler(entry["rustc"], entry["target"])
            records.append(Record(entry["label"], entry["version"], compiler, counts))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}, record {number}: {error!r}") from None
    return records


def append(path: Path, record: Record) -> None:
    """Add a record to the history."""
    words = {
        "label": record.label,
        "version": record.version,
        "rustc": record.compiler.rustc,
        "target": record.compiler.target,
    }
    # A JSON string is a TOML string.
    lines = [f"{key} = {json.dumps(word, ensure_ascii=False)}" for key, word in words.items()]
    lines += [f"counts.{name} = {count:.1f}" for name, count in sorted(record.counts.items())]
    with path.open("a", encoding="utf-8") as file:
        print(*([""] if file.tell() else []), "[[record]]", *lines, sep="\n", file=file)


def judge(counts: Mapping[str, float], recorded: Mapping[str, float]) -> list[Verdict]:
    """Compare counts with recorded ones, by benchmark.

    A benchmark fits if its count is within `TOLERANCE` of what is recorded. Fewer instructions do
    not fit either: left unrecorded, they would hide as large a loss later.
    """
    verdicts = []
    for name in sorted({*counts, *recorded}):
        count, before = counts.get(name), recorded.get(name)
        fits = count is not None and before is not None and abs(count / before - 1) <= TOLERANCE
        verdicts.append(Verdict(name, count, before, fits))
    return verdicts


def last(records: Sequence[Record]) -> Record | None:
    """The record that counts are compared with."""
    return records[-1] if records else None
