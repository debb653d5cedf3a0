//! The event loop of a partition: elements and all that they need to run by themselves. A network
//! is one partition, or several that run in parallel and are synchronised conservatively: R. M.
//! Fujimoto, *Parallel and Distributed Simulation Systems*, 2000.

use forebay_kernel::{Digest, EventList};
use forebay_units::Time;

use crate::context::{Core, LocalTimers, PendingDelivery};
use crate::host_group::{HostGroup, NO_GROUP};
use crate::prefetch::prefetch_packets;
use crate::routes::SINK;
use crate::{Context, Element};

/// An element, stored under its number.
pub(crate) struct Slot {
    pub(crate) element: Box<dyn Element>,
    /// Digest of what was handed to it; what it takes from input channels itself is in theirs.
    pub(crate) digest: Digest,
    /// Its host group, if its execution is deferred; else [`NO_GROUP`].
    pub(crate) group: u32,
}

impl Slot {
    pub(crate) fn of(element: Box<dyn Element>) -> Self {
        Self { element, digest: Digest::default(), group: NO_GROUP }
    }
}

/// Elements by number and the state that they share. Aligned so that no two partitions share a
/// cache line.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Partition {
    pub(crate) slots: Vec<Slot>,
    pub(crate) groups: Vec<HostGroup>,
    pub(crate) core: Core,
    /// Boundary links that take packets from input channels.
    pub(crate) boundaries: Vec<u32>,
    /// Host groups that send into such links.
    pub(crate) groups_at_boundaries: Vec<usize>,
    /// Events taken from the event list.
    pub(crate) events: u64,
}

impl Partition {
    /// Start every element, which sets its first timers.
    pub(crate) fn start(&mut self) {
        let now = self.core.event_list.now();
        self.core.prefetches = self.core.can_prefetch();
        for me in 0..self.slots.len() {
            let slot = &mut self.slots[me];
            let group = self.groups.get_mut(slot.group as usize);
            let timers = group.and_then(|group| group.timers.as_deref_mut());
            let local = timers.map(|timers| LocalTimers { timers, arrival_bound: Time::ZERO });
            slot.element.start(&mut Context { core: &mut self.core, me: me as u32, now, local });
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
                    self.prefetch_downstream(event.target);
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

    /// The routes that begin with `me`: those on which it sends, and the reverse routes from it.
    pub(crate) fn begins(&self, me: u32) -> impl Iterator<Item = u32> + use<> {
        let own = self.slots[me as usize].element.own_routes().to_vec();
        let reverse: Vec<u32> = self.core.routes.backs(me).collect();
        own.into_iter().chain(reverse)
    }

    /// The elements to which `me` may hand a packet at the instant at which it receives or sends
    /// it.
    pub(crate) fn given_at_once(&self, me: u32) -> impl Iterator<Item = u32> {
        let routes = &self.core.routes;
        let firsts = self.begins(me).map(|route| routes.first(route).to);
        let hands_on_at_once = !self.slots[me as usize].element.schedules_departures();
        let following = routes.following(me).filter(move |_| hands_on_at_once);
        firsts.chain(following).filter(|next| next & SINK == 0)
    }

    /// An estimate of the work done here so far, in units of a hop. What hosts do by themselves,
    /// such as sending datagrams, costs several times as much as a hop.
    pub(crate) fn work(&self) -> u64 {
        let events = self.events.wrapping_add_signed(self.core.virtual_events);
        self.core.hops + 5 * events.saturating_sub(self.core.hops)
    }

    /// The time of the next event here that could affect another partition.
    pub(crate) fn next_time(&mut self) -> Time {
        let mut next_time = self.core.event_list.next_time().unwrap_or(Time::NEVER);
        for boundary in &self.boundaries {
            next_time = next_time.min(self.core.channels.of(*boundary).next().1);
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

    /// Deliver everything that elements have handed on, in order, then the notifications of what
    /// was sent ahead; what is handed on or sent ahead meanwhile comes after.
    #[inline(always)]
    pub(crate) fn deliver_pending(&mut self) {
        loop {
            self.deliver(None);
            if self.core.channels.notified.is_empty() {
                return;
            }
            self.deliver_notifications();
        }
    }

    /// Deliver the pending packets, in order, and after them what is handed on meanwhile: to
    /// elements whose execution is not deferred, or, given the timers of a host group, to its
    /// members.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, mut timers: Option<&mut EventList>) {
        while self.core.pending.full {
            self.core.pending.full = false;
            let PendingDelivery { packet, to, at } = self.core.pending.first;
            let slot = &mut self.slots[to as usize];
            packet.received(at, &mut slot.digest);
            // A receiver may not advance its time in place.
            let local = timers
                .as_deref_mut()
                .map(|timers| LocalTimers { timers, arrival_bound: Time::ZERO });
            let cx = &mut Context { core: &mut self.core, me: to, now: at, local };
            slot.element.receive(&packet, cx);
            if !self.core.pending.full {
                self.core.pending.refill();
            }
        }
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

    /// The sinks that have input channels, by receiver number.
    fn notified_sinks(&self) -> impl Iterator<Item = u32> + use<> {
        let (first, sinks) = (self.slots.len(), self.core.sinks.len());
        // With observers there are no input channels.
        let sinks = first..(first + sinks).min(self.core.channels.count());
        let has_channels = |sink: &u32| self.core.channels.inputs(*sink).count() > 0;
        sinks.map(|sink| sink as u32).filter(has_channels).collect::<Vec<_>>().into_iter()
    }

    /// A sink holds a batch, or counters are about to be read: count all packets that are known to
    /// reach it.
    pub(crate) fn count_at_sink(&mut self, receiver: u32) {
        let header = self.core.sinks[receiver as usize - self.slots.len()].header;
        let (limit, now) = (self.core.safe_until(receiver), self.core.event_list.now());
        let cx = &mut Context::of(&mut self.core, receiver, now);
        let mut inputs = cx.take_inputs();
        loop {
            if cx.core.prefetches {
                prefetch_packets(&mut inputs, &self.slots, cx.core, |_, _| SINK);
            }
            let Some((packet, at)) = inputs.take(limit) else { break };
            cx.count_at_sink(packet, at, header);
        }
        cx.return_inputs(inputs);
        cx.notify_in_batches();
    }

    /// Bring all host groups up to the current time.
    pub(crate) fn sync_groups(&mut self) {
        for group in 0..self.groups.len() {
            self.run_group(group);
            self.arm_group(group);
        }
    }

    /// Bring the counters of one element up to the current time, after the host groups.
    pub(crate) fn sync_element(&mut self, me: usize) {
        let now = self.core.event_list.now();
        self.slots[me].element.sync_counters(&mut Context::of(&mut self.core, me as u32, now));
        // This may have sent ahead packets that arrive later.
        self.deliver_pending();
    }
}
