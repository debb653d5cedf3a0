//! The state of a partition (a logical process), and the delivery of what its elements hand on: R. M.
//! Fujimoto, *Parallel and Distributed Simulation Systems*, 2000. A network is one partition, or
//! several that run in parallel and are synchronised conservatively.

use forebay_kernel::{EventList, Message};
use forebay_network::executive::{Core, Executive, LocalTimers, PendingDelivery, SINK};
use forebay_network::{Context, LookaheadContext};
use forebay_units::Time;

use crate::prefetch::prefetch_packets;
use crate::slot::{HostGroup, NO_GROUP, Slot};

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
    /// The routes that begin with `me`: those on which it sends, and the reverse routes from it.
    pub(crate) fn routes_from(&self, me: u32) -> impl Iterator<Item = u32> + use<> {
        let own = self.slots[me as usize].element.lookahead().own_routes.to_vec();
        let reverse: Vec<u32> = self.core.routes.reverse_from(me).collect();
        own.into_iter().chain(reverse)
    }

    /// The elements to which `me` may hand a packet at the instant at which it receives or sends
    /// it.
    pub(crate) fn immediate_receivers(&self, me: u32) -> impl Iterator<Item = u32> {
        let routes = &self.core.routes;
        let firsts = self.routes_from(me).map(|route| routes.first(route).to);
        let hands_on_at_once = !self.slots[me as usize].element.lookahead().schedules_departures;
        let following = routes.following(me).filter(move |_| hands_on_at_once);
        firsts.chain(following).filter(|next| next & SINK == 0)
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
            let cx = &mut Context::new(&mut self.core, to, at, local);
            slot.element.receive(&packet, cx);
            if !self.core.pending.full {
                self.core.pending.refill();
            }
        }
    }

    /// The sinks that have input channels, by receiver number.
    pub(crate) fn notified_sinks(&self) -> impl Iterator<Item = u32> + use<> {
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
            if cx.core().prefetches {
                prefetch_packets(&mut inputs, &self.slots, cx.core(), |_, _| SINK);
            }
            let Some((packet, at)) = inputs.take(limit) else { break };
            cx.count_at_sink(packet, at, header);
        }
        cx.return_inputs(inputs);
        cx.notify_in_batches();
    }

    /// The time of the next timer or arrival of a host group.
    pub(crate) fn next_time_at(&mut self, group: usize) -> Time {
        let group = &mut self.groups[group];
        let Some(host) = group.host() else { return Time::NEVER };
        let timer = group.timers.as_mut().and_then(|timers| timers.next_time());
        let (_, arrival) = self.core.channels.inputs_mut(host).next();
        timer.map_or(arrival, |timer| timer.min(arrival))
    }

    /// Schedule the event of a host group for the latest time at which it can still act on its next
    /// timer or arrival.
    pub(crate) fn arm_group(&mut self, group: usize) {
        let first = self.next_time_at(group);
        let group = &mut self.groups[group];
        let Some(host) = group.host() else { return };
        self.core.channels.notify_before(host, first);
        let due = first + group.slack;
        if due < group.alarm {
            group.alarm = due;
            self.core.event_list.insert(due, host, 0);
        }
    }

    /// Notify the batched receivers that hold many packets, so that they process them while these
    /// are still in the caches. Other receivers are notified only after the group has executed all
    /// that is due: those that it sends into take all that has arrived by then.
    #[cold]
    #[inline(never)]
    pub(crate) fn flush_batches(&mut self) {
        let mut index = 0;
        while let Some(receiver) = self.core.channels.notified.get(index).copied() {
            if self.core.channels.inputs_mut(receiver).is_batched() {
                self.core.channels.notified.remove(index);
                self.notify_receiver(receiver);
            } else {
                index += 1;
            }
        }
        self.core.channels.flush = false;
    }

    /// Notify the receivers that asked for it of what was sent ahead to them.
    #[inline(always)]
    pub(crate) fn deliver_notifications(&mut self) {
        while let Some(receiver) = self.core.channels.notified.pop() {
            self.notify_receiver(receiver);
        }
    }

    /// Notify `receiver`: an element, a host group or a sink.
    #[inline(always)]
    fn notify_receiver(&mut self, receiver: u32) {
        match self.slots.get_mut(receiver as usize) {
            Some(Slot { element, group: NO_GROUP, .. }) => {
                let now = self.core.event_list.now();
                element.on_notify(&mut Context::of(&mut self.core, receiver, now));
            }
            Some(Slot { group, .. }) => {
                let group = *group as usize;
                self.arm_group(group);
            }
            None => self.count_at_sink(receiver),
        }
    }
}
