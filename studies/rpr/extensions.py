"""Code of the comparisons of extensions.toml: rings, laws, what is measured of a run, and what it
comes to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from forebay.study import Case, Findings, Network, Point, Run
from forebay_studies.rpr.criteria import LINES, OC12, RATES, SCENARIOS
from forebay_studies.rpr.measure import host_wait_s, pair
from forebay_studies.rpr.network import (
    STATIONS,
    backlogged,
    burst_bps,
    constant,
    flow,
    grid_point,
    ring_of,
    voq,
    way,
)
from forebay_studies.rpr.rias import Ask, rias_shares

LINE = RATES[OC12]
"""Rate of all rings but those of the slides' scenarios."""

SETTLED = 0.8
"""A ring has settled when no flow gets less than this part of its RIAS share any more."""

SAMPLE_S = 0.05
VOICE_BPS = 80e3
VOICE_CALLS = 200
VOICE_BYTES = 200
RESERVED = 1.25
"""Reservation of stations under VoQ, over the rate of their voice: the packets of many calls come
in bunches."""


def with_voq(network: Network, case: Case) -> None:
    """VoQ with a single buffer, and reservations."""
    network.update(voq())
    for station, bps in _reservations(case).items():
        network.set(f"rings.ring.station.{station}.committed_high", f"{bps:.0f} bit/s")


def _reservations(case: Case) -> Mapping[str, float]:
    """Reservations at high priority in bit/s, by station: D its bursts in the slides' scenarios,
    stations with voice that."""
    if "scenario" in case.point:
        scenario = int(case["scenario"])
        factor = 1.05 if scenario == 3 else 1.0
        return {"D": factor * burst_bps(scenario, case["line"])} if scenario != 1 else {}
    if "elastic" in case.point:
        return dict.fromkeys(("E", "D"), RESERVED * VOICE_CALLS * VOICE_BPS)
    return {}


# The slides' scenarios.


def bursts(network: Network, case: Case) -> None:
    """A scenario of the slides."""
    grid_point(network, {"family": "slides", "law": "srp-fa", "buffers": "rfc", **case.point})


def measured_bursts(run: Run, case: Case) -> dict[str, float]:
    """Utilisation, F's share, and how long D's packets wait at their host at most."""
    point = {"family": "slides", **case.point}
    found = pair(run, point)
    d = run.group("d")
    return {
        "utilization_ratio": found["utilization_ratio"],
        "f_share_ratio": found["f_share_ratio"],
        "d_wait_s": host_wait_s(run, point),
        "d_got_ratio": d["delivered_packets"] / d["sent_packets"],
    }


# Backlogged stations.


def _lot(case: Case) -> tuple[list[str], list[tuple[str, str]]]:
    """Stations, and the ends of backlogged flows."""
    match case["lot"]:
        case "hub":
            return list(STATIONS), [("F", "A"), ("D", "A")]
        case "parallel":
            ends = [("1", "5"), ("2", "5"), ("3", "5"), ("4", "5"), ("1", "2")]
            return [str(number) for number in range(1, 7)], ends
        case "reuse":
            return list(STATIONS), [("F", "D"), ("D", "B"), ("B", "A")]
        case _:
            stations = [f"n{number}" for number in range(1, int(case["stations"]) + 1)]
            return stations, [(name, stations[-1]) for name in stations[:-1]]


def lots(network: Network, case: Case) -> None:
    """A ring with backlogged flows, and one of constant rate perhaps."""
    stations, ends = _lot(case)
    delay = float(case["km"]) * 5.0 / len(stations)
    network.set("duration", f"{case['duration_s']} s")
    network.set("warm_up", f"{float(case['duration_s']) / 2:g} s")
    network.record(series=f"{SAMPLE_S} s", series_of=["flows"])
    network.update(ring_of(stations, [delay] * len(stations), OC12))
    network.update(backlogged(stations, ends, LINE))
    if "light_mbps" in case.point:
        light = constant(1e6 * float(case["light_mbps"]))
        network.set("flows.s2", flow(way(stations, "D", "A"), light))


def shares(case: Case) -> list[float]:
    """Rates that RIAS fairness gives the flows, in bit/s."""
    stations, ends = _lot(case)
    asks = [Ask(first, tuple(way(stations, first, last)[:-1]), 1.3 * LINE) for first, last in ends]
    if "light_mbps" in case.point:
        asks[1] = Ask("D", asks[1].spans, 1e6 * float(case["light_mbps"]))
    return rias_shares(asks, LINE)


def measured_lots(run: Run, case: Case) -> dict[str, float]:
    """Parts that flows get of their RIAS shares, and the time from which on that is nearly all."""
    due = np.array(shares(case))
    names = [f"s{number}" for number in range(1, len(due) + 1)]
    got = np.array([run.group(name)["throughput_bps"] for name in names]) / due
    series = np.array([run.tables[f"series/flows.{name}"]["throughput_bps"] for name in names])
    worst = (series / due[:, None]).min(axis=0)
    late = np.flatnonzero(worst < SETTLED)
    return {
        "worst_ratio": float(got.min()),
        "most_ratio": float(got.max()),
        "carried_ratio": float((got * due).sum() / due.sum()),
        "settling_s": float(late[-1] + 1) * SAMPLE_S if len(late) else 0.0,
    }


# TCP, video and voice.


def media(network: Network, case: Case) -> None:
    """TCP from hosts behind F; at D the same, video, or bursts; voice at E and D."""
    network.set("duration", "6 s").set("warm_up", "2 s")
    network.update(ring_of(STATIONS, [50.0] * len(STATIONS), OC12))
    hosts = {"HF": "F", "HA": "A"} | ({"HD": "D"} if case["elastic"] == "tcp" else {})
    for host, station in hosts.items():
        network.link(host, host, station, rate="2 Gbit/s", delay="1 ms")
    network.set("flows.f", _tcp("HF", _toward("F"), case["control"]))
    match case["elastic"]:
        case "tcp":
            network.set("flows.d", _tcp("HD", _toward("D"), case["control"]))
        case "video":
            video = {"video": {"line_rate": "100 Mbit/s"}}
            network.set("flows.d", {**_media("D", video, 1), "count": 500})
        case _:
            pulses = {"pulses": {"rate": "600 Mbit/s", "size": "1500 B"}}
            network.set("flows.d", _media("D", pulses, 1))
    for station in ("E", "D"):
        voice = _media(station, {"voice": {"codec": "g711_20ms"}}, 0)
        network.set(f"flows.voice-{station}", {**voice, "count": VOICE_CALLS})


def _toward(station: str) -> list[str]:
    return [*way(STATIONS, station, "A"), "HA"]


def _tcp(host: str, route: Sequence[str], control: str) -> dict[str, Any]:
    """Eight bulk transfers, recovering by SACK under any congestion control."""
    return {
        "from": host,
        "to": route[-1],
        "route": [host, *route],
        "count": 8,
        "precedence": 1,
        "start": {"uniform": ["0 s", "100 ms"]},
        "tcp": {"profile": "rfc", "mss": "1460 B", "control": control},
    }


def _media(station: str, traffic: Mapping[str, Any], precedence: int) -> dict[str, Any]:
    return {**flow(way(STATIONS, station, "A"), traffic, 0.0, precedence), "udp": {}}


def measured_media(run: Run, case: Case) -> dict[str, float]:
    """Goodput of F's TCP, how far D's traffic comes, and how long voice waits at most."""
    f, d = run.group("f"), run.group("d")
    carried = run.link("ring.outer.B")["throughput_bps"] / LINE
    found = {
        "utilization_ratio": float(carried),
        "f_goodput_ratio": float(f["goodput_bps"]) / LINE,
        "d_throughput_ratio": float(d["throughput_bps"]) / LINE,
        "d_delay_s": float(d["mean_delay_s"]) if d["delivered_packets"] else _window(run),
    }
    return {**found, "voice_wait_s": max(_voice_wait(run, station) for station in ("E", "D"))}


def _voice_wait(run: Run, station: str) -> float:
    """The longest delay of a station's voice above that of an empty ring; all of the window if none
    came through."""
    voice = run.group(f"voice-{station}")
    if not voice["delivered_packets"]:
        return _window(run)
    spans = len(way(STATIONS, station, "A")) - 1
    return float(voice["max_delay_s"]) - spans * (50e-6 + VOICE_BYTES * 8 / LINE)


def _window(run: Run) -> float:
    return float(run.document["measured_s"])


# What it comes to. Every figure and every verdict below is read from the findings.


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _each(
    findings: Findings,
    quantity: str,
    pick: Callable[[Iterable[float]], float],
    cases: Sequence[Case] | None = None,
) -> str:
    """`71.4 % with SRP-fa, 95.8 % with VoQ`: the least or the most of each design's means."""
    metric = findings.metric(quantity)
    words = []
    for design in findings.comparison.every_design:
        chosen = findings.cases if cases is None else cases
        means = [findings.interval(quantity, design, case) for case in chosen]
        known = [mean.mean for mean in means if mean is not None]
        if known:
            words.append(f"{_number(pick(known) / metric.size)} {metric.unit} with {design.title}")
    return ", ".join(words)


def _against(findings: Findings, quantity: str) -> str:
    """`VoQ better in 6; ...`: what paired differences from the baseline say, case by case."""
    metric = findings.metric(quantity)
    told = []
    for design in findings.comparison.designs:
        tally = findings.tally(metric, design)
        words = ", ".join(f"{verdict} in {count}" for verdict, count in tally.items())
        told.append(f"{design.title} {words}")
    count, baseline = len(findings.cases), findings.comparison.baseline.title
    return f"Against {baseline}, of {count} cases: {'; '.join(told)}."


def _fair(findings: Findings, cases: Sequence[Case]) -> str:
    """The designs under which no flow gets much less than its share in the mean of any case."""
    fair = []
    for design in findings.comparison.every_design:
        means = [findings.interval("worst_ratio", design, case) for case in cases]
        if all(mean is not None and mean.mean >= SETTLED for mean in means):
            fair.append(design.title)
    return ", ".join(fair) or "none"


def _of(findings: Findings, *labels: str) -> list[Case]:
    """The cases of these labels, or of these groups."""
    return [case for case in findings.cases if case.label in labels or case.group in labels]


def concluded_laws(findings: Findings) -> list[str]:
    """Utilisation, shares and waits in the scenarios of the slides."""
    return [
        f"""Utilisation, the least of all cases: {_each(findings, "utilization_ratio", min)}.
        {_against(findings, "utilization_ratio")} The aggressive mode is SRP-fa's control with a
        faster filter and congestion from an eighth of the buffer on, 65 kB, which is less than a
        burst of the slides. The conservative mode aims at less than the line.""",
        f"""What F gets at the least: {_each(findings, "f_share_ratio", min)}. VoQ owes its lead to
        what it is told: who is active, and what D reserves.""",
        f"""What the fairness of a law is for shows without one: F then gets all of the line, and of
        D's packets {_each(findings, "d_got_ratio", min)} are delivered at the least. Above the
        full transit buffer D's host may send nothing, high priority included.""",
        f"""D's packets wait at their host for at most {_each(findings, "d_wait_s", max)}. Under
        SRP-fa bursts of low priority wait, as a host with a backlog in transit sends no more than
        it forwards; under VoQ everything in transit goes first.""",
        """Limits: one station with bursts and one behind it; the modes of 802.17 are reconstructed
        from the standard's MIB and from RFC 2892.""",
    ]


def concluded_lots(findings: Findings) -> list[str]:
    """Conclusions on what flows get of their RIAS shares, ring by ring."""
    small, large = _of(findings, "small rings"), _of(findings, "parking lots")
    found = [
        f"""Of its RIAS share the worst flow gets at the least: on small rings
        {_each(findings, "worst_ratio", min, small)}. {_against(findings, "worst_ratio")}"""
    ]
    if large:
        found.append(
            f"""In parking lots of 16 and 64 stations: {_each(findings, "worst_ratio", min, large)}.
            Until no flow gets less than {100 * SETTLED:.0f} % of its share over 50 ms it takes at
            most {_each(findings, "settling_s", max, large)}; a run lasts 3 s. In the mean no
            station gets less, up to 64 stations and 1,000 km, with: {_fair(findings, large)}.
            Of 64 stations each may send a frame in twelve intervals, which counters that age by a
            quarter in each hardly resolve; the conservative mode also waits for a round trip after
            each change."""
        )
    parallel = _of(findings, "parallel parking lot")
    found.append(
        f"""Spatial reuse. In the parallel parking lot, where the flow that leaves after one span
        is due three quarters of the line, the worst flow gets, of its share:
        {_each(findings, "worst_ratio", min, parallel)}. SRP-fa throttles a station, whatever the
        destination; VoQ divides its formula's share among the queues of a station, and what one
        does not use is lost; both modes of 802.17 limit only what passes the congestion.
        Of disjoint spans each flow gets
        {_each(findings, "worst_ratio", min, _of(findings, "disjoint spans"))}."""
    )
    light = _of(findings, "F against 50 Mbit/s")
    if light:
        found.append(
            f"""A station that asks for little. Of a backlogged station and one of 50 Mbit/s
            downstream the worse off gets, of its share:
            {_each(findings, "worst_ratio", min, light)}. VoQ keeps half of the line
            for the station that is active: its known weak spot."""
        )
    limits = """Limits: all stations begin at once and always have packets; equal weights; OC-12;
    thresholds that do not grow with the ring. A flow that starves others stands under no law."""
    return [*found, limits]


def concluded_media(findings: Findings) -> list[str]:
    """Conclusions on what TCP, video and voice get."""
    several = [
        f"{case.label}, {_each(findings, 'f_goodput_ratio', min, [case])}"
        for case in findings.cases
    ]
    return [
        f"""Goodput of F's TCP: {"; ".join(several)}. Utilisation of the link to the hub, the least:
        {_each(findings, "utilization_ratio", min)}. {_against(findings, "f_goodput_ratio")} Bursts
        at D cost TCP what they cost the slides' constant source; where D has video, VoQ keeps half
        of the line for it, needed or not.""",
        f"""Voice waits at most {_each(findings, "voice_wait_s", max)}. With two transit buffers
        that is for packets in transmission and for its own bunches. VoQ as reconstructed has one
        buffer, in which everything in transit goes first, and holds high priority to what is
        reserved.""",
        f"""D's traffic is delayed by {_each(findings, "d_delay_s", max)} in the mean at most: with
        TCP that is the queue of its own host, 4 MB.""",
        """Limits: transfers with a round trip of 4.5 ms; video and voice without loss recovery;
        one ring of 60 km.""",
    ]


def bursty() -> list[Case]:
    """The scenarios of the slides at both speeds."""
    return [
        Case(
            f"scenario {scenario}",
            {"scenario": scenario, "line": line},
            "OC-12" if line == OC12 else "OC-48",
        )
        for line in LINES
        for scenario in SCENARIOS
    ]


def lot_cases() -> list[Case]:
    """Small rings, and parking lots of up to 64 stations."""
    named: dict[str, Point] = {
        "hub, two stations": {"lot": "hub", "km": 60},
        "parking lot of 4": {"lot": "parking", "stations": 5, "km": 50},
        "parallel parking lot": {"lot": "parallel", "km": 60},
        "disjoint spans": {"lot": "reuse", "km": 60},
        "F against 5 Mbit/s": {"lot": "hub", "km": 60, "light_mbps": 5},
        "F against 50 Mbit/s": {"lot": "hub", "km": 60, "light_mbps": 50},
    }
    found = [
        Case(label, {**point, "duration_s": 2}, "small rings", quick="light_mbps" not in point)
        for label, point in named.items()
    ]
    for stations, km in ((16, 100), (16, 1000), (64, 100), (64, 1000)):
        parked: Point = {"lot": "parking", "stations": stations, "km": km, "duration_s": 3}
        label = f"{stations} stations {km} km"
        found.append(Case(label, parked, "parking lots", quick=False))
    return found
