//! Shaping laws: when a shaper lets packets go.

mod leaky;
mod ras;

use forebay_network::ShaperLaw;
use forebay_parameters::{Category, Entry, Problem, Section};

use crate::LinkFacts;

/// Makes a shaping law from its section of the scenario.
pub type BuildShaper = &'static (
             dyn Fn(&Section<'_>, &LinkFacts) -> Result<Box<dyn ShaperLaw>, Problem> + Send + Sync
         );

/// The category of shaping laws.
pub enum Shapers {}

impl Category for Shapers {
    const NAME: &'static str = "shaper";
    const CONTRACT: &'static str = "When a shaper in front of a link lets packets go.";
    const PLACE: &'static str = "links.NAME";
    const KIND: &'static str = "shaper such as { leaky = { rate = \"2 Mbit/s\" } }";
    type Build = BuildShaper;
}

/// Every shaping law.
pub static SHAPERS: &[Entry<BuildShaper>] = &[leaky::ENTRY, ras::ENTRY];
