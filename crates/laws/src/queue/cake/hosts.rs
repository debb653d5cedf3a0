//! Hosts as CAKE counts them: how many flows with standing queues each has.

use forebay_parameters::choice;

use crate::queue::parts::flow_index::FlowIndex;

/// Queues in a set.
pub(in crate::queue) const WAYS: u32 = 8;

/// The sets of a hash table. One takes memory once it is used.
pub(in crate::queue) struct Sets {
    /// Number of entries of all sets together.
    entries: u32,
    used: FlowIndex,
    /// Entries of the sets that are used.
    length: u32,
}

impl Sets {
    /// `entries` in sets of [`WAYS`], and a set more if `spare`, of the first places.
    pub(in crate::queue) fn new(entries: u32, spare: bool) -> Self {
        let length = if spare { WAYS } else { 0 };
        Self { entries, used: FlowIndex::new(entries / WAYS), length }
    }

    /// Returns the places of the entries in the set of `hash`, from that of `hash` itself on, and
    /// the number of places of all sets by now.
    pub(in crate::queue) fn places(
        &mut self,
        hash: u32,
    ) -> (impl Iterator<Item = u32> + Clone + use<>, u32) {
        let entry = hash % self.entries;
        let (set, inner) = (entry / WAYS, entry % WAYS);
        let outer = self.used.place(set).unwrap_or_else(|| {
            self.used.insert(set, self.length);
            self.length += WAYS;
            self.length - WAYS
        });
        ((0..WAYS).map(move |step| outer + (inner + step) % WAYS), self.length)
    }

    /// The entries of used sets, with their places, in no order.
    pub(in crate::queue) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let all = |(set, place)| (0..WAYS).map(move |way| (set * WAYS + way, place + way));
        self.used.iter().flat_map(all)
    }
}

choice! {
    /// Between what the link is shared.
    pub enum Isolation {
        /// Nothing: one queue for all.
        None = "none",
        /// Source hosts: a queue for each.
        SourceHosts = "srchost",
        /// Destination hosts: a queue for each.
        DestinationHosts = "dsthost",
        /// Pairs of hosts: a queue for each.
        Hosts = "hosts",
        /// Flows.
        Flows = "flows",
        /// Source hosts, and the flows of each.
        DualSource = "dual_srchost",
        /// Destination hosts, and the flows of each.
        DualDestination = "dual_dsthost",
        /// Source hosts and destination hosts, and flows.
        Triple = "triple_isolate",
    }
}

impl Isolation {
    fn counts_sources(self) -> bool {
        matches!(self, Self::DualSource | Self::Triple)
    }

    fn counts_destinations(self) -> bool {
        matches!(self, Self::DualDestination | Self::Triple)
    }
}

/// A place for a source host and one for a destination host.
#[derive(Clone, Copy, Default)]
struct Host {
    source: u32,
    destination: u32,
    source_flows: u32,
    destination_flows: u32,
}

/// The hosts of a tin.
pub(in crate::queue) struct Hosts {
    sets: Sets,
    /// Places of the entries in use, behind those of hosts that are not told apart.
    places: Vec<Host>,
    isolation: Isolation,
}

impl Hosts {
    pub(in crate::queue) fn new(entries: u32, isolation: Isolation) -> Self {
        let places = vec![Host::default(); WAYS as usize];
        Self { sets: Sets::new(entries, true), places, isolation }
    }

    /// The place of a host with the hash `hash`: the one in its set that has it, or the first
    /// without bulk flows; if there is none, the first.
    fn place(&mut self, hash: u32, of: impl Fn(&Host) -> (u32, u32)) -> u32 {
        let (mut ways, length) = self.sets.places(hash);
        self.places.resize(length as usize, Host::default());
        let at = |place: u32| of(&self.places[place as usize]);
        let known = ways.clone().find(|place| at(*place).0 == hash);
        let first = ways.clone().next().unwrap_or(0);
        known.or_else(|| ways.find(|place| at(*place).1 == 0)).unwrap_or(first)
    }

    /// The place of the source host with the hash `hash`.
    pub(in crate::queue) fn source_of(&mut self, hash: u32) -> u32 {
        if !self.isolation.counts_sources() {
            return 0;
        }
        let place = self.place(hash, |host| (host.source, host.source_flows));
        self.places[place as usize].source = hash;
        place
    }

    /// The place of the destination host with the hash `hash`.
    pub(in crate::queue) fn destination_of(&mut self, hash: u32) -> u32 {
        if !self.isolation.counts_destinations() {
            return 0;
        }
        let place = self.place(hash, |host| (host.destination, host.destination_flows));
        self.places[place as usize].destination = hash;
        place
    }

    /// Count a bulk flow of the hosts at two places.
    pub(in crate::queue) fn join(&mut self, source: u32, destination: u32) {
        self.places[source as usize].source_flows += 1;
        self.places[destination as usize].destination_flows += 1;
    }

    /// Count one less.
    pub(in crate::queue) fn leave(&mut self, source: u32, destination: u32) {
        self.places[source as usize].source_flows -= 1;
        self.places[destination as usize].destination_flows -= 1;
    }

    /// The bulk flows of the busier of two hosts that count; at least 1.
    pub(in crate::queue) fn load(&self, source: u32, destination: u32) -> u32 {
        let mut load = 1;
        if self.isolation.counts_sources() {
            load = load.max(self.places[source as usize].source_flows);
        }
        if self.isolation.counts_destinations() {
            load = load.max(self.places[destination as usize].destination_flows);
        }
        load
    }
}
