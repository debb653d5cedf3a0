"""The programs that are timed: which benchmark each one runs, whether it can run here, and how.

A *program* is one simulator's version of one standard benchmark. Peers print one JSON object with
"simulated_s", "run_wall_s", "packet_hops", "packets_delivered" and more; forebay prints the
document of ``forebay run --json``. Both are reduced to an :class:`Outcome`.
"""

from __future__ import annotations

import array
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import daytone

HERE = Path(__file__).resolve().parent
VENV = HERE.parents[1] / ".venv-peers"
SCENARIOS = HERE.parent / "scenarios"
BENCHMARKS = (
    "s1-af",
    "s1-tcp-red",
    "s2-cbr",
    "s3-mm1",
    "s6-fq",
    "s7-bbr",
    "s9-access",
    "s10-mix",
)

#: Length of each benchmark at scale 1: simulated seconds, for s3-mm1 packets.
LENGTH = {
    "s1-af": 100,
    "s1-tcp-red": 100,
    "s2-cbr": 60,
    "s3-mm1": 5_000_000,
    "s6-fq": 10,
    "s7-bbr": 20,
    "s9-access": 12,
    "s10-mix": 20,
}

NS3_MODULES = ("ns3-applications", "ns3-internet", "ns3-point-to-point", "ns3-traffic-control")
INSTALL = f"run {HERE / 'install.sh'}"

#: The share of a benchmark's length for programs that would take minutes. daytone 0.3.4 panics in
#: s3-mm1 after 223 simulated seconds of 2,000 (InvalidScheduledTime in its source).
NSPY_SHARE = {"s2-cbr": 0.02, "s3-mm1": 0.05}
NS3_SHARE = {"s6-fq": 0.15, "s7-bbr": 0.15, "s9-access": 0.2, "s10-mix": 0.5}
DAYTONE_SHARE = {"s1-tcp-red": 0.1, "s2-cbr": 0.1, "s3-mm1": 0.05}

#: Mean gap in microseconds and mean size in bytes of s3-mm1: load 0.8 of 10 Mbit/s.
MM1_GAP_US = 400
MM1_SIZE = 400


class UnavailableError(Exception):
    """A program cannot run on this machine; the message says what to install or build."""


@dataclass(frozen=True)
class Outcome:
    """Report of a program on its own run."""

    packet_hops: int
    loop_wall_s: float  #: wall time of the event loop alone, s
    events: int | None  #: None where the simulator does not count them
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """Settings of this invocation that the programs need."""

    build_dir: Path  #: where ns-3 programs and the s3-mm1 trace are put
    forebay: Path
    scale: float = 1.0  #: share of the benchmark's length, peers only
    venv: Path = VENV  #: where ns.py and daytone are installed


@dataclass(frozen=True)
class Program:
    """One simulator's version of one benchmark.

    ``prepare`` does, before anything is timed, what must be done once (compile, write a trace), and
    returns the command line. Where the simulator is not installed it raises
    :class:`UnavailableError`.
    """

    name: str
    prepare: Callable[[Settings], list[str]]
    read: Callable[[str], Outcome]
    share: float = 1.0  #: at most, of the length, where all of it would take minutes


def read_peer(text: str) -> Outcome:
    """Reads a peer's result: the one line of its output that is a JSON object."""
    lines = [line for line in text.splitlines() if line.startswith("{")]
    if len(lines) != 1:
        raise ValueError(f"expected one line of JSON, found {len(lines)}")
    return _outcome(json.loads(lines[0]))


def _outcome(result: dict[str, Any]) -> Outcome:
    return Outcome(result["packet_hops"], result["run_wall_s"], result.get("events"), result)


def read_forebay(text: str) -> Outcome:
    """Reads the document of ``forebay run --json``."""
    run = json.loads(text)
    return Outcome(run["packet_hops"], run["wall_s"], run["events"], run)


def programs_for(benchmark: str) -> list[Program]:
    """The programs of a benchmark, forebay first."""
    peers = {
        "s1-af": [_ns2("s1_af")],
        "s1-tcp-red": [
            _ns2("s1_tcp_red"),
            _ns3("ns-3", "s1_tcp_red"),
            _daytone("s1-tcp-red"),
        ],
        "s2-cbr": [
            _ns2("s2_cbr"),
            _ns3("ns-3 udp", "s2_cbr", "--stack=udp"),
            _ns3("ns-3 device", "s2_cbr", "--stack=device"),
            _daytone("s2-cbr"),
            _nspy("s2-cbr"),
        ],
        "s3-mm1": [
            _ns2("s3_mm1"),
            _ns3("ns-3 device", "s3_mm1"),
            _daytone("s3-mm1"),
            _nspy("s3-mm1"),
        ],
        "s6-fq": [_ns3("ns-3", "s6_fq")],
        "s7-bbr": [_ns3("ns-3", "s7_bbr")],
        "s9-access": [_ns3("ns-3", "s9_access")],
        "s10-mix": [_ns3("ns-3", "s10_mix")],
    }
    return [_forebay(benchmark), *peers[benchmark]]


def versions(venv: Path = VENV) -> dict[str, str]:
    """Versions of the peers that are installed, by name."""
    found = {}
    python = str(venv / "bin" / "python")
    asked = "from importlib.metadata import version; print(version('{}'))"
    for name, command, text in (
        ("ns-2", ["ns", "/dev/stdin"], "puts [ns-version]\nexit 0\n"),
        ("ns-3", ["pkg-config", "--modversion", "ns3-core"], ""),
        ("g++", [os.environ.get("CXX", "g++"), "-dumpfullversion"], ""),
        ("daytone", [python, "-c", asked.format("daytone")], ""),
        ("ns.py", [python, "-c", asked.format("ns.py")], ""),
    ):
        if shutil.which(command[0]):
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                found[name] = done.stdout.strip()
    return found


def _forebay(benchmark: str) -> Program:
    def prepare(settings: Settings) -> list[str]:
        if not os.access(settings.forebay, os.X_OK):
            hint = "run `make setup`, or name it with --forebay"
            raise UnavailableError(f"no {settings.forebay}; {hint}")
        return [str(settings.forebay), "run", str(SCENARIOS / f"{benchmark}.toml"), "--json"]

    return Program("forebay", prepare, read_forebay)


def _ns2(script: str) -> Program:
    benchmark = script.replace("_", "-")

    def prepare(settings: Settings) -> list[str]:
        if not shutil.which("ns"):
            raise UnavailableError(f"ns-2 is not installed; {INSTALL}")
        script_path = str(HERE / "ns2" / f"{script}.tcl")
        command = ["ns", script_path, *_length(benchmark, settings, "")]
        if benchmark == "s3-mm1":
            count = int(LENGTH[benchmark] * settings.scale)
            command.append(f"trace={write_mm1_trace(settings.build_dir, count)}")
        return command

    return Program("ns-2", prepare, read_peer)


def _ns3(name: str, source: str, *arguments: str) -> Program:
    benchmark = source.replace("_", "-")
    share = NS3_SHARE.get(benchmark, 1.0)

    def prepare(settings: Settings) -> list[str]:
        binary = build_ns3(source, settings.build_dir)
        part = replace(settings, scale=min(settings.scale, share))
        return [str(binary), *_length(benchmark, part, "--"), *arguments]

    return Program(name, prepare, read_peer, share)


def _nspy(benchmark: str) -> Program:
    def prepare(settings: Settings) -> list[str]:
        python = _installed(settings, "python", "ns.py")
        script = HERE / "nspy" / f"{benchmark.replace('-', '_')}.py"
        part = replace(settings, scale=min(settings.scale, NSPY_SHARE[benchmark]))
        return [python, str(script), *_length(benchmark, part, "")]

    return Program("ns.py", prepare, read_peer, NSPY_SHARE[benchmark])


def _daytone(benchmark: str) -> Program:
    share = DAYTONE_SHARE[benchmark]

    def prepare(settings: Settings) -> list[str]:
        binary = _installed(settings, "daytone", "daytone")
        seconds = LENGTH[benchmark] * min(settings.scale, share)
        if benchmark == "s3-mm1":
            seconds *= MM1_GAP_US * 1e-6
        logs = settings.build_dir / f"daytone-{benchmark}"
        config = logs.with_suffix(".toml")
        config.write_text(daytone.configuration(benchmark, seconds, str(logs)), encoding="utf-8")
        # Without its log daytone says nothing of the run; the counts are in a file.
        script = 'RUST_LOG=info "$0" "$1" 2>&1 && cat "$2"'
        return ["sh", "-c", script, binary, str(config), str(logs / "sinks.csv")]

    return Program("daytone", prepare, lambda text: _outcome(daytone.read(benchmark, text)), share)


def _installed(settings: Settings, command: str, peer: str) -> str:
    """A command of the peers' environment that has this peer."""
    path = settings.venv / "bin" / command
    if not path.exists() or peer not in versions(settings.venv):
        raise UnavailableError(f"{peer} is not installed in {settings.venv.name}; {INSTALL}")
    return str(path)


def _length(benchmark: str, settings: Settings, dashes: str) -> list[str]:
    """The arguments for the benchmark's length, such as ``seconds=60``, behind the dashes given."""
    length = LENGTH[benchmark] * settings.scale
    if benchmark == "s3-mm1":
        return [f"{dashes}packets={int(length)}"]
    words = [f"{dashes}seconds={length:g}"]
    if benchmark.startswith("s1-"):
        # Throughput is measured from a tenth of the run on: 10 s at full length.
        words.append(f"{dashes}warmup={length / 10:g}")
    return words


def build_ns3(source: str, build_dir: Path) -> Path:
    """Compiles ``ns3/SOURCE.cc`` at -O3 into ``build_dir``, unless it lies there up to date.

    The compiler is $CXX or g++, with $CXXFLAGS after our own flags; the library is the one that
    pkg-config finds, so that PKG_CONFIG_PATH can point to another build of ns-3.
    """
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    for tool in (compiler[0], "pkg-config"):
        if not shutil.which(tool):
            raise UnavailableError(f"{tool} is not installed; {INSTALL}")
    command = ["pkg-config", "--cflags", "--libs", *NS3_MODULES]
    flags = subprocess.run(command, capture_output=True, text=True, check=False)
    if flags.returncode != 0:
        raise UnavailableError(f"ns-3 is not installed (no ns3-internet.pc); {INSTALL}")
    # Debian's files also name a library (GSL) that is neither needed here nor installed with it.
    words = shlex.split(flags.stdout)
    library = [word for word in words if word.startswith("-") or Path(word).exists()]
    path = HERE / "ns3" / f"{source}.cc"
    binary = build_dir / source
    newest = max(file.stat().st_mtime for file in (path, *path.parent.glob("*.h")))
    if binary.exists() and binary.stat().st_mtime > newest:
        return binary
    print(f"compiling {path.name}", file=sys.stderr)
    own = ["-std=c++17", "-O3", "-DNDEBUG", *shlex.split(os.environ.get("CXXFLAGS", ""))]
    build = [*compiler, *own, str(path), "-o", str(binary), *library]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join(done.stderr.splitlines()[:5])
        raise UnavailableError(f"{path.name} does not compile against this ns-3:\n{tail}")
    return binary


def write_mm1_trace(build_dir: Path, packets: int) -> Path:
    """Writes the arrivals of s3-mm1 for ns-2, unless they lie there: pairs of 32-bit big-endian
    integers, microseconds to the next packet and its size in bytes, both exponential and rounded.
    """
    path = build_dir / f"mm1-{packets}.trace"
    if path.exists():
        return path
    print(f"writing {packets} arrivals for ns-2", file=sys.stderr)
    draw = random.Random(1).expovariate
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        # In pieces: a child's peak memory is never reported below that of the process it came from.
        for start in range(0, packets, 10_000):
            piece = array.array("I")
            for _ in range(min(10_000, packets - start)):
                piece.append(round(draw(1 / MM1_GAP_US)))
                piece.append(max(1, round(draw(1 / MM1_SIZE))))
            if sys.byteorder == "little":
                piece.byteswap()
            piece.tofile(file)
    return partial.rename(path)
