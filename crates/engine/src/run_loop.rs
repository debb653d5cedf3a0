//! The event loop of a partition: the next-event time advance of discrete-event simulation (Law,
//! *Simulation Modeling and Analysis*, 5th edition, 2015, section 1.3), and the windows of
//! synchronous conservative execution (Fujimoto, *Parallel and Distributed Simulation Systems*,
//! 2000, section 3.5).

use forebay_network::executive::{Executive, LocalTimers};
use forebay_network::{Context, OwnCount};
use forebay_units::Time;

use crate::partition::Partition;
use crate::prefetch::{can_prefetch, prefetch_downstream};
use crate::slot::NO_GROUP;

impl Partition {
    /// Start every element, which sets its first timers.
    pub(crate) fn start(&mut self) {
        let now = self.core.event_list.now();
        self.core.prefetches = can_prefetch(&self.core);
        for me in 0..self.slots.len() {
            let slot = &mut self.slots[me];
            let group = self.groups.get_mut(slot.group as usize);
            let timers = group.and_then(|group| group.timers.as_deref_mut());
            let local = timers.map(|timers| LocalTimers { timers, arrival_bound: Time::ZERO });
            slot.element.start(&mut Context::new(&mut self.core, me as u32, now, local));
            self.deliver_pending();
        }
        (0..self.groups.len()).for_each(|group| self.arm_group(group));
        for receiver in self.notified_sinks() {
            self.core.channels.notify_in_batches(receiver);
        }
    }

    /// Handle everything due at or before `limit`, or `budget` events. Returns false in the latter
    /// case.
    pub(crate) fn advance(&mut self, limit: Time, budget: u64) -> bool {
        let mut remaining = budget;
        let mut complete = true;
        while let Some(event) = self.core.event_list.take(limit) {
            self.core.lbts = event.time.just_before();
            let group = self.slots[event.target as usize].group;
            if group == NO_GROUP {
                if self.core.prefetches {
                    prefetch_downstream(&mut self.core, &self.slots, event.target);
                }
                let slot = &mut self.slots[event.target as usize];
                let cx = &mut Context::of(&mut self.core, event.target, event.time);
                slot.element.wake(event.token, cx);
                self.deliver_pending();
            } else {
                self.wake_group(group as usize);
            }
            remaining -= 1;
            if remaining == 0 {
                complete = false;
                break;
            }
        }
        self.events += budget - remaining;
        complete
    }

    /// An estimate of the work done here so far, in units of a hop. What hosts do by themselves,
    /// such as sending datagrams, costs several times as much as a hop.
    pub(crate) fn work(&self) -> u64 {
        let events = self.events.wrapping_add_signed(self.core.virtual_events);
        self.core.counters.hops + 5 * events.saturating_sub(self.core.counters.hops)
    }

    /// The time of the next event here that could affect another partition.
    pub(crate) fn next_time(&mut self) -> Time {
        let mut next_time = self.core.event_list.next_time().unwrap_or(Time::NEVER);
        for boundary in &self.boundaries {
            next_time = next_time.min(self.core.channels.inputs_mut(*boundary).next().1);
        }
        for index in 0..self.groups_at_boundaries.len() {
            next_time = next_time.min(self.next_time_at(self.groups_at_boundaries[index]));
        }
        next_time
    }

    /// Handle all that is due in a window that ends at `end`. Nothing that concerns boundary links
    /// is deferred past it, as other partitions proceed from what these send ahead.
    pub(crate) fn pass_window(&mut self, end: Time) {
        // Running further ahead would make the work of partitions bursty, and their waits at the
        // barrier longer.
        self.core.sync_time = end;
        self.advance(end, u64::MAX);
        self.core.event_list.advance_to(end);
        self.core.lbts = end;
        for index in 0..self.groups_at_boundaries.len() {
            self.run_group(self.groups_at_boundaries[index]);
            self.arm_group(self.groups_at_boundaries[index]);
        }
        for index in 0..self.boundaries.len() {
            let boundary = self.boundaries[index];
            let cx = &mut Context::of(&mut self.core, boundary, end);
            self.slots[boundary as usize].element.on_notify(cx);
            self.deliver_pending();
        }
    }

    /// All that is due up to `limit` has been handled: advance the clock to it.
    pub(crate) fn finish(&mut self, limit: Time) {
        self.core.event_list.advance_to(limit);
        self.core.lbts = limit;
        self.sync_counters();
    }

    /// Bring all counters up to the current time: host groups first, since other elements get
    /// packets of the past from them.
    pub(crate) fn sync_counters(&mut self) {
        self.sync_groups();
        for me in 0..self.slots.len() {
            self.sync_element(me);
        }
        for receiver in self.notified_sinks() {
            self.count_at_sink(receiver);
        }
    }

    /// Bring all host groups up to the current time.
    pub(crate) fn sync_groups(&mut self) {
        for group in 0..self.groups.len() {
            self.run_group(group);
            self.arm_group(group);
        }
    }

    /// Packets inside elements; after [`Partition::sync_counters`].
    pub(crate) fn held(&mut self) -> u64 {
        (0..self.slots.len()).map(|me| self.own_count(me).held).sum()
    }

    /// Bring the counters of one element up to the current time, after the host groups.
    pub(crate) fn sync_element(&mut self, me: usize) {
        self.own_count(me);
        // This may have sent ahead packets that arrive later.
        self.deliver_pending();
    }

    /// What an element shows of itself.
    pub(crate) fn own_count(&mut self, me: usize) -> OwnCount<'_> {
        let now = self.core.event_list.now();
        let cx = &mut Context::of(&mut self.core, me as u32, now);
        self.slots[me].element.counters(cx)
    }
}
