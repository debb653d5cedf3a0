"""Namespaces and files that the script of `forebay linux` makes and removes, however it ends, and
beside others.

Programs of the system are stand-ins that keep namespaces as files in a folder, so that these tests
need neither root nor a network. `ip netns add` is exclusive, as the real one is.
"""

# ruff: noqa: TID251 (waits no longer than for a time)

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forebay.cli.commands import main

pytestmark = pytest.mark.long

SCENARIO = """
name = "two nodes"
duration = "1 s"
[links.line]
from = "a"
to = "b"
rate = "10 Mbit/s"
[flows.bulk]
from = "a"
to = "b"
tcp = {}
"""
ALL = ["fb-f0a", "fb-f0b", "fb-n0", "fb-n1", "fb-w0"]
"""The namespaces of that scenario: two nodes, a wire, and the hosts of a flow."""

IP = """#!/bin/sh
if [ "$1 $2" = "netns add" ]; then
  set -C
  : 2>/dev/null >"{spaces}/$3" || { echo "$3: File exists" >&2; exit 1; }
elif [ "$1 $2" = "netns del" ]; then
  sleep 0.02
  echo "$3" >>"{folder}/deleted"
  rm "{spaces}/$3"
elif [ "$1 $2" = "netns exec" ]; then
  [ -e "{spaces}/$3" ] || exit 1
  shift 3
  exec "$@"
elif [ "$1" = -n ]; then
  [ -e "{spaces}/$2" ]
fi
"""
OTHERS = {
    "id": "echo 0",
    "iperf3": 'case " $* " in *" -s "*) setsid sleep 60 >/dev/null 2>&1 & ;; esac',
    **dict.fromkeys(("tc", "ethtool", "sysctl", "ss"), ":"),
}


class Machine:
    """A machine with the programs that a script calls, and its namespaces."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spaces = folder / "netns"
        self.spaces.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        ip = IP.replace("{spaces}", str(self.spaces)).replace("{folder}", str(folder))
        for name, text in {"ip": ip, **OTHERS}.items():
            (programs / name).write_text(text if name == "ip" else f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)
        self._path = f"{programs}:{os.environ['PATH']}"
        (folder / "two.toml").write_text(SCENARIO, encoding="utf-8")
        script = folder / "script.sh"
        assert main(["linux", str(folder / "two.toml"), "--out", str(script)]) == 0
        text = script.read_text(encoding="utf-8")
        assert text.count("/run/forebay-linux") == 2
        script.write_text(text.replace("/run/forebay-linux", str(self.notes)), encoding="utf-8")

    @property
    def notes(self) -> Path:
        """The folder in which a script says what it has made."""
        return self.folder / "forebay-linux"

    def start(self, *words: str, path: str = "") -> subprocess.Popen[str]:
        """A process of its own group, as a command of a shell with a terminal has."""
        return subprocess.Popen(
            ["/bin/sh", *(words or (str(self.folder / "script.sh"), str(self.folder / "out")))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PATH": path or self._path},
            process_group=0,
        )

    def there(self) -> list[str]:
        """The namespaces."""
        return sorted(entry.name for entry in self.spaces.iterdir())

    def wait_for(self, name: str) -> None:
        """Wait until a namespace is there."""
        end = time.monotonic() + 60
        while not (self.spaces / name).exists():
            assert time.monotonic() < end
            time.sleep(0.002)

    def daemons(self) -> list[int]:
        """The processes whose environment says that a script of this machine has started them."""
        found = []
        for file in Path("/proc").glob("[0-9]*/environ"):
            try:
                words = file.read_bytes().split(b"\0")
            except OSError:
                continue
            ours = any(word.startswith(b"FOREBAY_LINUX=") for word in words)
            if ours and f"PATH={self._path}".encode() in words:
                found.append(int(file.parent.name))
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose processes end with the test."""
    made = Machine(tmp_path)
    yield made
    for process in made.daemons():
        os.kill(process, signal.SIGKILL)


@contextmanager
def killed_at_last(*processes: subprocess.Popen[str]) -> Iterator[None]:
    """A test that fails must leave nothing at work."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_a_whole_run_leaves_nothing(machine: Machine) -> None:
    """A whole run leaves nothing, so that the next one meets none of its servers."""
    process = machine.start()
    with killed_at_last(process):
        out, told = process.communicate(timeout=60)
        assert (process.returncode, told) == (0, "")
        assert out == f"counters, reports and delays are in {machine.folder / 'out'}\n"
    assert machine.there() == []
    assert sorted((machine.folder / "deleted").read_text().split()) == ALL
    assert not machine.notes.exists()
    assert list(machine.folder.glob("forebay-linux*")) == []
    assert machine.daemons() == []
    assert (machine.folder / "out" / "time.end").exists()


def test_a_missing_program(machine: Machine) -> None:
    """A missing program is named before the script makes anything."""
    (machine.folder / "bin" / "iperf3").unlink()
    process = machine.start(path=f"{machine.folder}/bin")
    with killed_at_last(process):
        _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (1, "iperf3 is not installed\n")
    assert not machine.notes.exists()


@pytest.mark.parametrize("attempt", range(4))
def test_two_at_one_moment(machine: Machine, attempt: int) -> None:
    """Of two scripts at one moment one runs, and the other deletes nothing of it."""
    both = [machine.start(), machine.start()]
    with killed_at_last(*both):
        told = [process.communicate(timeout=60)[1] for process in both]
        assert sorted(process.returncode for process in both) == [0, 1], told
        lost = next(told[n] for n in (0, 1) if both[n].returncode)
        winner = next(process.pid for process in both if not process.returncode)
        assert lost == (
            f"a script of Forebay, process {winner}, is at work; it removes what it makes\n"
        )
    # Each once: by the one that has made them.
    assert sorted((machine.folder / "deleted").read_text().split()) == ALL
    assert list(machine.folder.glob("forebay-linux*")) == []


def test_what_another_has_made_stays(machine: Machine) -> None:
    """A namespace that another program has made stays, and is named."""
    (machine.spaces / "fb-w0").touch()
    process = machine.start()
    with killed_at_last(process):
        _, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert told.splitlines()[-1] == (
        "no script of Forebay has made it; this removes it: ip netns del fb-w0"
    )
    assert machine.there() == ["fb-w0"]
    assert "fb-w0" not in (machine.folder / "deleted").read_text()


@pytest.mark.parametrize("gap", [0.0, 0.002, 0.02, 0.05])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("late", ["fb-n0", "fb-f0b"])
def test_a_second_signal(machine: Machine, number: signal.Signals, gap: float, late: str) -> None:
    """A second signal does not stop the cleaning up: all namespaces go."""
    process = machine.start()
    with killed_at_last(process):
        machine.wait_for(late)
        for _ in range(3):
            # A terminal's Ctrl-C goes to all of the group, those who clean up among them.
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                break
            time.sleep(gap)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 130, told
    assert machine.there() == []
    assert list(machine.folder.glob("forebay-linux*")) == []
    assert machine.daemons() == []


def test_cleaning_after_a_kill(machine: Machine) -> None:
    """Namespaces and processes of a killed script are removed by the file `clean`, but not those of
    one at work."""
    process = machine.start()
    with killed_at_last(process):
        machine.wait_for("fb-f0b")
        clean = machine.start(str(machine.notes / "clean"))
        _, told = clean.communicate(timeout=60)
        assert clean.returncode == 1
        assert "is at work" in told
        end = time.monotonic() + 60
        while len(machine.daemons()) < 2 and time.monotonic() < end:
            time.sleep(0.01)
    (machine.spaces / "mine").touch()
    again = machine.start()
    _, told = again.communicate(timeout=60)
    assert again.returncode == 1
    command = f"sh {machine.notes}/clean"
    assert told == (f"a script of Forebay was killed; this removes what it has left: {command}\n")
    assert machine.there() == [*ALL, "mine"]
    clean = machine.start(*command.split()[1:])
    assert (*clean.communicate(timeout=60), clean.returncode) == ("", "", 0)
    assert machine.there() == ["mine"]
    end = time.monotonic() + 60
    while machine.daemons() and time.monotonic() < end:
        time.sleep(0.01)
    assert machine.daemons() == []
    last = machine.start()
    with killed_at_last(last):
        assert last.communicate(timeout=60)[1] == ""
        assert last.returncode == 0
