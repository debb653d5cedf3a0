#!/usr/bin/env python3
"""Queues and congestion controls, simulated and on Linux, side by side.

    make linux                             measure all cells, write result.json, print the table
    make linux ARGS="--only codel"         the cells whose name has that word; nothing is written
    make linux ARGS="--replications 5"

A cell is four flows of one congestion control for 20 s through one queue: 10 Mbit/s, a round trip
of 40 ms, of which up to 2 ms are random: at fixed times which flow finds the queue full is a matter
of phase (Floyd and Jacobson, On traffic phase effects in packet-switched gateways, 1992). Each is
run several times on both sides, with other random numbers: in the simulator by the number of the
replication, in Linux by another boot. The differences are Student's intervals.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay.linux.compare import compared
from forebay.linux.script import network_script
from forebay.run.jobs import Job, check
from forebay.stats import paired_difference

RESULT = Path(__file__).with_name("result.json")

LINUX_PIE = 'decay = "empty", high_delay = "250 ms", update_interval = "30 ms"'

QUEUES: dict[str, str | tuple[str, str]] = {
    "droptail": 'droptail = { limit = "50 packets" }',
    "red": 'red = { limit = "100 packets", mean_packet = "1500 B", count = "linux" }',
    "codel": 'codel = { limit = "1000 packets" }',
    "codel-ecn": 'codel = { limit = "1000 packets", ecn = true }',
    "pie": 'pie = { limit = "1000 packets" }',
    "pie-linux": (
        f'pie = {{ limit = "1000 packets", mean_packet = "1514 B", {LINUX_PIE} }}',
        'pie = { limit = "1000 packets" }',
    ),
    "fq_codel": 'fq_codel = { mtu_scope = "all" }',
    "fq_pie": (f'fq_pie = {{ mean_packet = "1514 B", {LINUX_PIE} }}', "fq_pie = {}"),
    "cake": "cake = {}",
    "sfq": "sfq = {}",
}
"""Queues by name: the same on both sides, or the simulated one and that of which Linux gets the
words. Linux's PIE has no other decay, and makes 30 ms of 15."""

SHORT = (
    "reno through droptail",
    "cubic through fq_codel",
    "reno through codel",
    "reno through pie",
    "bbr through sfq",
)
"""Cells that the README shows."""

CONTROLS = ("reno", "cubic", "bbr", "vegas")

SCENARIO = """
name = "{name}"
duration = "20 s"
warm_up = "5 s"
[links.line]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "19 ms"
impairment.jitter = {{ mean = "1 ms" }}
reverse.delay = "20 ms"
queue = {{ {queue} }}
[flows.bulk]
from = "a"
to = "b"
count = 4
tcp = {{ control = {{ {control} = {{}} }}, ecn = {ecn} }}
"""

QUANTITIES = ("throughput_bps", "drops", "marks")
"""What is kept of the link."""

COLUMNS = {
    "throughput in Mbit/s": (1e6, ("throughput_bps",)),
    "drops and marks": (1.0, ("drops", "marks")),
}
"""What the table shows: the unit, and the quantities that it sums."""


def job(queue: str, control: str, linux: bool = False) -> Job:
    """The scenario of a cell, simulated or on Linux."""
    laws = QUEUES[queue]
    law = laws if isinstance(laws, str) else laws[linux]
    ecn = "true" if queue.endswith("-ecn") else "false"
    name = f"{control} through {queue}"
    text = SCENARIO.format(name=name, queue=law, control=control, ecn=ecn)
    return Job(text, name)


def measure(queue: str, control: str, replications: int) -> dict[str, Any]:
    """A cell: what the link did in each replication, simulated and on Linux."""
    one = job(queue, control)
    values = check(job(queue, control, linux=True))["resolved"]
    script, _ = network_script(values, [])
    rows: dict[str, list[Mapping[str, Any]]] = {"simulated": [], "linux": []}
    kernel = ""
    for number in range(replications):
        document = compared(one.but(replication=number), values, script, "uml")
        kernel = document["linux"]["kernel"]
        for side, found in rows.items():
            found.append(document[side]["links"][0])
    taken = {
        key: {side: [row[key] for row in found] for side, found in rows.items()}
        for key in QUANTITIES
    }
    return {"name": one.name, "kernel": kernel, **taken}


def table(cells: Sequence[Mapping[str, Any]]) -> str:
    """The cells in Markdown: means of both sides, and the interval of the difference."""
    heads = [f"{title}, simulated | Linux | difference" for title in COLUMNS]
    lines = ["| " + " | ".join(["cell", *heads]) + " |", "|---" * 7 + "|"]
    for cell in cells:
        words = [cell["name"]]
        for places, (unit, keys) in zip((2, 0), COLUMNS.values(), strict=True):
            ours, theirs = (
                [
                    sum(values) / unit
                    for values in zip(*(cell[key][side] for key in keys), strict=True)
                ]
                for side in ("simulated", "linux")
            )
            difference = paired_difference(theirs, ours)
            words += [f"{sum(side) / len(side):.{places}f}" for side in (ours, theirs)]
            words.append(f"{difference.mean:+.{places}f} ± {difference.half_width:.{places}f}")
        lines.append("| " + " | ".join(words) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure the cells that are asked for; keep all of them, if all are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="WORD", help="cells with it in their name")
    parser.add_argument("--replications", type=int, default=3, metavar="N", help="of each cell")
    wanted = parser.parse_args()
    cells = []
    for control, queue in itertools.product(CONTROLS, QUEUES):
        one = job(queue, control)
        if wanted.only in one.name:
            cells.append(measure(queue, control, wanted.replications))
            print(one.name, file=sys.stderr)
    if not wanted.only:
        rows = ",\n".join(json.dumps(cell) for cell in cells)
        RESULT.write_text(f'{{"cells": [\n{rows}\n]}}\n', encoding="utf-8")
    print(table(cells))


if __name__ == "__main__":
    main()
