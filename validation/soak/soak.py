#!/usr/bin/env python3
"""Does memory grow while runs follow runs? Two processes, one after the other, for hours.

`make validate ONLY=soak`, or with arguments of its own, `ARGS="..."`:

    soak.py                         half a day of each
    soak.py --hours 0.2             twelve minutes of each
    soak.py --hours 1 --only front

`engine` is the process of the tests that checks random networks of every mechanism; `front` is one
Python process that runs the examples again and again, each with another seed. Resident memory is
read ten times a minute, and a line is fitted to its second half by Theil's and Sen's method; the
interval of its slope is that of 95 %. Networks differ in size: a quarter of an hour leaves tens of
MB an hour open. Exit status: 0 no slope is above 1 MB an hour for sure, 1 one is, or a process
failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import scipy.stats

ROOT = Path(__file__).resolve().parents[2]
LIMIT_MB_PER_HOUR = 1.0
SAMPLE_S = 6.0
TEST = ["test", "--release", "-p", "forebay-scenario", "--test", "invariants"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts in turn and print what memory did in each; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--hours", type=float, default=12.0, help="of each part (default: 12)")
    parser.add_argument("--only", choices=("engine", "front"), help="one of the two parts")
    parser.add_argument("--endless", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.endless:
        run_examples()
    if not options.hours > 0:
        parser.error("--hours: must be positive")
    commands = {"engine": _engine, "front": _front}
    held = True
    for name in [options.only] if options.only else commands:
        command = commands[name]()
        samples, status = watch(command, options.hours * 3600)
        held &= report(name, samples, status)
    return 0 if held else 1


def watch(command: list[str], seconds: float) -> tuple[list[tuple[float, float]], int | None]:
    """Times in seconds and resident memory in MB of a command, stopped after a time, and its exit
    status, which is None if it ran to the end of the time."""
    environment = os.environ | {"FOREBAY_NETWORKS": str(10**12)}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, cwd=ROOT / "crates" / "scenario"
    )
    samples: list[tuple[float, float]] = []
    start = time.monotonic()
    try:
        while (passed := time.monotonic() - start) < seconds:
            if (status := process.poll()) is not None:
                return samples, status
            samples.append((passed, _resident_mb(process.pid)))
            time.sleep(min(SAMPLE_S, max(seconds / 100, 0.01)))
        return samples, None
    finally:
        process.kill()
        process.wait()


def report(name: str, samples: Sequence[tuple[float, float]], status: int | None) -> bool:
    """Print the memory of a part, at its half and its end and its slope; whether it held."""
    if status is not None:
        print(f"{name}: ended with exit status {status}")
        return False
    later = samples[len(samples) // 2 :]
    seconds, held = zip(*later, strict=True)
    line = scipy.stats.theilslopes(held, seconds, 0.95)
    low, slope, high = (3600 * x for x in (line.low_slope, line.slope, line.high_slope))
    print(
        f"{name}: {samples[-1][0] / 3600:.2f} h, {later[0][1]:.1f} MB at half time, "
        f"{later[-1][1]:.1f} MB at the end, {max(mb for _, mb in samples):.1f} MB at most; "
        f"slope of the second half {slope:+.1f} ({low:+.1f} to {high:+.1f}) MB/h"
    )
    return bool(low <= LIMIT_MB_PER_HOUR)


def run_examples() -> None:
    """Run every example again and again, each round with the next seed, until stopped."""
    from forebay import Network

    files = sorted((ROOT / "examples").glob("*.toml"))
    for seed in itertools.count(1):
        for file in files:
            Network.from_toml(file).run(seed=seed)


def _engine() -> list[str]:
    """The command that checks random networks; builds the tests first."""
    built = subprocess.run(
        ["cargo", *TEST, "--no-run", "--message-format", "json"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    lines = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    (program,) = {line["executable"] for line in lines if line.get("executable")}
    return [program, "random"]


def _front() -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), "--endless"]


def _resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
