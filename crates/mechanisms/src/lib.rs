//! Everything that a paper can be about, one file (or one folder) each.
//!
//! A kind of mechanism has one name: the key under which scenarios choose is the folder, in the
//! plural the table, and a word of the trait.
//!
//! | key and folder | trait | table | |---|---|---| | `queue` |
//! [`DropPolicy`](forebay_network::DropPolicy), [`QueueDisc`](forebay_network::QueueDisc) |
//! [`queue::QUEUES`] | | `conditioner` | [`Conditioner`](forebay_network::Conditioner) |
//! [`conditioner::CONDITIONERS`] | | `shaper` | [`ShaperLaw`](forebay_network::ShaperLaw) |
//! [`shaper::SHAPERS`] | | `detector` | [`CongestionDetector`](forebay_network::CongestionDetector)
//! | [`detector::DETECTORS`] | | `explicit_rate` | [`ExplicitRate`](forebay_network::ExplicitRate)
//! | [`explicit_rate::EXPLICIT_RATES`] | | `traffic` | [`Traffic`](forebay_network::Traffic) |
//! [`traffic::TRAFFICS`] | | `control` | [`CongestionControl`](forebay_network::CongestionControl)
//! | [`control::CONTROLS`] | | `admission` |
//! [`AdmissionControl`](forebay_network::AdmissionControl) | [`admission::ADMISSIONS`] | |
//! `termination` | [`FlowTermination`](forebay_network::FlowTermination) |
//! [`termination::TERMINATIONS`] | | `activity` | [`Activity`](forebay_network::Activity) |
//! [`activity::ACTIVITIES`] | | `pace` | [`PaceControl`](forebay_network::PaceControl) |
//! [`pace::PACES`] | | `impairment` | [`Impairment`](impairment::Impairment) |
//! [`impairment::IMPAIRMENTS`] | | `fairness` | [`RingFairness`](forebay_network::RingFairness) |
//! [`fairness::FAIRNESS`] | | `sizes` | [`SizeDistribution`](sizes::SizeDistribution) |
//! [`sizes::SIZES`] | | `adaptation` | [`RateAdaptation`](adaptation::RateAdaptation) |
//! [`adaptation::ADAPTATIONS`] |
//!
//! Beside these, `policing/` says when cells conform and may leave, for conditioners and a policer,
//! and `element/` holds the [elements](forebay_network::Element) that the scenario wires.
//!
//! Adding a mechanism touches its own file and one line of its table: schema, reference page,
//! Python class and the battery of tests follow from the table.

pub mod activity;
pub mod adaptation;
pub mod admission;
pub mod conditioner;
pub mod control;
pub mod detector;
mod dscp;
pub mod element;
pub mod explicit_rate;
pub mod fairness;
mod flow_groups;
pub mod impairment;
mod lateness;
mod measurement;
pub mod pace;
pub mod pcn_edge;
mod periodic;
pub mod policing;
pub mod queue;
mod registry;
pub mod shaper;
pub mod sizes;
pub mod termination;
pub mod traffic;
mod transfers;

use forebay_units::Rate;

pub use dscp::{Dscp, DscpSet};
use flow_groups::HostMatch;
pub use flow_groups::{FlowGroups, FlowKeys, GroupSet, HostSet};
pub use lateness::{Lateness, LatenessResult};
pub use periodic::{Periodic, Update};
pub use registry::registry;
pub use transfers::{Completed, EmptyPath, TransferCount, TransferMeter, TransferResult};

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
