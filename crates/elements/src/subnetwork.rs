//! Subnetworks: parts of a network that are several links at once, over elements of their own. A
//! kind of them is a section of the top level: `[rings.NAME]`.

use forebay_kernel::Streams;
use forebay_network::{Element, LinkCount, LinkId};
use forebay_parameters::{Category, Problem, Registry, Section};
use forebay_units::{Rate, Size, Span};

use crate::inner::{InnerSection, keys_within};
use crate::rows::{RowKind, Rows};

/// The category of subnetworks. The example of one has the keys of its section, with nodes `a` and
/// `b` among others.
pub enum Subnetworks {}

impl Category for Subnetworks {
    const NAME: &'static str = "subnetwork";
    const CONTRACT: &'static str = "Several links at once, over elements of their own.";
    const PLACE: &'static str = "scenario";
    const KIND: &'static str = "sections of such subnetworks by name";
    type Build = SubnetworkKind;
}

/// Reads a subnetwork from its section.
pub type ReadSubnetwork =
    dyn Fn(&Section<'_>) -> Result<Box<dyn Subnetwork>, Problem> + Send + Sync;

/// A kind of subnetworks, as its entry has it.
#[derive(Clone, Copy)]
pub struct SubnetworkKind {
    /// Reads one.
    pub read: &'static ReadSubnetwork,
    /// The key that names its nodes.
    pub nodes: &'static str,
    /// Categories of the laws that its section chooses from.
    pub laws: &'static [&'static str],
    /// Sections within its own.
    pub sections: &'static [InnerSection],
    /// Kinds of rows that it gives, beside the rows of its links.
    pub rows: &'static [RowKind],
}

impl SubnetworkKind {
    /// The keys of its section beside its parameters: laws, and sections within.
    #[must_use]
    pub fn keys(&self) -> Vec<&'static str> {
        keys_within(self.laws, self.sections)
    }

    /// One that `read` reads, whose key `nodes` names its nodes.
    #[must_use]
    pub const fn new(read: &'static ReadSubnetwork, nodes: &'static str) -> Self {
        Self { read, nodes, laws: &[], sections: &[], rows: &[] }
    }
}

/// The sections of the top level that are subnetworks in `registry`.
#[must_use]
pub fn subnetwork_keys(registry: &Registry) -> Vec<&'static str> {
    registry.entries::<Subnetworks>().iter().map(|entry| entry.name).collect()
}

/// A subnetwork that was read: its links, which others refer to by their places in this list, and
/// its elements.
pub trait Subnetwork {
    /// Its links.
    fn links(&self) -> Vec<InnerLink>;

    /// Number of its elements.
    fn elements(&self) -> usize {
        1
    }

    /// Size in bytes of the largest packet that it takes, if there is a limit.
    fn largest(&self) -> Option<u64> {
        None
    }

    /// Check a way that passes these of its links, by runs: each of links in a row.
    ///
    /// # Errors
    /// What such a way does that is not possible.
    fn check_way(&self, _runs: &[Vec<usize>]) -> Result<(), &'static str> {
        Ok(())
    }

    /// Buffers of packets in transit, for checks.
    fn transit(&self) -> Option<Transit> {
        None
    }

    /// Make its elements.
    fn wire(&self, parts: &SubnetworkParts<'_>) -> Vec<Box<dyn Element>>;

    /// The rows of kinds of its own, given its name, the counters of its links, and the length of
    /// the window of measurement.
    fn rows(&self, _name: &str, _links: &[&LinkCount], _measured: Span) -> Vec<Rows> {
        Vec::new()
    }
}

/// A link of a subnetwork.
#[derive(Clone, Debug)]
pub struct InnerLink {
    /// Its name within the subnetwork.
    pub name: String,
    /// The node at its near end.
    pub from: String,
    /// The node at its far end.
    pub to: String,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Span,
    /// The element of the subnetwork that it is a part of.
    pub element: usize,
    /// Number of this part, for probes.
    pub part: u32,
    /// False if another link of the subnetwork joins the same nodes, over which routes lead.
    pub routed: bool,
}

/// Buffers of packets in transit through a subnetwork.
#[derive(Clone, Copy, Debug)]
pub struct Transit {
    /// The highest precedence of high priority, if there is any.
    pub high: Option<u8>,
    /// Sizes of the buffers, of high and of low priority.
    pub buffers: (Size, Size),
}

/// The network that a subnetwork is made in.
pub struct SubnetworkParts<'w> {
    /// Its links, in their order.
    pub links: &'w [LinkId],
    /// Those of its links that each route passes, by the number of the route, by runs.
    pub passed: &'w [Vec<Vec<usize>>],
    /// The random streams.
    pub streams: &'w Streams,
}
