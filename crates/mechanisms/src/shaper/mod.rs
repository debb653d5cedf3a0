//! Shaping laws: when a shaper lets packets go.

mod leaky;
mod ras;

use forebay_network::ShaperLaw;
use forebay_parameters::{Entry, Problem, Section};

use crate::LinkFacts;

/// Makes a shaping law from its section of the scenario.
pub type BuildShaper = fn(&Section<'_>, &LinkFacts) -> Result<Box<dyn ShaperLaw>, Problem>;

/// Every shaping law.
pub static SHAPERS: &[Entry<BuildShaper>] = &[leaky::ENTRY, ras::ENTRY];
