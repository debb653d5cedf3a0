//! The state of a partition (a logical process), and the delivery of what its elements hand on:
//! R. M. Fujimoto, *Parallel and Distributed Simulation Systems*, 2000. A network is one partition,
//! or several that run in parallel and are synchronised conservatively.

use forebay_kernel::{EventList, Message};
use forebay_network::executive::{Core, Executive, LocalTimers, PendingDelivery};
use forebay_network::{Context, Destination, ElementId, ReceiverId, RouteId};
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
    pub(crate) boundaries: Vec<ElementId>,
    /// Host groups that send into such links.
    pub(crate) groups_at_boundaries: Vec<usize>,
    /// Events taken from the event list.
    pub(crate) events: u64,
    /// Number of virtual events at which the host group that is executed is to pause.
    pub(crate) pause_at: i64,
}

impl Partition {
    /// The routes that begin with `me`: those on which it sends, and the reverse routes from it.
    pub(crate) fn routes_from(&self, me: ElementId) -> impl Iterator<Item = RouteId> + use<> {
        let own = self.slots[me.index()].element.lookahead().own_routes.to_vec();
        let reverse: Vec<RouteId> = self.core.routes.reverse_from(me).collect();
        own.into_iter().chain(reverse)
    }

    /// The elements to which `me` may hand a packet at the instant at which it receives or sends
    /// it.
    pub(crate) fn immediate_receivers(&self, me: ElementId) -> impl Iterator<Item = ElementId> {
        let routes = &self.core.routes;
        let firsts = self.routes_from(me).map(|route| routes.first(route).element());
        let hands_on_at_once = !self.slots[me.index()].element.lookahead().schedules_departures;
        let following = routes.following(me).filter(move |_| hands_on_at_once);
        firsts.chain(following.filter_map(Destination::element))
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
            let slot = &mut self.slots[to.index()];
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

    /// The sinks that have input channels, as receivers.
    pub(crate) fn notified_sinks(&self) -> impl Iterator<Item = ReceiverId> + use<> {
        let (first, sinks) = (self.slots.len(), self.core.sinks.len());
        // With observers there are no input channels.
        let sinks = first..(first + sinks).min(self.core.channels.count());
        let has_channels = |sink: &ReceiverId| self.core.channels.inputs(*sink).count() > 0;
        sinks.map(ReceiverId::new).filter(has_channels).collect::<Vec<_>>().into_iter()
    }

    /// A sink holds a batch, or counters are about to be read: count all packets that are known to
    /// reach it.
    pub(crate) fn count_at_sink(&mut self, receiver: ReceiverId) {
        let header = self.core.sinks[receiver.index() - self.slots.len()].header;
        let limit = self.core.safe_until(receiver);
        let mut inputs = self.core.take_inputs(receiver);
        loop {
            if self.core.prefetches {
                prefetch_packets(&mut inputs, &self.slots, &self.core, |_, _| None);
            }
            let Some((packet, at)) = inputs.take(limit) else { break };
            self.core.count_at_sink(packet, at, header);
        }
        self.core.return_inputs(receiver, inputs);
        self.core.channels.notify_in_batches(receiver);
    }

    /// The time of the next timer or arrival of a host group.
    pub(crate) fn next_time_at(&mut self, group: usize) -> Time {
        let group = &mut self.groups[group];
        let Some(host) = group.host() else { return Time::NEVER };
        let timer = group.timers.as_mut().and_then(|timers| timers.next_time());
        let (_, arrival) = self.core.channels.inputs_mut(host.into()).next();
        timer.map_or(arrival, |timer| timer.min(arrival))
    }

    /// Schedule the event of a host group for the latest time at which it can still act on its next
    /// timer or arrival.
    pub(crate) fn arm_group(&mut self, group: usize) {
        let first = self.next_time_at(group);
        let group = &mut self.groups[group];
        let Some(host) = group.host() else { return };
        self.core.channels.notify_before(host.into(), first);
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
        self.core.stop_if_cancelled();
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
    fn notify_receiver(&mut self, receiver: ReceiverId) {
        match self.slots.get_mut(receiver.index()) {
            Some(Slot { element, group: NO_GROUP, .. }) => {
                let now = self.core.event_list.now();
                element.on_notify(&mut Context::of(&mut self.core, receiver.element(), now));
            }
            Some(Slot { group, .. }) => {
                let group = *group as usize;
                self.arm_group(group);
            }
            None => self.count_at_sink(receiver),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stubs::{Call, SINK, Stubs, host, idle, link, packet, send_ahead, wire};
    use forebay_network::{Lookahead, LookaheadContext};

    const NONE: Lookahead<'static> = Lookahead::NONE;

    fn pending(to: usize, number: u64, route: RouteId) -> PendingDelivery {
        let to = ElementId::new(to);
        PendingDelivery { packet: packet(number, route), to, at: Time::from_ps(7) }
    }

    /// Packets handed on at one instant are received in the order in which they were handed on, so
    /// those of one flow do not overtake each other.
    #[test]
    fn pending_packets_are_delivered_first_in_first_out() {
        let mut stubs = Stubs::new();
        let forward = |call: Call, cx: &mut Context<'_>| {
            if let Call::Receive(packet) = call {
                cx.forward(&packet);
            }
        };
        stubs.add(NONE, forward);
        stubs.add(NONE, forward);
        stubs.add(NONE, idle);
        let route = stubs.route(&[0, 1, 2]);
        let partition = &mut stubs.whole;
        for (to, number) in [(0, 1), (0, 2), (1, 3)] {
            partition.core.pending.push(pending(to, number, route));
        }
        partition.deliver_pending();
        // Element 0 hands packets 1 and 2 on to 1 behind packet 3, and 1 all three to 2.
        let seen = [(0, 1), (0, 2), (1, 3), (1, 1), (1, 2), (2, 3), (2, 1), (2, 2)];
        assert_eq!(stubs.log.take(), seen.map(|(at, number)| (at, 7, "receive", number)));
        // Each has its digest: the same packets in another order give another.
        let digests = [0, 1, 2].map(|at| partition.slots[at].digest);
        assert!(digests[0] != digests[1] && digests[1] == digests[2]);
    }

    /// Notifications come after all deliveries of the instant: an element receives what was handed
    /// to it before it processes what was sent ahead to it, and what it then hands on is delivered
    /// too.
    #[test]
    fn notifications_come_after_deliveries() {
        let mut stubs = Stubs::new();
        stubs.add(wire(10), idle);
        // On notification, element 1 hands what it takes to element 2.
        stubs.add(link(10), |call, cx| {
            if call == Call::Notify {
                let taken = cx.inputs().take(Time::from_ps(50)).map(|(packet, _)| *packet);
                taken.iter().for_each(|packet| cx.forward(packet));
            }
        });
        stubs.add(NONE, idle);
        let route = stubs.route(&[0, 1, 2]);
        stubs.analyse();
        let partition = &mut stubs.whole;
        send_ahead(&mut partition.core.channels, (1, 0), &packet(1, route), Time::from_ps(50));
        partition.core.pending.push(pending(2, 2, route));
        partition.deliver_pending();
        let expected = [(2, 7, "receive", 2), (1, 0, "notify", 0), (2, 0, "receive", 1)];
        assert_eq!(stubs.log.take(), expected);
        assert!(partition.core.channels.notified.is_empty());
    }

    /// A sink counts the packets that have arrived by the time for which counters are read, their
    /// payload without headers, and a hop for each.
    #[test]
    fn a_sink_counts_what_is_known_to_have_arrived() {
        // Link 0 leads to a sink and to link 1.
        let mut stubs = Stubs::declared(&[wire(10), link(10), NONE], &[&[0, SINK], &[0, 1, 2]]);
        stubs.analyse();
        let partition = &mut stubs.whole;
        partition.core.sync_time = Time::from_ps(60);
        let sinks: Vec<ReceiverId> = partition.notified_sinks().collect();
        assert_eq!(sinks, [ReceiverId::new(3)]);
        for (number, at) in [(1, 50), (2, 60), (3, 61)] {
            send_ahead(
                &mut partition.core.channels,
                (3, 0),
                &packet(number, RouteId::new(0)),
                Time::from_ps(at),
            );
        }
        partition.count_at_sink(ReceiverId::new(3));
        // Two packets of 100 B, 40 of them header, which took 50 and 60 ps.
        let flow = &partition.core.counters.flows[0];
        assert_eq!((flow.delivered.packets, flow.delivered.bytes, flow.goodput), (2, 200, 120));
        assert_eq!((flow.delay, flow.max_delay.ps()), (110, 60));
        assert_eq!((partition.core.counters.hops, partition.core.channels.held()), (2, 1));
        // From now on it is notified of full batches only.
        assert!(partition.core.channels.inputs(ReceiverId::new(3)).is_batched());
        // A sink that takes nothing from a channel is not among them.
        let mut stubs = Stubs::declared(&[wire(10)], &[&[0, SINK]]);
        stubs.analyse();
        assert_eq!(stubs.whole.notified_sinks().count(), 0);
    }

    /// In the midst of a host's batch, only the receivers that hold a full batch are notified; the
    /// others wait until all that arrives at the same time has been sent.
    #[test]
    fn only_batched_receivers_are_flushed() {
        let elements = [wire(10), link(10), wire(10), link(10), NONE];
        let mut stubs = Stubs::declared(&elements, &[&[0, 1, 4], &[2, 3, 4]]);
        stubs.analyse();
        let partition = &mut stubs.whole;
        let channels = &mut partition.core.channels;
        channels.notify_in_batches(ReceiverId::new(3));
        send_ahead(channels, (1, 0), &packet(0, RouteId::new(0)), Time::from_ps(1));
        for number in 1..=64 {
            send_ahead(channels, (3, 0), &packet(number, RouteId::new(1)), Time::from_ps(number));
        }
        assert_eq!(
            (&channels.notified[..], channels.flush),
            (&[1, 3].map(ReceiverId::new)[..], true)
        );
        partition.flush_batches();
        assert_eq!(stubs.log.take(), [(3, 0, "notify", 0)]);
        let channels = &partition.core.channels;
        assert_eq!((&channels.notified[..], channels.flush), (&[ReceiverId::new(1)][..], false));
        partition.deliver_notifications();
        assert_eq!(stubs.log.take(), [(1, 0, "notify", 0)]);
    }

    /// Immediate receivers are the elements that follow on own and reverse routes without a link
    /// between: those act on packets at the instant at which they are sent, and then a host is not
    /// deferred.
    #[test]
    fn immediate_receivers_are_those_without_a_link_between() {
        let relay = Lookahead { can_defer: false, ..host(0..1) };
        let elements = [relay, wire(10), NONE, NONE];
        let routes: [&[usize]; 4] = [&[1, 2], &[0, 3], &[3, 2], &[0, SINK]];
        let mut stubs = Stubs::declared(&elements, &routes);
        stubs.whole.core.routes.add_reverse(ElementId::new(0), RouteId::new(1), RouteId::new(2));
        let routes: Vec<RouteId> = stubs.whole.routes_from(ElementId::new(0)).collect();
        assert_eq!(routes, [0, 2].map(RouteId::new));
        // By route 0 to link 1, by the reverse route 2 and passing on route 1 to element 3; the
        // sink is no element.
        let receivers = |me| {
            let receivers = stubs.whole.immediate_receivers(ElementId::new(me));
            receivers.map(ElementId::index).collect::<Vec<_>>()
        };
        assert_eq!(receivers(0), [1, 3, 3]);
        // A link takes time.
        assert_eq!(receivers(1), []);
    }
}
