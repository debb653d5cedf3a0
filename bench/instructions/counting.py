"""Instructions for each packet hop of the standard benchmarks, counted by valgrind's callgrind.

A processor's clock tells a slow engine from a busy machine only after many runs; a count of
executed instructions is the same in each. What it cannot see is waiting for memory: for that there
are the benchmarks of time.

Each scenario is run for two lengths of simulated time, and instructions and packet hops of the
shorter are taken off those of the longer. So start, set-up and output cancel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from history import Compiler

__all__ = [
    "PLANS",
    "CountingError",
    "Plan",
    "build",
    "compiler",
    "count_all",
    "other_trajectories",
    "per_hop",
    "run",
]

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "bench" / "scenarios"


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of counting a benchmark: two simulated times in seconds, and assignments on top."""

    short_s: float
    long_s: float
    changes: tuple[str, ...] = ()


#: A thousandth of s4-million: each flow and each packet has the same work.
THOUSANDTH = (
    "links.bottleneck.rate=100 Mbit/s",
    "links.bottleneck.queue.droptail.limit=125 kB",
    "links.exit.rate=400 Mbit/s",
    *(f"links.access{number}.rate=100 Mbit/s" for number in range(1, 6)),
    *(
        f"flows.{group}{number}.count={count}"
        for group, count in (("web", 96), ("bulk", 4), ("voice", 100))
        for number in range(1, 6)
    ),
)

#: Every scenario of bench/scenarios. Long enough for some 10^5 hops in between.
PLANS = {
    "s1-af": Plan(4, 8),
    "s1-tcp-red": Plan(4, 8),
    "s2-cbr": Plan(1, 3),
    "s3-mm1": Plan(20, 60),
    "s4-million": Plan(1, 4, THOUSANDTH),
    "s6-fq": Plan(0.5, 1),
    "s7-bbr": Plan(1, 3),
    "s8-l4s": Plan(1, 3),
    # Counted from the start; by 4 s four of five flows have started.
    "s9-access": Plan(4, 4.5, ("warm_up=0 s",)),
    "s10-mix": Plan(4, 10, ("warm_up=0 s",)),
    "p1-dual-bottleneck": Plan(0.5, 1),
    "p2-64-routers": Plan(0.2, 0.4),
    "c1-cells": Plan(5, 15),
    "d1-fat-tree": Plan(0.002, 0.005),
}


class CountingError(Exception):
    """Something that was run failed; the message says what, and how."""


def compiler() -> Compiler:
    """The compiler that `build` will use."""
    text = _output(["rustc", "-vV"])
    facts = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return Compiler(facts["release"], facts["host"])


def build(profile: str = "release") -> Path:
    """Build the engine's example runner, as it is released or by another profile of Cargo, and say
    where it is.

    What it is made of is built with the features that the module for Python asks for, so that
    `make setup` need not build it again.
    """
    # Flags of the user's own would make another program of it.
    own = ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in own}
    command = ["cargo", "build", "--profile", profile, "--example", "run"]
    command += ["-p", "forebay-scenario", "-p", "forebay-native"]
    command += ["--message-format", "json-render-diagnostics"]
    text = _output(command, environment, quiet=False)
    for line in text.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["kind"] == ["example"]:
            return Path(message["executable"])
    raise CountingError("cargo built no example `run`")


def count_all(runner: Path) -> tuple[str, dict[str, float], dict[str, str]]:
    """The engine's version; of every benchmark, instructions for each packet hop, and the digest of
    the longer run."""
    tasks = [(name, length) for name, plan in PLANS.items() for length in _lengths(plan)]
    # Counts do not depend on what else the machine does: all cores.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = dict(zip(tasks, pool.map(lambda task: _run(runner, *task), tasks), strict=True))
    counts, digests = {}, {}
    for name, plan in PLANS.items():
        short, long = (runs[name, length] for length in _lengths(plan))
        counts[name], digests[name] = per_hop(short, long), long.digest
    return next(iter(runs.values())).version, counts, digests


def other_trajectories(runner: Path, digests: dict[str, str]) -> list[str]:
    """The benchmarks of which `runner` gives another digest: a compiler that optimises across
    crates may break what tests of other builds find in order."""

    def differs(name: str) -> bool:
        result = json.loads(_output([str(runner), *_run_of(name, PLANS[name].long_s)]))
        return bool(result["digest"] != digests[name])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(digests, pool.map(differs, digests), strict=True))
    return [name for name, other in found.items() if other]


@dataclass(frozen=True, slots=True)
class Counted:
    """One run under callgrind."""

    instructions: int
    packet_hops: int
    version: str = ""
    digest: str = ""


def per_hop(short: Counted, long: Counted) -> float:
    """Instructions for each packet hop by which one run is longer than the other."""
    hops = long.packet_hops - short.packet_hops
    if hops <= 0:
        raise CountingError(f"the longer run has {hops:+} packet hops more than the shorter")
    return (long.instructions - short.instructions) / hops


def _lengths(plan: Plan) -> tuple[float, float]:
    return plan.short_s, plan.long_s


def _run(runner: Path, name: str, length_s: float) -> Counted:
    return run(runner, name, length_s)[0]


def run(runner: Path, name: str, length_s: float) -> tuple[Counted, str]:
    """One run of a benchmark under callgrind, and the profile that callgrind wrote."""
    with tempfile.TemporaryDirectory(prefix="forebay-callgrind-") as folder:
        profile = Path(folder) / "profile"
        command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={profile}"]
        command += [str(runner), *_run_of(name, length_s)]
        # Options of the user's own could switch on what counts something else.
        environment = os.environ | {"VALGRIND_OPTS": ""}
        result = json.loads(_output(command, environment))
        text = profile.read_text()
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
    if total is None:
        raise CountingError(f"{name}: callgrind left no total")
    facts = (result["packet_hops"], result["version"], result["digest"])
    return Counted(int(total[1]), *facts), text


def _run_of(name: str, length_s: float) -> list[str]:
    return [str(SCENARIOS / f"{name}.toml"), f"duration={length_s:g} s", *PLANS[name].changes]


def _output(
    command: list[str], environment: dict[str, str] | None = None, quiet: bool = True
) -> str:
    """Returns what a command prints; its errors, too, go into a `CountingError` unless not
    `quiet`."""
    errors = subprocess.PIPE if quiet else None
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
    )
    if done.returncode != 0:
        last = (done.stderr or "").strip().splitlines()[-1:] or ["see above"]
        raise CountingError(f"{command[0]} ended with status {done.returncode}: {last[0]}")
    return done.stdout
