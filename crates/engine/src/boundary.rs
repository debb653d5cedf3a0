//! Partitioning: how a network is divided into logical processes, and how packets get from one to
//! another (Fujimoto, *Parallel and Distributed Simulation Systems*, 2000).
//!
//! Boundaries lie at the far end of links that know of a packet before the far end receives it.
//! Elements that take packets from channels get those that cross a boundary that way too, as soon
//! as the window ends. For elements that do not, a [`BoundaryProxy`] represents the link in their
//! partition, under the link's number, so that simultaneous events happen in the same order as in
//! an undivided network.

use forebay_kernel::Digest;
use forebay_network::executive::{Core, Hop, NO_CHANNEL, PartitionHop, SINK, Sink};
use forebay_network::{Context, DeliveryMeter, Element, LogicalProcess, LookaheadContext, Packet};
use forebay_units::{Span, Time};

use crate::message_batch::{RemoteChannel, RemoteRoute};
use crate::partition::Partition;
use crate::slot::{HostGroup, Slot};

/// Represents a link of another partition where no element takes its packets ahead of time: hands
/// each packet on when it arrives at the far end.
struct BoundaryProxy {
    /// When the first pending timer expires; [`Time::NEVER`] for none.
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
    inputs: u32,
    channel: u32,
}

/// Where a network is divided: links, each with a partition that it leads into.
pub(crate) struct PartitionMap<'a> {
    /// The partition of each element.
    pub(crate) partition_of: &'a [u32],
    /// Link and partition; sorted.
    pub(crate) boundaries: Vec<(u32, u32)>,
}

impl<'a> PartitionMap<'a> {
    /// The boundaries between the partitions of `whole`.
    pub(crate) fn new(whole: &Partition, partition_of: &'a [u32]) -> Self {
        assert_eq!(partition_of.len(), whole.slots.len(), "each element lies in one partition");
        let mut boundaries = Vec::new();
        for (link, local) in (0..).zip(partition_of) {
            let elements = whole.core.routes.following(link).filter(|next| next & SINK == 0);
            let partitions = elements.map(|next| partition_of[next as usize]);
            let remote = partitions.filter(|partition| partition != local);
            boundaries.extend(remote.map(|partition| (link, partition)));
        }
        boundaries.sort_unstable();
        boundaries.dedup();
        Self { partition_of, boundaries }
    }

    /// Whether `element` is a link at a boundary.
    pub(crate) fn is_boundary(&self, element: u32) -> bool {
        self.first_boundary(element).is_some()
    }

    /// Whether a boundary lies between `element` and `next`, which follows it.
    pub(crate) fn separates(&self, element: u32, next: u32) -> bool {
        self.partition_of[element as usize] != self.partition_of[next as usize]
    }

    /// The partition of `element`.
    fn owner(&self, element: u32) -> usize {
        self.partition_of[element as usize] as usize
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
    fn crossing(&self, link: u32, hop: Hop) -> Crossing {
        let from = self.partition_of[link as usize];
        let of_sink = || self.first_boundary(link).map_or(from, |(_, partition)| *partition);
        let to = if hop.to & SINK == 0 { self.partition_of[hop.to as usize] } else { of_sink() };
        let (inputs, channel) =
            if hop.channel == NO_CHANNEL { (link, 0) } else { (hop.receiver, hop.channel) };
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
            let remote_channel =
                RemoteChannel { outbox: (outbox + at) as u32, inputs: *inputs, channel: *channel };
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
            .map(|(link, _)| whole.slots[*link as usize].element.lookahead().span);
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
            let early = whole.core.modes[*link as usize].sends_ahead();
            assert!(early, "element {link} must act here on what it sends into another partition");
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
            if new && partition.core.modes[*link as usize].takes_from_channels {
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
            partition.slots[*link as usize] = Slot::of(proxy);
            partition.core.channels.connect(*link, *link);
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
                    PartitionHop::Leaves((whole.channels.count() + at) as u32)
                }
                _ => PartitionHop::Nowhere,
            }
        };
        let core = Core {
            routes: whole.routes.for_partition(&partition_hop),
            counters: whole.counters.clone(),
            meters: whole.meters.iter().map(fresh_meter).collect(),
            sinks: whole.sinks.iter().map(fresh).collect(),
            modes: whole.modes.clone(),
            channels: whole.channels.fresh(crossings.len()),
            ..Core::default()
        };
        Partition { core, groups, ..Partition::default() }
    }

    /// The first boundary at `element`.
    fn first_boundary(&self, element: u32) -> Option<&(u32, u32)> {
        let at = self.boundaries.partition_point(|(link, _)| *link < element);
        self.boundaries.get(at).filter(|(link, _)| *link == element)
    }
}
