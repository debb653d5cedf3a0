//! Transmission: lost segments first, then new ones, as far as windows, bursts and the pacer allow.

use forebay_network::{Packet, Window};
use forebay_units::Time;

use super::acknowledgement::Acknowledgement;
use super::connection::PACE;
use super::pacing::window_rate;
use super::permit::{Limit, Permit};
use super::phase::Phase;
use super::segments::Cause;
use super::{Sender, float};
use crate::tcp::Pacing;

impl Sender<'_, '_> {
    /// Stage 7 of an acknowledgement, and after writes and timers: send what the window and the
    /// application allow.
    pub(super) fn send_allowed(&mut self, ack: Option<&Acknowledgement>) {
        if self.tcb.held {
            return;
        }
        let Some(permit) = self.forward_permit().or_else(|| self.permit(ack)) else { return };
        let Window { cwnd, smss, .. } = self.tcb.window;
        let most = cwnd + f64::from(permit.beyond) * smss;
        let mut used = match permit.limit {
            Limit::Outstanding => self.bytes(self.tcb.una, self.tcb.nxt),
            Limit::Pipe | Limit::FullSegment => self.in_flight(),
        };
        let full = permit.limit == Limit::FullSegment;
        let mut left = permit.segments.min(self.settings.max_burst);
        while left > 0 {
            let Some((number, cause)) = self.next_segment() else { return };
            let size = if full { smss } else { float(self.payload(number)) };
            let fits = used + size <= most;
            let allowed = fits || permit.or_outstanding && self.fits_outstanding(number, most);
            if !allowed || self.is_paced_out() {
                return;
            }
            if cause == Cause::New {
                if self.settings.pairs && self.waits_for_second(used) {
                    self.tcb.waits = true;
                    return;
                }
                if permit.early && fits {
                    self.tcb.limited += 1;
                }
            }
            used += self.transmit(number, cause);
            left -= 1;
        }
    }

    /// Permission of loss detection to send.
    #[inline(always)]
    fn permit(&mut self, ack: Option<&Acknowledgement>) -> Option<Permit> {
        let (loss, segments, state) = self.detection();
        loss.permit(ack, segments.as_deref(), &state)
    }

    /// Returns true if segment `number`, which is new, leaves at most `most` bytes outstanding.
    #[cold]
    fn fits_outstanding(&self, number: u64, most: f64) -> bool {
        self.bytes(self.tcb.una, number + 1) <= most
    }

    /// Returns the segment to send next: while losses are repaired, the lowest that is lost; else a
    /// new one; else, by RFC 6675 (NextSeg(), rules 3 and 4), one that may be lost.
    #[inline(always)]
    fn next_segment(&mut self) -> Option<(u64, Cause)> {
        if self.tcb.phase != Phase::Open {
            if !self.goes_forward()
                && let Some(number) = self.first_lost()
            {
                return Some((number, Cause::Lost));
            }
            self.tcb.nxt = self.tcb.max;
        }
        if self.new_data_allowed() {
            return Some((self.tcb.nxt, Cause::New));
        }
        let guess = self.settings.guesses && self.tcb.phase == Phase::Recovery;
        self.segments.as_ref().filter(|_| guess)?.guess()
    }

    /// Returns true if the application and the receiver's window allow a segment never sent before.
    #[inline(always)]
    pub(super) fn new_data_allowed(&mut self) -> bool {
        if !self.has_data() {
            return false;
        }
        let window = self.settings.window;
        window == f64::INFINITY || self.bytes(self.tcb.una, self.tcb.nxt + 1) <= window
    }

    /// Returns true if the application has written a segment at SND.NXT. After the stop time of the
    /// flow, data never sent is given up.
    #[inline]
    pub(super) fn has_data(&mut self) -> bool {
        if self.tcb.nxt >= self.tcb.max && self.cx.now() >= self.settings.stop {
            self.tcb.finished = true;
            if self.settings.handshake && self.tcb.max > 0 {
                if self.tcb.end > self.tcb.max {
                    self.end_data();
                }
            } else {
                self.tcb.end = self.tcb.max;
            }
        }
        self.tcb.nxt < self.tcb.end
    }

    /// The lowest segment that is lost and was not sent again. Without a record of segments it is
    /// that at SND.NXT, where a timeout has taken it back.
    #[inline]
    pub(super) fn first_lost(&mut self) -> Option<u64> {
        match self.segments {
            Some(segments) => segments.first_lost(),
            None => (self.tcb.nxt < self.tcb.max).then_some(self.tcb.nxt),
        }
    }

    /// Bytes thought to be in the network. Without a record of segments nothing is known to be lost
    /// or to have arrived above the first, but for what a timeout lost from SND.NXT on.
    #[inline]
    pub(super) fn in_flight(&self) -> f64 {
        match &*self.segments {
            Some(segments) => float(segments.in_flight()),
            None => self.bytes(self.tcb.una, self.tcb.nxt),
        }
    }

    /// Send segment `number` for `cause`, by the rules of recovery. Returns its bytes of data.
    pub(super) fn transmit(&mut self, number: u64, cause: Cause) -> f64 {
        if self.settings.restarts_timer && cause == Cause::Lost && number == self.tcb.una {
            // The timer measures how long the first segment has been on its way (RFC 6675, section
            // 6, the more careful variant).
            self.set_timer(self.cx.now() + self.tcb.rto.timeout());
        }
        self.tcb.nxt = self.tcb.nxt.max(number + 1);
        let sent = self.send(number, cause);
        if let Some(prr) = &mut self.tcb.prr {
            prr.sent(sent);
        }
        sent
    }

    /// Send segment `number` for `cause`. Returns its bytes of data.
    fn send(&mut self, number: u64, cause: Cause) -> f64 {
        let now = self.cx.now();
        let data = u16::try_from(self.payload(number)).expect("a segment fits a packet");
        let size = self.settings.overhead + data;
        let mut packet = Packet::data(now, self.flow(), number, size, self.settings.route)
            .with_marking(self.settings.marking);
        if number < self.tcb.max {
            packet = packet.as_retransmission();
            self.tcb.unpaired = false;
            self.note_sent_again();
            // Karn's algorithm: no round-trip time is measured on a segment sent twice.
            self.tcb.timed = u64::MAX;
            if self.settings.ecn_always {
                packet = packet.with_ecn(self.settings.ect);
            }
        } else {
            self.tcb.max = number + 1;
            if self.tcb.timed == u64::MAX && self.tcb.phase != Phase::Recovery {
                self.tcb.timed = number;
                self.tcb.timed_at = now;
            }
            if self.settings.ecn {
                packet = packet.with_ecn(self.settings.ect).with_cwr(self.tcb.cwr);
                self.tcb.cwr = false;
            }
        }
        if self.settings.pushes && !packet.is_retransmission() && self.is_pushed(number, now) {
            packet = packet.as_pushed();
        }
        if self.tcb.finished && number + 1 == self.tcb.end {
            packet = packet.as_last(true);
        }
        if self.settings.signals_srtt {
            packet = self.tcb.signalling(packet, self.settings);
        }
        self.tcb.last_sent = now;
        if self.tcb.deadline == Time::NEVER {
            self.set_timer(now + self.tcb.rto.timeout());
        }
        if let Some(pacer) = &mut self.tcb.pacer
            && pacer.paces()
        {
            self.pace(data);
        }
        if let Some(segments) = self.segments {
            segments.sent(number, data, cause, now);
        }
        self.cx.send(packet);
        f64::from(data)
    }

    /// Have the pacer know that a segment with `bytes` of data leaves.
    #[inline(never)]
    fn pace(&mut self, bytes: u16) {
        let rate = match (self.tcb.control.pacing_rate(), self.settings.pacing) {
            (Some(rate), _) => rate,
            (None, Pacing::None) => return,
            (None, Pacing::Window) => {
                let flight = self.bytes(self.tcb.una, self.tcb.nxt.max(self.tcb.una));
                window_rate(&self.tcb.window, flight, self.tcb.rto.srtt())
            }
        };
        let now = self.cx.now();
        if let Some(pacer) = &mut self.tcb.pacer {
            pacer.sent(f64::from(bytes), rate, now);
        }
    }

    /// Returns true if pacing has the next segment wait; then an event will come when it need not.
    #[inline]
    fn is_paced_out(&mut self) -> bool {
        let Some(pacer) = &mut self.tcb.pacer else { return false };
        let Some(wait) = pacer.blocks(self.cx.now()) else { return false };
        if let Some(at) = wait {
            self.cx.wake_at(at, self.index | PACE);
        }
        true
    }

    /// Send a loss probe (`TLP_send_probe` of RFC 8985, section 7.3): new data, or the highest
    /// segment again.
    pub(super) fn send_probe(&mut self) {
        let new = self.new_data_allowed();
        let number = if new { self.tcb.nxt } else { self.tcb.max - 1 };
        self.tcb.nxt = self.tcb.nxt.max(number + 1);
        self.send(number, Cause::Probe);
        self.loss.on_probe(!new, self.tcb.max);
        self.set_timer(self.cx.now() + self.tcb.rto.timeout());
    }

    /// Bytes of data in segment `number`.
    #[inline(always)]
    pub(super) fn payload(&self, number: u64) -> u64 {
        if number < self.tcb.short {
            self.settings.mss
        } else {
            self.source().payload(number, self.settings.mss)
        }
    }

    /// Bytes of data in segments `first..end`.
    #[inline(always)]
    pub(super) fn bytes(&self, first: u64, end: u64) -> f64 {
        let mut bytes = (end - first) * self.settings.mss;
        if end > self.tcb.short {
            bytes -= self.source().shortfall(first, end, self.settings.mss);
        }
        float(bytes)
    }
}
