"""The networks of the thesis: paths, flows and gateways, after the one path of scenario.toml.

scenario.toml shows one path. The others differ in roundtrip transit delay, expected throughput, the
gateway at which they enter and the phases in which they send; everything else is taken from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from typing import Any, NamedTuple

import numpy as np

from forebay.study import Network, Point
from forebay_studies.redn.criteria import RTTS

Section = dict[str, Any]
"""A section of a scenario."""

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
        """Name that its links and nodes are called after."""
        return f"{self.route.replace('_', '-')}{self.rate}-{self.rtt}-{self.replica}"

    @property
    def pair(self) -> str:
        """Name, after the phase, in its quantities and those of its replica."""
        return f"{self.route}{self.rate}mbps_{self.rtt}ms"


@dataclass(frozen=True, slots=True)
class Flow:
    """A connection over a path, which sends from phase `first` on, in `phases`. Where connections
    are kept it has the name of the one before, which begins with the phase `resumes`."""

    path: TransitPath
    first: str
    phases: tuple[str, ...]
    start_s: float
    stop_s: float
    resumes: str = ""

    @property
    def name(self) -> str:
        """Its name in the scenario."""
        return f"{self.path.name}-{self.resumes or self.first}"


class Phase(NamedTuple):
    """A phase, and the seconds of its parts; `start` and `end` in s."""

    name: str
    start: float
    end: float

    @property
    def begun(self) -> float:
        """Time in s at which its beginning, a fifth of it, is over."""
        return self.start + (self.end - self.start) / 5

    @property
    def whole(self) -> slice:
        """All of its seconds."""
        return slice(int(self.start), int(self.end))

    @property
    def beginning(self) -> slice:
        """The seconds of its beginning."""
        return slice(int(self.start), int(self.begun))

    @property
    def steady(self) -> slice:
        """The seconds of its steady state."""
        return slice(int(self.begun), int(self.end))

    @property
    def half(self) -> slice:
        """The seconds of its second half."""
        return slice(int(np.ceil((self.start + self.end) / 2)), int(self.end))


def phases(point: Point) -> list[Phase]:
    """The phases in their order."""
    length = PHASE_S[str(point["network"])]
    names = str(point["scenario"]).split("-")
    return [Phase(name, n * length, (n + 1) * length) for n, name in enumerate(names)]


def paths(point: Point) -> Iterator[TransitPath]:
    """All paths of a grid point: both replicas of each expected throughput and delay."""
    routes = ("two_", "one_") if point["network"] == "dual" else ("",)
    for route, rate, rtt, replica in product(routes, RATES, RTTS, REPLICAS):
        yield TransitPath(route, rate, rtt, replica)


def flows(point: Point) -> Iterator[Flow]:
    """All connections of a grid point. Who is enabled again begins a new one (section 4.1.1: "in
    their slow-start phases")."""
    for path in paths(point):
        for spans in _connections(point, path.rate):
            names = tuple(phase.name for phase in spans)
            yield Flow(path, names[0], names, spans[0].start, spans[-1].end)


def kept_connections(network: Network, point: Point) -> None:
    """A sensitivity run: who is enabled again resumes its connection, from the initial window,
    with the slow-start threshold that it had."""
    for path in paths(point):
        spans = [flow for flow in flows(point) if flow.path == path]
        if len(spans) == 1:
            continue
        first, again = spans
        shown = network.take(f"flows.{again.name}")
        on, off = first.stop_s - first.start_s, again.start_s - first.stop_s
        shown["start"] = network.section(f"flows.{first.name}")["start"]
        shown["traffic"] = {"bulk": {"on": f"{on:g} s", "off": f"{off:g} s"}}
        shown["tcp"]["idle_restart"] = True
        network.set(f"flows.{first.name}", shown)


def sent_flows(names: Collection[str], point: Point) -> list[Flow]:
    """All connections of a grid point as a run has them, by the `names` of its flows: those that
    it lacks have the name of the one before."""
    found: list[Flow] = []
    for flow in flows(point):
        again = flow.name not in names
        found.append(replace(flow, resumes=found[-1].first) if again else flow)
    return found


def _connections(point: Point, rate: int) -> list[list[Phase]]:
    """The phases of each connection of a flow of so many Mbit/s: those in a row in which it is
    enabled."""
    found: list[list[Phase]] = []
    every = phases(point)
    for phase in every:
        if rate in (ACTIVE[phase.name] if len(every) > 1 else RATES):
            if found and found[-1][-1].end == phase.start:
                found[-1].append(phase)
            else:
                found.append([phase])
    return found


def grid_point(network: Network, point: Point) -> None:
    """Gateways, paths and flows of a grid point, after the one path that scenario.toml shows."""
    end = phases(point)[-1][2]
    network.set("duration", f"{end:g} s")
    arrives, leaves, shown = (network.take(part) for part in PATTERN)
    core = network.section("links.core")
    for gateway in gateways(point):
        network.set(f"links.{gateway.link}", _gateway(core, gateway, point))
    for path in paths(point):
        bottlenecks = 2 if path.route == "two_" else 1
        delay = {"delay": f"{(path.rtt / 2 - bottlenecks * CORE_DELAY_MS) / 2:g} ms"}
        ends = {"from": f"S-{path.name}", "to": "H" if path.route == "one_" else "G"}
        conditioner = _conditioner(arrives["conditioner"], point, path)
        network.set(f"links.in-{path.name}", arrives | ends | delay | {"conditioner": conditioner})
        network.set(f"links.out-{path.name}", leaves | {"to": f"R-{path.name}"} | delay)
    for flow in flows(point):
        network.set(f"flows.{flow.name}", _flow(shown, point, flow, end))
    watched = [f"links.{gateway.link}" for gateway in gateways(point)]
    watched += [f"links.in-{path.name}" for path in paths(point)]
    network.record(series_of=[*watched, "flows"])


def is_udp(point: Point, path: TransitPath) -> bool:
    """True if a path of section 4.3 carries UDP."""
    return point["network"] == "mix" and path.rate in UDP_RATES


def thresholds(gateway: Gateway) -> dict[str, str]:
    """The thresholds of a gateway, as a queue law has them."""
    return {
        "min_threshold": f"{gateway.minimum} packets",
        "max_threshold": f"{gateway.maximum} packets",
        "middle_threshold": f"{gateway.middle} packets",
        "actual_threshold": f"{gateway.minimum} packets",
    }


def contract(mbps: int) -> dict[str, str]:
    """The rates of a conditioner: a baseline expected throughput, and the higher one."""
    return {"cir": f"{mbps} Mbit/s", "pir": f"{2 * mbps} Mbit/s"}


def _gateway(core: Section, gateway: Gateway, point: Point) -> Section:
    law = core["queue"]["adaptive_redn"] | thresholds(gateway)
    law["ecn"] = point["marking"] in ("ecn", "mixed")
    first_of_two = point["network"] == "dual" and gateway.link == "core"
    ends = {"from": "H" if gateway.link == "core2" else "G", "to": "H" if first_of_two else "E"}
    rate = {"rate": f"{gateway.mbps:g} Mbit/s"}
    return core | ends | rate | {"queue": queue_law(str(point["gateway"]), law)}


LACKING = {
    "redn": ("middle_threshold", "actual_threshold", "first_middle", "increment", "decrement"),
    "self-configuring": ("middle_threshold", "first_middle"),
}
"""Parameters that other laws than Adaptive REDn do not have."""


def queue_law(gateway: str, law: Section) -> Section:
    """The queue law: REDn and Self-Configuring REDn lack parts of Adaptive REDn."""
    if gateway in ("self-configuring", "without-actual"):
        law["actual_threshold"] = "0 packets"
    if gateway == "without-middle":
        law["first_middle"] = 3
    kept = {key: value for key, value in law.items() if key not in LACKING.get(gateway, ())}
    return {gateway.replace("-", "_") if gateway in LACKING else "adaptive_redn": kept}


ONE_COLOUR = {"fixed": {"precedence": 2}}
"""No conditioners (section 2.2), so red for all: of one colour "REDn and its variants should
function exactly as RED" (section 4.1), and the middle threshold algorithm is off for green."""


def time_sliding_window(mbps: int, window: str) -> Section:
    """A marker that estimates a rate over a window, for the rates of a path of so many Mbit/s."""
    rates = {"ctr": f"{mbps} Mbit/s", "ptr": f"{2 * mbps} Mbit/s"}
    return {"tswtcm": {**rates, "window": window}}


def _conditioner(shown: Section, point: Point, path: TransitPath) -> Section:
    if point["gateway"] == "without-conditioning":
        return ONE_COLOUR
    if point["gateway"] == "time-sliding-window":
        return time_sliding_window(path.rate, "1 s")
    if is_udp(point, path):
        # Section 4.3: fixed depths of 3 packets.
        return {"trtcm": contract(path.rate) | {"cbs": "3000 B", "pbs": "3000 B"}}
    return {"adaptive_token_bucket": shown["adaptive_token_bucket"] | contract(path.rate)}


def _flow(shown: Section, point: Point, flow: Flow, end: float) -> Section:
    start = [f"{flow.start_s:g} s", f"{flow.start_s + START_MS / 1e3:g} s"]
    found: Section = {"from": f"S-{flow.path.name}", "to": f"R-{flow.path.name}"}
    found["start"] = {"uniform": start}
    if flow.stop_s < end:
        found["stop"] = f"{flow.stop_s:g} s"
    if is_udp(point, flow.path):
        # Section 4.3: "higher expected throughput plus 2 Mbps", gaps varied by 10 %.
        rate = {"rate": f"{2 * flow.path.rate + 2} Mbit/s", "size": "1000 B", "jitter": 0.1}
        return found | {"udp": {}, "traffic": {"cbr": rate}}
    return found | {"tcp": shown["tcp"] | {"ecn": point["marking"] in ("ecn", "mixed")}}


def network_rate_bps(point: Point) -> float:
    """1.2 times the baseline expected throughputs of the flows of the baseline case, through the
    last bottleneck (section 4.1)."""
    length = len(str(point["scenario"]).split("-"))
    enabled = ACTIVE["b"] if length > 1 else RATES
    return PROVISION * 1e6 * sum(path.rate for path in paths(point) if path.rate in enabled)


def max_min_mbps(phase: str) -> dict[int, float]:
    """Rate due to a flow of each expected throughput in a phase, in Mbit/s: Table 4.1.

    "Per-color max-min unweighted fairness" (page 44): flows share the total of the baseline case,
    first for green packets, up to their baselines, then for yellow ones, up to twice that, then for
    red ones; a flow that has what its colour asks for leaves the rest to the others.
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
