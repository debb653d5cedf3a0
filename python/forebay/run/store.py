"""Results on disk: whole files or none, and a journal of finished runs.

A file is written beside its place and renamed into it, so that a reader or a crash never meets half
a file. The journal is the record of what is done: a line a run, kept from the moment the run ends.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Journal",
    "add_tables",
    "json_rows",
    "read_table",
    "read_tables",
    "write_table",
    "write_tables",
    "write_text",
]

TABLES = "tables"

Key = tuple[str, str, int, int]
"""What makes a run the same run: version, scenario hash, seed, replication."""


def write_text(path: Path, content: str) -> None:
    """Write a whole text file."""
    _replace(path, lambda file: file.write(content.encode("utf-8")))


def json_rows(value: Any, depth: int = 0) -> str:
    """JSON with a line for each object that holds no list of objects: a table's row is one."""
    if not _holds_rows(value):
        return json.dumps(value)
    pad = "\n" + " " * (depth + 1)
    if isinstance(value, Mapping):
        ends = "{}"
        parts = [f"{json.dumps(k)}: {json_rows(v, depth + 1)}" for k, v in value.items()]
    else:
        ends = "[]"
        parts = [json_rows(entry, depth + 1) for entry in value]
    return f"{ends[0]}{pad}{f',{pad}'.join(parts)}{pad[:-1]}{ends[1]}"


def _holds_rows(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_rows, value.values()))
    return isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value)


def write_table(path: Path, table: pa.Table) -> None:
    """Write an Arrow table as Parquet."""
    import pyarrow.parquet as pq

    _replace(path, lambda file: pq.write_table(table, file, compression="zstd"))


def read_table(path: Path) -> pa.Table:
    """Read a Parquet file back."""
    import pyarrow.parquet as pq

    return pq.read_table(path)


def write_tables(folder: Path, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Write recorded tables, a Parquet file each, below `folder`; others go."""
    import pyarrow as pa

    wanted = {_table_path(folder, name): columns for name, columns in tables.items()}
    for path, columns in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_table(path, pa.table(dict(columns)))
    for other in sorted((folder / TABLES).rglob("*.parquet")):
        if other not in wanted:
            other.unlink()


def add_tables(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write recorded tables beside those that are there."""
    for name, table in tables.items():
        path = _table_path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_table(path, table)


def read_tables(folder: Path, names: Sequence[str] | None = None) -> dict[str, pa.Table]:
    """The recorded tables below `folder`, by name: all, or those of some names."""
    if names is not None:
        return {name: read_table(_table_path(folder, name)) for name in names}
    root = folder / TABLES
    return {
        path.relative_to(root).as_posix().removesuffix(".parquet"): read_table(path)
        for path in sorted(root.rglob("*.parquet"))
    }


def _table_path(folder: Path, name: str) -> Path:
    return folder / TABLES / f"{name}.parquet"


class Journal:
    """Finished runs, a JSON document a line, appended as they finish.

    A line that a crash cut short is dropped when the journal is opened again. `key_of` makes the
    key of a document, by which it is found; `head` is the first document of a new journal.
    """

    def __init__(
        self,
        path: Path,
        resume: bool,
        key_of: Callable[[Mapping[str, Any]], Hashable] | None = None,
        head: Mapping[str, Any] | None = None,
    ) -> None:
        self._path = path
        self._key_of = key if key_of is None else key_of
        first = [] if head is None else [head]
        rows = list(self._read()) if resume and path.exists() else first
        self._rows: dict[Hashable, Mapping[str, Any]] = {self._key_of(row): row for row in rows}
        lines = "".join(_line(row) for row in self._rows.values())
        write_text(path, lines)
        self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, wanted: Hashable) -> Mapping[str, Any] | None:
        """The document of a run that is done, if it is."""
        return self._rows.get(wanted)

    def add(self, document: Mapping[str, Any]) -> None:
        """Keep a finished run."""
        self._rows[self._key_of(document)] = document
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
        # An interrupt may come when it is in its place already.
        Path(temporary).unlink(missing_ok=True)
        raise
