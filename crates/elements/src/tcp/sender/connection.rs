//! State of each TCP sender, and of the connections of a group beside it.

use std::sync::Arc;

use forebay_laws::control::ControlFactory;
use forebay_laws::traffic::{TrafficPool, VideoPlan};
use forebay_network::{CongestionControl, Window};
use forebay_units::Time;

use super::loss::Loss;
use super::rto::Rto;
use super::segments::Segments;
use super::settings::{Detection, Settings};
use super::tcb::Tcb;
use crate::tcp::applications::source::Source;

/// One sender: its state, its way of detecting losses, and what it knows of its segments.
pub(super) struct Connection {
    pub(super) tcb: Tcb,
    pub(super) loss: Loss,
    /// The segments that are outstanding: where a loss was found, and from the first on where the
    /// law takes samples or losses are detected by time.
    pub(super) segments: Option<Box<Segments>>,
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

/// The number of the first connection of a group, for its congestion control.
pub(super) const FIRST_NUMBER: u64 = 2;

/// Initial state of a connection.
pub(super) struct Fresh {
    pub(super) control: Arc<ControlFactory>,
    pub(super) window: Window,
    /// The number of the next one.
    pub(super) made: u64,
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
        control: Box<dyn CongestionControl>,
        settings: &Settings,
    ) -> Self {
        let tcb = Tcb::new(first, window, rto, control, settings);
        let ordered = settings.detection == Detection::Rack;
        let segments = || Box::new(Segments::new(first, settings.rates, ordered));
        let loss = Loss::new(settings.detection);
        Self { tcb, loss, segments: settings.records.then(segments) }
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
