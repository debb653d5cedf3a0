"""Prague beside CUBIC behind a bursty link: networks and quantities."""

from __future__ import annotations

from forebay.study import Case, Network, Point, Run
from forebay_studies.l4s.study import grid_point

RATES_MBPS = (10, 50, 200)
ROUND_TRIPS_MS = (10, 40, 160)

PAIR: Point = {
    "test": "s1", "queue": "dualpi2", "cc1": "prague", "cc2": "cubic", "ecn2": True,
}  # fmt: skip
PERIOD = "4 ms"
"""Bursts of some 4 ms (README, Underutilization with Bursty Links)."""
SHUT = {"at": "0 s", "rate": "0 bit/s"}
OPEN = {"at": "3.9 ms", "rate": "16 Gbit/s"}

PAYLOAD = 1448 / 1514
"""Payload of a full frame."""


def bursty_cases() -> list[Case]:
    """Rates of the bottleneck, in panels, by round trips."""
    return [
        Case(
            f"{rtt} ms",
            {"mbps": rate, "rtt_ms": rtt},
            group=f"{rate} Mbit/s",
            quick=(rate, rtt) in ((10, 10), (50, 10), (50, 40)),
        )
        for rate in RATES_MBPS
        for rtt in ROUND_TRIPS_MS
    ]


def two_flows(network: Network, case: Case) -> None:
    """Prague beside CUBIC at one rate and one round trip."""
    rtt = case["rtt_ms"]
    grid_point(network, {**PAIR, "rtt1_ms": rtt, "rtt2_ms": rtt})
    network.set("duration", "100 s").set("warm_up", "40 s")
    network.set("links.bottleneck.rate", f"{case['mbps']} Mbit/s")


def in_bursts(network: Network, case: Case) -> None:
    """What comes near to the middle box waits, and is let through every 4 ms."""
    for near in ("near1", "near2"):
        network.set(f"links.{near}.rate_steps", [SHUT, OPEN])
        network.set(f"links.{near}.repeat", PERIOD)
        network.set(f"links.{near}.reverse.rate", "16 Gbit/s")


def fq_in_bursts(network: Network, case: Case) -> None:
    """The same in front of fq_codel."""
    in_bursts(network, case)
    fq_codel = {"fq_codel": {"mtu": "1514 B", "mtu_scope": "all"}}
    network.set("links.bottleneck.queue", fq_codel)
    network.set("links.bottleneck.reverse.queue", fq_codel)


def shares(run: Run, case: Case) -> dict[str, float]:
    """Prague's share, what both have of the link, and how long packets wait on their way."""
    prague, cubic = (run.group(name) for name in ("one", "two"))
    both = float(prague["goodput_bps"]) + float(cubic["goodput_bps"])
    propagation = float(case["rtt_ms"]) / 2e3
    return {
        "prague_share_ratio": float(prague["goodput_bps"]) / both,
        "utilization_ratio": both / (PAYLOAD * float(case["mbps"]) * 1e6),
        "prague_wait_s": float(prague["mean_delay_s"]) - propagation,
        "cubic_wait_s": float(cubic["mean_delay_s"]) - propagation,
    }
