//! Pairing: between which nodes the flows of a group lead that has several.

mod contract;
mod laws;

use forebay_parameters::{Category, Entry, Problem, Section};

pub use contract::{NodeSets, Pairing};

/// Reads a section of the scenario and gives its pairing.
pub type BuildPairs =
    &'static (dyn Fn(&Section<'_>) -> Result<Box<dyn Pairing>, Problem> + Send + Sync);

/// The category of pairings.
pub enum Pairs {}

impl Category for Pairs {
    const NAME: &'static str = "pairs";
    const CONTRACT: &'static str = "Between which nodes the flows of a group lead.";
    const PLACE: &'static str = "flows.NAME";
    const KIND: &'static str = "pairing such as \"random\" or { incast = { fan_in = 32 } }";
    type Build = BuildPairs;
}

/// The pairing of groups with several nodes that name none.
pub static DEFAULT: &Entry<BuildPairs> = &laws::ALL;

/// Every pairing.
pub static PAIRS: &[Entry<BuildPairs>] =
    &[laws::ALL, laws::INCAST, laws::PERMUTATION, laws::RANDOM];
