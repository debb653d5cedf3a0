//! Scenario files: a typed language for networks, read without mercy for slips, and run.
//!
//! [`Scenario::parse`] refuses unknown keys, bare numbers and contradictions with the key path, the
//! line and what is allowed; [`Scenario::run`] wires the network and gives [`RunResult`]. The
//! language is the parameters of the mechanisms: [`catalogue`] and [`schema`] come from the same
//! definitions. What mechanisms there are is said by a [`Registry`]: that of [`registry`], or one
//! to which others were added.
#![doc = include_str!("../README.md")]

mod capture;
mod catalogue;
mod error;
mod plan;
mod read;
mod results;
mod run;
mod ties;

pub use catalogue::{catalogue, schema};
pub use error::ScenarioError;
pub use forebay_elements::calls::CallResult;
pub use forebay_elements::link::SwitchResult;
pub use forebay_elements::paced::PacedResult;
pub use forebay_elements::policer::PolicingResult;
pub use forebay_elements::ring::RingResult;
pub use forebay_elements::tcp::VideoResult;
pub use forebay_elements::{LatenessResult, TransferResult, registry};
pub use forebay_invariants::{Breach, Invariant, Report};
pub use forebay_network::{ResultColumn, Unit};
pub use forebay_parameters::Registry;
pub use plan::estimate::Need;
pub use read::edit::edit;
pub use read::files::{FileText, Files};
pub use read::packets::packets_of;
pub use read::tree::expand;
pub use results::classes::ClassResult;
pub use results::columns::result_columns;
pub use results::counted::Counted;
pub use results::gauges::{GaugeName, Gauges, UnknownGauge};
pub use results::hosts::HostResult;
pub use results::pairs::PairResult;
pub use results::spread::{Quantiles, Spread};
pub use results::synchronization::SynchronizationResult;
pub use results::tags::TagResult;
pub use results::waits::WaitResult;
pub use results::{FlowResult, GroupResult, LinkResult, RunResult};
pub use run::Scenario;
pub use run::check::invariants;
pub use run::control::{Control, RunOptions};
pub use run::live::LiveRun;
pub use run::places::{AggregatePlace, FlowPlace, LinkPlace, Places};
pub use run::replications::Replications;
pub use run::stepped::SteppedRun;
pub use run::stopped::{Limits, Stopped};
pub use ties::Ties;

/// Version of the engine: part of every result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
