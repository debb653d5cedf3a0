"""Sweeps: the grid, the intervals, resuming, and what is refused."""

# ruff: noqa: TID251 (waits no longer than for a time)

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.stats import replication_interval

pytestmark = pytest.mark.long

SWEEP = """
scenario = "small.toml"
replications = 3
quantities = ["flows.chatter.throughput_bps", "links.wire.utilization", "events"]

[grid]
duration = ["2 s", "3 s"]
links.wire.rate = ["5 Mbit/s", "10 Mbit/s"]
"""


@pytest.fixture
def sweep(scenario: Path) -> Path:
    """A sweep of the small scenario."""
    path = scenario.parent / "sweep.toml"
    path.write_text(SWEEP)
    return path


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_a_sweep_that_is_terminated_keeps_what_is_finished(sweep: Path, tmp_path: Path) -> None:
    """A sweep that is terminated keeps what is finished with its summary, and says how to continue.

    Of the first durations a run takes no time, of the last it takes hours.
    """
    sweep.write_text(sweep.read_text().replace('"3 s"', '"8000000 s"'))
    command = [sys.executable, "-m", "forebay", "sweep", str(sweep), "--out", "o", "--jobs", "2"]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    with child:
        try:
            while len(kept(tmp_path / "o")) < 2:
                assert time.monotonic() < until
                time.sleep(0.05)
            child.send_signal(signal.SIGTERM)
            _, error = child.communicate(timeout=120)
        finally:
            child.kill()
    again = f"forebay sweep {sweep} --jobs 2 --out o --resume"
    told = f"forebay: error: interrupted; finished runs are in o; to continue: {again}"
    assert (child.returncode, error.strip()) == (130, told)
    assert json.loads((tmp_path / "o/sweep.json").read_text())["runs"] == 2


def kept(folder: Path) -> list[dict[str, Any]]:
    """The journal's documents, in the order in which the runs ended; none without a journal."""
    if not (folder / "runs.sqlite").is_file():
        return []
    with closing(sqlite3.connect(folder / "runs.sqlite", timeout=60)) as database:
        try:
            rows = database.execute("SELECT document, clock FROM runs ORDER BY id").fetchall()
        except sqlite3.OperationalError:
            # It was begun a moment ago.
            return []
    return [{**json.loads(document), **json.loads(clock)} for document, clock in rows]


def test_every_combination_is_run_and_summarised(
    forebay: front.Forebay, sweep: Path, tmp_path: Path
) -> None:
    """Every combination of a grid is run and summarised by the intervals of its replications."""
    import pyarrow.parquet as pq

    document = forebay("sweep", sweep, "--out", tmp_path / "o", "--json").document()
    assert document["runs"] == 2 * 2 * 3
    assert len(document["summary"]) == 2 * 2 * 3
    runs = pq.read_table(tmp_path / "o" / "runs.parquet").to_pylist()
    assert {run["replication"] for run in runs} == {0, 1, 2}
    for row in document["summary"]:
        values = [
            run[row["quantity"]]
            for run in runs
            if all(run[name] == row[name] for name in document["grid"])
        ]
        interval = replication_interval(values)
        assert (row["mean"], row["low"]) == (interval.mean, interval.low)
        assert (row["high"], row["note"]) == (interval.high, interval.note)
    assert (tmp_path / "o" / "report.html").read_text().count("<svg") == 6


def test_calls_are_swept(forebay: front.Forebay, tmp_path: Path) -> None:
    """Results of calls can be swept, and a misspelt one is refused with the nearest name.

    In front.CALLS five calls hold five lines for good: all new calls are blocked; with 500 lines
    for the 10 calls a second of 5 s none is. Nor is one refused: no probe is marked while the load
    stays below AR and SR, here 9 Mbit/s or 107 calls and the video, and buckets hold its frames.
    """
    (tmp_path / "calls.toml").write_text(front.CALLS)
    path = tmp_path / "sweep.toml"
    path.write_text(
        'scenario = "calls.toml"\nreplications = 2\n'
        'quantities = ["calls.phones.blocking_ratio"]\n'
        "[grid]\naggregates.lines.admission.capacity.calls = [5, 500]\n"
        '"links.core.conditioners.0.ar_meter.rate" = ["9 Mbit/s"]\n'
        '"links.core.conditioners.0.ar_meter.size" = ["40 kB"]\n'
        '"links.core.conditioners.1.sr_meter.rate" = ["9 Mbit/s"]\n'
    )
    document = forebay("sweep", path, "--out", tmp_path / "o", "--json").document()
    assert [row["mean"] for row in document["summary"]] == [1.0, 0.0]
    path.write_text(path.read_text().replace("blocking_ratio", "blocking_ration"))
    message = forebay.refused("sweep", path, "--out", tmp_path / "p")
    assert 'did you mean "blocking_ratio"' in message
    path.write_text(
        path.read_text().replace("calls.phones.blocking_ration", "calls.phone.blocking")
    )
    assert "video[1], phones" in forebay.refused("sweep", path, "--out", tmp_path / "p")


def test_a_sweep_is_what_single_runs_are(
    forebay: front.Forebay, sweep: Path, scenario: Path, tmp_path: Path
) -> None:
    """A point of a sweep is the single run with the same options."""
    forebay("sweep", sweep, "--out", tmp_path / "o")
    single = forebay(
        "run", scenario, "--json", "--replication", "2", "--until", "3 s",
        "--set", "links.wire.rate=5 Mbit/s",
    ).document()  # fmt: skip
    assert single["digest"] in {run["digest"] for run in kept(tmp_path / "o")}


def test_threads_change_nothing(forebay: front.Forebay, sweep: Path, tmp_path: Path) -> None:
    """The results of a sweep are the same for any number of jobs."""
    one = forebay("sweep", sweep, "--out", tmp_path / "a", "--json", "--jobs", "1").document()
    two = forebay("sweep", sweep, "--out", tmp_path / "b", "--json", "--jobs", "3").document()
    assert one == two


def test_only_what_is_missing_is_run(forebay: front.Forebay, sweep: Path, tmp_path: Path) -> None:
    """Only the runs that are missing are made: an interrupted sweep is completed, and runs that are
    kept are used."""
    out = tmp_path / "o"
    whole = forebay("sweep", sweep, "--out", out, "--json").document()
    with closing(sqlite3.connect(out / "runs.sqlite")) as database, database:
        database.execute("DELETE FROM runs WHERE id > 5")
    five = kept(out)
    assert len(five) == 5
    again = forebay("sweep", sweep, "--out", out, "--json").document()
    assert again == whole
    # Wall-clock times never repeat: equal ones show that the five were not run again.
    assert kept(out)[:5] == five
    assert len(kept(out)) == 12
    before = kept(out)
    assert forebay("sweep", sweep, "--out", out, "--resume").status == 0
    assert kept(out) == before


def test_no_option_empties_a_folder_with_results(
    forebay: front.Forebay, sweep: Path, tmp_path: Path
) -> None:
    """No option empties a folder with results: `--fresh` moves what is there aside."""
    out = tmp_path / "o"
    assert "no such file" in forebay.refused("sweep", sweep, "--out", out, "--resume")
    assert not out.exists()
    forebay("sweep", sweep, "--out", out)
    (out / "notes.txt").write_text("mine")
    first = kept(out)
    for number in (1, 2):
        answer = forebay("sweep", sweep, "--out", out, "--fresh")
        assert answer.status == 0
        assert answer.err == f"forebay: what was in {out} is now in {out}.{number}\n"
        assert not (out / "notes.txt").exists()
    assert kept(tmp_path / "o.1") == first
    assert (tmp_path / "o.1/notes.txt").read_text() == "mine"
    assert len(kept(tmp_path / "o.2")) == len(kept(out)) == 12
    assert "--fresh" in forebay.refused("sweep", sweep, "--out", out, "--fresh", "--resume")


def test_runs_of_other_builds_and_versions_are_kept_apart(
    forebay: front.Forebay, sweep: Path, tmp_path: Path
) -> None:
    """Runs of other builds and journals of other versions are kept and not used, and it is said."""
    out = tmp_path / "o"
    whole = forebay("sweep", sweep, "--out", out, "--json").document()
    with closing(sqlite3.connect(out / "runs.sqlite")) as database, database:
        database.execute("UPDATE runs SET build = 'other' WHERE id <= 7")
    others = kept(out)[:7]
    (out / "runs.jsonl").write_text("{}\n")
    answer = forebay("sweep", sweep, "--out", out, "--json")
    assert answer.document() == whole
    assert "7 runs of build other are kept, and not used" in answer.err
    assert "runs.jsonl: a journal of an older version is kept, and not used" in answer.err
    assert len(kept(out)) == 19
    assert kept(out)[:7] == others
    assert (out / "runs.jsonl").read_text() == "{}\n"


def test_a_damaged_record_is_made_again(
    forebay: front.Forebay, sweep: Path, tmp_path: Path
) -> None:
    """A record with a flipped bit is made again, and it is said."""
    out = tmp_path / "o"
    whole = forebay("sweep", sweep, "--out", out, "--json").document()
    scenario_hash = kept(out)[3]["scenario_hash"]
    for column in ("document", "clock", "checksum"):
        with closing(sqlite3.connect(out / "runs.sqlite")) as database, database:
            # One bit of one byte.
            (old,) = database.execute(f"SELECT {column} FROM runs WHERE id = 4").fetchone()
            new = bytes([*old[:7], old[7] ^ 1, *old[8:]])
            database.execute(f"UPDATE runs SET {column} = ? WHERE id = 4", (new,))
        answer = forebay("sweep", sweep, "--out", out, "--json")
        assert answer.document() == whole
        assert answer.err.count("\n") == 1
        assert f"runs.sqlite: the record of scenario {scenario_hash}, seed 1, " in answer.err
        assert "is damaged (its checksum differs); the run is made again" in answer.err
        with closing(sqlite3.connect(out / "runs.sqlite")) as database, database:
            # The run made again has the last number.
            database.execute("UPDATE runs SET id = 4 WHERE id = (SELECT max(id) FROM runs)")
    assert len(kept(out)) == 12


def test_files_of_others_are_not_replaced(
    forebay: front.Forebay, sweep: Path, tmp_path: Path
) -> None:
    """A file in the folder that is not listed in the manifest is not replaced: the sweep is
    refused."""
    out = tmp_path / "o"
    out.mkdir()
    (out / "runs.parquet").write_text("mine")
    message = forebay.refused("sweep", sweep, "--out", out)
    assert f"{out / 'runs.parquet'} is there and not listed in manifest.json" in message
    assert [path.name for path in out.iterdir()] == ["runs.parquet"]


def test_what_is_made_of_the_runs_is_made_again_if_it_is_damaged(
    forebay: front.Forebay, sweep: Path, tmp_path: Path
) -> None:
    """Files that are made of the runs are made again if they are damaged, and left alone if they
    are not."""
    out = tmp_path / "o"
    assert forebay("sweep", sweep, "--out", out).status == 0
    names = ("runs.parquet", "summary.parquet", "sweep.json", "report.html")
    contents = {name: (out / name).read_bytes() for name in names}
    # Nothing is written again that is as it should be.
    times = {name: (out / name).stat().st_mtime_ns for name in names}
    assert forebay("sweep", sweep, "--out", out).status == 0
    assert {name: (out / name).stat().st_mtime_ns for name in names} == times
    for name in names:
        (out / name).write_bytes(contents[name][:-9])
        assert forebay("sweep", sweep, "--out", out).status == 0
        assert (out / name).read_bytes() == contents[name]
    sweep.write_text(sweep.read_text().replace("replications = 3", "replications = 2"))
    assert forebay("sweep", sweep, "--out", out, "--json").document()["runs"] == 8


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("replications = 3", "replicatons = 3", 'did you mean "replications"'),
        ("replications = 3", "replications = 0", "replications: read 0"),
        ("replications = 3", 'replications = "3"', "replications: read '3'"),
        ('scenario = "small.toml"', "", "scenario: missing"),
        ("small.toml", "smal.toml", "small.toml"),
        ('["2 s", "3 s"]', '"2 s"', "a list of values"),
        ('["2 s", "3 s"]', "[]", "a list of values"),
        ('["2 s", "3 s"]', "[2]", "has no unit"),
        ("links.wire.rate", "links.wire.rte", 'did you mean "rate"'),
        ("flows.chatter.throughput_bps", "flows.chater.throughput_bps", "chatter"),
        ("flows.chatter.throughput_bps", "flows.chatter.througput_bps", "throughput_bps"),
        ("links.wire.utilization", "utilization", "links.NAME.utilization"),
        ("links.wire.utilization", "rings.wire.utilization", "no ring 'wire'; there are none"),
        ("[grid]", "[grid", "not valid TOML"),
        ("replications = 3", "replications = 2020-01-01", "replications: read the date 2020-01-01"),
        ('["2 s", "3 s"]', "[07:30:00]", "grid.duration[0]: read the time 07:30:00"),
        ("replications = 3", "replications = 9000000", "asks for 36000000 runs"),
        ("replications = 3", "seed = 9223372036854775808", "seed: read 9223372036854775808"),
        ('["2 s", "3 s"]', "[" * 20000, "nested too deeply"),
    ],
)
def test_wrong_sweeps_are_refused(
    forebay: front.Forebay, sweep: Path, tmp_path: Path, old: str, new: str, expected: str
) -> None:
    """Wrong sweeps are refused before any run."""
    assert old in SWEEP
    sweep.write_text(SWEEP.replace(old, new))
    assert expected in forebay.refused("sweep", sweep, "--out", tmp_path / "o")
    assert kept(tmp_path / "o") == []


@pytest.mark.parametrize("name", ["locl", "dask", "dask:", "local:4"])
def test_unknown_executors_are_refused(forebay: front.Forebay, sweep: Path, name: str) -> None:
    """An unknown executor is refused with those that there are."""
    message = forebay.refused("sweep", sweep, "--executor", name, "--out", sweep.parent / "o")
    assert "dask:ADDRESS" in message
