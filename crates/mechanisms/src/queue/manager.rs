//! The drop policy of a FIFO queue, with static dispatch to the common ones.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, QueuedInfo, RednAdjustment, Verdict};
use forebay_units::Time;

use super::DropTail;
use super::rio::Rio;

/// The drop policy of a FIFO queue: any law. The policies that most packets pass are named, so that
/// they are called directly, not through a virtual table.
pub enum AnyDropPolicy {
    /// Tail drop, with or without a threshold: the policy of most links.
    Tail(DropTail),
    /// RIO.
    Rio(Box<Rio>),
    /// Any other drop policy.
    Law(Box<dyn DropPolicy>),
}

impl Default for AnyDropPolicy {
    /// Tail drop without limit.
    fn default() -> Self {
        Self::Tail(DropTail::unlimited())
    }
}

impl From<DropTail> for AnyDropPolicy {
    fn from(law: DropTail) -> Self {
        Self::Tail(law)
    }
}

impl From<Rio> for AnyDropPolicy {
    fn from(law: Rio) -> Self {
        Self::Rio(Box::new(law))
    }
}

/// Forward a call to the policy, whichever it is.
macro_rules! delegate {
    ($manager:ident, $law:ident => $answer:expr) => {
        match $manager {
            AnyDropPolicy::Tail($law) => $answer,
            AnyDropPolicy::Rio($law) => $answer,
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

    #[inline(always)]
    fn departed_if(&mut self, left: bool, packet: QueuedInfo, at: Time) {
        delegate!(self, law => law.departed_if(left, packet, at));
    }

    fn is_transparent(&self) -> bool {
        delegate!(self, law => law.is_transparent())
    }

    fn adjustments(&mut self, visit: &mut dyn FnMut(&RednAdjustment)) {
        delegate!(self, law => law.adjustments(visit));
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        delegate!(self, law => law.probes(visit));
    }
}
