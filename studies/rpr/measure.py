"""Quantities of one run: utilisation and shares, and what the sentences of the slides speak of."""

from __future__ import annotations

import math

import numpy as np

from forebay.study.definition import Point, Run
from forebay_studies.rpr.criteria import BURSTY, ON_S, PACKET_S, RATES
from forebay_studies.rpr.formulas import formula_quantities
from forebay_studies.rpr.network import INTERVAL_S, burst_bps, hub_way_us
from forebay_studies.rpr.series import PERIOD_S, Array, Samples, window_of

PACKET_BITS = 12000.0
BURST_SHARE = 0.011
"""ON and half of OFF: an onset within so many s of a burst's start is of that burst."""

HALF = 0.5
NINETY = 0.9
RAMP_STEPS = (1, 10, 44, 146, 190)
LP_ALLOW = 64.0
GAP_S = 0.01
"""Packets of D further apart than this are of different bursts."""


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Quantities that a grid point's claims and figures look at."""
    match point["family"]:
        case "slides":
            return _slides(run, point)
        case "idle":
            return _wait(run, point)
        case "greedy" | "parking-lot" | "parallel-lot" | "voq-formula":
            return _shares(run, point)
        case "alone" | "unbalanced":
            return {"utilization_ratio": _carried(run, point)}
        case _:
            return _short(run, point)


def _slides(run: Run, point: Point) -> dict[str, float]:
    samples = Samples(run, point)
    found = pair(run, point) | _wait(run, point)
    settled = samples.settled()
    found["settled_swing_ratio"] = float(settled.max() - settled.min())
    if point["law"] == "srp-fa":
        found |= _congestion(samples) | _cut_back(samples) | _ramps(samples)
        if samples.scenario not in BURSTY:
            found |= _period(samples)
        if "trace" in run.tables:
            found |= _generated(run, point, samples)
    if point["law"] == "voq":
        found |= _cut_back(samples) | formula_quantities(samples)
    return found


def _short(run: Run, point: Point) -> dict[str, float]:
    found = pair(run, point) | _wait(run, point)
    if "series/links.ring.outer.F" in run.tables:
        found |= _period(Samples(run, point))
    return found


def _carried(run: Run, point: Point) -> float:
    return float(run.link("ring.outer.D")["throughput_bps"]) / RATES[str(point["line"])]


def pair(run: Run, point: Point) -> dict[str, float]:
    """Utilisation of the link behind D, and what F gets."""
    f = run.group("f")
    return {
        "utilization_ratio": _carried(run, point),
        "f_share_ratio": float(f["throughput_bps"]) / RATES[str(point["line"])],
        "f_over_offered_ratio": f["delivered_packets"] / f["sent_packets"],
    }


def host_wait_s(run: Run, point: Point) -> float:
    """Longest wait of D's packets of the window at their host: what their delay is above that of an
    empty ring. No station sends into it behind D. All of the window if none came through."""
    if not run.group("d")["delivered_packets"]:
        return float(run.document["measured_s"])
    spans = hub_way_us(point)
    empty = sum(spans) * 1e-6 + len(spans) * PACKET_S[str(point["line"])]
    # Whatever is left of an empty ring's delay is rounding.
    return max(float(run.group("d")["max_delay_s"]) - empty, 0.0)


def _wait(run: Run, point: Point) -> dict[str, float]:
    """The same where they are high priority."""
    high = point["scenario"] in (3, 4)
    return {"hp_wait_max_s": host_wait_s(run, point)} if high else {}


def _shares(run: Run, point: Point) -> dict[str, float]:
    got = [float(group["throughput_bps"]) for group in run.document["groups"]]
    match point["family"]:
        case "greedy":
            return {"f_bps": got[0], "d_bps": got[1]}
        case "parallel-lot":
            return {"short_bps": got[4]}
        case "voq-formula":
            series = run.tables["series/links.ring.outer.3"]
            late = np.asarray(series["time_s"]) > window_of(run)[0]
            rcf = np.asarray(series["share_bps"])[late]
            found = {"rcf_bps": float(rcf.mean())}
        case _:
            found = {}
    return found | {f"station{number}_bps": bps for number, bps in enumerate(got, 1)}


def _congestion(samples: Samples) -> dict[str, float]:
    """Shares of bursts that congest D, of congestion at D that comes with bursts, and of it that is
    answered."""
    onsets = samples.onsets()
    found = {}
    if bursts := samples.bursts():
        times = samples.time[onsets]
        begun = [np.any((times > burst.start) & (times <= burst.next)) for burst in bursts]
        found["bursts_congesting_ratio"] = float(np.mean(begun))
        # From the last start before each onset; those before the first have none.
        since = [min((t - b.start for b in bursts if b.start < t), default=None) for t in times]
        of_bursts = [after <= BURST_SHARE for after in since if after is not None]
        if of_bursts:
            found["congested_in_burst_ratio"] = float(np.mean(of_bursts))
    told = samples.span("D", "told_bps") < samples.line
    answered = [bool(told[at] or told[min(at + 1, len(told) - 1)]) for at in onsets]
    if answered:
        found["congestion_answered_ratio"] = float(np.mean(answered))
    return found


def _cut_back(samples: Samples) -> dict[str, float]:
    """Level to which F is cut, and the time after a burst for which it stays throttled."""
    allowed, cuts = samples.allowed(), samples.cuts()
    found = {}
    lows = [_low(allowed, at) for at in cuts]
    if lows:
        found["cut_to_ratio"] = float(np.mean(lows))
    times = samples.time[cuts]
    throttled = [
        _throttled(samples, allowed, burst.end, burst.next)
        for burst in samples.bursts()
        if samples.voq or np.any((times > burst.start) & (times <= burst.next))
    ]
    if throttled:
        found["throttled_after_burst_s"] = float(np.mean(throttled))
    return found


def _low(allowed: Array, at: int) -> float:
    """The least allowed rate from a cut until it rises."""
    while at + 1 < len(allowed) and allowed[at + 1] <= allowed[at]:
        at += 1
    return float(allowed[at])


def _throttled(samples: Samples, allowed: Array, start: float, end: float) -> float:
    """From the end of a burst until F may send half of the line until the next."""
    low = (samples.time > start) & (samples.time <= end) & (allowed < HALF)
    return float(samples.time[low].max() - start) if low.any() else 0.0


def _period(samples: Samples) -> dict[str, float]:
    times = samples.time[samples.cuts()]
    return {"allow_period_s": float(np.diff(times).mean())} if len(times) > 1 else {}


def _ramps(samples: Samples) -> dict[str, float]:
    """Rise of F's allowed rate: against the formula, and for how long to nine tenths."""
    allowed = samples.allowed()
    clear = samples.without_message() & samples.window
    errors = np.abs(allowed - samples.expected_ramp())[clear]
    found = {"ramp_steps_count": float(len(errors))}
    if len(errors):
        found["ramp_error_max_ratio"] = float(errors.max())
    times, spacings = [], []
    for first, last in samples.ramps():
        rise = allowed[first : last + 1]
        passed = np.flatnonzero(rise >= NINETY)
        if len(passed) and rise[0] < NINETY:
            at = int(passed[0])
            part = (NINETY - rise[at - 1]) / (rise[at] - rise[at - 1])
            times.append((at - 1 + part + _steps(rise[0])) * INTERVAL_S)
            elapsed = samples.time[first + at] - samples.time[first]
            spacings.append(elapsed / (_steps(rise[at]) - _steps(rise[0])))
    if times:
        found["ramp_90_s"] = float(np.mean(times))
        found["decay_interval_s"] = float(np.mean(spacings))
    return found | _from_nothing(samples)


def _steps(value: float) -> float:
    """Intervals that the formula takes from 0 to a part of the line."""
    return math.log(1.0 - value) / math.log(1.0 - 1.0 / LP_ALLOW)


def _from_nothing(samples: Samples) -> dict[str, float]:
    """The allowed rate so many intervals after it was 0, without messages since."""
    allowed = samples.allowed()
    rises = [(first, last) for first, last in samples.ramps() if allowed[first] == 0.0]
    found = {}
    for steps in RAMP_STEPS:
        values = [allowed[first + steps] for first, last in rises if first + steps <= last]
        if values:
            found[f"ramp_n{steps}_ratio"] = float(np.mean(values))
    return found


def _generated(run: Run, point: Point, samples: Samples) -> dict[str, float]:
    """The traffic that was generated, against the parameters of the slides."""
    trace = run.tables["trace"]
    flows, events = np.asarray(trace["flow"]), np.asarray(trace["event"])
    found: dict[str, float] = {}
    for name in ("f", "d"):
        (flow,) = run.flows(name)
        mine = flows == name
        found[f"{name}_start_s"] = float(flow["started_s"])
        found[f"{name}_packet_bytes"] = float(np.asarray(trace["size_bytes"])[mine].max())
    measured = float(run.document["measured_s"])
    sent = {name: run.group(name)["sent_packets"] * PACKET_BITS for name in ("f", "d")}
    found["f_generated_bps"] = sent["f"] / measured
    if samples.scenario not in BURSTY:
        return found | {"d_on_generated_bps": sent["d"] / measured}
    found["d_on_generated_bps"] = sent["d"] / (measured / PERIOD_S) / ON_S
    times = np.asarray(trace["time_s"])[(flows == "d") & (events == "sent")]
    return found | _on_and_off(times, burst_bps(samples.scenario, str(point["line"])))


def _on_and_off(times: Array, bps: float) -> dict[str, float]:
    """ON and OFF state times: a burst lasts until the gap after its last packet has passed."""
    pauses = np.flatnonzero(np.diff(times) > GAP_S)
    last, following = times[pauses[0]], times[pauses[0] + 1]
    end = last + PACKET_BITS / bps
    return {"d_on_s": float(end - times[0]), "d_off_s": float(following - end)}
