//! Reasons for which packets are dropped.

/// Reason for which a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// The buffer was full.
    Overflow = 0,
    /// Active queue management, by chance.
    Early = 1,
    /// Active queue management, with certainty (average at or above the maximum threshold).
    Forced = 2,
    /// A policer found it out of profile.
    Policed = 3,
    /// The shaper's buffer was full, or the packet is larger than its bucket.
    Shaper = 4,
    /// The buffer was full for packets that may be dropped first.
    Selective = 5,
    /// The wire lost it.
    Lost = 6,
    /// Bit errors on the wire: it failed its checksum at the far end.
    Corrupted = 7,
    /// The link was down.
    Outage = 8,
}

impl DropReason {
    /// Every reason, in the order of the counters.
    pub const ALL: [Self; 9] = [
        Self::Overflow,
        Self::Early,
        Self::Forced,
        Self::Policed,
        Self::Shaper,
        Self::Selective,
        Self::Lost,
        Self::Corrupted,
        Self::Outage,
    ];

    /// Returns true if it befalls packets behind a link, which has counted them as departed.
    #[must_use]
    pub const fn is_on_wire(self) -> bool {
        matches!(self, Self::Lost | Self::Corrupted | Self::Outage)
    }

    /// The reason's name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Policed => "policed",
            Self::Shaper => "shaper",
            Self::Selective => "selective",
            Self::Lost => "lost",
            Self::Corrupted => "corrupted",
            Self::Outage => "outage",
        }
    }
}
