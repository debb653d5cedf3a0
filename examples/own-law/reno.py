"""Reno (RFC 5681), as a congestion control of one's own."""

import forebay
from forebay.laws import SIGNAL_ECN, SIGNAL_LOSS, SIGNAL_TIMEOUT, State


@forebay.law(kind="control", source="RFC 5681, section 3.1")
class my_reno:
    """Slow start, congestion avoidance by one segment a round trip, halving on loss."""

    acked: State[float]

    def acknowledged(law, at):
        if at.ece:  # RFC 3168, section 6.1.2: an ECN-Echo never opens the window
            return
        if at.cwnd < at.ssthresh:
            most = max(at.ssthresh - at.cwnd, at.smss)
            at.cwnd += min(at.acked, at.slow_start_limit, most)
            return
        law.acked += at.acked
        if law.acked >= at.cwnd:
            law.acked -= at.cwnd
            at.cwnd += at.smss

    def congested(law, at):
        law.acked = 0.0
        if at.signal == SIGNAL_LOSS:
            at.ssthresh = max(at.flight / 2, 2 * at.smss)
            at.cwnd = at.ssthresh
        elif at.signal == SIGNAL_ECN:
            reduced = at.cwnd / 2
            at.ssthresh = max(reduced, 2 * at.smss)
            at.cwnd = max(reduced, at.smss)
        else:
            if at.signal == SIGNAL_TIMEOUT:
                at.ssthresh = max(at.flight / 2, 2 * at.smss)
            at.cwnd = at.smss
