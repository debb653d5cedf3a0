"""New calls as section 2.1 has them beside its simulations: probed, and made of two flows.

The draft's model "supports a number of probing schemes", and "some flows to always start (arrive)
together, e.g., a voice flow plus a video flow". No sentence of its sections 3 and 4 says what
either does.
"""

from __future__ import annotations

import random

from forebay.study import Case, Network, Run
from forebay_studies.pcn.draft import PEAK_BPS
from forebay_studies.pcn.measure import after, first_at_or_below, load
from forebay_studies.pcn.network import VIDEO_BPS

VOICE_BPS = PEAK_BPS["g711_20ms"]
CALL_BPS = VOICE_BPS + VIDEO_BPS
"""A call of one voice flow and one video flow."""

START_S = 5.0
DURATION_S = 40.0
TAIL_S = 12.0
VOICE = {"voice": {"codec": "g711_20ms"}}


def probed_before_media(network: Network, case: Case) -> None:
    """ "generating the packets from a new flow only after the probing results are good"."""
    network.set("aggregates.ab.probing", {"scheme": "before_media"})


def probed_during_media_delay(network: Network, case: Case) -> None:
    """ "sending probing packets only during the media delay period of the new flow"."""
    network.set("aggregates.ab.probing", {"scheme": "during_media_delay"})


def call_cases() -> list[Case]:
    """10 and 100 calls of voice and video, with three RTTs."""
    return [
        Case(f"{rtt} ms", {"calls": calls, "rtt_ms": rtt}, f"{calls} calls", calls < 100)
        for calls in (10, 100)
        for rtt in (50, 200, 800)
    ]


def calls_rerouted(network: Network, case: Case) -> None:
    """As many calls as SR carries, with the bucket of section 4.7 that is the most stable there."""
    sr = case["calls"] * CALL_BPS
    meter = {"rate": f"{sr:.0f} bit/s", "size": "400 kB", "px": "200 kB"}
    network.set("duration", f"{DURATION_S} s").set("warm_up", "1 s")
    network.set("links.ab.rate", f"{3 * sr:.0f} bit/s")
    network.set("links.ab.conditioners", [{"px_meter": meter}])
    network.set("aggregates.ab", {"rtt": f"{case['rtt_ms']} ms", "termination": "per_packet"})
    there = {"initial": case["calls"]}
    video = {"video": {"line_rate": f"{3 * sr:.0f} bit/s"}}
    network.flows("voice", "A", "B", aggregate="ab", calls=there, traffic=VOICE)
    network.flows("video", "A", "B", aggregate="ab", calls=there, traffic=video)
    network.flows("video_added", "A", "B", aggregate="ab", calls={}, traffic=video)


def voice_with_its_video(network: Network, case: Case) -> None:
    """The voice flow of a call comes when its video flow does."""
    network.flows("voice_added", "A", "B", aggregate="ab", calls={}, traffic=VOICE)


def voice_apart(network: Network, case: Case) -> None:
    """Voice flows come at times of their own."""
    network.flows("voice_apart", "A", "B", aggregate="ab", calls={}, traffic=VOICE)


def slow_reroute(network: Network, case: Case, replication: int) -> None:
    """The second failure of section 4.1: 80 % of the calls within 1 s, the others within 5 s."""
    draw = random.Random(replication)
    video, apart = (_times(draw, case["calls"]) for _ in range(2))
    for name in network.section("flows"):
        if name.endswith(("_added", "_apart")):
            times = apart if name.endswith("_apart") else video
            surges = [{"at": f"{at:.4f} s", "calls": 1} for at in times]
            network.set(f"flows.{name}.calls", {"surges": surges})


def _times(draw: random.Random, calls: int) -> list[float]:
    soon = round(0.8 * calls)
    early = [START_S + draw.uniform(0.0, 1.0) for _ in range(soon)]
    return sorted(early + [START_S + draw.uniform(1.0, 6.0) for _ in range(calls - soon)])


def after_slow_reroute(run: Run, case: Case) -> dict[str, float]:
    """The largest load, when it is down at 110 % of SR, what is left, and which flows ended."""
    sr = case["calls"] * CALL_BPS
    second = after(load(run, "ab", 1.0), START_S, 1.0) / sr
    fine = after(load(run, "ab", 0.05), START_S + 1.0, 0.05) / sr
    found = {
        "peak_ratio": float(second.max()) - 1.0,
        "to110_s": 1.0 + first_at_or_below(fine, 1.1) * 0.05,
        "over_termination_ratio": max(1.0 - float(second[-round(TAIL_S) :].mean()), 0.0),
    }
    for kind in ("voice", "video"):
        rows = [row for row in run.document["calls"] if row["name"].startswith(kind)]
        ended = sum(row["terminated"] for row in rows)
        found[f"{kind}_ended_ratio"] = ended / max(ended + sum(row["present"] for row in rows), 1)
    return found
