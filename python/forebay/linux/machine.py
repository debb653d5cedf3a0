"""Machines that a script runs on: a kernel of its own in simulated time, or namespaces of this
machine."""

# ruff: noqa: TID251 (reports how long it took)

from __future__ import annotations

import gzip
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forebay.errors import MachineError, UserError
from forebay.linux.fold import fold

__all__ = ["PATH", "PLACES", "boot_words", "image", "run_script", "start", "stop"]

PLACES = ("uml", "netns")
"""Kinds of machine that a script can run on."""

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Where the programs are that a script runs."""
_TOOLS = ("ip", "tc", "ethtool", "iperf3", "sysctl")
_INSTALL = "validation/linux/install.sh installs it"

# The root is the host's, read-only; only /run, and in it the folder of results, is written.
_INIT = """\
#!/bin/sh
export PATH={path} TMPDIR=/run/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mkdir -p /run/netns /run/tmp /run/out
mount -t hostfs none /run/out -o {out}
ip link set lo up
uname -r >/run/out/kernel
status=0
sh -x /run/out/script.sh /run/out >/run/out/log 2>&1 || status=$?
echo "$status" >/run/out/status
poweroff -f
"""


def image() -> Path:
    """The kernel that validation/linux/kernel.sh builds, there or not."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "forebay" / "linux-uml"


def built() -> Path:
    """The same, which is there. Raises `UserError` if it is not."""
    kernel = image()
    if not os.access(kernel, os.X_OK):
        raise UserError(f"no kernel {kernel}; validation/linux/kernel.sh builds it")
    return kernel


@contextmanager
def run_script(
    script: str, where: str, duration: float, switches: Sequence[str] = ()
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Run the script of a scenario of `duration` seconds; gives its folder, and what it ran on.

    `switches` are parameters of the kernel that has simulated time. The folder goes at the end.
    """
    _check_tools()
    with tempfile.TemporaryDirectory(prefix="forebay-linux-") as name:
        folder = Path(name) / "out"
        folder.mkdir()
        told = fold(script) if where == "uml" else script
        (folder / "script.sh").write_text(told, encoding="utf-8")
        before, began = os.getloadavg()[0], time.monotonic()
        facts = (_simulated if where == "uml" else _real)(folder, duration, switches)
        wall = time.monotonic() - began
        if (status := _read(folder / "status")) != "0":
            said = _failed(_read(folder / "log"), told) or f"status {status or 'none'}"
            raise MachineError(f"the script failed on Linux: {said}")
        load = {"load": [before, os.getloadavg()[0]], "cores": os.cpu_count(), "wall_s": wall}
        yield folder, {"where": where, **facts, **load}


def _check_tools() -> None:
    for tool in _TOOLS:
        if shutil.which(tool, path=f"{PATH}:{os.environ.get('PATH', '')}") is None:
            raise UserError(f"--run: no {tool} on this machine; {_INSTALL}")


def _failed(log: str, script: str) -> str:
    """The command that failed and what it said, of the log of a script with `sh -x`."""
    # The clean-up of a script that ends is none of it, nor how it says why it ends.
    lines = log.partition("\n+ clean\n")[0].splitlines()
    lines = [line for line in lines if not re.match(r"\+ (true|exit|echo|rm) ?", line)]
    at = max((n for n, line in enumerate(lines) if line.startswith("+ ")), default=-1)
    command = lines[at].removeprefix("+ ").removeprefix("exec ") if at >= 0 else ""
    said = lines[at + 1 :]
    # Of commands that were handed over together the one is named that was not done.
    if found := re.match(r"Command failed -:(\d+)", said[-1] if said else ""):
        batch = script.partition(f"{command} <<'END'\n")[2].splitlines()
        command = f"{command.removesuffix(' -batch -')} {batch[int(found[1]) - 1]}"
        said = said[:-1]
    return ": ".join([command, *said[:2]])


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace").strip() if file.exists() else ""


def _simulated(folder: Path, duration: float, switches: Sequence[str]) -> dict[str, Any]:
    init = _INIT.format(path=PATH, out=folder)
    words = boot_words(folder.parent, init, ["time-travel=inf-cpu", *switches])
    _execute(words, folder.parent / "console", 120 + 20 * duration, signal.SIGKILL)
    config = image().with_suffix(".config")
    return {
        "kernel": _read(folder / "kernel"),
        "clock": "simulated",
        "tick_hz": _tick(_read(config)),
    }


def boot_words(folder: Path, init: str, switches: Sequence[str]) -> list[str]:
    """The command that boots the kernel with `init` as its first program, a shell script, which
    becomes a file of `folder`, as do the kernel's own."""
    kernel = built()
    file = folder / "init.sh"
    file.write_text(init, encoding="utf-8")
    file.chmod(0o755)
    words = [str(kernel), "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "mem=512M"]
    words += [f"init={file}", f"uml_dir={folder}", "con=null", "con0=null,fd:1", "quiet"]
    words += switches
    if taskset := shutil.which("taskset"):
        # Threads of the kernel that wander between cores take several times as long.
        words = [taskset, "-c", str(max(os.sched_getaffinity(0))), *words]
    return words


def _tick(config: str) -> int | None:
    """Ticks per second of a kernel's clock, by its configuration; `None` if it states none."""
    found = re.search(r"^CONFIG_HZ=(\d+)$", config, re.MULTILINE)
    return int(found[1]) if found else None


def _own_configuration(release: str) -> str:
    packed = Path("/proc/config.gz")
    if packed.exists():
        return gzip.decompress(packed.read_bytes()).decode(errors="replace")
    return _read(Path(f"/boot/config-{release}"))


def _real(folder: Path, duration: float, _: Sequence[str]) -> dict[str, Any]:
    if os.geteuid() != 0:
        raise UserError("--in netns: needs root; --in uml does not")
    # The script removes its namespaces when it gets a signal that it can handle.
    words = ["sh", "-x", str(folder / "script.sh"), str(folder)]
    status = _execute(words, folder / "log", 120 + 2 * duration, signal.SIGTERM)
    (folder / "status").write_text(str(status), encoding="utf-8")
    release = platform.release()
    return {"kernel": release, "clock": "real", "tick_hz": _tick(_own_configuration(release))}


def _execute(words: list[str], log: Path, limit: float, end: signal.Signals) -> int:
    """Run a program to its end, at most `limit` s; with ours, it and what it started get `end`."""
    process = start(words, log)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired as late:
        raise MachineError(f"the run on Linux did not end in {limit:g} s") from late
    finally:
        stop(process, end)


def start(words: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own; what it prints goes to a file."""
    with log.open("wb") as console:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": f"{PATH}:{os.environ.get('PATH', '')}"},
            process_group=0,
        )


def stop(process: subprocess.Popen[bytes], end: signal.Signals) -> None:
    """End a process group that `start` has made by `end`, and by SIGKILL what is left of it."""
    for number, patience in ((end, 20.0), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
