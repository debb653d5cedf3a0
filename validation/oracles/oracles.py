#!/usr/bin/env python3
"""The engine against theory and against independent references: 200 cells.

`make validate ONLY=oracles`, or with arguments of its own, `ARGS="..."`:

    oracles.py                      all, at full length, and the table of z values
    oracles.py --family M/M/1       one family
    oracles.py --quick              pilots alone, a tenth of the packets

A cell is a queue with a known mean or loss, whose 99 % interval over independent replications is to
hold it (z is the distance in standard errors), or a run in which every packet is compared with a
reference in whole numbers. A replication is as long as a pilot with other seeds says that a
half-width of 1 % of the mean takes. Each cell has a root seed of its own, its number.

Exit status: 0 if at least 97 % of the cells agree, else 1; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import calls
import packets
import queues
from measuring import Cell, Exact, Outcome, run_cell

__all__ = ["CELLS", "family_table", "main", "share_inside"]

RESULT = Path(__file__).resolve().parent / "result.json"
CELLS: list[Cell] = [*queues.CELLS, *calls.CELLS, *packets.CELLS]
SHARE = 0.97


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cells that were asked for; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    families = list(dict.fromkeys(cell.family for cell in CELLS))
    parser.add_argument("--family", choices=families)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    rows = []
    for seed, cell in enumerate(CELLS):
        if options.family in (None, cell.family):
            rows.append(row(cell, seed, run_cell(cell, seed, options.quick)))
            print(line(rows[-1]), flush=True)
    share = share_inside(rows)
    print(f"{len(rows)} cells, {100 * share:.1f} % agree; half-width above 1 % in "
          f"{sum(row['half_width'] > 0.01 for row in rows)}")  # fmt: skip
    if len(rows) == len(CELLS) and not options.quick:
        lines = ",\n".join(json.dumps(row) for row in rows)
        RESULT.write_text(f"[\n{lines}\n]\n")
    return 0 if share >= SHARE else 1


def share_inside(rows: Sequence[dict[str, Any]]) -> float:
    """The share of cells that agree with their theory or reference."""
    return sum(row["inside"] for row in rows) / len(rows)


def family_table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The lines of a table of families for the documentation."""
    heads = ["family", "cells", "agree", "largest z", "widest 99 % interval"]
    lines = ["| " + " | ".join(heads) + " |", "| --- | --: | --: | --: | --: |"]
    for family in dict.fromkeys(row["family"] for row in rows):
        of = [row for row in rows if row["family"] == family]
        inside = sum(row["inside"] for row in of)
        if of[0]["exact"]:
            packets = f"{sum(row['count'] for row in of):,} compared".replace(",", " ")
            last = [packets, f"{sum(row['found'] for row in of):.0f} differ"]
        else:
            widest = max(row["half_width"] for row in of)
            last = [f"{max((row['z'] for row in of), key=abs):+.1f}", f"± {100 * widest:.1f} %"]
        lines.append("| " + " | ".join([family, str(len(of)), str(inside), *last]) + " |")
    return lines


def row(cell: Cell, seed: int, outcome: Outcome) -> dict[str, Any]:
    """A cell of the table."""
    return {
        "family": cell.family,
        "cell": cell.title,
        "exact": isinstance(cell.check, Exact),
        "seed": seed,
        "theory": outcome.theory,
        "found": outcome.found,
        "half_width": round(outcome.half_width, 5),
        "z": round(outcome.z, 3),
        "inside": outcome.inside,
        "count": outcome.count,
    }


def line(row: dict[str, Any]) -> str:
    """A cell as a line of text."""
    head = f"{row['seed']:3} {row['family']:18} {row['cell'][:62]:62}"
    if row["exact"]:
        said = f"{row['count']} compared, {row['found']:.0f} differ"
    else:
        width = 100 * row["half_width"]
        said = f"{row['theory']:9.5f} {row['found']:9.5f} +-{width:.2f} %  z {row['z']:+.2f}"
    return f"{head} {said}{'' if row['inside'] else '  OUTSIDE'}"


if __name__ == "__main__":
    sys.exit(main())
