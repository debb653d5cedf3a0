"""The journal of finished runs: one SQLite database in the folder of their results.

`runs.sqlite` holds what every finished run gave, from the moment at which it ends. A run is known
by the hash of its resolved scenario, seed and replication, by the build of the engine that made it,
and by its part in a study (empty in a sweep). Runs of other builds stay in the file and are never
read. Each record carries a checksum (BLAKE2b), verified whenever it is read: a damaged record is
named on stderr and counts as not there, so that the run is made again. The file as a whole is
checked when it is opened, since a damaged index hides sound records: it is then made anew of these
(`forebay.run.salvage`), which is said as well.

Any number of processes may have the file open: SQLite's write-ahead log has one writer at a time
and readers that never wait. A process that is about to make a run claims it first. A claim counts
as long as that process lives, which a lock on a byte of `runs.lock` tells: the system gives it up
when a process ends, however it ends. Nothing here looks at a clock.

What a transaction wrote survives the end of the process; the last ones may be lost when the machine
itself stops (`synchronous = NORMAL`). Such runs are made again, with the same result.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

from forebay.errors import MachineError, UserError, unwritable
from forebay.run.jobs import build
from forebay.run.locks import LOCK, Locks, on_network
from forebay.run.progress import say
from forebay.run.salvage import damage, rebuild

__all__ = ["JOURNAL", "Failure", "Journal", "Key", "Record"]

JOURNAL = "runs.sqlite"

FORMAT = 1
APPLICATION = 0x46624A31
"""Number in the head of the SQLite file, by which it is known as a journal of Forebay."""

BUSY_MS = 60_000
"""Time that a process waits for another one's transaction; each takes some milliseconds."""

CLOCKED = ("wall_s", "setup_s")
"""Entries of a document about the time that the run took: all else is always the same."""

SCHEMA = """
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  scenario TEXT NOT NULL, seed INTEGER NOT NULL, replication INTEGER NOT NULL,
  build TEXT NOT NULL, part TEXT NOT NULL,
  document BLOB NOT NULL, clock BLOB NOT NULL, checksum BLOB NOT NULL,
  UNIQUE (scenario, seed, replication, build, part)
);
CREATE TABLE tables (
  run INTEGER NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (run, name)
);
CREATE TABLE failures (
  scenario TEXT NOT NULL, seed INTEGER NOT NULL, replication INTEGER NOT NULL,
  build TEXT NOT NULL, part TEXT NOT NULL, reason TEXT NOT NULL, command TEXT NOT NULL,
  PRIMARY KEY (scenario, seed, replication, build, part)
);
CREATE TABLE made (name TEXT PRIMARY KEY, source TEXT NOT NULL, checksum BLOB NOT NULL);
CREATE TABLE owners (id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE TABLE claims (
  scenario TEXT NOT NULL, seed INTEGER NOT NULL, replication INTEGER NOT NULL,
  build TEXT NOT NULL, part TEXT NOT NULL, owner INTEGER NOT NULL,
  PRIMARY KEY (scenario, seed, replication, build, part)
);
"""
THIS = "scenario = ? AND seed = ? AND replication = ? AND build = ? AND part = ?"


class Key(NamedTuple):
    """Identity of a run under one build: hash of the resolved scenario, seed, replication, and its
    part in a study."""

    scenario: str
    seed: int
    replication: int
    part: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """Record of a finished run: its document, and recorded tables as bytes by name."""

    document: Mapping[str, Any]
    tables: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that gave no result: which, why, and the command that repeats it."""

    key: Key
    reason: str
    command: str


class Journal:
    """The finished runs in one folder, of the present build. In a `with` statement: closed at its
    end.

    It is made where there is none. `advice` ends the messages about a file that cannot be used.
    Raises `UserError` for a file that is no journal, is damaged, or cannot be written to, and
    `MachineError` when the disk is full or fails.
    """

    def __init__(self, folder: Path, advice: str = "") -> None:
        self.path = folder / JOURNAL
        self._advice = advice
        self._build = build()
        self._damaged: set[Key] = set()
        with self._opening():
            self._connect()
            try:
                if found := damage(self._database):
                    self._mend(found)
                self._locks = Locks(folder / LOCK)
            except BaseException:
                self._database.close()
                raise
            self._owner = self._new_owner()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up all claims and close the file."""
        try:
            self._do("DELETE FROM claims WHERE owner = ?", self._owner)
            self._do("DELETE FROM owners WHERE id = ?", self._owner)
        except (MachineError, UserError):
            # Claims of a process that has ended do not count.
            pass
        finally:
            self._database.close()
            self._locks.close()

    def __len__(self) -> int:
        """Number of runs of the present build."""
        return int(self._do("SELECT count(*) FROM runs WHERE build = ?", self._build)[0][0])

    def others(self) -> dict[str, int]:
        """Number of runs of each other build, by build."""
        rows = self._do(
            "SELECT build, count(*) FROM runs WHERE build != ? GROUP BY build ORDER BY build",
            self._build,
        )
        return {str(name): int(count) for name, count in rows}

    def places(self) -> set[tuple[str, str]]:
        """The scenarios and parts that runs of the present build have."""
        rows = self._do("SELECT DISTINCT scenario, part FROM runs WHERE build = ?", self._build)
        return {(str(scenario), str(part)) for scenario, part in rows}

    def holds(self, key: Key) -> bool:
        """Returns true if a run is finished and its record sound."""
        return self._row(key) is not None

    def find(self, key: Key) -> Record | None:
        """Record of a run, if it is finished and its record is sound."""
        found = self._row(key)
        if found is None:
            return None
        document, clock, tables = found
        return Record({**json.loads(document), **json.loads(clock)}, tables)

    def keep(self, key: Key, record: Record) -> None:
        """Keep a finished run; a record of it that is there already is replaced."""
        document = {k: v for k, v in record.document.items() if k not in CLOCKED}
        clock = {k: v for k, v in record.document.items() if k in CLOCKED}
        values = (_canonical(document), _canonical(clock))
        checksum = _checksum(self._place(key), *values, record.tables)
        self._compare(key, record)
        with self._transaction():
            self._drop(key)
            self._do(f"DELETE FROM failures WHERE {THIS}", *self._place(key))
            self._do(f"DELETE FROM claims WHERE {THIS}", *self._place(key))
            number = self._insert(
                "INSERT INTO runs (scenario, seed, replication, build, part, document, clock, "
                "checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                *self._place(key), *values, checksum,
            )  # fmt: skip
            for name, content in record.tables.items():
                self._do("INSERT INTO tables VALUES (?, ?, ?)", number, name, content)
        self._damaged.discard(key)

    def fail(self, failure: Failure) -> None:
        """Keep that a run gave no result."""
        place = self._place(failure.key)
        with self._transaction():
            self._do(f"DELETE FROM claims WHERE {THIS}", *place)
            self._do(
                "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?)",
                *place, failure.reason, failure.command,
            )  # fmt: skip

    def failure(self, key: Key) -> Failure | None:
        """Reason why a run gave no result, if it was tried and did not."""
        rows = self._do(f"SELECT reason, command FROM failures WHERE {THIS}", *self._place(key))
        return Failure(key, str(rows[0][0]), str(rows[0][1])) if rows else None

    def forget_failure(self, key: Key) -> None:
        """A run that failed counts as not yet tried."""
        self._do(f"DELETE FROM failures WHERE {THIS}", *self._place(key))

    def claim(self, key: Key) -> bool:
        """Claim a run; whether it is this process's to make.

        It is not if it is finished, has failed, or is claimed by a process that lives.
        """
        place = self._place(key)
        with self._transaction():
            taken = self._do(f"SELECT owner FROM claims WHERE {THIS}", *place)
            if taken and self._lives(int(taken[0][0])):
                return False
            if self.failure(key) is not None or self.holds(key):
                return False
            self._do("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?)", *place, self._owner)
        return True

    def release(self, key: Key) -> None:
        """Give a claim up: the run was not made."""
        self._do(f"DELETE FROM claims WHERE {THIS} AND owner = ?", *self._place(key), self._owner)

    def state(self, keys: Iterable[Key]) -> str:
        """A fingerprint of the records and failures of some runs: what is made of them is the same
        as long as it is."""
        place = hashlib.blake2b(digest_size=16)
        for key in keys:
            rows = self._do(f"SELECT checksum FROM runs WHERE {THIS}", *self._place(key))
            place.update(repr((*self._place(key), rows, self.failure(key))).encode())
        return place.hexdigest()

    def is_made(self, source: str, names: Iterable[str]) -> bool:
        """Returns true if the files of these names in the folder are those that were made of this
        source."""
        for name in names:
            rows = self._do("SELECT checksum FROM made WHERE name = ? AND source = ?", name, source)
            try:
                content = self.path.with_name(name).read_bytes()
            except OSError:
                return False
            if rows != [(_hash(content),)]:
                return False
        return True

    def made(self, source: str, names: Iterable[str]) -> None:
        """Remember that the files of these names were made of this source."""
        for name in names:
            checksum = _hash(self.path.with_name(name).read_bytes())
            self._do("INSERT OR REPLACE INTO made VALUES (?, ?, ?)", name, source, checksum)

    def dump(self) -> Iterator[str]:
        """Every record and every failure, of all builds, a line of JSON each, ordered by key.

        What depends on the clock is left out: two journals of the same runs give the same lines,
        whatever happened on the way.
        """
        for row in self._do(
            "SELECT id, scenario, seed, replication, build, part, document FROM runs "
            "ORDER BY scenario, seed, replication, build, part"
        ):
            tables = {name: _hash(content).hex() for name, content in self._tables(row[0]).items()}
            yield json.dumps([*row[1:6], json.loads(row[6]), tables])
        for failed in self._do(
            "SELECT * FROM failures ORDER BY scenario, seed, replication, build, part"
        ):
            yield json.dumps([*failed])

    def _place(self, key: Key) -> tuple[str, int, int, str, str]:
        return key.scenario, key.seed, key.replication, self._build, key.part

    def _row(self, key: Key) -> tuple[bytes, bytes, dict[str, bytes]] | None:
        """Document, clock and tables of a sound record."""
        rows = self._do(
            f"SELECT id, document, clock, checksum FROM runs WHERE {THIS}", *self._place(key)
        )
        if not rows:
            return None
        number, document, clock, checksum = rows[0]
        tables = self._tables(number)
        if self._is_sound(self._place(key), document, clock, checksum, tables):
            return document, clock, tables
        if key not in self._damaged:
            self._damaged.add(key)
            say(
                f"forebay: {self.path}: the record of scenario {key.scenario}, seed {key.seed}, "
                f"replication {key.replication} is damaged (its checksum differs); "
                "the run is made again"
            )
        return None

    def _tables(self, number: int) -> dict[str, bytes]:
        return dict(
            self._do("SELECT name, content FROM tables WHERE run = ? ORDER BY name", number)
        )

    def _drop(self, key: Key) -> None:
        for (number,) in self._do(f"SELECT id FROM runs WHERE {THIS}", *self._place(key)):
            self._do("DELETE FROM tables WHERE run = ?", number)
            self._do("DELETE FROM runs WHERE id = ?", number)

    def _compare(self, key: Key, record: Record) -> None:
        """The same run of the same build must have the same digest whenever it is made."""
        old = self.find(key)
        if old is None:
            return
        before, now = old.document.get("digest"), record.document.get("digest")
        if before != now:
            say(
                f"forebay: {self.path}: scenario {key.scenario}, seed {key.seed}, replication "
                f"{key.replication} had digest {before} and now has {now}, with the same build of "
                "the engine; this is a bug in Forebay or a fault of the machine"
            )

    def _new_owner(self) -> int:
        """The number of a new owner of claims, which lives as long as this process."""
        with self._transaction():
            owner = self._insert("INSERT INTO owners DEFAULT VALUES")
            self._locks.hold(owner)
            # Numbers are given once, so that what the dead have left may go.
            for (other,) in self._do("SELECT id FROM owners"):
                if other != owner and not self._locks.held(other):
                    self._do("DELETE FROM claims WHERE owner = ?", other)
                    self._do("DELETE FROM owners WHERE id = ?", other)
        return owner

    def _lives(self, owner: int) -> bool:
        return owner == self._owner or self._locks.held(owner)

    def _connect(self) -> None:
        """Open the file, and see that it is a journal or make it one."""
        # Autocommit: transactions begin and end where it says so.
        self._database = sqlite3.connect(self.path, timeout=BUSY_MS / 1000, isolation_level=None)
        self._database.text_factory = lambda content: content.decode("utf-8", "replace")
        try:
            self._prepare()
        except BaseException:
            self._database.close()
            raise

    def _mend(self, found: str) -> None:
        """Make a file that is damaged as a whole anew of its sound records."""
        self._database.close()
        with closing(Locks(self.path.with_name(LOCK))) as locks:
            if locks.held(1, 0):
                raise UserError(
                    f"{self.path}: damaged ({found}), and another process is making runs there; "
                    "it is mended when that has ended"
                )
            # Owners of claims have the numbers above.
            locks.hold(0)
            self._connect()
            if not damage(self._database):
                # Another process was faster.
                return
            self._database.close()
            kept, aside = rebuild(self.path, _begin, self._is_sound)
            if not kept:
                raise UserError(self._told(f"damaged ({found}), and no record in it is sound"))
            say(
                f"forebay: {self.path}: damaged ({found}); it is made anew of its {kept} sound "
                f"records, and other runs are made again; the damaged file is now {aside}"
            )
            self._connect()

    def _is_sound(
        self, place: tuple[Any, ...], document: Any, clock: Any, checksum: Any,
        tables: Mapping[str, Any],
    ) -> bool:  # fmt: skip
        words = (place[0], *place[3:], *tables)
        contents = (document, clock, checksum, *tables.values())
        # A flipped bit may make a value one of another type.
        return (
            all(isinstance(word, str) for word in words)
            and all(isinstance(number, int) for number in place[1:3])
            and all(isinstance(content, bytes) for content in contents)
            and checksum == _checksum(place, document, clock, tables)
        )

    def _prepare(self) -> None:
        """See that the file is a journal, or make it one."""
        self._do(f"PRAGMA busy_timeout = {BUSY_MS}")
        network = on_network(self.path.parent)
        mode = "DELETE" if network else "WAL"
        got = str(self._do(f"PRAGMA journal_mode = {mode}")[0][0])
        if network or got != "wal":
            reason = "is on a network" if network else "cannot hold a write-ahead log"
            say(
                f"forebay: {self.path.parent} {reason}; the journal of runs is written with a "
                "rollback log, which is slower"
            )
        self._do(f"PRAGMA synchronous = {'NORMAL' if got == 'wal' else 'FULL'}")
        with self._transaction():
            names = ("application_id", "user_version")
            found = [int(self._do(f"PRAGMA {name}")[0][0]) for name in names]
            if found == [0, 0] and not self._do("SELECT name FROM sqlite_master"):
                _begin(self._database)
            elif found[0] != APPLICATION:
                raise UserError(self._told("not a journal of runs"))
            elif found[1] != FORMAT:
                raise UserError(
                    self._told(f"a journal of format {found[1]}; this version reads {FORMAT}")
                )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._do("BEGIN IMMEDIATE")
        try:
            yield
            self._do("COMMIT")
        except BaseException:
            # SQLite itself rolls back when the disk is full.
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    def _do(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that a statement gives, its errors in the user's words."""
        try:
            return self._database.execute(statement, values).fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._translated(error) from None

    def _insert(self, statement: str, *values: Any) -> int:
        """The number of the row that a statement inserts."""
        try:
            return int(self._database.execute(statement, values).lastrowid or 0)
        except sqlite3.DatabaseError as error:
            raise self._translated(error) from None

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """Translates errors of opening: before anything runs, they are a matter of which folder was
        named, but for a full disk and one that fails."""
        self._begun = False
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._translated(error) from None
        except OSError as error:
            raise unwritable(f"{self.path}: cannot be mended", error) from None
        self._begun = True

    def _translated(
        self, error: sqlite3.DatabaseError | UnicodeDecodeError
    ) -> UserError | MachineError:
        name = getattr(error, "sqlite_errorname", "")
        # A message that is not text quotes a damaged schema.
        if isinstance(error, UnicodeDecodeError):
            return UserError(self._told("damaged (its schema is no text)"))
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return UserError(self._told(f"damaged ({error})"))
        if name.startswith("SQLITE_IOERR"):
            limit = "the disk is full or fails, or no file may grow so large (ulimit -f)"
            return MachineError(f"{self.path}: {error}: {limit}")
        if self._begun or name == "SQLITE_FULL":
            return MachineError(f"{self.path}: {error}")
        try:
            with NamedTemporaryFile(dir=self.path.parent):
                pass
        except OSError as reason:
            return unwritable(f"{self.path}: {error}", reason)
        return UserError(f"{self.path}: {error}")

    def _told(self, what: str) -> str:
        return f"{self.path}: {what}" + (f"; {self._advice}" if self._advice else "")


def _begin(database: sqlite3.Connection) -> None:
    """Make an empty journal."""
    for statement in filter(str.strip, SCHEMA.split(";")):
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {FORMAT}")


def _canonical(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _checksum(
    place: tuple[Any, ...], document: bytes, clock: bytes, tables: Mapping[str, bytes]
) -> bytes:
    """The checksum of a record, its key included: no record passes for another one."""
    parts = [json.dumps(place).encode(), document, clock]
    for name, content in sorted(tables.items()):
        parts += [name.encode(), content]
    return _hash(b"".join(_hash(part) for part in parts))


def _hash(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
