"""The standard benchmarks: how long a scenario takes, and how much memory.

Each scenario of `bench/scenarios` has a process of its own, start-up included in the peak
memory but not in the time: `wall_s` is the run itself, as the engine clocks it. An ensemble is many
replications of one scenario on all cores; its `wall_s` is the time of the whole batch, and its
`scaling_efficiency` compares the packet hops a second with what one core does alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay import text
from forebay.errors import UserError, nearest, read_text
from forebay.progress import note

__all__ = ["names", "run_benchmarks"]

SCENARIOS = Path(__file__).parent / "benchmarks"


@dataclass(frozen=True, slots=True)
class _Benchmark:
    """A scenario file and how often, how long and on how many cores (0: all) it runs."""

    scenario: str
    replications: int = 1
    until: str | None = None
    threads: int = 1


ENSEMBLES = {"s5-ensemble": _Benchmark("s1-af", replications=64, until="10 s", threads=0)}


def run_benchmarks(name: str | None, as_json: bool) -> None:
    """`forebay bench`: run all benchmarks, or one, and print what they took.

    Raises `UserError` for an unknown name.
    """
    found = names()
    if name is not None and name not in found:
        raise UserError(
            f'no benchmark "{name}"{nearest(name, found)}; there are {", ".join(found)}'
        )
    rows = []
    for chosen in found if name is None else [name]:
        note(f"{chosen} ...")
        # A benchmark alone has this process to itself; several get one each, so that the peak
        # memory of one is not another's.
        measured = _measure(chosen) if name is None else _child(chosen)
        rows.append({"name": chosen, **measured})
    if as_json:
        json.dump({"benchmarks": rows}, sys.stdout, indent=1)
        print()
        return
    _show(rows)


def names() -> list[str]:
    """The benchmarks, in the order of their names."""
    if not SCENARIOS.is_dir():
        raise UserError(f"the benchmark scenarios are missing: no folder {SCENARIOS}")
    return sorted({path.stem for path in SCENARIOS.glob("*.toml")} | set(ENSEMBLES))


def _measure(name: str) -> dict[str, Any]:
    """One benchmark in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, "-m", "forebay.bench", name]
    child = subprocess.run(command, capture_output=True, text=True, check=False)
    if child.returncode != 0:
        lines = child.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(f"benchmark {name}: {lines[-1]}")
    measured: dict[str, Any] = json.loads(child.stdout)
    return measured


def _show(rows: list[dict[str, Any]]) -> None:
    from forebay.show import console, table

    grown = table(
        "benchmarks", "name", "packet hops", "events", "wall time", "ns/hop", "ns/event",
        "peak memory", "efficiency",
    )  # fmt: skip
    for row in rows:
        grown.add_row(
            row["name"],
            text.count(row["packet_hops"]),
            text.count(row["events"]),
            text.span(row["wall_s"]),
            f"{row['ns_per_hop']:.1f}",
            f"{row['ns_per_event']:.1f}",
            text.size(row["peak_rss_bytes"]),
            text.share(row.get("scaling_efficiency")),
        )
    console().print(grown)


def _child(name: str) -> dict[str, Any]:
    """Run the scenario of a benchmark in this process, and measure it."""
    from forebay.run import Job, Run, cores, run_jobs

    how = ENSEMBLES.get(name, _Benchmark(name))
    path = SCENARIOS / f"{how.scenario}.toml"
    scenario = read_text(path)
    threads = min(how.threads or cores(), how.replications)
    runs: list[Run] = []

    def run(replications: int, threads: int) -> float:
        """Run so many replications anew; the time they took."""
        runs.clear()
        jobs = [
            Job(scenario, path.name, replication=number, until=how.until)
            for number in range(replications)
        ]
        begun = time.perf_counter()
        run_jobs(jobs, lambda _index, run: runs.append(run), threads)
        return time.perf_counter() - begun

    alone = 0.0
    if how.replications > 1:
        run(1, 1)
        alone = runs[0].document["packet_hops"] / runs[0].document["wall_s"]
    wall = run(how.replications, threads)
    if how.replications == 1:
        wall = runs[0].document["wall_s"]
    hops = sum(run.document["packet_hops"] for run in runs)
    events = sum(run.document["events"] for run in runs)
    result = {
        "packet_hops": hops,
        "events": events,
        "wall_s": wall,
        "ns_per_hop": 1e9 * wall / max(hops, 1),
        "ns_per_event": 1e9 * wall / max(events, 1),
        "peak_rss_bytes": _peak_memory(),
        "simulated_s": sum(run.document["simulated_s"] for run in runs),
        "version": runs[0].document["version"],
    }
    if alone:
        result |= {"threads": threads, "scaling_efficiency": hops / wall / (alone * threads)}
    return result


def _peak_memory() -> int:
    """The largest resident set of this process so far, in bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    try:
        json.dump(_child(sys.argv[1]), sys.stdout)
    except UserError as problem:
        sys.exit(str(problem))
