"""Copa (Arun and Balakrishnan, NSDI 2018), as a congestion control of one's own.

The window is steered to the rate 1 / (delta d_q), where d_q is the queueing delay; against flows
that fill buffers, 1 / delta follows AIMD. Sections are those of the paper.
"""

import forebay
from forebay.laws import (
    NEVER,
    SIGNAL_TIMEOUT,
    SIGNAL_TIMEOUT_AGAIN,
    Probe,
    Span,
    State,
    Time,
    refuse,
    seconds,
)

ROUNDS = 4  # round trips over which the greatest round-trip time is taken (section 2.2)
LEAST = 2.0  # least window, in segments, as in the code of the authors


@forebay.law(
    kind="control",
    source="Arun and Balakrishnan, NSDI 2018",
    example="delta = 0.5",
    samples=True,
)
class my_copa:
    """Steers the rate to one over delta times the queueing delay; competes with buffer-fillers.

    delta: Weight of delay against throughput, above 0. [section 2]
    competes: True if it has a mode for times when others fill the buffer. [section 2.2]
    memory: Time over which the least round-trip time is taken. [section 2.1]
    queueing_delay: The standing less the least round-trip time.
    velocity: Factor to the steps of the window.
    inverse (packets): One over delta, as it is now.
    """

    delta: float = 0.5
    competes: bool = True
    memory: Span = "10 s"
    queueing_delay: Probe[Span]
    velocity: Probe[float] = 1.0
    inverse: Probe[float]
    usual: State[float]  # one over delta in the default mode
    least: State[Span, 3]  # RTTmin, with the times of its samples
    least_at: State[Time, 3]
    standing: State[Span, 3]  # RTTstanding
    standing_at: State[Time, 3]
    greatest: State[Span, 4]  # of this round trip, and of those before it
    emptied: State[Time]  # when the queue was nearly empty last
    competing: State[bool]
    lost: State[bool]
    ramping: State[bool] = True  # slow start
    round_end: State[int]  # delivered data with which this round trip ends
    at_start: State[float]  # window at its start
    direction: State[int]
    same: State[int]  # round trips for which the window went this way

    def create(law, at):
        if law.delta <= 0:
            refuse("delta", f"{law.delta} is out of range; allowed: above 0")
        law.usual = law.inverse = 1 / law.delta

    def congested(law, at):
        law.inverse = max(law.inverse / 2, law.usual)
        law.lost = True
        at.ssthresh = max(at.cwnd, LEAST * at.smss)
        if at.signal == SIGNAL_TIMEOUT or at.signal == SIGNAL_TIMEOUT_AGAIN:
            # Of timeouts the paper says nothing: RFC 5681, section 3.1.
            at.ssthresh = max(at.flight / 2, LEAST * at.smss)
            at.cwnd = at.smss
            law.ramping = True
            law.velocity = 1.0

    def sampled(law, at):
        if at.rtt != NEVER and at.rtt > 0:
            measure(law, at.rtt, at.srtt if at.srtt != NEVER else at.rtt, at.now)
        if law.standing[0] == 0:
            return
        if at.prior_delivered != NEVER and at.prior_delivered >= law.round_end:
            law.round_end = at.delivered
            turn(law, at)
        if not at.recovering or at.selective:
            step(law, at)
        # Twice the rate of the window, so that pacing does not limit it (section 2.1).
        at.pacing_rate = 2.0 * at.cwnd / seconds(law.standing[0])


def measure(law, rtt, srtt, now):
    """Note a round-trip time, and the mode that follows (sections 2.1 and 2.2)."""
    minimum(law.least, law.least_at, rtt, now, law.memory)
    minimum(law.standing, law.standing_at, rtt, now, srtt // 2)
    law.queueing_delay = max(law.standing[0] - law.least[0], 0)
    law.greatest[0] = max(law.greatest[0], rtt)
    greatest = law.greatest[0]
    for at in range(1, ROUNDS):
        greatest = max(greatest, law.greatest[at])
    # Nearly empty: the delay is below a tenth of the range of the last round trips.
    if law.queueing_delay * 10 <= max(greatest - law.least[0], 0):
        law.emptied = now
    law.competing = law.competes and now - law.emptied > 5 * srtt
    if not law.competing:
        law.inverse = law.usual


def turn(law, at):
    """End a round trip: AIMD on 1 / delta, and velocity (sections 2.1 and 2.2)."""
    for place in range(ROUNDS - 1, 0, -1):
        law.greatest[place] = law.greatest[place - 1]
    law.greatest[0] = 0
    if law.competing and not law.lost:
        law.inverse += 1.0
    law.lost = False
    direction = int(at.cwnd > law.at_start) - int(at.cwnd < law.at_start)
    law.at_start = at.cwnd
    law.same = law.same + 1 if direction == law.direction else 1
    law.direction = direction
    steady = law.same >= 3 and direction != 0 and not law.ramping
    law.velocity = 2.0 * law.velocity if steady else 1.0


def step(law, at):
    """Move the window for what was delivered (section 2.1, steps 1 to 3)."""
    segments = at.cwnd / at.smss
    # cwnd / RTTstanding <= 1 / (delta d_q), without a division by a delay of nothing.
    below = segments * float(law.queueing_delay) <= law.inverse * float(law.standing[0])
    law.ramping = law.ramping and below
    # Velocity is that of a direction; a step against it is a first one (mvfst, Copa.cpp).
    velocity = law.velocity if law.direction == (1 if below else -1) else 1.0
    change = float(at.newly_delivered)
    if not law.ramping:
        # No more than slow start would take, as in the code of the authors.
        change = min(velocity * law.inverse * change / segments, change)
    if not below:
        at.cwnd -= change
    elif at.cwnd_limited:
        at.cwnd += change
    at.cwnd = max(at.cwnd, LEAST * at.smss)


def minimum(spans, times, span, now, window):
    """The least span of a sliding window of time, by Nichols' three samples."""
    if spans[0] == 0 or span <= spans[0] or now - times[2] > window:
        note(spans, times, 0, span, now)
        return
    if span <= spans[1]:
        note(spans, times, 1, span, now)
    elif span <= spans[2]:
        note(spans, times, 2, span, now)
    age = now - times[0]
    if age > window:
        move(spans, times)
        note(spans, times, 2, span, now)
        if now - times[0] > window:
            move(spans, times)
    elif times[1] == times[0] and age * 4 > window:
        note(spans, times, 1, span, now)
    elif times[2] == times[1] and age * 2 > window:
        note(spans, times, 2, span, now)


def note(spans, times, first, span, now):
    """Put a new sample into all places from `first` on."""
    for place in range(first, 3):
        spans[place] = span
        times[place] = now


def move(spans, times):
    """Move the samples up by a place."""
    for place in range(2):
        spans[place] = spans[place + 1]
        times[place] = times[place + 1]
