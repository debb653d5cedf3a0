//! Links: conditioners, a queue, a transmitter and a propagation delay in series.
//!
//! At equal times a departure precedes an arrival: a packet that arrives at the instant at which a
//! transmission ends finds the transmitter free. Packets in flight are kept inside the link. The
//! event list holds one event for each busy link, and a hop costs one event unless a queue
//! discipline must choose the next packet.
//!
//! Execution is conservative, with lookahead (Chandy and Misra, CACM 24 (1981) 198-206; Fujimoto,
//! *Parallel and Distributed Simulation Systems*, 2000). Where transmissions are scheduled at
//! arrival, what leaves a link is known at least one propagation delay early. If it goes to sinks,
//! or to links and hosts whose packets all come from links of that kind, it is sent ahead over
//! their input channels and the hop costs no event. The receiving link processes its pending
//! packets in a batch: all that have arrived by the time at which it must act on the first of them,
//! which is not before that one could have reached the far end, and all whose predecessors are
//! known. In the same way it accepts packets late from deferred hosts, by less than its propagation
//! delay. Results do not depend on any of this: each packet is processed in the order and with the
//! time of its arrival.

mod changes;
mod core;
mod discipline;
mod fifo;
mod fixed;
mod kind;
mod memory;
mod memory_rows;
mod notifier;
mod queueing;
mod schedule;
mod scheduled;
pub(super) mod transmitter;
mod variable;
mod waiting;

use forebay_kernel::Stream;
use forebay_laws::queue::Queue;
use forebay_network::LinkId;
use forebay_parameters::Entry;
use forebay_units::Span;

pub use changes::{ChangeParameters, RateStepParameters};
pub use core::LinkCore;
pub use fixed::Fixed;
pub use kind::{Changes, Link, LinkKind, LinkKinds, LinkReader, ReadLink, link_keys, read_link};
pub use memory::{MemorySize, Share, SharedMemory};
pub use memory_rows::SwitchResult;
pub use notifier::Notifier;
pub use schedule::{Capacity, DelaySchedule, OPPORTUNITY_BYTES, Opportunities, RateSchedule};
pub use transmitter::Conditioning;
pub use variable::Variable;

/// Every kind of link. Of those in place, the first takes a link whose keys it has.
pub static LINKS: &[Entry<LinkKind>] = &[changes::ENTRY, fixed::ENTRY];

/// The parts of a link, whatever its kind.
pub struct LinkParts {
    /// The number of the link in the network.
    pub link: LinkId,
    /// Conditioners in the order in which packets pass them.
    pub conditioning: Vec<Conditioning>,
    /// The queue, and the random stream that it draws from.
    pub queue: (Queue, Stream),
    /// Background traffic: the transmission time of a packet of lower priority, with a random
    /// stream; `None` if there is none.
    pub background: Option<BackgroundTraffic>,
    /// Congestion detection, with the form of its notifications.
    pub notifier: Option<Notifier>,
    /// Share in the memory of the switch whose port it is, if that has one.
    pub share: Option<Share>,
}

/// Background traffic of lower priority that fills the link whenever it would be idle, not
/// simulated packet by packet: a packet that finds the link idle waits for the residual
/// transmission time of a background packet, which is uniform over its transmission time.
pub type BackgroundTraffic = (Span, Stream);

/// Timer token: a packet has reached the far end.
pub(super) const OUT: u32 = 0;
