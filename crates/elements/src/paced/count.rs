//! Counts of paced sources, and of frames where they arrive.

use forebay_network::ElementCounters;
use forebay_units::{Span, Time};

/// Counters of a paced source, besides those of its flow.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PacedCount {
    /// Sessions begun.
    pub sessions: u64,
    /// Sessions, and times between sessions, begun.
    pub periods: u64,
    /// Time in sessions, in ps, including silences within them.
    pub session: u64,
    /// The scale of the rate integrated over the time in sessions, in ps over
    /// [`PacedCount::SCALE`]: an integer, so that the sum does not depend on the number of
    /// additions.
    pub scaled: u128,
    /// Time in sessions in which notifications kept the scale at its floor, in ps.
    pub floor: u64,
    /// The nominal rate integrated over the time in sessions, in bit/s ps.
    pub nominal: u128,
    /// The smallest scale within a session, if there was a session.
    pub least: Option<f64>,
    /// Completed transfers of a given volume, and the sum of their durations, in ps.
    pub transfers: (u64, u64),
    /// Notifications accepted, by [`forebay_network::CongestionNotification::place`].
    pub accepted: [u64; 2],
    /// Notifications that arrived and were ignored: between sessions, or too soon after another.
    pub ignored: [u64; 2],
    /// Time at which the first notification arrived.
    pub first_notice: Option<Time>,
    /// Time at which the latest notification arrived.
    pub last_notice: Option<Time>,
    /// The shortest time between two arrivals of notifications.
    pub notice_gap: Option<Span>,
    /// Sum of the delays of notifications, in ps.
    pub notice_delay: u128,
    /// Resource-management cells sent, and those of them that returned.
    pub resource_cells: (u64, u64),
    /// Sum of the round-trip times of the cells that returned, in ps.
    pub resource_delay: u128,
    /// Frames sent, and those of them that were retransmissions.
    pub frames: (u64, u64),
    /// Polls sent.
    pub polls: u64,
    /// Sum of the times from the beginning of completed transfers to the arrival of their latest
    /// frames, in ps.
    pub arrival: u64,
}

impl PacedCount {
    /// The integer that represents a scale of 1: 2^32.
    pub const SCALE: f64 = 4_294_967_296.0;
}

impl ElementCounters for PacedCount {
    fn reset(&mut self, _now: Time) {
        *self = Self::default();
    }
}

/// Counters of the frames of a flow, kept where they arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameCount {
    /// Frames that arrived complete, each counted once.
    pub whole: u64,
    /// Packets of these frames.
    pub packets: u64,
    /// Duplicates: frames that arrived complete although they had before.
    pub again: u64,
    /// Frames sent or retransmitted that did not arrive complete: known when something arrives that
    /// was sent later.
    pub lost: u64,
}

impl ElementCounters for FrameCount {
    fn reset(&mut self, _now: Time) {
        *self = Self::default();
    }
}
