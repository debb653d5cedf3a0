"""One point in a process of its own, so that its peak memory is its own.

Reads a task as JSON from standard input (`text`, `replications`, `threads`) and prints what it
took. `wall_s` is the run alone, as the engine clocks it; of several replications the whole batch,
set-up included. `total_s` is from the text of the scenario to its results in Python.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

from forebay.run.jobs import Job, Run, cores, run_jobs, version


def measure(text: str, replications: int, threads: int) -> dict[str, Any]:
    """Run the scenario so many times; hops, events, seconds and bytes."""
    jobs = [Job(text, replication=number) for number in range(replications)]
    threads = min(threads or cores(), replications)
    hops = events = 0
    inside = 0.0

    def done(_index: int, run: Run) -> None:
        nonlocal hops, events, inside
        hops += run.document["packet_hops"]
        events += run.document["events"]
        inside += run.document["wall_s"]

    begun = time.perf_counter()
    run_jobs(jobs, done, threads)
    total = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "packet_hops": hops,
        "events": events,
        "wall_s": inside if replications == 1 else total,
        "total_s": total,
        # macOS counts bytes, Linux kibibytes.
        "peak_rss_bytes": peak if sys.platform == "darwin" else 1024 * peak,
        "version": version(),
    }


if __name__ == "__main__":
    json.dump(measure(**json.load(sys.stdin)), sys.stdout)
