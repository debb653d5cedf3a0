"""The networks of the thesis: paths, flows and gateways as assignments on top of scenario.toml.

scenario.toml shows one path. The others differ in roundtrip transit delay, expected throughput, the
gateway at which they enter and the phases in which they send; everything else is taken from it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

from forebay.study.definition import Point
from forebay.toml import inline
from forebay_studies.redn.readings import RTTS

__all__ = [
    "MEAN_DELAY_S",
    "PATTERN",
    "PROVISION",
    "RATES",
    "Flow",
    "Gateway",
    "TransitPath",
    "flows",
    "gateways",
    "is_udp",
    "max_min_mbps",
    "network",
    "network_rate_bps",
    "paths",
    "phases",
    "template",
    "twice_largest_window_packets",
]

PATTERN = ("links.in", "links.out", "flows.path")
"""Sections of scenario.toml that show one path; the grid points have others after this pattern."""

RATES = (1, 3, 5, 10)
"""Baseline expected throughputs in Mbit/s (section 4.1)."""

UDP_RATES = (3, 5)
"""Baseline expected throughputs of the UDP flows of section 4.3."""

REPLICAS = ("a", "b")

PROVISION = 1.2
"""Capacity of a bottleneck over the baseline expected throughputs of the baseline case (section
4.1)."""

START_MS = 15
"""Newly enabled flows start within so many ms of a phase (section 4.1, page 45)."""

MEAN_DELAY_S = 0.015
"""The queuing delay for which middle thresholds are meant (section 4.1)."""

CORE_DELAY_MS = 2.0
"""Propagation delay of a bottleneck link, as in scenario.toml."""

PHASE_S = {"single": 50.0, "dual": 25.0, "mix": 50.0}
ACTIVE = {"b": (1, 3, 10), "u": (1, 3), "o": RATES}
"""Expected throughputs of the flows that send in a phase (sections 4.1 and 4.2)."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """A bottleneck gateway and its link: what quantities call it, and the thresholds in packets as
    printed (sections 4.1, 4.2, 4.3)."""

    prefix: str
    link: str
    mbps: float
    minimum: int
    middle: int
    maximum: int


SINGLE = (Gateway("", "core", 201.6, 189, 378, 2520),)
DUAL = (
    Gateway("first_", "core", 201.6, 189, 378, 2520),
    Gateway("second_", "core2", 403.2, 415, 831, 5544),
)
MIX = (Gateway("", "core", 273.6, 256, 513, 3420),)


def gateways(point: Point) -> tuple[Gateway, ...]:
    """The bottleneck gateways of a grid point."""
    return {"single": SINGLE, "dual": DUAL, "mix": MIX}[str(point["network"])]


@dataclass(frozen=True, slots=True)
class TransitPath:
    """A path: `route` is `two_` or `one_` in the network with two bottlenecks."""

    route: str
    rate: int
    rtt: int
    replica: str

    @property
    def name(self) -> str:
        """What its links and nodes are called after."""
        return f"{self.route.replace('_', '-')}{self.rate}-{self.rtt}-{self.replica}"

    @property
    def pair(self) -> str:
        """What its quantities and those of its replica are called after the phase."""
        return f"{self.route}{self.rate}mbps_{self.rtt}ms"


@dataclass(frozen=True, slots=True)
class Flow:
    """A connection over a path, which sends from phase `first` on, in `phases`."""

    path: TransitPath
    first: str
    phases: tuple[str, ...]
    start_s: float
    stop_s: float

    @property
    def name(self) -> str:
        """Its name in the scenario."""
        return f"{self.path.name}-{self.first}"


def phases(point: Point) -> list[tuple[str, float, float]]:
    """The phases in their order: name, start and end in seconds."""
    length = PHASE_S[str(point["network"])]
    names = str(point["scenario"]).split("-")
    return [(name, n * length, (n + 1) * length) for n, name in enumerate(names)]


def paths(point: Point) -> Iterator[TransitPath]:
    """All paths of a grid point: both replicas of each expected throughput and delay."""
    routes = ("two_", "one_") if point["network"] == "dual" else ("",)
    for route, rate, rtt, replica in product(routes, RATES, RTTS, REPLICAS):
        yield TransitPath(route, rate, rtt, replica)


_Connection = tuple[str, tuple[str, ...], float, float]


@cache
def _connections(scenario: str, length: float, rate: int) -> tuple[_Connection, ...]:
    """First phase, all phases, start and stop of each connection of a flow of so many Mbit/s: one
    for each row of phases in which it is enabled."""
    found: list[_Connection] = []
    names = scenario.split("-")
    for number, name in enumerate(names):
        enabled = rate in (ACTIVE[name] if len(names) > 1 else RATES)
        goes_on = enabled and found and found[-1][3] == number * length
        if goes_on:
            first, spanned, start, _ = found[-1]
            found[-1] = (first, (*spanned, name), start, (number + 1) * length)
        elif enabled:
            found.append((name, (name,), number * length, (number + 1) * length))
    return tuple(found)


def flows(point: Point) -> Iterator[Flow]:
    """All connections of a grid point. Who is enabled again begins a new one (section 4.1.1: "in
    their slow-start phases")."""
    length = PHASE_S[str(point["network"])]
    for path in paths(point):
        for connection in _connections(str(point["scenario"]), length, path.rate):
            yield Flow(path, *connection)


def network(point: Point) -> list[str]:
    """Assignments that lay gateways, paths and flows of a grid point."""
    end = phases(point)[-1][2]
    found = [f'duration="{end:g} s"']
    for gateway in gateways(point):
        found += _gateway(point, gateway)
    for path in paths(point):
        found += _links(point, path)
    for flow in flows(point):
        found.append(f"flows.{flow.name}={inline(_flow(point, flow, end))}")
    watched = [f"links.{gateway.link}" for gateway in gateways(point)]
    watched += [f"links.in-{path.name}" for path in paths(point)]
    return [*found, f"record.series_of={inline([*watched, 'flows'])}"]


def is_udp(point: Point, path: TransitPath) -> bool:
    """Whether a path of section 4.3 carries UDP."""
    return point["network"] == "mix" and path.rate in UDP_RATES


def _gateway(point: Point, gateway: Gateway) -> list[str]:
    core = template()["links"]["core"]
    ends = {"core": ("G", "E"), "core2": ("H", "E")}[gateway.link]
    if point["network"] == "dual" and gateway.link == "core":
        ends = ("G", "H")
    law = dict(core["queue"]["adaptive_redn"])
    law |= {
        "min_threshold": f"{gateway.minimum} packets",
        "max_threshold": f"{gateway.maximum} packets",
        "middle_threshold": f"{gateway.middle} packets",
        "actual_threshold": f"{gateway.minimum} packets",
        "ecn": point["marking"] in ("ecn", "mixed"),
    }
    link = {
        "from": ends[0],
        "to": ends[1],
        "rate": f"{gateway.mbps:g} Mbit/s",
        "delay": core["delay"],
        "queue": _law(str(point["gateway"]), law),
    }
    return [f"links.{gateway.link}={inline(link)}"]


def _law(gateway: str, law: dict[str, Any]) -> dict[str, Any]:
    """The queue law: REDn and Self-Configuring REDn lack parts of Adaptive REDn."""
    lacks: tuple[str, ...] = ()
    name = "adaptive_redn"
    match gateway:
        case "redn":
            lacks = ("middle_threshold", "actual_threshold", "first_middle")
            lacks += ("increment", "decrement")
            name = "redn"
        case "self-configuring":
            law["actual_threshold"] = "0 packets"
            lacks = ("middle_threshold", "first_middle")
            name = "self_configuring"
        case "without-actual":
            law["actual_threshold"] = "0 packets"
        case "without-middle":
            law["first_middle"] = 3
    return {name: {key: value for key, value in law.items() if key not in lacks}}


def _links(point: Point, path: TransitPath) -> list[str]:
    links = template()["links"]
    bottlenecks = 2 if path.route == "two_" else 1
    delay = f"{(path.rtt / 2 - bottlenecks * CORE_DELAY_MS) / 2:g} ms"
    enters = "H" if path.route == "one_" else "G"
    arrives = {**links["in"], "from": f"S-{path.name}", "to": enters, "delay": delay}
    if is_udp(point, path):
        # Section 4.3: fixed depths of 3 packets.
        meter = {"cir": f"{path.rate} Mbit/s", "pir": f"{2 * path.rate} Mbit/s"}
        arrives["conditioner"] = {"trtcm": {**meter, "cbs": "3000 B", "pbs": "3000 B"}}
    else:
        bucket = {
            **links["in"]["conditioner"]["adaptive_token_bucket"],
            "cir": f"{path.rate} Mbit/s",
            "pir": f"{2 * path.rate} Mbit/s",
        }
        arrives["conditioner"] = {"adaptive_token_bucket": bucket}
    leaves = {**links["out"], "to": f"R-{path.name}", "delay": delay}
    return [f"links.in-{path.name}={inline(arrives)}", f"links.out-{path.name}={inline(leaves)}"]


def _flow(point: Point, flow: Flow, end: float) -> dict[str, Any]:
    shown = template()["flows"]["path"]
    found: dict[str, Any] = {
        "from": f"S-{flow.path.name}",
        "to": f"R-{flow.path.name}",
        "start": {"uniform": [f"{flow.start_s:g} s", f"{flow.start_s + START_MS / 1e3:g} s"]},
    }
    if flow.stop_s < end:
        found["stop"] = f"{flow.stop_s:g} s"
    if is_udp(point, flow.path):
        # Section 4.3: "higher expected throughput plus 2 Mbps", gaps varied by 10 %.
        rate = {"rate": f"{2 * flow.path.rate + 2} Mbit/s", "size": "1000 B", "jitter": 0.1}
        found |= {"udp": {}, "traffic": {"cbr": rate}}
    else:
        found["tcp"] = {**shown["tcp"], "ecn": point["marking"] in ("ecn", "mixed")}
    return found


@cache
def template() -> Mapping[str, Any]:
    """scenario.toml, whose one path and gateway show what the others are like."""
    text = (Path(__file__).parent / "scenario.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def network_rate_bps(point: Point) -> float:
    """1.2 times the baseline expected throughputs of the flows of the baseline case, through the
    last bottleneck (section 4.1)."""
    length = len(str(point["scenario"]).split("-"))
    enabled = ACTIVE["b"] if length > 1 else RATES
    return PROVISION * 1e6 * sum(path.rate for path in paths(point) if path.rate in enabled)


def max_min_mbps(phase: str) -> dict[int, float]:
    """What a flow of each expected throughput is due in a phase, in Mbit/s: Table 4.1.

    "Per-color max-min unweighted fairness" (page 44): flows share the total of the baseline case,
    first for green packets, up to their baselines, then for yellow ones, up to twice that, then for
    red ones; whoever has what its colour asks for leaves the rest to the others.
    """
    active = ACTIVE[phase]
    left = float(sum(ACTIVE["b"]))
    due = dict.fromkeys(active, 0.0)
    for multiple in (1.0, 2.0, inf):
        wanting = sorted(active)
        while wanting and left > 0.0:
            least = wanting[0]
            # All that want more rise alike, until the least of them is content or nothing is left.
            step = min(multiple * least - due[least], left / len(wanting))
            for rate in wanting:
                due[rate] += step
            left -= step * len(wanting)
            wanting = [rate for rate in wanting if due[rate] < multiple * rate]
    return due


def twice_largest_window_packets(point: Point) -> float:
    """Twice the largest product of expected throughput and delay, in packets."""
    return 2.0 * max(path.rate * path.rtt * 1e3 / 8000.0 for path in paths(point))
