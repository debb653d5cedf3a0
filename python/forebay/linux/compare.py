"""A run on Linux beside the simulated run of the same scenario."""

from __future__ import annotations

from forebay.linux.counters import read_counters
from forebay.linux.machine import run_script
from forebay.linux.values import number
from forebay.run.interrupts import terminated_like_interrupted
from forebay.run.jobs import run_jobs

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from forebay.run.jobs import Job, Run

__all__ = ["compared"]

LATE = 0.01
"""The share by which a measured time may differ from the scenario's before there is no verdict."""


def compared(job: Job, values: dict[str, str], script: str, where: str) -> dict[str, Any]:
    """The document of a run on Linux and of the simulated one."""
    runs: dict[int, Run] = {}
    run_jobs([job], runs.__setitem__, 1)
    simulated = runs[0].document
    hystart = {value for key, value in values.items() if key.endswith(".cubic.hystart")}
    # A setting of the whole kernel: only a kernel of its own may have another.
    switches = ["tcp_cubic.hystart=0"] if where == "uml" and hystart == {"false"} else []
    duration = float(number(values["duration"]))
    with (
        terminated_like_interrupted(),
        run_script(script, where, duration, switches) as (folder, facts),
    ):
        counted = read_counters(folder, values)
    wanted = simulated["measured_s"]
    in_time = abs(counted["measured_s"] - wanted) <= LATE * wanted
    idle = facts["clock"] == "simulated" or max(facts["load"]) < facts["cores"]
    return {
        "name": simulated["name"],
        "linux": {**facts, "switches": switches, "kept_pace": in_time and idle, **counted},
        "simulated": {
            "digest": simulated["digest"],
            "version": simulated["version"],
            "measured_s": wanted,
            "flows": [_part(row, counted["flows"]) for row in simulated["groups"]],
            "links": [_part(row, counted["links"]) for row in simulated["links"]],
        },
    }


def _part(row: Mapping[str, Any], like: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of a simulated row that Linux has, too."""
    return {key: row[key] for key in like[0]} if like else {"name": row["name"]}
