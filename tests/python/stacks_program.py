"""A program with stacks, as `forebay stacks --with` asks one: Forebay's TCP in place of others.

`slow reno` is RENO with a window of 20 kB, by a change of the scenario; `broken` fails each cell,
`mute` ends without an answer, and `liar` answers with a result that has no group of the stack.
"""

# ruff: noqa: T201 (it answers on standard output)

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from forebay.run.jobs import Job, Run, run_jobs
from forebay.stacks.networks import ready_networks

STACKS = {
    "own cubic": ["flows.stack.tcp.control=cubic"],
    "slow reno": ["flows.stack.tcp.control=reno", 'flows.stack.tcp.window="20 kB"'],
    "broken": [],
    "mute": [],
    "liar": [],
}


def result(asked: dict[str, Any]) -> dict[str, Any]:
    """The document of a cell."""
    name = asked["network"]
    path = Path(ready_networks().get(name, name))
    found: list[Run] = []
    job = Job(
        path.read_text(encoding="utf-8"),
        str(path),
        (*asked["set"], *STACKS[asked["stack"]]),
        seed=asked["seed"],
        replication=asked["replication"],
    )
    run_jobs([job], lambda _index, run: found.append(run), 1)
    document = dict(found[0].document)
    # A real stack may not tell what it has sent again.
    for row in document["groups"]:
        if row["name"] == "stack":
            row["retransmissions"] = None
    if asked["stack"] == "liar":
        document["groups"] = []
    return document


def main() -> None:
    """Do what the first word says."""
    if sys.argv[1:] == ["list"]:
        versions = [{"name": name, "version": "test 1.0"} for name in STACKS]
        versions[1]["unseeded"] = "it draws from the operating system"
        print(json.dumps({"forebay": "0.1.0", "stacks": versions}))
        return
    assert sys.argv[1:] == ["cells"]
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["stack"] == "mute":
            print("it has had enough", file=sys.stderr)
            os._exit(7)
        if asked["stack"] == "broken":
            answer = {"cell": asked["cell"], "error": "connection lost at 3.2 s"}
        else:
            answer = {"cell": asked["cell"], "result": result(asked)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
