//! Loss recovery: Reno (RFC 5681), NewReno (RFC 6582), SACK (RFC 6675), and the retransmission
//! timeout (RFC 6298).

use forebay_network::{Observation, Packet, Signal};

use super::Recovery;
use super::connection::Phase;
use super::prr::{InRecovery, Prr};
use super::scoreboard::{NextSegment, Scoreboard};
use super::sender_context::{SenderContext, float};

impl SenderContext<'_, '_> {
    /// An acknowledgement arrived that acknowledges no new data while data is outstanding.
    pub(super) fn duplicate(&mut self, packet: &Packet, newly_sacked: u64) {
        if self.p.handshake && !self.p.accurate && packet.is_last() {
            // The answer to another SYN.
            return;
        }
        let ece = self.p.ecn && self.reports_marks(packet);
        if self.c.extension.is_some() {
            self.sample(packet, 0.0, ece);
        }
        if ece && self.c.phase != Phase::Recovery {
            self.on_ecn_echo(packet.number);
        }
        if self.p.recovery == Recovery::Sack {
            self.duplicate_with_sack(newly_sacked);
        } else {
            self.duplicate_without_sack();
        }
        if self.p.rack && self.c.phase != Phase::Recovery {
            self.transmit();
        }
    }

    /// RFC 5681, section 3.2, steps 1 to 5; RFC 6582, section 3.2, step 2.
    fn duplicate_without_sack(&mut self) {
        self.c.dupacks += 1;
        if self.c.phase == Phase::Recovery {
            // Each duplicate acknowledgement means that a segment has left the network.
            self.c.window.cwnd += self.c.window.smss;
            self.transmit();
        } else if self.c.dupacks == self.p.threshold {
            if self.p.recovery == Recovery::Reno || self.beyond_recover() {
                self.fast_retransmit();
            }
        } else if self.c.dupacks < self.p.threshold && self.p.limited_transmit {
            self.limited_transmit();
        }
    }

    /// The careful variant of RFC 6582: losses up to the recovery point are being repaired already,
    /// and duplicate acknowledgements below it may be caused by segments sent twice.
    fn beyond_recover(&self) -> bool {
        self.c.una > self.c.recover || self.c.recover == 0
    }

    /// RFC 3042: one new segment, up to two (threshold - 1) segments beyond the window.
    fn limited_transmit(&mut self) {
        let c = &self.c;
        if c.phase != Phase::Open || c.nxt < c.max || c.held || !self.has_data() {
            return;
        }
        let number = self.c.nxt;
        let beyond = f64::from(self.p.threshold - 1) * self.c.window.smss;
        let size = float(self.payload(number));
        let after = self.bytes(self.c.una, number) + size;
        let paced_out = self.c.extension.is_some() && self.is_paced_out();
        if after <= self.c.window.cwnd + beyond && self.receiver_takes(size) && !paced_out {
            self.send(number);
            self.c.nxt = number + 1;
            self.c.limited += 1;
        }
    }

    /// Fast retransmit and entry into fast recovery, without SACK.
    fn fast_retransmit(&mut self) {
        self.enter_recovery();
        // The segments that caused the duplicate acknowledgements have left the network.
        self.c.window.cwnd += f64::from(self.p.threshold) * self.c.window.smss;
        self.transmit();
    }

    /// Begin to repair losses by retransmitting the first segment.
    fn enter_recovery(&mut self) {
        self.begin_recovery();
        let una = self.c.una;
        self.send(una);
        self.c.nxt = self.c.nxt.max(una + 1);
    }

    /// Reduce the window, and record the recovery point.
    pub(super) fn begin_recovery(&mut self) {
        // A window that was reduced for ECN is not reduced again for the same flight of data,
        // unless marks take less than a loss does.
        let again = self.p.ecn && !self.p.exact_marks && self.c.una < self.c.reduced;
        if !again {
            self.reduce_window(Signal::Loss);
        }
        self.c.recover = self.c.max;
        self.c.phase = Phase::Recovery;
        self.c.partial = false;
        self.c.held = false;
        self.c.limited = 0;
    }

    /// FlightSize as passed to congestion control, in bytes: an estimate of what is in the network,
    /// never more than the window.
    ///
    /// When a loss is detected it is the data between SND.UNA and SND.NXT (RFC 5681, section 2),
    /// without what limited transmit sent (section 3.2, step 2). While losses are being repaired
    /// that range also holds segments that have arrived or are lost, in the end several windows of
    /// them, and a threshold computed from it would exceed the window that has just failed. So pipe
    /// (RFC 6675, section 4) is used then, or, after a timeout, what has been sent since the
    /// timeout.
    pub(super) fn flight_size(&self) -> f64 {
        let c = &*self.c;
        let in_network = match (c.phase, &c.scoreboard) {
            (Phase::Loss, _) => self.in_flight(),
            // Pipe has what was sent again without being known to be lost twice.
            (Phase::Recovery, Some(scoreboard)) => {
                self.pipe(scoreboard).min(self.bytes(c.una, c.max))
            }
            // Limited transmit sent the last of them, which may be short.
            _ => self.bytes(c.una, c.una.max(c.nxt.saturating_sub(u64::from(c.limited)))),
        };
        in_network.min(c.window.cwnd)
    }

    /// SetPipe() of RFC 6675 in bytes; where losses are detected by time, what they leave.
    fn pipe(&self, scoreboard: &Scoreboard) -> f64 {
        if self.p.rack {
            return self.marked_pipe();
        }
        let (una, max, threshold) = (self.c.una, self.c.max, u64::from(self.p.threshold));
        let mut pipe = scoreboard.pipe(una, max, threshold) * self.p.mss;
        if self.c.short < max {
            pipe -= self.shortfall(|number| scoreboard.times_in_pipe(number, threshold));
        }
        float(pipe)
    }

    /// New data was acknowledged during recovery, with ECN-Echo or without.
    pub(super) fn acknowledged_in_recovery(&mut self, acked: f64, ece: bool) {
        let full = self.c.una >= self.c.recover;
        match self.p.recovery {
            Recovery::Sack => {
                self.restart_timer();
                if full {
                    self.end_reduction();
                    self.end_recovery(ece);
                } else {
                    self.reduce_in_proportion(true);
                    if self.p.rack {
                        self.repair(0);
                    } else {
                        self.fill_pipe();
                    }
                }
            }
            Recovery::NewReno if !full => self.partially_acknowledged(acked),
            Recovery::NewReno => {
                self.restart_timer();
                let smss = self.c.window.smss;
                let flight = self.bytes(self.c.una, self.c.nxt);
                self.c.window.cwnd = self.c.window.ssthresh.min(flight.max(smss) + smss);
                self.end_recovery(ece);
            }
            Recovery::Reno => {
                self.restart_timer();
                self.c.window.cwnd = self.c.window.ssthresh;
                self.end_recovery(ece);
            }
        }
    }

    /// The losses are repaired, and the window is what recovery leaves. The acknowledgement that
    /// says so can carry the echo of a mark on what was sent since the reduction.
    fn end_recovery(&mut self, ece: bool) {
        self.c.phase = Phase::Open;
        if ece {
            self.on_ecn_echo(self.c.una);
        }
        if self.p.rack {
            self.repair(0);
        }
        if self.c.phase == Phase::Open {
            self.transmit();
        }
    }

    /// RFC 6582, section 3.2, step 3: retransmit at the next hole, and deflate the window by what
    /// was acknowledged.
    fn partially_acknowledged(&mut self, acked: f64) {
        let smss = self.c.window.smss;
        let una = self.c.una;
        self.send(una);
        self.c.nxt = self.c.nxt.max(una + 1);
        let deflated = self.c.window.cwnd - acked + if acked >= smss { smss } else { 0.0 };
        // Where acknowledgements were lost, the window was inflated by less than it is deflated
        // now.
        self.c.window.cwnd = deflated.max(smss);
        if !self.c.partial || !self.p.impatient {
            self.restart_timer();
        }
        self.c.partial = true;
        self.transmit();
    }

    /// Update() of RFC 6675: read the SACK blocks of an acknowledgement. Returns the number of
    /// newly SACKed segments.
    pub(super) fn update_scoreboard(&mut self, packet: &Packet) -> u64 {
        let blocks = self.cx.sack_blocks().take(packet.sack_slot());
        let una = packet.number.max(self.c.una);
        if self.p.accurate {
            self.note_counts(&blocks, packet.number);
            if blocks.as_slice().is_empty() {
                return 0;
            }
        }
        if self.c.extension.is_some() {
            self.deliver_blocks(packet, &blocks, una);
        }
        let c = &mut *self.c;
        if una >= c.max {
            return 0;
        }
        let fresh = || self.cold.spare.pop().unwrap_or_default();
        let scoreboard = c.scoreboard.get_or_insert_with(fresh);
        if scoreboard.is_empty() && c.phase == Phase::Loss && !self.p.rack {
            // What was sent since the timeout counts as retransmitted.
            scoreboard.resume(c.una, c.nxt);
        }
        scoreboard.update(&blocks, una, c.max)
    }

    /// Release an empty scoreboard for reuse.
    pub(super) fn retire_scoreboard(&mut self) {
        if self.c.phase != Phase::Recovery
            && let Some(mut scoreboard) =
                self.c.scoreboard.take_if(|scoreboard| scoreboard.is_empty())
        {
            scoreboard.clear();
            self.cold.spare.push(scoreboard);
        }
    }

    /// A duplicate acknowledgement in the sense of RFC 6675, section 2: one whose blocks SACK new
    /// segments.
    pub(super) fn duplicate_with_sack(&mut self, newly_sacked: u64) {
        if self.p.rack {
            self.repair(newly_sacked);
            return;
        }
        if newly_sacked == 0 {
            return;
        }
        match self.c.phase {
            Phase::Recovery => {
                self.reduce_in_proportion(false);
                self.fill_pipe();
            }
            Phase::Loss => self.transmit(),
            Phase::Opening { .. } => {}
            Phase::Open => {
                self.c.dupacks += 1;
                let threshold = u64::from(self.p.threshold);
                let lost = self
                    .c
                    .scoreboard
                    .as_ref()
                    .is_some_and(|b| self.c.una < b.lost_below(threshold));
                if lost || self.c.dupacks >= self.p.threshold {
                    self.begin_reduction(newly_sacked);
                    self.enter_recovery();
                    if let Some(scoreboard) = &mut self.c.scoreboard {
                        scoreboard.enter(self.c.una);
                    }
                    self.reduce_in_proportion(false);
                    self.fill_pipe();
                } else if self.p.limited_transmit {
                    self.limited_transmit_with_sack();
                }
            }
        }
    }

    /// RFC 6675, section 5, step 3: new data as far as pipe allows, before a loss is certain.
    fn limited_transmit_with_sack(&mut self) {
        if let Some(scoreboard) = &mut self.c.scoreboard {
            scoreboard.forget_retransmissions(self.c.una);
        }
        let (mut room, mut left) = (self.room_in_pipe(), self.p.max_burst);
        while room >= self.c.window.smss && left > 0 && self.new_data_allowed() {
            if self.c.extension.is_some() && self.is_paced_out() {
                return;
            }
            room -= self.send_new();
            self.c.limited += 1;
            left -= 1;
        }
    }

    /// RFC 6675, section 5, step C: send what NextSeg returns while pipe leaves room for a segment.
    pub(super) fn fill_pipe(&mut self) {
        let threshold = u64::from(self.p.threshold);
        let (mut room, mut left) = (self.room_in_pipe(), self.p.max_burst);
        while room >= self.c.window.smss && left > 0 {
            if self.c.extension.is_some() && self.is_paced_out() {
                return;
            }
            let new = self.new_data_allowed();
            let (una, max) = (self.c.una, self.c.max);
            let Some(scoreboard) = &mut self.c.scoreboard else {
                return;
            };
            let sent = match scoreboard.next_segment(una, max, threshold, new) {
                Some(NextSegment::Hole(number)) => {
                    scoreboard.retransmitted(number, una);
                    self.send(number)
                }
                Some(NextSegment::New) => self.send_new(),
                Some(NextSegment::Rescue(number)) => {
                    scoreboard.rescued(self.c.recover);
                    self.send(number)
                }
                None => return,
            };
            room -= sent;
            left -= 1;
            if self.p.prr
                && let Some(scoreboard) = &mut self.c.scoreboard
            {
                scoreboard.prr.sent(sent);
            }
        }
    }

    /// Recovery is about to begin, by an acknowledgement that reports `newly_sacked` segments:
    /// prepare proportional rate reduction (RFC 9937, section 6.1).
    pub(super) fn begin_reduction(&mut self, newly_sacked: u64) {
        if !self.p.prr || self.c.control.pacing_rate().is_some() {
            return;
        }
        let outstanding = self.bytes(self.c.una, self.c.nxt);
        let (una, mss) = (self.c.una, self.c.window.smss);
        if let Some(scoreboard) = &mut self.c.scoreboard {
            let before = scoreboard.sacked() - newly_sacked;
            scoreboard.prr = Prr::begin(outstanding - float(before) * mss, una + before);
        }
    }

    /// The window after an acknowledgement in recovery, where it is reduced in proportion.
    pub(super) fn reduce_in_proportion(&mut self, advances: bool) {
        if !self.p.prr {
            return;
        }
        let Some(scoreboard) = &self.c.scoreboard else { return };
        if !scoreboard.prr.governs() {
            return;
        }
        let smss = self.c.window.smss;
        // When recovery begins its first segment has been sent already.
        let sent = scoreboard.prr.is_new() && !self.p.rack;
        let first = if sent { float(self.payload(self.c.una)) } else { 0.0 };
        let losses = if self.p.rack {
            self.marked_losses()
        } else {
            scoreboard.lost_below(u64::from(self.p.threshold))
        };
        let ack = InRecovery {
            arrived: self.c.una + scoreboard.sacked(),
            losses,
            advances,
            in_flight: self.pipe(scoreboard) - first,
            ssthresh: self.c.window.ssthresh,
            smss,
        };
        if let Some(scoreboard) = &mut self.c.scoreboard {
            self.c.window.cwnd = scoreboard.prr.window(&ack).max(smss);
            scoreboard.prr.sent(first);
        }
    }

    /// Recovery ends: the window is what it was reduced to (RFC 9937, section 6.3).
    fn end_reduction(&mut self) {
        if self.p.prr
            && let Some(scoreboard) = &mut self.c.scoreboard
            && scoreboard.prr.governs()
        {
            self.c.window.cwnd = self.c.window.ssthresh;
            scoreboard.prr = Prr::default();
        }
    }

    /// Bytes between pipe and the congestion window: a segment is sent while there are as many as
    /// a full one has (RFC 6675, section 5, step C), and takes as many as it carries (C.4).
    fn room_in_pipe(&self) -> f64 {
        let Some(scoreboard) = &self.c.scoreboard else { return 0.0 };
        self.c.window.cwnd - self.pipe(scoreboard)
    }

    /// Returns true if the application and the receiver's window allow a segment never sent before.
    pub(super) fn new_data_allowed(&mut self) -> bool {
        self.has_data() && self.receiver_takes(float(self.payload(self.c.nxt)))
    }

    /// Send the next segment. Returns its bytes of data.
    fn send_new(&mut self) -> f64 {
        let number = self.c.nxt;
        self.c.nxt = number + 1;
        self.send(number)
    }

    /// The retransmission timer expired (RFC 6298, sections 5.4 to 5.6; RFC 5681, section 3.1; RFC
    /// 6582, section 3.2, step 4; RFC 6675, section 5.1).
    pub(super) fn timed_out(&mut self) {
        let flow = self.flow();
        self.cx.counters().flows[flow.index()].timeouts += 1;
        self.cx.observe(|| Observation::Timeout { flow });
        if self.c.extension.is_some() && !self.p.rack {
            self.lose_all();
        }
        let una = self.c.una;
        let first = self.c.timed_out != una;
        if self.c.phase == Phase::Recovery {
            // The inflation by fast recovery is not part of the window (RFC 5681, section 3.2).
            self.c.window.cwnd = self.c.window.cwnd.min(self.c.window.ssthresh);
        }
        let flight = self.flight_size();
        if self.p.rack {
            self.mark_losses_at_timeout();
        }
        self.reduce_window_from(Signal::Timeout { first }, flight);
        self.c.timed_out = una;
        self.c.rto.back_off(&self.p.rules);
        self.c.recover = self.c.max;
        self.c.phase = Phase::Loss;
        self.c.dupacks = 0;
        self.c.limited = 0;
        if let Some(scoreboard) = &mut self.c.scoreboard {
            if !self.p.keep_sack {
                scoreboard.clear();
            }
            if self.p.rack {
                scoreboard.prr = Prr::default();
            } else {
                scoreboard.resume(una, una + 1);
            }
        }
        self.send(una);
        if !self.p.rack {
            self.c.nxt = una + 1;
        }
        self.transmit();
        self.retire_scoreboard();
    }
}
