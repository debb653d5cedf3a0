"""Steps a second of environments: a queue of 10 Mbit/s in steps of 10 ms, alone and as a vector.

    python bench/gym.py [THREADS]

On an idle machine; docs/guides/gym.md quotes it.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from forebay import Network, tcp, traffic
from forebay.gym import make, make_vec

COUNT = 256
STEPS = 400
ROUNDS = 5


def network(source: str) -> Network:
    """A link of 10 Mbit/s, offered nine tenths of that by datagrams, or a TCP flow."""
    net = Network(source, duration="100 s")
    net.link("bn", "a", "b", rate="10 Mbit/s", delay="20 ms", queue="droptail")
    if source == "tcp":
        return net.flows("bulk", "a", "b", tcp=tcp())
    offered = traffic.poisson(rate="9 Mbit/s", size="1250 B")
    return net.flows("chatter", "a", "b", udp={}, traffic=offered)


SETTINGS: dict[str, dict[str, Any]] = {
    "queue": {
        "scenario": network("udp"),
        "acts_on": "links.bn.queue",
        "observe": ["links.bn.queue_delay_s", "links.bn.utilization", "links.bn.drops"],
        "reward": "links.bn.utilization",
    },
    "window": {
        "scenario": network("tcp"),
        "acts_on": "flows.bulk.tcp",
        "act": "cwnd",
        "observe": ["flows.bulk.mean_rtt_s", "flows.bulk.losses", "flows.bulk.cwnd_packets"],
        "reward": "flows.bulk.delivery_rate_bps",
    },
}


ACTIONS = {"queue": [0.0], "window": [40.0]}
"""Nothing is dropped; the link is full."""


def rate(env: Any, count: int, action: Any) -> float:
    """Steps a second, the best of some rounds."""
    env.reset(seed=1)
    best = 0.0
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(STEPS):
            env.step(action)
        best = max(best, count * STEPS / (time.perf_counter() - began))
    return best


def main() -> None:
    """Measure each agent, alone and as a vector."""
    threads = {"threads": int(sys.argv[1])} if len(sys.argv) > 1 else {}
    for name, setting in SETTINGS.items():
        alone = rate(make(**setting), 1, ACTIONS[name])
        action = np.tile(ACTIONS[name], (COUNT, 1))
        many = rate(make_vec(n=COUNT, copy=False, **threads, **setting), COUNT, action)
        print(f"{name}: {alone:,.0f} steps/s alone, {many:,.0f} steps/s as a vector of {COUNT}")


if __name__ == "__main__":
    main()
