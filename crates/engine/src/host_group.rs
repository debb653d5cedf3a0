//! Host groups: deferred logical processes under conservative synchronisation.
//!
//! What hosts send enters the network by links that keep each packet for at least their propagation
//! delay. So if hosts are the only senders into such links, the rest of the network cannot
//! distinguish whether they act in time or, with the times at which they should have acted, up to
//! that delay later. A host group is a set of such hosts. It has an event list of its own and input
//! channels for all that arrives, and executes in one batch what a whole interval brings, as far as
//! all of that is known, even ahead of the network's clock. The order is that in which single
//! events would have been executed: by time, then by the element of the event, which is the link
//! that brings a packet or the host that set a timer.
//!
//! That a process may advance to the least clock of its input channels is the rule of K. M. Chandy
//! and J. Misra, CACM 24 (1981) 198-206.

use forebay_kernel::{EventList, Message};
use forebay_network::executive::{Core, Executive, LocalTimers};
use forebay_network::{Context, InputChannels, LookaheadContext};
use forebay_units::{Span, Time};

use crate::partition::Partition;
use crate::prefetch::{prefetch_packets, prefetch_timers};
use crate::slot::Slot;

impl Partition {
    /// Handle the event of a host group.
    pub(crate) fn wake_group(&mut self, group: usize) {
        // It belongs to the execution, not to the model.
        self.core.virtual_events -= 1;
        if self.groups[group].alarm == self.core.event_list.now() {
            self.groups[group].alarm = Time::NEVER;
            self.run_group(group);
            self.arm_group(group);
        }
    }

    /// Execute all that is due at a host group and known.
    pub(crate) fn run_group(&mut self, group: usize) {
        let Some(host) = self.groups[group].host() else { return };
        let Some(mut timers) = self.groups[group].timers.take() else { return };
        let now = self.core.event_list.now();
        // Upstream links decide departures lazily: have them send ahead what has left by now.
        for channel in 0..self.core.channels.inputs_mut(host).count() {
            let upstream = self.core.channels.inputs_mut(host).upstream(channel);
            let cx = &mut Context::of(&mut self.core, upstream, now);
            self.slots[upstream as usize].element.on_notify(cx);
        }
        let limit = self.group_safe_until(group, host);
        let mut inputs = std::mem::take(self.core.channels.inputs_mut(host));
        let after_limit = (limit + Span::from_ps(1), 0);
        // Most groups have one member: the destination of packets needs no look-up.
        let single = self.groups[group].members().len() == 1;
        let prefetches = self.core.prefetches;
        let batches = single && !prefetches && inputs.is_single();
        loop {
            let (channel, at) = inputs.next();
            let arrives = at <= limit;
            if batches && arrives && at < timers.lower_bound() {
                self.receive_batch((host, limit), &mut inputs, &mut timers);
                self.deliver_in_group(&mut timers);
                continue;
            }
            if prefetches {
                let core = &self.core;
                prefetch_packets(&mut inputs, &self.slots, core, |upstream, route| {
                    core.routes.after(upstream, route).to
                });
            }
            // Usually no timer is due before the next packet.
            if timers.lower_bound() <= at.min(limit) {
                let before = if arrives { (at, inputs.upstream(channel)) } else { after_limit };
                self.wake_members(&mut timers, before);
            }
            if !arrives {
                break;
            }
            let upstream = inputs.upstream(channel);
            let packet = inputs.take_from(channel);
            let me = if single { host } else { self.core.routes.after(upstream, packet.route).to };
            let slot = &mut self.slots[me as usize];
            packet.received(at, &mut slot.digest);
            // A receiver may not advance its time in place.
            let local = Some(LocalTimers { timers: &mut timers, arrival_bound: Time::ZERO });
            let core = &mut self.core;
            slot.element.receive(packet, &mut Context::new(core, me, at, local));
            self.deliver_in_group(&mut timers);
        }
        self.groups[group].timers = Some(timers);
        Context::of(&mut self.core, host, now).return_inputs(inputs);
        // Notify the links that members have sent into.
        self.deliver_notifications();
    }

    /// Let `host`, the only member of its group and reached by one channel, receive the packets of
    /// `inputs` that arrive by `limit`, as long as none of its `timers` is due before and no other
    /// element has to act first.
    #[inline(always)]
    fn receive_batch(
        &mut self,
        (host, limit): (u32, Time),
        inputs: &mut InputChannels,
        timers: &mut EventList,
    ) {
        let Slot { element, digest, .. } = &mut self.slots[host as usize];
        // A receiver may not advance its time in place.
        let local = Some(LocalTimers { timers, arrival_bound: Time::ZERO });
        let mut cx = Context::new(&mut self.core, host, Time::ZERO, local);
        let end = (limit + Span::from_ps(1)).min(cx.undisturbed_until());
        let mut received = *digest;
        inputs.take_alone(end, &mut received, |packet, at| {
            cx.set_now(at);
            element.receive(packet, &mut cx);
            cx.undisturbed_until().min(end)
        });
        *digest = received;
    }

    /// Wake the members of a host group whose `timers` come before the given time and element.
    #[inline(always)]
    fn wake_members(&mut self, timers: &mut EventList, before: (Time, u32)) {
        loop {
            if self.core.prefetches {
                prefetch_timers(timers, &self.slots, &self.core);
            }
            let Some(event) = timers.take_before(before) else { break };
            self.core.virtual_events += 1;
            let local = Some(LocalTimers { timers, arrival_bound: before.0 });
            let (core, me) = (&mut self.core, event.target);
            let cx = &mut Context::new(core, me, event.time, local);
            self.slots[event.target as usize].element.wake(event.token, cx);
            self.deliver_in_group(timers);
        }
    }

    /// Up to when all that arrives at a host group is known. Hosts that nothing reaches could
    /// advance without bound: they run ahead by as much as they may be deferred.
    fn group_safe_until(&self, group: usize, host: u32) -> Time {
        if self.core.channels.inputs(host).count() > 0 {
            return self.core.safe_until(host);
        }
        let Core { lbts, sync_time, .. } = self.core;
        lbts.max((lbts + self.groups[group].slack).min(sync_time))
    }

    /// Deliver everything that members have handed on at the same instant, which goes to members.
    #[inline(always)]
    fn deliver_in_group(&mut self, timers: &mut EventList) {
        if self.core.channels.flush {
            self.flush_batches();
        }
        self.deliver(Some(timers));
    }
}
