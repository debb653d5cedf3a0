"""A TCP sender that finds losses by time (RFC 8985), and sends in proportion to what arrives while
it repairs them (PRR, RFC 9937)."""

from __future__ import annotations

import math
from fractions import Fraction

from tcp_rfc8985 import RackTlp
from tcp_sender import OPEN, RECOVERY, SMSS, Ack, Settings

__all__ = ["RackSender"]


class RackSender(RackTlp):
    """The sender."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        # RecoverFS, prr_delivered and prr_out in bytes; losses found until the last reduction.
        self.recover_fs = self.prr_delivered = self.prr_out = 0
        self.known_losses = 0

    # -- RFC 9937

    def begin_reduction(self, sacked: int, acked: int) -> None:
        """Section 6.1, where an acknowledgement reports so many segments by blocks and by
        number."""
        self.recover_fs = SMSS * (self.next - self.una - (len(self.sacked) - sacked) + acked)
        self.prr_delivered = self.prr_out = 0

    def reduce(self, delivered: int, safe: bool) -> None:
        """Section 6.2. Reading: the fast retransmission is sent in any case, though less than a
        segment is due, and nothing is never less."""
        self.prr_delivered += delivered * SMSS
        pipe, target = self.pipe(), Fraction(self.ssthresh)
        if pipe > target:
            due = math.ceil(self.prr_delivered * target / self.recover_fs)
            count = Fraction(due - self.prr_out)
        else:
            bound = max(self.prr_delivered - self.prr_out, delivered * SMSS) + SMSS * safe
            count = min(target - pipe, Fraction(bound))
        least = 0 if self.prr_out else SMSS
        self.cwnd = pipe + max(count, Fraction(least))
        self.known_losses = self.losses

    # -- the sender

    def transmit(self, now: int) -> None:
        """Send what is lost, and then new data, as far as pipe leaves room. Reading: what is sent
        in addition while something is SACKed counts as limited transmit."""
        while not self.held and self.pipe() + SMSS <= self.cwnd:
            lost = [it.number for it in self.segments.values() if it.lost]
            number = min(lost, default=self.next)
            if number == self.written:
                return
            self.limited += number == self.next and self.phase == OPEN and bool(self.sacked)
            self.prr_out += SMSS
            self.send(number, now)

    def write(self, segments: int, now: int) -> None:
        """The application writes."""
        super().write(segments, now)
        self.plan_probe(now)

    def repair(self, sacked: int, acked: int, now: int) -> None:
        """Enter recovery if a loss is known, by an acknowledgement that reports so many segments by
        blocks and by number."""
        if not any(it.lost for it in self.segments.values()):
            return
        self.begin_reduction(sacked, acked)
        self.enter_recovery()
        self.probe = None
        self.reduce(sacked + acked, safe=False)
        self.transmit(now)

    def acknowledge(self, ack: Ack, now: int) -> None:
        """An acknowledgement. Reading: of one that lies below SND.UNA only what has arrived is
        noted until the next, as it may be ignored (RFC 9293, section 3.10.7.4)."""
        self.defer_timeout(now)
        sacked, acked = self.note(ack, now)
        if ack.number < self.una:
            return
        dsack = duplicates(ack)
        advances = ack.number - self.una
        if advances:
            self.una = ack.number
            self.sacked = {n for n in self.sacked if n >= self.una}
            self.limited = 0
            self.measure(now - ack.echo)
            self.progress = True
        self.detect(now, dsack is not None)
        self.judge_probe(ack, not advances and not ack.blocks, dsack)
        if advances:
            self.restart_timer(now)
        if self.phase == RECOVERY:
            self.recover(ack, sacked, acked, now)
        elif advances or self.una < self.next:
            # Reading: the window grows first, then marks count, then losses.
            if advances:
                self.grow(advances * SMSS, ack.ece)
                if self.una >= self.recovery_point:
                    self.phase = OPEN
            if ack.ece:
                self.echo(ack.number, now)
            if self.phase == OPEN:
                self.repair(sacked, acked, now)
            if self.phase != RECOVERY:
                self.transmit(now)
        self.plan_probe(now)

    def recover(self, ack: Ack, sacked: int, acked: int, now: int) -> None:
        """An acknowledgement in recovery. Reading: ECN-Echo counts when recovery is over; one that
        concludes a recovery brings nothing to the next (RFC 9937, section 6.2); losses that the
        timer has found since the one before count as found by this one."""
        if self.una < self.recovery_point:
            if sacked + acked:
                self.reduce(sacked + acked, acked > 0 and self.losses == self.known_losses)
            self.transmit(now)
            return
        # RFC 9937, section 6.3.
        self.cwnd = Fraction(self.ssthresh)
        self.phase = OPEN
        if ack.ece:
            self.echo(ack.number, now)
        self.repair(0, 0, now)
        if self.phase == OPEN:
            self.transmit(now)

    # -- timers

    def timer(self) -> int | None:
        """The retransmission timer does not run while another does (RFC 8985, section 8)."""
        return self.armed[0] if self.armed else self.deadline

    def defer_timeout(self, now: int) -> None:
        """Reading: a timeout that comes due while another timer runs waits for that."""
        if self.armed and self.deadline is not None and self.deadline <= now:
            self.deadline = self.armed[0]

    def expire(self, now: int) -> None:
        """A timer expires. Reading: after the timer for reordering or probes the retransmission
        timer runs on, or is restarted if it came due meanwhile."""
        if self.armed:
            purpose = self.armed[1]
            self.armed = None
            if purpose == "probe":
                self.send_probe(now)
            else:
                self.detect(now)
                if self.phase == OPEN:
                    self.repair(0, 0, now)
                self.transmit(now)
            if self.una < self.next and self.deadline is not None and self.deadline <= now:
                self.deadline = now + self.rto
            self.plan_probe(now)
            return
        self.deadline = None
        self.held = False
        if self.una < self.next:
            self.begin_timeout()
            self.mark_at_timeout(now)
            self.send(self.una, now)
        self.transmit(now)

    def stated_flight(self) -> int | None:
        """Segments in flight."""
        return len(self.in_flight())


def duplicates(ack: Ack) -> tuple[int, int] | None:
    """The first block if it reports duplicates: it lies below the number, or in the second block
    (RFC 2883, section 4)."""
    for first, end in ack.blocks[:1]:
        within = any(a <= first and end <= b for a, b in ack.blocks[1:2])
        return (first, end) if first < ack.number or within else None
    return None
