"""Damage to the journal of runs: whatever it hits, no run is lost without a word."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import front
import pytest
from numpy.random import default_rng

from forebay.errors import UserError
from forebay.run.journal import JOURNAL, Journal, Key, Record

pytestmark = pytest.mark.long

SWEEP = """
scenario = "small.toml"
replications = 5
quantities = ["flows.chatter.throughput_bps"]

[grid]
duration = ["3 s", "4 s", "5 s"]
"""
RUNS = 15
KEYS = [Key(f"{2654435761 * point:016x}", 1, number) for point in range(4) for number in range(40)]
"""So many that their index has several pages."""
INDEX = "sqlite_autoindex_runs_1"


def record(key: Key) -> Record:
    """Record of a run, with contents that tell its key."""
    tables = {} if key.replication % 2 else {"queue": f"table of {key}".encode() * 9}
    return Record({"digest": f"{key}", "text": "y" * 300, "wall_s": 1.0, "setup_s": 0.1}, tables)


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    """The file of a journal with a record of each key."""
    with Journal(tmp_path) as journal:
        for key in KEYS:
            journal.keep(key, record(key))
    return (tmp_path / JOURNAL).read_bytes()


def continued(folder: Path) -> tuple[int, str]:
    """Make what a journal lacks, see that it then holds every run once and right; how many were
    made, and what it was refused with if it was."""
    try:
        with Journal(folder) as journal:
            lacking = [key for key in KEYS if not journal.holds(key)]
            for key in lacking:
                assert journal.claim(key)
                journal.keep(key, record(key))
            assert [journal.find(key) for key in KEYS] == [record(key) for key in KEYS]
            assert len(list(journal.dump())) == len(KEYS)
    except UserError as refused:
        return 0, str(refused)
    return len(lacking), ""


def index_pages(path: Path) -> tuple[int, list[int]]:
    """The size of a page of an SQLite database, and the pages of the index by which runs are found:
    its root, and what that points to (SQLite's file format, sections 1.3 and 1.6)."""
    with closing(sqlite3.connect(path)) as database:
        size = int(database.execute("PRAGMA page_size").fetchone()[0])
        asked = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        root = int(database.execute(asked, (INDEX,)).fetchone()[0])
    data = path.read_bytes()
    start = (root - 1) * size
    head = data[start : start + 12]
    if head[0] == 10:
        # A leaf: the index has one page.
        return size, [root]
    assert head[0] == 2
    pages = [root, int.from_bytes(head[8:12], "big")]
    for cell in range(int.from_bytes(head[3:5], "big")):
        at = start + 12 + 2 * cell
        place = start + int.from_bytes(data[at : at + 2], "big")
        pages.append(int.from_bytes(data[place : place + 4], "big"))
    return size, pages


def test_no_damage_to_an_index_loses_a_run(
    whole: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """No damage to an index loses a run: the journal is made anew of its sound records, and it is
    said.

    Three flipped bits in each quarter of each page of the index.
    """
    random = default_rng(13)
    path = tmp_path / JOURNAL
    size, pages = index_pages(path)
    assert len(pages) > 2
    mended = 0
    for page in pages:
        for quarter in range(4):
            damaged = bytearray(whole)
            for bit in random.integers(quarter * size * 2, (quarter + 1) * size * 2, 3):
                at = (page - 1) * size * 8 + int(bit)
                damaged[at // 8] ^= 1 << at % 8
            path.write_bytes(damaged)
            made, refused = continued(tmp_path)
            said = capfd.readouterr().err
            # Every record is sound: none is made again, and what was mended is said.
            assert (made, refused) == (0, ""), (page, quarter)
            mended += "is made anew of its 160 sound records" in said
            assert said == "" or "damaged" in said
            if said:
                kept = next(tmp_path.glob(f"{JOURNAL}.damaged.*"))
                assert len(kept.read_bytes()) == len(whole)
                kept.unlink()
    # Parts of a page hold nothing.
    assert mended > 2 * len(pages)


@pytest.mark.parametrize("bits", [1, 30])
def test_no_damage_to_a_journal_loses_a_run(
    whole: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str], bits: int
) -> None:
    """A run that is lost without a word leaves a mean over fewer runs than it says.

    Flipped bits anywhere: the run is found, or made again with a line that says so. The file is
    refused if its first page is hit, which holds the list of tables.
    """
    random = default_rng(bits)
    path = tmp_path / JOURNAL
    first_page = 8 * index_pages(path)[0]
    for _ in range(40):
        damaged = bytearray(whole)
        places = [int(at) for at in random.integers(0, 8 * len(damaged), bits)]
        for at in places:
            damaged[at // 8] ^= 1 << at % 8
        path.write_bytes(damaged)
        made, refused = continued(tmp_path)
        said = capfd.readouterr().err
        assert made == 0 or f"{path}: " in said
        assert refused == "" or (f"{path}: " in refused and min(places) < first_page)


def test_a_sweep_whose_index_is_damaged_says_so_and_has_all_runs(
    forebay: front.Forebay, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep whose index is damaged says so and has all runs, so that no mean is over four of five
    replications."""
    (scenario.parent / "sweep.toml").write_text(SWEEP)
    monkeypatch.chdir(scenario.parent)
    words = ("sweep", "sweep.toml", "--out", "out", "--json")
    assert (first := forebay(*words)).document()["runs"] == RUNS
    path = Path("out") / JOURNAL
    size, pages = index_pages(path)
    data = bytearray(path.read_bytes())
    # The last entry of the only page begins where the content of its cells does (section 1.6).
    at = (pages[0] - 1) * size
    at += int.from_bytes(data[at + 5 : at + 7], "big") + 20
    data[at] ^= 0x10
    path.write_bytes(data)
    answer = forebay(*words, "--resume")
    assert answer.status == 0
    assert answer.document() == first.document()
    assert f"{path}: damaged (" in answer.err
    assert f"is made anew of its {RUNS} sound records" in answer.err
    assert forebay(*words, "--resume").err == ""


def test_a_damaged_journal_in_use_is_left_alone(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged journal that another process uses is left alone: two processes do not write to two
    different files of one name."""
    path = tmp_path / JOURNAL
    size, pages = index_pages(path)
    damaged = bytearray(whole)
    damaged[(pages[-1] - 1) * size + 200] ^= 0xFF
    at = pages[-1] * size - 20
    damaged[at] ^= 0xFF
    path.write_bytes(damaged)
    # A lock is not seen by who holds it.
    monkeypatch.setattr("forebay.run.locks.Locks.held", lambda *_: True)
    with pytest.raises(UserError, match="another process is making runs there"):
        Journal(tmp_path)
    assert path.read_bytes() == bytes(damaged)


def test_a_run_that_vanishes_while_a_sweep_runs_is_said(
    forebay: front.Forebay, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that vanishes while a sweep runs is said, and the sweep fails: a summary of fewer runs
    than the grid has does not pass for the whole."""
    (scenario.parent / "sweep.toml").write_text(SWEEP)
    find: Callable[[Journal, Key], Record | None] = Journal.find

    def forgetful(journal: Journal, key: Key) -> Record | None:
        return None if key.replication == 3 else find(journal, key)

    monkeypatch.setattr(Journal, "find", forgetful)
    answer = forebay("sweep", scenario.parent / "sweep.toml", "--out", "out")
    assert answer.status == 1
    assert "3 of 15 runs were made and are not found there" in answer.err
