"""Runs that the thesis argues about without showing them: sources that break their contract,
another policer of the peak rate, data of two nominal rates, other starts, bucket depths and link
sizes.

Each is a `change` of a grid point, made on top of what network.py makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from forebay.study import Network, Point
from forebay_studies.atm.criteria import UNCONTROLLED
from forebay_studies.atm.network import Sources, present, sources

OFFENDERS = "offenders"
"""The group of sources that send other than their contract says."""

# Sources that break their contract (sections 1.3, 3.1 and 3.2). What they are promised is that of a
# video source: 512 kbit/s at the peak, 391 on average.

PEAK_SOURCES = 4
"""So many video sources of 28 send at their peak rate all the time: 1.3 times the drain rate."""
FLOOD_BPS = 8 * 512e3
"""Rate of a single source that keeps neither its peak nor its average: two thirds of the satellite
link."""
ALWAYS = {"start": 1.0, "start_high": 1.0, "high_time": "1000 s"}
"""A session that is there from the start, at its higher rate for longer than the run."""
ENDING = ("active", "idle")
"""Parameters that such a session does not have."""
BURSTY = 14
"""Half of 28 video sources exceed their peak rate for some period of time."""
BURST = {"rate": "2048 kbit/s", "high_time": "62.5 ms", "low_time": "662.5 ms"}
"""Four times the peak, for 62.5 of 725 ms: with 192 kbit/s between bursts the average is the 352
kbit/s of section 6.2.1.2."""


def _offend(network: Network, count: int, sessions: Mapping[str, Any], pace: Any = None) -> None:
    """Let `count` of the video sources offend: what of their sessions differs, and how they heed
    notifications, if not as the others do."""
    video = network.section("flows.video")
    network.set("flows.video.count", video["count"] - count)
    network.set(f"flows.{OFFENDERS}", video | {"count": count})
    for key, value in sessions.items():
        network.set(f"flows.{OFFENDERS}.paced.activity.sessions.{key}", value)
    if pace is not None:
        network.set(f"flows.{OFFENDERS}.paced.pace", pace)


def above_average(network: Network, _: Point) -> None:
    """Four video sources send at their peak rate all the time, and hear no notification."""
    _offend(network, PEAK_SOURCES, ALWAYS, "uncontrolled")
    network.remove(*(f"flows.{OFFENDERS}.paced.activity.sessions.{one}" for one in ENDING))


def flood(network: Network, _: Point) -> None:
    """One video source sends eight times its peak rate all the time, and hears no notification."""
    _offend(network, 1, {**ALWAYS, "rate": f"{FLOOD_BPS:g} bit/s"}, "uncontrolled")
    network.remove(*(f"flows.{OFFENDERS}.paced.activity.sessions.{one}" for one in ENDING))


def bursty(network: Network, _: Point) -> None:
    """Half of the video sources send bursts at four times their peak rate, and what they may on
    average."""
    _offend(network, BURSTY, BURST)


# A second leaky bucket in place of the peak rate controller (section 3.2).

JITTER_CELLS = 2
"""Depth of that bucket: a source at its peak rate has a cell a token; a cell that the access link
delays by less than that comes together with the next one, and no third."""


PLACES = {"user": ("voice",), "satellite": ("video", OFFENDERS)}
"""Whose buckets stand in front of which link: each link has one conditioner."""


def _second_bucket(network: Network, excess: str) -> None:
    """Have leaky buckets, one a source, police the peak rates of voice and video; what exceeds them
    is marked or dropped."""
    for link, kinds in PLACES.items():
        groups = [one for one in network.section("flows") if one in kinds]
        peak = network.section(f"flows.{kinds[0]}.policing.peak")["rate"]
        for group in groups:
            network.set(f"flows.{group}.host", group)
        bucket = {"rate": peak, "depth": JITTER_CELLS, "excess": excess}
        each = {"per_flow": {"of": {"leaky_bucket": bucket}}}
        network.set(f"links.{link}.conditioner", {"only": {"src": groups, "of": each}})
    network.remove(*(f"flows.{one}.policing.peak" for one in network.section("flows")))


def two_buckets(network: Network, point: Point) -> None:
    """Bursty sources, and leaky buckets that mark what exceeds the peak rate."""
    bursty(network, point)
    _second_bucket(network, "mark")


def two_buckets_drop(network: Network, point: Point) -> None:
    """Bursty sources, and leaky buckets that drop what exceeds the peak rate."""
    bursty(network, point)
    _second_bucket(network, "drop")


def two_buckets_kept(network: Network, _: Point) -> None:
    """Sources that keep their peak rates, and leaky buckets that mark what exceeds them."""
    _second_bucket(network, "mark")


# The excess capacity (section 1.3): data sources of two nominal rates with a file that never ends.

SLOW, FAST = "slow", "fast"
NOMINAL_BPS = {SLOW: 250e3, FAST: 500e3}
WITHIN = {"uniform": ["0 s", "60 s"]}
EACH_RATE = 4
"""Sources of each rate: 3 Mbit/s at their nominal rates, so that half of the link is excess."""


def two_nominal_rates(network: Network, _: Point) -> None:
    """Eight data sources without end, half of them of half the nominal rate, which begin within a
    minute: at once, they would rise side by side. What is counted begins when they share."""
    network.set("duration", "900 s").set("warm_up", "180 s")
    data = network.take("flows.data")
    for group, bps in NOMINAL_BPS.items():
        network.set(f"flows.{group}", data | {"count": EACH_RATE, "start": WITHIN})
        path = f"flows.{group}.paced.activity.files"
        for key, value in {"rate": f"{bps:g} bit/s", "size": "1 GB", "start": 1.0}.items():
            network.set(f"{path}.{key}", value)
        share = bps / NOMINAL_BPS[FAST]
        network.set(f"flows.{group}.policing.peak.rate", f"{bps:g} bit/s")
        network.set(f"flows.{group}.policing.bucket.rate", f"{556e3 * share:g} bit/s")


# Starts.

FINE = "50 ms"
"""The port's own measurement interval (section 5.1)."""


def fine(network: Network, _: Point) -> None:
    """The thesis's own run, whose load is looked at as often as the port does."""
    network.record(series=FINE)


def no_slow_start(network: Network, point: Point) -> None:
    """Sessions begin at their nominal rate."""
    fine(network, point)
    if point["case"] == UNCONTROLLED:
        network.set_each("flows.*.paced.pace.uncontrolled.start", 1.0)
        return
    network.set_each("flows.*.paced.pace.steps.start", 1.0)


def all_at_once(network: Network, _: Point) -> None:
    """All sources, and not half of them, are active at 0 s."""
    for activity in ("sessions", "files"):
        network.set_each(f"flows.*.paced.activity.{activity}.start", 1.0)


# Depths of the leaky buckets (section 7.5).

DEPTHS = {"voice": 34, "video": 143}
"""Those of the study; data's never decides."""


def half_depth(network: Network, _: Point) -> None:
    """Leaky buckets of half the depth."""
    _deepen(network, 0.5)


def double_depth(network: Network, _: Point) -> None:
    """Leaky buckets of twice the depth."""
    _deepen(network, 2.0)


def _deepen(network: Network, factor: float) -> None:
    for kind, depth in DEPTHS.items():
        network.set(f"flows.{kind}.policing.bucket.depth", round(factor * depth))


# The link sizes that the thesis scaled down (chapter 6).

SCALED_BY = 7.5
"""45 over 6 Mbit/s; the access links go from 21 to 155."""
TRUE_BPS = 45e6
TRUE_RATES = {"satellite": "45 Mbit/s", "user": "155 Mbit/s", "egress": "155 Mbit/s"}
TRUE_S = 120.0
"""Simulated time at the true sizes: 850 sources average out sooner than 113."""


def true_size(network: Network, point: Point) -> None:
    """As many times the sources as the links are larger."""
    network.set("duration", f"{TRUE_S:g} s")
    for link, rate in TRUE_RATES.items():
        network.set(f"links.{link}.rate", rate)
    present(network, Sources(*(round(SCALED_BY * count) for count in sources(point))))


CHANGES: Mapping[str, Callable[[Network, Point], None]] = {
    "above-average": above_average,
    "flood": flood,
    "bursty": bursty,
    "two-buckets": two_buckets,
    "two-buckets-drop": two_buckets_drop,
    "two-buckets-kept": two_buckets_kept,
    "two-nominal-rates": two_nominal_rates,
    "fine": fine,
    "no-slow-start": no_slow_start,
    "all-at-once": all_at_once,
    "half-depth": half_depth,
    "double-depth": double_depth,
    "true-size": true_size,
}
"""Changes of grid points, by their names."""

OFFENDING = ("above-average", "flood", "bursty", "two-buckets", "two-buckets-drop")
"""Those with a group of offenders."""


def apply(network: Network, point: Point) -> None:
    """Make the change of a grid point, if it has one of these."""
    change = CHANGES.get(str(point.get("change", "")))
    if change is not None:
        change(network, point)
