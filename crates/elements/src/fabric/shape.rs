//! Shapes of fabrics: their nodes and links, and the shortest ways over them, by arithmetic.

use std::sync::Arc;

use forebay_parameters::{Category, Problem, Section};
use forebay_units::Rate;

/// The category of shapes of fabrics. Each is a key of its own in the section of a fabric.
pub enum Shapes {}

impl Category for Shapes {
    const NAME: &'static str = "fabric";
    const CONTRACT: &'static str = "The nodes of a fabric, its links, and the shortest ways.";
    const PLACE: &'static str = "fabrics.NAME";
    const KIND: &'static str = "the parameters of the shape between braces: fat_tree = { k = 4 }";
    type Build = BuildShape;
}

/// Reads a shape from its section, given the rate of the links of hosts.
pub type BuildShape =
    &'static (dyn Fn(&Section<'_>, Rate) -> Result<Arc<dyn FabricShape>, Problem> + Send + Sync);

/// Ways that are equally short: ports of a switch, of which the numbers follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ways {
    /// The first.
    pub first: u32,
    /// Number of them.
    pub count: u32,
}

impl Ways {
    /// None: no switch is above.
    pub const NONE: Self = Self { first: 0, count: 0 };

    /// One alone.
    #[must_use]
    pub const fn one(port: u32) -> Self {
        Self { first: port, count: 1 }
    }

    /// Their ports.
    #[must_use]
    pub fn ports(self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }
}

/// The ways from a node of a fabric, which is a tree above each host: down to the hosts below, each
/// on one way, and up to all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The first of the hosts below; the others follow.
    pub first: u32,
    /// Number of them.
    pub hosts: u32,
    /// Number of hosts that each way down leads to: port 0 to the first of them, and so on.
    pub each: u32,
    /// The ways up, which are all equally short.
    pub up: Ways,
}

impl Branch {
    /// The ways to the host `goal` that are shortest.
    #[must_use]
    pub fn ways(&self, goal: u32) -> Ways {
        match goal.checked_sub(self.first).filter(|below| *below < self.hosts) {
            Some(below) => Ways::one(below / self.each),
            None => self.up,
        }
    }
}

/// A fabric as a graph: a folded Clos network, in tiers. Nodes are numbered from 0, hosts first.
pub trait FabricShape: Send + Sync {
    /// Number of hosts.
    fn hosts(&self) -> u32;

    /// Number of nodes, hosts and switches.
    fn nodes(&self) -> u32;

    /// The name of `node` in its fabric.
    fn name(&self, node: u32) -> String;

    /// The nodes that links lead to from `node`, in the order of its ports: those below, then those
    /// above. Where one leads there, another leads back. A host has one.
    fn neighbours(&self, node: u32) -> Vec<u32>;

    /// The ways from `node`.
    fn branch(&self, node: u32) -> Branch;

    /// The pod that `node` belongs to, from 0: switches with their hosts that are near each other.
    /// `None` for a switch between pods.
    fn pod(&self, node: u32) -> Option<u32>;

    /// The distance of `node` from hosts, in links.
    fn tier(&self, node: u32) -> u32;

    /// The rate of the links between switches of `tier` and those above.
    fn rate_above(&self, tier: u32) -> Rate;

    /// The bisection: the most that either half of the hosts can send to the other at a time, in
    /// bit/s, for the division into halves where that is least.
    fn bisection(&self) -> f64;
}

impl dyn FabricShape {
    /// The nodes of the first of the shortest ways between two hosts, both included.
    #[must_use]
    pub fn way(&self, from: u32, to: u32) -> Vec<u32> {
        let next = |node: &u32| {
            let port = || self.branch(*node).ways(to).first as usize;
            (*node != to).then(|| self.neighbours(*node)[port()])
        };
        std::iter::successors(Some(from), next).collect()
    }
}
