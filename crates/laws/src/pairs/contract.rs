//! Contract of pairing: between which nodes the flows of a group lead.

use forebay_kernel::Stream;

/// The nodes between which flows of a group can lead, as numbers: those where they may begin, and
/// those where they may end. Each list has a node at most once, and there is a pair of different
/// ones.
#[derive(Clone, Debug)]
pub struct NodeSets {
    /// Nodes of senders.
    pub from: Vec<u32>,
    /// Nodes of receivers.
    pub to: Vec<u32>,
}

impl NodeSets {
    /// The pairs of different nodes: all that begin somewhere and end at the first target, then at
    /// the second.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let to = |to: u32| self.from.iter().map(move |from| (*from, to));
        self.to.iter().flat_map(move |node| to(*node)).filter(|(from, to)| from != to)
    }
}

/// Chooses the ends of flows.
pub trait Pairing: Send + Sync {
    /// Number of flows of a group between `nodes` that does not say it.
    ///
    /// # Errors
    /// If such nodes cannot be paired in this way: why.
    fn count(&self, nodes: &NodeSets) -> Result<u64, String>;

    /// The ends of each of `flows` flows, sender first; never the same node. Those of one client
    /// follow each other.
    fn pair(&self, nodes: &NodeSets, flows: u32, stream: &mut Stream) -> Vec<(u32, u32)>;
}
