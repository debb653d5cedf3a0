//! Congestion control: how the window follows acknowledgements and congestion.

mod cubic;
mod highspeed;
mod reno;

use forebay_network::CongestionControl;
use forebay_parameters::{Entry, Problem, Section};

/// Makes the congestion control of one connection after another.
pub type ControlFactory = Box<dyn Fn() -> Box<dyn CongestionControl>>;

/// Reads a section of the scenario and gives the factory of its congestion control.
pub type BuildControl = fn(&Section<'_>) -> Result<ControlFactory, Problem>;

/// The congestion control of connections that name none.
pub static DEFAULT: &Entry<BuildControl> = &reno::ENTRY;

/// Every congestion control.
pub static CONTROLS: &[Entry<BuildControl>] = &[reno::ENTRY, cubic::ENTRY, highspeed::ENTRY];
