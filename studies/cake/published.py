"""The numbers of summary.json: medians, quartiles and numbers of runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from forebay.study import Point

TESTS = {"rrul": "rrul_diffserv", "voip": "tcp_32up_voip_diffserv"}
FLOWS = {"be": "BE", "bk": "BK", "cs5": "CS5", "ef": "EF"}
WAYS = {"up": "TCP upload", "down": "TCP download"}
PINGS = {
    "icmp": "Ping (ms) ICMP",
    "be": "Ping (ms) UDP BE",
    "bk": "Ping (ms) UDP BK",
    "ef": "Ping (ms) UDP EF",
}
STATISTICS = ("mean", "p50", "p95", "p99")


@dataclass(frozen=True, slots=True)
class Printed:
    """Median and quartiles over runs, in SI units, and the number of runs."""

    median: float
    low: float
    high: float
    runs: int


@cache
def _summary() -> dict[str, Any]:
    return dict(json.loads((Path(__file__).parent / "summary.json").read_text()))


def printed(point: Point) -> dict[str, Printed]:
    """Values of one cell by the names of the study's quantities: flows by class, and pings."""
    rates = f"{point['up_mbps']}Mbit-10Mbit"
    series = _summary()[TESTS[str(point["test"])]][rates][point["queue"]]
    names = {
        f"{way}_{flow}_bps": (f"{WAYS[way]} {FLOWS[flow]}", "mean", 1e6)
        for way in WAYS
        for flow in FLOWS
    }
    names |= {
        f"ping_{ping}_{word}_s": (PINGS[ping], word, 1e-3) for ping in PINGS for word in STATISTICS
    }
    return {
        quantity: _read(series[name][word], unit)
        for quantity, (name, word, unit) in names.items()
        if name in series
    }


def _read(entry: dict[str, float], unit: float) -> Printed:
    median, low, high = (unit * entry[key] for key in ("median", "q1", "q3"))
    return Printed(median, low, high, int(entry["n_reps"]))
