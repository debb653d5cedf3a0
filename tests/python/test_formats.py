"""`--format`: every table of the results of a run or a sweep as CSV and Parquet."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import front
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forebay.run.csv_files import csv_bytes


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row with `a.b` for what is in `a`, as the files have it."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, list):
            value = dict(enumerate(value))
        if isinstance(value, dict):
            found |= {f"{name}.{key}": inner for key, inner in flat(value).items()}
        else:
            found[str(name)] = value
    return found


def same(cell: str, value: Any) -> bool:
    """Returns True if a cell of a CSV file holds a value."""
    if value is None or isinstance(value, str):
        return cell == (value or "")
    return float(cell) == value


def files(folder: Path, ending: str) -> set[str]:
    """Returns the names of the tables in a format."""
    found = (folder / "tables").rglob(f"*.{ending}")
    return {path.relative_to(folder / "tables").with_suffix("").as_posix() for path in found}


def test_every_row_of_a_run_is_in_a_table(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """Every row of a run's document is in a table, with the same values."""
    scenario.write_text(scenario.read_text() + '[record]\nseries = "1 s"\n')
    out = tmp_path / "o"
    document = forebay("run", scenario, "--out", out, "--format", "both", "--json").document()
    told = ("flows", "groups", "hosts", "links", "transfers", "calls")
    kinds = {kind for kind in told if document[kind]}
    assert {f"results/{kind}" for kind in kinds} == {
        name for name in files(out, "csv") if name.startswith("results/")
    }
    assert files(out, "csv") == files(out, "parquet") >= {"series/links.wire"}
    for kind in kinds:
        table = pq.read_table(out / f"tables/results/{kind}.parquet").to_pylist()
        cells = rows_of(out / f"tables/results/{kind}.csv")
        for found, shown, row in zip(table, cells, document[kind], strict=True):
            for name, value in flat({"replication": 0, **row}).items():
                assert same(shown[name], value), (kind, name)
            for name, value in row.items():
                if not isinstance(value, dict):
                    assert found[name] == value, (kind, name)
    assert "series" in (out / "manifest.json").read_text()
    assert forebay("report", out).status == 0
    # Without the option they would be those of other results.
    forebay("run", scenario, "--out", out)
    assert (files(out, "csv"), files(out, "parquet") >= {"series/links.wire"}) == (set(), True)
    assert not any(name.startswith("results/") for name in files(out, "parquet"))


def test_replications_are_in_one_table(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """Replications are in one table, told apart by number, and intervals are in another."""
    out = tmp_path / "o"
    forebay("run", scenario, "--replications", 3, "--out", out, "--format", "csv")
    links = rows_of(out / "tables/results/links.csv")
    assert [row["replication"] for row in links if row["name"] == "wire"] == ["0", "1", "2"]
    document = json.loads((out / "replications.json").read_text(encoding="utf-8"))
    intervals = rows_of(out / "tables/results/intervals.csv")
    assert [float(row["mean"]) for row in intervals] == [
        row["mean"] for row in document["intervals"]
    ]
    assert not files(out, "parquet")


def test_every_run_of_a_sweep_is_in_the_tables(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """Every run of a sweep is in the tables with all its quantities: another quantity needs no new
    sweep."""
    path, out = tmp_path / "sweep.toml", tmp_path / "o"
    path.write_text(
        f'scenario = "{scenario.name}"\nreplications = 2\n'
        'quantities = ["links.wire.utilization"]\n'
        '[grid]\nlinks.wire.rate = ["5 Mbit/s", "8 Mbit/s"]',
        encoding="utf-8",
    )
    forebay("sweep", path, "--out", out, "--format", "csv")
    links = [row for row in rows_of(out / "tables/results/links.csv") if row["name"] == "wire"]
    runs = rows_of(out / "runs.csv")
    assert [(row["links.wire.rate"], row["replication"]) for row in links] == [
        (rate, number) for rate in ("5 Mbit/s", "8 Mbit/s") for number in "01"
    ]
    assert [row["utilization"] for row in links] == [row["links.wire.utilization"] for row in runs]
    assert len(rows_of(out / "summary.csv")) == 2
    forebay("sweep", path, "--out", out, "--format", "parquet")
    assert files(out, "parquet") >= {"results/links", "results/flows"}
    assert not list(out.rglob("*.csv"))


def test_lists_and_words_become_columns() -> None:
    """Lists and tables in a cell become columns, and commas and quotes in text are quoted."""
    columns = {
        "name": ["a, b", "c"],
        "by": [[1], [2, 3]],
        "of": [{"x": 1.5, "y": [7]}, {"x": None, "z": True}],
        "counted": np.array([1e-300, 2.0]),
        "last": pa.array([None, 'say "d"']),
    }
    assert csv_bytes(columns).decode().splitlines() == [
        "name,by.0,by.1,of.x,of.y.0,of.z,counted,last",
        '"a, b",1,,1.5,7,,1e-300,',
        'c,2,3,,,true,2.0,"say ""d"""',
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--format", "csv"), "--format: tables are written to the folder of --out; name one"),
        (("--format", "xml", "--out", "o"), '"xml"; allowed are csv, parquet, both'),
        (("--format", "cvs", "--out", "o"), 'did you mean "csv"?'),
        (("--out", "o", "--format"), "expected one argument"),
    ],
)
def test_what_is_wrong_is_named(
    forebay: front.Forebay, scenario: Path, words: tuple[str, ...], message: str
) -> None:
    """Wrong words for a format are refused by name."""
    assert message in forebay.refused("run", scenario, *words)


def test_tables_of_others_stay(forebay: front.Forebay, scenario: Path, tmp_path: Path) -> None:
    """Tables that Forebay did not write are never overwritten."""
    mine = tmp_path / "o" / "tables" / "results" / "links.csv"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf-8")
    words = ("run", scenario, "--out", tmp_path / "o", "--format", "csv")
    assert "links.csv is there" in forebay.refused(*words)
    assert mine.read_text(encoding="utf-8") == "mine"
