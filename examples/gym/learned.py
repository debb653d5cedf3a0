"""The policy that `train.py` has learned, as a congestion control of one's own.

Once a round trip it measures what its environment observed there, by the same definitions, and asks
the same functions (`policy.py`) with the kept weights (`weights.py`).
"""

import policy
from weights import WEIGHTS

import forebay
from forebay.laws import (
    NEVER,
    SIGNAL_ECN,
    SIGNAL_LOSS,
    Probe,
    Span,
    State,
    Time,
    seconds,
)

UNPACED = 1e18
"""Pace in bytes per second at which segments leave when acknowledgements let them."""


@forebay.law(
    kind="control",
    source="examples/gym, after Salimans et al., arXiv 1703.03864",
    samples=True,
)
class learned:
    """Changes the window once a round trip by a factor that a small network has learned.

    begins: Time at which the first round trip begins, to meet an environment, whose steps begin
        with the run. 0 is the first acknowledgement.
    decision: Last decision, -1 (halve) to 1 (double).
    queued: Share of the last round trip that was spent in queues.
    """

    begins: Span = "0 s"
    decision: Probe[float]
    queued: Probe[float]
    window: State[float] = policy.INITIAL  # segments
    begun: State[bool]
    begin: State[Time]  # of this round trip
    end: State[Time]
    srtt: State[Span]
    least: State[Span]  # least round-trip time so far
    mean: State[float]  # of the round-trip times of the last round trip, seconds
    share: State[float]  # of the segments that were lost in it
    sum: State[Span]  # of the round-trip times of this one
    count: State[int]
    delivered: State[int]  # bytes
    arrived: State[int]  # segments
    missed: State[int]

    def opened(law, at):
        if at.rtt != NEVER and at.rtt > 0:
            law.least = law.srtt = at.rtt
            law.mean = seconds(at.rtt)

    def sampled(law, at):
        catch_up(law, at)
        law.delivered += at.newly_delivered
        law.arrived += (at.newly_delivered + int(at.smss) - 1) // int(at.smss)
        if at.rtt != NEVER and at.rtt > 0:
            law.sum += at.rtt
            law.count += 1
            law.least = min(law.least, at.rtt) if law.least > 0 else at.rtt
        if at.srtt != NEVER:
            law.srtt = at.srtt
        steer(law, at)

    def lost(law, at):
        catch_up(law, at)
        law.missed += 1

    def congested(law, at):
        catch_up(law, at)
        # Losses are features; marks and timeouts are no part of the training.
        if at.signal == SIGNAL_ECN:
            # A mark is answered as a loss is (RFC 3168, section 5).
            law.missed += 1
        elif at.signal != SIGNAL_LOSS:
            # After a timeout the window is a segment (RFC 5681, section 3.1), and the policy opens
            # it again.
            law.window = 1.0
            law.decision = -1.0
        steer(law, at)

    def restarted(law, at):
        # After a pause the window is an initial one at most (RFC 5681, section 4.1).
        law.window = min(law.window, policy.INITIAL)
        steer(law, at)


def steer(law, at):
    """Have the window be what was decided."""
    at.cwnd = law.window * at.smss
    at.ssthresh = at.cwnd
    at.pacing_rate = UNPACED


def catch_up(law, at):
    """End the round trips that are over."""
    if not law.begun:
        if law.srtt == 0:
            return
        law.begun = True
        law.begin = law.begins if law.begins > 0 else at.now
        law.end = law.begin + law.srtt
    while at.now > law.end:
        turn(law, at)
        law.begin = law.end
        law.end = law.begin + law.srtt


def turn(law, at):
    """End a round trip: measure, and decide if anything arrived or was lost in it."""
    if law.count > 0:
        law.mean = float(law.sum) * 1e-12 / float(law.count)
    told = law.arrived + law.missed
    if told > 0:
        law.share = float(law.missed) / float(told)
    if told > 0 and law.mean > 0.0:
        rate = float(law.delivered) * 8.0 / seconds(law.end - law.begin)
        least = float(law.least) * 1e-12
        queued = policy.waiting(law.mean, least)
        seen = policy.features(
            queued, law.queued, law.share, rate / 8.0 / at.smss, least, law.window, law.decision
        )
        law.queued = queued
        law.decision = policy.decide(WEIGHTS, seen)
        window = law.window * policy.factor(law.decision)
        law.window = min(max(window, policy.LEAST), policy.MOST)
    law.sum = 0
    law.count = 0
    law.delivered = 0
    law.arrived = 0
    law.missed = 0
