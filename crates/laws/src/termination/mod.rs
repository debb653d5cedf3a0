//! Flow termination at the edge nodes of a PCN domain: which calls in progress must end.

mod per_packet;
mod sustainable_rate;

use forebay_parameters::{Category, Entry, Problem, Section};

use crate::pcn_edge::FlowTermination;

/// Makes a termination law from its section of the scenario.
pub type BuildTermination =
    &'static (dyn Fn(&Section<'_>) -> Result<Box<dyn FlowTermination>, Problem> + Send + Sync);

/// The category of termination laws.
pub enum Terminations {}

impl Category for Terminations {
    const NAME: &'static str = "termination";
    const CONTRACT: &'static str = "Which calls in progress must end.";
    const PLACE: &'static str = "aggregates.NAME";
    const KIND: &'static str = "termination law such as \"per_packet\"";
    type Build = BuildTermination;
}

/// Every termination law.
pub static TERMINATIONS: &[Entry<BuildTermination>] = &[per_packet::ENTRY, sustainable_rate::ENTRY];
