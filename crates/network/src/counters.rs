//! Counters: statistics of every flow and link, kept whether or not there are observers.

use std::any::Any;

use forebay_units::{Span, Time};

use crate::{DropReason, ElementState, FlowId, LinkId, Packet};

/// Number of precedences, from 0, that each link has counters for from the start; it makes those of
/// higher ones when it first meets such a packet.
pub const COMMON_PRECEDENCES: usize = 4;

/// Counters of their own that elements of one kind have, besides those of flows and links.
///
/// An element owns its counters and shows them by [`Element::counters`](crate::Element::counters);
/// the builder of the element knows their type and asks the network for them.
pub trait ElementCounters: Any + Send {
    /// A new measurement window begins at `now`.
    fn reset(&mut self, now: Time);
}

/// Counts that an element shows when counters are read.
#[derive(Default)]
pub struct OwnCount<'a> {
    /// Number of packets it holds, for the check that packets are conserved.
    pub held: u64,
    /// Counters of its own, if any.
    pub counters: Option<&'a mut dyn ElementCounters>,
    /// Inner state that can be checked, if it states any.
    pub state: Option<&'a dyn ElementState>,
}

impl<'a> OwnCount<'a> {
    /// Of an element that holds `held` packets and counts nothing of its own.
    #[must_use]
    pub fn held(held: u64) -> Self {
        Self { held, ..Self::default() }
    }

    /// Of an element that holds no packets and has `counters`.
    #[must_use]
    pub fn of(counters: &'a mut dyn ElementCounters) -> Self {
        Self { counters: Some(counters), ..Self::default() }
    }

    /// The same of an element that states its inner state.
    #[must_use]
    pub fn with_state(mut self, state: &'a dyn ElementState) -> Self {
        self.state = Some(state);
        self
    }
}

/// One set of counters for each of several parts of an element, such as its flows.
impl<C: ElementCounters> ElementCounters for Vec<C> {
    fn reset(&mut self, now: Time) {
        self.iter_mut().for_each(|counters| counters.reset(now));
    }
}

/// Counts more of the data packets of a flow, where they are delivered, than [`FlowCount`] does.
pub trait DeliveryMeter: ElementCounters {
    /// A data packet was delivered after `delay`.
    fn delivered(&mut self, delay: Span);

    /// The same meter, which has counted nothing.
    fn fresh(&self) -> Box<dyn DeliveryMeter>;
}

/// Packets and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketBytes {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl PacketBytes {
    /// Count `packet`.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    fn merge(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Counters of a flow. Data packets and acknowledgements are counted separately.
///
/// What changes with each data packet comes first, within one cache line: with a million flows each
/// packet costs a cache miss on the line of its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, align(64))]
pub struct FlowCount {
    /// Data handed to the network by the source, retransmissions included.
    pub sent: PacketBytes,
    /// Data that reached the destination's host, duplicates included.
    pub delivered: PacketBytes,
    /// Payload bytes handed to the receiving application: in order, once.
    pub goodput: u64,
    /// Largest delay of a delivered data packet.
    pub max_delay: Span,
    /// Sum of the delays of delivered data packets, in ps: 64 bits would hold a few minutes of a
    /// fast path (10 Gbit/s over 50 ms).
    pub delay: u128,
    /// Acknowledgements (of a paced source: notifications, reports, and resource-management cells
    /// there and back; of UDP: echoes) sent, delivered and dropped.
    pub acks: [u64; 3],
    /// Data packets marked CE.
    pub marked: u64,
    /// Data dropped.
    pub dropped: PacketBytes,
    /// Data that wires delivered twice: the second ones, which are not among those sent.
    pub duplicated: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Time at which its first packet was sent.
    pub started: Option<Time>,
    /// Time at which it ended, if it has.
    pub ended: Option<Time>,
}

impl FlowCount {
    fn merge(&mut self, other: &Self) {
        self.sent.merge(other.sent);
        self.delivered.merge(other.delivered);
        self.dropped.merge(other.dropped);
        self.marked += other.marked;
        self.goodput += other.goodput;
        self.delay += other.delay;
        self.max_delay = self.max_delay.max(other.max_delay);
        for (mine, other) in self.acks.iter_mut().zip(other.acks) {
            *mine += other;
        }
        self.duplicated += other.duplicated;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.started = self.started.or(other.started);
        self.ended = self.ended.or(other.ended);
    }
}

/// Counters of the packets of one precedence at a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PrecedenceCount {
    /// Packets that arrived, with their precedence after conditioning.
    pub arrived: PacketBytes,
    /// Packets whose transmission began.
    pub departed: PacketBytes,
    /// Bits transmitted: of a packet whose transmission has begun and not ended, the part that was
    /// sent by the time up to which it is counted.
    pub sent_bits: u64,
    /// Packets dropped, by [`DropReason`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Packets marked CE (PCN: excess-traffic-marked).
    pub marked: u64,
    /// Packets threshold-marked (PCN).
    pub threshold_marked: u64,
}

impl PrecedenceCount {
    fn merge(&mut self, other: &Self) {
        self.arrived.merge(other.arrived);
        self.departed.merge(other.departed);
        self.sent_bits += other.sent_bits;
        for (mine, other) in self.dropped.iter_mut().zip(other.dropped) {
            *mine += other;
        }
        self.marked += other.marked;
        self.threshold_marked += other.threshold_marked;
    }
}

/// Counters of a link (one direction).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkCount {
    common: [PrecedenceCount; COMMON_PRECEDENCES],
    /// Those of higher precedences, up to the highest seen so far.
    higher: Vec<PrecedenceCount>,
    /// Time spent transmitting, in ps.
    pub busy: u64,
    /// Waiting packets integrated over time, in packet ps.
    pub queue_area: u128,
    /// Largest number of packets that waited.
    pub max_queue: u32,
}

impl LinkCount {
    /// The counters of packets of `precedence`.
    #[inline]
    pub fn of(&mut self, precedence: u8) -> &mut PrecedenceCount {
        let index = usize::from(precedence);
        if index < COMMON_PRECEDENCES {
            &mut self.common[index]
        } else {
            self.of_higher(index - COMMON_PRECEDENCES)
        }
    }

    #[cold]
    #[inline(never)]
    fn of_higher(&mut self, index: usize) -> &mut PrecedenceCount {
        if self.higher.len() <= index {
            self.higher.resize(index + 1, PrecedenceCount::default());
        }
        &mut self.higher[index]
    }

    /// The counters by precedence from 0: of the common ones, and up to the highest seen since the
    /// run began.
    pub fn precedences(&self) -> impl Iterator<Item = &PrecedenceCount> {
        self.common.iter().chain(&self.higher)
    }

    /// The sum of a counter over all precedences.
    pub fn total(&self, counter: impl Fn(&PrecedenceCount) -> u64) -> u64 {
        self.precedences().map(counter).sum()
    }

    /// Add what the far end of the link has counted, or the near end.
    fn merge(&mut self, other: &Self) {
        for (precedence, other) in (0..).zip(other.precedences()) {
            self.of(precedence).merge(other);
        }
        self.busy += other.busy;
        self.queue_area += other.queue_area;
        self.max_queue = self.max_queue.max(other.max_queue);
    }

    fn reset(&mut self) {
        let mut higher = std::mem::take(&mut self.higher);
        higher.fill(PrecedenceCount::default());
        *self = Self { higher, ..Self::default() };
    }
}

/// All counters of flows and links, for one measurement window.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Counters of each flow.
    pub flows: Vec<FlowCount>,
    /// Counters of each link.
    pub links: Vec<LinkCount>,
    /// Time at which the measurement window began.
    pub since: Time,
    /// Packet hops of the whole run: packets that reached the far end of a link.
    pub hops: u64,
}

impl Counters {
    /// Reset all counters: a new measurement window begins at `now`.
    ///
    /// Start and end of flows are facts of the whole run and are kept.
    pub fn reset(&mut self, now: Time) {
        for flow in &mut self.flows {
            let FlowCount { started, ended, .. } = *flow;
            *flow = FlowCount { started, ended, ..FlowCount::default() };
        }
        self.links.iter_mut().for_each(LinkCount::reset);
        self.since = now;
    }

    /// Add what `other` has counted in another partition in the same measurement window. Start, end
    /// and destination of a flow belong to one partition each; both ends of a link count.
    pub fn merge(&mut self, other: &Self) {
        self.hops += other.hops;
        for (mine, other) in self.flows.iter_mut().zip(&other.flows) {
            mine.merge(other);
        }
        for (mine, other) in self.links.iter_mut().zip(&other.links) {
            mine.merge(other);
        }
    }

    /// The counters of link `link`.
    #[inline]
    pub fn link(&mut self, link: LinkId) -> &mut LinkCount {
        &mut self.links[link.index()]
    }

    /// Count `packet` as arrived at `link`.
    #[inline]
    pub fn count_arrival(&mut self, link: LinkId, packet: &Packet) {
        self.link(link).of(packet.precedence).arrived.add(packet);
    }

    /// Count a second one of `packet`, which a wire made.
    pub fn count_duplicate(&mut self, packet: &Packet) {
        if !packet.is_feedback() {
            self.flow(packet).duplicated += 1;
        }
    }

    /// Count `payload` bytes of `flow` as goodput: they reached the receiving application.
    #[inline]
    pub fn hand_over(&mut self, flow: FlowId, payload: u64) {
        self.flows[flow.index()].goodput += payload;
    }

    /// The counters of the flow of `packet`.
    #[inline]
    pub fn flow(&mut self, packet: &Packet) -> &mut FlowCount {
        &mut self.flows[packet.flow.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RouteId;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    fn packet(size: u16, precedence: u8) -> Packet {
        Packet::data(Time::ZERO, FlowId::new(0), 0, size, RouteId::new(0))
            .with_precedence(precedence)
    }

    fn arrivals(link: &LinkCount) -> Vec<(u64, u64)> {
        link.precedences().map(|at| (at.arrived.packets, at.arrived.bytes)).collect()
    }

    /// Every precedence has counters of its own, up to 63: the field has six bits where it is a
    /// DSCP.
    #[test]
    fn every_precedence_has_counters_of_its_own() {
        let mut counters = Counters { links: vec![LinkCount::default(); 2], ..Counters::default() };
        for (size, precedence) in [(100, 0), (200, 3), (300, 5), (400, 5), (500, 4)] {
            counters.count_arrival(LinkId::new(1), &packet(size, precedence));
        }
        let expected = [(1, 100), (0, 0), (0, 0), (1, 200), (1, 500), (2, 700)];
        assert_eq!(arrivals(&counters.links[1]), expected);
        assert_eq!(counters.links[1].total(|count| count.arrived.bytes), 1500);
        assert_eq!(arrivals(&counters.links[0]), [(0, 0); COMMON_PRECEDENCES]);
        counters.link(LinkId::new(0)).of(63).marked += 1;
        assert_eq!(counters.links[0].precedences().count(), 64);
    }

    /// A reset forgets all but the start and the end of flows and the hops of the run: a
    /// measurement window contains nothing that happened before it, and a flow that began before it
    /// still has its start.
    #[test]
    fn a_reset_forgets_all_but_start_and_end() {
        let mut counters = Counters {
            flows: vec![FlowCount::default(); 2],
            links: vec![LinkCount::default()],
            ..Counters::default()
        };
        let facts = FlowCount { started: Some(at(3)), ended: Some(at(9)), ..FlowCount::default() };
        counters.flows[1] = FlowCount { timeouts: 2, delay: 8, acks: [1, 2, 3], ..facts };
        counters.hand_over(FlowId::new(1), 500);
        assert_eq!(counters.flows[1].goodput, 500);
        counters.count_arrival(LinkId::new(0), &packet(100, 6));
        (counters.links[0].busy, counters.links[0].max_queue, counters.hops) = (7, 8, 9);
        counters.reset(at(20));
        assert_eq!(counters.flows, [FlowCount::default(), facts]);
        assert_eq!((counters.since, counters.hops), (at(20), 9));
        // The number of precedences stays, so that windows have the same columns.
        assert_eq!(arrivals(&counters.links[0]), [(0, 0); 7]);
        assert_eq!((counters.links[0].busy, counters.links[0].max_queue), (0, 0));
    }

    /// Merged counters are those of an undivided network: what was counted in another partition is
    /// there once.
    #[test]
    fn merged_counters_are_those_of_an_undivided_network() {
        let pair = |packets, bytes| PacketBytes { packets, bytes };
        let empty = || Counters {
            flows: vec![FlowCount::default()],
            links: vec![LinkCount::default(); 2],
            ..Counters::default()
        };
        // The source of the flow lies in the first partition, its destination in the second.
        let (mut first, mut second) = (empty(), empty());
        first.flows[0] = FlowCount {
            sent: pair(5, 500),
            dropped: pair(1, 100),
            duplicated: 1,
            acks: [0, 3, 1],
            retransmissions: 2,
            timeouts: 1,
            started: Some(at(4)),
            max_delay: Span::from_ps(1),
            ..FlowCount::default()
        };
        second.flows[0] = FlowCount {
            delivered: pair(3, 300),
            dropped: pair(1, 90),
            duplicated: 2,
            goodput: 180,
            max_delay: Span::from_ps(70),
            delay: 150,
            acks: [4, 0, 2],
            marked: 1,
            ended: Some(at(80)),
            ..FlowCount::default()
        };
        first.count_arrival(LinkId::new(0), &packet(100, 0));
        second.count_arrival(LinkId::new(1), &packet(300, 5));
        // The wire of link 0, which ends in the second partition, loses one there.
        let near = &mut first.links[0];
        (near.busy, near.queue_area, near.max_queue) = (800, 90, 2);
        (near.of(0).departed, near.of(0).sent_bits, near.of(0).marked) = (pair(1, 100), 800, 1);
        second.links[0].of(0).dropped[DropReason::Lost as usize] = 1;
        (first.hops, second.hops) = (7, 8);
        first.merge(&second);
        let whole = FlowCount {
            sent: pair(5, 500),
            delivered: pair(3, 300),
            goodput: 180,
            max_delay: Span::from_ps(70),
            delay: 150,
            acks: [4, 3, 3],
            marked: 1,
            dropped: pair(2, 190),
            duplicated: 3,
            retransmissions: 2,
            timeouts: 1,
            started: Some(at(4)),
            ended: Some(at(80)),
        };
        assert_eq!((first.flows[0], first.hops), (whole, 15));
        assert_eq!(arrivals(&first.links[0])[0], (1, 100));
        let link = &mut first.links[0];
        assert_eq!((link.busy, link.queue_area, link.max_queue), (800, 90, 2));
        let (common, lost) = (link.of(0), DropReason::Lost as usize);
        assert_eq!((common.departed, common.sent_bits, common.marked), (pair(1, 100), 800, 1));
        assert_eq!((common.dropped[lost], common.dropped.iter().sum::<u64>()), (1, 1));
        assert_eq!(arrivals(&first.links[1])[5], (1, 300));
    }

    /// A reset of an element with several parts resets the counters of each.
    #[test]
    fn a_reset_of_several_parts_resets_each() {
        struct Part(Time);

        impl ElementCounters for Part {
            fn reset(&mut self, now: Time) {
                self.0 = now;
            }
        }

        let mut parts = vec![Part(at(0)), Part(at(0))];
        parts.reset(at(5));
        assert!(parts.iter().all(|part| part.0 == at(5)));
        assert_eq!(OwnCount::held(3).held, 3);
        let own = OwnCount::of(&mut parts);
        assert_eq!((own.held, own.counters.is_some()), (0, true));
    }
}
