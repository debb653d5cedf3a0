//! Who decides over arrivals at a queue that is first in, first out.

use forebay_kernel::Stream;
use forebay_network::{Arrival, Footprint, QueueManager, Verdict};
use forebay_units::Time;

use super::DropTail;

/// Who decides over arrivals.
pub(crate) enum Manager {
    /// Tail drop, asked without a detour.
    Tail(DropTail),
    /// Any other law.
    Law(Box<dyn QueueManager>),
}

impl Manager {
    /// It as a law, whatever it is.
    pub(super) fn any(&self) -> &dyn QueueManager {
        match self {
            Self::Tail(law) => law,
            Self::Law(law) => law.as_ref(),
        }
    }

    /// Let it decide on an arrival.
    #[inline(always)]
    pub(crate) fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        match self {
            Self::Tail(law) => law.admit(arrival, stream),
            Self::Law(law) => law.admit(arrival, stream),
        }
    }

    /// Tell it of a departure.
    #[inline(always)]
    pub(crate) fn departed(&mut self, packet: Footprint, at: Time) {
        // Tail drop keeps no account.
        if let Self::Law(law) = self {
            law.departed(packet, at);
        }
    }
}
