//! Flow admission at the edge nodes of a PCN domain: which new calls of an aggregate are blocked.

mod capacity;
mod congestion_level;
mod marking_change;
mod stop_timer;

use forebay_network::PcnMark;
use forebay_parameters::{Category, Entry, Problem, Section};

use crate::pcn_edge::{AdmissionControl, Leaving};

/// Makes an admission law from its section of the scenario.
pub type BuildAdmission =
    &'static (dyn Fn(&Section<'_>) -> Result<Box<dyn AdmissionControl>, Problem> + Send + Sync);

/// The category of admission laws.
pub enum Admissions {}

impl Category for Admissions {
    const NAME: &'static str = "admission";
    const CONTRACT: &'static str = "Which new calls of an aggregate are blocked.";
    const PLACE: &'static str = "aggregates.NAME";
    const KIND: &'static str = "admission law such as \"stop_timer\"";
    type Build = BuildAdmission;
}

/// Every admission law.
pub static ADMISSIONS: &[Entry<BuildAdmission>] =
    &[capacity::ENTRY, congestion_level::ENTRY, marking_change::ENTRY, stop_timer::ENTRY];

/// Returns `Some(true)` if a packet is AS-marked in the sense of three-state marking; `None` if it
/// says nothing about admission. An ET mark hides what the AR meter would have said: unless it
/// counts as AS, it is no sign that the aggregate is below its admissible rate either.
fn stops(packet: &Leaving, excess_stops: bool) -> Option<bool> {
    match packet.mark? {
        PcnMark::Unmarked => Some(false),
        PcnMark::Threshold => Some(true),
        PcnMark::Excess => excess_stops.then_some(true),
    }
}

/// Packets for the tests of admission laws.
#[cfg(test)]
mod samples {
    use super::{Leaving, PcnMark};
    use forebay_units::{Span, Time};

    pub const NM: Option<PcnMark> = Some(PcnMark::Unmarked);
    pub const AS: Option<PcnMark> = Some(PcnMark::Threshold);
    pub const ET: Option<PcnMark> = Some(PcnMark::Excess);

    pub fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    pub fn packet(mark: Option<PcnMark>, size: u16) -> Leaving {
        Leaving { now: Time::ZERO, mark, size, call: 0 }
    }
}
