#!/usr/bin/env python3
"""Coverage of 95 % intervals of replications: how often they hold what they claim to.

`make validate ONLY=interval-coverage`, or with arguments of its own, `ARGS="..."`:

    cover.py                        measure all, write result.json, print the tables
    cover.py --runs 3000            a tenth of the work: does it run?
    cover.py --print                the tables that result.json holds

Each source is run in independent replications; disjoint groups of n of them are macro-replications.
What their intervals claim to cover is the expectation of what one replication gives, for the
stated warm-up and measured time: the truth is the mean over all replications of the source, whose
own error is at most 1/30 of that of a group's mean. It is not the steady-state mean, though for
M/M/1 it comes close to it.

The stopping rule is tried 500 times on values drawn from the same replications with replacement:
they are independent draws from a distribution whose mean is known exactly.

Exit status: 0 done, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from methods import METHODS, skewness
from numpy.typing import NDArray
from sources import SOURCES, pool

from forebay.stats import StoppingRule, replication_interval

HERE = Path(__file__).resolve().parent
RESULT = HERE / "result.json"
SIZES = (5, 10, 20, 30)
LEVEL = 0.95
RUNS = 30_000
TRIALS = 500
RELATIVE = 0.1
NORMAL = "normal values"

Array = NDArray[np.float64]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what was asked for; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="replications of each source")
    parser.add_argument("--print", action="store_true", help="print what result.json holds")
    options = parser.parse_args(arguments)
    if not options.print:
        if options.runs < max(SIZES):
            parser.error(f"--runs {options.runs}: at least {max(SIZES)} are needed")
        RESULT.write_text(json.dumps(measure(options.runs), indent=1) + "\n")
    document = json.loads(RESULT.read_text())
    print("\n".join([*coverage_table(document), "", *stopping_table(document)]))
    return 0


def measure(runs: int) -> dict[str, Any]:
    """Run every source; what `result.json` holds."""
    coverage, stopping = [], []
    for title, values in _values(runs):
        print(f"{title}: {len(values)} replications", file=sys.stderr, flush=True)
        truth = float(values.mean())
        for n in SIZES:
            groups = values[: len(values) // n * n].reshape(-1, n)
            coverage.append({"source": title, "n": n, **cover(groups, truth)})
        stopping.append({"source": title, **stop(values, truth)})
    return {"level": LEVEL, "runs": runs, "coverage": coverage, "stopping": stopping}


def _values(runs: int) -> list[tuple[str, Array]]:
    normal = np.random.default_rng(1).normal(10.0, 1.0, runs)
    return [(NORMAL, normal), *((s.title, pool(s, runs)) for s in SOURCES.values())]


def cover(groups: Array, truth: float) -> dict[str, Any]:
    """The share of groups, one a row, whose interval holds the truth, by method."""
    found: dict[str, Any] = {"groups": len(groups)}
    everything = groups.ravel()
    found["skewness"] = round(float(skewness(everything[None, :])[0]), 2)
    widths = {}
    for name, method in METHODS.items():
        low, high = method(groups, LEVEL)
        found[name] = round(float(np.mean((low <= truth) & (truth <= high))), 4)
        widths[name] = float(np.median(high - low)), float(np.mean(high - low))
    ours, theirs = widths["Forebay"], widths["Student"]
    found["width_median"] = round(ours[0] / theirs[0], 3)
    found["width_mean"] = round(ours[1] / theirs[1], 3)
    notes = [replication_interval(group).note for group in groups.tolist()]
    found["widened"] = round(sum(note in ("skewed", "too few") for note in notes) / len(notes), 3)
    found["too_few"] = round(notes.count("too few") / len(notes), 3)
    return found


def stop(values: Array, truth: float) -> dict[str, Any]:
    """Returns the ends of 500 trials of "until +-10 %"."""
    stream = np.random.default_rng(2)
    rule = StoppingRule(relative=RELATIVE, max_n=1000)
    precise = right = taken = 0
    for _ in range(TRIALS):
        drawn = stream.choice(values, rule.max_n).tolist()
        n = rule.min_n
        while not (progress := rule.assess(drawn[:n])).done:
            n = progress.suggested_n
        precise += progress.precise
        right += progress.precise and abs(progress.interval.mean - truth) <= RELATIVE * abs(truth)
        taken += n
    return {
        "trials": TRIALS, "precise": precise, "right": right, "replications": taken / TRIALS,
    }  # fmt: skip


def coverage_table(document: dict[str, Any]) -> list[str]:
    """The lines of the table of coverages, in percent."""
    heads = ["values", "skewness", "n", *METHODS, "width", "too few"]
    lines = [_line(heads), _line(["---", *["--:"] * (len(heads) - 1)])]
    for row in document["coverage"]:
        shares = [f"{100 * row[name]:.1f}" for name in METHODS]
        first = row["source"] if row["n"] == SIZES[0] else ""
        skew = f"{row['skewness']:.1f}" if first else ""
        few = f"{100 * row['too_few']:.0f} %"
        lines.append(_line([first, skew, row["n"], *shares, f"{row['width_mean']:.2f}", few]))
    return lines


def stopping_table(document: dict[str, Any]) -> list[str]:
    """The lines of the table of stops."""
    heads = ["values", "stopped as precise", "error at most 10 %", "replications"]
    lines = [_line(heads), _line(["---", *["--:"] * (len(heads) - 1)])]
    for row in document["stopping"]:
        share = f"{100 * row['right'] / row['precise']:.1f} %" if row["precise"] else "-"
        stopped = f"{row['precise']} of {row['trials']}"
        lines.append(_line([row["source"], stopped, share, f"{row['replications']:.0f}"]))
    return lines


def _line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
