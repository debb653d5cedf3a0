"""Folders of results with damaged files: `report` says which file is wrong and where, on one line.

Every file of the folders that `run --out`, `sweep` and `reproduce` write is missing, empty, cut
short, garbage or a folder; of every JSON document, every value in turn is missing or of every wrong
type; of every table, every column is missing or holds something else.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.errors import UserError
from forebay.pages.sweep import SWEEP
from forebay.report.run_pages import RUN
from forebay.run.documents import check_shape
from forebay.study.files import SHAPE

pytestmark = pytest.mark.long

RECORDED = """
[record]
series = "500 ms"
series_of = ["links.wire"]
delays = true
"""
SWEEP_FILE = """
scenario = "small.toml"
replications = 2
quantities = ["flows.chatter.throughput_bps", "events"]
[grid]
links.wire.rate = ["5 Mbit/s", "10 Mbit/s"]
"""
WRONG = (None, True, -1, 0.5, "words", [], {}, [None], {"x": None})
FOLDERS = ("run", "sweep", "study")


@pytest.fixture
def folder(forebay: front.Forebay, tiny: Path, scenario: Path, tmp_path: Path, kind: str) -> Path:
    """A folder of results of a kind."""
    out = tmp_path / kind
    if kind == "run":
        scenario.write_text(scenario.read_text() + RECORDED)
        words: tuple[object, ...] = ("run", scenario)
    elif kind == "sweep":
        (tmp_path / "sweep.toml").write_text(SWEEP_FILE)
        words = ("sweep", tmp_path / "sweep.toml")
    else:
        words = ("reproduce", "tiny", "--quick")
    assert forebay(*words, "--out", out).status == 0
    assert forebay("report", out).status == 0
    return out


def told(forebay: front.Forebay, folder: Path, path: Path | None) -> bool:
    """True if the report is refused, which it must be in one line that names the file."""
    answer = forebay("report", folder)
    if answer.status == 0:
        return False
    assert answer.status == 2, answer
    assert answer.err.count("\n") == 1, answer.err
    assert path is None or str(path) in answer.err, answer.err
    for word in ("Traceback", "Error", "NoneType", "object", "subscript", "unhashable"):
        assert word not in answer.err.replace("an object", ""), answer.err
    return True


def places(value: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value in a document; of equal rows only to the first two."""
    if above:
        yield above
    entries = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, entry in entries if isinstance(value, dict | list) else ():
        if isinstance(entry, dict | list):
            yield from places(entry, (*above, key))
        else:
            yield (*above, key)


def changed(document: Any, place: tuple[str | int, ...], change: Callable[[Any, Any], None]) -> Any:
    """A copy of a document in which something was done at one place."""
    whole = copy.deepcopy(document)
    inner = whole
    for key in place[:-1]:
        inner = inner[key]
    change(inner, place[-1])
    return whole


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_file_of_a_folder_may_be_damaged(forebay: front.Forebay, folder: Path) -> None:
    """A folder in which any file is damaged or missing has its report refused in one line, if the
    page needs that file."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".json", ".parquet")]
    assert len(files) >= 3
    refused = set()
    for path in files:
        content = path.read_bytes()
        for damage in (
            None,
            b"",
            content[: len(content) // 2],
            b"\x00\xff" * 99,
            b"[]",
            b"{",
            b"1",
        ):
            if damage is None:
                path.unlink()
            else:
                path.write_bytes(damage)
            missing_table = damage is None and path.suffix == ".parquet"
            if told(forebay, folder, None if damage is None else path):
                refused.add(path.name)
            else:
                # What the page does not need, or tables that may as well not have been recorded.
                known = ("manifest.json", "runs.parquet", "summary.parquet")
                assert path.name in known or missing_table or "tables" in path.parts, path
        path.unlink(missing_ok=True)
        path.mkdir()
        told(forebay, folder, None)
        path.rmdir()
        path.write_bytes(content)
    assert {"run.json", "sweep.json", "result.json"} & refused
    assert forebay("report", folder).status == 0


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_value_of_a_document_may_be_wrong(forebay: front.Forebay, folder: Path) -> None:
    """A wrong value at any place of a document is refused with file and place, or shown: no error
    of Python's appears."""
    path, shape = next(
        (folder / name, shape)
        for name, shape in (("run.json", RUN), ("sweep.json", SWEEP), ("result.json", SHAPE))
        if (folder / name).exists()
    )
    document = json.loads(path.read_text())
    refused, passed = 0, []
    for place in places(document):
        changes: list[Any] = [changed(document, place, lambda inner, key: inner.pop(key))]
        for wrong in WRONG:
            changes.append(changed(document, place, lambda i, k, w=wrong: i.__setitem__(k, w)))
        for change in changes:
            try:
                check_shape(path, change, shape)
            except UserError as error:
                refused += 1
                message = str(error)
                assert re.fullmatch(rf"{path}: damaged: [\w.\[\]/-]+: .*; .*", message), message
            else:
                passed.append(change)
    assert refused > 50
    # What the shape lets pass must be shown, or refused in one line; each takes a while.
    for change in passed[:: max(1, len(passed) // 12)]:
        path.write_text(json.dumps(change))
        told(forebay, folder, None)
    path.write_text(json.dumps(document))
    assert forebay("report", folder).status == 0


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_column_of_a_table_may_be_wrong(forebay: front.Forebay, folder: Path) -> None:
    """A missing or wrong column of a table is refused in one line, or not needed: no error of
    Python's appears."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    damaged = []
    for path in sorted(folder.rglob("*.parquet")):
        whole = pq.read_table(path)
        for index, name in enumerate(whole.column_names):
            damaged.append((path, whole, whole.remove_column(index)))
            for wrong in (["x"], [0.5], [1], [None], [[1]], [True], ["{}"]):
                column = pa.array(wrong * whole.num_rows)
                damaged.append((path, whole, whole.set_column(index, name, column)))
    # A number that shares no factor with that of the kinds of damage: all kinds and columns occur.
    for path, whole, table in damaged[:: 1 + 2 * (len(damaged) // 24)]:
        pq.write_table(table, path)
        told(forebay, folder, None)
        pq.write_table(whole, path)
    assert forebay("report", folder).status == 0
