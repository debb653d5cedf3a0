"""Test cases of draft-ietf-ccwg-bbr, appendix A, that are about phases: how each begins and ends.

Each function is a case, or gives the time of a stimulus from a pilot run.
"""

from __future__ import annotations

import numpy as np

from forebay.run.measured import Finding, Recording
from forebay.suite.bbr import (
    CLOSE,
    CRUISE,
    DOWN,
    DRAIN,
    HIDDEN,
    LATE_ROUNDS,
    MSS,
    NAMES,
    PAYLOAD,
    PROBE_BW,
    PROBE_RTT,
    REFILL,
    STARTUP,
    UP,
    Stay,
    Trace,
    inapplicable,
    mbps,
    passes,
)

# Pilot runs: when a stimulus comes.


def drain_entry(run: Recording) -> Finding:
    """When DRAIN is entered."""
    return _entry(run, DRAIN)


def down_entry(run: Recording) -> Finding:
    """When PROBE_DOWN is entered after the first PROBE_UP: behind DRAIN it is over at once."""
    return _entry(run, DOWN, REFILL)


def refill_entry(run: Recording) -> Finding:
    """When PROBE_REFILL is entered for the first time."""
    return _entry(run, REFILL)


def cruise_time(run: Recording) -> Finding:
    """In the first PROBE_CRUISE after a PROBE_UP, a round trip after its entry."""
    entry = _entry(run, CRUISE, UP)
    return entry if entry.value is None else Finding(entry.value + run.parameters["rtt"])


def up_time(run: Recording) -> Finding:
    """In the first PROBE_UP, half a round trip after its entry."""
    entry = _entry(run, UP)
    return entry if entry.value is None else Finding(entry.value + run.parameters["rtt"] / 2.0)


def up_entry(run: Recording) -> Finding:
    """The first PROBE_UP in which the flow is limited by its application: its window is not full
    at its end or at that of the run."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    for stay in trace.stays:
        if stay.state == UP and trace.rounds(stay.first, stay.end) > 20:
            return Finding(float(trace.time[stay.first]) + 10.0 * run.parameters["rtt"])
    return inapplicable("no PROBE_UP lasts 20 rounds")


def _entry(run: Recording, state: int, after: int | None = None) -> Finding:
    """When a state is entered for the first time, or after another one."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    seen = after is None
    for stay in trace.stays:
        seen = seen or stay.state == after
        if seen and stay.state == state:
            return Finding(float(trace.time[stay.first]))
    return inapplicable(f"{NAMES[state]} is not entered")


def sent_at_refill(run: Recording) -> Finding:
    """Data sent up to the entry of PROBE_REFILL: that was delivered, and is in flight."""
    entry = refill_entry(run)
    if entry.value is None:
        return entry
    trace = Trace(run)
    at = trace.index(entry.value)
    delivered = float(np.sum(trace.column("goodput_bps")[: at + 1])) * trace.dt / 8.0
    queued = float(trace.link("queue_packets")[at]) * MSS
    on_wire = run.parameters["rate"] * PAYLOAD * run.parameters["rtt"] / 2.0 / 8.0
    return Finding(round((delivered + queued + on_wire) / MSS) * MSS)


# 1, 2: STARTUP


def startup_plateau(run: Recording) -> Finding:
    """A.1: STARTUP ends three rounds after the bandwidth, which is that of the link, has grown."""
    trace = Trace(run)
    if not trace.visible:
        return _startup_seen(trace)
    first = trace.stays[0]
    if first.state != STARTUP or not first.ends:
        return trace.fails(first.end, f"STARTUP does not end in {trace.time[-1]:.0f} s")
    last, end = first.end - 1, first.end
    max_bw = trace.column("max_bandwidth_bps")
    far = max_bw[end] / (trace.rate * PAYLOAD) - 1.0
    if abs(far) > CLOSE:
        return trace.fails(end, f"max_bw is {100 * far:+.1f} % off the bottleneck, and 2 % at most")
    grows = np.flatnonzero(max_bw[first.first : end] * 1.25 <= max_bw[last]) + first.first
    rounds = trace.rounds(int(grows[-1]) if len(grows) else first.first, end)
    if not 3.0 - 1.0 <= rounds <= 4.0 + LATE_ROUNDS:
        return trace.fails(end, f"STARTUP ends {rounds:.1f} rounds after the last growth by 25 %")
    if trace.column("full_bandwidth")[end] != 1.0:
        return trace.fails(end, "full_bw_reached is not set at the end of STARTUP")
    if trace.next(first) != DRAIN:
        return trace.fails(end, f"{NAMES[trace.stays[1].state]} follows STARTUP")
    return passes(f"max_bw {100 * far:+.1f} % off; DRAIN {rounds:.1f} rounds after the last growth")


def _startup_seen(trace: Trace) -> Finding:
    """Outside: the rate of arrivals at the bottleneck halves within 5 rounds of the plateau."""
    size = trace.per_rtt
    arrived = np.convolve(trace.link("arrived_bps"), np.ones(size) / size, "valid")
    full = np.flatnonzero(arrived >= trace.rate)
    if not len(full):
        return trace.fails(len(trace.time) - 1, "the bottleneck is never full")
    at = int(full[0])
    for later in range(at, len(arrived)):
        if arrived[later] <= 0.6 * trace.rate:
            return passes("the rate halves after the bottleneck is full")
        if trace.rounds(at, later) > 5.0 + LATE_ROUNDS:
            break
    return trace.fails(at, "the rate does not halve within 5 rounds after the bottleneck is full")


def startup_loss_app_limited(run: Recording) -> Finding:
    """A.2: losses end STARTUP though the application limits the flow."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    event = run.parameters["event"]
    first, at = trace.stays[0], trace.index(event)
    if first.state != STARTUP or first.end < at:
        return trace.fails(first.end, "STARTUP ends before there are losses")
    if not first.ends or trace.rounds(at, first.end) > 2.0 + LATE_ROUNDS:
        return trace.fails(first.end, f"STARTUP does not end after the losses at {event:g} s")
    if trace.column("full_bandwidth")[first.end] != 1.0 or not trace.drains(first, DRAIN):
        return trace.fails(first.end, "DRAIN with full_bw_reached does not follow")
    rounds = trace.rounds(at, first.end)
    lost = trace.lost(at - 1, first.end)
    return passes(f"DRAIN {rounds:.1f} rounds after the first of {lost:.0f} losses")


# 3, 4: DRAIN


def drain_inflight(run: Recording) -> Finding:
    """A.3: DRAIN has a gain of 0.5, and ends when the BDP is in flight."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    stays = trace.of(DRAIN)
    if not stays:
        return trace.fails(0, "DRAIN is not entered")
    stay = stays[0]
    gains = trace.column("pacing_gain")[stay.first : stay.end]
    if np.any(gains != 0.5):
        return trace.fails(stay.first, f"the pacing gain is {gains[gains != 0.5][0]:g}, not 0.5")
    return _leaves_at(trace, stay, trace.bdp(stay.end), "1.0 BDP")


def _leaves_at(trace: Trace, stay: Stay, target: float, name: str) -> Finding:
    """Whether a stay ends when what is in flight reaches a target, to the precision of samples."""
    flight, slack = trace.flight, trace.slack()
    if flight[stay.end] > target + slack:
        told = f"leaves {NAMES[stay.state]} with {flight[stay.end] / MSS:.0f} segments in flight"
        return trace.fails(stay.end, f"{told}, above {name} ({target / MSS:.0f})")
    low = np.flatnonzero(flight[stay.first : stay.end] < target - slack)
    if len(low):
        told = f"stays in {NAMES[stay.state]} with less than {name} in flight"
        return trace.fails(stay.first + int(low[0]), f"{told} ({target / MSS:.0f} segments)")
    return passes(f"leaves {NAMES[stay.state]} at {flight[stay.end] / target:.2f} of {name}")


def drain_time(run: Recording) -> Finding:
    """A.4: DRAIN ends after three rounds though more than the BDP is in flight."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    stays = trace.of(DRAIN)
    if not stays:
        return trace.fails(trace.index(run.parameters["entry"]), "DRAIN does not end")
    stay = stays[0]
    rounds = trace.rounds(stay.first, stay.end)
    if trace.flight[stay.end] <= trace.bdp(stay.end) + trace.slack():
        return inapplicable(f"what is in flight falls to 1.0 BDP within {rounds:.1f} rounds")
    if not 3.0 - 0.5 <= rounds <= 4.0 + LATE_ROUNDS:
        return trace.fails(stay.end, f"DRAIN ends after {rounds:.1f} rounds, and 3 are due")
    if trace.next(stay) not in PROBE_BW:
        return trace.fails(stay.end, "PROBE_BW does not follow DRAIN")
    above = trace.flight[stay.end] / trace.bdp(stay.end)
    return passes(f"DRAIN ends after {rounds:.1f} rounds with {above:.1f} BDP in flight")


# 5, 6, 7, 21: PROBE_UP


def probe_up_plateau(run: Recording) -> Finding:
    """A.5: PROBE_UP ends after three rounds without growth."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    stays = [stay for stay in trace.of(UP) if not trace.lost(stay.first - 1, stay.end)]
    if not stays:
        return trace.fails(0, "there is no PROBE_UP without loss")
    told = []
    for stay in stays:
        rounds = trace.rounds(stay.first, stay.end)
        if trace.next(stay) not in (DOWN, PROBE_RTT):
            return trace.fails(stay.end, "PROBE_DOWN does not follow PROBE_UP")
        if trace.next(stay) == DOWN:
            told.append(rounds)
        if trace.next(stay) == DOWN and not 3.0 - 0.5 <= rounds <= 4.0 + LATE_ROUNDS:
            return trace.fails(stay.end, f"PROBE_UP ends after {rounds:.1f} rounds, and 3 are due")
    return passes(f"{len(stays)} times: PROBE_UP ends after {min(told):.1f}-{max(told):.1f} rounds")


def probe_up_loss_app_limited(run: Recording) -> Finding:
    """A.6: losses end PROBE_UP; samples limited by the application move no bound."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    at = trace.index(run.parameters["event"])
    stay = trace.stay(at)
    if stay.state != UP:
        return inapplicable(f"{NAMES[stay.state]} when losses come, not PROBE_UP")
    rounds = trace.rounds(at, stay.end)
    if not stay.ends or rounds > 1.0 + LATE_ROUNDS:
        return trace.fails(stay.end, "PROBE_UP does not end after the losses")
    if not trace.drains(stay, DOWN):
        return trace.fails(stay.end, "PROBE_DOWN does not follow PROBE_UP")
    long = trace.column("inflight_longterm_bytes")
    before, after = long[at], long[stay.end]
    if before != after and not (np.isnan(before) and np.isnan(after)):
        told = f"inflight_longterm goes from {before:.0f} to {after:.0f} B"
        return trace.fails(stay.end, f"{told}, by samples that are app-limited")
    return passes(f"PROBE_DOWN {rounds:.1f} rounds after the first loss; inflight_longterm stays")


def app_limited_stays(run: Recording) -> Finding:
    """A.7: a flow that its application limits stays in the state of the parameter `state`."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    state, settled = int(run.parameters["state"]), run.parameters["settled"]
    name = NAMES[state]
    stays = [stay for stay in trace.stays if stay.state == state and trace.time[stay.first] > 0]
    late = [stay for stay in stays if trace.time[stay.end - 1] >= settled]
    if not late:
        return trace.fails(trace.index(settled), f"no {name} after {settled:g} s")
    for stay in late:
        if stay.ends and trace.next(stay) != PROBE_RTT:
            told = f"{NAMES[trace.stays[trace.stays.index(stay) + 1].state]} follows {name}"
            return trace.fails(stay.end, f"{told} without loss, after {settled:g} s")
    return passes(f"{len(late)} stays in {name} after {settled:g} s, ended by PROBE_RTT alone")


def loss_in_probe_up(run: Recording) -> Finding:
    """A.21: losses end PROBE_UP and set inflight_longterm, to Beta of the BDP at least."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    long = trace.column("inflight_longterm_bytes")
    judged = 0
    for stay in trace.of(UP):
        begin, end = long[stay.first], long[stay.end]
        lost = trace.lost(stay.first, stay.end)
        # Where PROBE_RTT comes first, the losses are not yet known.
        known = trace.next(stay) != PROBE_RTT
        share = lost / max(1.0, trace.flight[stay.end] / MSS)
        if np.isnan(begin) or not known or share <= 0.02:
            continue
        judged += 1
        if not trace.drains(stay, DOWN):
            return trace.fails(stay.end, "PROBE_DOWN does not follow PROBE_UP with losses")
        floor = 0.7 * min(trace.bdp(stay.end), trace.cwnd[stay.end])
        most = float(np.max(trace.flight[stay.first : stay.end])) + trace.slack()
        if not floor - MSS <= end <= most:
            told = f"inflight_longterm is {end / MSS:.1f} segments, and due is what was in flight"
            return trace.fails(stay.end, f"{told} (up to {most / MSS:.1f}), at least Beta BDP")
    if not judged:
        return inapplicable("no PROBE_UP with a bound has more than 2 % of losses")
    return passes(f"{judged} times: losses set inflight_longterm and end PROBE_UP")


# 8, 9: PROBE_DOWN


def probe_down_inflight(run: Recording) -> Finding:
    """A.8: PROBE_DOWN has a gain of 0.9, and ends at the lesser of headroom and BDP."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    found = [stay for stay in trace.of(DOWN) if trace.next(stay) == CRUISE]
    # Two transitions on one acknowledgement leave nothing to sample.
    found = [stay for stay in found if stay.end - stay.first > 1]
    if not found:
        return trace.fails(0, "no PROBE_DOWN ends with PROBE_CRUISE")
    for stay in found:
        gains = trace.column("pacing_gain")[stay.first : stay.end]
        if np.any(gains != 0.9):
            return trace.fails(stay.first, f"the pacing gain is {gains[gains != 0.9][0]:g}")
        long = trace.column("inflight_longterm_bytes")[stay.end - 1]
        target = trace.bdp(stay.end)
        if not np.isnan(long):
            target = min(target, max(long - max(MSS, 0.15 * long), 4.0 * MSS))
        if not (answer := _leaves_at(trace, stay, target, "the target")).value:
            return answer
    return passes(f"{len(found)} times: PROBE_DOWN ends at the target")


def probe_down_time(run: Recording) -> Finding:
    """A.9: PROBE_REFILL follows PROBE_DOWN when it is time to probe."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    at = trace.index(run.parameters["entry"])
    stay = trace.stay(at)
    after = trace.next(stay)
    seconds = (stay.end - stay.first) * trace.dt
    if after in (CRUISE, PROBE_RTT):
        bound = "what is in flight falls" if after == CRUISE else "PROBE_RTT is due"
        return inapplicable(f"{bound} within {seconds:.2f} s, before bw_probe_wait")
    if after != REFILL:
        return trace.fails(stay.end, "PROBE_DOWN does not end with PROBE_REFILL")
    rounds = trace.rounds(stay.first, stay.end)
    bdp = trace.bdp(stay.first) / MSS
    if seconds > 3.0 + LATE_ROUNDS * trace.srtt[stay.end] or (
        seconds < 2.0 and rounds < min(bdp, 63.0) - 1.0 - LATE_ROUNDS
    ):
        return trace.fails(stay.end, f"PROBE_DOWN ends after {seconds:.2f} s, {rounds:.1f} rounds")
    return passes(f"PROBE_REFILL follows PROBE_DOWN after {seconds:.2f} s")


# 10, 11, 20: PROBE_RTT


def probe_rtt(run: Recording) -> Finding:
    """A.10: PROBE_RTT comes, keeps half a BDP in flight for 200 ms and a round, and goes."""
    trace = Trace(run)
    if not trace.visible:
        return _dips(trace)
    stays = trace.of(PROBE_RTT)
    if not stays:
        return trace.fails(len(trace.time) - 1, "PROBE_RTT is not entered")
    for stay in stays:
        target = max(0.5 * trace.bdp(stay.first), 4.0 * MSS)
        if trace.cwnd[stay.end - 1] > target + MSS:
            return trace.fails(stay.end - 1, "the window is above 0.5 BDP in PROBE_RTT")
        small = np.flatnonzero(trace.flight[stay.first : stay.end] <= target + trace.slack())
        lasts = (stay.end - stay.first - int(small[0])) * trace.dt if len(small) else 0.0
        if lasts < max(0.2, run.parameters["rtt"]) - 2.0 * trace.dt:
            return trace.fails(stay.end, f"PROBE_RTT lasts {1e3 * lasts:.0f} ms, and 200 are due")
        if trace.next(stay) not in PROBE_BW:
            return trace.fails(stay.end, "PROBE_BW does not follow PROBE_RTT")
    times = [float(trace.time[stay.first]) for stay in stays]
    return passes(f"{len(stays)} times, at {', '.join(f'{time:.2f}' for time in times)} s")


def _dips(trace: Trace) -> Finding:
    """Outside: what is in flight falls to 0.6 BDP for a moment every 5 s or so."""
    rtt = trace.run.parameters["rtt"]
    low = trace.flight <= 0.6 * trace.rate * PAYLOAD * rtt / 8.0
    starts = np.flatnonzero(np.diff(low.astype(int)) == 1)
    times = [float(trace.time[at]) for at in starts if trace.time[at] > 4.0]
    gaps = np.diff([0.0, *times, float(trace.time[-1])])
    if not times or float(np.max(gaps)) > 5.0 + 3.0 + 1.0:
        return trace.fails(len(trace.time) - 1, "no dips of what is in flight every 5 s")
    return passes(f"{len(times)} dips of what is in flight")


def probe_rtt_skipped(run: Recording) -> Finding:
    """A.11: no PROBE_RTT follows an idle time of 5 s."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    interval = run.parameters["interval"]
    for restart in np.arange(interval, trace.time[-1] - 2.0, interval):
        at, end = trace.index(restart), trace.index(restart + 2.0)
        idle = np.flatnonzero(trace.flight[:at] > 0.0)
        if trace.time[at] - trace.time[idle[-1]] < 5.0:
            return inapplicable("the flow is not idle for 5 s")
        for stay in trace.stays:
            if stay.state == PROBE_RTT and stay.first < end and stay.end > at + 1:
                return trace.fails(max(stay.first, at), "PROBE_RTT after more than 5 s idle")
    return passes("no PROBE_RTT in 2 s after an idle time")


def probe_rtt_in_startup(run: Recording) -> Finding:
    """A.20: STARTUP follows a PROBE_RTT that interrupts it."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    stays = trace.of(PROBE_RTT)
    if not stays:
        return trace.fails(len(trace.time) - 1, "PROBE_RTT is not entered")
    for stay in stays:
        if trace.column("full_bandwidth")[stay.first] != 0.0:
            return trace.fails(stay.first, "full_bw_reached is set in a slow STARTUP")
        if trace.next(stay) != STARTUP:
            return trace.fails(stay.end, "STARTUP does not follow PROBE_RTT")
    return passes(f"{len(stays)} times: STARTUP follows PROBE_RTT")


# 22


def app_limited_refill(run: Recording) -> Finding:
    """A.22: a pause in PROBE_REFILL does not lower max_bw, and PROBE_UP follows."""
    trace = Trace(run)
    if not trace.visible:
        return HIDDEN
    at = trace.index(run.parameters["entry"])
    stay = trace.stay(at)
    if stay.state != REFILL:
        return inapplicable(f"{NAMES[stay.state]} where the application pauses")
    max_bw = trace.column("max_bandwidth_bps")
    least = float(np.min(max_bw[at : min(stay.end + 1, len(max_bw))]))
    if least < max_bw[at]:
        return trace.fails(stay.end, f"max_bw falls from {mbps(max_bw[at])} to {mbps(least)}")
    if trace.next(stay) not in (UP, PROBE_RTT):
        return trace.fails(stay.end, "PROBE_UP does not follow PROBE_REFILL")
    return passes("max_bw stays while the application pauses, and PROBE_UP follows")
