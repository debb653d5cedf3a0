//! Hosts as CAKE counts them: how many flows with standing queues each has.

use forebay_parameters::choice;

/// Queues in a set.
pub(in crate::queue) const WAYS: u32 = 8;

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
    places: Vec<Host>,
    isolation: Isolation,
}

impl Hosts {
    pub(in crate::queue) fn new(places: u32, isolation: Isolation) -> Self {
        Self { places: vec![Host::default(); places as usize], isolation }
    }

    /// The place of a host with the hash `hash`: the one in its set that has it, or the first
    /// without bulk flows; if there is none, the first.
    fn place(&self, hash: u32, tag: impl Fn(&Host) -> u32, flows: impl Fn(&Host) -> u32) -> u32 {
        let first = hash % self.places.len() as u32;
        let (inner, outer) = (first % WAYS, first - first % WAYS);
        let mut ways = (0..WAYS).map(|step| outer + (inner + step) % WAYS);
        let at = |place: u32| &self.places[place as usize];
        let known = ways.clone().find(|place| tag(at(*place)) == hash);
        known.or_else(|| ways.find(|place| flows(at(*place)) == 0)).unwrap_or(first)
    }

    /// The place of the source host with the hash `hash`.
    pub(in crate::queue) fn source_of(&mut self, hash: u32) -> u32 {
        if !self.isolation.counts_sources() {
            return 0;
        }
        let place = self.place(hash, |host| host.source, |host| host.source_flows);
        self.places[place as usize].source = hash;
        place
    }

    /// The place of the destination host with the hash `hash`.
    pub(in crate::queue) fn destination_of(&mut self, hash: u32) -> u32 {
        if !self.isolation.counts_destinations() {
            return 0;
        }
        let place = self.place(hash, |host| host.destination, |host| host.destination_flows);
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
