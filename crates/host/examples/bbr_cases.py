"""The test cases of BBR's draft on noq's BBRv3, by the functions that judge them for any control.

    cargo build --release -p forebay-host --features quinn,noq --example bbr_cases
    python crates/host/examples/bbr_cases.py target/release/examples/bbr_cases

The suite `bbr-draft` gives scenarios, pilot runs and judgements; the program runs each scenario
with noq in the place of the flow under test, and shows its state. It prints a table of Markdown.
"""

# ruff: noqa: T201, TID253 (it is a program that prints, and reads series)

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forebay.run.executors import Done, Failed, Take, Tick
from forebay.run.jobs import Job, Run, build, check
from forebay.run.journal import Journal
from forebay.run.measured import measured
from forebay.run.summary import finished
from forebay.run.sweep import plan, run_all
from forebay.suite import bbr
from forebay.suite.cells import PASSES, Asked, cells_of
from forebay.suite.definition import load_definition
from forebay.suite.folders import suite_folder
from forebay.suite.laws import law_of
from forebay.suite.pilots import settled

bbr.MSS, bbr.PAYLOAD = 1472.0, 1472.0 / 1500.0
"""What noq counts: datagrams of 1472 B, of which 28 B of headers make packets of 1500 B."""


class Stacks:
    """An executor that has a program run the jobs."""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )

    def run(self, jobs: Sequence[Job], take: Take, done: Done, failed: Failed, tick: Tick) -> None:
        """Make the runs one after another."""
        while (at := take()) is not None:
            answer = self._ask(jobs[at])
            if "error" in answer:
                failed(at, answer["error"])
            else:
                run = Run(answer["result"], _tables(answer))
                done(at, _judged(run, jobs[at].measures))
            tick([])

    def close(self) -> None:
        """End the program."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, job: Job) -> Any:
        asked = {
            "text": job.text,
            "set": list(job.overrides),
            "seed": job.seed or 1,
            "replication": job.replication,
            "writes": _writes(job),
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _writes(job: Job) -> list[Any] | None:
    """Size, interval and number of the files that the application writes; none for bulk data."""
    resolved = check(job)["resolved"]
    file = {
        key: resolved.get(f"flows.bulk.traffic.file.{key}") for key in ("size", "interval", "count")
    }
    if file["size"] is None:
        return None
    return [*(str(file[key]).strip('"') for key in ("size", "interval")), int(file["count"])]


def _tables(answer: Any) -> dict[str, dict[str, Any]]:
    """The series with the names that those of the model's TCP have."""
    tables = {
        f"series/{place}": {
            name: np.array([np.nan if each is None else each for each in values], dtype=float)
            for name, values in columns.items()
        }
        for place, columns in answer["series"].items()
    }
    flow = tables["series/flows.bulk"]
    empty = np.full(len(flow["time_s"]), np.nan)
    flow["mean_cwnd_bytes"] = flow.get("cwnd_bytes", empty)
    flow["mean_srtt_s"] = flow.get("srtt_s", empty)
    flow["mean_flight_packets"] = flow.get("inflight_bytes", empty) / bbr.MSS
    return tables


def _judged(run: Run, measures: str) -> Run:
    """The run with what its plan asks for. QUIC has probe timeouts for retransmission timeouts
    (RFC 9002, section 6.2), which nothing counts: a case that needs one is judged."""
    for row in run.document["flows"] + run.document["groups"]:
        row["timeouts"] = 1
    found = measured(run, measures)
    return Run({**run.document, "build": build(), "measured": found}, run.tables)


def main() -> None:
    """Run the cases, and print what decides each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--cells")
    options = parser.parse_args()
    folder = suite_folder("bbr-draft")
    laws = [law_of("bbr3", "control", "baseline")]
    definition = load_definition(folder)
    where = Stacks(options.program)
    found: dict[tuple[str, str], list[tuple[float | None, str]]] = {}
    for seed in range(1, options.runs + 1):
        # With a pilot run each: noq draws when it probes from the operating system.
        asked = Asked(laws=laws, cells=options.cells, replications=1, seed=seed)
        with tempfile.TemporaryDirectory() as place, Journal(Path(place), "") as journal:
            asked_for = [(cell, plan(cell.sweep)) for cell in cells_of(folder, definition, asked)]
            parts = settled(asked_for, laws, "noq", journal, where)
            run_all([(cell.sweep, planned) for cell, planned in parts], "noq", journal, where)
            for cell, planned in parts:
                answers = found.setdefault((cell.file.section, cell.name), [])
                answers += [(None, lacking) for lacking in cell.lacking.values()]
                for entry in planned:
                    documents = [each for _, each in finished(cell.sweep, entry, journal)]
                    answers += [document["measured"][PASSES] for document in documents]
    where.close()
    print("| section | case | runs | what decides |\n| --- | --- | --- | --- |")
    for (section, name), answers in found.items():
        print(_row(section, name, answers))


def _row(section: str, name: str, answers: Sequence[tuple[float | None, str]]) -> str:
    """How often a case was passed, and what decided the first run of each outcome."""
    names = {1.0: "pass", 0.0: "fail", None: "n/a"}
    counts = collections.Counter(names[value] for value, _ in answers)
    first = {names[value]: words for value, words in reversed(answers)}
    runs = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
    told = "; ".join(f"{kind}: {words}" for kind, words in sorted(first.items()))
    return f"| {section} | {name} | {runs} | {told} |"


main()
