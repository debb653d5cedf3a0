//! Impairments: what the wire of a link does to packets beside its propagation delay.

mod bit_errors;
mod contract;
mod duplication;
mod gilbert_elliott;
mod jitter;
mod loss;
mod outage;
mod periodic_loss;

use forebay_parameters::{Category, Entry, Problem, Section};

pub use contract::{Impairment, Passage};
pub use outage::{OutageParameters, OutagePlan, outages};

/// Makes an impairment from its section of the scenario.
pub type BuildImpairment =
    &'static (dyn Fn(&Section<'_>) -> Result<Box<dyn Impairment>, Problem> + Send + Sync);

/// The category of impairments.
pub enum Impairments {}

impl Category for Impairments {
    const NAME: &'static str = "impairment";
    const CONTRACT: &'static str = "What the wire of a link does to packets: loss, errors, jitter, \
                                    duplicates, outages.";
    const PLACE: &'static str = "links.NAME";
    const KIND: &'static str = "impairment such as { loss = { probability = 0.01 } }";
    type Build = BuildImpairment;
}

/// Every impairment.
pub static IMPAIRMENTS: &[Entry<BuildImpairment>] = &[
    bit_errors::ENTRY,
    duplication::ENTRY,
    gilbert_elliott::ENTRY,
    jitter::ENTRY,
    loss::ENTRY,
    outage::ENTRY,
    periodic_loss::ENTRY,
];

/// Refuse the value of `key` unless it is a probability.
fn check_probability(section: &Section<'_>, key: &str, value: f64) -> Result<(), Problem> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(section.fail(key, format!("{value} is not a probability; allowed are 0 to 1")))
}
