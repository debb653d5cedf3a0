"""Single files that commands write: what stands in their places is not lost by a slip."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import front
import pytest

from forebay.errors import UserError
from forebay.run.outputs import CAPTURE, FLENT, NS2, SCRIPT, Output, refuse_losses

SERIES = ("--set", "record.series=100ms")
TRACE = ("--set", "record.trace=1000")
CASES: dict[str, Callable[[Path], Sequence[object]]] = {
    "linux": lambda file: ("linux", "small.toml", "--out", file),
    "link": lambda file: ("linux", "small.toml", "--link", "wire", "--dev", "eth0", "--out", file),
    "flent": lambda file: ("run", "small.toml", *SERIES, "--flent", file),
    "ns2": lambda file: ("run", "small.toml", *TRACE, "--ns2", file),
    "capture": lambda file: ("run", "small.toml", "--until", "2 s", "--capture", f"wire={file}"),
}
"""Commands that write a file, by what it is."""

every_output = pytest.mark.parametrize("command", CASES.values(), ids=CASES)


@pytest.fixture(autouse=True)
def beside(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the scenario, in which commands are called."""
    monkeypatch.chdir(scenario.parent)
    return scenario.parent


@every_output
def test_what_a_command_reads_is_not_replaced(
    command: Callable[[Path], Sequence[object]], forebay: front.Forebay, scenario: Path
) -> None:
    """A file that a command reads is not replaced, whatever path leads there and even if foreign
    files may be replaced."""
    before = scenario.read_bytes()
    data = scenario.parent / "rates.csv"
    data.write_text("time_s,rate_bps\n0,1e7\n", encoding="utf-8")
    Path("link.toml").symlink_to("small.toml")
    for name in ("small.toml", "./small.toml", "link.toml", str(scenario)):
        for force in ((), ("--force",)):
            assert "is read or written by this command" in forebay.refused(
                *command(Path(name)), *force
            )
    words = command(data)
    if words[0] == "run":
        schedule = ("--set", "links.wire.schedule=rates.csv")
        told = forebay.refused(*words, *schedule, "--force")
        assert "is read or written by this command" in told
    assert scenario.read_bytes() == before
    assert data.read_text(encoding="utf-8").startswith("time_s")


@every_output
def test_a_file_of_others_stays_until_force_is_said(
    command: Callable[[Path], Sequence[object]], forebay: front.Forebay
) -> None:
    """A file of others stays until `--force` is given; a file that the same command has written is
    replaced without."""
    file = Path("notes")
    file.write_text("of value\n" * 3, encoding="utf-8")
    told = forebay.refused(*command(file))
    assert "notes: is there and is not a" in told or "notes: is there and is not data" in told
    assert "--force" in told
    assert file.read_text(encoding="utf-8") == "of value\n" * 3
    assert forebay(*command(file), "--force").status == 0
    first = file.read_bytes()
    assert first[:8] != b"of value"
    # What is there is its own now.
    assert forebay(*command(file)).status == 0
    assert file.read_bytes() == first
    # That of another command is not.
    for other in CASES.values():
        if other is not command and not (command(file)[0] == other(file)[0] == "linux"):
            assert "is there and is not" in forebay.refused(*other(file))


def test_two_outputs_have_two_files(forebay: front.Forebay) -> None:
    """Two outputs have two files: a second one for the same file is refused."""
    both = ("run", "small.toml", "--until", "2 s", "--capture", "wire=x.pcapng", "--capture")
    told = forebay.refused(*both, "wire.reverse=./x.pcapng")
    assert "--capture: link wire.reverse: x.pcapng: is what --capture: link wire writes" in told
    both = ("run", "small.toml", *SERIES, *TRACE, "--flent", "x", "--ns2", "x")
    assert "is what --flent writes, too" in forebay.refused(*both)
    both = ("run", "small.toml", *TRACE, "--out", "kept", "--ns2", "kept/run.json")
    assert "kept/run.json: is read or written by this command" in forebay.refused(*both)
    assert not Path("x").exists()
    assert not Path("x.pcapng").exists()


def test_a_file_is_replaced_as_a_whole(
    forebay: front.Forebay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is replaced as a whole: a full disk leaves the old one, not half of a new one."""
    command = CASES["linux"](Path("script.sh"))
    assert forebay(*command).status == 0
    before = Path("script.sh").read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert forebay(*command).status == 1
    assert Path("script.sh").read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["script.sh", "small.toml"]


def test_links_and_pipes_are_written_through(forebay: front.Forebay) -> None:
    """Links and pipes are written through: `--out /dev/stdout` works, and the file that a link
    leads to is the one that changes."""
    Path("there.sh").write_text("", encoding="utf-8")
    Path("link.sh").symlink_to("there.sh")
    assert forebay(*CASES["linux"](Path("link.sh"))).status == 0
    assert Path("link.sh").is_symlink()
    assert Path("there.sh").read_text(encoding="utf-8").startswith("#!/bin/sh")
    words = [sys.executable, "-m", "forebay", *map(str, CASES["linux"](Path("/dev/stdout")))]
    piped = subprocess.run(words, check=True, capture_output=True, text=True)
    assert piped.stdout == Path("there.sh").read_text(encoding="utf-8")


def test_a_place_that_is_no_file_is_refused_before_the_run(tmp_path: Path) -> None:
    """A folder, or a path through a file, is refused as output before the run."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "file" / "x", "is a file, not")):
        for kind in (SCRIPT, FLENT, NS2, CAPTURE):
            with pytest.raises(UserError, match=words):
                refuse_losses([Output("--out", path, kind)], [])
    with pytest.raises(UserError, match="there is no such folder"):
        refuse_losses([Output("--out", tmp_path / "gone" / "x", SCRIPT)], [])
    mode = stat.S_IMODE((tmp_path / "file").stat().st_mode)
    Output("--out", tmp_path / "file", SCRIPT).write(b"#!/bin/sh\n")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def test_a_report_of_others_stays(forebay: front.Forebay) -> None:
    """A report that Forebay did not write stays."""
    assert forebay("run", "small.toml", "--until", "2 s", "--out", "kept").status == 0
    page = Path("kept/report.html")
    page.write_text("<h1>By hand</h1>", encoding="utf-8")
    assert "report.html: is there and is not a report" in forebay.refused("report", "kept")
    assert page.read_text(encoding="utf-8") == "<h1>By hand</h1>"
    page.unlink()
    assert forebay("report", "kept").status == 0
    assert forebay("report", "kept").status == 0
    shutil.copytree("kept", "again")
    Path("again/report.html").write_text("<p>", encoding="utf-8")
    assert "move it away" in forebay.refused("report", "again")
