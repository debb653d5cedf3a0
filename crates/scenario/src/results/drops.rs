//! Numbers of dropped packets, by reason.

use forebay_network::{DropReason, columns};
use serde::Serialize;

columns! {
    /// Drops by reason.
    #[derive(Clone, Copy, Debug, Default, Serialize)]
    pub struct DropReasons {
        /// Buffer full.
        pub overflow: u64 = Packets,
        /// Active queue management, by chance.
        pub early: u64 = Packets,
        /// Active queue management, with certainty.
        pub forced: u64 = Packets,
        /// Out of profile at a policer.
        pub policed: u64 = Packets,
        /// Shaper's buffer full, or packet larger than its bucket.
        pub shaper: u64 = Packets,
        /// Buffer full for packets that are to be lost first.
        pub selective: u64 = Packets,
        /// Lost on the wire.
        pub lost: u64 = Packets,
        /// Corrupted on the wire.
        pub corrupted: u64 = Packets,
        /// On the wire while the link was down.
        pub outage: u64 = Packets,
    }
}

impl DropReasons {
    /// As many as `count` says of each reason.
    pub(crate) fn of(count: impl Fn(DropReason) -> u64) -> Self {
        Self {
            overflow: count(DropReason::Overflow),
            early: count(DropReason::Early),
            forced: count(DropReason::Forced),
            policed: count(DropReason::Policed),
            shaper: count(DropReason::Shaper),
            selective: count(DropReason::Selective),
            lost: count(DropReason::Lost),
            corrupted: count(DropReason::Corrupted),
            outage: count(DropReason::Outage),
        }
    }
}
