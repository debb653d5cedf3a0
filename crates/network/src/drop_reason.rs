//! Why packets are dropped.

/// Why a packet was dropped.
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
    /// The shaper's buffer was full.
    Shaper = 4,
    /// The buffer was full for packets that may be dropped first.
    Selective = 5,
}

impl DropReason {
    /// Every reason, in the order of the counters.
    pub const ALL: [Self; 6] =
        [Self::Overflow, Self::Early, Self::Forced, Self::Policed, Self::Shaper, Self::Selective];

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
        }
    }
}
