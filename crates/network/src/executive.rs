//! Interface of a network to the engine: the state that elements act on through
//! [`Context`](crate::Context), and the making of contexts.
//!
//! For the engine only: an element acts through its context.

use forebay_units::Time;

pub use crate::core::{Cancelled, Core, LocalTimers, PendingDeliveries, PendingDelivery, Sink};
pub use crate::detours::Detours;
pub use crate::routes::{Hop, PartitionHop, Routes};
use crate::{Context, ElementId};

/// Operations that [`Context`] offers to the engine.
pub trait Executive<'a> {
    /// The context of element `me` at `now`, with the timers of its host group if it is deferred.
    fn new(core: &'a mut Core, me: ElementId, now: Time, local: Option<LocalTimers<'a>>) -> Self;

    /// The context of element `me`, whose execution is not deferred, at `now`.
    #[inline(always)]
    fn of(core: &'a mut Core, me: ElementId, now: Time) -> Self
    where
        Self: Sized,
    {
        Self::new(core, me, now, None)
    }

    /// Set the current time of the element.
    fn set_now(&mut self, now: Time);

    /// Before which time no timer of the host group of this element is due. [`Time::ZERO`] if a
    /// packet was handed on that must be received first, or if a batched receiver holds many
    /// packets.
    fn undisturbed_until(&self) -> Time;
}

impl<'a> Executive<'a> for Context<'a> {
    #[inline(always)]
    fn new(core: &'a mut Core, me: ElementId, now: Time, local: Option<LocalTimers<'a>>) -> Self {
        Self { core, me, now, local }
    }

    #[inline(always)]
    fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    #[inline(always)]
    fn undisturbed_until(&self) -> Time {
        let timers = self.local.as_ref().map_or(Time::ZERO, |local| local.timers.lower_bound());
        if self.core.channels.flush | self.core.pending.full { Time::ZERO } else { timers }
    }
}
