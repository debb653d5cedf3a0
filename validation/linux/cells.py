#!/usr/bin/env python3
"""Queues and congestion controls, simulated and on Linux, side by side.

`make validate ONLY=linux`, or with arguments of its own, `ARGS="..."`:

    cells.py                        measure all cells, write the record, print the counts
    cells.py --only codel           the cells whose name has that word
    cells.py --only codel --look    the same, without writing them down
    cells.py --simulated            the simulated side alone, beside Linux as recorded
    cells.py --replications 5

Each cell is kept as soon as it is measured. One that this build of the engine has measured on this
kernel, as often, is left as it is: a record is made in portions, and one that was interrupted goes
on (--again measures all).

A cell is four flows for 20 s through one queue: 10 Mbit/s, a round trip of 40 ms, of which up to
2 ms are random: at fixed times which flow finds the queue full is a matter of phase (Floyd and
Jacobson, On traffic phase effects in packet-switched gateways, 1992). A probe, 50 datagrams of
100 B in a second at Poisson times, has its delay measured. Each is run several times on both sides,
with other random numbers: in the simulator by the number of the replication, in Linux by another
boot.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios import CELLS, Cell

from forebay.linux.compare import compared, jain_index, simulate
from forebay.linux.machine import image
from forebay.linux.script import network_script
from forebay.run.jobs import build, check

RESULT = Path(__file__).with_name("result.json")

QUANTITIES = (
    "throughput_bps",
    "jain_index",
    "mean_delay_s",
    "p95_delay_s",
    "drops",
    "marks",
    "retransmissions",
)
"""Quantities that are kept of each run: of the link, of the flows together, and the delays of
the probe."""


def quantities(side: Mapping[str, Any]) -> dict[str, float]:
    """The quantities of one run, simulated or on Linux."""
    link = side["links"][0]
    *flows, probe = side["flows"]
    shares = [share for flow in flows for share in flow["shares_bps"]]
    return {
        "throughput_bps": link["throughput_bps"],
        "jain_index": jain_index(shares),
        "mean_delay_s": probe["mean_delay_s"],
        "p95_delay_s": probe["p95_delay_s"],
        "drops": link["drops"],
        "marks": link["marks"],
        "retransmissions": sum(flow.get("retransmissions", 0) for flow in flows),
    }


def measure(cell: Cell, replications: int) -> dict[str, Any]:
    """A cell in each replication, simulated and on Linux."""
    one = cell.job()
    values = check(cell.job(linux=True))["resolved"]
    script, _ = network_script(values, [])
    rows: dict[str, list[dict[str, float]]] = {"simulated": [], "linux": []}
    kernel = ""
    for number in range(replications):
        document = compared(one.but(replication=number), values, script, "uml")
        kernel = document["linux"]["kernel"]
        for side, found in rows.items():
            found.append(quantities(document[side]))
    return {"name": cell.name, "kernel": kernel, "made": made(), **_turned(rows)}


def made() -> dict[str, str]:
    """Returns what a cell is measured with: the build of the engine, and sources and options of
    Linux."""
    of = image().with_suffix(".of")
    return {"engine": build(), "linux": of.read_text("utf-8").strip() if of.exists() else ""}


def is_measured(cell: Cell, recorded: Mapping[str, Any], replications: int) -> bool:
    """Returns True if a cell has been measured so often with the engine and the kernel that are
    here."""
    row = recorded.get(cell.name, {})
    return row.get("made") == made() and len(row["drops"]["linux"]) == replications


def simulated_anew(cell: Cell, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded cell, with its simulated side run again as often as Linux was."""
    count = len(recorded["drops"]["linux"])
    ours = [quantities(simulate(cell.job().but(replication=number))) for number in range(count)]
    linux = [{key: recorded[key]["linux"][n] for key in QUANTITIES} for n in range(count)]
    sides = {"simulated": ours, "linux": linux}
    made_anew = {**recorded.get("made", {}), "engine": build()}
    head = {"name": cell.name, "kernel": recorded["kernel"], "made": made_anew}
    return {**head, **_turned(sides)}


def _turned(rows: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, Any]:
    return {
        key: {side: [row[key] for row in found] for side, found in rows.items()}
        for key in QUANTITIES
    }


def read() -> dict[str, dict[str, Any]]:
    """The recorded cells by name."""
    if not RESULT.exists():
        return {}
    return {cell["name"]: cell for cell in json.loads(RESULT.read_text("utf-8"))["cells"]}


def write(cells: Mapping[str, Mapping[str, Any]]) -> None:
    """Keep cells, in the order of `CELLS`."""
    rows = [json.dumps(cells[cell.name]) for cell in CELLS if cell.name in cells]
    RESULT.write_text('{"cells": [\n' + ",\n".join(rows) + "\n]}\n", encoding="utf-8")


def main() -> None:
    """Measure the cells that are asked for; each is kept as soon as it is measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="WORD", help="cells with it in their name")
    parser.add_argument("--replications", type=int, default=3, metavar="N", help="of each cell")
    parser.add_argument("--simulated", action="store_true", help="Linux as it is in the record")
    parser.add_argument("--look", action="store_true", help="keep nothing")
    parser.add_argument("--again", action="store_true", help="cells that are measured, too")
    wanted = parser.parse_args()
    recorded = read()
    for cell in CELLS:
        if wanted.only not in cell.name:
            continue
        if not (wanted.again or wanted.look or wanted.simulated) and is_measured(
            cell, recorded, wanted.replications
        ):
            continue
        if wanted.simulated:
            found = simulated_anew(cell, recorded[cell.name])
        else:
            found = measure(cell, wanted.replications)
        print(json.dumps(found), flush=True)
        if not wanted.look:
            recorded = {**read(), cell.name: found}
            write(recorded)


if __name__ == "__main__":
    main()
