//! Congestion control: how the window follows acknowledgements and congestion.

mod abe;
mod bbr;
mod bbr3;
mod binomial;
mod cubic;
mod dctcp;
mod highspeed;
mod hystart;
mod hystart_linux;
mod ledbat;
mod prague;
mod reno;
mod scalable;
mod search;
#[cfg(test)]
mod testing;
mod vegas;
mod westwood;

use forebay_network::CongestionControl;
use forebay_parameters::{Category, Entry, Problem, Section};

/// Makes the congestion control of one connection after another.
pub type ControlFactory = Box<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

/// Reads a section of the scenario and gives the factory of its congestion control.
pub type BuildControl =
    &'static (dyn Fn(&Section<'_>) -> Result<ControlFactory, Problem> + Send + Sync);

/// The category of congestion controls.
pub enum Controls {}

impl Category for Controls {
    const NAME: &'static str = "control";
    const CONTRACT: &'static str = "TCP congestion control: how the window moves.";
    const PLACE: &'static str = "flows.NAME.tcp";
    const KIND: &'static str = "congestion control such as \"cubic\"";
    type Build = BuildControl;
}

/// The congestion control of connections that name none.
pub static DEFAULT: &Entry<BuildControl> = &reno::ENTRY;

/// The congestion control of connections that name none and have the defaults of Linux.
pub static CUBIC: &Entry<BuildControl> = &cubic::ENTRY;

/// Every congestion control.
pub static CONTROLS: &[Entry<BuildControl>] = &[
    reno::ENTRY,
    bbr::ENTRY,
    bbr3::ENTRY,
    binomial::ENTRY,
    cubic::ENTRY,
    dctcp::ENTRY,
    highspeed::ENTRY,
    ledbat::ENTRY,
    prague::ENTRY,
    scalable::ENTRY,
    vegas::ENTRY,
    westwood::ENTRY,
];

/// Builders with the defaults of the RFCs, for controls that Linux has otherwise than the RFCs.
static BY_RFCS: &[(&str, BuildControl)] = &[
    (cubic::ENTRY.name, &cubic::build_by_rfcs),
    (highspeed::ENTRY.name, &highspeed::build_by_rfcs),
];

/// Returns the builder of the congestion control `entry` where parameters have the defaults of the
/// RFCs, and not of Linux.
pub fn build_by_rfcs(entry: &Entry<BuildControl>) -> BuildControl {
    let own = BY_RFCS.iter().find(|(name, _)| *name == entry.name);
    own.map_or(entry.build, |(_, build)| *build)
}

/// Refuse what was `read` under `key` unless it is `fine`, saying what is `allowed`.
fn require(
    section: &Section<'_>,
    key: &str,
    read: impl std::fmt::Display,
    fine: bool,
    allowed: &str,
) -> Result<(), Problem> {
    if fine {
        return Ok(());
    }
    Err(section.fail(key, format!("{read} is out of range; allowed: {allowed}")))
}
