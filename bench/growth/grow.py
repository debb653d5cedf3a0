#!/usr/bin/env python3
"""Growth of the cost of a packet hop with flows, links, link rate, replications, homes.

    make growth                                 measure all, write result.json, draw
    make growth ARGS="--scale 0.1 --repeats 2"  a tenth of the work: does it run?
    make growth ARGS="--axis flows --largest 100000"
    make growth ARGS=--draw                     draw what result.json holds

Each point is run several times, each time in a process of its own; the points of a curve take
turns, so that a slow spell of the machine falls on all. A point that takes longer than its budget
is noted as such, and larger ones of its curve are left out. Axes that are not asked for keep what
stands in result.json. Exit status: 0 done, 1 a point failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from axes import AXES, WORK, Axis, Curve

HERE = Path(__file__).resolve().parent
RESULT = HERE / "result.json"
IMAGES = HERE.parents[1] / "docs" / "images"


@dataclass
class Point:
    """One point of a curve: what its runs gave, or a note why there are none."""

    x: int
    runs: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """The entry in result.json; spreads are [least, median, greatest]."""
        if self.note:
            return {"x": self.x, "note": self.note}
        return {
            "x": self.x,
            "packet_hops": self.runs[-1]["packet_hops"],
            "ns_per_hop": _spread([_ns_per_hop(run) for run in self.runs]),
            "wall_s": _spread([run["wall_s"] for run in self.runs]),
            **self._starts(),
            "total_s": _spread([run["total_s"] for run in self.runs]),
            "peak_rss_bytes": max(run["peak_rss_bytes"] for run in self.runs),
        }

    def _starts(self) -> dict[str, Any]:
        """Time of starts that were measured beside the runs, set-up included."""
        starts = [run["start"]["wall_s"] for run in self.runs if "start" in run]
        return {"start_s": _spread(starts)} if starts else {}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what was asked for; the exit status."""
    options = _parse(arguments)
    result = _load(options.result)
    status = 0
    if not options.draw:
        result["machine"] = {"platform": platform.platform(), "cores": os.cpu_count()}
        for axis in AXES:
            if options.axis and axis.name not in options.axis:
                continue
            entry, failed = measure_axis(axis, options)
            result["axes"][axis.name] = entry
            status |= failed
        options.result.write_text(_text(result), encoding="utf-8")
    # Here, so that a child's peak memory is not that of the libraries for drawing.
    from plots import draw

    for path in draw(result, options.images):
        print(f"drawn: {path}")
    return status


def measure_axis(axis: Axis, options: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """All curves of an axis; its entry in result.json, and 1 if a point failed."""
    values = [x for x in axis.values if options.largest is None or x <= options.largest]
    curves = {}
    failed = 0
    for curve in axis.curves:
        points = measure_curve(axis, curve, values, options)
        curves[curve.name] = [point.as_json() for point in points]
        failed |= any(point.note.startswith("failed") for point in points)
    settings = {"work_hops": round(WORK * options.scale), "repeats": options.repeats}
    return {"label": axis.label, **settings, "curves": curves}, int(failed)


def measure_curve(
    axis: Axis, curve: Curve, values: Sequence[int], options: argparse.Namespace
) -> list[Point]:
    """All points of a curve, in turns."""
    points = [Point(x) for x in values]
    for turn in range(options.repeats):
        late = ""
        for point in points:
            if late and not point.note:
                point.note = f"left out: {late}"
            if point.note:
                continue
            words = f"{axis.name}, {curve.name}, {point.x:,}"
            print(f"{words}: turn {turn + 1} of {options.repeats}", file=sys.stderr, flush=True)
            task = curve.task(point.x, WORK * options.scale)
            try:
                run = run_point(asdict(task), options.budget)
                if curve.start is not None:
                    run["start"] = run_point(asdict(curve.start(point.x)), options.budget)
                point.runs.append(run)
            except subprocess.TimeoutExpired:
                point.note = f"stopped after {options.budget:g} s"
                late = f"{point.x:,} took longer than {options.budget:g} s"
            except subprocess.CalledProcessError as error:
                last = error.stderr.strip().splitlines()[-1:] or [str(error)]
                point.note = f"failed: {last[0]}"
                print(f"{words}: {point.note}", file=sys.stderr)
    return points


def run_point(document: dict[str, Any], budget_s: float) -> dict[str, Any]:
    """Run one point in a process of its own; raises what `subprocess.run` raises."""
    done = subprocess.run(
        [sys.executable, str(HERE / "point.py")],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        timeout=budget_s,
        check=True,
    )
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _ns_per_hop(run: dict[str, Any]) -> float:
    """Time for each packet hop, without the start where that was measured."""
    start = run.get("start", {"wall_s": 0.0, "packet_hops": 0})
    time_s: float = run["wall_s"] - start["wall_s"]
    return 1e9 * time_s / (run["packet_hops"] - start["packet_hops"])


def _spread(values: Sequence[float]) -> list[float]:
    """Least, median and greatest, to four digits."""
    three = min(values), statistics.median(values), max(values)
    return [float(f"{value:.4g}") for value in three]


def _text(result: dict[str, Any]) -> str:
    """The result as JSON, lists of numbers on one line."""
    text = json.dumps(result, indent=1) + "\n"
    return re.sub(r"\[[\s\d.,e+-]+\]", lambda found: " ".join(found[0].split()), text)


def _load(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {"axes": {}}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    names = [axis.name for axis in AXES]
    add("--axis", action="append", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    add("--scale", type=float, default=1.0, help=f"times the work of a point, {WORK:,} packet hops")
    add("--repeats", type=int, default=5, metavar="N", help="runs of each point (default: 5)")
    add("--largest", type=int, metavar="X", help="no points beyond (default: all)")
    add("--budget", type=float, default=120.0, metavar="S", help="for one run (default: 120 s)")
    add("--draw", action="store_true", help="draw result.json, measure nothing")
    add("--result", type=Path, default=RESULT, metavar="FILE")
    add("--images", type=Path, default=IMAGES, metavar="DIR")
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats {options.repeats}: at least 1")
    if options.scale <= 0:
        parser.error(f"--scale {options.scale:g}: more than 0")
    return options


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
