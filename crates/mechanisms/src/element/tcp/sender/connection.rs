//! State of each TCP sender, and of the connections of a group beside it.

use std::sync::Arc;

use forebay_network::{CongestionControl, Window};
use forebay_units::Time;

use super::loss::{Detection, Loss};
use super::pacing::Pacer;
use super::reduction::Prr;
use super::rto::Rto;
use super::segments::Segments;
use super::settings::Settings;
use crate::element::tcp::accecn::Feedback;
use crate::element::tcp::applications::source::Source;
use crate::control::ControlFactory;
use crate::traffic::{TrafficPool, VideoPlan};

/// The phase of congestion control and loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// The connection is being opened; whether the SYN was sent again.
    Opening { again: bool },
    /// Slow start or congestion avoidance.
    Open,
    /// Repairing losses that duplicate acknowledgements indicate.
    Recovery,
    /// Sending again from the first unacknowledged segment after a timeout.
    Loss,
}

/// The state of one sender. Segments are numbered from 0; "the next" is one beyond the last.
pub(super) struct Connection {
    /// The first segment not acknowledged (SND.UNA).
    pub(super) una: u64,
    /// The next segment to send (SND.NXT); below `max` after a timeout.
    pub(super) nxt: u64,
    /// The next segment never sent.
    pub(super) max: u64,
    /// The next segment that the application has not written.
    pub(super) end: u64,
    /// The first segment not acknowledged that is shorter than one MSS.
    pub(super) short: u64,
    pub(super) window: Window,
    /// Time at which the retransmission timer expires.
    pub(super) deadline: Time,
    /// Time of the pending event of the timer.
    pub(super) pending: Time,
    pub(super) rto: Rto,
    /// The smoothed round-trip time that segments carry, in ps, or eighths of ticks where it is
    /// told in ticks; negative before the first measurement, and where segments carry none.
    pub(super) signalled_srtt: f64,
    /// The segment that is being timed; `u64::MAX` for none.
    pub(super) timed: u64,
    pub(super) timed_at: Time,
    pub(super) last_sent: Time,
    /// `max` when losses were last detected (the recovery point); 0 before.
    pub(super) recover: u64,
    /// `max` when the window was last reduced; 0 before.
    pub(super) reduced: u64,
    /// The segment that timed out last.
    pub(super) timed_out: u64,
    /// Segments sent by limited transmit since the last new acknowledgement.
    pub(super) limited: u32,
    pub(super) phase: Phase,
    /// A partial acknowledgement has arrived in this recovery.
    pub(super) partial: bool,
    /// The window was reduced: the next new segment carries CWR.
    pub(super) cwr: bool,
    /// The segment sent last is new, and the first of two that would leave together.
    pub(super) unpaired: bool,
    /// A segment for which the window has room waits for a second one.
    pub(super) waits: bool,
    /// Nothing is sent until the timer expires (RFC 3168, section 6.1.2).
    pub(super) held: bool,
    /// The application will not write any more.
    pub(super) finished: bool,
    /// All data has been acknowledged, and the end of the flow reported.
    pub(super) ended: bool,
    pub(super) control: Box<dyn CongestionControl>,
    pub(super) loss: Loss,
    /// What is known of the segments that are outstanding: where a loss was found, and from the
    /// first on where the law takes samples or losses are detected by time.
    pub(super) segments: Option<Box<Segments>>,
    /// If proportional rate reduction governs the present recovery.
    pub(super) prr: Option<Box<Prr>>,
    /// If segments may leave at a rate.
    pub(super) pacer: Option<Box<Pacer>>,
    /// If the receiver counts marks.
    pub(super) feedback: Option<Box<Feedback>>,
}

/// State that few acknowledgements touch.
pub(super) struct GroupState {
    pub(super) sources: Vec<Source>,
    pub(super) applications: Box<dyn TrafficPool>,
    /// Time at which the first SYN of each connection was sent; empty without handshakes.
    pub(super) opened: Vec<Time>,
    /// Records of segments that are not needed any more, for reuse.
    #[expect(clippy::vec_box, reason = "connections hold boxes, and they move between the two")]
    pub(super) spare: Vec<Box<Segments>>,
    /// If writes begin fresh connections.
    pub(super) fresh: Option<Fresh>,
    /// Requests answered by each flow, where it writes on request.
    pub(super) answered: Vec<u64>,
    /// The video of which it then writes a chunk, if any.
    pub(super) video: Option<Arc<VideoPlan>>,
}

/// Initial state of a connection.
pub(super) struct Fresh {
    pub(super) control: Arc<ControlFactory>,
    pub(super) window: Window,
}

/// Timer token: the index of the flow in the group; the top bit tells a write of the application
/// from the retransmission timer, and the next the release of a paced segment; both, the timer of
/// loss detection.
pub(super) const WRITE: u32 = 1 << 31;
pub(super) const PACE: u32 = 1 << 30;
pub(super) const LOSS_TIMER: u32 = WRITE | PACE;

impl Connection {
    /// A connection whose first segment is segment `first`.
    pub(super) fn new(
        first: u64,
        window: Window,
        rto: Rto,
        mut control: Box<dyn CongestionControl>,
        settings: &Settings,
    ) -> Self {
        if !settings.handshake {
            control.opened(&window, None);
        }
        Self {
            una: first,
            nxt: first,
            max: first,
            end: first,
            short: u64::MAX,
            window,
            deadline: Time::NEVER,
            pending: Time::NEVER,
            rto,
            signalled_srtt: -1.0,
            timed: u64::MAX,
            timed_at: Time::ZERO,
            last_sent: Time::ZERO,
            recover: 0,
            reduced: 0,
            timed_out: u64::MAX,
            limited: 0,
            phase: if settings.handshake { Phase::Opening { again: false } } else { Phase::Open },
            partial: false,
            cwr: false,
            unpaired: false,
            waits: false,
            held: false,
            finished: false,
            ended: false,
            control,
            loss: Loss::new(settings.detection),
            segments: settings.records.then(|| Box::new(Segments::new(first, settings.samples, settings.detection == Detection::Rack))),
            prr: None,
            pacer: settings.paces.then(|| Box::new(Pacer::new(settings.l4s))),
            feedback: settings.accurate.then(|| Box::new(Feedback::new())),
        }
    }
}

impl Connection {
    /// The lowest segment that is lost and was not sent again. Without a record of segments it is
    /// that at SND.NXT, where a timeout has taken it back.
    #[inline]
    pub(super) fn first_lost(&mut self) -> Option<u64> {
        match &mut self.segments {
            Some(segments) => segments.first_lost(),
            None => (self.nxt < self.max).then_some(self.nxt),
        }
    }

    /// An acknowledgement has arrived, and nothing has been taken from it but where it moves
    /// SND.UNA.
    pub(super) fn begin_sample(&mut self) {
        let (unsent, window) = (self.nxt < self.end, self.window);
        if let Some(segments) = &mut self.segments {
            segments.begin_sample(unsent, window.cwnd, window.smss);
        }
    }

    /// The connection may send, which the application did not fill: note if it limits the flow.
    pub(super) fn check_app_limited(&mut self) {
        let (unsent, cwnd) = (self.nxt < self.end, self.window.cwnd);
        if let Some(segments) = &mut self.segments {
            segments.check_app_limited(unsent, cwnd);
        }
    }

    /// Have congestion control learn of the losses that were found.
    pub(super) fn notify_losses(&mut self, now: Time) {
        let Some(segments) = &mut self.segments else { return };
        for lost in segments.take_losses() {
            self.control.lost(&mut self.window, &lost, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender is small, so that a million flows fit into the memory planned for them: 600 B each
    /// with receiver, application and event list.
    #[test]
    fn a_sender_is_small() {
        assert!(size_of::<Connection>() <= 256);
        assert!(size_of::<Source>() <= 40);
    }
}
