"""The rings of the study: grid points made of scenario.toml.

scenario.toml shows scenario 1 at OC-12 under SRP-fa with the buffers of RFC 2892. The families of
grid points are named at the top of paper.toml; whatever a family does not name is as in
scenario.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forebay.study import Network, Point
from forebay_studies.rpr.criteria import OC12, RATES

Settings = dict[str, Any]
"""Keys of a scenario by their paths, with their values."""

STATIONS = ("F", "E", "D", "C", "B", "A")
"""Stations of the slides' ring, in the order of data."""

INTERVAL_S = 102.88e-6
"""Decay interval of the slides. Series are sampled at it, so that each sample follows exactly one
step of every station."""

HOP_US = 50.0
"""Delay of a span of the slides' ring, as in scenario.toml."""

SHORT_US = 5.0
"""Delay of the spans of a short ring."""

RESERVED = 1.05
"""Reservation of D under VoQ, over its constant rate: with 1, what waits at the start would
stay."""

TRACE_ROWS = 300_000
"""Rows of a packet trace; they hold two bursts of every scenario."""

THRESHOLD_KB = {"rfc": 320.0, "small": 40.0, "scaled": 1280.0}
"""TB_LO_THRESHOLD, by set of buffers."""

HIGH_OVER_LOW = 458 / 320
"""TB_HI_THRESHOLD over TB_LO_THRESHOLD (RFC 2892, section 6.1)."""

ROOM_KB = 64.0
"""From TB_HI_THRESHOLD to where the low-priority transit buffer is full."""


def grid_point(network: Network, point: Point) -> None:
    """Turn scenario 1 of the slides into a grid point."""
    family = str(point["family"])
    if family == "idle":
        network.remove("flows.f")
    elif family in ("model", "model-voq", "full"):
        network.remove("rings.ring.delay")
    elif family != "slides":
        network.remove("rings.ring.delay", "flows.f", "flows.d")
    network.update(FAMILIES[family](point))


def starts(scenario: int) -> tuple[float, float]:
    """Times at which F and D start, in s (slides, parameters)."""
    return {1: (0.1, 0.1), 3: (0.2, 0.1), 4: (0.1, 0.2)}[scenario]


def burst_bps(scenario: int, line: str) -> float:
    """Rate that D generates in its ON state, in scenario 3 at all times, in bit/s (slides,
    parameters)."""
    if scenario == 3:
        return 50e6
    return 600e6 if scenario == 1 or line == OC12 else 2.4e9


def hub_way_us(point: Point) -> list[float]:
    """Delays of the spans from D to the hub."""
    return [HOP_US] * 3 if point["family"] in ("slides", "idle") else [SHORT_US]


def ring_of(stations: Sequence[str], delays_us: Sequence[float], rate: str) -> Settings:
    """A ring of other stations and spans than scenario.toml's; `rate` is a line or a rate."""
    return {
        "rings.ring.stations": list(stations),
        "rings.ring.rate": f"{RATES[rate] / 1e6:g} Mbit/s" if rate in RATES else rate,
        "rings.ring.delays": [f"{delay:g} us" for delay in delays_us],
    }


def srp_fa(threshold_kb: float, lp_allow: int = 64) -> Settings:
    """SRP-fa with dual transit buffers whose thresholds have the proportions of RFC 2892."""
    stop = round(threshold_kb * 1e3 * HIGH_OVER_LOW)
    return {
        "rings.ring.stop": f"{stop} B",
        "rings.ring.low_limit": f"{stop + round(ROOM_KB * 1e3)} B",
        "rings.ring.fairness.srp_fa.low_threshold": f"{threshold_kb:g} kB",
        "rings.ring.fairness.srp_fa.lp_allow": lp_allow,
    }


def voq(activity_us: float = 300.0) -> Settings:
    """VoQ with a single transit buffer."""
    law = {"voq": {"interval": "102.88 us", "activity": f"{activity_us:g} us"}}
    return {"rings.ring.transit": "single", "rings.ring.fairness": law}


def way(stations: Sequence[str], first: str, last: str) -> list[str]:
    """The stations from one to another, along the data."""
    return list(stations[stations.index(first) : stations.index(last) + 1])


def constant(bps: float) -> dict[str, Any]:
    """Packets of 1500 bytes at a constant rate, from the start on."""
    return {"cbr": {"rate": f"{bps:.0f} bit/s", "size": "1500 B", "random_phase": False}}


def flow(
    stations: Sequence[str], traffic: Mapping[str, Any], start_s: float = 0.0, precedence: int = 1
) -> dict[str, Any]:
    """A flow of datagrams over the stations."""
    return {
        "from": stations[0],
        "to": stations[-1],
        "route": list(stations),
        "precedence": precedence,
        "start": f"{start_s:g} s",
        "udp": {"header": "0 B"},
        "traffic": dict(traffic),
    }


def backlogged(stations: Sequence[str], ends: Sequence[tuple[str, str]], bps: float) -> Settings:
    """Flows that always have packets, `s1`, `s2` ...; each is offered 1.3 times `bps`."""
    flows = [flow(way(stations, *pair), constant(1.3 * bps)) for pair in ends]
    return {f"flows.s{number}": found for number, found in enumerate(flows, 1)}


def _slides(point: Point) -> Settings:
    buffers = str(point["buffers"])
    found = _rate(point)
    match point["law"]:
        case "voq":
            found |= voq() | _reservation(point)
        case "none":
            found["rings.ring.fairness"] = "none"
        case _ if buffers == "single":
            found["rings.ring.transit"] = "single"
        case _:
            found |= srp_fa(THRESHOLD_KB[buffers])
    found |= _traffic(point, STATIONS)
    spans = STATIONS[:-1] if point["law"] == "voq" else STATIONS[:3]
    found |= _sampled([*(f"links.ring.outer.{name}" for name in spans), "flows"])
    if point["law"] == "srp-fa" and buffers == "rfc":
        found["record.trace"] = TRACE_ROWS
    return found


def _rate(point: Point) -> Settings:
    return {"rings.ring.rate": f"{RATES[str(point['line'])] / 1e6:g} Mbit/s"}


def _idle(point: Point) -> Settings:
    return _rate(point) | {"flows.d": _d(point, STATIONS)}


def _model(point: Point) -> Settings:
    stations, delays = _short(point)
    found = ring_of(stations, delays, str(point["line"]))
    if point["transit"] == "single":
        found["rings.ring.transit"] = "single"
        found["rings.ring.fairness.srp_fa.lp_allow"] = point["lp_allow"]
    else:
        found |= srp_fa(float(point["threshold_kb"]), int(point["lp_allow"]))
    found |= _traffic(point, stations)
    if point["scenario"] == 3 and point["transit"] == "dual":
        found |= _sampled(["links.ring.outer.F"])
    return found


def _model_voq(point: Point) -> Settings:
    stations, delays = _short(point)
    # What D reserves of a constant rate counts from its default T_ACT on.
    factor = RESERVED if point["activity_us"] == 300 else 1.0
    law = voq(float(point["activity_us"])) | _reservation(point, factor)
    return ring_of(stations, delays, str(point["line"])) | law | _traffic(point, stations)


def _full(point: Point) -> Settings:
    stations, delays = _short(point)
    found = ring_of(stations, delays, str(point["line"])) | srp_fa(THRESHOLD_KB["small"])
    found["rings.ring.low_limit"] = f"{point['full_kb']} kB"
    return found | _traffic(point, stations)


def _lot(
    point: Point,
    stations: Sequence[str],
    ends: Sequence[tuple[str, str]],
    span_us: float = SHORT_US,
) -> Settings:
    """Backlogged flows under SRP-fa on a ring whose spans are all alike."""
    line = str(point["line"])
    ring = ring_of(stations, [span_us] * len(stations), line)
    law = srp_fa(float(point["threshold_kb"]))
    return ring | law | backlogged(stations, ends, RATES[line])


def _alone(point: Point) -> Settings:
    return _lot(point, ("F", "D", "A"), [("F", "A")])


def _greedy(point: Point) -> Settings:
    return _lot(point, ("F", "D", "A"), [("F", "A"), ("D", "A")])


def _unbalanced(point: Point) -> Settings:
    constantly = flow(("D", "A"), constant(1e6 * float(point["d_mbps"])))
    return _alone(point) | {"flows.d": constantly}


def _parking_lot(point: Point) -> Settings:
    stations = ("1", "2", "3", "4", "hub")
    ends = [(station, "hub") for station in stations[:-1]]
    return _lot(point, stations, ends, float(point["fd_us"]))


def _parallel_lot(point: Point) -> Settings:
    ends = [("1", "5"), ("2", "5"), ("3", "5"), ("4", "5"), ("1", "2")]
    return _lot(point, ("1", "2", "3", "4", "5", "6"), ends, float(point["hop_us"]))


def _voq_formula(_: Point) -> Settings:
    stations, rate = ("1", "2", "3", "hub"), 600e6
    found = ring_of(stations, [SHORT_US] * 4, "600 Mbit/s") | voq()
    for name, (reserved, weight) in {"1": (50, 1.0), "2": (0, 2.0), "3": (100, 1.0)}.items():
        station = {"committed_low": f"{reserved} Mbit/s", "weight": weight}
        found[f"rings.ring.station.{name}"] = station
    found |= backlogged(stations, [(name, "hub") for name in stations[:-1]], rate)
    return found | _sampled(["links.ring.outer.3"])


def _short(point: Point) -> tuple[list[str], list[float]]:
    """Stations and delays of the short ring: F, `hops` spans to D, the hub."""
    hops = int(point.get("hops", 1))
    between = [f"x{number}" for number in range(1, hops)]
    delays = [float(point["fd_us"]) / hops] * hops
    return ["F", *between, "D", "A"], [*delays, SHORT_US, SHORT_US]


def _reservation(point: Point, factor: float = RESERVED) -> Settings:
    """Reservation of D at high priority."""
    scenario, line = int(point["scenario"]), str(point["line"])
    if scenario == 1:
        return {}
    bps = burst_bps(scenario, line) * (factor if scenario == 3 else 1.0)
    return {"rings.ring.station.D.committed_high": f"{bps:.0f} bit/s"}


def _traffic(point: Point, stations: Sequence[str]) -> Settings:
    """F and D of one of the slides' scenarios."""
    start, _ = starts(int(point["scenario"]))
    bps = 800e6 if point["line"] == OC12 else 3e9
    f = flow(way(stations, "F", "A"), constant(bps), start)
    return {"flows.f": f, "flows.d": _d(point, stations)}


def _d(point: Point, stations: Sequence[str]) -> Settings:
    scenario = int(point["scenario"])
    traffic = constant(burst_bps(scenario, str(point["line"])))
    if scenario != 3:
        traffic = {"pulses": {"on": "1 ms", "off": "20 ms", **traffic["cbr"]}}
    _, start = starts(scenario)
    return flow(way(stations, "D", "A"), traffic, start, 1 if scenario == 1 else 0)


def _sampled(what: Sequence[str]) -> Settings:
    return {"record.series": f"{INTERVAL_S * 1e6:g} us", "record.series_of": list(what)}


FAMILIES: Mapping[str, Callable[[Point], Settings]] = {
    "slides": _slides,
    "idle": _idle,
    "model": _model,
    "model-voq": _model_voq,
    "full": _full,
    "alone": _alone,
    "greedy": _greedy,
    "unbalanced": _unbalanced,
    "parking-lot": _parking_lot,
    "parallel-lot": _parallel_lot,
    "voq-formula": _voq_formula,
}
