"""What beyond.py compares: rings, laws and what is measured of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from forebay.study.comparison import Case
from forebay.study.definition import Run
from forebay.toml import inline
from forebay_studies.rpr.measure import host_wait_s, pair
from forebay_studies.rpr.network import (
    STATIONS,
    backlogged,
    burst_bps,
    constant,
    flow,
    network,
    ring_of,
    voq,
    way,
)
from forebay_studies.rpr.readings import OC12, RATES
from forebay_studies.rpr.rias import Ask, rias_shares

__all__ = [
    "SCENARIO",
    "bursts",
    "lots",
    "measured_bursts",
    "measured_lots",
    "measured_media",
    "media",
    "of_law",
]

LINE = RATES[OC12]
"""Rate of all rings but those of the slides' scenarios."""

SCENARIO = """
name = "rpr-beyond"

[rings.ring]
high = 0
"""

SETTLED = 0.8
"""A ring has settled when no flow gets less than this part of its RIAS share any more."""

SAMPLE_S = 0.05
VOICE_BPS = 80e3
VOICE_CALLS = 200
VOICE_BYTES = 200
RESERVED = 1.25
"""What stations reserve under VoQ of their voice: the packets of many calls come in bunches."""


def of_law(law: str) -> Callable[[Case], list[str]]:
    """The assignments of a fairness law; VoQ has a single buffer, and reservations."""
    if law == "voq":
        return _with_reservations
    parameters: dict[str, Any] = {"low_threshold": "320 kB"} if law == "srp_fa" else {}
    return lambda _: [f"rings.ring.fairness={inline({law: parameters})}"]


def _with_reservations(case: Case) -> list[str]:
    found = voq()
    for station, bps in _reservations(case).items():
        found.append(f'rings.ring.station.{station}.committed_high="{bps:.0f} bit/s"')
    return found


def _reservations(case: Case) -> Mapping[str, float]:
    """Who reserves what at high priority: D its bursts in the slides' scenarios, stations with
    voice that."""
    if "scenario" in case.point:
        scenario = int(case["scenario"])
        factor = 1.05 if scenario == 3 else 1.0
        return {"D": factor * burst_bps(scenario, case["line"])} if scenario != 1 else {}
    if "elastic" in case.point:
        return dict.fromkeys(("E", "D"), RESERVED * VOICE_CALLS * VOICE_BPS)
    return {}


# The slides' scenarios.


def bursts(case: Case) -> list[str]:
    """A scenario of the slides."""
    point = {"family": "slides", "law": "srp-fa", "buffers": "rfc", **case.point}
    return network(point)


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


def lots(case: Case) -> list[str]:
    """A ring with backlogged flows, and one of constant rate perhaps."""
    stations, ends = _lot(case)
    delay = float(case["km"]) * 5.0 / len(stations)
    found = [
        f'duration="{case["duration_s"]} s"',
        f'warm_up="{float(case["duration_s"]) / 2:g} s"',
        f'record.series="{SAMPLE_S} s"',
        'record.series_of=["flows"]',
        *ring_of(stations, [delay] * len(stations), OC12),
        *backlogged(stations, ends, LINE),
    ]
    if "light_mbps" in case.point:
        light = flow(way(stations, "D", "A"), constant(1e6 * float(case["light_mbps"])))
        found.append(f"flows.s2={inline(light)}")
    return found


def shares(case: Case) -> list[float]:
    """What RIAS fairness gives the flows, in bit/s."""
    stations, ends = _lot(case)
    asks = [Ask(first, tuple(way(stations, first, last)[:-1]), 1.3 * LINE) for first, last in ends]
    if "light_mbps" in case.point:
        asks[1] = Ask("D", asks[1].spans, 1e6 * float(case["light_mbps"]))
    return rias_shares(asks, LINE)


def measured_lots(run: Run, case: Case) -> dict[str, float]:
    """What flows get of their RIAS shares, and from when on that is nearly all."""
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


def media(case: Case) -> list[str]:
    """TCP from hosts behind F; at D the same, video, or bursts; voice at E and D."""
    found = [
        'duration="6 s"',
        'warm_up="2 s"',
        *ring_of(STATIONS, [50.0] * len(STATIONS), OC12),
        *_host("HF", "F"),
        *_host("HA", "A"),
        f"flows.f={inline(_tcp('HF', _toward('F')))}",
    ]
    match case["elastic"]:
        case "tcp":
            found += [*_host("HD", "D"), f"flows.d={inline(_tcp('HD', _toward('D')))}"]
        case "video":
            video = {"video": {"line_rate": "100 Mbit/s"}}
            found.append(f"flows.d={inline({**_media('D', video, 1), 'count': 500})}")
        case _:
            pulses = {"pulses": {"rate": "600 Mbit/s", "size": "1500 B"}}
            found.append(f"flows.d={inline(_media('D', pulses, 1))}")
    for station in ("E", "D"):
        voice = {**_media(station, {"voice": {"codec": "g711_20ms"}}, 0), "count": VOICE_CALLS}
        found.append(f"flows.voice-{station}={inline(voice)}")
    return found


def _host(name: str, station: str) -> list[str]:
    link = {"from": name, "to": station, "rate": "2 Gbit/s", "delay": "1 ms"}
    return [f"links.{name}={inline(link)}"]


def _toward(station: str) -> list[str]:
    return [*way(STATIONS, station, "A"), "HA"]


def _tcp(host: str, route: Sequence[str]) -> dict[str, Any]:
    """Eight bulk transfers."""
    return {
        "from": host,
        "to": route[-1],
        "route": [host, *route],
        "count": 8,
        "precedence": 1,
        "start": {"uniform": ["0 s", "100 ms"]},
        "tcp": {"mss": "1460 B", "control": "cubic"},
    }


def _media(station: str, traffic: Mapping[str, Any], precedence: int) -> dict[str, Any]:
    return {**flow(way(STATIONS, station, "A"), traffic, 0.0, precedence), "udp": {}}


def measured_media(run: Run, case: Case) -> dict[str, float]:
    """What TCP of F gets, how far D's traffic comes, and how long voice waits at most."""
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
