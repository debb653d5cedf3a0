#!/usr/bin/env python3
"""A guard of the engine's speed that no clock and no busy machine can disturb.

    make instructions                           compare with the last of history.toml
    make instructions-record LABEL="what changed"   add to it, and draw the history

Counts the instructions for each packet hop of every benchmark in bench/scenarios and fails if one
differs by more than 2 % from what is recorded, or if the released build, which is counted, has
other trajectories than the one that `make setup` makes and tests run. Without valgrind nothing is
counted, and with another compiler than the recorded one nothing is judged; both are said and pass.
Exit status: 0 passed or not checked, 1 differs, 2 wrong usage or something failed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import counting
from history import TOLERANCE, Record, Verdict, append, judge, last, load

HISTORY = Path(__file__).with_name("history.toml")
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "instructions.svg"

ADVICE = f"""\
If the change is meant, say in the change log or the commit why it is worth that, and record it:
    make instructions-record LABEL="what changed"
Fewer instructions are recorded in the same way: left alone, they would let the next change lose
them unseen. A difference within {TOLERANCE:.0%} needs nothing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what was asked for; the exit status."""
    options = _parse(arguments)
    try:
        if options.draw:
            return _draw(options.history, options.picture)
        if not shutil.which("valgrind"):
            print("instructions: NOT CHECKED, valgrind is not installed here")
            return 2 if options.record else 0
        compiler = counting.compiler()
        # Side by side: the last step of the released build, which takes half of its time, has one
        # thread.
        with ThreadPoolExecutor() as pool:
            usual = pool.submit(counting.build, "setup")
            runner = options.runner or counting.build()
        version, counts, digests = counting.count_all(runner)
        if others := counting.other_trajectories(usual.result(), digests):
            print(f"FAILED: {', '.join(others)}: the build that tests run has other trajectories")
            return 1
        found = Record(options.record or "", version, compiler, counts)
        if options.record:
            append(options.history, found)
            print(f"recorded in {options.history}:", *_table(judge(counts, {})), sep="\n")
            return _draw(options.history, options.picture)
        status, lines = check(found, last(load(options.history)))
    except (counting.CountingError, ValueError, OSError) as problem:
        print(f"instructions: {problem}", file=sys.stderr)
        return 2
    print(*lines, sep="\n")
    return status


def check(found: Record, recorded: Record | None) -> tuple[int, list[str]]:
    """Exit status and what to say of counts, given the record that they should fit."""
    if recorded is None:
        return 1, ["instructions: nothing is recorded yet", *ADVICE.splitlines()]
    verdicts = judge(found.counts, recorded.counts)
    lines = [f'instructions for each packet hop, beside "{recorded.label}"', *_table(verdicts)]
    if found.compiler != recorded.compiler:
        lines.append(f"NOT JUDGED: counted with {found.compiler},")
        lines.append(f"            recorded with {recorded.compiler}; counts differ between them")
        return 0, lines
    wrong = [f"{verdict.benchmark}: {verdict.reason}" for verdict in verdicts if not verdict.fits]
    if not wrong:
        return 0, [*lines, f"all within {TOLERANCE:.0%}"]
    return 1, [*lines, f"FAILED: {'; '.join(wrong)}", *ADVICE.splitlines()]


def _table(verdicts: Sequence[Verdict]) -> list[str]:
    lines = [f"{'benchmark':14}{'counted':>10}{'recorded':>10}{'change':>9}"]
    for verdict in verdicts:
        count, recorded = (
            "-" if value is None else f"{value:.1f}" for value in (verdict.count, verdict.recorded)
        )
        change = "-" if verdict.change is None else f"{verdict.change:+.2%}"
        lines.append(f"{verdict.benchmark:14}{count:>10}{recorded:>10}{change:>9}")
    return lines


def _draw(history: Path, picture: Path) -> int:
    # Drawing needs the environment of `make setup`, counting only Python.
    from chart import draw

    draw(load(history), picture)
    print(f"drawn: {picture}")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    add("--record", metavar="LABEL", help="add the counts to the history: what changed, few words")
    add("--draw", action="store_true", help="draw the history, count nothing")
    add("--runner", type=Path, metavar="FILE", help="a runner built already (default: build it)")
    add("--history", type=Path, default=HISTORY, metavar="FILE")
    add("--picture", type=Path, default=PICTURE, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.record is not None and not options.record.strip():
        parser.error('--record: say what changed, as in LABEL="departures booked at arrival"')
    return options


if __name__ == "__main__":
    sys.exit(main())
