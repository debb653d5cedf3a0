//! Forwarding in a fabric: up to a switch from which the goal is below, on one of the ways that are
//! equally short, and down on the only one.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_laws::path::{PathFactory, PathSelection};
use forebay_network::{ElementId, ForwardingRule, Packet};
use forebay_units::Time;

use super::shape::{Branch, FabricShape, Ways};

/// The rule by which a fabric forwards.
pub struct FabricRule {
    parts: Arc<FabricParts>,
    /// The table of each node.
    rows: Arc<[Row]>,
    /// The elements at the ports of all nodes.
    ports: Arc<[ElementId]>,
    switches: Vec<Switch>,
    /// Number of the changes that have happened.
    changed: usize,
    /// True for each port whose link is down.
    down: Vec<bool>,
    /// Number of ports whose links are down.
    failed: usize,
}

/// The parts of a fabric in a network.
pub struct FabricParts {
    /// Its shape.
    pub shape: Arc<dyn FabricShape>,
    /// For each node, the element of the link at each of its ports.
    pub ports: Vec<Vec<ElementId>>,
    /// Makes the law of each switch.
    pub paths: PathFactory,
    /// The random stream of each switch.
    pub streams: Vec<Stream>,
    /// Changes of links, in the order of their times.
    pub changes: Vec<LinkChange>,
}

/// A link of a fabric that fails, or comes back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LinkChange {
    /// Time from which on switches know.
    pub at: Time,
    /// The node at its near end.
    pub node: u32,
    /// The port there.
    pub port: u32,
    /// True if it fails.
    pub fails: bool,
}

/// The table of a node, in the form in which it is asked at every hop.
#[derive(Clone, Copy)]
struct Row {
    /// The first of the hosts below, and their number.
    first: u32,
    hosts: u32,
    /// 2^32 over the number of hosts that each way down leads to, rounded up. There are at most
    /// 2^16 hosts, so the product with one of their numbers, shifted, is the quotient.
    over_each: u64,
    up: Ways,
    /// The place of its first port among those of all nodes.
    ports: u32,
}

/// A switch: its law, with the stream that this draws from.
struct Switch {
    law: Box<dyn PathSelection>,
    stream: Stream,
}

impl FabricRule {
    /// The rule of `parts`, before the run.
    #[must_use]
    pub fn new(parts: FabricParts) -> Self {
        Self::of(Arc::new(parts))
    }

    fn of(parts: Arc<FabricParts>) -> Self {
        let switch = |stream: &Stream| {
            let mut stream = stream.clone();
            Switch { law: (parts.paths)(&mut stream), stream }
        };
        let switches = parts.streams.iter().map(switch).collect();
        assert!(parts.shape.hosts() <= super::MAX_HOSTS, "shapes have at most 65,536 hosts");
        let mut ports = Vec::new();
        let row = |(node, own): (u32, &Vec<ElementId>)| {
            let Branch { first, hosts, each, up } = parts.shape.branch(node);
            let row = Row {
                first,
                hosts,
                over_each: (1_u64 << 32).div_ceil(u64::from(each)),
                up,
                ports: u32::try_from(ports.len()).expect("a network has fewer than 2^32 links"),
            };
            ports.extend_from_slice(own);
            row
        };
        let rows = (0..).zip(&parts.ports).map(row).collect();
        let ports = ports.into();
        Self { parts, rows, ports, switches, changed: 0, down: Vec::new(), failed: 0 }
    }

    /// Apply the changes of links up to `now`.
    fn apply_changes(&mut self, now: Time) {
        let most = self.parts.ports.iter().map(Vec::len).max().unwrap_or(0);
        self.down.resize(self.parts.ports.len() * most, false);
        while let Some(change) = self.parts.changes.get(self.changed).filter(|it| it.at <= now) {
            let was = &mut self.down[change.node as usize * most + change.port as usize];
            if *was != change.fails {
                *was = change.fails;
                if change.fails { self.failed += 1 } else { self.failed -= 1 }
            }
            self.changed += 1;
        }
    }

    fn is_down(&self, node: u32, port: u32) -> bool {
        self.down[self.place(node, port)]
    }

    fn place(&self, node: u32, port: u32) -> usize {
        let most = self.down.len() / self.parts.ports.len();
        node as usize * most + port as usize
    }

    /// Returns true if a way leads on from `node` to `goal` over links that are up.
    fn leads(&self, node: u32, goal: u32) -> bool {
        let shape = &self.parts.shape;
        let onward = |port: u32| {
            !self.is_down(node, port) && self.leads(shape.neighbours(node)[port as usize], goal)
        };
        node == goal || shape.branch(node).ways(goal).ports().any(onward)
    }

    /// The port that `packet` takes at `node` of `ways`, some of which may not lead on: where none
    /// does, one that is lost.
    #[cold]
    #[inline(never)]
    fn around_failures(
        &mut self,
        (node, goal): (u32, u32),
        ways: Ways,
        packet: &Packet,
        now: Time,
    ) -> u32 {
        let neighbours = self.parts.shape.neighbours(node);
        let leads =
            |port: &u32| !self.is_down(node, *port) && self.leads(neighbours[*port as usize], goal);
        let open: Vec<u32> = ways.ports().filter(leads).collect();
        match open.len() {
            0 => ways.first,
            1 => open[0],
            several => open[self.choose(node, several as u32, packet, now) as usize],
        }
    }

    #[inline]
    fn choose(&mut self, node: u32, ways: u32, packet: &Packet, now: Time) -> u32 {
        let hosts = self.rows.len() - self.switches.len();
        let Switch { law, stream } = &mut self.switches[node as usize - hosts];
        law.choose(packet, ways, now, stream)
    }

    /// The port that `packet` takes at `node`, where links have changed.
    #[cold]
    #[inline(never)]
    fn after_changes(&mut self, node: u32, goal: u32, packet: &Packet, now: Time) -> u32 {
        self.apply_changes(now);
        let ways = self.parts.shape.branch(node).ways(goal);
        match ways.count {
            _ if self.failed > 0 => self.around_failures((node, goal), ways, packet, now),
            1 => ways.first,
            several => ways.first + self.choose(node, several, packet, now),
        }
    }
}

impl ForwardingRule for FabricRule {
    fn nodes(&self) -> usize {
        self.parts.ports.len()
    }

    #[inline]
    fn next(&mut self, node: u32, goal: u32, packet: &Packet, now: Time) -> ElementId {
        let row = self.rows[node as usize];
        let below = goal.wrapping_sub(row.first);
        let port = if !self.parts.changes.is_empty() {
            self.after_changes(node, goal, packet, now)
        } else if below < row.hosts {
            ((u64::from(below) * row.over_each) >> 32) as u32
        } else if row.up.count == 1 {
            row.up.first
        } else {
            row.up.first + self.choose(node, row.up.count, packet, now)
        };
        self.ports[(row.ports + port) as usize]
    }

    fn following(&self, node: u32) -> Vec<ElementId> {
        let is_host = node < self.parts.shape.hosts();
        if is_host { Vec::new() } else { self.parts.ports[node as usize].clone() }
    }

    fn fresh(&self) -> Box<dyn ForwardingRule> {
        Box::new(Self::of(Arc::clone(&self.parts)))
    }
}
