"""Results on disk: whole files or none, and only files of our own replaced.

A file is written beside its place and renamed into it, so that a reader or a crash never sees half
a file. Finished runs are in a journal instead (`forebay.run.journal`).

`manifest.json` in a folder of results lists the files there that Forebay wrote. No other file is
replaced or removed, whatever its name is.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from forebay.errors import MachineError, UserError
from forebay.extras import is_installed, need
from forebay.run.csv_files import csv_bytes
from forebay.run.locks import LOCK, in_use

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "MANIFEST",
    "TABLES",
    "check_columns",
    "columns_of",
    "json_rows",
    "move_aside",
    "own_files",
    "read_table",
    "read_tables",
    "refuse_foreign",
    "rows_table",
    "stored_format",
    "table_bytes",
    "table_of",
    "table_path",
    "take_over",
    "write_bytes",
    "write_columns",
    "write_table",
    "write_tables",
    "write_text",
]

MANIFEST = "manifest.json"
TABLES = "tables"
FORMATS = ("parquet", "csv")
"""Endings of tables; the first that there is, is read."""


def write_text(path: Path, content: str) -> None:
    """Write a whole text file."""
    write_bytes(path, content.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file."""
    _replace(path, lambda file: file.write(content))


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
    content = table_bytes(table)
    _replace(path, lambda file: file.write(content))


def stored_format() -> str:
    """Format in which tables of results are kept: `"parquet"`, or `"csv"` without pyarrow."""
    return "parquet" if is_installed("pyarrow") else "csv"


def write_columns(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as a table, in the format that the file's ending says."""
    if path.suffix == ".csv":
        write_bytes(path, csv_bytes(columns))
    else:
        write_table(path, _table(columns))


def table_bytes(table: pa.Table) -> bytes:
    """An Arrow table as the content of a Parquet file."""
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def table_of(content: bytes) -> pa.Table:
    """The table that `table_bytes` was given."""
    import pyarrow.parquet as pq

    return pq.read_table(io.BytesIO(content))


def read_table(path: Path) -> pa.Table:
    """Read a table of results back, from Parquet or CSV. Raises `UserError` for a file that is
    missing or damaged."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    what = "CSV" if path.suffix == ".csv" else "Parquet"
    try:
        with path.open("rb") as file:
            if what == "Parquet":
                return pq.read_table(file)
            # A name may be a number.
            names = pyarrow.csv.ConvertOptions(column_types={"group": pa.string()})
            return pyarrow.csv.read_csv(file, convert_options=names)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; it belongs to the results there") from None
    except (OSError, pa.ArrowException) as error:
        told = str(error).strip().splitlines() or [type(error).__name__]
        raise UserError(f"{path}: damaged: not a {what} file that can be read: {told[0]}") from None


def check_columns(path: Path, table: pa.Table, columns: Mapping[str, str]) -> None:
    """See that the table of a file has these columns, and what each holds: `"words"`, `"numbers"`,
    `"whole numbers"`, or `""` for anything. Raises `UserError`."""
    for name, what in columns.items():
        if name not in table.column_names:
            raise UserError(f"{path}: damaged: no column {name}")
        kind = table.schema.field(name).type
        if not _holds(kind, what):
            raise UserError(f"{path}: damaged: column {name} holds {kind}; allowed are {what}")


def _holds(kind: pa.DataType, what: str) -> bool:
    """Returns true if a column's type is of a sort; a column of nulls is of any."""
    import pyarrow as pa

    whole = bool(pa.types.is_integer(kind))
    return bool(
        not what
        or pa.types.is_null(kind)
        or (what == "words" and (pa.types.is_string(kind) or pa.types.is_large_string(kind)))
        or (what == "whole numbers" and whole)
        or (what == "numbers" and (whole or pa.types.is_floating(kind)))
    )


def write_tables(
    folder: Path,
    tables: Mapping[str, Mapping[str, Any]],
    results: Mapping[str, Mapping[str, Any]] | None = None,
    formats: Sequence[str] = (),
) -> None:
    """Write recorded tables, a file of `stored_format` each, below `folder`, and captures beside
    them; others that we wrote go.

    `formats` are the endings of further files: of recorded tables, and of `results`.
    """
    captures = {
        f"{name}.pcapng": columns["byte"] for name, columns in tables.items() if _is_capture(name)
    }
    recorded = {name: columns for name, columns in tables.items() if not _is_capture(name)}
    kept = stored_format()
    wanted: dict[str, Any] = {_table_name(name, kept): table for name, table in recorded.items()}
    asked = recorded | {f"results/{name}": table for name, table in (results or {}).items()}
    wanted |= {_table_name(name, end): table for end in formats for name, table in asked.items()}
    own = own_files(folder)
    refuse_foreign(folder, captures)
    all_names = wanted.keys() | captures.keys()
    if not all_names <= own:
        _write_manifest(folder, own | all_names)
    for name, content in captures.items():
        _replace(folder / name, lambda file, content=content: file.write(content))
    for name, table in wanted.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_columns(path, table)
    gone = {
        name
        for name in own - all_names
        if name.startswith(f"{TABLES}/") or (_is_capture(name) and name.endswith(".pcapng"))
    }
    for name in sorted(gone):
        (folder / name).unlink(missing_ok=True)
    if gone:
        _write_manifest(folder, (own | all_names) - gone)


def _is_capture(name: str) -> bool:
    return name.startswith("capture-")


def _table(columns: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table(dict(columns))


def read_tables(folder: Path) -> dict[str, pa.Table]:
    """The recorded tables below `folder`, by name. Raises `UserError` for a damaged one."""
    root = folder / TABLES
    # What was written without pyarrow is there as CSV alone.
    every = sorted({path.with_suffix("") for end in FORMATS for path in root.rglob(f"*.{end}")})
    names = [path.relative_to(root).as_posix() for path in every]
    return {name: read_table(table_path(folder, name)) for name in names}


def table_path(folder: Path, name: str) -> Path:
    """The file of a recorded table."""
    found = (folder / _table_name(name, ending) for ending in FORMATS)
    return next((path for path in found if path.exists()), folder / _table_name(name, FORMATS[0]))


def _table_name(name: str, ending: str) -> str:
    return f"{TABLES}/{name}.{ending}"


def move_aside(folder: Path) -> Path:
    """Give a folder of results the first free name with a number, `NAME.1`; its new path.

    Raises `UserError` if another process is at work in it, or it cannot be renamed.
    """
    place = folder.resolve()
    if in_use(place / LOCK):
        raise UserError(f"--fresh: {folder}: another process is making runs there")
    number = 1
    while os.path.lexists(aside := place.with_name(f"{place.name}.{number}")):
        number += 1
    try:
        place.rename(aside)
    except OSError as error:
        raise UserError(f"--fresh: {folder}: cannot be renamed: {error.strerror}") from None
    return folder.with_name(aside.name) if folder.name == place.name else aside


def own_files(folder: Path) -> set[str]:
    """The files in a folder that Forebay wrote, by their paths within it.

    Raises `UserError` for a damaged manifest.
    """
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["files"]
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(map(_is_inside, found)):
        raise UserError(
            f"{path}: damaged: not the list of the files that Forebay wrote there; choose another "
            "folder, or remove it and what it listed"
        )
    return set(found)


def _is_inside(name: Any) -> bool:
    """Returns true if this can be the path of a file within a folder."""
    return isinstance(name, str) and not {"", ".."} & set(name.split("/"))


def refuse_foreign(folder: Path, names: Iterable[str]) -> None:
    """Raise `UserError` if one of these files, or a table, is there and not in the manifest."""
    own = own_files(folder)
    endings = [f".{ending}" for ending in FORMATS]
    tables = sorted(path for path in (folder / TABLES).rglob("*") if path.suffix in endings)
    for name in [*names, *(path.relative_to(folder).as_posix() for path in tables)]:
        if name not in own and os.path.lexists(folder / name):
            raise UserError(
                f"--out: {folder / name} is there and not listed in {MANIFEST}, so it is not "
                "replaced; choose another folder, or move it away"
            )


def take_over(folder: Path, names: Iterable[str]) -> None:
    """These files are about to be written and will be ours."""
    wanted = set(names)
    own = own_files(folder)
    if not wanted <= own:
        _write_manifest(folder, own | wanted)


def _write_manifest(folder: Path, names: Iterable[str]) -> None:
    write_text(folder / MANIFEST, json.dumps({"files": sorted(names)}, indent=1) + "\n")


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns of rows that may lack some of them, in the order of appearance."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def rows_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """An Arrow table of rows that may lack some columns.

    Raises `MissingExtraError` without pyarrow.
    """
    need("a table", "pyarrow")
    return _table(columns_of(rows))


def _replace(path: Path, write: Any) -> None:
    try:
        _write_and_rename(path, write)
    except OSError as error:
        raise MachineError(f"{path}: cannot be written: {error.strerror or error}") from None


def _write_and_rename(path: Path, write: Any) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            binary: IO[bytes] = file
            write(binary)
            binary.flush()
            # Renamed before its content has reached the disk, it would be empty after a power cut.
            os.fsync(binary.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        # An interrupt may come when it is in its place already.
        Path(temporary).unlink(missing_ok=True)
        raise
