"""Messages of failures: one line that names the file and the place, and an exit status that tells
whose fault it is: 2 the user's, 1 the machine's."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import front
import pytest

from forebay.errors import printable
from forebay.run import locks
from forebay.run.journal import Journal

SWEEP = """
scenario = "small.toml"
replications = 2
quantities = ["events"]
[grid]
links.wire.rate = ["5 Mbit/s", "10 Mbit/s"]
"""
FOREBAY = f"{shlex.quote(sys.executable)} -m forebay"


@pytest.fixture
def sweep(scenario: Path) -> Path:
    """A sweep of four runs."""
    path = scenario.parent / "sweep.toml"
    path.write_text(SWEEP)
    return path


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of shell in which `forebay` is the command."""
    line = line.replace("forebay ", f"{FOREBAY} ", 1)
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True,
                          check=False)  # fmt: skip


def test_what_a_terminal_would_act_upon_is_escaped(
    forebay: front.Forebay, tmp_path: Path, sweep: Path
) -> None:
    """Control characters in names are escaped: a name neither paints over a message nor passes for
    a line of ours."""
    name = "no\nsuch\x1b[31m\u202e\x85.toml"
    for words in (("check", name), ("run", tmp_path / name), ("sweep", name), ("report", name),
                  (name,), ("reproduce", name), ("mechanisms", name), ("bench", name),
                  ("run", sweep, "--seed", name), ("sweep", sweep, "--executor", name),
                  ("sweep", sweep, "--out", tmp_path / name / "x" / ("y" * 300))):  # fmt: skip
        message = forebay.refused(*words)
        assert message.count("\n") == 1, words
        assert "no\\nsuch\\x1b[31m\\u202e\\x85" in message, words
        assert message.strip().isprintable()
    assert printable("plain ± text") == "plain ± text"


def test_output_needs_a_name(forebay: front.Forebay, scenario: Path, sweep: Path) -> None:
    """Output needs a name: `--out "$UNSET"` writes nothing into the current folder."""
    for words in (("run", scenario), ("sweep", sweep), ("reproduce", "af")):
        assert '--out: "": allowed' in forebay.refused(*words, "--out", "").replace('";', '":')
        assert "is a file" in forebay.refused(*words, "--out", scenario)


@pytest.mark.skipif(os.name == "nt", reason="a shell of another kind")
@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("forebay run small.toml | head -1; exit ${PIPESTATUS[0]}", (0, 1), ""),
        ("forebay mechanisms | true; exit ${PIPESTATUS[0]}", (0, 1), ""),
        ("forebay run small.toml >&-", (0,), ""),
        ("forebay run small.toml --json > /dev/full", (1,), "standard output: No space left"),
        ("forebay mechanisms > /dev/full", (1,), "standard output: No space left"),
        ("forebay run nothing.toml 2>&-", (2,), ""),
        ("forebay run nothing.toml 2> /dev/full", (2,), ""),
    ],
)
def test_output_that_goes_nowhere(
    scenario: Path, line: str, status: tuple[int, ...], message: str
) -> None:
    """Output to a closed pipe or a full disk ends without a traceback."""
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    done = shell(line, scenario.parent)
    assert done.returncode in status, done
    assert done.stderr.count("\n") == bool(message)
    assert message in done.stderr


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid"), reason="other permissions")
def test_folders_that_may_not_be_written_to(scenario: Path, sweep: Path, tmp_path: Path) -> None:
    """Folders that may not be written to are refused in one line, without a traceback."""
    (tmp_path / "full").mkdir()
    assert shell(f"forebay sweep {sweep} --out full", tmp_path).returncode == 0
    for path in [*(tmp_path / "full").iterdir(), tmp_path / "full"]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    (tmp_path / "empty").mkdir(mode=0o555)
    plain: list[str] = []
    if os.geteuid() == 0:
        # To root all is allowed, but without these rights root is a user like others.
        plain = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
        if shutil.which(plain[0]) is None:
            pytest.skip("needs setpriv")
    for words, place in (
        (("run", scenario, "--out", "empty"), "--out: empty cannot be written to: Permission"),
        (("sweep", sweep, "--out", "empty"), "--out: empty cannot be written to: Permission"),
        (("sweep", sweep, "--out", "full"), "--out: full cannot be written to: Permission"),
        (("report", "full"), "report: full cannot be written to: Permission denied"),
    ):
        command = [*plain, sys.executable, "-m", "forebay", *map(str, words)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True,
                              check=False)  # fmt: skip
        assert (done.returncode, done.stdout) == (2, ""), done
        assert done.stderr.startswith(f"forebay: error: {place}")
        assert done.stderr.count("\n") == 1
    (tmp_path / "full").chmod(0o755)


def test_a_run_replaces_only_what_it_wrote(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """A run replaces only what it wrote: files and tables of the user's stay, and are named."""
    scenario.write_text(scenario.read_text() + "[record]\ndelays = true\n")
    out = tmp_path / "out"
    assert forebay("run", scenario, "--out", out).status == 0
    assert forebay("run", scenario, "--out", out, "--seed", "2").status == 0
    assert (out / "tables/delays.parquet").exists()
    (out / "notes.txt").write_text("mine")
    scenario.write_text(scenario.read_text().replace("delays = true", "delays = false"))
    assert forebay("run", scenario, "--out", out).status == 0
    # A table of ours that does not belong to this run is gone; nothing else is.
    assert not (out / "tables/delays.parquet").exists()
    assert (out / "notes.txt").read_text() == "mine"
    (out / "tables/mine.parquet").write_text("mine")
    message = forebay.refused("run", scenario, "--out", out)
    assert f"{out / 'tables/mine.parquet'} is there and not listed in manifest.json" in message
    (out / "tables/mine.parquet").unlink()
    (out / "manifest.json").unlink()
    assert "run.json is there and not listed" in forebay.refused("run", scenario, "--out", out)
    (out / "run.json").unlink()
    # The scenario that is run may lie in the folder.
    (out / "scenario.toml").write_text(scenario.read_text())
    assert forebay("run", out / "scenario.toml", "--out", out).status == 0
    for damage in ("", "[]", '{"files": ["../run.json"]}', '{"files": "x"}', "\x00", "[" * 9999):
        (out / "manifest.json").write_text(damage)
        assert "manifest.json: damaged" in forebay.refused("run", scenario, "--out", out)


def test_damaged_journals_of_sweeps(forebay: front.Forebay, sweep: Path, tmp_path: Path) -> None:
    """A damaged journal of a sweep is refused, and neither taken for an empty one nor written
    over."""
    out = tmp_path / "out"
    assert forebay("sweep", sweep, "--out", out).status == 0
    journal = out / "runs.sqlite"
    whole = journal.read_bytes()
    for damage in (b"garbage" * 999, whole[:9000], whole[:100] + b"\xff" * 8000 + whole[8100:]):
        journal.write_bytes(damage)
        for option in ((), ("--resume",)):
            message = forebay.refused("sweep", sweep, "--out", out, *option)
            assert f"{journal}: damaged" in message
            assert "--fresh" in message
            assert message.count("\n") == 1
        assert journal.read_bytes() == damage
    journal.unlink()
    journal.mkdir()
    assert str(journal) in forebay.refused("sweep", sweep, "--out", out)
    assert forebay("sweep", sweep, "--out", out, "--fresh").status == 0
    # Begun and killed before there was anything in it.
    (out / "runs.sqlite").write_bytes(b"")
    assert forebay("sweep", sweep, "--out", out, "--resume").status == 0


def test_folders_on_a_network_get_another_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A folder on a network gets a log without shared memory, which machines do not share."""
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"disk / ext4 rw 0 0\nserver:/x {tmp_path}/a\\040b nfs4 rw 0 0\n"
        f"disk {tmp_path}/a\\040b/c ext4 rw 0 0\n"
    )
    for place, found in (
        ("", False),
        ("a b", True),
        ("a b/x", True),
        ("a b/c", False),
        ("a", False),
    ):
        assert locks.on_network(tmp_path / place, mounts) is found
    assert not locks.on_network(tmp_path, tmp_path / "none")
    for network, mode in ((True, "delete"), (False, "wal")):
        monkeypatch.setattr("forebay.run.journal.on_network", lambda _, found=network: found)
        with Journal(tmp_path), closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database:
            assert database.execute("PRAGMA journal_mode").fetchone() == (mode,)
        err = capfd.readouterr().err
        assert (
            "is on a network; the journal of runs is written with a rollback log" in err
        ) is network
        assert err.count("\n") == network


@pytest.mark.parametrize(
    ("name", "old", "new", "place"),
    [
        (
            "paper.toml",
            'date = "2000"',
            "date = 2000-01-01",
            "paper.date: read the date 2000-01",
        ),
        ("paper.toml", "[2.00, 9.99]", "[2020-01-01, 9.99]", "table[0].rows[0].values[0]: read"),
        ("sensitivity.toml", '"1 Mbit/s"', "2020-01-01T07:00:00Z", 'variant[0].set."flows.noise'),
        ("deviations.toml", '"not stated"', "07:32:00", "deviation[0].paper: read the time 07:32"),
        ("scenario.toml", '"10 Mbit/s"', "2020-01-01", "links.wire.rate"),
    ],
)
def test_dates_are_refused(
    forebay: front.Forebay, tiny: Path, name: str, old: str, new: str, place: str
) -> None:
    """Dates, which TOML has, are refused where a number or a word is meant, by file and place."""
    path = tiny / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    message = forebay.refused("reproduce", "tiny")
    assert place in message
    assert name in message
    if name == "paper.toml":
        assert "paper.toml" in forebay.refused("studies")
