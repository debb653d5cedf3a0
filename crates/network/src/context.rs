//! Access of an element to the rest of the network: [`Context`].

use forebay_kernel::Message;
use forebay_units::Time;

use crate::core::{Core, LocalTimers, PendingDelivery};
use crate::{
    Counters, Destination, DropReason, ElementId, FlowId, LinkId, Observation, Packet, RouteId,
    SackTable, SinkId,
};

/// The network as one element sees it: all that the element can do to the rest of it. Elements with
/// lookahead find more in [`crate::LookaheadContext`].
pub struct Context<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) me: ElementId,
    /// The current time of the element, which is in the past where its execution is deferred.
    pub(crate) now: Time,
    /// Its share in its host group; `None` for an element whose execution is never deferred.
    pub(crate) local: Option<LocalTimers<'a>>,
}

impl<'a> Context<'a> {
    /// The current time of the element.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Set a timer: [`crate::Element::wake`] is called at `time` with `token`. Timers cannot be
    /// cancelled: an element that no longer needs one ignores the call.
    #[inline(always)]
    pub fn wake_at(&mut self, time: Time, token: u32) {
        match &mut self.local {
            None => self.core.event_list.insert(time, self.me, token),
            Some(local) => local.timers.insert(time, self.me, token),
        }
    }

    /// Hand `packet` to the next element of its route.
    #[inline]
    pub fn forward(&mut self, packet: &Packet) {
        let hop = self.core.routes.after(self.me, packet.route);
        let at = self.now();
        let to = match hop.node() {
            None => hop.to(),
            Some(node) => self.core.routes.by_rule(node, packet, at),
        };
        match to {
            Destination::Element(to) => {
                self.core.pending.push(PendingDelivery { packet: *packet, at, to });
            }
            Destination::Sink(sink) => self.receive_at_sink(sink, packet, at),
        }
    }

    /// `packet` arrived at `sink` at `at`.
    #[inline]
    fn receive_at_sink(&mut self, sink: SinkId, packet: &Packet, at: Time) {
        let payload = self.digest_at_sink(sink, packet, at);
        self.deliver_at(packet, at, payload);
    }

    /// Add the reception of `packet` at `at` to the digest of `sink`. Returns the payload in
    /// bytes.
    #[inline(always)]
    pub(crate) fn digest_at_sink(&mut self, sink: SinkId, packet: &Packet, at: Time) -> u64 {
        let sink = &mut self.core.sinks[sink.index()];
        packet.received(at, &mut sink.digest);
        u64::from(packet.size).saturating_sub(sink.header)
    }

    /// `packet` has reached the far end of a link: hand it to the next element of its route.
    #[inline]
    pub fn cross(&mut self, packet: &Packet) {
        self.core.counters.hops += 1;
        self.forward(packet);
    }

    /// Send `packet` from a host into the network: count it and hand it to its first element.
    #[inline(always)]
    pub fn send(&mut self, mut packet: Packet) {
        let now = self.now();
        let flow = self.core.counters.flow(&packet);
        if packet.is_feedback() {
            flow.acks[0] += 1;
        } else {
            flow.sent.add(&packet);
            if packet.is_retransmission() {
                flow.retransmissions += 1;
            }
            if flow.sent.packets == 1 {
                self.note_flow_start(packet.flow);
            }
        }
        if self.is_observed() {
            packet.route = self.detour(packet.route);
            // A copy for the observers, so that the packet itself can stay in registers.
            let copy = packet;
            self.observe(|| Observation::Sent { packet: &copy });
        }
        let mut first = self.core.routes.first(packet.route);
        match first.ahead() {
            None => {
                // Where routes change nothing is sent ahead.
                if self.core.detours.is_some() {
                    packet.route = self.detour(packet.route);
                    first = self.core.routes.first(packet.route);
                }
                self.core.pending.push(PendingDelivery { packet, at: now, to: first.element() });
            }
            Some((receiver, channel)) => {
                debug_assert!(self.core.detours.is_none(), "where routes change none is ahead");
                self.core.channels.send(receiver, channel, &packet, now);
            }
        }
    }

    /// The route that has replaced `route`, if one has.
    #[cold]
    #[inline(never)]
    fn detour(&self, route: RouteId) -> RouteId {
        let detours = self.core.detours.as_ref();
        detours.map_or(route, |detours| detours.current(route, self.now()))
    }

    /// The first data packet of `flow` that is counted was sent: if it is the first of all, the
    /// flow starts.
    #[cold]
    #[inline(never)]
    fn note_flow_start(&mut self, flow: FlowId) {
        let now = self.now;
        let started = &mut self.core.counters.flows[flow.index()].started;
        if started.is_none() {
            *started = Some(now);
            self.observe(|| Observation::Started { flow });
        }
    }

    /// The reverse route: from here back to the source of `route`, if one was added.
    #[inline]
    #[must_use]
    pub fn reverse_route(&self, route: RouteId) -> Option<RouteId> {
        self.core.routes.reverse(self.me, route)
    }

    /// `packet` reached its destination: count it.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet) {
        self.deliver_at(packet, self.now(), 0);
    }

    #[inline]
    fn deliver_at(&mut self, packet: &Packet, at: Time, payload: u64) {
        let delay = self.core.count_delivery(packet, at, payload);
        self.observe(|| Observation::Delivered { packet, delay });
    }

    /// Drop `packet` at `link`, whose counters have it as arrived: count the drop for the link and
    /// for its flow, and free its SACK blocks.
    #[inline]
    pub fn drop(&mut self, link: LinkId, packet: &Packet, reason: DropReason) {
        let counters = &mut self.core.counters;
        counters.link(link).of(packet.precedence).dropped[reason as usize] += 1;
        let flow = counters.flow(packet);
        if packet.is_feedback() {
            flow.acks[2] += 1;
        } else {
            flow.dropped.add(packet);
        }
        self.observe(|| Observation::Dropped { link, packet, reason });
        if !packet.sack_slot().is_none() {
            self.core.sack_blocks.free(packet.sack_slot());
        }
    }

    /// All counters.
    #[inline]
    pub fn counters(&mut self) -> &mut Counters {
        &mut self.core.counters
    }

    /// Notify the observers of a fact; without observers this costs one test, and the fact is not
    /// computed.
    #[inline]
    pub fn observe<'f>(&mut self, fact: impl FnOnce() -> Observation<'f>) {
        if self.is_observed() {
            let fact = fact();
            let now = self.now;
            for observer in &mut self.core.observers {
                observer.observe(now, &fact);
            }
        }
    }

    /// Returns true if there are observers: for facts that are costly to gather.
    #[inline]
    #[must_use]
    pub fn is_observed(&self) -> bool {
        !self.core.observers.is_empty()
    }

    /// The SACK blocks of the acknowledgements in flight.
    #[inline]
    pub fn sack_blocks(&mut self) -> &mut SackTable {
        &mut self.core.sack_blocks
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use forebay_kernel::{ChannelTable, Digest, EventList};

    use super::*;
    use crate::PacketKind;
    use crate::core::Sink;
    use crate::record::RecordTable;
    use crate::{
        DeliveryMeter, Ecn, ElementCounters, ExecutionMode, FlowCount, LinkCount, Observer,
        ReceiverId, SackBlocks,
    };
    use forebay_units::Span;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    /// Two flows, a link's counters, route 0 by elements 0 and 1, route 1 by element 0 to a sink
    /// with 40 B of header.
    fn core() -> Core {
        let mut core = Core::default();
        core.counters.flows = vec![FlowCount::default(); 2];
        core.counters.links = vec![LinkCount::default()];
        core.sinks.push(Sink { header: 40, digest: Digest::default() });
        let [link, host] = [0, 1].map(ElementId::new);
        core.routes.add(&[link], host.into());
        core.routes.add(&[link], SinkId::new(0).into());
        core.modes = vec![ExecutionMode::default(); 2];
        core
    }

    fn context(core: &mut Core, me: usize, now: u64) -> Context<'_> {
        Context { core, me: ElementId::new(me), now: at(now), local: None }
    }

    fn packet(number: u64, route: usize) -> Packet {
        Packet::data(at(5), FlowId::new(1), number, 100, RouteId::new(route))
    }

    /// A timer of a deferred host goes to the event list of its host group, any other to that of
    /// the network: the former costs no event of the network, and expires in order with what
    /// arrives at the host.
    #[test]
    fn timers_go_to_the_event_list_of_the_network_or_the_host_group() {
        let (mut core, mut timers) = (core(), EventList::new());
        context(&mut core, 1, 3).wake_at(at(30), 7);
        let local = Some(LocalTimers { timers: &mut timers, arrival_bound: Time::ZERO });
        Context { core: &mut core, me: ElementId::new(0), now: at(3), local }.wake_at(at(20), 8);
        let event = |list: &mut EventList| {
            list.take(at(100)).map(|e| (e.time.ps(), e.target.index(), e.token))
        };
        assert_eq!((event(&mut core.event_list), core.event_list.len()), (Some((30, 1, 7)), 0));
        assert_eq!((event(&mut timers), timers.len()), (Some((20, 0, 8)), 0));
    }

    /// A packet is handed to the next element of its route at once, and counts as a hop if it has
    /// crossed a link.
    #[test]
    fn packets_are_handed_to_the_next_element_of_their_route() {
        let mut core = core();
        context(&mut core, 0, 30).forward(&packet(1, 0));
        let first = core.pending.first;
        assert_eq!((core.pending.full, first.to.index(), first.at), (true, 1, at(30)));
        assert_eq!((first.packet, core.counters.hops), (packet(1, 0), 0));
        // To have crossed a link is a hop.
        context(&mut core, 0, 30).cross(&packet(2, 0));
        assert_eq!(core.counters.hops, 1);
        assert_eq!(core.counters.flows[1], FlowCount::default());
    }

    /// A sink counts size, payload without header and delay of what it receives, and its digest
    /// depends on the packets.
    #[test]
    fn a_sink_counts_and_remembers_what_it_receives() {
        let mut core = core();
        context(&mut core, 0, 25).forward(&packet(1, 1));
        let mut small = packet(2, 1);
        small.size = 30;
        context(&mut core, 0, 30).forward(&small);
        // 100 B and 30 B on the wire, 60 B of payload, after 20 and 25 ps.
        let flow = &core.counters.flows[1];
        assert_eq!((flow.delivered.packets, flow.delivered.bytes, flow.goodput), (2, 130, 60));
        assert_eq!((flow.delay, flow.max_delay.ps()), (45, 25));
        let mut digest = Digest::default();
        packet(1, 1).received(at(25), &mut digest);
        small.received(at(30), &mut digest);
        assert_eq!((core.sinks[0].digest, core.pending.full), (digest, false));
    }

    /// Data, retransmissions and acknowledgements that hosts send are counted apart and enter their
    /// routes, and the start of a flow is that of its first packet.
    #[test]
    fn what_hosts_send_is_counted_and_enters_its_route() {
        let mut core = core();
        context(&mut core, 3, 10).send(packet(1, 0));
        context(&mut core, 3, 20).send(packet(2, 0).as_retransmission());
        context(&mut core, 3, 30).send(packet(3, 0).with_kind(PacketKind::Ack));
        let flow = &core.counters.flows[1];
        assert_eq!((flow.sent.packets, flow.sent.bytes, flow.retransmissions), (2, 200, 1));
        assert_eq!((flow.acks, flow.started), ([1, 0, 0], Some(at(10))));
        assert_eq!((core.pending.first.to.index(), core.pending.first.at), (0, at(10)));
        // In a later measurement window the flow has begun as well.
        core.counters.reset(at(40));
        context(&mut core, 3, 50).send(packet(4, 0));
        assert_eq!(core.counters.flows[1].started, Some(at(10)));
        // Deferred hosts send into a channel.
        let mut deferred = self::core();
        deferred.routes.assign_first_channel(RouteId::new(0));
        deferred.channels = ChannelTable::new(&[(vec![ElementId::new(3)], false)]);
        context(&mut deferred, 3, 10).send(packet(1, 0));
        assert_eq!(
            deferred.channels.inputs(ReceiverId::new(0)).first(),
            Some((&packet(1, 0), at(10)))
        );
        assert!(!deferred.pending.full);
    }

    #[derive(Default)]
    struct Longest(Span);

    impl ElementCounters for Longest {
        fn reset(&mut self, _now: Time) {}
    }

    impl DeliveryMeter for Longest {
        fn delivered(&mut self, delay: Span) {
            self.0 = self.0.max(delay);
        }

        fn fresh(&self) -> Box<dyn DeliveryMeter> {
            Box::new(Self::default())
        }
    }

    /// Deliveries of data are counted by flow, with their delays and marks; acknowledgements are
    /// counted apart.
    #[test]
    fn deliveries_are_counted_by_flow() {
        let mut core = core();
        core.meters = vec![None, Some(Box::new(Longest::default()))];
        context(&mut core, 1, 15).deliver(&packet(1, 0));
        context(&mut core, 1, 35).deliver(&packet(2, 0).with_ecn(Ecn::Ce));
        context(&mut core, 1, 25).deliver(&packet(3, 0).with_ecn(Ecn::Ect0));
        context(&mut core, 1, 99).deliver(&packet(4, 0).with_kind(PacketKind::Ack));
        // Created at 5: 10, 30 and 20 ps. The host says itself what is goodput.
        let flow = &core.counters.flows[1];
        assert_eq!((flow.delivered.packets, flow.delay, flow.max_delay.ps()), (3, 60, 30));
        assert_eq!((flow.marked, flow.goodput, flow.acks), (1, 0, [0, 1, 0]));
        let meter: &dyn std::any::Any = core.meters[1].as_deref().unwrap();
        assert_eq!(meter.downcast_ref::<Longest>().unwrap().0, Span::from_ps(30));
    }

    /// A drop counts at its link, by precedence and reason, and for its flow, so packets are
    /// conserved; and the SACK blocks of a dropped acknowledgement take no memory.
    #[test]
    fn drops_are_counted_where_and_why_they_happen() {
        let mut core = core();
        let mut ack = packet(2, 0).with_kind(PacketKind::Ack);
        ack.set_sack_slot(core.sack_blocks.store(SackBlocks::default()));
        context(&mut core, 0, 9).drop(
            LinkId::new(0),
            &packet(1, 0).with_precedence(2),
            DropReason::Early,
        );
        context(&mut core, 0, 9).drop(LinkId::new(0), &ack, DropReason::Overflow);
        let drops = core.counters.links[0].precedences().map(|at| at.dropped).collect::<Vec<_>>();
        let only = |reason: DropReason| {
            let mut dropped = [0; DropReason::ALL.len()];
            dropped[reason as usize] = 1;
            dropped
        };
        let none = [0; DropReason::ALL.len()];
        assert_eq!(drops, [only(DropReason::Overflow), none, only(DropReason::Early), none]);
        let flow = &core.counters.flows[1];
        assert_eq!((flow.dropped.packets, flow.dropped.bytes, flow.acks), (1, 100, [0, 0, 1]));
        assert_eq!(core.sack_blocks.store(SackBlocks::default()), ack.sack_slot());
    }

    /// Facts of which an observer is notified, in words.
    struct Words(Arc<Mutex<Vec<(u64, &'static str)>>>);

    impl Observer for Words {
        fn observe(&mut self, now: Time, fact: &Observation<'_>) {
            let word = match fact {
                Observation::Sent { .. } => "sent",
                Observation::Started { .. } => "started",
                Observation::Delivered { delay, .. } if delay.ps() == 20 => "delivered after 20 ps",
                Observation::Dropped { .. } => "dropped",
                _ => "other",
            };
            self.0.lock().unwrap().push((now.ps(), word));
        }

        fn tables(&mut self) -> Vec<RecordTable> {
            Vec::new()
        }
    }

    /// Observers are notified of facts when they happen, and a run without observers gathers none.
    #[test]
    fn observers_are_notified_of_facts_when_they_happen() {
        let (mut core, seen) = (core(), Arc::default());
        let mut cx = context(&mut core, 0, 10);
        assert!(!cx.is_observed());
        cx.observe(|| unreachable!("no one asks"));
        core.observers.push(Box::new(Words(Arc::clone(&seen))));
        context(&mut core, 0, 10).send(packet(1, 0));
        context(&mut core, 0, 11).send(packet(2, 0));
        context(&mut core, 0, 12).drop(LinkId::new(0), &packet(2, 0), DropReason::Policed);
        context(&mut core, 0, 25).forward(&packet(1, 1));
        let facts = [
            (10, "started"),
            (10, "sent"),
            (11, "sent"),
            (12, "dropped"),
            (25, "delivered after 20 ps"),
        ];
        assert_eq!(*seen.lock().unwrap(), facts);
    }
}
