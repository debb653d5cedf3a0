//! Forwarding tables: the next hop of each element by route (a forwarding information base in the
//! words of RFC 1812).

use forebay_units::Time;

use crate::forwarding::Rules;
use crate::ids::PackedDestination;
use crate::pair_table::PairTable;
use crate::{
    ChannelId, Destination, ElementId, ForwardingRule, NodeId, Packet, ReceiverId, RouteId, SinkId,
};

/// An entry of a forwarding table: what follows an element on a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    to: PackedDestination,
    /// The receiver that packets are sent ahead to, if `channel` is not [`NO_CHANNEL`].
    pub(crate) receiver: ReceiverId,
    /// The input channel of the receiver; [`NO_CHANNEL`] if packets are not sent ahead.
    pub(crate) channel: ChannelId,
}

/// The one channel that all packets leaving some element are sent ahead into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextHop(pub(crate) Hop);

/// A pass-through from the only input channel of one receiver into a channel of another: all
/// packets that arrive on the one go into the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassThrough {
    pub(crate) receiver: ReceiverId,
    pub(crate) channel: ChannelId,
}

/// The channel of a hop where packets are not sent ahead.
const NO_CHANNEL: ChannelId = ChannelId::of_number(u32::MAX);

/// Target of a hop, as one partition sees it.
pub enum PartitionHop {
    /// To the next element, in this partition.
    Stays,
    /// Into another partition: packets are sent ahead into this outbox.
    Leaves(ReceiverId),
    /// The hop concerns other partitions only.
    Nowhere,
}

impl Default for Hop {
    /// To nowhere.
    fn default() -> Self {
        let receiver = ReceiverId::new(0);
        Self { to: PackedDestination::NONE, receiver, channel: NO_CHANNEL }
    }
}

impl Hop {
    fn leading_to(to: Destination) -> Self {
        Self { to: PackedDestination::new(to), ..Self::default() }
    }

    /// The next element, or a sink, where no node of a fabric finds it.
    #[inline(always)]
    #[must_use]
    pub fn to(&self) -> Destination {
        self.to.get()
    }

    /// The node of a fabric that finds what is next, if one does.
    #[inline(always)]
    #[must_use]
    pub fn node(&self) -> Option<NodeId> {
        self.to.node()
    }

    /// The next element, where no sink can follow.
    #[inline(always)]
    #[must_use]
    pub fn element(&self) -> ElementId {
        self.to.to_element()
    }

    /// The receiver that packets are sent ahead to, and its input channel, if they are.
    #[inline(always)]
    #[must_use]
    pub fn ahead(&self) -> Option<(ReceiverId, ChannelId)> {
        (self.channel != NO_CHANNEL).then_some((self.receiver, self.channel))
    }

    /// The same as a partition sees it that has it lead to `target`.
    fn in_partition(self, target: PartitionHop) -> Option<Self> {
        match target {
            PartitionHop::Stays => Some(self),
            PartitionHop::Leaves(outbox) => {
                Some(Self { receiver: outbox, channel: ChannelId::ONLY, ..self })
            }
            PartitionHop::Nowhere => None,
        }
    }

    /// The sink that follows, where no element can.
    #[inline(always)]
    pub(crate) fn sink(&self) -> SinkId {
        self.to.to_sink()
    }
}

/// The forwarding tables of all elements.
#[derive(Default)]
pub struct Routes {
    /// First hop of each route.
    first_hops: Vec<Hop>,
    /// Next hop by element and route.
    next_hops: PairTable<Hop>,
    /// Next hop, for each element, of all routes that pass it, if it is the same; else that to
    /// nowhere. Most links lead to one element, and then a packet needs no look-up.
    common_hop: Vec<Hop>,
    /// Routes that pass each element, in order.
    passing: Vec<Vec<RouteId>>,
    /// Reverse route, by element and route, from the element to where the route begins.
    reverse: PairTable<Option<RouteId>>,
    /// Reverse routes that begin at each element, in the order in which they were added.
    reverse_from: Vec<Vec<RouteId>>,
    /// Rules of fabrics, and the routes that go by them.
    rules: Rules,
}

impl Routes {
    /// Add the route that passes `elements` and leads to `end`; returns its identifier.
    ///
    /// # Panics
    /// If a sink is all that there is of it, or it passes an element twice: the reader of scenarios
    /// refuses that.
    pub fn add(&mut self, elements: &[ElementId], end: Destination) -> RouteId {
        let mut hops = elements.iter().map(|element| (*element).into()).chain([end]);
        let first = hops.next().expect("a route has an end");
        assert!(first.element().is_some(), "a route passes an element");
        let route = RouteId::new(self.first_hops.len());
        self.first_hops.push(Hop::leading_to(first));
        for (element, next) in elements.iter().copied().zip(hops) {
            let hop = Hop::leading_to(next);
            let replaced = self.next_hops.insert((element, route), hop);
            assert_eq!(replaced, None, "a route passes an element only once");
            row_of(&mut self.passing, element).push(route);
            let is_first = self.passing(element).len() == 1;
            let common = self.common_hop_of(element);
            if is_first {
                *common = hop;
            } else if *common != hop {
                *common = Hop::default();
            }
        }
        route
    }

    /// Add the rule of a fabric; its first node.
    pub fn add_rule(&mut self, rule: Box<dyn ForwardingRule>) -> NodeId {
        self.rules.add(rule)
    }

    /// Have what leaves `element`, the link to a node of a fabric, led by rule there.
    pub fn lead_to(&mut self, element: ElementId, node: NodeId) {
        *self.common_hop_of(element) =
            Hop { to: PackedDestination::found_at(node), ..Hop::default() };
    }

    /// Have what leaves `element` led to `next`, on all routes by rule: they are not listed.
    pub fn lead_on(&mut self, element: ElementId, next: ElementId) {
        *self.common_hop_of(element) = Hop::leading_to(next.into());
    }

    /// Add a route that begins with `first`, a link from a host of a fabric, and goes by rule to
    /// the host `goal`, and `end` there; returns its identifier.
    pub fn add_by_rule(&mut self, first: ElementId, goal: NodeId, end: Destination) -> RouteId {
        let route = RouteId::new(self.first_hops.len());
        self.first_hops.push(Hop::leading_to(first.into()));
        self.rules.set_goal(route, goal, end);
        route
    }

    /// The destination of `packet`, which is at `node` of a fabric at `now`.
    #[inline(never)]
    pub(crate) fn by_rule(&mut self, node: NodeId, packet: &Packet, now: Time) -> Destination {
        self.rules.next(node, packet, now)
    }

    /// Note `reverse` as the route from `element` back to where `route` begins.
    pub fn add_reverse(&mut self, element: ElementId, route: RouteId, reverse: RouteId) {
        self.reverse.insert((element, route), Some(reverse));
        row_of(&mut self.reverse_from, element).push(reverse);
    }

    /// The route from `element` back to where `route` begins, if one was added.
    #[inline]
    #[must_use]
    pub fn reverse(&self, element: ElementId, route: RouteId) -> Option<RouteId> {
        self.reverse.get((element, route)).copied().flatten()
    }

    /// The reverse routes that begin at `element`.
    pub fn reverse_from(&self, element: ElementId) -> impl Iterator<Item = RouteId> {
        self.reverse_from.get(element.index()).into_iter().flatten().copied()
    }

    /// The first element of each route.
    pub fn firsts(&self) -> impl Iterator<Item = ElementId> {
        self.first_hops.iter().map(Hop::element)
    }

    /// The first hop of a route, which leads to an element.
    #[inline]
    #[must_use]
    pub fn first(&self, route: RouteId) -> Hop {
        self.first_hops[route.index()]
    }

    /// Have packets on `route` sent ahead to its first element, which only senders send to.
    pub fn assign_first_channel(&mut self, route: RouteId) {
        let first = &mut self.first_hops[route.index()];
        (first.receiver, first.channel) = (first.element().into(), ChannelId::ONLY);
    }

    /// The hop after `element` on `route`.
    ///
    /// # Panics
    /// If the route does not pass the element, and several lead to different elements from there.
    #[inline(always)]
    #[must_use]
    pub fn after(&self, element: ElementId, route: RouteId) -> Hop {
        let common = self.common_hop[element.index()];
        if common.to != PackedDestination::NONE {
            return common;
        }
        *self.next_hops.get((element, route)).expect("a packet is at an element of its route")
    }

    /// The channel that all packets leaving `element` are sent ahead into, if there is just one:
    /// that of what follows on all its routes, or of the host group of all that follow.
    pub(crate) fn next_hop(&self, element: ElementId) -> Option<NextHop> {
        let mut hops = self.hops(element);
        let first = hops.next().filter(|hop| hop.ahead().is_some())?;
        let same = |hop: Hop| hop.ahead() == first.ahead();
        hops.all(same).then_some(NextHop(first))
    }

    /// The elements and sinks that follow `element` on the routes that pass it, or that may where
    /// it leads to a node of a fabric.
    pub fn following(&self, element: ElementId) -> impl Iterator<Item = Destination> {
        let unlisted = self.unlisted(element).map(|hop| match hop.node() {
            Some(node) => self.rules.following(node),
            None => vec![hop.to()],
        });
        self.listed(element).map(|hop| hop.to()).chain(unlisted.into_iter().flatten())
    }

    /// The node of a fabric that `element` leads to, if it leads to one.
    #[must_use]
    pub fn node_after(&self, element: ElementId) -> Option<NodeId> {
        self.common_hop.get(element.index()).and_then(Hop::node)
    }

    /// The hops after `element` on the routes that pass it; the one that all take there that go by
    /// rule.
    pub fn hops(&self, element: ElementId) -> impl Iterator<Item = Hop> {
        self.listed(element).chain(self.unlisted(element))
    }

    /// The hop after `element` of routes by rule, if such routes pass it.
    fn unlisted(&self, element: ElementId) -> Option<Hop> {
        let common = self.common_hop.get(element.index()).copied();
        let led = |hop: &Hop| hop.to != PackedDestination::NONE && self.passing(element).is_empty();
        common.filter(led)
    }

    /// The hops after `element` in the table.
    fn listed(&self, element: ElementId) -> impl Iterator<Item = Hop> {
        let hop = move |route: &RouteId| *self.next_hops.get((element, *route)).expect("it passes");
        self.passing(element).iter().map(hop)
    }

    /// Have packets that leave `element` for each next element or sink sent ahead into the channel
    /// that `channel_to(next)` gives, as a receiver and its input channel.
    pub fn assign_channels(
        &mut self,
        element: ElementId,
        channel_to: &dyn Fn(Destination) -> Option<(ReceiverId, ChannelId)>,
    ) {
        for route in self.passing.get(element.index()).into_iter().flatten() {
            let hop = self.next_hops.get_mut((element, *route)).expect("the route passes here");
            if let Some((receiver, channel)) = channel_to(hop.to()) {
                (hop.receiver, hop.channel) = (receiver, channel);
            }
        }
        self.update_common_hop(element);
    }

    /// The tables of a partition, given where the hop after each element leads.
    #[must_use]
    pub fn for_partition(&self, resolve: &dyn Fn(ElementId, Hop) -> PartitionHop) -> Self {
        let mut part = Self {
            first_hops: self.first_hops.clone(),
            reverse: self.reverse.clone(),
            reverse_from: self.reverse_from.clone(),
            rules: self.rules.fresh(),
            ..Self::default()
        };
        for element in ElementId::all(self.common_hop.len()) {
            if let Some(hop) = self.unlisted(element) {
                if let Some(hop) = hop.in_partition(resolve(element, hop)) {
                    *part.common_hop_of(element) = hop;
                }
                continue;
            }
            for route in self.passing(element) {
                let hop = *self.next_hops.get((element, *route)).expect("it passes");
                let Some(hop) = hop.in_partition(resolve(element, hop)) else { continue };
                part.next_hops.insert((element, *route), hop);
                row_of(&mut part.passing, element).push(*route);
            }
            part.update_common_hop(element);
        }
        part
    }

    /// Set the common hop of `element` after its hops have changed.
    fn update_common_hop(&mut self, element: ElementId) {
        if self.unlisted(element).is_some() {
            return;
        }
        let mut hops = self.listed(element);
        let common = hops.next().filter(|first| hops.all(|hop| hop == *first)).unwrap_or_default();
        drop(hops);
        *self.common_hop_of(element) = common;
    }

    fn common_hop_of(&mut self, element: ElementId) -> &mut Hop {
        let at = element.index();
        if self.common_hop.len() <= at {
            self.common_hop.resize(at + 1, Hop::default());
        }
        &mut self.common_hop[at]
    }

    /// The routes that pass `element` and lead on, in order.
    fn passing(&self, element: ElementId) -> &[RouteId] {
        self.passing.get(element.index()).map_or(&[], Vec::as_slice)
    }
}

/// The row of `element` in `rows`, which grow as needed.
fn row_of(rows: &mut Vec<Vec<RouteId>>, element: ElementId) -> &mut Vec<RouteId> {
    let at = element.index();
    if rows.len() <= at {
        rows.resize_with(at + 1, Vec::new);
    }
    &mut rows[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn element(number: usize) -> ElementId {
        ElementId::new(number)
    }

    fn to(number: usize) -> Destination {
        element(number).into()
    }

    /// A hop is that of its own route, and only the pairs of an element and a route that meet are
    /// stored: a large network needs no memory for the others.
    #[test]
    fn hops_are_those_of_the_route_and_nothing_else_is_stored() {
        let mut routes = Routes::default();
        let sink = SinkId::new(5).into();
        let long = routes.add(&[7, 3, 100_000].map(element), sink);
        let short = routes.add(&[element(3)], to(7));
        assert_eq!([routes.first(long).to(), routes.first(short).to()], [7, 3].map(to));
        let after = |at, route| routes.after(element(at), route).to();
        assert_eq!([after(7, long), after(3, long)], [3, 100_000].map(to));
        assert_eq!([after(100_000, long), after(3, short)], [sink, to(7)]);
        assert_eq!(routes.following(element(3)).collect::<Vec<_>>(), [100_000, 7].map(to));
        assert_eq!(routes.following(element(8)).count(), 0);
        assert_eq!(routes.next_hops.len(), 4);
    }

    /// A hop leads to an element or to a sink of the same number, and is three words, so that the
    /// tables fit into the caches.
    #[test]
    fn a_hop_leads_to_an_element_or_a_sink() {
        let hops = [to(5), SinkId::new(5).into()].map(Hop::leading_to);
        assert_eq!(hops.map(|hop| hop.to().element()), [Some(element(5)), None]);
        assert_eq!(hops.map(|hop| hop.to().sink()), [None, Some(SinkId::new(5))]);
        assert_eq!((hops[0].element(), hops[1].sink()), (element(5), SinkId::new(5)));
        assert_eq!(size_of::<Hop>(), 12);
    }

    /// A network of so many elements that their numbers meet those of sinks is refused.
    #[test]
    #[should_panic(expected = "fewer than 2^30")]
    fn elements_and_sinks_share_no_numbers() {
        Hop::leading_to(to(1 << 30));
    }

    /// A reverse route is found at the element and for the route that it was added for, and nowhere
    /// else.
    #[test]
    fn reverse_routes_are_found_where_they_were_added() {
        let mut routes = Routes::default();
        let [one, two] = [1, 2].map(element);
        let (route, back) = (routes.add(&[one], two.into()), routes.add(&[two], one.into()));
        routes.add_reverse(two, route, back);
        assert_eq!(routes.reverse(two, route), Some(back));
        assert_eq!([routes.reverse(one, route), routes.reverse(two, back)], [None, None]);
        assert_eq!(routes.reverse_from(two).collect::<Vec<_>>(), [back]);
    }

    /// A partition keeps the hops to its own elements, sends into outboxes where a hop leaves it,
    /// and stores nothing of other partitions.
    #[test]
    fn a_partition_keeps_its_own_hops_and_outboxes() {
        let mut routes = Routes::default();
        let route = routes.add(&[0, 1, 2].map(element), to(3));
        let outbox = ReceiverId::new(9);
        let part = routes.for_partition(&|element, _| match element.index() {
            0 => PartitionHop::Stays,
            1 => PartitionHop::Leaves(outbox),
            _ => PartitionHop::Nowhere,
        });
        assert_eq!(part.after(element(0), route), Hop::leading_to(to(1)));
        let leaves = part.after(element(1), route);
        assert_eq!((leaves.to(), leaves.ahead()), (to(2), Some((outbox, ChannelId::ONLY))));
        assert_eq!(part.hops(element(2)).count(), 0);
    }
}
