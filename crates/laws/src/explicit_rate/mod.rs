//! Explicit rates: how a port divides its link among sources that ask for a rate.

mod contract;
mod erica;
mod resource_cell;

use forebay_parameters::{Category, Entry, Problem, Section};

use crate::LinkFacts;

pub use contract::ExplicitRate;
pub use resource_cell::{CellRate, ResourceCell};

/// Makes a law of explicit rates from its section of the scenario.
pub type BuildExplicitRate = &'static (
             dyn Fn(&Section<'_>, &LinkFacts) -> Result<Box<dyn ExplicitRate>, Problem>
                 + Send
                 + Sync
         );

/// The category of laws of explicit rates.
pub enum ExplicitRates {}

impl Category for ExplicitRates {
    const NAME: &'static str = "explicit_rate";
    const CONTRACT: &'static str = "How a port divides its link among sources that ask for a rate.";
    const PLACE: &'static str = "links.NAME";
    const KIND: &'static str = "law of explicit rates such as \"erica\"";
    type Build = BuildExplicitRate;
}

/// Every law of explicit rates.
pub static EXPLICIT_RATES: &[Entry<BuildExplicitRate>] = &[erica::ENTRY];
