//! Forwarding tables: the next hop of each element by route (a forwarding information base in the
//! words of RFC 1812).

use crate::RouteId;
use crate::pair_table::PairTable;

/// Marks the number of a sink; without this bit it is that of an element.
pub const SINK: u32 = 1 << 31;

/// An entry of a forwarding table: what follows an element on a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The next element, or a sink.
    pub to: u32,
    /// The receiver that packets for `to` are sent ahead to, if `channel` is not [`NO_CHANNEL`].
    pub receiver: u32,
    /// The input channel of the receiver; [`NO_CHANNEL`] if packets are not sent ahead.
    pub channel: u32,
}

/// The one channel that all packets leaving some element are sent ahead into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextHop(pub(crate) Hop);

/// A pass-through from the only input channel of one receiver into a channel of another: all
/// packets that arrive on the one go into the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassThrough {
    pub(crate) receiver: u32,
    pub(crate) channel: u32,
}

/// The channel of a hop where packets are not sent ahead.
pub const NO_CHANNEL: u32 = u32::MAX;

/// Where a hop leads, as one partition sees it.
pub enum PartitionHop {
    /// To the next element, in this partition.
    Stays,
    /// Into another partition: packets are sent ahead into this outbox.
    Leaves(u32),
    /// The hop concerns other partitions only.
    Nowhere,
}

/// The number of no element and of no sink.
const NOWHERE: u32 = u32::MAX;

impl Default for Hop {
    /// To no element.
    fn default() -> Self {
        Self::to(NOWHERE)
    }
}

impl Hop {
    const fn to(to: u32) -> Self {
        Self { to, receiver: to, channel: NO_CHANNEL }
    }
}

/// The forwarding tables of all elements.
#[derive(Default)]
pub struct Routes {
    /// By route: its first hop.
    first_hops: Vec<Hop>,
    /// By element and route: the next hop.
    next_hops: PairTable<Hop>,
    /// By element: the next hop of all routes that pass it, if it is the same; else that to no
    /// element. Most links lead to one element, and then a packet needs no look-up.
    common_hop: Vec<Hop>,
    /// By element: the routes that pass it, in order.
    passing: Vec<Vec<RouteId>>,
    /// By element and route: the reverse route from there to where the route begins.
    reverse: PairTable<Option<RouteId>>,
    /// By element: the reverse routes that begin at it, in the order in which they were added.
    reverse_from: Vec<Vec<RouteId>>,
}

impl Routes {
    /// Add the route that passes `elements`; returns its identifier.
    ///
    /// # Panics
    /// If there are no elements, or one of them twice: the reader of scenarios refuses that.
    pub fn add(&mut self, elements: &[u32]) -> RouteId {
        assert!(elements.len() > 1 || elements[0] & SINK == 0, "a route passes an element");
        let route = RouteId::new(self.first_hops.len());
        self.first_hops.push(Hop::to(*elements.first().expect("a route has a destination")));
        for pair in elements.windows(2) {
            let hop = Hop::to(pair[1]);
            let replaced = self.next_hops.insert((pair[0], route.number()), hop);
            assert_eq!(replaced, None, "a route passes an element only once");
            row_of(&mut self.passing, pair[0]).push(route);
            let is_first = self.passing(pair[0]).len() == 1;
            let common = self.common_hop_of(pair[0]);
            if is_first {
                *common = hop;
            } else if *common != hop {
                *common = Hop::default();
            }
        }
        route
    }

    /// Note `reverse` as the route from `element` back to where `route` begins.
    pub fn add_reverse(&mut self, element: u32, route: RouteId, reverse: RouteId) {
        self.reverse.insert((element, route.number()), Some(reverse));
        row_of(&mut self.reverse_from, element).push(reverse);
    }

    /// The route from `element` back to where `route` begins, if one was added.
    #[inline]
    #[must_use]
    pub fn reverse(&self, element: u32, route: RouteId) -> Option<RouteId> {
        self.reverse.get((element, route.number())).copied().flatten()
    }

    /// The reverse routes that begin at `element`.
    pub fn reverse_from(&self, element: u32) -> impl Iterator<Item = RouteId> {
        self.reverse_from.get(element as usize).into_iter().flatten().copied()
    }

    /// The first element, or sink, of each route.
    pub fn firsts(&self) -> impl Iterator<Item = u32> {
        self.first_hops.iter().map(|hop| hop.to)
    }

    /// The first hop of a route.
    #[inline]
    #[must_use]
    pub fn first(&self, route: RouteId) -> Hop {
        self.first_hops[route.index()]
    }

    /// Have packets on `route` sent ahead to its first element, which only senders send to.
    pub fn assign_first_channel(&mut self, route: RouteId) {
        let first = &mut self.first_hops[route.index()];
        (first.receiver, first.channel) = (first.to, 0);
    }

    /// The hop after `element` on `route`.
    ///
    /// # Panics
    /// If the route does not pass the element, and several lead to different elements from there.
    #[inline(always)]
    #[must_use]
    pub fn after(&self, element: u32, route: RouteId) -> Hop {
        let common = self.common_hop[element as usize];
        if common.to != NOWHERE {
            return common;
        }
        *self
            .next_hops
            .get((element, route.number()))
            .expect("a packet is at an element of its route")
    }

    /// The channel that all packets leaving `element` are sent ahead into, if there is just one:
    /// that of what follows on all its routes, or of the host group of all that follow.
    pub(crate) fn next_hop(&self, element: u32) -> Option<NextHop> {
        let mut hops = self.hops(element);
        let first = hops.next().filter(|hop| hop.channel != NO_CHANNEL)?;
        let same = |hop: Hop| (hop.receiver, hop.channel) == (first.receiver, first.channel);
        hops.all(same).then_some(NextHop(first))
    }

    /// The elements and sinks that follow `element` on the routes that pass it.
    pub fn following(&self, element: u32) -> impl Iterator<Item = u32> {
        self.hops(element).map(|hop| hop.to)
    }

    /// The hops after `element` on the routes that pass it.
    pub fn hops(&self, element: u32) -> impl Iterator<Item = Hop> {
        let hop = move |route: &RouteId| {
            *self.next_hops.get((element, route.number())).expect("it passes")
        };
        self.passing(element).iter().map(hop)
    }

    /// Have packets that leave `element` for each next element or sink sent ahead into the channel
    /// that `channel_to(next)` gives, as a receiver and the number of its input channel.
    pub fn assign_channels(
        &mut self,
        element: u32,
        channel_to: &dyn Fn(u32) -> Option<(u32, u32)>,
    ) {
        for route in self.passing.get(element as usize).into_iter().flatten() {
            let hop =
                self.next_hops.get_mut((element, route.number())).expect("the route passes here");
            if let Some((receiver, channel)) = channel_to(hop.to) {
                (hop.receiver, hop.channel) = (receiver, channel);
            }
        }
        self.update_common_hop(element);
    }

    /// The tables of a partition, given where the hop after each element leads.
    #[must_use]
    pub fn for_partition(&self, resolve: &dyn Fn(u32, Hop) -> PartitionHop) -> Self {
        let mut part = Self {
            first_hops: self.first_hops.clone(),
            reverse: self.reverse.clone(),
            reverse_from: self.reverse_from.clone(),
            ..Self::default()
        };
        for element in 0..self.passing.len() as u32 {
            for route in self.passing(element) {
                let hop = *self.next_hops.get((element, route.number())).expect("it passes");
                let hop = match resolve(element, hop) {
                    PartitionHop::Stays => hop,
                    PartitionHop::Leaves(outbox) => Hop { receiver: outbox, channel: 0, ..hop },
                    PartitionHop::Nowhere => continue,
                };
                part.next_hops.insert((element, route.number()), hop);
                row_of(&mut part.passing, element).push(*route);
            }
            part.update_common_hop(element);
        }
        part
    }

    /// Set the common hop of `element` after its hops have changed.
    fn update_common_hop(&mut self, element: u32) {
        let mut hops = self.hops(element);
        let common = hops.next().filter(|first| hops.all(|hop| hop == *first)).unwrap_or_default();
        drop(hops);
        *self.common_hop_of(element) = common;
    }

    fn common_hop_of(&mut self, element: u32) -> &mut Hop {
        let at = element as usize;
        if self.common_hop.len() <= at {
            self.common_hop.resize(at + 1, Hop::default());
        }
        &mut self.common_hop[at]
    }

    /// The routes that pass `element` and lead on, in order.
    fn passing(&self, element: u32) -> &[RouteId] {
        self.passing.get(element as usize).map_or(&[], Vec::as_slice)
    }
}

/// The row of `element` in `rows`, which grow as needed.
fn row_of(rows: &mut Vec<Vec<RouteId>>, element: u32) -> &mut Vec<RouteId> {
    let at = element as usize;
    if rows.len() <= at {
        rows.resize_with(at + 1, Vec::new);
    }
    &mut rows[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets would be handed to an element of another route, or a large network would need memory
    /// for every pair of an element and a route that never meet.
    #[test]
    fn hops_are_those_of_the_route_and_nothing_else_is_stored() {
        let mut routes = Routes::default();
        let sink = SINK | 5;
        let (long, short) = (routes.add(&[7, 3, 100_000, sink]), routes.add(&[3, 7]));
        assert_eq!([routes.first(long).to, routes.first(short).to], [7, 3]);
        assert_eq!([routes.after(7, long).to, routes.after(3, long).to], [3, 100_000]);
        assert_eq!([routes.after(100_000, long).to, routes.after(3, short).to], [sink, 7]);
        assert_eq!(routes.following(3).collect::<Vec<_>>(), [100_000, 7]);
        assert_eq!(routes.following(8).count(), 0);
        assert_eq!(routes.next_hops.len(), 4);
    }

    /// Sources would be notified on the way of another route.
    #[test]
    fn reverse_routes_are_found_where_they_were_added() {
        let mut routes = Routes::default();
        let (route, back) = (routes.add(&[1, 2]), routes.add(&[2, 1]));
        routes.add_reverse(2, route, back);
        assert_eq!(routes.reverse(2, route), Some(back));
        assert_eq!([routes.reverse(1, route), routes.reverse(2, back)], [None, None]);
        assert_eq!(routes.reverse_from(2).collect::<Vec<_>>(), [back]);
    }

    /// A partition would send packets to an element that lies in another one.
    #[test]
    fn a_partition_keeps_its_own_hops_and_outboxes() {
        let mut routes = Routes::default();
        let route = routes.add(&[0, 1, 2, 3]);
        let part = routes.for_partition(&|element, _| match element {
            0 => PartitionHop::Stays,
            1 => PartitionHop::Leaves(9),
            _ => PartitionHop::Nowhere,
        });
        assert_eq!(part.after(0, route), Hop::to(1));
        assert_eq!(part.after(1, route), Hop { to: 2, receiver: 9, channel: 0 });
        assert_eq!(part.hops(2).count(), 0);
    }
}
