//! Traffic: what an application sends, and when.

use forebay_kernel::Stream;
use forebay_network::Traffic;
use forebay_parameters::{Entry, Problem, Section};

/// Makes the traffic of one flow after another, each with draws from the flow's own stream.
pub type TrafficFactory = Box<dyn Fn(&mut Stream) -> Box<dyn Traffic>>;

/// Reads a section of the scenario and gives the factory of its traffic.
pub type BuildTraffic = fn(&Section<'_>) -> Result<TrafficFactory, Problem>;

/// Every kind of traffic.
pub static TRAFFICS: &[Entry<BuildTraffic>] = &[];
