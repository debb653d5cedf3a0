"""Code of the comparisons of extensions.toml: networks, designs and what is measured of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from forebay.study import Case, Findings, Network, Run
from forebay_studies.redn.criteria import MBPS, RTTS
from forebay_studies.redn.later import (
    REGIONS,
    assured,
    b_by_iiad,
    b_by_sqrt,
    redn,
    regions,
    self_configuring,
    starts,
    tradeoff,
)
from forebay_studies.redn.network import (
    CORE_DELAY_MS,
    MEAN_DELAY_S,
    MIX,
    PATTERN,
    RATES,
    REPLICAS,
    SINGLE,
    UDP_RATES,
    contract,
    flows,
    grid_point,
    paths,
    phases,
    thresholds,
    time_sliding_window,
)
from forebay_studies.redn.series import PACKET_BITS, PER_SECOND, Gate, column

__all__ = [
    "REGIONS",
    "b_by_iiad",
    "b_by_sqrt",
    "redn",
    "regions",
    "self_configuring",
    "starts",
    "tradeoff",
]

WARM_UP_S = 10.0
"""Longer than slow start lasts anywhere: what is measured of conditioners and of UDP is a steady
state."""


# (a) The static maximum probability, adjusted at run time.


def phased(network: Network, case: Case) -> None:
    """The thesis's network in three phases, with another static maximum probability perhaps.
    Recorded is what is measured, and no more."""
    grid_point(network, case.point)
    network.set("links.core.queue.adaptive_redn.max_probability", case["static"])
    network.record(series_of=["links.core", "flows"], reductions=False, adjustments=False)


def oversubscribed(run: Run, case: Case) -> dict[str, float]:
    """The phase O: how the queue is held at its beginning and afterwards, and who gets what."""
    phase = next(phase for phase in phases(case.point) if phase.name == "o")
    (gateway,) = SINGLE
    gate = Gate(run, gateway.link, gateway.mbps)
    first, steady = gate.delay[phase.beginning], gate.delay[phase.steady]
    samples = slice(int(phase.start * PER_SECOND), int(phase.end * PER_SECOND))
    probability = column(run, f"series/links.{gateway.link}", "middle_probability.2")
    return {
        "start_delay_s": float(first.mean()),
        "start_delay_max_s": float(first.max()),
        "steady_delay_s": float(steady.mean()),
        "above_middle_ratio": float((gate.average[2][samples] >= gateway.middle).mean()),
        "utilization_ratio": float(gate.utilization[phase.whole].mean()),
        "assured_ratio": assured(run, case, phase),
        "middle_probability_ratio": float(np.maximum(probability[samples], case["static"]).mean()),
    }


# (b) Conditioning by rate and by throughput, for each flow and for the flows of a customer.


def _crowd(network: Network, case: Case) -> None:
    """One phase in which everybody sends, the first 10 s not counted. Baselines make up 83 % of the
    link of section 4.3 and 113 % of that of section 4.1."""
    gateway = {"baseline": MIX[0], "over": SINGLE[0]}[case["load"]]
    network.set("links.core.rate", f"{gateway.mbps:g} Mbit/s")
    for name, packets in thresholds(gateway).items():
        network.set(f"links.core.queue.adaptive_redn.{name}", packets)
    network.set("duration", "50 s").set("warm_up", f"{WARM_UP_S:g} s")


def paired(network: Network, case: Case) -> None:
    """The thesis's paths: two replicas, `a` and `b`, of each expected throughput and delay."""
    grid_point(network, case.point)
    _crowd(network, case)


def _by_rate(replicas: str, window: str = "") -> Callable[[Network, Case], None]:
    """TSWTCM instead of the adaptive token bucket for these replicas; a window of a path's
    roundtrip transit delay if none is given."""

    def change(network: Network, case: Case) -> None:
        for path in paths(case.point):
            if path.replica in replicas:
                meter = time_sliding_window(path.rate, window or f"{path.rtt} ms")
                network.set(f"links.in-{path.name}.conditioner", meter)

    return change


b_by_rate = _by_rate("b", "1 s")
b_by_rate_over_rtt = _by_rate("b")
all_by_rate = _by_rate("ab", "1 s")


def replicas(run: Run, case: Case) -> dict[str, float]:
    """Shares of the replicas `a` and `b`, and the queue."""
    got: dict[str, dict[str, float]] = {name: {} for name in REPLICAS}
    expected = {flow.name: flow.path.rate * MBPS for flow in flows(case.point)}
    for row in run.document["groups"]:
        got[row["name"].split("-")[2]][row["name"]] = float(row["throughput_bps"])
    total = {name: sum(some.values()) for name, some in got.items()}
    shares = {
        name: [value / expected[flow] for flow, value in some.items()] for name, some in got.items()
    }
    return {
        "b_share_ratio": total["b"] / (total["a"] + total["b"]),
        "a_attained_ratio": float(np.minimum(shares["a"], 1.0).mean()),
        "b_attained_ratio": float(np.minimum(shares["b"], 1.0).mean()),
        "worst_ratio": min(shares["a"] + shares["b"]),
        **_queue(run),
    }


def _queue(run: Run) -> dict[str, float]:
    """Mean delay of packets in the queue, by Little's law, and utilisation."""
    core = run.link("core")
    return {
        "delay_s": core["mean_queue_packets"] * PACKET_BITS / core["throughput_bps"],
        "utilization_ratio": float(core["utilization"]),
    }


CUSTOMERS = [(rate, f"{rate}-{replica}") for rate in RATES for replica in REPLICAS]
"""Two of each expected throughput in Mbit/s, that of each of the six flows behind its access link,
one of each roundtrip transit delay; what its links and flows are called after."""

ACCESS_DELAY_MS = min(RTTS) / 4 - CORE_DELAY_MS / 2
"""Propagation delay of customers' access links: that of scenario.toml."""


def crowded(network: Network, case: Case) -> None:
    """The flows of the thesis, six of them behind each access link: 200 Mbit/s, more than the 120
    that any customer is expected to send at most."""
    access, leaves, shown = (network.take(part) for part in PATTERN)
    _crowd(network, case)
    for _, customer in CUSTOMERS:
        source = {"from": f"S-{customer}"}
        network.set(f"links.in-{customer}", access | source | {"rate": "200 Mbit/s"})
        for rtt in RTTS:
            name = f"{customer}-{rtt}"
            sink = {"to": f"R-{name}"}
            delay = rtt / 2 - CORE_DELAY_MS - ACCESS_DELAY_MS
            network.set(f"links.out-{name}", leaves | sink | {"delay": f"{delay:g} ms"})
            network.set(f"flows.{name}", shown | source | sink)


def _conditioned(
    law: Callable[[int, dict[str, Any]], dict[str, Any]],
) -> Callable[[Network, Case], None]:
    """A conditioner for each customer, made of the rate of its flows and the thesis's one."""

    def change(network: Network, _: Case) -> None:
        for mbps, customer in CUSTOMERS:
            link = f"links.in-{customer}"
            bucket = network.section(f"{link}.conditioner.adaptive_token_bucket")
            network.set(f"{link}.conditioner", law(mbps, bucket))

    return change


def _bucket_by_customer(weight: float) -> Callable[[Network, Case], None]:
    """One for all of a customer, with the sums of their rates; `weight` of the round-trip time told
    last in that which sets the depths."""
    return _conditioned(
        lambda mbps, bucket: {
            "adaptive_token_bucket": bucket | contract(len(RTTS) * mbps) | {"srtt_weight": weight}
        }
    )


bucket_by_flow = _conditioned(
    lambda mbps, bucket: {"per_flow": {"of": {"adaptive_token_bucket": bucket | contract(mbps)}}}
)
"""The thesis's conditioner for each flow of a customer."""
bucket_by_last_rtt = _bucket_by_customer(1.0)
bucket_by_mean_rtt = _bucket_by_customer(0.01)
tsw_by_customer = _conditioned(lambda mbps, _: time_sliding_window(len(RTTS) * mbps, "1 s"))
"""TSWTCM for all of a customer, with the window of 1 s of RFC 2859 for aggregates."""


def shares_of_customers(run: Run, _: Case) -> dict[str, float]:
    """Shares of customers, and how their flows share them."""
    got: dict[str, dict[int, float]] = defaultdict(dict)
    rates: dict[str, float] = {}
    for row in run.document["groups"]:
        rate, replica, rtt = row["name"].split("-")
        name = f"{rate}-{replica}"
        got[name][int(rtt)] = float(row["throughput_bps"])
        rates[name] = float(rate) * MBPS
    whole = [sum(some.values()) / (len(RTTS) * rates[name]) for name, some in got.items()]
    inside = [np.fromiter(some.values(), float) for some in got.values()]
    carried = run.link("core")["departed_bytes"]
    return {
        "worst_customer_ratio": min(whole),
        "green_ratio": carried[0] / sum(carried),
        "attained_ratio": float(np.minimum(whole, 1.0).mean()),
        "far_near_ratio": float(
            np.mean([some[max(RTTS)] / some[min(RTTS)] for some in got.values()])
        ),
        "jain_ratio": float(np.mean([s.sum() ** 2 / (len(s) * (s**2).sum()) for s in inside])),
        **_queue(run),
    }


# (c) TCP beside UDP.


ONLY = "5-30-a"
"""The path that carries all of UDP where it is one flow."""


def mixed(network: Network, case: Case) -> None:
    """Section 4.3, the first 10 s not counted; or with one flow of UDP that sends twice the rate of
    the bottleneck, and is conditioned as the 24 are together."""
    grid_point(network, case.point)
    network.set("warm_up", f"{WARM_UP_S:g} s")
    if case["udp"] == "many":
        return
    udp = [flow for flow in flows(case.point) if flow.path.rate in UDP_RATES]
    (only,) = (flow.name for flow in udp if flow.path.name == ONLY)
    network.remove(*(f"flows.{flow.name}" for flow in udp if flow.name != only))
    depth = f"{3000 * len(udp)} B"
    meter = contract(sum(flow.path.rate for flow in udp)) | {"cbs": depth, "pbs": depth}
    (gateway,) = MIX
    network.set(f"links.in-{ONLY}.rate", "1 Gbit/s").set(f"links.out-{ONLY}.rate", "1 Gbit/s")
    network.set(f"links.in-{ONLY}.conditioner", {"trtcm": meter})
    network.set(f"flows.{only}.traffic.cbr.rate", f"{2 * gateway.mbps:g} Mbit/s")


def choke(network: Network, _: Case, **parameters: str) -> None:
    """CHOKe in front of Adaptive REDn; compared is from its minimum threshold on."""
    (gateway,) = MIX
    own = {"threshold": f"{gateway.minimum} packets", "mean_packet": "1000 B", **parameters}
    law = {"of": network.section("links.core.queue"), **own}
    network.set("links.core.queue", {"choke": law})


def self_adjusting(network: Network, case: Case) -> None:
    """CHOKe with 8 regions up to the maximum threshold, as its paper has it."""
    (gateway,) = MIX
    choke(network, case, region=f"{(gateway.maximum - gateway.minimum) // 8} packets")


def sred(network: Network, _: Case) -> None:
    """SRED, whose drops begin at the minimum threshold, a sixth of its buffer, and which is at its
    strictest from the middle one on, a third."""
    (gateway,) = MIX
    network.set("links.core.queue", {"sred": {"limit": f"{6 * gateway.minimum} packets"}})


UDP_FAIR = sum(UDP_RATES) / sum(RATES)
"""UDP's part of all baseline expected throughputs: the thesis's 42 %."""


def tcp_and_udp(run: Run, _: Case) -> dict[str, float]:
    """UDP's part of what is received, what classes get of their expected throughputs, the queue."""
    got: dict[int, list[float]] = {rate: [] for rate in RATES}
    for row in run.document["groups"]:
        got[int(row["name"].split("-")[0])].append(float(row["throughput_bps"]))
    total = sum(map(sum, got.values()))
    core = run.link("core")
    arrived = sum(core["arrived_packets"])
    return {
        "udp_share_ratio": sum(sum(got[rate]) for rate in UDP_RATES) / total,
        **{
            f"tcp{rate}_ratio": float(np.mean(got[rate])) / (rate * MBPS)
            for rate in RATES
            if rate not in UDP_RATES
        },
        "dropped_ratio": float(core["drops"]) / arrived,
        **_queue(run),
    }


# What it comes to.


def late_designs(findings: Findings) -> str:
    """Designs with a delay more than 10 % above the middle threshold's, by case."""
    return "; ".join(
        f"{case.label}: {_names(_beyond(findings, 'steady_delay_s', 1.1 * MEAN_DELAY_S, case))}"
        for case in findings.cases
    )


def fair_designs(findings: Findings) -> str:
    """Designs that bring UDP's share to the fair one, or within a tenth of it, by case."""
    return "; ".join(f"{case.label}, {_names(_mends(findings, case))}" for case in findings.cases)


def nothing_mends(findings: Findings) -> bool:
    """True if no design brings UDP to its fair share in any case."""
    return not any(_mends(findings, case) for case in findings.cases)


def _mends(findings: Findings, case: Case) -> list[str]:
    above = _beyond(findings, "udp_share_ratio", 1.1 * UDP_FAIR, case)
    titles = [design.title for design in findings.comparison.every_design]
    return [title for title in titles if title not in above]


def _names(titles: Sequence[str]) -> str:
    return ", ".join(titles) or "none"


def _beyond(findings: Findings, quantity: str, limit: float, case: Case) -> list[str]:
    """The designs whose mean is above a limit."""
    return [
        design.title
        for design in findings.comparison.every_design
        if (mean := findings.interval(quantity, design, case)) is not None and mean.mean > limit
    ]
