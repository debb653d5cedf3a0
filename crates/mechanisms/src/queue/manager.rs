//! Who decides over arrivals at a queue that is first in, first out.

use forebay_kernel::Stream;
use forebay_network::{Adjustment, Arrival, Footprint, QueueManager, Verdict};
use forebay_units::Time;

use super::DropTail;
use super::rio::Rio;

/// Who decides over arrivals at a queue that is first in, first out: any law. Those that many
/// packets meet are named, so that they are asked without a detour.
pub enum Manager {
    /// Tail drop, with or without a threshold: what most links have.
    Tail(DropTail),
    /// RIO.
    Rio(Box<Rio>),
    /// Any other law.
    Law(Box<dyn QueueManager>),
}

impl Default for Manager {
    /// Tail drop without limit.
    fn default() -> Self {
        Self::Tail(DropTail::endless())
    }
}

impl From<DropTail> for Manager {
    fn from(law: DropTail) -> Self {
        Self::Tail(law)
    }
}

impl From<Rio> for Manager {
    fn from(law: Rio) -> Self {
        Self::Rio(Box::new(law))
    }
}

/// Have whichever law it is do the same.
macro_rules! ask {
    ($manager:ident, $law:ident => $answer:expr) => {
        match $manager {
            Manager::Tail($law) => $answer,
            Manager::Rio($law) => $answer,
            Manager::Law($law) => $answer,
        }
    };
}

impl QueueManager for Manager {
    #[inline(always)]
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        ask!(self, law => law.admit(arrival, stream))
    }

    #[inline(always)]
    fn departed(&mut self, packet: Footprint, at: Time) {
        ask!(self, law => law.departed(packet, at));
    }

    #[inline(always)]
    fn departed_if(&mut self, left: bool, packet: Footprint, at: Time) {
        ask!(self, law => law.departed_if(left, packet, at));
    }

    fn is_transparent(&self) -> bool {
        ask!(self, law => law.is_transparent())
    }

    fn adjustments(&mut self, tell: &mut dyn FnMut(&Adjustment)) {
        ask!(self, law => law.adjustments(tell));
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        ask!(self, law => law.gauges(tell));
    }
}
