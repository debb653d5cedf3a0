"""Quantities of one run."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from forebay.study import Point, Run
from forebay_studies.codel.network import STEPS, rate_at

__all__ = ["quantities"]

DIRECTIONS = {"down": "core", "up": "core.reverse"}
DATA = {"down": ("ftp", "web", "voice"), "up": ("upload", "voice_up")}
"""Groups that send data in a direction; the acknowledgements of the other's go with them."""

SHARES = ("p25", "p50", "p75", "p95")


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Quantities that a grid point's claims and figures look at."""
    match point["family"]:
        case "edge":
            return {
                f"{way}_{name}": value
                for way, link in DIRECTIONS.items()
                for name, value in (_link(run, link) | _fairness(run, way)).items()
            }
        case "dynamic":
            return _link(run, "core") | _after_falls(run)
        case "static":
            return _link(run, "core") | _fairness(run, "down")
        case _:
            return _link(run, "core")


def _link(run: Run, name: str) -> dict[str, float]:
    """Losses, waits and bytes of a direction of the bottleneck over the whole run."""
    link, waits = run.link(name), run.tables["waits"]
    row = list(waits["link"]).index(name)
    arrived = sum(link["arrived_packets"])
    found = {
        "drops_ratio": link["drops"] / arrived if arrived else 0.0,
        "data_bytes": float(sum(link["departed_bytes"])),
        "utilization_ratio": float(link["utilization"]),
        "standing_packets": float(link["mean_queue_packets"]) + float(link["utilization"]),
        "max_s": float(waits["max_s"][row]),
    }
    return found | {f"{share}_s": float(waits[f"{share}_s"][row]) for share in SHARES}


def _fairness(run: Run, way: str) -> dict[str, float]:
    """Jain's index of the sources' drop shares, with a source for each flow id of the trace of the
    link: what sends data, and what acknowledges the other way's. The web is one source."""
    data, acknowledgements = [], []
    for group in run.document["groups"]:
        name = str(group["name"])
        if name.startswith(DATA[way]) and not (way == "down" and name == "voice_up"):
            data.append((group["dropped_packets"], group["sent_packets"]))
        elif group["sent_acks"]:
            acknowledgements.append((group["dropped_acks"], group["sent_acks"]))
    shares = {"jain": data + acknowledgements, "jain_data": data}
    return {f"{name}_ratio": jain(_parts(pairs)) for name, pairs in shares.items()}


def _parts(pairs: Iterable[tuple[Any, Any]]) -> list[float]:
    return [float(dropped) / float(sent) for dropped, sent in pairs if sent]


def jain(shares: list[float]) -> float:
    """Jain's index; 1 where there are no losses."""
    squares = sum(share**2 for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 1.0


def _after_falls(run: Run) -> dict[str, float]:
    """Queue delay by time, as what waits takes at the rate of then: its mean in the seconds after
    each fall of the rate, and its quantiles over the whole run."""
    table = run.tables["series/links.core"]
    times, waiting = np.asarray(table["time_s"]), np.asarray(table["queue_bytes"])
    delays = 8 * waiting / np.array([rate_at(time) for time in times])
    falls = [later for (_, before), (later, after) in pairwise(STEPS) if after < before]
    near = np.zeros(len(times), dtype=bool)
    for fall in falls:
        near |= (times > fall) & (times <= fall + AFTER_S)
    shares = np.quantile(delays, (0.5, 0.75, 0.95))
    return {
        "after_falls_s": float(delays[near].mean()),
        "time_p50_s": float(shares[0]),
        "time_p75_s": float(shares[1]),
        "time_p95_s": float(shares[2]),
    }


AFTER_S = 10.0
"""Time after a fall of the rate that counts as after it: ten times what tail drop's full buffer of
830 packets takes at 10 Mbit/s, and once what it takes at 1 Mbit/s."""
