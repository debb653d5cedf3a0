//! Flow termination: which calls in progress must end.

mod per_packet;
mod sustainable_rate;

use forebay_parameters::Entry;

use super::BuildTermination;

/// Every termination law.
pub static TERMINATIONS: &[Entry<BuildTermination>] = &[per_packet::ENTRY, sustainable_rate::ENTRY];
