//! Fat trees of switches with k ports.

use std::sync::Arc;

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Rate;

use super::shape::{Branch, BuildShape, FabricShape, Ways};

pub(super) const ENTRY: Entry<BuildShape> = Entry {
    name: "fat_tree",
    summary: "A fat tree of switches with k ports: k pods of k/2 edge and k/2 aggregation \
              switches, (k/2)^2 core switches, and k^3/4 hosts.",
    source: "Al-Fares, Loukissas and Vahdat, A scalable, commodity data center network \
             architecture, SIGCOMM 2008, section 2.2",
    example: "k = 4",
    fields: FatTreeParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of a fat tree.
    pub struct FatTreeParameters {
        /// Ports of a switch: even, 2 to 64.
        k: u32, "Al-Fares et al., SIGCOMM 2008, section 2.2";
        /// Factor by which the hosts of an edge switch can send more than its links upwards carry:
        /// the links between switches have the rate of hosts over it.
        oversubscription: f64 = 1.0, "Al-Fares et al., SIGCOMM 2008, section 2.1";
    }
}

/// The most ports of a switch.
const MAX_PORTS: u32 = 64;

fn build(section: &Section<'_>, rate: Rate) -> Result<Arc<dyn FabricShape>, Problem> {
    let FatTreeParameters { k, oversubscription } = FatTreeParameters::read(section)?;
    if k % 2 == 1 || !(2..=MAX_PORTS).contains(&k) {
        let message = format!("{k} is out of range; allowed are even numbers, 2 to {MAX_PORTS}");
        return Err(section.fail("k", message));
    }
    let between = super::rate_between(section, rate.bps() as f64, oversubscription)?;
    Ok(Arc::new(FatTree::new(k, between)))
}

/// A fat tree. Hosts come pod by pod, edge switch by edge switch; then edge switches and
/// aggregation switches pod by pod, then core switches: `half` at a time lead to the same
/// aggregation switch of each pod.
pub(super) struct FatTree {
    half: u32,
    hosts: u32,
    between: Rate,
}

/// A node, with its number among those of its kind.
enum Node {
    Host(u32),
    Edge(u32),
    Aggregation(u32),
    Core(u32),
}

impl FatTree {
    pub(super) fn new(k: u32, between: Rate) -> Self {
        let half = k / 2;
        Self { half, hosts: k * half * half, between }
    }

    /// Edge switches of all pods; there are as many aggregation switches.
    fn edges(&self) -> u32 {
        2 * self.half * self.half
    }

    fn node(&self, node: u32) -> Node {
        let Some(switch) = node.checked_sub(self.hosts) else { return Node::Host(node) };
        let edges = self.edges();
        match switch.checked_sub(edges) {
            None => Node::Edge(switch),
            Some(other) if other < edges => Node::Aggregation(other),
            Some(other) => Node::Core(other - edges),
        }
    }
}

impl FabricShape for FatTree {
    fn hosts(&self) -> u32 {
        self.hosts
    }

    fn nodes(&self) -> u32 {
        self.hosts + 2 * self.edges() + self.half * self.half
    }

    fn name(&self, node: u32) -> String {
        match self.node(node) {
            Node::Host(number) => format!("h{number}"),
            Node::Edge(number) => format!("edge{number}"),
            Node::Aggregation(number) => format!("agg{number}"),
            Node::Core(number) => format!("core{number}"),
        }
    }

    fn neighbours(&self, node: u32) -> Vec<u32> {
        let (half, edges) = (self.half, self.edges());
        let (edge, aggregation, core) = (self.hosts, self.hosts + edges, self.hosts + 2 * edges);
        match self.node(node) {
            Node::Host(host) => vec![edge + host / half],
            Node::Edge(number) => {
                let pod = number / half;
                let down = number * half..(number + 1) * half;
                down.chain((0..half).map(|up| aggregation + pod * half + up)).collect()
            }
            Node::Aggregation(number) => {
                let (pod, row) = (number / half, number % half);
                let down = (0..half).map(|down| edge + pod * half + down);
                down.chain((0..half).map(|up| core + row * half + up)).collect()
            }
            Node::Core(number) => {
                (0..2 * half).map(|pod| aggregation + pod * half + number / half).collect()
            }
        }
    }

    fn branch(&self, node: u32) -> Branch {
        let half = self.half;
        let up = Ways { first: half, count: half };
        match self.node(node) {
            Node::Host(host) => Branch { first: host, hosts: 1, each: 1, up: Ways::one(0) },
            Node::Edge(number) => Branch { first: number * half, hosts: half, each: 1, up },
            Node::Aggregation(number) => {
                let hosts = half * half;
                Branch { first: number / half * hosts, hosts, each: half, up }
            }
            Node::Core(_) => {
                Branch { first: 0, hosts: self.hosts, each: half * half, up: Ways::NONE }
            }
        }
    }

    fn pod(&self, node: u32) -> Option<u32> {
        match self.node(node) {
            Node::Host(host) => Some(host / (self.half * self.half)),
            Node::Edge(number) | Node::Aggregation(number) => Some(number / self.half),
            Node::Core(_) => None,
        }
    }

    fn tier(&self, node: u32) -> u32 {
        match self.node(node) {
            Node::Host(_) => 0,
            Node::Edge(_) => 1,
            Node::Aggregation(_) => 2,
            Node::Core(_) => 3,
        }
    }

    fn rate_above(&self, _tier: u32) -> Rate {
        self.between
    }

    /// Half of the links of core switches lead to each half of the pods.
    fn bisection(&self) -> f64 {
        f64::from(self.hosts) / 2.0 * self.between.bps() as f64
    }
}
