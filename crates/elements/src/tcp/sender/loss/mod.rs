//! Detection of lost segments: by duplicate acknowledgements, by counting SACKed segments, by time.

mod dupack;
mod rack;
mod reordering;
mod sack;
mod tlp;

use std::ops::{Deref, DerefMut};

use forebay_units::{Span, Time};

use super::acknowledgement::{Acknowledgement, Finding};
use super::permit::Permit;
use super::phase::Phase;
use super::segments::{Segment, Segments};
use super::settings::{Detection, Settings};
use super::tcb::Tcb;
use dupack::Dupack;
use rack::Rack;
use sack::Sack;

/// State that loss detection sees, at an acknowledgement or a timer.
pub(super) struct Circumstances<'s> {
    pub(super) now: Time,
    pub(super) tcb: &'s Tcb,
    pub(super) settings: &'s Settings,
}

impl Circumstances<'_> {
    /// Returns true if losses were being repaired, and all of them are by now.
    fn is_recovered(&self) -> bool {
        self.tcb.phase != Phase::Open && self.tcb.una >= self.tcb.recover
    }

    /// Returns true if losses are still being repaired.
    fn is_recovering(&self) -> bool {
        self.tcb.phase != Phase::Open && self.tcb.una < self.tcb.recover
    }
}

/// Expiry of the timer of loss detection.
pub(super) enum Expiry {
    /// A segment that was late is lost.
    Late(Finding),
    /// A loss probe is due.
    Probe,
    /// Nothing is due.
    Nothing,
}

/// One way to detect losses: it marks what is lost in the record of segments, and says what
/// follows. Windows and transmission belong to the sender.
///
/// There is no record (`segments`) where nothing was lost and the law takes no samples, but for the
/// ways that need one from the first segment on.
pub(super) trait LossDetection {
    /// The receiver has `segment`, of this number, as an acknowledgement says that echoes the
    /// timestamp `echo`, if any.
    fn on_arrival(&mut self, _number: u64, _segment: &Segment, _echo: Option<Time>, _now: Time) {}

    /// An acknowledgement arrived, and all that it reports is marked.
    fn on_ack(
        &mut self,
        segments: Option<&mut Segments>,
        ack: &Acknowledgement,
        state: &Circumstances<'_>,
    ) -> Finding;

    /// The retransmission timer expired: find lost what is (RFC 6298, section 5.4).
    fn on_timeout(&mut self, segments: Option<&mut Segments>, state: &Circumstances<'_>);

    /// The timer of loss detection expired.
    fn on_timer(&mut self, _segments: Option<&mut Segments>, _state: &Circumstances<'_>) -> Expiry {
        Expiry::Nothing
    }

    /// A loss probe was sent, a segment sent before if it is `resent`; SND.NXT is `end`.
    fn on_probe(&mut self, _resent: bool, _end: u64) {}

    /// The handshake took `rtt`.
    fn on_handshake(&mut self, _rtt: Span, _now: Time) {}

    /// The repair of losses begins.
    fn on_recovery(&mut self, _segments: Option<&mut Segments>, _state: &Circumstances<'_>) {}

    /// All is done that follows from an event.
    fn settle(&mut self, _segments: Option<&Segments>, _state: &Circumstances<'_>) {}

    /// Time at which the timer of loss detection expires; until then that of retransmission does
    /// not.
    fn timer_at(&self) -> Option<Time> {
        None
    }

    /// Returns the time for which an event of the timer is to be scheduled, if one is lacking.
    fn take_wake(&mut self) -> Option<Time> {
        None
    }

    /// An event of the timer occurred. Returns true if it has expired.
    fn is_expired(&mut self, _now: Time) -> bool {
        false
    }

    /// Permission that `ack` gives to send, once the window has followed it; without one, what may
    /// be sent where nothing has arrived.
    fn permit(
        &self,
        ack: Option<&Acknowledgement>,
        segments: Option<&Segments>,
        state: &Circumstances<'_>,
    ) -> Option<Permit>;

    /// Duplicate acknowledgements since the last new one, where they count.
    fn duplicates(&self) -> u32 {
        0
    }
}

/// Loss detection of one connection, in the way that its settings say.
pub(super) enum Loss {
    Dupack(Dupack),
    Sack(Sack),
    Rack(Box<Rack>),
}

/// Calls the method on whichever way it is.
macro_rules! each {
    ($self:ident, $it:ident => $call:expr) => {
        match $self {
            Loss::Dupack($it) => $call,
            Loss::Sack($it) => $call,
            Loss::Rack($it) => $call,
        }
    };
}

impl Loss {
    pub(super) fn new(detection: Detection) -> Self {
        match detection {
            Detection::Dupack => Self::Dupack(Dupack::default()),
            Detection::Sack => Self::Sack(Sack::default()),
            Detection::Rack => Self::Rack(Box::new(Rack::new())),
        }
    }

    /// Returns true if it has a timer.
    #[inline(always)]
    pub(super) const fn is_timed(&self) -> bool {
        matches!(self, Self::Rack(_))
    }
}

/// Calls of what is rare, or of what but one way has, go by the trait.
impl Deref for Loss {
    type Target = dyn LossDetection;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Dupack(it) => it,
            Self::Sack(it) => it,
            Self::Rack(it) => &**it,
        }
    }
}

impl DerefMut for Loss {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Dupack(it) => it,
            Self::Sack(it) => it,
            Self::Rack(it) => &mut **it,
        }
    }
}

/// Calls of what follows from most acknowledgements in every way are direct.
impl Loss {
    #[inline(always)]
    pub(super) fn on_ack(
        &mut self,
        segments: Option<&mut Segments>,
        ack: &Acknowledgement,
        state: &Circumstances<'_>,
    ) -> Finding {
        each!(self, it => it.on_ack(segments, ack, state))
    }

    #[inline(always)]
    pub(super) fn on_arrival(
        &mut self,
        number: u64,
        segment: &Segment,
        echo: Option<Time>,
        now: Time,
    ) {
        each!(self, it => it.on_arrival(number, segment, echo, now));
    }

    #[inline(always)]
    pub(super) fn permit(
        &self,
        ack: Option<&Acknowledgement>,
        segments: Option<&Segments>,
        state: &Circumstances<'_>,
    ) -> Option<Permit> {
        each!(self, it => it.permit(ack, segments, state))
    }
}
