"""Results on disk: whole files or none, and a journal of finished runs.

A file is written beside its place and renamed into it, so that a reader or a crash never meets half
a file. The journal is the record of what is done: a line a run, kept from the moment the run ends.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Journal", "read_table", "read_tables", "write_table", "write_tables", "write_text"]

TABLES = "tables"

Key = tuple[str, str, int, int]
"""What makes a run the same run: version, scenario hash, seed, replication."""


def write_text(path: Path, content: str) -> None:
    """Write a whole text file."""
    _replace(path, lambda file: file.write(content.encode("utf-8")))


def write_table(path: Path, table: pa.Table) -> None:
    """Write an Arrow table as Parquet."""
    import pyarrow.parquet as pq

    _replace(path, lambda file: pq.write_table(table, file, compression="zstd"))


def read_table(path: Path) -> pa.Table:
    """Read a Parquet file back."""
    import pyarrow.parquet as pq

    return pq.read_table(path)


def write_tables(folder: Path, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Write recorded tables, a Parquet file each, below `folder`; old ones go."""
    import pyarrow as pa

    for old in sorted((folder / TABLES).rglob("*.parquet")):
        old.unlink()
    for name, columns in tables.items():
        path = folder / TABLES / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_table(path, pa.table(dict(columns)))


def read_tables(folder: Path) -> dict[str, pa.Table]:
    """The recorded tables below `folder`, by name."""
    root = folder / TABLES
    return {
        path.relative_to(root).with_suffix("").as_posix(): read_table(path)
        for path in sorted(root.rglob("*.parquet"))
    }


class Journal:
    """Finished runs, a JSON document a line, appended as they finish.

    A line that a crash cut short is dropped when the journal is opened again.
    """

    def __init__(self, path: Path, resume: bool) -> None:
        self._path = path
        self._rows: dict[Key, Mapping[str, Any]] = {}
        if resume and path.exists():
            for row in self._read():
                self._rows[key(row)] = row
        lines = "".join(_line(row) for row in self._rows.values())
        write_text(path, lines)
        self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, wanted: Key) -> Mapping[str, Any] | None:
        """The document of a run that is done, if it is."""
        return self._rows.get(wanted)

    def add(self, document: Mapping[str, Any]) -> None:
        """Keep a finished run."""
        self._rows[key(document)] = document
        self._file.write(_line(document))
        self._file.flush()

    def _read(self) -> Iterator[Mapping[str, Any]]:
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue


def key(document: Mapping[str, Any]) -> Key:
    """The key of a run's document."""
    return (
        document["version"],
        document["scenario_hash"],
        document["seed"],
        document["replication"],
    )


def rows_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """An Arrow table of rows that may lack some columns."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: [row.get(name) for row in rows] for name in names})


def _line(document: Mapping[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":")) + "\n"


def _replace(path: Path, write: Any) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            binary: IO[bytes] = file
            write(binary)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
