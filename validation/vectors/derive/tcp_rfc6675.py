"""A TCP sender that repairs losses by SACK (RFC 6675), as plain loops over segments.

Section and step numbers are those of RFC 6675. HighACK is `una - 1`, HighData `next - 1`. SACK
information is kept at a timeout, as the receivers here never discard data (section 5.1).
"""

from __future__ import annotations

from tcp_sender import LOSS, OPEN, RECOVERY, SMSS, Ack, Sender, Settings

__all__ = ["Rfc6675"]

DUP_THRESH = 3


class Rfc6675(Sender):
    """The sender."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.dup_acks = 0
        self.high_rxt = self.rescue_rxt = -1
        # Segments sent since the last timeout.
        self.resent: set[int] = set()

    # -- section 4

    def update(self, ack: Ack) -> bool:
        """Update(). Returns true if octets between HighACK and HighData are reported for the first
        time: then it is a duplicate acknowledgement, whatever else it is (section 2)."""
        first = max(self.una, ack.number)
        reported = {n for block in ack.blocks for n in range(*block) if first <= n < self.next}
        news = reported - self.sacked
        self.sacked |= news
        return bool(news)

    def is_lost(self, number: int) -> bool:
        """IsLost(): DupThresh discontiguous SACKed sequences above, or more than DupThresh - 1
        segments."""
        above = {n for n in self.sacked if n > number}
        sequences = sum(n - 1 not in above for n in above)
        return sequences >= DUP_THRESH or len(above) * SMSS > (DUP_THRESH - 1) * SMSS

    def pipe(self) -> int:
        """SetPipe(). After a timeout, for which the RFC has no algorithm, it is what was sent since
        and has not arrived."""
        if self.phase == LOSS:
            return SMSS * len({n for n in self.resent if n >= self.una} - self.sacked)
        pipe = 0
        for number in range(self.una, self.next):
            if number not in self.sacked:
                pipe += SMSS * (not self.is_lost(number))
                pipe += SMSS * (number <= self.high_rxt)
        return pipe

    def next_seg(self) -> tuple[int | None, int]:
        """NextSeg(): a segment, and the rule by which it is next."""
        covered = max(self.sacked, default=-1)
        numbers = range(max(self.high_rxt + 1, self.una), covered)
        holes = [n for n in numbers if n not in self.sacked]
        lost = [n for n in holes if self.is_lost(n)]
        if lost:
            return lost[0], 1
        if self.next < self.written:
            return self.next, 2
        if holes:
            return holes[0], 3
        outstanding = [n for n in range(self.una, self.next) if n not in self.sacked]
        if self.una - 1 > self.rescue_rxt and outstanding:
            return outstanding[-1], 4
        return None, 0

    # -- section 5

    def acknowledge(self, ack: Ack, now: int) -> None:
        """An acknowledgement. Reading: of one that lies below SND.UNA only the blocks are noted, as
        it may be ignored (RFC 9293, section 3.10.7.4)."""
        duplicate = self.update(ack)
        if ack.number < self.una or self.una == self.next:
            return
        acked = (ack.number - self.una) * SMSS
        if acked:
            self.una = ack.number
            self.sacked = {n for n in self.sacked if n >= self.una}
            self.dup_acks = self.limited = 0
            self.measure(now - ack.echo)
            self.restart_timer(now)
        if self.phase == RECOVERY:
            self.repair(ack, now)
            return
        # Reading: the window grows first, then marks count, then losses.
        if acked:
            self.grow(acked, ack.ece)
            if self.una >= self.recovery_point:
                self.phase = OPEN
        if ack.ece:
            self.echo(ack.number, now)
        if duplicate and self.phase == OPEN:
            self.duplicate(now)
        if self.phase == LOSS or (acked and self.phase == OPEN):
            self.transmit(now)

    def duplicate(self, now: int) -> None:
        """A duplicate acknowledgement outside of loss recovery: steps 1 to 4."""
        self.dup_acks += 1
        if self.dup_acks >= DUP_THRESH or self.is_lost(self.una):
            self.enter_recovery()
            self.high_rxt = self.rescue_rxt = self.una
            self.send(self.una, now)
            self.step_c(now)
            return
        self.high_rxt = self.una - 1
        while self.cwnd - self.pipe() >= SMSS and self.next < self.written:
            self.send(self.next, now)
            self.limited += 1

    def repair(self, ack: Ack, now: int) -> None:
        """An acknowledgement in loss recovery: steps A and B. Reading: the window is what recovery
        leaves, and ECN-Echo counts when it is over."""
        if self.una < self.recovery_point:
            self.step_c(now)
            return
        self.phase = OPEN
        if ack.ece:
            self.echo(ack.number, now)
        self.transmit(now)

    def step_c(self, now: int) -> None:
        """Step C: fill the pipe."""
        while self.cwnd - self.pipe() >= SMSS:
            number, rule = self.next_seg()
            if number is None:
                return
            if rule == 4:
                self.rescue_rxt = self.recovery_point - 1
            elif rule != 2:
                self.high_rxt = number
            self.send(number, now)

    def transmit(self, now: int) -> None:
        """What the window allows outside of loss recovery: SND.UNA to SND.NXT counts, SACKed or
        not (RFC 5681). After a timeout holes are filled from SND.UNA on (section 5.1)."""
        while self.phase != RECOVERY and not self.held:
            holes: list[int] = []
            flight = (self.next - self.una) * SMSS
            if self.phase == LOSS:
                known = self.sacked | self.resent
                holes = [n for n in range(self.una, self.next) if n not in known]
                flight = self.pipe()
            number = holes[0] if holes else self.next
            if flight + SMSS > self.cwnd or number == self.written:
                return
            self.resent.add(number)
            self.send(number, now)

    def write(self, segments: int, now: int) -> None:
        """The application writes: in loss recovery, too, pipe says what may be sent."""
        super().write(segments, now)
        if self.phase == RECOVERY:
            self.step_c(now)

    def expire(self, now: int) -> None:
        """The retransmission timer expired (section 5.1; RFC 6298, sections 5.4 to 5.6)."""
        self.deadline = None
        self.held = False
        if self.una < self.next:
            self.begin_timeout()
            self.dup_acks = 0
            self.high_rxt = self.una
            self.resent = {self.una}
            self.send(self.una, now)
        self.transmit(now)

    def stated_flight(self) -> int | None:
        """SetPipe() with SACK information or in recovery, else SND.UNA to SND.NXT. After a timeout
        the RFC does not say."""
        if self.phase == LOSS:
            return None
        if self.sacked or self.phase == RECOVERY:
            return self.pipe() // SMSS
        return self.next - self.una
