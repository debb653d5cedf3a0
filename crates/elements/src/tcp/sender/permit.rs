//! Permission to send: what loss detection, or F-RTO, lets the window be used for.

/// Volume that counts against the congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    /// All that is outstanding (FlightSize of RFC 5681).
    Outstanding,
    /// Data thought to be in the network.
    Pipe,
    /// The same, while it leaves room for a full segment (RFC 6675, section 5, step C).
    FullSegment,
}

/// Permission to send what the window allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permit {
    pub(super) limit: Limit,
    /// Segments of the window beyond it that may be used (limited transmit, RFC 3042).
    pub(super) beyond: u32,
    /// Segments that may be sent.
    pub(super) segments: u32,
    /// New ones are sent before it is certain that none is lost, and FlightSize does not count them
    /// (RFC 5681, section 3.2, step 2).
    pub(super) early: bool,
    /// A segment that the limit does not allow may leave if FlightSize does, as new data was
    /// acknowledged.
    pub(super) or_outstanding: bool,
}

impl Permit {
    /// As many segments as `limit` allows.
    pub(super) const fn up_to(limit: Limit) -> Self {
        Self { limit, beyond: 0, segments: u32::MAX, early: false, or_outstanding: false }
    }
}
