//! Undoing of what a recovery did for segments that had not been lost: detection by duplicates that
//! the receiver reports (RFC 3708), by timestamps (RFC 3522) and by F-RTO, and the response to all
//! of them (RFC 4015).

use forebay_network::Packet;
use forebay_units::{Span, Time};

use super::Sender;
use super::acknowledgement::Acknowledgement;
use super::frto::Forward;
use super::phase::Phase;

/// State of the undoing of the last recovery.
pub(super) enum Undo {
    /// It may turn out not to have been needed.
    Doubted(Doubt),
    /// It was undone after a timeout: the timer adapts to the first round-trip time of what was
    /// unsent then (RFC 4015, section 3.2, step 11).
    Adapting { estimate: (f64, f64), unsent: u64 },
}

/// State of before a recovery, and what tells whether that was needed.
pub(super) struct Doubt {
    /// The threshold to return to (pipe_prev, step 0).
    ssthresh: f64,
    /// SRTT and RTTVAR in ps to return to, if it follows a timeout (SRTT_prev and RTTVAR_prev).
    estimate: Option<(f64, f64)>,
    /// SND.UNA when it began.
    una: u64,
    /// Segments sent again of which no duplicate is reported; `None` before the first.
    unreported: Option<u64>,
    /// Time at which the first was sent again (RetransmitTS of RFC 3522, section 3.2), until an
    /// acknowledgement of new data has arrived.
    sent_again: Option<Time>,
    pub(super) forward: Forward,
}

impl Doubt {
    /// A segment is sent again.
    fn note_sent_again(&mut self, now: Time) {
        if self.unreported.is_none() {
            self.sent_again = Some(now);
        }
        *self.unreported.get_or_insert(0) += 1;
    }

    /// Returns true if `ack` reports the last duplicate that was missing: all that was sent again
    /// had arrived (RFC 3708; Linux, `tcp_check_dsack`, `tcp_try_undo_dsack`).
    fn is_all_reported(&mut self, ack: &Acknowledgement) -> bool {
        let Some(((first, end), unreported)) = ack.duplicate.zip(self.unreported.as_mut()) else {
            return false;
        };
        // Above what is acknowledged the network may have made it; below what was when the recovery
        // began it is of an earlier one.
        let of_this = if end <= ack.number { end.saturating_sub(first.max(self.una)) } else { 0 };
        *unreported = unreported.saturating_sub(of_this);
        of_this > 0 && *unreported == 0
    }

    /// Returns true if the first acknowledgement of new data answers a segment that was sent before
    /// the first was sent again (RFC 3522, section 3.2, steps 3 and 4). The acknowledgement that
    /// began the recovery answers none.
    fn answers_original(&mut self, echo: Option<Time>, ack: &Acknowledgement, now: Time) -> bool {
        let answered = self.sent_again.filter(|sent_again| ack.advances() && *sent_again < now);
        let Some(sent_again) = answered else { return false };
        self.sent_again = None;
        ack.duplicate.is_none() && echo.is_some_and(|echo| echo < sent_again)
    }
}

impl Sender<'_, '_> {
    /// A recovery begins, and the window is about to be reduced: note what undoing it needs. A law
    /// with a rate of its own has nothing to be undone.
    pub(super) fn doubt_recovery(&mut self, timed_out: bool) {
        let settings = self.settings;
        let undoes = settings.frto || settings.undoes_by_duplicates || settings.undoes_by_time;
        if !undoes || self.tcb.control.pacing_rate().is_some() {
            return;
        }
        self.doubt_timeout(timed_out);
        if self.tcb.phase != Phase::Open {
            // It continues one that is doubted already.
            return;
        }
        let margin = self.settings.rules.tick.times(2).ps() as f64;
        let estimate = self.tcb.rto.estimate().filter(|_| timed_out);
        self.tcb.undo = Some(Box::new(Undo::Doubted(Doubt {
            ssthresh: self.flight_size().max(self.tcb.window.ssthresh),
            estimate: estimate.map(|(srtt, rttvar)| (srtt + margin, rttvar)),
            una: self.tcb.una,
            unreported: None,
            sent_again: None,
            forward: Forward::begin(timed_out && self.settings.frto),
        })));
    }

    /// A segment is sent again.
    pub(super) fn note_sent_again(&mut self) {
        let now = self.cx.now();
        if let Some(doubt) = self.doubt() {
            doubt.note_sent_again(now);
        }
    }

    /// The recovery that may turn out not to have been needed, if any.
    pub(super) fn doubt(&mut self) -> Option<&mut Doubt> {
        match self.tcb.undo.as_deref_mut()? {
            Undo::Doubted(doubt) => Some(doubt),
            Undo::Adapting { .. } => None,
        }
    }

    /// Undo the last recovery if `ack`, which the window has followed, tells that it was not
    /// needed.
    #[inline]
    pub(super) fn undo_if_needless(&mut self, packet: &Packet, ack: &Acknowledgement) {
        if self.tcb.undo.is_some() {
            self.judge_recovery(packet, ack);
        }
    }

    #[cold]
    #[inline(never)]
    fn judge_recovery(&mut self, packet: &Packet, ack: &Acknowledgement) {
        if let Some(Undo::Adapting { estimate, unsent }) = self.tcb.undo.as_deref() {
            if let Some(rtt) = ack.rtt.filter(|_| self.tcb.una > *unsent) {
                self.adapt_timer(*estimate, rtt);
            }
            return;
        }
        let (settings, now) = (self.settings, self.cx.now());
        // Acknowledgements of originals may have been lost where all is acknowledged by one, unless
        // the receiver would have reported duplicates (RFC 3522, section 3.2, step 5).
        let conclusive = settings.reports_duplicates || self.tcb.una < self.tcb.max;
        let Some(doubt) = self.doubt() else { return };
        let by_duplicates = settings.undoes_by_duplicates && doubt.is_all_reported(ack);
        let by_time = settings.undoes_by_time
            && doubt.answers_original(settings.echo_of(packet), ack, now)
            && conclusive;
        if self.follow_forward(ack) || by_duplicates || by_time {
            self.undo_recovery(ack);
        }
    }

    /// The response to a recovery that was not needed (RFC 4015, section 3.2, steps 8 to 11): what
    /// was outstanding is in the network, and the window grows to where it was without a burst.
    fn undo_recovery(&mut self, ack: &Acknowledgement) {
        let Some(Undo::Doubted(doubt)) = self.tcb.undo.take().map(|undo| *undo) else { return };
        let repairing = self.tcb.phase != Phase::Open;
        if repairing {
            if let Some(segments) = self.segments {
                segments.unmark_lost();
            }
            (self.tcb.nxt, self.tcb.phase, self.tcb.prr) = (self.tcb.max, Phase::Open, None);
        }
        if let Some(estimate) = doubt.estimate {
            let unsent = self.tcb.max;
            self.tcb.undo = Some(Box::new(Undo::Adapting { estimate, unsent }));
        }
        if ack.ece {
            return;
        }
        let flight = self.bytes(self.tcb.una, self.tcb.nxt);
        let restored = flight + ack.acked.min(self.settings.initial_window);
        let window = &mut self.tcb.window;
        self.tcb.control.undone(window);
        // Found late, it has grown meanwhile.
        window.cwnd = if repairing { restored.max(window.smss) } else { restored.max(window.cwnd) };
        window.ssthresh = doubt.ssthresh;
        // The next loss or mark reduces it, though what was outstanding then still is.
        self.tcb.reduced = 0;
    }

    /// The first round-trip time is measured of what was unsent at a needless timeout.
    fn adapt_timer(&mut self, estimate: (f64, f64), rtt: Span) {
        self.tcb.rto.adapt(estimate, rtt, &self.settings.rules);
        self.tcb.undo = None;
        self.restart_timer();
    }
}
