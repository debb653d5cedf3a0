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
use forebay_network::{ChannelId, Context, ElementId, InputChannels};
use forebay_units::{Span, Time};

use crate::partition::Partition;
use crate::prefetch::{prefetch_packets, prefetch_timers};
use crate::slot::Slot;

/// Events of a host group that are executed in a row, at most about so many, before the rest of the
/// network has its turn: it bounds what channels hold, and how long a run takes to stop.
const MAX_RUN_EVENTS: i64 = 1 << 16;

impl Partition {
    /// Handle the event of a host group. Returns false if it has paused.
    pub(crate) fn wake_group(&mut self, group: usize) -> bool {
        // It belongs to the execution, not to the model.
        self.core.virtual_events -= 1;
        if self.groups[group].alarm != self.core.event_list.now() {
            return true;
        }
        self.groups[group].alarm = Time::NEVER;
        let complete = self.run_group(group);
        self.arm_group(group);
        complete
    }

    /// As [`Partition::run_group`], without pauses.
    pub(crate) fn complete_group(&mut self, group: usize) {
        while !self.run_group(group) {
            self.core.stop_if_cancelled();
        }
    }

    /// Execute what is due at a host group and known: all of it, or very many events, after which
    /// it pauses and this returns false. Of what is left nothing was due to be executed by now: the
    /// group was woken when its first event was.
    pub(crate) fn run_group(&mut self, group: usize) -> bool {
        let Some(host) = self.groups[group].host() else { return true };
        let Some(mut timers) = self.groups[group].timers.take() else { return true };
        self.pause_at = self.core.virtual_events + MAX_RUN_EVENTS;
        let now = self.core.event_list.now();
        // Upstream links decide departures lazily: have them send ahead what has left by now.
        for channel in ChannelId::all(self.core.channels.inputs(host.into()).count()) {
            let upstream = self.core.channels.inputs(host.into()).upstream(channel);
            let cx = &mut Context::of(&mut self.core, upstream, now);
            self.slots[upstream.index()].element.on_notify(cx);
        }
        let limit = self.group_safe_until(group, host);
        let mut inputs = std::mem::take(self.core.channels.inputs_mut(host.into()));
        let after_limit = (limit + Span::from_ps(1), ElementId::new(0));
        // Most groups have one member: the destination of packets needs no look-up.
        let single = self.groups[group].members().len() == 1;
        let prefetches = self.core.prefetches;
        let batches = single && !prefetches && inputs.is_single();
        let complete = loop {
            let (channel, at) = inputs.next();
            let arrives = at <= limit;
            if batches && arrives && at < timers.lower_bound() {
                self.receive_batch((host, limit), &mut inputs, &mut timers);
                if !self.deliver_in_group(&mut timers) {
                    break false;
                }
                continue;
            }
            if prefetches {
                let core = &self.core;
                prefetch_packets(&mut inputs, &self.slots, core, |upstream, route| {
                    core.routes.after(upstream, route).to().element()
                });
            }
            // Usually no timer is due before the next packet.
            if timers.lower_bound() <= at.min(limit) {
                let before = if arrives { (at, inputs.upstream(channel)) } else { after_limit };
                if !self.wake_members(&mut timers, before) {
                    break false;
                }
            }
            if !arrives {
                break true;
            }
            let upstream = inputs.upstream(channel);
            let packet = inputs.take_from(channel);
            let me = if single {
                host
            } else {
                self.core.routes.after(upstream, packet.route).element()
            };
            let slot = &mut self.slots[me.index()];
            packet.received(at, &mut slot.digest);
            // A receiver may not advance its time in place.
            let local = Some(LocalTimers { timers: &mut timers, arrival_bound: Time::ZERO });
            let core = &mut self.core;
            slot.element.receive(packet, &mut Context::new(core, me, at, local));
            if !self.deliver_in_group(&mut timers) {
                break false;
            }
        };
        self.groups[group].timers = Some(timers);
        self.core.return_inputs(host.into(), inputs);
        // Notify the links that members have sent into.
        self.deliver_notifications();
        complete
    }

    /// Let `host`, the only member of its group and reached by one channel, receive the packets of
    /// `inputs` that arrive by `limit`, as long as none of its `timers` is due before and no other
    /// element has to act first.
    #[inline(always)]
    fn receive_batch(
        &mut self,
        (host, limit): (ElementId, Time),
        inputs: &mut InputChannels,
        timers: &mut EventList,
    ) {
        let Slot { element, digest, .. } = &mut self.slots[host.index()];
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
    /// Returns false if the group is to pause.
    #[inline(always)]
    fn wake_members(&mut self, timers: &mut EventList, before: (Time, ElementId)) -> bool {
        loop {
            if self.core.prefetches {
                prefetch_timers(timers, &self.slots, &self.core);
            }
            let Some(event) = timers.take_before(before) else { return true };
            self.core.virtual_events += 1;
            let local = Some(LocalTimers { timers, arrival_bound: before.0 });
            let (core, me) = (&mut self.core, event.target);
            let cx = &mut Context::new(core, me, event.time, local);
            self.slots[event.target.index()].element.wake(event.token, cx);
            if !self.deliver_in_group(timers) {
                return false;
            }
        }
    }

    /// Up to when all that arrives at a host group is known. Hosts that nothing reaches could
    /// advance without bound: they run ahead by as much as they may be deferred.
    fn group_safe_until(&self, group: usize, host: ElementId) -> Time {
        if self.core.channels.inputs(host.into()).count() > 0 {
            return self.core.safe_until(host.into());
        }
        let Core { lbts, sync_time, .. } = self.core;
        lbts.max((lbts + self.groups[group].slack).min(sync_time))
    }

    /// Deliver everything that members have handed on at the same instant, which goes to members.
    /// Returns false if the group is to pause.
    #[inline(always)]
    fn deliver_in_group(&mut self, timers: &mut EventList) -> bool {
        if self.core.channels.flush {
            self.flush_batches();
            self.deliver(Some(timers));
            return self.core.virtual_events < self.pause_at;
        }
        self.deliver(Some(timers));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stubs::{
        Call, Log, Logged, SINK, Stubs, host, idle, link, packet, send_ahead, timers, wire,
    };
    use forebay_network::{Lookahead, LookaheadContext, ReceiverId, RouteId};

    /// A host that sends nothing, or only to members of its group.
    const SILENT: Lookahead<'static> = Lookahead { can_defer: true, ..Lookahead::NONE };

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    /// Begin a run of `stubs` that lasts until 1 s.
    fn begun(mut stubs: Stubs) -> (Partition, Log) {
        stubs.analyse();
        stubs.whole.core.sync_time = at(1_000_000_000_000);
        stubs.whole.start();
        (stubs.whole, stubs.log)
    }

    /// Log entries of hosts: upstream links are notified as well.
    fn at_hosts(log: &Log) -> Vec<Logged> {
        log.take().into_iter().filter(|(_, _, what, _)| *what != "notify").collect()
    }

    /// Events of one instant are executed in the order of their elements, and no later than all
    /// that arrives by then is known: the trajectory does not depend on whether hosts are deferred.
    #[test]
    fn a_group_executes_by_time_then_element_then_token() {
        // Links 0 and 2 lead to hosts 1 and 3, which send into link 4.
        let mut stubs = Stubs::new();
        stubs.add(wire(10), idle);
        stubs.add(host(0..1), timers(&[(100, 5), (130, 9), (99, 1)]));
        stubs.add(wire(10), idle);
        stubs.add(host(1..2), timers(&[(100, 7), (100, 6)]));
        stubs.add(link(10), idle);
        let routes: [&[usize]; 6] = [&[4, SINK], &[4, SINK], &[0, 1], &[0, 3], &[2, 1], &[2, 3]];
        routes.iter().for_each(|route| {
            stubs.route(route);
        });
        let (mut partition, log) = begun(stubs);
        assert_eq!(partition.groups[0].members(), [1, 3].map(ElementId::new));
        let send = |partition: &mut Partition, (channel, number, route), ps| {
            send_ahead(
                &mut partition.core.channels,
                (1, channel),
                &packet(number, RouteId::new(route)),
                at(ps),
            );
        };
        send(&mut partition, (0, 10, 3), 100);
        send(&mut partition, (0, 11, 2), 101);
        send(&mut partition, (1, 12, 4), 100);
        partition.run_group(0);
        // Both channel clocks are at 100 at least. At 100: link 0 brings packet 10 to host 3, host
        // 1 wakes, link 2 brings packet 12 to host 1, host 3 wakes, by token.
        let expected = [
            (1, 99, "wake", 1),
            (3, 100, "receive", 10),
            (1, 100, "wake", 5),
            (1, 100, "receive", 12),
            (3, 100, "wake", 6),
            (3, 100, "wake", 7),
        ];
        assert_eq!(at_hosts(&log), expected);
        assert_eq!(partition.next_time_at(0), at(101));
        // The other channel now is known up to 150: by then the packet of 101 is due, and the timer
        // of 130.
        send(&mut partition, (1, 13, 5), 150);
        send(&mut partition, (0, 14, 2), 160);
        partition.run_group(0);
        let expected = [(1, 101, "receive", 11), (1, 130, "wake", 9), (3, 150, "receive", 13)];
        assert_eq!(at_hosts(&log), expected);
        // Five packets have crossed a link or will; four did.
        assert_eq!((partition.core.counters.hops, partition.core.channels.held()), (4, 1));
    }

    /// A group executes nothing beyond the time for which counters are asked, so that they are not
    /// read ahead of it.
    #[test]
    fn a_group_does_not_pass_the_time_at_which_counters_are_read() {
        let mut stubs = Stubs::new();
        stubs.add(wire(10), idle);
        stubs.add(SILENT, timers(&[(120, 1), (121, 2)]));
        let route = stubs.route(&[0, 1]);
        let (mut partition, log) = begun(stubs);
        partition.core.sync_time = at(120);
        send_ahead(&mut partition.core.channels, (1, 0), &packet(1, route), at(121));
        partition.run_group(0);
        assert_eq!(at_hosts(&log), [(1, 120, "wake", 1)]);
        // Once the lower bound on timestamps has passed it, all up to there is known anyway.
        partition.core.lbts = at(121);
        partition.run_group(0);
        assert_eq!(at_hosts(&log), [(1, 121, "receive", 1), (1, 121, "wake", 2)]);
    }

    /// A timer that a packet sets interrupts the batch at its time: a retransmission timer, say,
    /// that expires before the acknowledgement arrives is handled before it.
    #[test]
    fn a_batch_stops_for_the_timers_that_it_sets() {
        for link_first in [true, false] {
            let mut stubs = Stubs::new();
            let set = |call: Call, cx: &mut Context<'_>| {
                if let Call::Receive(packet) = call {
                    let after = if packet.number == 1 { 5 } else { 10 };
                    cx.wake_at(cx.now() + Span::from_ps(after), packet.number as u32);
                }
            };
            let (link, host) = if link_first {
                (stubs.add(wire(10), idle), stubs.add(SILENT, set))
            } else {
                let host = stubs.add(SILENT, set);
                (stubs.add(wire(10), idle), host)
            };
            let route = stubs.route(&[link, host]);
            let (mut partition, log) = begun(stubs);
            for (number, ps) in [(1, 10), (2, 20), (3, 30), (4, 31)] {
                send_ahead(&mut partition.core.channels, (host, 0), &packet(number, route), at(ps));
            }
            partition.run_group(0);
            // Packet 1 sets a timer for 15, packet 2 for 30, when packet 3 arrives: the lesser
            // element comes first. The timers of packets 3 and 4, at 40 and 41, are not due by 31.
            let (arrival, timer) = ((host, 30, "receive", 3), (host, 30, "wake", 2));
            let (first, second) = if link_first { (arrival, timer) } else { (timer, arrival) };
            let expected = [
                (host, 10, "receive", 1),
                (host, 15, "wake", 1),
                (host, 20, "receive", 2),
                first,
                second,
                (host, 31, "receive", 4),
            ];
            assert_eq!(at_hosts(&log), expected, "{link_first}");
            assert_eq!(partition.next_time_at(0), at(40));
        }
    }

    /// Packets that a member hands to another are received at the same instant, before anything
    /// that arrives later.
    #[test]
    fn members_hand_packets_on_at_the_same_instant() {
        let mut stubs = Stubs::new();
        stubs.add(wire(10), idle);
        stubs.add(SILENT, |call, cx| {
            if let Call::Receive(packet) = call {
                cx.forward(&packet);
            }
        });
        stubs.add(SILENT, idle);
        let route = stubs.route(&[0, 1, 2]);
        let (mut partition, log) = begun(stubs);
        assert_eq!(partition.groups[0].members(), [1, 2].map(ElementId::new));
        for (number, ps) in [(1, 10), (2, 11)] {
            send_ahead(&mut partition.core.channels, (1, 0), &packet(number, route), at(ps));
        }
        partition.run_group(0);
        let expected = [
            (1, 10, "receive", 1),
            (2, 10, "receive", 1),
            (1, 11, "receive", 2),
            (2, 11, "receive", 2),
        ];
        assert_eq!(at_hosts(&log), expected);
    }

    /// The links that lead to a group send ahead what has left before it executes, whether packets
    /// come to them or wait in them, so that the group finds all that has arrived.
    #[test]
    fn a_group_asks_the_links_that_lead_to_it() {
        let mut stubs = Stubs::new();
        stubs.add(wire(10), idle);
        stubs.add(link(10), |call, cx| {
            if call == Call::Notify {
                cx.send_ahead(&packet(2, RouteId::new(0)), at(25));
            }
        });
        stubs.add(SILENT, idle);
        stubs.route(&[0, 1, 2]);
        let (mut partition, log) = begun(stubs);
        partition.core.event_list.advance_to(at(20));
        partition.run_group(0);
        assert_eq!(log.take(), [(1, 20, "notify", 0), (2, 25, "receive", 2)]);
    }

    /// A group flushes a receiver as soon as its channel holds a batch of 64, in the midst of its
    /// own batch: neither channels nor the caches fill far beyond that.
    #[test]
    fn a_batch_stops_when_a_receiver_holds_a_batch() {
        // Host 1 answers each packet into link 2, which is notified in batches of 64.
        let mut stubs = Stubs::new();
        stubs.add(wire(10), idle);
        stubs.add(host(0..1), |call, cx| {
            if let Call::Receive(received) = call {
                cx.send(packet(received.number, RouteId::new(0)));
            }
        });
        stubs.add(link(10), |call, cx| match call {
            Call::Start => cx.notify_in_batches(),
            Call::Notify => {
                let mut inputs = cx.take_inputs();
                while inputs.take(at(1000)).is_some() {}
                cx.return_inputs(inputs);
                cx.notify_in_batches();
            }
            _ => {}
        });
        stubs.route(&[2, SINK]);
        let route = stubs.route(&[0, 1]);
        let (mut partition, log) = begun(stubs);
        for number in 1..=100 {
            send_ahead(&mut partition.core.channels, (1, 0), &packet(number, route), at(number));
        }
        partition.run_group(0);
        let seen = log.take();
        let flushed = seen.iter().position(|(me, _, what, _)| (*me, *what) == (2, "notify"));
        // First link 0 is notified, then come 64 packets.
        assert_eq!(flushed, Some(65));
        assert_eq!(seen.iter().filter(|(_, _, what, _)| *what == "receive").count(), 100);
        assert_eq!(partition.core.channels.inputs(ReceiverId::new(2)).waiting(), 36);
    }

    /// A group is executed when its slack after the earliest arrival is used up, by one event for
    /// all that is due: no later, which the rest of the network would notice, and not once for each
    /// packet.
    #[test]
    fn a_group_wakes_when_its_slack_is_used_up() {
        let mut stubs = Stubs::new();
        stubs.add(wire(10), idle);
        stubs.add(host(0..1), idle);
        stubs.add(wire(10), idle);
        stubs.add(link(1000), idle);
        stubs.add(Lookahead::NONE, idle);
        let routes: [&[usize]; 3] = [&[3, 4], &[0, 1], &[2, 1]];
        routes.iter().for_each(|route| {
            stubs.route(route);
        });
        let (mut partition, log) = begun(stubs);
        assert_eq!(partition.groups[0].slack, Span::from_ps(1000));
        assert_eq!(partition.core.event_list.next_time(), None);
        let mut send = |(channel, number, route), ps| {
            send_ahead(
                &mut partition.core.channels,
                (1, channel),
                &packet(number, RouteId::new(route)),
                at(ps),
            );
            partition.deliver_notifications();
            (partition.groups[0].alarm.ps(), partition.core.event_list.len())
        };
        assert_eq!(send((0, 1, 1), 100), (1100, 1));
        // A later packet needs no event, an earlier one an earlier event.
        assert_eq!(send((0, 2, 1), 105), (1100, 1));
        assert_eq!(send((1, 3, 2), 50), (1050, 2));
        assert!(partition.advance(at(5000), u64::MAX));
        // The second event has nothing left to do: links are notified once.
        let expected = [
            (0, 1050, "notify", 0),
            (2, 1050, "notify", 0),
            (1, 50, "receive", 3),
            (1, 100, "receive", 1),
            (1, 105, "receive", 2),
        ];
        assert_eq!(log.take(), expected);
        // Two entries of the event list that are no events of the model, and three packets that
        // are.
        assert_eq!((partition.events, partition.core.virtual_events), (2, 3 - 2));
        assert_eq!(partition.groups[0].alarm, Time::NEVER);
        // Having taken all, it is notified of whatever comes next.
        send_ahead(&mut partition.core.channels, (1, 0), &packet(4, RouteId::new(1)), at(6000));
        partition.deliver_notifications();
        assert_eq!(partition.groups[0].alarm, at(7000));
    }

    /// A host that nothing reaches runs ahead of the lower bound on timestamps by its slack, up to
    /// the time at which counters are read, without an event for each of its timers: an interrupted
    /// run ends soon.
    #[test]
    fn a_host_that_nothing_reaches_runs_ahead_by_its_slack() {
        let ms = 1_000_000_000;
        let mut stubs = Stubs::new();
        stubs.add(host(0..1), timers(&[(4 * ms, 1), (8 * ms, 2), (12 * ms, 3)]));
        stubs.add(link(10), idle);
        stubs.route(&[1, SINK]);
        let (mut partition, log) = begun(stubs);
        // Only sinks depend on it, so its slack is 10 ms.
        partition.core.sync_time = at(5 * ms);
        partition.run_group(0);
        assert_eq!(at_hosts(&log), [(0, 4 * ms, "wake", 1)]);
        partition.core.sync_time = at(100 * ms);
        partition.run_group(0);
        assert_eq!(at_hosts(&log), [(0, 8 * ms, "wake", 2)]);
        partition.core.lbts = at(2 * ms);
        partition.run_group(0);
        assert_eq!(at_hosts(&log), [(0, 12 * ms, "wake", 3)]);
        // Timers of members are events of the model that the event list never held.
        assert_eq!(partition.core.virtual_events, 3);
    }
}
