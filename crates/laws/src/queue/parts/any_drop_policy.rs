//! The drop policy of a FIFO queue, called directly where it is tail drop.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, LawNote, QueuedInfo, Verdict};
use forebay_parameters::Length;
use forebay_units::Time;

use crate::queue::DropTail;

/// The drop policy of a FIFO queue: any law. Tail drop, that of most links, is a case of its own,
/// so that it is called directly and not through a virtual table.
pub enum AnyDropPolicy {
    /// Tail drop, with or without a threshold: the policy of most links.
    Tail(DropTail),
    /// Any other drop policy.
    Law(Box<dyn DropPolicy>),
}

impl From<DropTail> for AnyDropPolicy {
    fn from(law: DropTail) -> Self {
        Self::Tail(law)
    }
}

impl AnyDropPolicy {
    /// The size of the buffer, if it has one and this is tail drop.
    pub(in crate::queue) fn limit(&self) -> Option<Length> {
        match self {
            Self::Tail(law) => law.limit(),
            Self::Law(_) => None,
        }
    }
}

/// Forward a call to the policy, whichever it is.
macro_rules! delegate {
    ($policy:ident, $law:ident => $answer:expr) => {
        match $policy {
            AnyDropPolicy::Tail($law) => $answer,
            AnyDropPolicy::Law($law) => $answer,
        }
    };
}

impl DropPolicy for AnyDropPolicy {
    #[inline(always)]
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        delegate!(self, law => law.admit(arrival, stream))
    }

    #[inline(always)]
    fn departed(&mut self, packet: QueuedInfo, at: Time) {
        delegate!(self, law => law.departed(packet, at));
    }

    fn is_transparent(&self) -> bool {
        delegate!(self, law => law.is_transparent())
    }

    fn notes(&mut self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        delegate!(self, law => law.notes(visit));
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        delegate!(self, law => law.probes(visit));
    }
}
