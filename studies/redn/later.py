"""Comparisons of extensions.toml beyond the thesis's own: other gateways of its section 3.4, the
refinements of its section 2.2, and the transports of its section 4.3.1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from forebay.study import Case, Network, Run
from forebay_studies.redn.criteria import ASSURED, MBPS
from forebay_studies.redn.network import SINGLE, Phase, flows, phases, queue_law
from forebay_studies.redn.series import Gate, by_second, column

REGIONS = (0.05, 0.1, 0.15, 0.2)
"""Maximum probabilities of regions: section 3.4 has them increase up to 0.2; four are assumed."""


def _under(gateway: str, **parameters: object) -> Callable[[Network, Case], None]:
    """Another law of the thesis at the gateway instead of Adaptive REDn."""

    def change(network: Network, _: Case) -> None:
        law = queue_law(gateway, network.section("links.core.queue.adaptive_redn"))
        (kept,) = law.values()
        kept |= parameters
        network.set("links.core.queue", law)

    return change


redn = _under("redn")
self_configuring = _under("self-configuring")
regions = _under("redn", region_probabilities=list(REGIONS))
"""REDn with the refined RED of section 3.4."""


def tradeoff(run: Run, case: Case) -> dict[str, float]:
    """Queuing delay and what flows get of what Table 4.1 assures them, by phase."""
    (gateway,) = SINGLE
    gate = Gate(run, gateway.link, gateway.mbps)
    found: dict[str, float] = {"least_utilization_ratio": 1.0}
    for phase in phases(case.point):
        used = float(gate.utilization[phase.steady].mean())
        found |= {
            f"{phase.name}_delay_s": float(gate.delay[phase.steady].mean()),
            f"{phase.name}_assured_ratio": assured(run, case, phase),
            "least_utilization_ratio": min(found["least_utilization_ratio"], used),
        }
    return found


def assured(run: Run, case: Case, phase: Phase) -> float:
    """Share that flows get of what Table 4.1 assures them, each up to that: mean over the second
    half."""
    due = ASSURED[phase.name]
    shares = [
        float(
            by_second(column(run, f"series/flows.{flow.name}", "throughput_bps"))[phase.half].mean()
        )
        / (due[flow.path.rate] * MBPS)
        for flow in flows(case.point)
        if phase.name in flow.phases
    ]
    return float(np.minimum(shares, 1.0).mean())


def starts(run: Run, case: Case) -> dict[str, float]:
    """End of slow start: timeouts and what is sent again, and what becomes of the queue."""
    total: Counter[str] = Counter()
    for row in run.document["groups"]:
        for name in ("timeouts", "retransmissions", "sent_packets"):
            total[name] += row[name]
    (gateway,) = SINGLE
    gate = Gate(run, gateway.link, gateway.mbps)
    by_name = {phase.name: phase for phase in phases(case.point)}
    policed = sum(
        link["drop_reasons"]["policed"]
        for link in run.document["links"]
        if link["name"].startswith("in-")
    )
    return {
        "timeouts_count": float(total["timeouts"]),
        "resent_ratio": total["retransmissions"] / total["sent_packets"],
        "policed_count": float(policed),
        **{
            f"{name}_start_drop_ratio": float(gate.early[by_name[name].beginning].max())
            for name in "bo"
        },
        "o_start_delay_max_s": float(gate.delay[by_name["o"].beginning].max()),
        **{f"{name}_assured_ratio": assured(run, case, by_name[name]) for name in "bo"},
    }


def _replicas_under(control: object) -> Callable[[Network, Case], None]:
    """Another congestion control for one of two replicas."""

    def change(network: Network, case: Case) -> None:
        for flow in flows(case.point):
            if flow.path.replica == "b":
                network.set(f"flows.{flow.name}.tcp.control", control)

    return change


# As much as TCP in the mean: a / b is 1.5, as in the square root of 1.5 / p.
b_by_sqrt = _replicas_under({"binomial": {"increase": 0.75, "decrease": 0.5}})
b_by_iiad = _replicas_under(
    {
        "binomial": {
            "increase_power": 1.0,
            "decrease_power": 0.0,
            "increase": 1.5,
            "decrease": 1.0,
        }
    }
)
