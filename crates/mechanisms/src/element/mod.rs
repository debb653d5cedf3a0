//! Elements: boxes in which time passes.

pub mod allocator;
pub mod calls;
pub mod link;
pub mod paced;
pub mod policer;
pub mod ring;
pub mod shaper;
pub mod tcp;
pub mod udp;

mod detecting;
mod line;
mod scheduled;
mod waiters;

use forebay_units::Time;

/// A group of flows alike but for their start: what sources need to know of the network.
#[derive(Clone, Debug)]
pub struct FlowGroup {
    /// Component path, such as `flows.tcp1`: names the random streams.
    pub path: String,
    /// Number of its first flow; the others follow.
    pub first: u32,
    /// When each flow starts.
    pub starts: Vec<Time>,
    /// When all stop sending new data; [`Time::NEVER`] for no such time.
    pub stop: Time,
    /// Number of the route that their packets take.
    pub route: u32,
    /// Precedence with which their packets (and acknowledgements) set out; conditioners may change
    /// it.
    pub precedence: u8,
}
