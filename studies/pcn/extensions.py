"""Three-state marking against what the IETF standardised from 2009 on.

The draft of November 2007 was one of several proposals. What became RFC 5670 (metering and
marking) kept the threshold meter but neither the slow-down "s" nor termination by single marked
packets: edge nodes measure marked traffic and terminate an amount, with three encoding states
(RFC 6661, "controlled load", CL) or two (RFC 6662, "single marking", SM).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from forebay.study import Case, Findings, Network, Point, Run
from forebay_studies.pcn.draft import MBPS, PEAK_BPS, codec_bps, px_bucket
from forebay_studies.pcn.measure import after, erlang_b, first_at_or_below, load
from forebay_studies.pcn.new_calls import (
    after_slow_reroute,
    call_cases,
    calls_rerouted,
    probed_before_media,
    probed_during_media_delay,
    slow_reroute,
    voice_apart,
    voice_with_its_video,
)

__all__ = [
    "admission_3sm",
    "admission_cl",
    "admission_sm",
    "after_reroute",
    "after_slow_reroute",
    "call_cases",
    "calls_rerouted",
    "concluded_admission",
    "concluded_termination",
    "overload_cases",
    "overloaded",
    "overloaded_3sm",
    "probed_before_media",
    "probed_during_media_delay",
    "probing_cases",
    "reroute",
    "reroute_cases",
    "rerouted",
    "slow_reroute",
    "termination_3sm",
    "termination_cl",
    "termination_sm",
    "under_overload",
    "voice_apart",
    "voice_with_its_video",
]

ADMISSIBLE = 0.8
"""Admissible rate over supportable rate: this comparison's choice, the draft leaves it open."""

FACTOR = 1 / ADMISSIBLE
"""U of RFC 6662, section 3.3.2: every link sustains U times its admissible rate."""

LIMIT = 0.05
"""CLE-limit, which RFC 6661 and RFC 6662 leave to the operator: small, so that blocking begins
close to the admissible rate, but above the marks that a full bucket lets slip."""

INTERVAL_S = 0.3
"""T-meas of RFC 6661 and RFC 6662, which recommend 100 to 500 ms."""

TAIL_S = 13.0
"""From when the load that is left is measured: 8 s after the reroute."""

WARM_UP_S = 60.0
STEP_S = 0.01
WINDOW_S = 0.05
"""Observation window of the draft's figures."""

CBR_BPS = PEAK_BPS["g711_20ms"]

CODECS: Mapping[str, tuple[tuple[str, bool], ...]] = {
    "cbr": (("g711_20ms", False),),
    "vbr": (("g711_20ms", True),),
    "mix": (("dual_rate", False), ("g711_10ms", True), ("g711_20ms", True), ("g729_20ms", True)),
}
"""Codec and silence suppression by type of traffic (section 3.1), from the fastest codec on."""


def _cases(rates: Sequence[float]) -> list[Case]:
    """Each SR with the three round-trip times, and with the three kinds of traffic."""
    found = []
    for rate in rates:
        for traffic, rtt in (("cbr", 50), ("cbr", 200), ("cbr", 800), ("vbr", 50), ("mix", 50)):
            point: Point = {"sr_mbps": rate, "traffic": traffic, "rtt_ms": rtt}
            name = traffic if traffic == "mix" else traffic.upper()
            quick = rate < 10 and traffic != "mix" and rtt != 200
            found.append(Case(f"{name} {rtt} ms", point, f"SR {rate:g} Mbit/s", quick))
    return found


def _sr(case: Case) -> float:
    """SR, or the base load, in bit/s."""
    return float(case["sr_mbps"]) * MBPS


def _flows(case: Case, bps: float) -> list[tuple[str, bool, int]]:
    """Number of calls of each codec that make up `bps`: equal shares, of which the codecs with the
    highest rate are rounded first and the others take up what that leaves."""
    codecs = CODECS[case["traffic"]]
    found: list[tuple[str, bool, int]] = []
    left = bps
    for number, (name, silent) in enumerate(codecs):
        rate = codec_bps(name, silent)
        calls = math.floor(left / (len(codecs) - number) / rate + 0.5)
        found.append((name, silent, calls))
        left -= calls * rate
    return found


def _set_flow(network: Network, name: str, silent: bool, calls: Mapping[str, Any]) -> None:
    voice = {"codec": name, "silence_suppression": silent}
    traffic = {"voice": voice}
    network.flows(name, "A", "B", aggregate="ab", calls=calls, traffic=traffic)


# Termination: the reroute of section 3.1.1.


def _surge_s(replication: int) -> float:
    """Time in s at which calls are rerouted: at a phase of its own of two measuring intervals, as
    these decide on every second one. Multiples of the golden section spread evenly, however many
    there are."""
    phase = replication * (math.sqrt(5) - 1) / 2 % 1.0
    return 4.8 + round(phase * 2 * INTERVAL_S / STEP_S) * STEP_S


def reroute(network: Network, case: Case, replication: int) -> None:
    """100 % of SR from the start, and as much again at once."""
    at = _surge_s(replication)
    for name, silent, flows in _flows(case, _sr(case)):
        surge = {"at": f"{at:.2f} s", "calls": flows}
        _set_flow(network, name, silent, {"initial": flows, "surges": [surge]})


def rerouted(network: Network, case: Case) -> None:
    """Sets what all designs of the reroute have in common."""
    network.set("duration", "25 s").set("warm_up", f"{TAIL_S} s")
    network.record(series=f"{STEP_S} s")
    network.set("aggregates.ab.rtt", f"{case['rtt_ms']} ms")


def _meters(network: Network, **meters: Mapping[str, Any]) -> None:
    network.set("links.ab.conditioners", [{name: meter} for name, meter in meters.items()])


def _threshold(bps: float) -> dict[str, str]:
    """The bucket of section 3.2, for the AR meter and for RFC 5670's threshold meter alike."""
    return {"rate": f"{bps:.0f} bit/s", "size": "20 kB", "threshold": "10 kB"}


def _excess(bps: float, size: str) -> dict[str, str]:
    return {"rate": f"{bps:.0f} bit/s", "size": size}


def termination_3sm(network: Network, case: Case) -> None:
    """The rule of section 3.1.3, with the rate of G.711 as there, and 64 bytes more so that s is no
    multiple of a packet (section 4.6)."""
    sr = _sr(case)
    slow_down = 2 * CBR_BPS / 8 * case["rtt_ms"] / 1e3 + 64
    meter = _excess(sr, px_bucket(case["sr_mbps"])) | {"slow_down": f"{slow_down:.0f} B"}
    _meters(network, ar_meter=_threshold(ADMISSIBLE * sr), sr_meter=meter)
    network.set("aggregates.ab.termination", "per_packet")


def termination_cl(network: Network, case: Case) -> None:
    """RFC 6661: threshold and excess meter."""
    sr = _sr(case)
    _meters(
        network,
        threshold_meter=_threshold(ADMISSIBLE * sr),
        excess_meter=_excess(sr, px_bucket(case["sr_mbps"])),
    )
    network.set("aggregates.ab.termination", {"sustainable_rate": {"factor": 1.0}})


def termination_sm(network: Network, case: Case) -> None:
    """RFC 6662: an excess meter at AR alone."""
    _meters(network, excess_meter=_excess(ADMISSIBLE * _sr(case), px_bucket(case["sr_mbps"])))
    edge = {"factor": FACTOR, "limit": LIMIT}
    network.set("aggregates.ab.termination", {"sustainable_rate": edge})


def after_reroute(run: Run, case: Case) -> dict[str, float]:
    """Time to 110 % of SR as in Figures 3 to 8, and how far below SR the load ends."""
    sr = _sr(case)
    fine = after(load(run, "ab", STEP_S), _surge_s(run.document["replication"]), STEP_S)
    many = round(WINDOW_S / STEP_S)
    loaded = fine[: len(fine) // many * many].reshape(-1, many).mean(axis=1) / sr
    left = float(run.link("ab")["throughput_bps"]) / sr
    return {
        "to110_s": first_at_or_below(loaded, 1.1) * WINDOW_S,
        "over_termination_ratio": max(1.0 - left, 0.0),
        "left_ratio": left,
    }


# Admission: the overload test of section 3.2.


def overloaded(network: Network, case: Case) -> None:
    """Twice the base load of calls of one minute, with up to 10 s from call to media; the base load
    at the start."""
    network.set("duration", "180 s").set("warm_up", f"{WARM_UP_S} s")
    network.set("aggregates.ab.rtt", f"{case['rtt_ms']} ms")
    for name, silent, flows in _flows(case, _sr(case)):
        calls = {"holding": "60 s", "media_delay": "10 s", "initial": flows}
        _set_flow(network, name, silent, {"rate": f"{2 * 45 * flows} /h", **calls})


def _base_flows(case: Case) -> int:
    return sum(flows for _, _, flows in _flows(case, _sr(case)))


def _ar(case: Case) -> float:
    """(N - 1) / N of the base load, in bit/s (section 3.2)."""
    flows = _base_flows(case)
    return _sr(case) * (flows - 1) / flows


def overloaded_3sm(network: Network, case: Case) -> None:
    """The overload under the draft's control of admission."""
    overloaded(network, case)
    admission_3sm(network, case)


def admission_3sm(network: Network, case: Case) -> None:
    """A stop blocking timer."""
    _meters(network, ar_meter=_threshold(_ar(case)))
    network.set("aggregates.ab.admission", {"stop_timer": {"timeout": "1 s"}})


def admission_cl(network: Network, case: Case) -> None:
    """RFC 6661: the congestion level of threshold marks."""
    _meters(network, threshold_meter=_threshold(_ar(case)))
    network.set("aggregates.ab.admission", {"congestion_level": {"limit": LIMIT}})


def admission_sm(network: Network, case: Case) -> None:
    """RFC 6662: the congestion level of excess marks."""
    _meters(network, excess_meter=_excess(_ar(case), "20 kB"))
    edge = {"limit": LIMIT, "marks": "excess"}
    network.set("aggregates.ab.admission", {"congestion_level": edge})


def under_overload(run: Run, case: Case) -> dict[str, float]:
    """Blocking, with what probes refuse, the mean load, and the largest load over windows of 10 s
    against the base load."""
    calls = run.document["calls"]
    refused = sum(row["refused"] for row in calls)
    blocked = sum(row["blocked"] for row in calls)
    offered = blocked + sum(row["admitted"] for row in calls)
    window = 10.0
    loaded = after(load(run, "ab", window), WARM_UP_S, window) / (_sr(case))
    return {
        "blocking_ratio": (blocked + refused) / max(offered, 1),
        "refused_ratio": refused / max(offered, 1),
        "overshoot_ratio": max(float(loaded.max()) - 1.0, 0.0),
        "utilization_ratio": float(loaded.mean()),
    }


# What it comes to. Every figure and every verdict below is read from the findings.


def _every(findings: Findings, quantity: str, case: Case) -> str:
    """`0.35 s with 3sm, 0.50 s with CL and 0.80 s with SM`."""
    metric = findings.metric(quantity)
    words = []
    for design in findings.comparison.every_design:
        interval = findings.interval(quantity, design, case)
        if interval is not None:
            digits = 2 if metric.unit == "s" else 1
            words.append(
                f"{interval.mean / metric.size:.{digits}f} {metric.unit} with {design.title}"
            )
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _verdicts(findings: Findings, quantity: str) -> str:
    """`CL: better in 9 of 15 cases (at every SR with CBR 800 ms), worse in 6; SM: ...`."""
    metric = findings.metric(quantity)
    told = []
    for design in findings.comparison.designs:
        words: list[str] = []
        for verdict, count in findings.tally(metric, design).items():
            of = f" of {len(findings.cases)} cases" if not words else ""
            given = {
                case
                for case in range(len(findings.cases))
                if findings.verdict(metric, design, findings.cases[case]) == verdict
            }
            labels = [
                label
                for label in dict.fromkeys(case.label for case in findings.cases)
                if all(n in given for n, case in enumerate(findings.cases) if case.label == label)
            ]
            some = labels and count < len(findings.cases)
            always = f" (at every SR with {', '.join(labels)})" if some else ""
            words.append(f"{verdict} in {count}{of}{'' if verdict == 'open' else always}")
        told.append(f"{design.title}: {', '.join(words)}")
    return "; ".join(told)


def _at(findings: Findings, quantity: str, labels: Sequence[str], sr_mbps: float = 4) -> str:
    """The means of all designs, label by label, at one SR."""
    return "; ".join(
        f"{case.label}, {_every(findings, quantity, case)}"
        for case in findings.cases
        if case["sr_mbps"] == sr_mbps and case.label in labels
    )


def concluded_termination(findings: Findings) -> list[str]:
    """Conclusions on the speed at which load falls, and on how far below SR it ends."""
    time, over = "to110_s", "over_termination_ratio"
    return [
        f"""Speed against 3sm. {_verdicts(findings, time)}. At SR 4 Mbit/s:
        {_at(findings, time, ("CBR 50 ms", "CBR 800 ms"))}. 3sm begins with the first mark, ends one
        call a mark, and must mark more slowly the longer the round-trip time. CL and SM measure one
        or two intervals of 300 ms and then end all of the excess at once.""",
        f"""Over-termination against 3sm. {_verdicts(findings, over)}. At SR 4 Mbit/s:
        {_at(findings, over, ("CBR 50 ms", "CBR 800 ms", "VBR 50 ms", "mix 50 ms"))}. Sources that
        fall silent exceed SR again and again for a moment, and each time calls end for good: one by
        one with 3sm, by the amount measured in 300 ms with CL and SM.""",
        f"""Limits: one link and one aggregate; the load is at SR before the reroute, so that SM is
        in permanent excess over AR = {ADMISSIBLE} SR and has a sustainable rate at hand before the
        first mark of the reroute is back; what is left is a mean from {TAIL_S:g} s on, while
        sources that fall silent still lose calls; the s of 3sm is that of the draft's rule for
        G.711 CBR, also for sources that send less.""",
    ]


def concluded_admission(findings: Findings) -> list[str]:
    """Conclusions on the number of calls blocked, and on how far the load overshoots."""
    blocking, over, carried = "blocking_ratio", "overshoot_ratio", "utilization_ratio"
    flows = 50
    theory = 100 * erlang_b(1.5 * flows, flows)
    return [
        f"""Calls blocked against 3sm. {_verdicts(findings, blocking)}. Overshoot against 3sm.
        {_verdicts(findings, over)}. Load carried against 3sm. {_verdicts(findings, carried)}.""",
        f"""Calls blocked at SR 4 Mbit/s: {_at(findings, blocking, ("CBR 50 ms", "CBR 800 ms"))}; a
        loss system that counts {flows} calls would block {theory:.1f} %. Overshoot:
        {_at(findings, over, ("CBR 50 ms", "VBR 50 ms"))}. The point where a design begins to block
        is a choice: the admissible rate for 3sm and CL, {1 / (1 - LIMIT):.2f} times that for SM, by
        its CLE-limit of {LIMIT}.""",
        """Limits: one link, one aggregate and one CLE-limit; as in the draft, calls send only up to
        10 s after they were admitted, so that part of the overshoot is decided before a meter can
        see it.""",
    ]


def reroute_cases() -> list[Case]:
    """Those of the reroute: three SR."""
    return _cases((0.8, 4, 40))


def overload_cases() -> list[Case]:
    """Those of the overload: three base loads."""
    return _cases((0.8, 4, 16))


def probing_cases() -> list[Case]:
    """Those of the overload at a base load of 0.8 and 4 Mbit/s."""
    return _cases((0.8, 4))
