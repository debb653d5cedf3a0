"""Short-lived and sporadic flows beside the long-lived ones (section 2.2).

The thesis argues about them and shows no run.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forebay.study import Network, Point, Run
from forebay_studies.redn.criteria import RTTS
from forebay_studies.redn.network import (
    CORE_DELAY_MS,
    PATTERN,
    Section,
    contract,
    grid_point,
    paths,
    time_sliding_window,
)

NETWORKS = ("short", "short-alike", "short-tsw")
"""With the thesis's conditioner, with none, and with the time sliding window of section 2.3."""

SEGMENT_BYTES = 948

TRANSFERS: dict[str, Section] = {
    # "World-wide-web (WWW) transfer": eight segments, more than an initial window.
    "web": {"rate": "1 /s", "sizes": {"constant": {"size": f"{8 * SEGMENT_BYTES} B"}}},
    # "Telnet application": a short segment now and then.
    "telnet": {
        "rate": "2 /s",
        "sizes": {"constant": {"size": "100 B"}},
        "connection": "persistent",
    },
}

EXPECTED_MBPS = 1
"""Baseline expected throughput of short-lived and sporadic flows: the least of the thesis."""


def _names() -> Iterator[tuple[str, int, str]]:
    for kind in TRANSFERS:
        for rtt in RTTS:
            yield kind, rtt, f"{kind}-{rtt}"


def short_network(network: Network, point: Point) -> None:
    """The network with one bottleneck, and a path for each kind of short flow and each roundtrip
    transit delay."""
    arrives, leaves, shown = (network.section(part) for part in PATTERN)
    grid_point(network, {**point, "network": "single"})
    bucket = arrives["conditioner"]["adaptive_token_bucket"] | contract(EXPECTED_MBPS)
    for kind, rtt, name in _names():
        delay = {"delay": f"{(rtt / 2 - CORE_DELAY_MS) / 2:g} ms"}
        conditioner = {"conditioner": {"adaptive_token_bucket": bucket}}
        network.set(f"links.in-{name}", arrives | {"from": f"S-{name}"} | delay | conditioner)
        network.set(f"links.out-{name}", leaves | {"to": f"R-{name}"} | delay)
        ends = {"from": f"S-{name}", "to": f"R-{name}"}
        network.set(f"flows.{name}", shown | ends | {"traffic": {"transfers": TRANSFERS[kind]}})
    if point["network"] != "short":
        _conditioned_otherwise(network, point)


def _conditioned_otherwise(network: Network, point: Point) -> None:
    """Instead of the thesis's conditioner for every flow: none, so that all packets are alike, red
    ones, for which the gateway has its middle threshold; or the time sliding window marker with a
    window of a path's roundtrip transit delay, as RFC 2859, section 2, advises for single flows."""
    every = [(name, EXPECTED_MBPS, rtt) for _, rtt, name in _names()]
    single = paths({**point, "network": "single"})
    every += [(path.name, path.rate, path.rtt) for path in single]
    for name, mbps, rtt in every:
        law = time_sliding_window(mbps, f"{rtt} ms")
        if point["network"] == "short-alike":
            law = {"fixed": {"precedence": 2}}
        network.set(f"links.in-{name}.conditioner", law)


def short_quantities(run: Run) -> dict[str, float]:
    """Drops of short-lived and sporadic flows and of long-lived ones, the colours of the former,
    and how much longer than on an empty path they take."""
    kinds = {name: kind for kind, _, name in _names()}
    sent = dict.fromkeys([*TRANSFERS, "long"], 0)
    dropped = dict.fromkeys([*TRANSFERS, "long"], 0)
    for row in run.document["groups"]:
        kind = kinds.get(row["name"], "long")
        sent[kind] += row["sent_packets"]
        dropped[kind] += row["dropped_packets"]
    found = {f"{kind}_drop_ratio": dropped[kind] / sent[kind] for kind in sent}
    found["short_drop_ratio"] = sum(dropped[kind] for kind in TRANSFERS) / sum(
        sent[kind] for kind in TRANSFERS
    )
    for kind in TRANSFERS:
        links = [run.link(f"in-{name}") for of, _, name in _names() if of == kind]
        colours = np.sum([link["departed_bytes"][:3] for link in links], axis=0)
        found[f"{kind}_green_ratio"] = float(colours[0] / colours.sum())
        rows = [row for row in run.document["transfers"] if kinds[row["name"]] == kind]
        done = sum(row["completed"] for row in rows)
        slowdown = sum(row["completed"] * row["mean_slowdown"] for row in rows)
        found[f"{kind}_slowdown_ratio"] = slowdown / done
        found[f"{kind}_p99_completion_s"] = max(row["p99_completion_s"] for row in rows)
    return found
