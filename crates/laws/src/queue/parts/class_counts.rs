//! Counters of the classes of a queue, where they are asked for.

use forebay_network::{ClassCount, DropReason, Packet, Verdict};
use forebay_units::Time;

use crate::LinkFacts;

/// Counters by class; none unless the link is to have them.
#[derive(Default)]
pub(in crate::queue) struct ClassCounts(Option<Vec<ClassCount>>);

impl ClassCounts {
    /// For `classes` classes of the queue of a link, if `facts` ask for them.
    pub(in crate::queue) fn of(facts: &LinkFacts, classes: usize) -> Self {
        Self(facts.counts_classes.then(|| vec![ClassCount::default(); classes]))
    }

    /// Returns true if it counts.
    pub(in crate::queue) fn counts(&self) -> bool {
        self.0.is_some()
    }

    /// `packet` arrived at `class`, which came to `verdict`.
    #[inline]
    pub(in crate::queue) fn arrived(
        &mut self,
        class: usize,
        packet: &Packet,
        verdict: Verdict,
        now: Time,
    ) {
        if let Some(all) = &mut self.0 {
            count_arrived(&mut all[class], packet, verdict, now);
        }
    }

    /// A packet that waited in `class` is dropped.
    #[inline]
    pub(in crate::queue) fn dropped(&mut self, class: usize, reason: DropReason, now: Time) {
        if let Some(all) = &mut self.0 {
            all[class].dropped(reason, now);
        }
    }

    /// `packet` of `class` is sent, marked on this occasion or not.
    #[inline]
    pub(in crate::queue) fn departed(
        &mut self,
        class: usize,
        packet: &Packet,
        marked: bool,
        now: Time,
    ) {
        if let Some(all) = &mut self.0 {
            count_departed(&mut all[class], packet, marked, now);
        }
    }

    /// Returns the counts up to `now`.
    pub(in crate::queue) fn up_to(&mut self, now: Time) -> Option<&mut Vec<ClassCount>> {
        let all = self.0.as_mut()?;
        all.iter_mut().for_each(|count| count.integrate(now));
        Some(all)
    }
}

// Out of line: what is seldom asked for must not take registers from queues that do not count.

#[cold]
#[inline(never)]
fn count_arrived(count: &mut ClassCount, packet: &Packet, verdict: Verdict, now: Time) {
    match verdict {
        Verdict::Drop(reason) => count.refused(packet, reason),
        verdict => count.enqueued(packet, verdict == Verdict::Mark, now),
    }
}

#[cold]
#[inline(never)]
fn count_departed(count: &mut ClassCount, packet: &Packet, marked: bool, now: Time) {
    count.dequeued(packet, marked, now);
}
