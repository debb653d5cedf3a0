//! Scenario files: a typed language for networks, read without mercy for slips, and run.
//!
//! [`Scenario::parse`] refuses unknown keys, bare numbers and contradictions with the key path, the
//! line and what is allowed; [`Scenario::run`] wires the network and gives [`RunResult`]. The
//! language is the parameters of the mechanisms: [`catalogue`] and [`schema`] come from the same
//! definitions. What mechanisms there are is said by a [`Registry`]: that of [`registry`], or one
//! to which others were added.

mod advance;
mod aggregates;
mod around;
mod bounds;
mod build;
mod capture;
mod catalogue;
mod check;
mod columns;
mod control;
mod delays;
mod division;
mod edit;
mod error;
mod estimate;
mod failures;
mod files;
mod flows;
mod gauge_tables;
mod gauges;
mod hosts;
mod include;
mod links;
mod live;
mod names;
mod packets;
mod parse;
mod places;
mod plan;
mod policing;
mod profiles;
mod rerouting;
mod results;
mod results_classes;
mod results_counted;
mod results_drops;
mod results_elements;
mod results_hosts;
mod results_rings;
mod rings;
mod roads;
mod run;
mod schedules;
mod sections;
mod series;
mod sites;
mod spread;
mod stepped;
mod stopped;
mod supervisor;
mod ties;
mod topology;
mod tree;
mod unlimited;
mod watch;
mod ways;

pub use catalogue::{catalogue, schema};
pub use check::invariants;
pub use columns::result_columns;
pub use control::{Control, RunOptions};
pub use edit::edit;
pub use error::ScenarioError;
pub use estimate::Need;
pub use files::{FileText, Files};
pub use forebay_elements::calls::CallResult;
pub use forebay_elements::paced::PacedResult;
pub use forebay_elements::policer::PolicingResult;
pub use forebay_elements::tcp::VideoResult;
pub use forebay_elements::{LatenessResult, TransferResult, registry};
pub use forebay_invariants::{Breach, Invariant, Report};
pub use forebay_network::{ResultColumn, Unit};
pub use forebay_parameters::Registry;
pub use gauges::{GaugeName, Gauges, UnknownGauge};
pub use live::LiveRun;
pub use packets::packets_of;
pub use places::{AggregatePlace, FlowPlace, LinkPlace, Places};
pub use results::{FlowResult, GroupResult, LinkResult, RunResult};
pub use results_classes::ClassResult;
pub use results_counted::Counted;
pub use results_hosts::HostResult;
pub use results_rings::RingResult;
pub use run::Scenario;
pub use spread::{Quantiles, Spread};
pub use stepped::SteppedRun;
pub use stopped::{Limits, Stopped};
pub use ties::Ties;
pub use tree::expand;

/// Version of the engine: part of every result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
