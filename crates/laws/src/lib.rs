//! Laws: everything that a paper can be about and that only decides, one file (or one folder) each.
//!
//! A kind of law has one name: the key under which scenarios choose is the folder, in the plural
//! the table, and a word of the trait. `queue` is the folder of [`queue::QUEUES`], which implement
//! [`DropPolicy`](forebay_network::DropPolicy) or [`QueueDisc`](forebay_network::QueueDisc); the
//! traits that one kind of element asks stand in `contract.rs` of their folder. Beside these,
//! `policing/` says when cells conform and may leave, for conditioners and a policer. Laws hold no
//! time: the elements that ask them are those of `forebay_elements`.
//!
//! Adding a mechanism touches its own file and one line of its table: schema, reference page,
//! Python class and the battery of tests follow from the table.
#![doc = include_str!("../README.md")]

pub mod activity;
pub mod adaptation;
pub mod admission;
mod base_delay;
pub mod conditioner;
pub mod control;
pub mod detector;
mod dscp;
pub mod explicit_rate;
pub mod fairness;
mod flow_groups;
pub mod impairment;
mod measurement;
pub mod pace;
pub mod pairs;
pub mod path;
pub mod pcn_edge;
mod periodic;
pub mod policing;
pub mod queue;
mod registry;
pub mod shaper;
pub mod sharing;
pub mod sizes;
pub mod termination;
pub mod traffic;

use forebay_units::Rate;

pub use dscp::{Dscp, DscpSet};
pub use flow_groups::{FlowGroups, FlowKeys, GroupSet, HostSet, NamedGroup, NamedHost};
use flow_groups::{GroupMatch, HostMatch};
pub use periodic::{Periodic, Update};
pub use registry::registry;

/// Facts that a law may know of the link that it serves.
#[derive(Clone, Debug)]
pub struct LinkFacts {
    /// The link's rate.
    pub rate: Rate,
    /// The flows of the network, and their hosts.
    pub flows: FlowGroups,
    /// True if a queue with classes counts what becomes of the packets of each.
    pub counts_classes: bool,
}

impl LinkFacts {
    /// A link of `rate`, in a network of which nothing else is known.
    #[must_use]
    pub const fn of(rate: Rate) -> Self {
        Self { rate, flows: FlowGroups::NONE, counts_classes: false }
    }

    /// The same for a queue inside another, whose classes are not counted.
    #[must_use]
    pub fn inside(&self) -> Self {
        Self { counts_classes: false, ..self.clone() }
    }
}
