//! Explicit rates: how a port divides its link among sources that ask for a rate.

mod erica;

use forebay_network::ExplicitRate;
use forebay_parameters::{Entry, Problem, Section};

use crate::LinkFacts;

/// Makes a law of explicit rates from its section of the scenario.
pub type BuildExplicitRate = fn(&Section<'_>, &LinkFacts) -> Result<Box<dyn ExplicitRate>, Problem>;

/// Every law of explicit rates.
pub static EXPLICIT_RATES: &[Entry<BuildExplicitRate>] = &[erica::ENTRY];
