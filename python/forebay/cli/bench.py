"""The standard benchmarks: how long a scenario takes, and how much memory.

Each scenario of `bench/scenarios` has a process of its own, start-up included in the peak
memory but not in the time: `wall_s` is the run itself, as the engine clocks it. An ensemble is many
replications of one scenario on all cores; its `wall_s` is the time of the whole batch, and its
`scaling_efficiency` compares the packet hops a second with what one core does alone.

`setup_s` is the time before simulated time begins: reading, checking and wiring the scenario. What
`s4-million` reports beside it is how cost grows with size: the same scenario with a thousandth of
the flows, rates and buffers has the same work for each packet, so that `cost_growth`, the ratio of
the costs of a hop without set-up, would be 1 if memory were equally fast everywhere.

What `p1-dual-bottleneck` and `p2-64-routers` report beside it is how much faster one run is on two
cores: `speedup` is the least time of three runs on one over that of three on two, in turn.
"""

# ruff: noqa: T201, TID251, PLC0415 (prints and measures time; not every system has resource)

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from forebay import text
from forebay.cli.terminal import console, table
from forebay.errors import UserError, nearest, read_text
from forebay.run.jobs import Job, Run, check, cores, run_jobs
from forebay.run.progress import note

__all__ = ["names", "run_benchmarks"]

SCENARIOS = Path(__file__).parents[1] / "benchmarks"


@dataclass(frozen=True, slots=True)
class _Benchmark:
    """A scenario file and how often, how long and on how many cores (0: all) it runs.

    `part` divides its size: numbers of flows, rates of links and limits of their queues.
    """

    scenario: str
    replications: int = 1
    until: str | None = None
    threads: int = 1
    part: int = 1


ENSEMBLES = {"s5-ensemble": _Benchmark("s1-af", replications=64, until="10 s", threads=0)}

PARTS = {"s4-million": _Benchmark("s4-million", replications=100, part=1000)}
"""Parts that benchmarks are compared with; enough replications that the time can be measured."""

COUPLED = ("d1-fat-tree", "p1-dual-bottleneck", "p2-64-routers")
"""Networks of several partitions, of which one run is timed on one core and on two."""


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
        rows.append({"name": chosen, **measured, **_compare(chosen, measured)})
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


def _measure(name: str, *options: str) -> dict[str, Any]:
    """One benchmark in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, "-m", "forebay.cli.bench", name, *options]
    child = subprocess.run(command, capture_output=True, text=True, check=False)
    if child.returncode != 0:
        lines = child.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(f"benchmark {name}: {lines[-1]}")
    measured: dict[str, Any] = json.loads(child.stdout)
    return measured


def _compare(name: str, whole: dict[str, Any]) -> dict[str, Any]:
    """Figures of a benchmark beside its own numbers, where it is compared with a part."""
    if name not in PARTS:
        return {}
    part = _measure(name, "--part")
    whole_hop, part_hop = (1e9 * row["run_s"] / row["packet_hops"] for row in (whole, part))
    return {
        "bytes_per_flow": whole["peak_rss_bytes"] / whole["flows"],
        "ns_per_hop_without_setup": whole_hop,
        "ns_per_hop_thousand": part_hop,
        "cost_growth": whole_hop / part_hop,
    }


def smaller(scenario: str, part: int) -> tuple[str, ...]:
    """Assignments that make a scenario so many times smaller: numbers of flows, rates of links and
    limits of their queues. Delays, and what each flow does, stay as they are."""
    document = tomllib.loads(scenario)
    made = []
    for name, flows in document["flows"].items():
        made.append(f"flows.{name}.count={flows.get('count', 1) // part}")
    for name, link in document["links"].items():
        made.append(f'links.{name}.rate="{_divided(link["rate"], part)}"')
        for law, parameters in link.get("queue", {}).items():
            if "limit" in parameters:
                limit = _divided(parameters["limit"], part)
                made.append(f'links.{name}.queue.{law}.limit="{limit}"')
    return tuple(made)


def _divided(quantity: str, part: int) -> str:
    """A quantity such as `100 Gbit/s` divided by `part`."""
    found = re.fullmatch(r"([\d.]+) (\S+)", quantity)
    if found is None:
        raise ValueError(f"{quantity!r} is not a number and a unit")
    return f"{Decimal(found[1]) / part:f} {found[2]}"


def _show(rows: list[dict[str, Any]]) -> None:
    grown = table(
        "benchmarks", "name", "packet hops", "events", "wall time", "ns/hop", "ns/event",
        "set-up", "peak memory", "efficiency",
    )  # fmt: skip
    for row in rows:
        grown.add_row(
            row["name"],
            text.count(row["packet_hops"]),
            text.count(row["events"]),
            text.span(row["wall_s"]),
            f"{row['ns_per_hop']:.1f}",
            f"{row['ns_per_event']:.1f}",
            text.span(row["setup_s"]),
            text.size(row["peak_rss_bytes"]),
            text.share(row.get("scaling_efficiency")),
        )
    console().print(grown)
    for row in rows:
        if "speedup" in row:
            console().print(
                f"{row['name']}: one run on {row['threads']} cores takes "
                f"{text.span(row['wall_s_threads'])}, {row['speedup']:.2f} times faster than on one"
            )
        if "cost_growth" in row:
            console().print(
                f"{row['name']}: {row['bytes_per_flow']:.0f} B a flow, Python included; "
                f"{row['ns_per_hop_without_setup']:.1f} ns a hop without set-up, "
                f"{row['cost_growth']:.2f} times that of a part of it "
                f"({row['ns_per_hop_thousand']:.1f} ns)"
            )


def _child(name: str, part: bool = False) -> dict[str, Any]:
    """Run the scenario of a benchmark (or its part) in this process, and measure it."""
    how = PARTS[name] if part else ENSEMBLES.get(name, _Benchmark(name))
    path = SCENARIOS / f"{how.scenario}.toml"
    scenario = read_text(path)
    whole = Job(
        scenario,
        path.name,
        overrides=smaller(scenario, how.part) if how.part > 1 else (),
        until=how.until,
    )
    begun = time.perf_counter()
    flows = check(whole)["flows"]
    checked = time.perf_counter() - begun
    threads = min(how.threads or cores(), how.replications)
    runs: list[Run] = []

    def run(replications: int, threads: int) -> float:
        """Run so many replications anew; the time they took."""
        runs.clear()
        jobs = [whole.but(replication=number) for number in range(replications)]
        begun = time.perf_counter()
        run_jobs(jobs, lambda _index, run: runs.append(run), threads)
        return time.perf_counter() - begun

    alone = 0.0
    if how.replications > 1:
        run(1, 1)
        alone = runs[0].document["packet_hops"] / runs[0].document["wall_s"]
    wall = run(how.replications, threads)
    setup = sum(run.document["setup_s"] for run in runs) / threads
    if threads == 1:
        # On one thread the runs' own clocks leave out what Python does between them.
        wall = sum(run.document["wall_s"] for run in runs)
    peak = _peak_memory()
    hops = sum(run.document["packet_hops"] for run in runs)
    events = sum(run.document["events"] for run in runs)
    result = {
        "packet_hops": hops,
        "events": events,
        "wall_s": wall,
        "ns_per_hop": 1e9 * wall / max(hops, 1),
        "ns_per_event": 1e9 * wall / max(events, 1),
        "setup_s": checked + setup,
        "run_s": wall - setup,
        "peak_rss_bytes": peak,
        "flows": flows,
        "simulated_s": sum(run.document["simulated_s"] for run in runs),
        "version": runs[0].document["version"],
    }
    if name in COUPLED:
        result |= _speedup(whole)
    if alone:
        result |= {"threads": threads, "scaling_efficiency": hops / wall / (alone * threads)}
    return result


def _speedup(job: Job, threads: int = 2) -> dict[str, Any]:
    """Time of one run on so many cores, and its speed relative to one on one core."""
    times: dict[int, list[float]] = {1: [], threads: []}
    digests = set()

    def done(number: int, _index: int, run: Run) -> None:
        times[number].append(run.document["wall_s"])
        digests.add(run.document["digest"])

    for _ in range(3):
        for number in times:
            run_jobs([job.but(threads=number)], partial(done, number), 1)
    if len(digests) > 1:
        raise RuntimeError(f"runs on one core and on {threads} differ: a bug in Forebay")
    one, several = (min(times[number]) for number in (1, threads))
    return {"threads": threads, "wall_s_threads": several, "speedup": one / several}


def _peak_memory() -> int:
    """The largest resident set of this process so far, in bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    try:
        json.dump(_child(sys.argv[1], part="--part" in sys.argv[2:]), sys.stdout)
    except UserError as problem:
        sys.exit(str(problem))
