//! Everything that a paper can be about, one file (or one folder) each.
//!
//! | folder | contract | table |
//! |---|---|---|
//! | `queue/` | [`DropPolicy`](forebay_network::DropPolicy), [`QueueDisc`](forebay_network::QueueDisc) | [`queue::QUEUES`] |
//! | `conditioner/` | [`Conditioner`](forebay_network::Conditioner) | [`conditioner::CONDITIONERS`] |
//! | `shaping/` | [`ShapingLaw`](forebay_network::ShapingLaw) | [`shaping::SHAPERS`] |
//! | `traffic/` | [`Traffic`](forebay_network::Traffic) | [`traffic::TRAFFICS`] |
//! | `congestion/` | [`CongestionControl`](forebay_network::CongestionControl) | [`congestion::CONTROLS`] |
//! | `edge/` | [`AdmissionControl`](forebay_network::AdmissionControl), [`FlowTermination`](forebay_network::FlowTermination) | [`edge::ADMISSIONS`], [`edge::TERMINATIONS`] |
//! | `detector/` | [`CongestionDetector`](forebay_network::CongestionDetector) | [`detector::DETECTORS`] |
//! | `explicit_rate/` | [`ExplicitRate`](forebay_network::ExplicitRate) | [`explicit_rate::EXPLICIT_RATES`] |
//! | `activity/` | [`Activity`](forebay_network::Activity) | [`activity::ACTIVITIES`] |
//! | `pace/` | [`RateControl`](forebay_network::RateControl) | [`pace::PACES`] |
//! | `policing/` | when cells conform, and may leave | asked by conditioners and a policer |
//! | `ring/` | [`RingFairness`](forebay_network::RingFairness) | [`ring::FAIRNESS`] |
//! | `element/` | [`Element`](forebay_network::Element) | wired by the scenario |
//!
//! Adding a mechanism touches its own file and one line of its table: schema, reference page,
//! Python class and the battery of tests follow from the table.

pub mod activity;
pub mod conditioner;
pub mod congestion;
pub mod detector;
pub mod edge;
pub mod element;
pub mod explicit_rate;
mod lateness;
pub mod pace;
pub mod policing;
pub mod queue;
pub mod ring;
pub mod shaping;
pub mod traffic;

pub use lateness::Lateness;

use forebay_units::Rate;

/// What a law may know of the link that it serves.
#[derive(Clone, Copy, Debug)]
pub struct LinkFacts {
    /// The link's rate.
    pub rate: Rate,
}
