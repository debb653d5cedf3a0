"""Wrong input to the command as a user types it: `python -m forebay` in a process of its own.

Whatever is wrong, the command ends with exit status 2, says on stderr what was read and what is
allowed, prints nothing on stdout and never a traceback. What is wrong inside a scenario is tested
where scenarios are read (crates/scenario/tests); here it is files, folders, options and names.
"""

# ruff: noqa: TID251 (measures how long a command takes)

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import front
import pytest


def refused(*arguments: object, env: dict[str, str] | None = None) -> str:
    """The message of a command that must refuse its input."""
    command = [sys.executable, "-m", "forebay", *(str(argument) for argument in arguments)]
    done = subprocess.run(
        command,
        capture_output=True,
        timeout=60,
        env=None if env is None else {**os.environ, **env},
        check=False,
    )
    # Messages may quote bytes that are no text.
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert done.returncode == 2, (done.returncode, err[:2000])
    assert out == ""
    assert "Traceback" not in err
    assert "panicked" not in err
    assert err.startswith("forebay: error: ")
    assert len(err) < 5000, "a message, not the file"
    return err


COMMANDS = ["run", "check"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_file(command: str, scenario: Path) -> None:
    """A missing file is refused with its path, and with a path that is near it if there is one."""
    wrong = scenario.with_name("smal.toml")
    message = refused(command, wrong)
    assert f"{wrong}: no such file" in message
    assert str(scenario) in message
    assert "no such file" in refused(command, scenario.parent / "nowhere" / "small.toml")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_instead_of_a_file(command: str, scenario: Path) -> None:
    """A folder instead of a file is refused with the file in it that may be meant."""
    message = refused(command, scenario.parent)
    assert f"{scenario.parent}: is a folder" in message
    assert str(scenario) in message


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_in_the_place_of_a_folder(command: str, scenario: Path) -> None:
    """A path through a file is refused with the file that stands in place of a folder."""
    assert "is a file, not a folder" in refused(command, scenario / "small.toml")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["the file is empty", "duration, links and flows"]),
        (b"\n \n\t\n", ["the file is empty"]),
        (b'name = "caf\xe9"\n', ["line 1", "not UTF-8", "0xe9"]),
        (b'name = "x"\n\n\xff\xfe\x00', ["line 3", "not UTF-8", "0xff"]),
        ('name = "x"'.encode("utf-16"), ["line 1", "not UTF-8"]),
        (bytes(range(256)), ["not UTF-8"]),
        (b"\x00" * 1000, ["line 1", "not valid TOML"]),
        (b"PK\x03\x04\x14\x00", ["line 1", "not valid TOML"]),
        (b'{"duration": 5}', ["line 1", "not valid TOML"]),
        (b'duration = "5 s\n', ["line 1", "not valid TOML"]),
        (b"x = " + b"[" * 100_000, ["not valid TOML"]),
        (b"[" + b"a." * 100_000 + b"a]\n", ["not valid TOML", "nested too deeply"]),
        (b"x" * 10_000_000, ["line 1", "not valid TOML"]),
        (b'duration = "' + b"9" * 10_000_000 + b' s"\n', ["line 1", "duration"]),
        (b'duration = "5"\n', ["line 1: duration", "no unit", "2.5 ms"]),
        (b"duration = 5\n", ["line 1: duration", "no unit"]),
        (b'duration = "nan s"\n', ["line 1: duration", "not a duration"]),
        (b'\ndurration = "5 s"\n', ["line 2: durration", 'did you mean "duration"']),
    ],
)
def test_a_file_that_is_no_scenario(
    command: str, content: bytes, words: list[str], tmp_path: Path
) -> None:
    """A damaged or foreign file is refused in short time, with its path and what is wrong."""
    path = tmp_path / "wrong.toml"
    path.write_bytes(content)
    begun = time.monotonic()
    message = refused(command, path)
    assert time.monotonic() - begun < 20
    assert str(path) in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("nonsense", ["--set", "PATH=VALUE", "nonsense"]),
        ("=5", ["key path"]),
        ("links..rate=5", ['"links..rate" is not a key path']),
        ("links.wire.rate=10", ["links.wire.rate", "no unit", "from --set"]),
        ("links.wire.rate=10 ms", ['"ms"', "Mbit/s", "from --set"]),
        ("links.wire.rate=-1 Mbit/s", ["negative"]),
        ("links.wire.rate=0 bit/s", ["is zero"]),
        ("links.wire.rtae=1 Mbit/s", ['did you mean "rate"']),
        ("links.wire.queue=redd", ['did you mean "red"']),
        ("flows.bulk.count=0", ["flows.bulk.count", "is zero"]),
        ("flows.bulk.count=1.5", ["1.5 is not a whole number"]),
        ("flows.chatter.udp.header=nan", ["size"]),
        ("duration=", ["duration"]),
        ("warm_up=5 s", ["warm_up", "leaves nothing to measure"]),
        (".".join("a" * 60_000) + "=1", ["60000 keys"]),
    ],
)
def test_a_wrong_assignment(
    command: str, assignment: str, words: list[str], scenario: Path
) -> None:
    """A slip in `--set` is refused with what is wrong."""
    message = refused(command, scenario, "--set", assignment)
    for word in words:
        assert word in message


def _outputs(folder: Path) -> list[Path]:
    """Places where no user can make a folder, not even root."""
    file = folder / "file"
    file.write_text("mine", encoding="utf-8")
    loop = folder / "loop"
    loop.symlink_to(loop)
    return [file, file / "below", folder / ("x" * 300), loop, loop / "below"]


def test_output_that_cannot_be_written(tmp_path: Path, scenario: Path) -> None:
    """Output that cannot be written is refused before the run begins, and no file of the user's is
    overwritten."""
    for place in _outputs(tmp_path):
        # A run of a day: it must be refused before it begins.
        message = refused("run", scenario, "--until", "24 h", "--out", place)
        assert "--out" in message
        assert str(place)[:60] in message
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_study_output_that_cannot_be_written(tmp_path: Path) -> None:
    """Output of a study that cannot be written is refused before its replications are run."""
    folder = front.write_study(tmp_path / "studies")
    for place in _outputs(tmp_path):
        message = refused(
            "reproduce", "tiny", "--out", place, env={"FOREBAY_STUDIES": str(folder.parent)}
        )
        assert "--out" in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rnu"], ['COMMAND: "rnu"', 'did you mean "run"', "reproduce"]),
        (["reproduec", "af"], ['did you mean "reproduce"']),
        ([""], ['COMMAND: ""']),
        (["--verison"], ["--verison", "--version"]),
        (["run"], ["SCENARIO.toml"]),
        (["run", "a.toml", "b.toml"], ["b.toml"]),
        (["run", "a.toml", "--sede", "1"], ["--sede", "--seed"]),
        (["run", "a.toml", "--seed"], ["--seed"]),
        (["run", "a.toml", "--seed", "one"], ["--seed", "one"]),
        (["run", "a.toml", "--seed", "-1"], ["--seed", "-1"]),
        (["run", "a.toml", "--seed", str(2**64)], ["--seed"]),
        (["run", "a.toml", "--replication", "0.5"], ["--replication", "0.5"]),
        (["check", "a.toml", "--out", "x"], ["--out"]),
        (["reproduce"], ["STUDY"]),
        (["reproduce", "afx"], ["afx", 'did you mean "af"']),
        (["reproduce", "af", "--claims", "no/such/*"], ["no/such/*"]),
        (["reproduce", "af", "--jobs", "0"], ["--jobs", "0"]),
        (["reproduce", "af", "--replications", "1"], ["--replications", "1"]),
        (["mechanisms", "rde"], ["rde", 'did you mean "red"']),
        (["bench", "s1-afx"], ["s1-afx", "s1-af"]),
        (["report", "/no/such/folder"], ["/no/such/folder"]),
        (["sweep", "/no/such/sweep.toml"], ["/no/such/sweep.toml", "no such file"]),
        (["sweep"], ["SWEEP.toml"]),
    ],
)
def test_slips_on_the_command_line(arguments: list[str], words: list[str]) -> None:
    """Slips on the command line are refused with what is allowed."""
    message = refused(*arguments)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("until", "word"),
    [("10", "no unit"), ("0 s", "is zero"), ("-1 s", "negative"), ("1 s", "warm_up"), ("", "")],
)
def test_a_wrong_end(until: str, word: str, scenario: Path) -> None:
    """An `--until` that no run can end at is refused."""
    assert word in refused("run", scenario, "--until", until)


@pytest.mark.parametrize("command", [*COMMANDS, "sweep"])
def test_a_file_that_may_not_be_read(command: str, tmp_path: Path) -> None:
    """A link that leads to itself or nowhere is refused with its path."""
    loop = tmp_path / "loop.toml"
    loop.symlink_to(loop)
    assert str(loop) in refused(command, loop)
    assert "no such file" in refused(command, tmp_path / "dangling.toml")
