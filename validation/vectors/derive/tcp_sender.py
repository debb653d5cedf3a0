"""Parts of a TCP sender that loss detection does not change, for the reference senders here.

The window is that of RFC 5681, the retransmission timer that of RFC 6298 with the timestamps of RFC
7323, the answer to marks that of RFC 3168. Every segment carries one SMSS; they are numbered from
0, and "next" is one beyond the last. Times are whole picoseconds, windows exact numbers of bytes.

What the standards leave open is decided as Forebay's reference page of TCP says, and marked with
the word "Reading".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["LOSS", "MS", "OPEN", "RECOVERY", "SMSS", "Ack", "Sender", "Settings"]

SMSS = 1000
MS = 10**9

# Phases: RFC 5681's slow start and congestion avoidance, fast recovery, and after a timeout.
OPEN, RECOVERY, LOSS = "open", "recovery", "loss"


@dataclass(frozen=True)
class Ack:
    """An acknowledgement: next segment expected, SACK blocks, ECN-Echo, and the sending time of the
    segment whose timestamp it echoes."""

    number: int
    blocks: list[tuple[int, int]]
    ece: bool
    echo: int


@dataclass(frozen=True)
class Settings:
    """What is set in one episode: the initial window in segments, and times."""

    window: int
    rto_min: int
    rto_max: int
    ack_delay: int


class Sender:
    """A sender."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.una = self.next = self.written = 0
        self.last_sent = 0
        self.cwnd = Fraction(settings.window * SMSS)
        self.ssthresh: Fraction | float = math.inf
        self.counted = Fraction(0)
        self.phase = OPEN
        self.recovery_point = 0
        self.reduced_at = 0
        self.timed_out: int | None = None
        self.limited = 0
        self.cwr = self.held = False
        self.srtt: Fraction | None = None
        self.rttvar = Fraction(0)
        self.rto = 1000 * MS
        self.deadline: int | None = None
        self.sacked: set[int] = set()
        self.sent: list[tuple[int, bool]] = []

    # -- what a sender by one loss detection or the other says

    def pipe(self) -> int:
        """Bytes thought to be in the network while losses are repaired."""
        raise NotImplementedError

    def stated_flight(self) -> int | None:
        """Segments in flight, where the standard says how many these are."""
        raise NotImplementedError

    def transmit(self, now: int) -> None:
        """Send what the window allows."""
        raise NotImplementedError

    # -- RFC 6298

    def measure(self, rtt: int) -> None:
        """Sections 2.2 and 2.3, G = 0. A new measurement ends back-off."""
        if self.srtt is None:
            self.srtt, self.rttvar = Fraction(rtt), Fraction(rtt, 2)
        else:
            self.rttvar = self.rttvar * 3 / 4 + abs(self.srtt - rtt) / 4
            self.srtt = self.srtt * 7 / 8 + Fraction(rtt, 8)
        raw = math.floor(self.srtt + 4 * self.rttvar)
        self.rto = min(max(raw, self.settings.rto_min), self.settings.rto_max)

    def restart_timer(self, now: int) -> None:
        """Sections 5.2 and 5.3: new data was acknowledged. A timer that new data waits for (RFC
        3168, section 6.1.2) runs on when nothing is outstanding."""
        if self.una < self.next:
            self.deadline = now + self.rto
        elif not self.held:
            self.deadline = None

    def timer(self) -> int | None:
        """Time at which a timer expires."""
        return self.deadline

    def send(self, number: int, now: int) -> None:
        """Transmit a segment (RFC 6298, section 5.1). The first new one after a reduction has CWR;
        those sent again are not ECN-capable, and have none (RFC 3168, sections 6.1.2 and 6.1.5)."""
        new = number == self.next
        self.sent.append((number, new and self.cwr))
        if new:
            self.next += 1
            self.cwr = False
        self.last_sent = now
        if self.deadline is None:
            self.deadline = now + self.rto

    # -- RFC 5681

    def write(self, segments: int, now: int) -> None:
        """The application writes. The window restarts if nothing was sent for longer than a timeout
        (section 4.1). Reading: and if nothing is outstanding."""
        idle = 0 < self.una == self.next
        if idle and now - self.last_sent > self.rto:
            self.cwnd = min(self.cwnd, Fraction(self.settings.window * SMSS))
        self.written += segments
        self.transmit(now)

    def grow(self, acked: int, ece: bool) -> None:
        """Section 3.1: slow start by at most one segment an acknowledgement (equation 2), then one
        segment for each window of bytes acknowledged. Reading: an acknowledgement counts for at
        most one window, and what a reduction finds counted is forgotten. ECN-Echo opens no window
        (RFC 3168, section 6.1.2)."""
        if ece:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += min(acked, SMSS)
            return
        self.counted += min(Fraction(acked), self.cwnd)
        if self.counted >= self.cwnd:
            self.counted -= self.cwnd
            self.cwnd += SMSS

    def flight_size(self) -> Fraction:
        """FlightSize for equation 4, without what limited transmit sent since the last cumulative
        acknowledgement (section 3.2, step 2). Reading: pipe takes its place while losses are
        repaired, as SND.UNA to SND.NXT then holds several windows; it is never more than cwnd."""
        outstanding = (self.next - self.una) * SMSS
        if self.phase == OPEN:
            flight = outstanding - self.limited * SMSS
        else:
            flight = min(self.pipe(), outstanding)
        return min(Fraction(flight), self.cwnd)

    def halve(self) -> None:
        """Equation 4, for a loss that is not found by the timer."""
        self.ssthresh = max(self.flight_size() / 2, Fraction(2 * SMSS))
        self.cwnd = self.ssthresh
        self.note_reduction()

    def note_reduction(self) -> None:
        """Congestion control has acted on what has been sent so far."""
        self.counted = Fraction(0)
        self.reduced_at = self.next
        self.cwr = True

    def enter_recovery(self) -> None:
        """RFC 6675, section 5, steps 4.1 and 4.2. A window of data takes one reduction, be it for
        marks or losses (RFC 3168, section 6.1.2)."""
        if not self.una < self.reduced_at:
            self.halve()
        self.recovery_point = self.next
        self.phase = RECOVERY
        self.held = False
        self.limited = 0

    def begin_timeout(self) -> None:
        """RFC 5681, section 3.1; RFC 6298, sections 5.5 and 5.6; RFC 6675, section 5.1. ssthresh
        stays if the segment was sent again by the timer before. Reading: in recovery the window is
        what it is being reduced to, so that ssthresh is no more than equation 4 has."""
        if self.phase == RECOVERY:
            self.cwnd = min(self.cwnd, Fraction(self.ssthresh))
        if self.timed_out != self.una:
            self.ssthresh = max(self.flight_size() / 2, Fraction(2 * SMSS))
        self.cwnd = Fraction(SMSS)
        self.note_reduction()
        self.timed_out = self.una
        self.rto = min(2 * self.rto, self.settings.rto_max)
        self.recovery_point = self.next
        self.phase = LOSS
        self.limited = 0

    # -- RFC 3168

    def echo(self, number: int, now: int) -> None:
        """ECN-Echo in an acknowledgement of all below `number` (section 6.1.2): once a window. With
        one segment as the window, the next has to wait for the timer."""
        if self.reduced_at and number <= self.reduced_at:
            return
        alone = self.cwnd <= SMSS
        half = self.cwnd / 2
        self.ssthresh, self.cwnd = max(half, Fraction(2 * SMSS)), max(half, Fraction(SMSS))
        self.note_reduction()
        if alone:
            self.held = True
            self.deadline = now + self.rto
