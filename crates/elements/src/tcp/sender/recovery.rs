//! The repair of losses: how it begins, follows acknowledgements and ends, and the retransmission
//! timeout.

use forebay_network::{Observation, Signal, Window};

use super::acknowledgement::{Acknowledgement, Finding};
use super::phase::Phase;
use super::reduction::{InRecovery, Prr, Reduction};
use super::segments::Cause;
use super::{Sender, float};

impl Sender<'_, '_> {
    /// An acknowledgement arrived while losses are repaired: the window follows it, until all is
    /// repaired.
    pub(super) fn follow_recovery(&mut self, ack: &mut Acknowledgement) {
        let advances = ack.advances();
        let reduction = self.settings.reduction;
        if advances && (reduction == Reduction::Reno || self.tcb.una >= self.tcb.recover) {
            self.restart_timer();
            self.end_recovery();
            // What it reports by SACK does not begin another (RFC 6675, section 5, step A).
            ack.newly_sacked = 0;
            if ack.ece {
                self.on_ecn_echo();
            }
            return;
        }
        match reduction {
            Reduction::Reno | Reduction::NewReno if !advances => {
                // Each duplicate acknowledgement means that a segment has left the network.
                self.tcb.window.cwnd += self.tcb.window.smss;
            }
            Reduction::Reno | Reduction::NewReno => self.partially_acknowledged(ack.acked),
            Reduction::Pipe | Reduction::Prr => {
                if advances {
                    self.restart_timer();
                }
                if advances || ack.newly_sacked > 0 {
                    self.reduce_in_proportion(advances);
                }
                self.follow_lost_retransmission(ack.finding);
            }
        }
    }

    /// RFC 6582, section 3.2, step 3: retransmit at the next hole, and deflate the window by what
    /// was acknowledged.
    fn partially_acknowledged(&mut self, acked: f64) {
        self.transmit(self.tcb.una, Cause::Lost);
        let window = &mut self.tcb.window;
        let deflated = window.cwnd - acked + if acked >= window.smss { window.smss } else { 0.0 };
        // Where acknowledgements were lost, the window was inflated by less than it is deflated
        // now.
        window.cwnd = deflated.max(window.smss);
        if !self.tcb.partial || !self.settings.impatient {
            self.restart_timer();
        }
        self.tcb.partial = true;
    }

    /// The loss of a retransmission is a further sign of congestion (RFC 5681, section 4.3). With
    /// proportional rate reduction the window follows what arrives instead (RFC 8985, section 9.3).
    pub(super) fn follow_lost_retransmission(&mut self, finding: Finding) {
        if finding.lost_again
            && self.settings.reduction != Reduction::Prr
            && self.tcb.control.pacing_rate().is_none()
        {
            self.reduce_window(Signal::Loss);
        }
    }

    /// Begin to repair losses, by an acknowledgement or, without one, by the timer: reduce the
    /// window, record the recovery point, and have the first loss be repaired.
    pub(super) fn begin_recovery(&mut self, ack: Option<&Acknowledgement>) {
        self.doubt_recovery(false);
        self.tcb.prr = self.begin_reduction(ack);
        // A window that was reduced for ECN is not reduced again for the same flight of data,
        // unless marks take less than a loss does.
        let again =
            self.settings.ecn && !self.settings.exact_marks && self.tcb.una < self.tcb.reduced;
        if !again {
            self.reduce_window(Signal::Loss);
        }
        self.tcb.recover = self.tcb.max;
        self.tcb.phase = Phase::Recovery;
        self.tcb.partial = false;
        self.tcb.held = false;
        self.tcb.limited = 0;
        let (loss, segments, state) = self.detection();
        loss.on_recovery(segments, &state);
        if self.tcb.prr.is_some() {
            // Its window has room for one segment at least.
            self.reduce_in_proportion(false);
            return;
        }
        if self.settings.reduction.inflates() {
            self.transmit(self.tcb.una, Cause::Lost);
            // The segments that caused the duplicate acknowledgements have left the network.
            self.tcb.window.cwnd += f64::from(self.settings.threshold) * self.tcb.window.smss;
        } else {
            let lost = self.first_lost();
            self.transmit(lost.unwrap_or(self.tcb.una), Cause::Lost);
        }
    }

    /// Proportional rate reduction for a recovery that `ack` begins, if it governs it: what was
    /// outstanding and had not arrived before counts (RFC 9937, section 6.1).
    fn begin_reduction(&self, ack: Option<&Acknowledgement>) -> Option<Box<Prr>> {
        if self.settings.reduction != Reduction::Prr || self.tcb.control.pacing_rate().is_some() {
            return None;
        }
        let (una, sacked) = (self.tcb.una, self.segments.as_ref()?.sacked());
        let news = ack.map_or(0, |ack| ack.arrived);
        let before = float(sacked) - float(news);
        let outstanding = self.bytes(una, self.tcb.nxt) - before * self.tcb.window.smss;
        Some(Box::new(Prr::begin(outstanding, una + sacked - news)))
    }

    /// The window after an acknowledgement in recovery, where it is reduced in proportion.
    fn reduce_in_proportion(&mut self, advances: bool) {
        let (Some(prr), Some(segments)) = (&mut self.tcb.prr, &*self.segments) else { return };
        let window = &mut self.tcb.window;
        let ack = InRecovery {
            arrived: self.tcb.una + segments.sacked(),
            losses: segments.found_lost(),
            advances,
            in_flight: float(segments.in_flight()),
            ssthresh: window.ssthresh,
            smss: window.smss,
        };
        window.cwnd = prr.window(&ack).max(window.smss);
    }

    /// The losses are repaired: the window is what it was reduced to.
    fn end_recovery(&mut self) {
        let flight = self.bytes(self.tcb.una, self.tcb.nxt);
        let window = &mut self.tcb.window;
        match self.settings.reduction {
            Reduction::Reno => window.cwnd = window.ssthresh,
            Reduction::NewReno => {
                let smss = window.smss;
                window.cwnd = window.ssthresh.min(flight.max(smss) + smss);
            }
            Reduction::Pipe => {}
            Reduction::Prr => {
                if self.tcb.prr.take().is_some() {
                    // RFC 9937, section 6.3.
                    window.cwnd = window.ssthresh;
                }
            }
        }
        self.tcb.phase = Phase::Open;
    }

    /// The retransmission timer expired (RFC 6298, sections 5.4 to 5.6; RFC 5681, section 3.1; RFC
    /// 6582, section 3.2, step 4; RFC 6675, section 5.1).
    pub(super) fn timed_out(&mut self) {
        let flow = self.flow();
        self.cx.counters().flows[flow.index()].timeouts += 1;
        self.cx.observe(|| Observation::Timeout { flow });
        let una = self.tcb.una;
        let first = self.tcb.timed_out != una;
        if self.tcb.phase == Phase::Recovery {
            // The inflation by fast recovery is not part of the window (RFC 5681, section 3.2).
            self.tcb.window.cwnd = self.tcb.window.cwnd.min(self.tcb.window.ssthresh);
        }
        self.doubt_recovery(true);
        let flight = self.flight_size();
        self.check_app_limited();
        let (loss, segments, state) = self.detection();
        loss.on_timeout(segments, &state);
        self.notify_losses();
        self.reduce_window_from(Signal::Timeout { first }, flight);
        self.tcb.timed_out = una;
        self.tcb.rto.back_off(&self.settings.rules);
        self.tcb.recover = self.tcb.max;
        self.tcb.phase = Phase::Loss;
        self.tcb.limited = 0;
        self.tcb.prr = None;
        self.transmit(una, Cause::Lost);
        if self.settings.goes_back {
            self.tcb.nxt = una + 1;
        }
        self.send_allowed(None);
        self.release_record();
    }

    /// Reduce the window, once for what is outstanding, and signal that to the receiver (CWR).
    pub(super) fn reduce_window(&mut self, signal: Signal) {
        self.reduce_window_from(signal, self.flight_size());
    }

    /// The same with `flight` bytes in the network.
    fn reduce_window_from(&mut self, signal: Signal, flight: f64) {
        let before = self.tcb.window.cwnd;
        let now = self.cx.now();
        self.tcb.control.congested(&mut self.tcb.window, signal, flight, now);
        if self.settings.l4s && signal == Signal::Ecn && self.tcb.window.cwnd >= before {
            return;
        }
        self.tcb.reduced = self.tcb.max;
        self.tcb.cwr = self.settings.ecn && !self.settings.accurate;
        let (flow, Window { cwnd, ssthresh, .. }) = (self.flow(), self.tcb.window);
        self.cx.observe(|| Observation::Reduced { flow, signal, before, flight, cwnd, ssthresh });
    }

    /// FlightSize as passed to congestion control, in bytes: an estimate of what is in the network,
    /// never more than the window.
    ///
    /// When a loss is detected it is the data between SND.UNA and SND.NXT (RFC 5681, section 2),
    /// without what limited transmit sent (section 3.2, step 2). While losses are being repaired
    /// that range also holds segments that have arrived or are lost, in the end several windows of
    /// them, and a threshold computed from it would exceed the window that has just failed. So pipe
    /// (RFC 6675, section 4) is used then.
    pub(super) fn flight_size(&self) -> f64 {
        let tcb = &*self.tcb;
        let in_network = match tcb.phase {
            // Pipe has what was sent again without being known to be lost twice.
            Phase::Recovery | Phase::Loss => self.in_flight().min(self.bytes(tcb.una, tcb.max)),
            // Limited transmit sent the last of them, which may be short.
            _ => {
                let nxt = tcb.nxt.saturating_sub(u64::from(tcb.limited));
                self.bytes(tcb.una, tcb.una.max(nxt))
            }
        };
        in_network.min(tcb.window.cwnd)
    }
}
