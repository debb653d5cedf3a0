"""Detection of losses by time (RACK-TLP, RFC 8985), as plain loops over segments.

Section and step numbers are those of RFC 8985. SEG.END_SEQ is one beyond the number of a segment.
SACK information is kept at a timeout (section 6.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tcp_sender import OPEN, SMSS, Ack, Sender, Settings

__all__ = ["RackTlp"]

DUP_THRESH = 3


@dataclass
class Segment:
    """Segment.xmit_ts, .retransmitted and .lost of a segment, which is in `sacked` if it is SACKed.

    Reading: its time stays when it is lost, as it is needed if the segment arrives after all."""

    number: int
    sent: int
    retransmitted: bool = False
    lost: bool = False

    def order(self) -> tuple[int, int]:
        """Place in the order of RACK_sent_after()."""
        return self.sent, self.number


class RackTlp(Sender):
    """A sender as far as it finds losses."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.segments: dict[int, Segment] = {}
        # RACK.xmit_ts and end_seq, rtt, min_RTT, fack, reordering_seen, and the reordering window.
        self.newest: tuple[int, int] | None = None
        self.rtt = self.fack = self.window = 0
        self.min_rtt: int | None = None
        self.reordering_seen = False
        # Losses found so far.
        self.losses = 0
        self.dsack_round: int | None = None
        self.multiplier, self.persist = 1, 0
        # Segments that have arrived and their round-trip times, until steps 2 and 3.
        self.arrived: list[tuple[Segment, int, int]] = []
        # The timer that takes the place of the retransmission timer (section 8), and its purpose.
        self.armed: tuple[int, str] | None = None
        # TLP.end_seq and is_retrans, what section 7.3 asks of a probe, and of scheduling one.
        self.probe: tuple[int, bool] | None = None
        self.measured = self.progress = False

    def send(self, number: int, now: int) -> None:
        """Section 6.1: note when. The timer measures how long the first segment is on its way (RFC
        6675, section 6, the more careful variant)."""
        again = number < self.next
        self.progress |= not again
        super().send(number, now)
        self.segments[number] = Segment(number, now, again)
        if again and number == self.una:
            self.deadline = now + self.rto

    # -- section 6.2

    def note(self, ack: Ack, now: int) -> tuple[int, int]:
        """Steps 1 and 2: mark what has arrived. Returns how many segments that are by the blocks,
        and by the number alone. Reading: RACK.min_RTT is over segments that were sent once. Its
        filter is longer than an episode."""
        reported = {n for block in ack.blocks for n in range(*block) if n >= ack.number}
        reported = {n for n in reported if self.una <= n < self.next} - self.sacked
        acked = set(range(self.una, ack.number)) - self.sacked
        for number in reported | acked:
            segment = self.segments.pop(number)
            if not segment.retransmitted:
                self.min_rtt = min(self.min_rtt or now, now - segment.sent)
                self.measured = True
            self.arrived.append((segment, now - segment.sent, ack.echo))
        self.sacked |= reported
        return len(reported), len(acked)

    def update(self) -> None:
        """RACK_update() and RACK_detect_reordering(), steps 2 and 3."""
        for segment, rtt, echo in sorted(self.arrived, key=lambda it: it[0].order()):
            if segment.retransmitted and (echo < segment.sent or rtt < (self.min_rtt or 0)):
                continue
            self.rtt = rtt
            self.newest = max(self.newest or (-1, -1), segment.order())
        for segment, _, _ in sorted(self.arrived, key=lambda it: it[0].number):
            if segment.number + 1 > self.fack:
                self.fack = segment.number + 1
            elif segment.number + 1 < self.fack and not segment.retransmitted:
                self.reordering_seen = True
        self.arrived = []

    def update_window(self, dsack: bool) -> None:
        """RACK_update_reo_wnd(), step 4."""
        exiting = self.phase != OPEN and self.una >= self.recovery_point
        if self.dsack_round is not None and self.una >= self.dsack_round:
            self.dsack_round = None
        if self.dsack_round is None and dsack:
            self.dsack_round = self.next
            self.multiplier += 1
            self.persist = 16
        elif exiting:
            self.persist -= 1
            if self.persist <= 0:
                self.multiplier = 1
        sure = (self.phase != OPEN and not exiting) or len(self.sacked) >= DUP_THRESH
        self.window = self.multiplier * (self.min_rtt or 0) // 4
        if self.srtt is not None:
            self.window = min(self.window, math.floor(self.srtt))
        if sure and not self.reordering_seen:
            self.window = 0

    def detect(self, now: int, dsack: bool = False) -> None:
        """Steps 2 to 5, the last of which is RACK_detect_loss_and_arm_timer()."""
        self.update()
        self.update_window(dsack)
        latest = 0
        for segment in self.in_flight():
            if self.newest is not None and self.newest > segment.order():
                remaining = segment.sent + self.rtt + self.window - now
                segment.lost = remaining <= 0
                self.losses += segment.lost
                latest = max(latest, remaining)
        if latest > 0:
            self.armed = (now + latest, "reordering")
        elif self.armed and self.armed[1] == "reordering":
            self.armed = None

    def mark_at_timeout(self, now: int) -> None:
        """RACK_mark_losses_on_RTO() of section 6.3."""
        for segment in self.in_flight():
            overdue = segment.sent + self.rtt + self.window <= now
            segment.lost = overdue or segment.number == self.una
        self.probe = self.armed = None

    def in_flight(self) -> list[Segment]:
        """Segments that were sent, and have neither arrived nor been found to be lost."""
        return [it for it in self.segments.values() if not it.lost]

    def pipe(self) -> int:
        """The same in bytes."""
        return SMSS * len(self.in_flight())

    # -- section 7

    def plan_probe(self, now: int) -> None:
        """Section 7.2: after new data was sent or acknowledged. Reading: one that section 7.3 would
        not let go when it is due is not scheduled; a round-trip time counts if it is that of a
        segment that was sent once."""
        outstanding, progress = self.next - self.una, self.progress
        self.progress = False
        quiet = self.phase == OPEN and not self.sacked and outstanding > 0
        if self.armed and self.armed[1] == "reordering" and outstanding:
            return
        if not quiet:
            self.armed = None
        elif progress and self.measured and self.probe is None and self.srtt is not None:
            assert self.deadline is not None
            delay = self.settings.ack_delay * (outstanding == 1)
            self.armed = (min(now + 2 * math.floor(self.srtt) + delay, self.deadline), "probe")

    def send_probe(self, now: int) -> None:
        """TLP_send_probe() of section 7.3: new data, or else the last segment again."""
        new = self.next < self.written
        self.send(self.next if new else self.next - 1, now)
        self.progress = self.measured = False
        self.probe = (self.next, not new)
        self.deadline = now + self.rto

    def judge_probe(self, ack: Ack, bare: bool, dsack: tuple[int, int] | None) -> None:
        """TLP_process_ack() of section 7.4.2. Reading: the reaction to a loss that a probe has
        repaired is equation 4 of RFC 5681."""
        if self.probe is None or ack.number < self.probe[0]:
            return
        end, resent = self.probe
        if not resent or (dsack and dsack[1] == end) or (ack.number == end and bare):
            self.probe = None
        elif ack.number > end:
            self.probe = None
            if self.phase == OPEN:
                self.halve()
