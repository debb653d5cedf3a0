//! Rate control: how the rate of a paced source follows what the network signals.

mod abr;
mod contract;
mod slow_start;
mod steps;
mod uncontrolled;

use forebay_parameters::{Category, Entry, Problem, Section};
use forebay_units::Span;

pub use contract::{Pace, PaceControl};

/// A rate control that a scenario describes, of any number of sources.
pub struct PaceKind {
    /// The time that it waits between changes; `None` if that is to be the round-trip time of the
    /// route.
    pub rtt: Option<Span>,
    /// Rate that it is promised, over the highest nominal rate, if it goes by explicit rates, for
    /// which its sources send resource-management cells; else `None`.
    pub explicit: Option<f64>,
    /// Makes that of one source after another, given this time.
    pub make: Box<dyn Fn(Span) -> Box<dyn PaceControl>>,
}

/// Reads a rate control from its section of the scenario.
pub type BuildPace = &'static (dyn Fn(&Section<'_>) -> Result<PaceKind, Problem> + Send + Sync);

/// The category of rate controls.
pub enum Paces {}

impl Category for Paces {
    const NAME: &'static str = "pace";
    const CONTRACT: &'static str = "How a paced source's rate follows notifications.";
    const PLACE: &'static str = "flows.NAME.paced";
    const KIND: &'static str = "rate control such as \"steps\"";
    type Build = BuildPace;
}

/// The rate control of sources that name none.
pub static DEFAULT: &Entry<BuildPace> = &steps::ENTRY;

/// Every rate control.
pub static PACES: &[Entry<BuildPace>] = &[abr::ENTRY, steps::ENTRY, uncontrolled::ENTRY];

/// Refuse a round-trip time in which nothing could be heard.
///
/// # Errors
/// What is allowed.
pub fn check_rtt(section: &Section<'_>, rtt: Span) -> Result<(), Problem> {
    if rtt < Span::from_us(1) {
        let message = "is too short for a round trip; give a time of 1 us or more";
        return Err(section.fail("rtt", message));
    }
    Ok(())
}
