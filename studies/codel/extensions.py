"""Queues of today at the consumer edge: networks and quantities."""

from __future__ import annotations

from typing import Any

import numpy as np

from forebay.study import Case, Network, Run
from forebay_studies.codel.network import edge_buffer, grid_point, packet_bytes

PATH_S = 50e-3
"""Propagation of the call's packets in one direction."""
BUFFER = 8
"""Buffers in BDP, so that the law and not the buffer decides (section "Simulation Experiments")."""


def edge(network: Network, case: Case) -> None:
    """The consumer edge, with room for eight BDP."""
    grid_point(network, case.point)
    _put(network, case, network.section("links.core.queue"))
    network.set("record.transfers", True)


def _put(network: Network, case: Case, queue: dict[str, Any], *, limit: bool = True) -> None:
    """A queue in both directions."""
    (name,) = queue
    if limit:
        queue[name] = queue[name] | {"limit": f"{BUFFER * edge_buffer(case.point)} packets"}
    for direction in ("links.core", "links.core.reverse"):
        network.set(f"{direction}.queue", queue)


def _mtu(case: Case) -> str:
    return f"{packet_bytes(case.point)} B"


def with_ecn(network: Network, case: Case) -> None:
    """CoDel of RFC 8289 with marks, which every TCP asks for."""
    _put(network, case, {"codel": {"mtu": _mtu(case), "ecn": True}})
    network.set_each("flows.*.tcp.ecn", True)


def with_pie(network: Network, case: Case) -> None:
    """PIE as it is."""
    _put(network, case, {"pie": {}})


def with_fq_codel(network: Network, case: Case) -> None:
    """FQ-CoDel with a quantum of a full packet."""
    _put(network, case, {"fq_codel": {"mtu": _mtu(case), "quantum": _mtu(case), "ecn": False}})


def with_cake(network: Network, case: Case) -> None:
    """CAKE at the rate of the link."""
    rate = network.section("links.core")["rate"]
    _put(network, case, {"cake": {"rate": rate, "tins": "besteffort"}}, limit=False)


def of_the_call(run: Run, case: Case) -> dict[str, float]:
    """What the call gets, and what the others do."""
    call, up = run.group("voice"), run.group("voice_up")
    done = run.tables["transfers"]
    uploads = [
        float(time)
        for flow, time in zip(done["flow"], done["completion_s"], strict=True)
        if str(flow).startswith("upload")
    ]
    link = run.link("core")
    return {
        "voice_delay_s": float(call["mean_delay_s"]) - PATH_S,
        "voice_up_delay_s": float(up["mean_delay_s"]) - PATH_S,
        "voice_loss_ratio": call["dropped_packets"] / call["sent_packets"],
        "drops_ratio": link["drops"] / sum(link["arrived_packets"]),
        "ftp_bps": float(run.group("ftp")["goodput_bps"]),
        "upload_s": float(np.median(uploads)) if uploads else float(run.document["simulated_s"]),
    }
