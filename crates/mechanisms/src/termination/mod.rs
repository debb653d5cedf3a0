//! Flow termination at the edge nodes of a PCN domain: which calls in progress must end.

mod per_packet;
mod sustainable_rate;

use forebay_network::FlowTermination;
use forebay_parameters::{Entry, Problem, Section};

/// Makes a termination law from its section of the scenario.
pub type BuildTermination = fn(&Section<'_>) -> Result<Box<dyn FlowTermination>, Problem>;

/// Every termination law.
pub static TERMINATIONS: &[Entry<BuildTermination>] = &[per_packet::ENTRY, sustainable_rate::ENTRY];
