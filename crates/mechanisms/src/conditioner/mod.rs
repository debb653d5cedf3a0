//! Conditioners: meters, markers and policers.

use forebay_network::Conditioner;
use forebay_parameters::{Entry, Problem, Section};

use crate::LinkFacts;

/// Makes a conditioner from its section of the scenario.
pub type BuildConditioner = fn(&Section<'_>, &LinkFacts) -> Result<Box<dyn Conditioner>, Problem>;

/// Every conditioner.
pub static CONDITIONERS: &[Entry<BuildConditioner>] = &[];
