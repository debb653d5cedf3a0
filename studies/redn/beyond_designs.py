"""What beyond.py compares: networks, designs and what is measured of a run."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.study.comparison import Case
from forebay.study.definition import Run
from forebay.toml import inline
from forebay_studies.redn.network import (
    CORE_DELAY_MS,
    MIX,
    RATES,
    REPLICAS,
    SINGLE,
    UDP_RATES,
    Gateway,
    flows,
    network,
    paths,
    phases,
    template,
)
from forebay_studies.redn.readings import ASSURED, RTTS
from forebay_studies.redn.samples import PER_SECOND, Gate, by_second, column

MBPS = 1e6
PACKET_BITS = 8000
WARM_UP_S = 10.0
"""Longer than slow start lasts anywhere: what is measured of conditioners and of UDP is a steady
state."""


# (a) The static maximum probability, adjusted at run time.


def phased(case: Case) -> list[str]:
    """The thesis's network in three phases, with another static maximum probability perhaps.
    Recorded is what is measured, and no more."""
    law = f"links.core.queue.adaptive_redn.max_probability={case['static']}"
    watched = 'record.series_of=["links.core", "flows"]'
    return [
        *network(case.point),
        law,
        watched,
        "record.reductions=false",
        "record.adjustments=false",
    ]


def adjusting(interval_ms: int) -> list[str]:
    """Adaptive REDn whose static maximum probability grows and shrinks in such intervals."""
    return [f'links.core.queue.adaptive_redn.middle_interval="{interval_ms} ms"']


def oversubscribed(run: Run, case: Case) -> dict[str, float]:
    """The phase O: how the queue is held at its beginning and afterwards, and who gets what."""
    start, end = next((start, end) for name, start, end in phases(case.point) if name == "o")
    (gateway,) = SINGLE
    gate = Gate(run, gateway.link, gateway.mbps)
    begun = start + (end - start) / 5
    first, steady = slice(int(start), int(begun)), slice(int(begun), int(end))
    samples = slice(int(start * PER_SECOND), int(end * PER_SECOND))
    carried = gate.utilization[first.start : steady.stop]
    probability = column(run, f"series/links.{gateway.link}", "middle_probability.2")
    return {
        "start_delay_s": float(gate.delay[first].mean()),
        "start_delay_max_s": float(gate.delay[first].max()),
        "steady_delay_s": float(gate.delay[steady].mean()),
        "above_middle_ratio": float((gate.average[2][samples] >= gateway.middle).mean()),
        "utilization_ratio": float(carried.mean()),
        "assured_ratio": _assured(run, case, start, end),
        "middle_probability_ratio": float(np.maximum(probability[samples], case["static"]).mean()),
    }


def _assured(run: Run, case: Case, start: float, end: float) -> float:
    """What flows get of what Table 4.1 assures them, each up to that: mean over the second half."""
    half = slice(int((start + end) / 2), int(end))
    due = ASSURED["o"]
    shares = [
        float(by_second(column(run, f"series/flows.{flow.name}", "throughput_bps"))[half].mean())
        / (due[flow.path.rate] * MBPS)
        for flow in flows(case.point)
        if "o" in flow.phases
    ]
    return float(np.minimum(shares, 1.0).mean())


# (b) Conditioning by rate and by throughput, for each flow and for the flows of a customer.


def _crowd(case: Case) -> list[str]:
    """One phase in which everybody sends, the first 10 s not counted. Baselines make up 83 % of the
    link of section 4.3 and 113 % of that of section 4.1."""
    gateway = {"baseline": MIX[0], "over": SINGLE[0]}[case["load"]]
    return [*_bottleneck(gateway), 'duration="50 s"', f'warm_up="{WARM_UP_S:g} s"']


def _bottleneck(gateway: Gateway) -> list[str]:
    law = "links.core.queue.adaptive_redn"
    return [
        f'links.core.rate="{gateway.mbps:g} Mbit/s"',
        f'{law}.min_threshold="{gateway.minimum} packets"',
        f'{law}.actual_threshold="{gateway.minimum} packets"',
        f'{law}.middle_threshold="{gateway.middle} packets"',
        f'{law}.max_threshold="{gateway.maximum} packets"',
    ]


def paired(case: Case) -> list[str]:
    """The thesis's paths: two replicas, `a` and `b`, of each expected throughput and delay."""
    return [*network(case.point), *_crowd(case)]


def by_rate(replicas: str, window: str | None = None) -> Callable[[Case], list[str]]:
    """TSWTCM instead of the adaptive token bucket for these replicas; a window of a path's
    roundtrip transit delay if none is given."""

    def assignments(case: Case) -> list[str]:
        found = []
        for path in paths(case.point):
            if path.replica in replicas:
                meter = _tsw(path.rate, window or f"{path.rtt} ms")
                found.append(f"links.in-{path.name}.conditioner={inline(meter)}")
        return found

    return assignments


def _tsw(mbps: int, window: str) -> dict[str, Any]:
    rates = {"ctr": f"{mbps} Mbit/s", "ptr": f"{2 * mbps} Mbit/s"}
    return {"tswtcm": {**rates, "window": window}}


def replicas(run: Run, case: Case) -> dict[str, float]:
    """What the replicas `a` and `b` get, and the queue."""
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


@dataclass(frozen=True, slots=True)
class Customer:
    """Six flows, one of each roundtrip transit delay, behind one access link; `rate` in Mbit/s is
    the baseline expected throughput of each."""

    rate: int
    replica: str

    @property
    def name(self) -> str:
        """What its links and flows are called after."""
        return f"{self.rate}-{self.replica}"


ACCESS_DELAY_MS = min(RTTS) / 4 - CORE_DELAY_MS / 2
"""Propagation delay of customers' access links: that of scenario.toml."""


def customers() -> Iterator[Customer]:
    """Two of each expected throughput."""
    for rate in RATES:
        yield from (Customer(rate, replica) for replica in REPLICAS)


def crowded(case: Case) -> list[str]:
    """The flows of the thesis, six of them behind each access link: 200 Mbit/s, more than the 120
    that any customer is expected to send at most."""
    shown = template()
    found = _crowd(case)
    for customer in customers():
        arrives = {**shown["links"]["in"], "from": f"S-{customer.name}", "rate": "200 Mbit/s"}
        del arrives["conditioner"]
        found.append(f"links.in-{customer.name}={inline(arrives)}")
        for rtt in RTTS:
            name = f"{customer.name}-{rtt}"
            delay = rtt / 2 - CORE_DELAY_MS - ACCESS_DELAY_MS
            leaves = {**shown["links"]["out"], "to": f"R-{name}", "delay": f"{delay:g} ms"}
            flow = {**shown["flows"]["path"], "from": f"S-{customer.name}", "to": f"R-{name}"}
            found += [f"links.out-{name}={inline(leaves)}", f"flows.{name}={inline(flow)}"]
    return found


def _conditioned(law: Callable[[int], dict[str, Any]]) -> list[str]:
    """A conditioner for each customer, by the rate of its flows."""
    return [
        f"links.in-{customer.name}.conditioner={inline(law(customer.rate))}"
        for customer in customers()
    ]


def bucket_by_flow() -> list[str]:
    """The thesis's conditioner for each flow of a customer."""
    return _conditioned(lambda rate: {"per_flow": {"of": _bucket(rate)}})


def bucket_by_customer(weight: float) -> list[str]:
    """One for all of a customer, with the sums of their rates; `weight` of the round-trip time told
    last in that which sets the depths."""

    def law(rate: int) -> dict[str, Any]:
        bucket: dict[str, Any] = _bucket(len(RTTS) * rate)
        bucket["adaptive_token_bucket"]["srtt_weight"] = weight
        return bucket

    return _conditioned(law)


def tsw_by_customer() -> list[str]:
    """TSWTCM for all of a customer, with the window of 1 s of RFC 2859 for aggregates."""
    return _conditioned(lambda rate: _tsw(len(RTTS) * rate, "1 s"))


def _bucket(mbps: int) -> dict[str, Any]:
    bucket = template()["links"]["in"]["conditioner"]["adaptive_token_bucket"]
    rates = {"cir": f"{mbps} Mbit/s", "pir": f"{2 * mbps} Mbit/s"}
    return {"adaptive_token_bucket": {**bucket, **rates}}


def shares_of_customers(run: Run, case: Case) -> dict[str, float]:
    """What customers get, and how their flows share it."""
    del case
    got: dict[str, dict[int, float]] = defaultdict(dict)
    rates: dict[str, float] = {}
    for row in run.document["groups"]:
        rate, replica, rtt = row["name"].split("-")
        name = Customer(int(rate), replica).name
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


def mixed(case: Case) -> list[str]:
    """Section 4.3, the first 10 s not counted; or with one flow of UDP that sends twice the rate of
    the bottleneck, and is conditioned as the 24 are together."""
    laid = [*network(case.point), f'warm_up="{WARM_UP_S:g} s"']
    if case["udp"] == "many":
        return laid
    names = [path.name for path in paths(case.point) if path.rate in UDP_RATES]
    gone = tuple(f"flows.{name}-" for name in names if name != ONLY)
    flow = next(flow.name for flow in flows(case.point) if flow.path.name == ONLY)
    rate = sum(path.rate for path in paths(case.point) if path.rate in UDP_RATES)
    depth = f"{3000 * len(names)} B"
    meter = {"cir": f"{rate} Mbit/s", "pir": f"{2 * rate} Mbit/s", "cbs": depth, "pbs": depth}
    (gateway,) = MIX
    return [
        *(line for line in laid if not line.startswith(gone)),
        f'links.in-{ONLY}.rate="1 Gbit/s"',
        f'links.out-{ONLY}.rate="1 Gbit/s"',
        f"links.in-{ONLY}.conditioner={inline({'trtcm': meter})}",
        f'flows.{flow}.traffic.cbr.rate="{2 * gateway.mbps:g} Mbit/s"',
    ]


def choke(**parameters: Any) -> Callable[[Case], list[str]]:
    """CHOKe in front of Adaptive REDn; compared is from its minimum threshold on."""
    (gateway,) = MIX

    def assignments(case: Case) -> list[str]:
        own = {"threshold": f"{gateway.minimum} packets", "mean_packet": "1000 B", **parameters}
        law = {**_adaptive(case), **own}
        return [f"links.core.queue={inline({'choke': law})}"]

    return assignments


def _adaptive(case: Case) -> dict[str, Any]:
    """`of`: the gateway as it is without."""
    laid = next(line for line in network(case.point) if line.startswith("links.core="))
    queue = tomllib.loads(f"x{laid.removeprefix('links.core')}")["x"]["queue"]
    return {"of": queue}


def self_adjusting() -> Callable[[Case], list[str]]:
    """CHOKe with 8 regions up to the maximum threshold, as its paper has it."""
    (gateway,) = MIX
    return choke(region=f"{(gateway.maximum - gateway.minimum) // 8} packets")


def sred(case: Case) -> list[str]:
    """SRED, whose drops begin at the minimum threshold, a sixth of its buffer, and which is at its
    strictest from the middle one on, a third."""
    del case
    (gateway,) = MIX
    return [f'links.core.queue={{ sred = {{ limit = "{6 * gateway.minimum} packets" }} }}']


def policed(case: Case) -> list[str]:
    """What UDP sends in excess of its higher expected throughput is dropped at its conditioner."""
    return [
        f'links.in-{path.name}.conditioner.trtcm.excess="drop"'
        for path in paths(case.point)
        if path.rate in UDP_RATES
    ]


UDP_FAIR = sum(UDP_RATES) / sum(RATES)
"""UDP's part of all baseline expected throughputs: the thesis's 42 %."""


def tcp_and_udp(run: Run, case: Case) -> dict[str, float]:
    """UDP's part of what is received, what classes get of their expected throughputs, the queue."""
    del case
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
