//! What the edge nodes of a PCN domain do: flow admission and flow termination of an aggregate.

mod admission;
mod measurement;
mod termination;

use forebay_network::{AdmissionControl, FlowTermination};
use forebay_parameters::{Problem, Section};
use forebay_units::Span;

pub use admission::ADMISSIONS;
pub use termination::TERMINATIONS;

/// Makes an admission law from its section of the scenario.
pub type BuildAdmission = fn(&Section<'_>) -> Result<Box<dyn AdmissionControl>, Problem>;

/// Makes a termination law from its section of the scenario.
pub type BuildTermination = fn(&Section<'_>) -> Result<Box<dyn FlowTermination>, Problem>;

/// Refuse an interval of measurement over which there is no rate.
fn check_interval(section: &Section<'_>, interval: Span) -> Result<(), Problem> {
    if interval < Span::from_ms(1) {
        let message = "is too short to measure a rate; allowed are intervals from 1 ms";
        return Err(section.fail("interval", message));
    }
    Ok(())
}

/// Refuse a limit that no congestion level could be compared with.
fn check_limit(section: &Section<'_>, limit: f64) -> Result<(), Problem> {
    if !(0.0..=1.0).contains(&limit) {
        let message = format!("{limit} is not a congestion level; allowed are 0 to 1");
        return Err(section.fail("limit", message));
    }
    Ok(())
}
