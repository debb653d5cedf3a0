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

mod discipline;
mod fifo;
mod notifier;
mod queueing;
mod schedule;
mod scheduled;
pub(super) mod transmitter;
mod variable;
mod waiting;

use forebay_kernel::Stream;
use forebay_laws::queue::Queue;
use forebay_network::{Element, LinkId};
use forebay_units::{Rate, Span};

use discipline::Discipline;
use fifo::FifoLink;
pub use notifier::Notifier;
use queueing::Queueing;
pub use schedule::{Capacity, DelaySchedule, OPPORTUNITY_BYTES, Opportunities, RateSchedule};
use scheduled::ScheduledLink;
pub use transmitter::Conditioning;
use transmitter::Transmitter;
use variable::VariableLink;

/// The parts of a link.
pub struct LinkParts {
    /// The number of the link in the network.
    pub link: LinkId,
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Capacity over time in place of the rate, and propagation delays over time in place of the
    /// delay, if these change.
    pub changes: Option<(Capacity, DelaySchedule)>,
    /// Conditioners in the order in which packets pass them.
    pub conditioning: Vec<Conditioning>,
    /// The queue, and the random stream that it draws from.
    pub queue: (Queue, Stream),
    /// Background traffic: the transmission time of a packet of lower priority, with a random
    /// stream; `None` if there is none.
    pub background: Option<BackgroundTraffic>,
    /// Congestion detection, with the form of its notifications.
    pub notifier: Option<Notifier>,
}

/// Background traffic of lower priority that fills the link whenever it would be idle, not
/// simulated packet by packet: a packet that finds the link idle waits for the residual
/// transmission time of a background packet, which is uniform over its transmission time.
pub type BackgroundTraffic = (Span, Stream);

/// A link in the form that suits its queue.
#[must_use]
pub fn link(parts: LinkParts) -> Box<dyn Element> {
    let LinkParts { link, rate, delay, conditioning, queue: (queue, stream), .. } = parts;
    let LinkParts { background, notifier, changes, .. } = parts;
    if let Some(changes) = changes {
        let discipline = Discipline::new(link, (queue.into_discipline(), stream), notifier);
        return Box::new(VariableLink::new(link, changes, conditioning, discipline));
    }
    let transmitter = Transmitter::new(link, rate, delay, background);
    // A congestion detector must see each packet at the time of its arrival, so such a link does
    // not schedule transmissions at arrival.
    let queue = match &notifier {
        Some(_) => Queue::Disc(queue.into_discipline()),
        None => queue,
    };
    let policy = match queue {
        Queue::Fifo(law) => law,
        Queue::Disc(law) => {
            return if law.is_work_conserving() {
                let discipline = Discipline::new(link, (law, stream), notifier);
                Box::new(ScheduledLink::<false>::new(transmitter, conditioning, discipline))
            } else {
                let discipline = Discipline::new(link, (law, stream), notifier);
                Box::new(ScheduledLink::<true>::new(transmitter, conditioning, discipline))
            };
        }
    };
    Box::new(FifoLink::new(policy, Queueing::new(transmitter, conditioning, stream)))
}

/// Timer token: a packet has reached the far end.
pub(super) const OUT: u32 = 0;
