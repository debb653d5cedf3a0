//! Partitioning: how a network is divided into logical processes, and how packets get from one to
//! another (Fujimoto, *Parallel and Distributed Simulation Systems*, 2000).
//!
//! Boundaries lie at the far end of links that know of a packet before the far end receives it.
//! Elements that take packets from channels get those that cross a boundary that way too, as soon
//! as the window ends. For elements that do not, a [`BoundaryProxy`] represents the link in their
//! partition, under the link's number, so that simultaneous events happen in the same order as in
//! an undivided network.

use forebay_kernel::Digest;
use forebay_network::executive::{Core, Hop, PartitionHop, Sink};
use forebay_network::{
    ChannelId, Context, DeliveryMeter, Destination, Element, ElementId, LogicalProcess,
    LookaheadContext, Packet, ReceiverId,
};
use forebay_units::{Span, Time};

use crate::message_batch::{RemoteChannel, RemoteRoute};
use crate::partition::Partition;
use crate::slot::{HostGroup, Slot};

/// Represents a link of another partition where no element takes its packets ahead of time: hands
/// each packet on when it arrives at the far end.
struct BoundaryProxy {
    /// Time at which the first pending timer expires; [`Time::NEVER`] for none.
    alarm: Time,
}

impl Element for BoundaryProxy {
    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("packets for a link are received in its local partition");
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        let packet = cx.inputs().take(now).map(|(packet, _)| *packet);
        cx.cross(&packet.expect("the timer was set for a packet"));
        self.alarm = Time::NEVER;
        self.on_notify(cx);
    }
}

impl LogicalProcess for BoundaryProxy {
    fn on_notify(&mut self, cx: &mut Context<'_>) {
        let first = cx.inputs().first().map_or(Time::NEVER, |(_, at)| at);
        cx.notify_before(first);
        if first < self.alarm {
            self.alarm = first;
            cx.wake_at(first, 0);
        }
    }
}

/// Fills the slot of an element of another partition that has no boundary with this one.
struct Remote;

impl LogicalProcess for Remote {}

impl Element for Remote {
    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("only links at boundaries lead into another partition");
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("an element sets its local timers only");
    }
}

/// A channel by which packets cross a boundary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    /// The partition that they leave.
    from: u32,
    to: u32,
    /// The receiver of the channel there: the link's proxy if there is no other.
    inputs: ReceiverId,
    channel: ChannelId,
}

/// Boundaries of a divided network: links, each with a partition that it leads into.
pub(crate) struct PartitionMap<'a> {
    /// The partition of each element.
    pub(crate) partition_of: &'a [u32],
    /// Link and partition; sorted.
    pub(crate) boundaries: Vec<(ElementId, u32)>,
}

impl<'a> PartitionMap<'a> {
    /// The boundaries between the partitions of `whole`.
    pub(crate) fn new(whole: &Partition, partition_of: &'a [u32]) -> Self {
        assert_eq!(partition_of.len(), whole.slots.len(), "each element lies in one partition");
        let mut boundaries = Vec::new();
        for (link, local) in ElementId::all(partition_of.len()).zip(partition_of) {
            let elements = whole.core.routes.following(link).filter_map(Destination::element);
            let partitions = elements.map(|next| partition_of[next.index()]);
            let remote = partitions.filter(|partition| partition != local);
            boundaries.extend(remote.map(|partition| (link, partition)));
        }
        boundaries.sort_unstable();
        boundaries.dedup();
        Self { partition_of, boundaries }
    }

    /// Returns true if `element` is a link at a boundary.
    pub(crate) fn is_boundary(&self, element: ElementId) -> bool {
        self.first_boundary(element).is_some()
    }

    /// Returns true if a boundary lies between `element` and `next`, which follows it.
    pub(crate) fn separates(&self, element: ElementId, next: ElementId) -> bool {
        self.partition_of[element.index()] != self.partition_of[next.index()]
    }

    /// The partition of `element`.
    fn owner(&self, element: ElementId) -> usize {
        self.partition_of[element.index()] as usize
    }

    /// The channels by which packets of `whole`, whose lookahead is known, cross boundaries, in
    /// order.
    fn crossings(&self, whole: &Partition) -> Vec<Crossing> {
        let mut crossings = Vec::new();
        for (link, _) in &self.boundaries {
            let hops = whole.core.routes.hops(*link);
            crossings.extend(hops.map(|hop| self.crossing(*link, hop)));
        }
        crossings.retain(|crossing| crossing.from != crossing.to);
        crossings.sort_unstable();
        crossings.dedup();
        crossings
    }

    /// The channel by which packets that take `hop` after `link` cross the boundary there; from a
    /// partition into itself if there is none.
    fn crossing(&self, link: ElementId, hop: Hop) -> Crossing {
        let from = self.partition_of[link.index()];
        // All that follows at a node of a fabric lies in one partition, and so do sinks.
        let element = if hop.node().is_none() { hop.to().element() } else { None };
        let to = match element {
            Some(next) => self.partition_of[next.index()],
            None => self.first_boundary(link).map_or(from, |(_, partition)| *partition),
        };
        let (inputs, channel) = hop.ahead().unwrap_or((link.into(), ChannelId::ONLY));
        Crossing { from, to, inputs, channel }
    }

    /// The channels from each partition to each other; `outbox` is the number of the outbox of the
    /// first crossing.
    fn remote_routes(outbox: usize, crossings: &[Crossing]) -> Vec<RemoteRoute> {
        let mut routes = Vec::<RemoteRoute>::new();
        for (at, Crossing { from, to, inputs, channel }) in crossings.iter().enumerate() {
            let (from, to) = (*from as usize, *to as usize);
            if routes.last().is_none_or(|route| (route.from, route.to) != (from, to)) {
                routes.push(RemoteRoute { from, to, channels: Vec::new() });
            }
            let remote_channel = RemoteChannel {
                outbox: ReceiverId::new(outbox + at),
                inputs: *inputs,
                channel: *channel,
            };
            routes.last_mut().expect("a route was added above").channels.push(remote_channel);
        }
        routes
    }

    /// The lookahead between partitions: the least time from when a link at a boundary knows of a
    /// packet to when the packet arrives at the far end.
    pub(crate) fn ahead(&self, whole: &Partition) -> Span {
        let spans = self
            .boundaries
            .iter()
            .map(|(link, _)| whole.slots[link.index()].element.lookahead().span);
        spans.min().unwrap_or(Span::MAX)
    }

    /// Divide `whole`, whose lookahead is known, into `count` partitions and the routes between
    /// them.
    pub(crate) fn divide(
        &self,
        whole: Partition,
        count: usize,
    ) -> (Vec<Partition>, Vec<RemoteRoute>) {
        for (link, _) in &self.boundaries {
            let early = whole.core.modes[link.index()].sends_ahead();
            assert!(early, "{link:?} must act here on what it sends into another partition");
        }
        let (elements, outbox) = (whole.slots.len(), whole.core.channels.count());
        let crossings = self.crossings(&whole);
        let partition = |number| self.partition(&whole, number, &crossings);
        let mut partitions: Vec<Partition> = (0..count as u32).map(partition).collect();
        for partition in &mut partitions {
            partition.slots.resize_with(elements, || Slot::of(Box::new(Remote)));
        }
        for (at, group) in whole.groups.iter().enumerate() {
            let members = group.members().iter();
            let mut links = members.flat_map(|me| whole.immediate_receivers(*me).chain([*me]));
            if let Some(boundary) = links.find(|link| self.is_boundary(*link)) {
                partitions[self.owner(boundary)].groups_at_boundaries.push(at);
            }
        }
        for (link, _) in &self.boundaries {
            let partition = &mut partitions[self.owner(*link)];
            // A link that leads into several partitions has one entry for each.
            let new = partition.boundaries.last() != Some(link);
            if new && partition.core.modes[link.index()].takes_from_channels {
                partition.boundaries.push(*link);
            }
        }
        for (at, group) in whole.groups.into_iter().enumerate() {
            // Hosts that send into one link lie in one partition.
            if let Some(host) = group.host() {
                partitions[self.owner(host)].groups[at] = group;
            }
        }
        for (at, slot) in whole.slots.into_iter().enumerate() {
            partitions[self.partition_of[at] as usize].slots[at] = slot;
        }
        for (link, partition) in &self.boundaries {
            let proxy = Box::new(BoundaryProxy { alarm: Time::NEVER });
            let partition = &mut partitions[*partition as usize];
            partition.slots[link.index()] = Slot::of(proxy);
            partition.core.channels.connect((*link).into(), *link);
        }
        (partitions, Self::remote_routes(outbox, &crossings))
    }

    /// Partition `number` without its elements.
    fn partition(&self, whole: &Partition, number: u32, crossings: &[Crossing]) -> Partition {
        let groups = whole.groups.iter().map(|_| HostGroup::elsewhere()).collect();
        let whole = &whole.core;
        let fresh = |sink: &Sink| Sink { header: sink.header, digest: Digest::default() };
        let fresh_meter =
            |meter: &Option<Box<dyn DeliveryMeter>>| meter.as_ref().map(|meter| meter.fresh());
        let partition_hop = |link, hop| {
            let crossing = self.crossing(link, hop);
            match crossings.binary_search(&crossing) {
                _ if crossing.to == number => PartitionHop::Stays,
                Ok(at) if crossing.from == number => {
                    PartitionHop::Leaves(ReceiverId::new(whole.channels.count() + at))
                }
                _ => PartitionHop::Nowhere,
            }
        };
        let core = Core {
            routes: whole.routes.for_partition(&partition_hop),
            counters: whole.counters.clone(),
            delays: whole.delays.fresh(),
            meters: whole.meters.iter().map(fresh_meter).collect(),
            sinks: whole.sinks.iter().map(fresh).collect(),
            modes: whole.modes.clone(),
            channels: whole.channels.fresh(crossings.len()),
            cancelled: whole.cancelled.clone(),
            ..Core::default()
        };
        Partition { core, groups, ..Partition::default() }
    }

    /// The first boundary at `element`.
    fn first_boundary(&self, element: ElementId) -> Option<&(ElementId, u32)> {
        let at = self.boundaries.partition_point(|(link, _)| *link < element);
        self.boundaries.get(at).filter(|(link, _)| *link == element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookahead::analyse;
    use crate::stubs::{SINK, Stubs, idle, link, packet, send_ahead, timers, wire};
    use forebay_network::{Lookahead, RouteId};

    const NONE: Lookahead<'static> = Lookahead::NONE;

    /// Link 0 of partition 0 leads to elements 2 and 3 of partition 1, 4 of partition 2 and 1 of
    /// its own, link 1 to element 5 of partition 0, link 3 to element 5 as well.
    fn three() -> (Stubs, [u32; 6]) {
        let elements = [wire(30), link(10), NONE, wire(20), NONE, NONE];
        let routes: [&[usize]; 5] = [&[0, 2], &[0, 3, 5], &[0, 4], &[0, 1, 5], &[0, 2]];
        (Stubs::declared(&elements, &routes), [0, 0, 1, 1, 2, 0])
    }

    /// The boundaries are the links that lead into other partitions, once for each, and the
    /// lookahead is the least delay among them: windows are as long as they can be, and no longer
    /// than a packet takes from one partition to another.
    #[test]
    fn boundaries_are_links_that_lead_into_other_partitions() {
        let (stubs, partition_of) = three();
        let map = PartitionMap::new(&stubs.whole, &partition_of);
        let elements: [ElementId; 6] = std::array::from_fn(ElementId::new);
        let [link, near, far, other, farthest, _] = elements;
        assert_eq!(map.boundaries, [(link, 1), (link, 2), (other, 0)]);
        let boundaries = elements.into_iter().filter(|element| map.is_boundary(*element));
        assert_eq!(boundaries.collect::<Vec<_>>(), [link, other]);
        assert!(map.separates(link, far) && map.separates(link, farthest));
        assert!(!map.separates(link, near));
        // The delays at boundaries are 30 and 20; the 10 of link 1 do not count.
        assert_eq!(map.ahead(&stubs.whole), Span::from_ps(20));
        let undivided = PartitionMap::new(&stubs.whole, &[0; 6]);
        assert_eq!((undivided.boundaries.len(), undivided.ahead(&stubs.whole)), (0, Span::MAX));
    }

    /// A link crosses into each partition by one channel, and the channels between the same two
    /// partitions share a route: packets arrive in order, where they are expected.
    #[test]
    fn each_link_crosses_into_each_partition_by_one_channel() {
        let (stubs, partition_of) = three();
        let map = PartitionMap::new(&stubs.whole, &partition_of);
        let crossings = map.crossings(&stubs.whole);
        let plain = |at: &Crossing| (at.from, at.to, at.inputs.index(), at.channel.index());
        // The lookahead is not known yet, so they go to the proxies, which have the numbers of
        // the links.
        let expected = [(0, 1, 0, 0), (0, 2, 0, 0), (1, 0, 3, 0)];
        assert_eq!(crossings.iter().map(plain).collect::<Vec<_>>(), expected);
        let routes = PartitionMap::remote_routes(7, &crossings);
        let plain = |route: &RemoteRoute| {
            let channels = route
                .channels
                .iter()
                .map(|at| (at.outbox.index(), at.inputs.index(), at.channel.index()));
            (route.from, route.to, channels.collect::<Vec<_>>())
        };
        let expected = [(0, 1, vec![(7, 0, 0)]), (0, 2, vec![(8, 0, 0)]), (1, 0, vec![(9, 3, 0)])];
        assert_eq!(routes.iter().map(plain).collect::<Vec<_>>(), expected);
        // Channels between the same partitions share a route.
        let twice = [crossings[0], Crossing { inputs: ReceiverId::new(9), ..crossings[0] }];
        let routes = PartitionMap::remote_routes(0, &twice);
        assert_eq!(
            routes.iter().map(plain).collect::<Vec<_>>(),
            [(0, 1, vec![(0, 0, 0), (1, 9, 0)])]
        );
    }

    /// A sink lies in the partition into which the link before it leads, so it is counted in one
    /// partition only.
    #[test]
    fn a_sink_lies_where_the_link_before_it_leads() {
        let (mut stubs, partition_of) = three();
        let route = stubs.route(&[3, SINK]);
        let map = PartitionMap::new(&stubs.whole, &partition_of);
        let link = ElementId::new(3);
        let crossing = map.crossing(link, stubs.whole.core.routes.after(link, route));
        assert_eq!((crossing.from, crossing.to), (1, 0));
        let inner = stubs.route(&[1, SINK]);
        let map = PartitionMap::new(&stubs.whole, &partition_of);
        let link = ElementId::new(1);
        let crossing = map.crossing(link, stubs.whole.core.routes.after(link, inner));
        assert_eq!((crossing.from, crossing.to), (0, 0));
    }

    /// Divide `stubs`.
    fn divided(mut stubs: Stubs, partition_of: &[u32], count: usize) -> Vec<Partition> {
        let map = PartitionMap::new(&stubs.whole, partition_of);
        analyse(&mut stubs.whole, &map, false);
        map.divide(stubs.whole, count).0
    }

    /// Each partition holds its own elements and, for a link that leads into it, a proxy that hands
    /// packets on to them; the link itself sends into an outbox for each other partition, and
    /// directly to elements of its own.
    #[test]
    fn each_element_lies_in_its_partition_and_a_proxy_where_it_leads() {
        let (stubs, partition_of) = three();
        let outbox = 6;
        let partitions = divided(stubs, &partition_of, 3);
        assert_eq!(partitions.len(), 3);
        for (number, partition) in (0..).zip(&partitions) {
            // Stubs show a probe; what stands in for an element of another partition shows none.
            let holds = |me: &u32| {
                let mut probes = 0;
                partition.slots[*me as usize].element.probes(0, &mut |_, _| probes += 1);
                probes > 0
            };
            let held: Vec<u32> = (0..6).filter(holds).collect();
            let own: Vec<u32> = (0..6).filter(|me| partition_of[*me as usize] == number).collect();
            assert_eq!(held, own);
        }
        let link = ElementId::new(0);
        let hop = |partition: usize, route| {
            let hop = partitions[partition].core.routes.after(link, RouteId::new(route));
            hop.ahead().map(|(receiver, channel)| (receiver.index(), channel.index()))
        };
        // To elements 2 and 3 by the first outbox, to element 4 by the second, to element 1, which
        // takes packets ahead in the same partition, directly.
        let outboxes = [outbox, outbox, outbox + 1].map(|outbox| Some((outbox, 0)));
        assert_eq!([hop(0, 0), hop(0, 1), hop(0, 2)], outboxes);
        assert_eq!(hop(0, 3), Some((1, 0)));
        // In partition 1 the proxy hands packets on by their routes, to its own elements alone.
        let hops = [0, 1].map(|n| partitions[1].core.routes.after(link, RouteId::new(n)));
        assert_eq!(hops.map(|hop| hop.element()), [2, 3].map(ElementId::new));
        assert_eq!(hops.map(|hop| hop.ahead()), [None; 2]);
        assert_eq!(partitions[1].core.routes.hops(link).count(), 3);
    }

    /// A proxy hands packets on at the place of its link among the elements of the partition:
    /// simultaneous events happen in the same order as in an undivided network.
    #[test]
    fn a_proxy_hands_packets_on_as_the_link_would() {
        let mut stubs = Stubs::new();
        stubs.add(wire(10), idle);
        stubs.add(NONE, timers(&[(20, 7)]));
        stubs.add(wire(10), idle);
        let host = stubs.add(NONE, idle);
        let routes = [stubs.route(&[0, host]), stubs.route(&[2, host])];
        let log = stubs.log.clone();
        let mut partition = divided(stubs, &[0, 1, 0, 1], 2).remove(1);
        partition.start();
        let channels = &mut partition.core.channels;
        for (link, number, at) in [(2, 1, 20), (0, 2, 20), (0, 3, 25), (2, 4, 21)] {
            send_ahead(channels, (link, 0), &packet(number, routes[link / 2]), Time::from_ps(at));
        }
        partition.deliver_notifications();
        assert!(partition.advance(Time::from_ps(24), u64::MAX));
        // At 20: link 0, the timer of element 1, link 2. The packet of 25 is beyond the limit.
        let expected = [
            (host, 20, "receive", 2),
            (1, 20, "wake", 7),
            (host, 20, "receive", 1),
            (host, 21, "receive", 4),
        ];
        assert_eq!(log.take(), expected);
        // One event for each packet and timer, and each packet has crossed its link.
        assert_eq!((partition.events, partition.core.counters.hops), (4, 3));
        // One that is sent while another waits is handed on too.
        let later = packet(5, routes[0]);
        send_ahead(&mut partition.core.channels, (0, 0), &later, Time::from_ps(30));
        partition.deliver_notifications();
        assert!(partition.advance(Time::from_ps(40), u64::MAX));
        assert_eq!(log.take(), [(host, 25, "receive", 3), (host, 30, "receive", 5)]);
        assert_eq!(partition.core.counters.hops, 5);
    }
}
