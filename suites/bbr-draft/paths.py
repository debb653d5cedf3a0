"""Test cases of draft-ietf-ccwg-bbr, appendix A, that are about paths: aggregation, small and
changing rates, a policer, and recoveries that were not needed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from forebay.run.measured import Finding, Recording
from forebay.suite.bbr import (
    CLOSE,
    CRUISE,
    DOWN,
    HIDDEN,
    MSS,
    PAYLOAD,
    PROBE_RTT,
    REFILL,
    STARTUP,
    UP,
    Stay,
    Trace,
    inapplicable,
    mbps,
    passes,
    share_lost,
)

# 12, 13: aggregation


def aggregation_startup(run: Recording) -> Finding:
    """A.12: STARTUP finds the bandwidth though acknowledgements come in bursts."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    first = trace.stays[0]
    if first.state != STARTUP or not first.ends:
        return trace.fails(first.end, "STARTUP does not end")
    if (answer := _extra(trace, first)) is not None:
        return answer
    far = trace.column("max_bandwidth_bps")[first.end] / (trace.rate * PAYLOAD) - 1.0
    # What is sent in the middle of a burst of acknowledgements has the rest of these in its sample,
    # at the same time: up to a burst more than the bottleneck delivers in a round trip.
    most = CLOSE + run.parameters["burst"] / run.parameters["rtt"]
    if not -CLOSE <= far <= most:
        told = (
            f"max_bw is {100 * far:+.1f} % off the bottleneck; {100 * most:.0f} % more is allowed"
        )
        return trace.fails(first.end, told)
    return passes(f"max_bw {100 * far:+.1f} % off the bottleneck with acknowledgements held back")


def _extra(trace: Trace, stay: Stay) -> Finding | None:
    """What is wrong with extra_acked at the end of a stay: it is about what the bottleneck delivers
    while acknowledgements are held back; and the window is above 2 BDP by it."""
    burst = trace.run.parameters["burst"]
    due = trace.rate * PAYLOAD * burst / 8.0
    at = stay.end - 1
    extra = float(np.max(trace.column("extra_acked_bytes")[stay.first : stay.end]))
    if not 0.5 * due <= extra <= 2.0 * due + 2.0 * MSS:
        told = f"extra_acked is {extra / MSS:.1f} segments, and {due / MSS:.1f} arrive at once"
        return trace.fails(at, told)
    cwnd = float(np.max(trace.cwnd[stay.first : stay.end]))
    if cwnd <= 2.0 * trace.bdp(at):
        return trace.fails(at, f"the window is {cwnd / trace.bdp(at):.2f} BDP, and above 2 is due")
    return None


def aggregation_cruise(run: Recording) -> Finding:
    """A.13: bursts of acknowledgements leave the link busy."""
    trace = Trace(run)
    used = float(run.row("links", "bottleneck")["utilization"])
    if used <= 0.95:
        told = f"the bottleneck is used to {100 * used:.1f} %, and 95 % are due"
        return trace.fails(len(trace.time) - 1, told)
    for stay in [stay for stay in trace.of(CRUISE) if trace.time[stay.first] > 5.0]:
        if (answer := _extra(trace, stay)) is not None:
            return answer
    return passes(f"the bottleneck is used to {100 * used:.1f} %")


# 14 to 17: paths


def sub_packet_bdp(run: Recording) -> Finding:
    """A.14: the window is four segments at least, and the link busy."""
    trace = Trace(run)
    busy = trace.time > run.parameters["settled"]
    low = np.flatnonzero(busy & (trace.cwnd < 4.0 * MSS - 1.0))
    if len(low):
        told = f"the window is {trace.cwnd[low[0]] / MSS:.1f} segments, and 4 are the least"
        return trace.fails(int(low[0]), told)
    used = float(run.row("links", "bottleneck")["utilization"])
    if used < 0.95:
        told = f"the link is used to {100 * used:.0f} %: there are stalls"
        return trace.fails(len(trace.time) - 1, told)
    if trace.visible:
        far = trace.column("bandwidth_bps")[-1] / (trace.rate * PAYLOAD) - 1.0
        if abs(far) > 0.05:
            return trace.fails(len(trace.time) - 1, f"the bandwidth is {100 * far:+.0f} % off")
    return passes(f"the link is used to {100 * used:.0f} %")


def _smooth(values: Any, size: int) -> Any:
    return np.convolve(values, np.ones(size) / size, "full")[: len(values)]


def up_10x(run: Recording) -> Finding:
    """A.15: the new rate is reached within two cycles of ProbeBW.

    A cycle is at most 3 s and the rounds of PROBE_REFILL and PROBE_UP: 1, 3, and as many as it
    takes from the old BDP to the new by a quarter each, 10.3: 15 of the base round-trip time.
    """
    trace = Trace(run)
    at = trace.index(run.parameters["event"])
    rate = 10.0 * trace.rate
    delivered = _smooth(trace.column("throughput_bps"), trace.per_rtt)
    reached = np.flatnonzero(delivered[at:] >= 0.9 * rate)
    most = 2.0 * (3.0 + 15.0 * run.parameters["rtt"])
    if not len(reached):
        told = f"{mbps(float(np.max(delivered[at:])))} is the most that is reached"
        return trace.fails(len(trace.time) - 1, told)
    after = int(reached[0]) * trace.dt
    probes = sum(
        at <= stay.end and stay.first <= at + int(reached[0])
        for stay in trace.stays
        if stay.state == UP
    )
    told = f"90 % of {mbps(rate)} {after:.2f} s after the step"
    told += f", in PROBE_UP number {probes}" if trace.visible else ""
    if after > most:
        return trace.fails(at + int(reached[0]), f"{told}; two cycles are {most:.1f} s")
    return passes(told)


def up_10x_steps(run: Recording) -> Finding:
    """A.15: what is added to inflight_longterm doubles in each round of PROBE_UP."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    at = trace.index(run.parameters["event"])
    long = trace.column("inflight_longterm_bytes")
    for stay in [stay for stay in trace.stays if stay.state == UP and stay.end > at]:
        lost = np.flatnonzero(trace.drops[stay.first : stay.end] > trace.drops[stay.first])
        end = stay.first + int(lost[0]) if len(lost) else stay.end
        marks = _round_marks(trace, stay._replace(end=end))
        added = [float(long[b] - long[a]) for a, b in itertools.pairwise(marks)]
        added = [each for each in added if each > 0.0]
        # Later on the pacing rate limits the flow, and its window is not full.
        if len(added := added[:4]) < 4:
            continue
        ratio = (added[-1] / added[0]) ** (1.0 / 3.0)
        told = f"{', '.join(f'{each / MSS:.0f}' for each in added)} segments are added by round"
        if not 1.6 <= ratio <= 2.4:
            return trace.fails(end, f"{told}: {ratio:.2f} times as many in each, and twice are due")
        return passes(told)
    return inapplicable("no PROBE_UP raises inflight_longterm for four rounds without loss")


def _round_marks(trace: Trace, stay: Stay) -> Sequence[int]:
    marks, total = [stay.first], 0.0
    for at in range(stay.first, stay.end):
        total += trace.dt / trace.srtt[at]
        if total >= 1.0:
            total -= 1.0
            marks.append(at)
    return marks


def down_10x(run: Recording) -> Finding:
    """A.16: bw_shortterm falls with the losses, and max_bw within two cycles."""
    trace = Trace(run)
    at = trace.index(run.parameters["event"])
    rate = trace.rate
    if not trace.visible:
        ratio = share_lost(trace, trace.index(run.parameters["event"] + 15.0))
        if ratio > 0.02:
            return trace.fails(len(trace.time) - 1, f"{100 * ratio:.1f} % are lost 15 s later")
        return passes(f"{100 * ratio:.1f} % are lost from 15 s after the step on")
    short = trace.column("bandwidth_shortterm_bps")
    bounded = np.flatnonzero(~np.isnan(short[at:]))
    if not len(bounded) or int(bounded[0]) * trace.dt > 1.0:
        return trace.fails(at, "bw_shortterm is not set within 1 s of the step")
    max_bw = trace.column("max_bandwidth_bps")
    low = np.flatnonzero(max_bw[at:] <= (1.0 + CLOSE) * rate * PAYLOAD)
    if not len(low):
        told = f"max_bw is {mbps(float(max_bw[-1]))} at the end, and {mbps(rate * PAYLOAD)} due"
        return trace.fails(len(trace.time) - 1, told)
    end = at + int(low[0])
    # The filter moves on in DOWN, a round trip after its entry, unless PROBE_RTT cuts that short.
    downs = [stay.first for stay in trace.of(DOWN) if trace.next(stay) != PROBE_RTT]
    cycles = sum(at < each <= end for each in downs)
    told = f"max_bw is that of the link {int(low[0]) * trace.dt:.1f} s after the step"
    if cycles > 2:
        return trace.fails(end, f"{told}, after {cycles} cycles, and 2 are due")
    return passes(f"{told}, in {cycles} cycles")


def policer(run: Recording) -> Finding:
    """A.17: a policer sets the shortterm bounds, and few packets are lost in the end."""
    trace = Trace(run)
    at = trace.index(float(trace.time[-1]) - 30.0)
    ratio = share_lost(trace, at)
    goodput = float(np.mean(trace.column("goodput_bps")[at:])) / (trace.rate * PAYLOAD)
    told = f"{100 * ratio:.2f} % lost, {100 * goodput:.0f} % of the rate used in the last 30 s"
    if trace.visible:
        names = ("inflight_shortterm_bytes", "bandwidth_shortterm_bps")
        if any(np.all(np.isnan(trace.column(name))) for name in names):
            return trace.fails(len(trace.time) - 1, f"no shortterm bound is ever set; {told}")
    if ratio >= 0.02:
        return trace.fails(at, f"{told}; below 2 % are due")
    if goodput <= 0.85:
        return trace.fails(at, f"{told}; above 85 % are due")
    return passes(told)


# 18, 19: spurious recoveries


def spurious_rto(run: Recording) -> Finding:
    """A.19: after a timeout while packets were held, window, bounds and probe are as before."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    event = run.parameters["event"]
    at, end = trace.index(event), trace.index(event + 1.0)
    if not run.row("flows", "bulk")["timeouts"] or trace.lost(at - 1, end):
        return inapplicable("there is no timeout, or something is lost")
    for name in ("bandwidth_shortterm_bps", "inflight_shortterm_bytes", "inflight_longterm_bytes"):
        before, after = trace.column(name)[[at - 1, end]]
        if not np.isnan(after) and not after >= before:
            was = "none" if np.isnan(before) else f"{before:.0f}"
            left = f"{name.rpartition('_')[0]} is {after:.0f} 1 s later, and was {was} before"
            return trace.fails(end, left)
    if trace.cwnd[end] < 0.9 * trace.cwnd[at - 1] and trace.stay(end).state != PROBE_RTT:
        told = f"the window is {trace.cwnd[end] / MSS:.0f} segments 1 s later"
        return trace.fails(end, f"{told}, and {trace.cwnd[at - 1] / MSS:.0f} before")
    again = [stay for stay in trace.stays if stay.end > at + 1 and stay.first < end]
    if trace.stay(at - 1).state == UP and not any(stay.state in (UP, REFILL) for stay in again):
        return trace.fails(end, "PROBE_UP is left and not taken up again within 1 s")
    return passes("window, bounds and probe are as before")
