//! The phase of a connection.

/// The phase of congestion control and loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// The SYN was sent, and not answered.
    Opening,
    /// It was sent more than once.
    Reopening,
    /// Slow start or congestion avoidance.
    Open,
    /// Repairing losses that duplicate acknowledgements indicate.
    Recovery,
    /// Sending again from the first unacknowledged segment after a timeout.
    Loss,
}

impl Phase {
    /// Returns true if the connection is being opened.
    pub(super) const fn is_opening(self) -> bool {
        matches!(self, Self::Opening | Self::Reopening)
    }
}
