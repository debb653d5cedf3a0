//! Forwarding tables: the next hop of each element by route (a forwarding information base in the
//! words of RFC 1812).

/// Marks the number of a sink; without this bit it is that of an element.
pub(crate) const SINK: u32 = 1 << 31;

/// An entry of a forwarding table: what follows an element on a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop {
    /// The next element, or a sink.
    pub(crate) to: u32,
    /// The receiver and the input channel of it that packets for `to` are sent ahead into;
    /// [`NO_CHANNEL`] if packets are not sent ahead.
    pub(crate) inputs: u32,
    pub(crate) channel: u32,
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
pub(crate) const NO_CHANNEL: u32 = u32::MAX;

/// Where a hop leads, as one partition sees it.
pub(crate) enum PartitionHop {
    /// To the next element, in this partition.
    Stays,
    /// Into another partition: packets are sent ahead into this outbox.
    Leaves(u32),
    /// The hop concerns other partitions only.
    Nowhere,
}

/// The entry for a route that does not pass the element.
const NO_HOP: Hop = Hop::to(u32::MAX);

impl Hop {
    const fn to(to: u32) -> Self {
        Self { to, inputs: to, channel: NO_CHANNEL }
    }
}

/// The forwarding tables of all elements.
#[derive(Default)]
pub(crate) struct Routes {
    /// By route: its first hop.
    first_hops: Vec<Hop>,
    /// By element and route: the next hop.
    next_hops: Vec<Vec<Hop>>,
    /// By element and route: the reverse route from there to where the route begins.
    reverse: Vec<Vec<Option<u32>>>,
}

impl Routes {
    /// Add the route that passes `elements`; returns its number.
    pub(crate) fn add(&mut self, elements: &[u32]) -> u32 {
        assert!(elements.len() > 1 || elements[0] & SINK == 0, "a route passes an element");
        let route = self.first_hops.len();
        self.first_hops.push(Hop::to(*elements.first().expect("a route has a destination")));
        for pair in elements.windows(2) {
            let here = pair[0] as usize;
            if self.next_hops.len() <= here {
                self.next_hops.resize(here + 1, Vec::new());
            }
            let row = &mut self.next_hops[here];
            if row.len() <= route {
                row.resize(route + 1, NO_HOP);
            }
            assert_eq!(row[route], NO_HOP, "a route passes an element only once");
            row[route] = Hop::to(pair[1]);
        }
        u32::try_from(route).expect("a network has fewer than 2^32 routes")
    }

    /// Note `reverse` as the route from `element` back to where `route` begins.
    pub(crate) fn add_back(&mut self, element: u32, route: u32, reverse: u32) {
        let (element, route) = (element as usize, route as usize);
        if self.reverse.len() <= element {
            self.reverse.resize(element + 1, Vec::new());
        }
        let row = &mut self.reverse[element];
        if row.len() <= route {
            row.resize(route + 1, None);
        }
        row[route] = Some(reverse);
    }

    /// The route from `element` back to where `route` begins, if one was added.
    #[inline]
    pub(crate) fn back(&self, element: u32, route: u32) -> Option<u32> {
        *self.reverse.get(element as usize)?.get(route as usize)?
    }

    /// The reverse routes that begin at `element`.
    pub(crate) fn backs(&self, element: u32) -> impl Iterator<Item = u32> {
        self.reverse.get(element as usize).into_iter().flatten().flatten().copied()
    }

    /// The first element, or sink, of each route.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = u32> {
        self.first_hops.iter().map(|hop| hop.to)
    }

    /// The first hop of a route.
    #[inline]
    pub(crate) fn first(&self, route: u32) -> Hop {
        self.first_hops[route as usize]
    }

    /// Have packets on `route` sent ahead to its first element, which only senders send to.
    pub(crate) fn assign_first_channel(&mut self, route: u32) {
        let first = &mut self.first_hops[route as usize];
        (first.inputs, first.channel) = (first.to, 0);
    }

    /// The hop after `element` on `route`.
    #[inline]
    pub(crate) fn after(&self, element: u32, route: u32) -> Hop {
        self.next_hops[element as usize][route as usize]
    }

    /// The channel that all packets leaving `element` are sent ahead into, if there is just one:
    /// that of what follows on all its routes, or of the host group of all that follow.
    pub(crate) fn next_hop(&self, element: u32) -> Option<NextHop> {
        let mut hops = self.steps(element);
        let first = hops.next().filter(|hop| hop.channel != NO_CHANNEL)?;
        let same = |hop: Hop| (hop.inputs, hop.channel) == (first.inputs, first.channel);
        hops.all(same).then_some(NextHop(first))
    }

    /// The elements and sinks that follow `element` on the routes that pass it.
    pub(crate) fn following(&self, element: u32) -> impl Iterator<Item = u32> {
        self.steps(element).map(|hop| hop.to)
    }

    /// The hops after `element` on the routes that pass it.
    pub(crate) fn steps(&self, element: u32) -> impl Iterator<Item = Hop> {
        let row = self.next_hops.get(element as usize).into_iter().flatten();
        row.filter(|hop| **hop != NO_HOP).copied()
    }

    /// Have packets that leave `element` for each next element or sink sent ahead into the channel
    /// that `channel_to(next)` gives, as a receiver and the number of its input channel.
    pub(crate) fn assign_channels(
        &mut self,
        element: u32,
        channel_to: &dyn Fn(u32) -> Option<(u32, u32)>,
    ) {
        let row = self.next_hops.get_mut(element as usize).into_iter().flatten();
        for hop in row.filter(|hop| **hop != NO_HOP) {
            if let Some((inputs, channel)) = channel_to(hop.to) {
                (hop.inputs, hop.channel) = (inputs, channel);
            }
        }
    }

    /// The tables of a partition, given where the hop after each element leads.
    pub(crate) fn within(&self, resolve: &dyn Fn(u32, Hop) -> PartitionHop) -> Self {
        let row = |(element, row): (u32, &Vec<Hop>)| {
            let entry = |hop: &Hop| match (*hop != NO_HOP).then(|| resolve(element, *hop)) {
                Some(PartitionHop::Stays) => *hop,
                Some(PartitionHop::Leaves(outbox)) => Hop { inputs: outbox, channel: 0, ..*hop },
                Some(PartitionHop::Nowhere) | None => NO_HOP,
            };
            let row: Vec<Hop> = row.iter().map(entry).collect();
            if row.iter().all(|hop| *hop == NO_HOP) { Vec::new() } else { row }
        };
        let next_hops = (0..).zip(&self.next_hops).map(row).collect();
        Self { first_hops: self.first_hops.clone(), next_hops, reverse: self.reverse.clone() }
    }
}
