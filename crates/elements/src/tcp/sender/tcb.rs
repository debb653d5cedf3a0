//! The state of a TCP sender.

use forebay_network::{CongestionControl, Window};
use forebay_units::Time;

use super::pacing::Pacer;
use super::phase::Phase;
use super::reduction::Prr;
use super::rto::Rto;
use super::settings::Settings;
use super::undo::Undo;
use crate::tcp::accecn::Feedback;

/// The state of a sender (transmission control block, RFC 9293, section 3.3.1). Segments are
/// numbered from 0; "the next" is one beyond the last.
pub(super) struct Tcb {
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
    /// If proportional rate reduction governs the present recovery.
    pub(super) prr: Option<Box<Prr>>,
    /// If the last recovery may be undone.
    pub(super) undo: Option<Box<Undo>>,
    /// If segments may leave at a rate.
    pub(super) pacer: Option<Box<Pacer>>,
    /// If the receiver counts marks.
    pub(super) feedback: Option<Box<Feedback>>,
}

impl Tcb {
    /// The state of a connection whose first segment is segment `first`.
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
            phase: if settings.handshake { Phase::Opening } else { Phase::Open },
            partial: false,
            cwr: false,
            unpaired: false,
            waits: false,
            held: false,
            finished: false,
            ended: false,
            control,
            prr: None,
            undo: None,
            pacer: settings.paces.then(|| Box::new(Pacer::new(settings.l4s))),
            feedback: settings.accurate.then(|| Box::new(Feedback::new())),
        }
    }
}
