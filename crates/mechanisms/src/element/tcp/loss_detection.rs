//! Loss detection by time, and tail loss probes, in a sender (RACK-TLP, RFC 8985).

use forebay_network::{Packet, Signal};
use forebay_units::{Span, Time};

use super::connection::{LOSS_TIMER, Phase};
use super::delivery::Delivery;
use super::loss_detector::{LossDetector, Timer};
use super::probe::{Probe, ProbeAck, Verdict, probe_at};
use super::rack::Around;
use super::sender_context::{SenderContext, float};

/// Duplicates that the first block of an acknowledgement of all below `number` reports (RFC 2883,
/// section 4): those below `number`, or within the second block.
fn duplicates(blocks: &[(u64, u64)], number: u64) -> Option<(u64, u64)> {
    let first = *blocks.first()?;
    let within = |second: &(u64, u64)| second.0 <= first.0 && first.1 <= second.1;
    (first.0 < number || blocks.get(1).is_some_and(within)).then_some(first)
}

/// Work of a sender by time. None of this is reached without loss detection by time.
impl SenderContext<'_, '_> {
    fn detection(&mut self) -> Option<(&mut LossDetector, &mut Delivery)> {
        let extension = self.c.extension.as_deref_mut()?;
        Some((extension.detection.as_mut()?, extension.delivery.as_mut()?))
    }

    /// The handshake took `rtt`.
    pub(super) fn note_round_trip(&mut self, rtt: Span) {
        let now = self.cx.now();
        if let Some((detection, _)) = self.detection() {
            detection.rack.measured(rtt, now);
            detection.measured = true;
        }
    }

    /// Note what the SACK blocks of an acknowledgement of all below `number` report as duplicates.
    pub(super) fn note_duplicates(&mut self, blocks: &[(u64, u64)], number: u64) {
        if let Some((detection, _)) = self.detection() {
            detection.dsack = duplicates(blocks, number);
        }
    }

    /// Bytes of data in the network: sent, and neither arrived nor lost.
    pub(super) fn marked_pipe(&self) -> f64 {
        let delivery = self.c.extension.as_ref().and_then(|it| it.delivery.as_ref());
        float(delivery.map_or(0, Delivery::in_flight))
    }

    /// Returns the bytes found to be lost so far.
    pub(super) fn marked_losses(&self) -> u64 {
        let delivery = self.c.extension.as_ref().and_then(|it| it.delivery.as_ref());
        delivery.map_or(0, Delivery::lost)
    }

    /// The lowest segment that is lost and has not been sent again.
    fn first_lost(&mut self) -> Option<u64> {
        self.detection()?.0.lost.first().copied()
    }

    /// Take note of what an acknowledgement says, or the timer: what has arrived, and what
    /// therefore is lost.
    pub(super) fn detect_losses(&mut self) {
        let c = &*self.c;
        let open = c.phase == Phase::Open;
        let mut around = Around {
            una: c.una,
            nxt: c.nxt,
            dsack: false,
            recovering: !open && c.una < c.recover,
            recovered: !open && c.una >= c.recover,
            sacked: c.scoreboard.as_ref().map_or(0, |scoreboard| scoreboard.sacked()),
            threshold: u64::from(self.p.threshold),
            srtt: c.rto.srtt(),
        };
        let now = self.cx.now();
        let Some((detection, delivery)) = self.detection() else { return };
        around.dsack = detection.dsack.is_some();
        detection.rack.update();
        detection.rack.resize(&around);
        detection.detect(delivery, now);
        self.plan_loss_timer();
    }

    /// Judges a loss probe by an acknowledgement of all below `packet.number` (section 7.4);
    /// `duplicate` tells that it acknowledges nothing new.
    pub(super) fn judge_probe(&mut self, packet: &Packet, duplicate: bool) {
        let Some((detection, _)) = self.detection() else { return };
        let Some(probe) = detection.probe else { return };
        let ack = ProbeAck {
            number: packet.number,
            dsack: detection.dsack,
            bare_duplicate: duplicate && packet.sack_slot().is_none(),
        };
        let verdict = probe.judge(&ack);
        if verdict != Verdict::Outstanding {
            detection.probe = None;
        }
        if verdict == Verdict::Repaired && self.c.phase == Phase::Open {
            self.reduce_window(Signal::Loss);
        }
    }

    /// Begins to repair lost segments that are not being repaired, by an acknowledgement that
    /// reports `newly_sacked` segments, or by the timer. While they are, sends what may be sent.
    pub(super) fn repair(&mut self, newly_sacked: u64) {
        match self.c.phase {
            Phase::Loss | Phase::Opening { .. } => {}
            Phase::Recovery => {
                self.reduce_for_lost_retransmission();
                if newly_sacked > 0 {
                    self.reduce_in_proportion(false);
                }
                self.transmit();
            }
            Phase::Open => {
                let Some(first) = self.first_lost() else { return };
                self.c.scoreboard.get_or_insert_with(|| self.cold.spare.pop().unwrap_or_default());
                self.begin_reduction(newly_sacked);
                self.begin_recovery();
                let now = self.cx.now();
                if let Some((detection, _)) = self.detection() {
                    (detection.probe, detection.lost_again) = (None, None);
                    detection.reduced_at = now;
                }
                let governed = self.c.scoreboard.as_ref().is_some_and(|it| it.prr.governs());
                if governed {
                    // Its window has room for one segment at least.
                    self.reduce_in_proportion(false);
                } else {
                    self.send_marked(first);
                }
                self.transmit();
            }
        }
    }

    /// The loss of a retransmission is a further sign of congestion (RFC 5681, section 4.3), once
    /// for what was sent since the window was reduced. With proportional rate reduction the window
    /// follows what arrives instead (section 9.3).
    fn reduce_for_lost_retransmission(&mut self) {
        let Some((detection, _)) = self.detection() else { return };
        let Some(sent) = detection.lost_again.take() else { return };
        if self.p.prr || self.c.control.pacing_rate().is_some() {
            return;
        }
        let now = self.cx.now();
        let Some((detection, _)) = self.detection() else { return };
        if sent >= detection.reduced_at {
            detection.reduced_at = now;
            self.reduce_window(Signal::Loss);
        }
    }

    /// Send what is lost, from the lowest number on, and then new data, as far as pipe leaves room
    /// in the window.
    pub(super) fn transmit_marked(&mut self) {
        let mut left = self.p.max_burst;
        while left > 0 && !self.c.held {
            let lost = self.first_lost();
            let number = lost.unwrap_or(self.c.nxt);
            if lost.is_none() && !self.new_data_allowed() {
                return;
            }
            let size = float(self.payload(number));
            if self.in_flight() + size > self.c.window.cwnd || self.is_paced_out() {
                return;
            }
            if lost.is_none() && self.waits_for_second() {
                self.c.waits = true;
                return;
            }
            self.send_marked(number);
            left -= 1;
        }
    }

    /// Send segment `number`: a lost one, or the next never sent.
    fn send_marked(&mut self, number: u64) {
        let sacked = self.c.scoreboard.as_ref().is_some_and(|it| it.sacked() > 0);
        if number == self.c.nxt {
            self.c.nxt = number + 1;
            self.c.limited += u32::from(sacked && self.c.phase == Phase::Open);
        } else if number == self.c.una {
            // The timer measures how long the first segment has been on its way (RFC 6675, section
            // 6, the more careful variant).
            self.set_timer(self.cx.now() + self.c.rto.timeout());
        }
        let sent = self.send(number);
        if let Some(scoreboard) = &mut self.c.scoreboard
            && scoreboard.prr.governs()
        {
            scoreboard.prr.sent(sent);
        }
    }

    /// The retransmission timer has expired: mark what is lost (section 6.3).
    pub(super) fn mark_losses_at_timeout(&mut self) {
        let (una, now) = (self.c.una, self.cx.now());
        self.check_app_limited();
        if let Some((detection, delivery)) = self.detection() {
            detection.detect_at_timeout(una, delivery, now);
            detection.lost_again = None;
        }
        self.notify_losses();
    }

    /// An acknowledgement has been dealt with, or what the application allows has been sent:
    /// schedule a loss probe, or do without (section 7.2).
    ///
    /// One that could not be sent when it is due (section 7.3), because another is in flight or no
    /// round-trip time was measured since, is not scheduled.
    #[cold]
    pub(super) fn plan_probe(&mut self) {
        let c = &*self.c;
        let sacked = c.scoreboard.as_ref().is_some_and(|scoreboard| scoreboard.sacked() > 0);
        let outstanding = c.nxt - c.una;
        let quiet = self.p.tail_loss_probe && c.phase == Phase::Open && !sacked && outstanding > 0;
        let delay = (outstanding == 1).then_some(self.p.max_ack_delay);
        let (srtt, timeout_at, now) = (c.rto.srtt(), c.deadline, self.cx.now());
        let Some((detection, _)) = self.detection() else { return };
        let progress = std::mem::take(&mut detection.progress);
        if outstanding == 0 {
            detection.timer = None;
        }
        match detection.timer {
            Some((_, Timer::Reordering)) => return,
            Some((_, Timer::Probe)) if !quiet => detection.timer = None,
            _ => {}
        }
        let able = detection.measured && detection.probe.is_none();
        if let Some(srtt) = srtt.filter(|_| quiet && able && progress) {
            detection.timer = Some((probe_at(srtt, delay, now, timeout_at), Timer::Probe));
            self.plan_loss_timer();
        }
    }

    /// An acknowledgement has been dealt with; `duplicate` tells that it acknowledged nothing new.
    #[cold]
    pub(super) fn close_acknowledgement(&mut self, packet: &Packet, duplicate: bool) {
        if self.c.una == self.c.max && duplicate {
            // It can report duplicates of what is all acknowledged.
            self.detect_losses();
            self.judge_probe(packet, duplicate);
        }
        if let Some((detection, _)) = self.detection() {
            detection.dsack = None;
        }
        self.plan_probe();
    }

    /// Schedule an event for the timer, before any that is pending.
    fn plan_loss_timer(&mut self) {
        let token = self.index | LOSS_TIMER;
        let Some((detection, _)) = self.detection() else { return };
        if let Some((at, _)) = detection.timer
            && at < detection.pending
        {
            detection.pending = at;
            self.cx.wake_at(at, token);
        }
    }

    /// Returns the time at which the timer for reordering and loss probes expires; while it runs,
    /// the retransmission timer does not (section 8).
    pub(super) fn loss_timer_at(&mut self) -> Option<Time> {
        let (detection, _) = self.detection()?;
        detection.timer.map(|(at, _)| at)
    }

    /// The pending event of the timer occurred.
    pub(super) fn loss_timer(&mut self) {
        let now = self.cx.now();
        let Some((detection, _)) = self.detection() else { return };
        if detection.pending != now {
            return;
        }
        detection.pending = Time::NEVER;
        match detection.timer {
            Some((at, _)) if at > now => self.plan_loss_timer(),
            Some(_) => self.loss_timer_expired(),
            None => {}
        }
    }

    /// The timer for reordering or a loss probe expired.
    pub(super) fn loss_timer_expired(&mut self) {
        let before = self.observed_window();
        let Some((detection, _)) = self.detection() else { return };
        match detection.timer.take() {
            Some((_, Timer::Reordering)) => {
                self.detect_losses();
                self.notify_losses();
                self.repair(0);
                if self.c.phase != Phase::Recovery {
                    self.transmit();
                }
            }
            Some((_, Timer::Probe)) => self.send_probe(),
            None => {}
        }
        let now = self.cx.now();
        if self.c.una < self.c.max && self.c.deadline <= now {
            // It did not run meanwhile.
            self.set_timer(now + self.c.rto.timeout());
        }
        self.plan_probe();
        self.observe_window(before);
    }

    /// Send a loss probe (`TLP_send_probe` of section 7.3): new data, or the highest segment again.
    fn send_probe(&mut self) {
        let new = self.new_data_allowed();
        let number = if new { self.c.nxt } else { self.c.max - 1 };
        if let Some((detection, _)) = self.detection() {
            detection.probing = true;
        }
        self.c.nxt = self.c.nxt.max(number + 1);
        self.send(number);
        let end = self.c.max;
        if let Some((detection, _)) = self.detection() {
            detection.probing = false;
            detection.measured = false;
            detection.probe = Some(Probe { end, resent: !new });
        }
        self.set_timer(self.cx.now() + self.c.rto.timeout());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first block reports duplicates if it lies below the cumulative acknowledgement, or
    /// within the second block (RFC 2883, section 4): other blocks report new data.
    #[test]
    fn the_first_block_can_report_duplicates() {
        assert_eq!(duplicates(&[], 5), None);
        assert_eq!(duplicates(&[(6, 7)], 5), None);
        assert_eq!(duplicates(&[(4, 5)], 5), Some((4, 5)));
        assert_eq!(duplicates(&[(8, 9), (6, 7)], 5), None);
        assert_eq!(duplicates(&[(6, 7), (6, 9)], 5), Some((6, 7)));
        assert_eq!(duplicates(&[(6, 9), (6, 7)], 5), None);
    }
}
