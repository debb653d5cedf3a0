"""Interrupted, terminated, killed: what `reproduce` leaves, and that `--resume` completes it."""

# ruff: noqa: TID251 (waits no longer than for a time)

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import weakref
from contextlib import closing
from pathlib import Path
from typing import Any

import front
import pytest
from test_cli_reproduce import KEEPING
from test_comparison import write_extensions
from test_plan import without_time

from forebay.run.interrupts import raise_if_interrupted, terminated_like_interrupted
from forebay.run.progress import Meter

pytestmark = [pytest.mark.long, pytest.mark.skipif(os.name == "nt", reason="signals differ")]

# Ends itself like a process that the system kills: nothing is closed or written out after that.
KILLED = """
import os, signal, sys
from forebay.run.journal import Journal
from forebay.cli.commands import main

where, moment = sys.argv[1], int(sys.argv[2])
count = 0

def struck():
    global count
    count += 1
    return count == moment

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def after(function):
    def wrapped(*arguments):
        function(*arguments)
        struck() and die()
    return wrapped

def before(function):
    def wrapped(*arguments):
        struck() and die()
        return function(*arguments)
    return wrapped

def half(self, statement, *values):
    number = insert(self, statement, *values)
    if statement.startswith("INSERT INTO runs") and struck():
        die()
    return number

insert = Journal._insert
if where == "run":
    Journal.keep = after(Journal.keep)
elif where == "record":
    Journal._insert = half
elif where == "file":
    os.replace = before(os.replace)
raise SystemExit(main(sys.argv[3:]))
"""


Results = tuple[dict[str, Any], dict[str, Any]]
THROUGH: dict[tuple[str, ...], Results] = {}


@pytest.fixture
def study(tiny: Path) -> Path:
    """The tiny study with recordings, a sensitivity run and a comparison; its folder."""
    write_extensions(tiny)
    with (tiny / "study.py").open("a") as file:
        file.write(KEEPING.replace("RECORDINGS = [", "RECORDINGS += ["))
    return tiny


def killed(where: str, moment: int, *words: object) -> None:
    """Run the command line, which is killed at that moment."""
    command = [sys.executable, "-c", KILLED, where, moment, *words]
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done


def whole(folder: Path) -> Results:
    """Result and tables in a folder; all its files can be read."""
    from forebay.run.store import read_tables

    tables = {name: table.to_pydict() for name, table in read_tables(folder).items()}
    assert tables.keys() >= {"two/series/links.wire"}
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    return without_time(folder / "result.json"), tables


def through(forebay: front.Forebay, *options: str) -> Results:
    """Returns what the study gives with these options if nothing stops it."""
    if options not in THROUGH:
        assert forebay("reproduce", "tiny", *options, "--out", "through").status == 0
        THROUGH[options] = whole(Path("through"))
    return THROUGH[options]


@pytest.mark.parametrize(
    ("where", "moment"),
    [
        # 2 recordings, 6 runs of grid points or more, 2 of the variant, 24 of the comparison.
        *(("run", moment) for moment in (1, 2, 6, 10, 33)),
        *(("record", moment) for moment in (1, 20)),
        # result.json, claims.csv, runs.parquet, the manifest, 4 tables, report.html, README.md,
        # results.md.
        *(("file", moment) for moment in (1, 2, 4, 6, 8, 10)),
    ],
)
def test_a_killed_study_is_completed(
    forebay: front.Forebay, study: Path, where: str, moment: int
) -> None:
    """A killed study is completed by `--resume`, and is then equal to one that ran through."""
    killed(where, moment, "reproduce", "tiny", "--out", "cut", "--jobs", "1")
    if where == "run":
        assert front.runs_kept(Path("cut")) == moment
    for path in Path("cut").glob("*.json"):
        json.loads(path.read_text())
    assert forebay("reproduce", "tiny", "--out", "cut", "--resume").status == 0
    assert whole(Path("cut")) == through(forebay)


@pytest.mark.parametrize("options", [("--quick",), ("--claims", "t1/*"), ("--replications", "4")])
def test_every_kind_of_run_is_completed(
    forebay: front.Forebay, study: Path, options: tuple[str, ...]
) -> None:
    """Every kind of run is completed, a part of a study as the whole."""
    killed("run", 5, "reproduce", "tiny", *options, "--out", "cut")
    assert forebay("reproduce", "tiny", *options, "--out", "cut", "--resume").status == 0
    assert whole(Path("cut")) == through(forebay, *options)


def test_finished_runs_are_not_made_again(
    forebay: front.Forebay, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finished runs are not made again with `--resume`; without it all are."""
    from forebay.run import jobs as runs

    assert forebay("reproduce", "tiny").status == 0
    every = front.runs_kept(Path("out/tiny"))
    made: list[str] = []

    def counted(jobs: Any, *others: Any) -> None:
        made.extend(job.name for job in jobs)
        runs.run_jobs(jobs, *others)

    monkeypatch.setattr("forebay.study.runs.run_jobs", counted)
    assert forebay("reproduce", "tiny", "--resume").status == 0
    assert made == []
    assert forebay("reproduce", "tiny").status == 0
    assert len(made) == every == front.runs_kept(Path("out/tiny"))


RECORDINGS, POINTS, VARIANT, COMPARISON = 2, 4, 2, 12
"""Runs of the tiny study with two replications: of 2 grid points, of the sensitivity run at one,
and of 3 designs in 2 cases."""


MEASURES = """
from forebay_studies.tiny import scale

UNIT = 1.0
THRESHOLDS = {}
PER_BIT = {}
for number in range(1):
    PER_BIT[number] = 1.0
"""
MEASURED = '2 * scale.HALF * UNIT * PER_BIT[0] * run.group("noise")'
"""Parts of the throughput in a study of more than one module."""


@pytest.mark.parametrize(
    ("name", "old", "new", "again"),
    [
        ("predicates.py", "surely_less(run", "surely_greater(run", 0),
        ("paper.toml", "9.99", "9.98", 0),
        ("sensitivity.toml", "To see it halve.", "To see.", 0),
        ("extensions.toml", "Half & whole", "Half and whole", 0),
        ("extensions.toml", 'label = "nominal"', 'label = "as asked"', 0),
        ("extensions.py", "return False", "return not True", 0),
        ("study.py", 'title="Queue"', 'title="The queue"', 0),
        ("study.py", "THRESHOLDS = {}", "THRESHOLDS = {1: 2}", 0),
        ("study.py", "def quantities(run, point):", "def quantities(run, point):  # SI", 0),
        ("study.py", "UNIT = 1.0", "UNIT = 2.0", POINTS + VARIANT),
        (
            "study.py",
            "PER_BIT[number] = 1.0",
            "PER_BIT[number] = 0.5",
            RECORDINGS + POINTS + VARIANT,
        ),
        ("scale.py", "HALF = 0.5", "HALF = 0.25", POINTS + VARIANT),
        ("scale.py", "OTHER = 1", "OTHER = 2", 0),
        ("study.py", "[1:].mean()", "[2:].mean()", RECORDINGS),
        ("scenario.toml", '"2 Mbit/s", size', '"2000 kbit/s", size', 0),
        ("extensions.py", '1e6 * case["rate_mbps"]', '1e3 * case["rate_mbps"]', COMPARISON),
        ("extensions.toml", 'metrics = ["got_bps", ', "metrics = [", 0),
        ("sensitivity.toml", '"1 Mbit/s"', '"1.5 Mbit/s"', VARIANT),
    ],
)
def test_what_a_change_throws_away(
    forebay: front.Forebay,
    study: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    old: str,
    new: str,
    again: int,
) -> None:
    """A change discards the runs that it concerns and no others: an altered judgement discards
    none, altered measuring code those that it measured."""
    from forebay.run import jobs as runs

    (study / "scale.py").write_text("HALF = 0.5\nOTHER = 1\n")
    module = study / "study.py"
    text = module.read_text().replace('run.group("noise")', MEASURED, 1)
    module.write_text(MEASURES + text)
    assert forebay("reproduce", "tiny", "--replications", "2").status == 0
    made: list[str] = []

    def counted(jobs: Any, *others: Any) -> None:
        made.extend(job.name for job in jobs)
        runs.run_jobs(jobs, *others)

    monkeypatch.setattr("forebay.study.runs.run_jobs", counted)
    path = study / name
    assert path.read_text().count(old) == 1, path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert forebay("reproduce", "tiny", "--replications", "2", "--resume").status == 0
    assert len(made) == again


def test_a_lost_table_comes_back(forebay: front.Forebay, study: Path) -> None:
    """A lost table is made again when the study is resumed."""
    assert forebay("reproduce", "tiny").status == 0
    Path("out/tiny/tables/kept/wire.parquet").unlink()
    assert forebay("reproduce", "tiny", "--resume").status == 0
    assert whole(Path("out/tiny")) == through(forebay)


def test_more_replications_take_those_that_are_there(forebay: front.Forebay, study: Path) -> None:
    """More replications take those that are there, such as those of a quick look."""
    assert forebay("reproduce", "tiny", "--quick").status == 0
    few = front.runs_kept(Path("out/tiny"))
    assert forebay("reproduce", "tiny", "--replications", "4", "--resume").status == 0
    assert few < front.runs_kept(Path("out/tiny"))
    assert whole(Path("out/tiny")) == through(forebay, "--replications", "4")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_publishes_what_is_finished(
    forebay: front.Forebay, tiny: Path, number: signal.Signals
) -> None:
    """A signal publishes what is finished and says how to continue.

    Of the sensitivity run, the last, each run takes hours: when the journal has the 3 replications
    of 2 points and the recording, nothing else ends.
    """
    path = tiny / "sensitivity.toml"
    old, slow = '"1 Mbit/s" }', '"1 Mbit/s", duration = "8000000 s" }'
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, slow))
    command = [sys.executable, "-m", "forebay", "reproduce", "tiny", "--jobs", "1"]
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until = time.monotonic() + 120
    with child:
        try:
            while front.runs_kept(Path("out/tiny")) < 7:
                assert time.monotonic() < until
                assert child.poll() is None
                time.sleep(0.05)
            child.send_signal(number)
            out, err = child.communicate(timeout=120)
        finally:
            child.kill()
    assert child.returncode == 130, err
    assert "interrupted: judged by the runs that had finished" in out
    again = "forebay reproduce tiny --jobs 1 --resume"
    hint = f"forebay: interrupted; finished runs are in out/tiny; to continue: {again}"
    assert err.strip() == hint
    document = json.loads(Path("out/tiny/result.json").read_text())
    assert document["stopped"] == "interrupted"
    assert document["runs"] == 6
    # The sensitivity run is another one, and all that had finished is there.
    path.write_text(path.read_text().replace(slow, old))
    answer = forebay("reproduce", "tiny", "--resume")
    assert answer.status == 0
    assert forebay("reproduce", "tiny", "--out", "through").status == 0
    results = [without_time(Path(name) / "result.json") for name in ("out/tiny", "through")]
    assert results[0] == results[1]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_whose_exception_is_lost_still_ends_a_run(number: signal.Signals) -> None:
    """A signal whose exception Python drops still ends a run: in a callback of a weak reference, as
    the import system has them."""
    # A shell lets what it starts in the background ignore Ctrl-C, and so this test.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with terminated_like_interrupted():
            gone = threading.Event()
            watched = weakref.ref(gone, lambda _: signal.raise_signal(number))
            del gone
            assert watched() is None
            with pytest.raises(KeyboardInterrupt):
                Meter(2, "two runs").tick([0.5, 0.0])
        assert signal.getsignal(number) == signal.SIG_DFL
        raise_if_interrupted()
    finally:
        signal.signal(number, before)


def test_all_studies_go_on_where_they_were(forebay: front.Forebay, study: Path) -> None:
    """All studies continue where they were, and those that were not begun begin; with none begun
    there is nothing to resume."""
    twin = front.write_study(study.parent / "later")
    twin.rename(study.parent / "twin")
    paper = study.parent / "twin" / "paper.toml"
    paper.write_text(paper.read_text().replace('"tiny"', '"twin"'))
    (study.parent / "later").rmdir()
    assert "no such file" in forebay.refused("reproduce", "all", "--resume")
    # The first study has 4 runs of grid points, 6 of a comparison and 2 recordings.
    killed("run", 14, "reproduce", "all", "--quick", "--out", "cut")
    assert not Path("cut/twin/result.json").exists()
    assert forebay("reproduce", "all", "--quick", "--out", "cut", "--resume").status == 0
    assert forebay("reproduce", "all", "--quick", "--out", "through").status == 0
    for name in ("tiny", "twin"):
        assert without_time(Path("cut") / name / "result.json") == without_time(
            Path("through") / name / "result.json"
        )


def test_wrong_journals_are_refused(forebay: front.Forebay, study: Path) -> None:
    """Wrong journals are refused: runs of something else are not taken for this study's."""
    resume = ("reproduce", "tiny", "--resume", "--out", "results")
    journal = Path("results/runs.sqlite")
    message = forebay.refused(*resume)
    assert f"{journal}: no such file" in message
    assert "forebay reproduce tiny makes all runs anew" in message
    assert forebay("reproduce", "tiny", "--quick", "--out", "results").status == 0
    whole = journal.read_bytes()
    for change, what in (
        (
            "UPDATE runs SET part = replace(part, '\"tiny\"', '\"other\"')",
            'study "other"; allowed is',
        ),
        ("UPDATE OR REPLACE runs SET part = ''", 'study "a sweep"; allowed is "tiny"'),
        ("UPDATE runs SET build = 'other'", "build other of the engine; this is "),
        ("PRAGMA user_version = 7", "a journal of format 7; this version reads 1"),
        ("PRAGMA application_id = 7", "not a journal of runs"),
    ):
        with closing(sqlite3.connect(journal)) as database, database:
            database.execute(change)
        before = journal.read_bytes()
        message = forebay.refused(*resume)
        assert str(journal) in message
        assert what in message
        # What is refused is left as it is, but for who had it open.
        assert len(journal.read_bytes()) == len(before)
        journal.write_bytes(whole)
    for damaged in (b"x\n" * 400, whole[:5000], b"SQLite format 3\0" + whole[16:][::-1]):
        journal.write_bytes(damaged)
        assert f"{journal}: damaged" in forebay.refused(*resume)
    journal.write_bytes(whole)
    scenario = study / "scenario.toml"
    scenario.write_text(scenario.read_text().replace('"60 s"', '"61 s"'))
    assert "study's files" in forebay.refused(*resume)
    journal.unlink()
    journal.with_name("journal.jsonl").write_text("{}\n")
    assert "journal.jsonl is of another format" in forebay.refused(*resume)


def test_a_damaged_record_is_made_again(forebay: front.Forebay, study: Path) -> None:
    """A damaged record is made again: a flipped bit on a disk never becomes a digit of a result, or
    a figure."""
    assert forebay("reproduce", "tiny").status == 0
    before = whole(Path("out/tiny"))
    with closing(sqlite3.connect("out/tiny/runs.sqlite")) as database, database:
        facts = "replace(CAST(document AS TEXT), '\"seed\":1', '\"seed\":2')"
        database.execute(f"UPDATE runs SET document = CAST({facts} AS BLOB) WHERE id = 3")
        first = "(SELECT min(run) FROM tables)"
        database.execute(f"UPDATE tables SET content = substr(content, 2) WHERE run = {first}")
    answer = forebay("reproduce", "tiny", "--resume")
    assert answer.status == 0
    assert answer.err.count("is damaged (its checksum differs); the run is made again") == 2
    assert whole(Path("out/tiny")) == before
    assert forebay("reproduce", "tiny", "--resume").err == ""
