"""A damaged journal of runs made anew of the records in it that are sound.

SQLite finds a row by its index. Where a page of an index is damaged, a row that is sound is not
found, and nothing says so; so a journal is checked as a whole before it is used
(`PRAGMA integrity_check`), and one that fails is read here without its indexes, row by row.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

__all__ = ["damage", "rebuild"]

Place = tuple[Any, ...]
IsSound = Callable[[Place, Any, Any, Any, dict[str, Any]], bool]
"""Test of whether a record is whole: place, document, clock, checksum and tables."""

ROW = "scenario, seed, replication, build, part, document, clock, checksum"
KEY = 5
"""Number of these columns that are the place of a record."""


def damage(database: sqlite3.Connection) -> str:
    """Fault of a database as a whole, its indexes included; empty if there is none."""
    try:
        found = str(database.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return str(error)
    return "" if found == "ok" else found.splitlines()[-1]


def rebuild(
    path: Path, begin: Callable[[sqlite3.Connection], None], is_sound: IsSound
) -> tuple[int, Path]:
    """Replace the journal `path` by one of its sound records; no process may have it open.

    `begin` makes an empty journal. The number of records, and the path of the copy that is kept of
    the damaged file. If no record is sound, nothing is replaced.
    """
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        with (
            closing(sqlite3.connect(path, isolation_level=None)) as old,
            closing(sqlite3.connect(fresh, isolation_level=None)) as new,
        ):
            old.text_factory = _text
            begin(new)
            new.execute("BEGIN")
            kept = sum(_copy(new, record, tables) for record, tables in _sound(old, is_sound))
            new.execute("COMMIT")
        aside = _free(path)
        if kept:
            shutil.copyfile(path, aside)
            for ending in ("-wal", "-shm"):
                # The log of the old file would be taken for one of the new.
                path.with_name(path.name + ending).unlink(missing_ok=True)
            os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    return kept, aside


def _free(path: Path) -> Path:
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.damaged.{number}")):
        number += 1
    return aside


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _sound(
    database: sqlite3.Connection, is_sound: IsSound
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The records that can be read and are whole, with their tables."""
    parts: dict[Any, list[int]] = {}
    for number in _numbers(database, "tables"):
        for (run,) in _read(database, "SELECT run FROM tables NOT INDEXED WHERE rowid = ?", number):
            parts.setdefault(run, []).append(number)
    content = "SELECT name, content FROM tables NOT INDEXED WHERE rowid = ?"
    for number in _numbers(database, "runs"):
        for record in _read(database, f"SELECT {ROW} FROM runs NOT INDEXED WHERE id = ?", number):
            rows = (row for part in parts.get(number, []) for row in _read(database, content, part))
            tables: dict[str, Any] = dict(rows)
            document, clock, checksum = record[KEY:]
            if is_sound(record[:KEY], document, clock, checksum, tables):
                yield record, tables


def _numbers(database: sqlite3.Connection, table: str) -> list[int]:
    """The numbers of a table's rows, from both ends up to where it cannot be read."""
    found: set[int] = set()
    for order in ("ASC", "DESC"):
        try:
            for (number,) in database.execute(
                f"SELECT rowid FROM {table} NOT INDEXED ORDER BY rowid {order}"
            ):
                found.add(number)
        except sqlite3.DatabaseError:
            continue
    return sorted(found)


def _read(database: sqlite3.Connection, statement: str, number: int) -> list[Place]:
    try:
        return database.execute(statement, (number,)).fetchall()
    except sqlite3.DatabaseError:
        return []


def _copy(new: sqlite3.Connection, record: Place, tables: Mapping[str, Any]) -> int:
    """Keep a record, unless one of the same run is there already; how many were kept."""
    marks = ", ".join("?" * len(record))
    done = new.execute(f"INSERT OR IGNORE INTO runs ({ROW}) VALUES ({marks})", record)
    if done.rowcount < 1:
        return 0
    number = done.lastrowid
    for name, content in tables.items():
        new.execute("INSERT INTO tables VALUES (?, ?, ?)", (number, name, content))
    return 1
