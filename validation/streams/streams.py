#!/usr/bin/env python3
"""Random streams of consecutive names, interleaved, through batteries of tests.

`make validate ONLY=streams`, or with arguments of its own, `ARGS="..."`:

    streams.py                      all, ten minutes; dieharder too, where it is installed
    streams.py --words 1000000      a sixteenth of the work

The words come from the program `draws` (crates/kernel/examples/draws.rs): one of each of 1000
streams with consecutive names in turn, or the first one of ever new streams; consecutive members,
paths, replications and root seeds; the upper or the lower bits that variates are made of. Two wrong
generators go through the same tests and must fail.

A p-value below 1e-6 fails. The p-values of all tests together must look uniform (Kolmogorov and
Smirnov, 1e-4). Of dieharder (Brown, Eddelbuettel and Bauer; Debian's package) nothing may be
FAILED, which it says below 1e-6. The record is result.json. Exit status: 0 all passed, 1 not.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import battery
import numpy as np
from scipy import stats

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULT = HERE / "result.json"
WORDS = 1 << 24
NAMES = ("members", "paths", "replications", "seeds", "late")
WRONG = ("shifted", "counted")
STREAMS = 1000
FAILED = 1e-6
TOGETHER = 1e-4
# Diehard's birthdays, rank and runs; NIST's monobit, runs and serial; bit distribution,
# permutations, lagged sums; bytes, discrete cosine, trees and monobit of D. Bauer.
DIEHARDER = ((0,), (2,), (15,), (100,), (101,), (102,), (202,), (205,), (206,), (207,), (209,))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both batteries; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--words", type=int, default=WORDS, help="32-bit words of each sequence")
    options = parser.parse_args(arguments)
    program = build()
    rows = []
    for names in (*NAMES, *WRONG):
        for streams in (STREAMS, options.words):
            for bits in ("top", "low"):
                if names in WRONG and (streams != STREAMS or bits == "low"):
                    continue
                words = draw(program, names, streams, bits, options.words)
                found = test(words, streams)
                rows.append({"names": names, "streams": streams, "bits": bits, "p": found})
                print(_line(rows[-1]), flush=True)
    right = [row for row in rows if row["names"] in NAMES]
    wrong = [row for row in rows if row["names"] in WRONG]
    together = overall(right)
    other = dieharder(program)
    write(options.words, rows, together, other)
    passed = (
        min(least(row) for row in right) >= FAILED
        and together >= TOGETHER
        and all(least(row) < FAILED for row in wrong)
        and not any(row["verdict"] == "FAILED" for row in other)
    )
    tests = sum(len(row["p"]) for row in right)
    print(f"{tests} tests, least p {min(map(least, right)):.2g}, together {together:.2g}")
    print(f"dieharder: {len(other)} tests, {_verdicts(other)}")
    print("passed" if passed else "FAILED")
    return 0 if passed else 1


def write(
    words: int,
    rows: Sequence[dict[str, Any]],
    together: float,
    other: Sequence[dict[str, Any]],
) -> None:
    """Keep the record, a row a line."""
    lists = [
        f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in of) + "\n]"
        for name, of in (("rows", rows), ("dieharder", other))
    ]
    head = f'"words": {words},\n"together": {json.dumps(together)},\n'
    RESULT.write_text("{\n" + head + ",\n".join(lists) + "\n}\n")


def build() -> Path:
    """The program that draws, built."""
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "-p", "forebay-kernel", "--example", "draws"],
        cwd=ROOT,
        check=True,
    )
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/draws"


def draw(program: Path, names: str, streams: int, bits: str, words: int) -> battery.Words:
    """So many words of one kind of stream."""
    done = subprocess.run(
        [program, names, str(streams), bits, str(words)], stdout=subprocess.PIPE, check=True
    )
    return np.frombuffer(done.stdout, dtype="<u4")[:words]


def test(words: battery.Words, streams: int) -> dict[str, float]:
    """The p-value of each test; within a stream, too, where each gives more than one word."""
    found = {name: run(words) for name, run in battery.TESTS.items()}
    if streams < len(words) // 2:
        found["correlation within"] = battery.correlation(words, streams)
    return found


def overall(rows: Sequence[dict[str, Any]]) -> float:
    """Returns the probability of p-values as uneven as these, if all is well."""
    return float(stats.kstest([p for row in rows for p in row["p"].values()], "uniform").pvalue)


def least(row: dict[str, Any]) -> float:
    """The least p-value of a sequence."""
    return float(min(row["p"].values()))


def dieharder(program: Path) -> list[dict[str, Any]]:
    """Returns what dieharder says of 1000 interleaved members and of the first words of ever new
    streams; nothing where it is not installed."""
    if shutil.which("dieharder") is None:
        print("dieharder is not installed (a package of Debian's): left out")
        return []
    rows = []
    for streams in (STREAMS, 4 * 10**9):
        for (number,) in DIEHARDER:
            writer = subprocess.Popen(
                [program, "members", str(streams), "top", str(4 * 10**9)], stdout=subprocess.PIPE
            )
            done = subprocess.run(
                ["dieharder", "-g", "200", "-d", str(number)],
                stdin=writer.stdout,
                capture_output=True,
                text=True,
                check=True,
            )
            writer.kill()
            writer.wait()
            for name, p, verdict in parse(done.stdout):
                rows.append({"streams": streams, "test": name, "p": p, "verdict": verdict})
            print(f"dieharder {number}, {streams} streams: {_verdicts(rows)} so far", flush=True)
    return rows


def parse(text: str) -> list[tuple[str, float, str]]:
    """Name, p-value and verdict of each line of dieharder's table."""
    line = re.compile(
        r"^\s*(\w+)\|\s*\d+\|[^|]*\|[^|]*\|\s*([\d.]+)\|\s*(PASSED|WEAK|FAILED)", re.M
    )
    return [(name, float(p), verdict) for name, p, verdict in line.findall(text)]


def _verdicts(rows: Sequence[dict[str, Any]]) -> str:
    counts = {
        word: sum(row["verdict"] == word for row in rows) for word in ("PASSED", "WEAK", "FAILED")
    }
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _line(row: dict[str, Any]) -> str:
    worst = min(row["p"], key=row["p"].get)
    kind = "first words" if row["streams"] != STREAMS else f"{row['streams']} interleaved"
    return f"{row['names']:13} {kind:17} {row['bits']:4} least p {least(row):.2g} ({worst})"


if __name__ == "__main__":
    sys.exit(main())
