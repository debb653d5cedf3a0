"""A run on Linux beside the simulated run of the same scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forebay.linux.counters import read_counters
from forebay.linux.machine import run_script
from forebay.linux.values import number
from forebay.run.interrupts import terminated_like_interrupted
from forebay.run.jobs import run_jobs

if TYPE_CHECKING:
    from forebay.run.jobs import Job, Run

__all__ = ["compared", "jain_index", "simulate"]

LATE = 0.01
"""The share by which a measured time may differ from the scenario's before there is no verdict."""


def compared(job: Job, values: dict[str, str], script: str, where: str) -> dict[str, Any]:
    """The document of a run on Linux and of the simulated one."""
    hystart = {value for key, value in values.items() if key.endswith(".cubic.hystart")}
    # A setting of the whole kernel: only a kernel of its own may have another.
    switches = ["tcp_cubic.hystart=0"] if where == "uml" and hystart == {"false"} else []
    duration = float(number(values["duration"]))
    with (
        terminated_like_interrupted(),
        run_script(script, where, duration, switches) as (folder, facts),
    ):
        counted = read_counters(folder, values)
    simulated = simulate(job)
    wanted = simulated["measured_s"]
    in_time = abs(counted["measured_s"] - wanted) <= LATE * wanted
    idle = facts["clock"] == "simulated" or max(facts["load"]) < facts["cores"]
    for rows in ("flows", "links"):
        simulated[rows] = [_part(row, counted[rows]) for row in simulated[rows]]
    return {
        "name": simulated.pop("name"),
        "linux": {**facts, "switches": switches, "kept_pace": in_time and idle, **counted},
        "simulated": simulated,
    }


def simulate(job: Job) -> dict[str, Any]:
    """The simulated run: its groups of flows, with the share of each flow, and its links."""
    runs: dict[int, Run] = {}
    run_jobs([job], runs.__setitem__, 1)
    document = runs[0].document
    kept = {key: document[key] for key in ("name", "digest", "version", "measured_s", "links")}
    groups = [{**row, "shares_bps": _shares(document, row)} for row in document["groups"]]
    return {**kept, "flows": groups}


def jain_index(shares: Sequence[float]) -> float:
    """Jain's fairness index, 1 if all shares are 0 (Jain, Chiu and Hawe, DEC-TR-301, 1984)."""
    squares = sum(share**2 for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 1.0


def _part(row: Mapping[str, Any], like: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of a simulated row that Linux has, too."""
    other = next((found for found in like if found["name"] == row["name"]), {"name": ""})
    return {key: row[key] for key in other}


def _shares(simulated: Mapping[str, Any], group: Mapping[str, Any]) -> list[float]:
    """Rates in bit/s that each flow of a group has brought across: of datagrams all, of TCP each
    byte once."""
    key = "throughput_bps" if group["transport"] == "udp" else "goodput_bps"
    return [row[key] for row in simulated["flows"] if row["group"] == group["name"]]
