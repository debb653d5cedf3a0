//! Queues: who gets in, and who goes next.

mod adaptive_red;
mod adaptive_redn;
mod choke;
mod codel;
mod droptail;
mod dynamic_redn;
mod fifo;
mod manager;
mod partial_sharing;
mod priority;
mod red;
mod red_core;
mod red_options;
mod redn;
mod rio;
mod self_configuring;
mod sred;
mod wred;

use forebay_network::{Arrival, QueueDiscipline, QueueManager};
use forebay_parameters::{Entry, Length, Problem, Section};

use crate::LinkFacts;

pub use droptail::DropTail;
pub use fifo::Fifo;
pub use manager::Manager;

/// A queue in one of its forms.
pub enum Queue {
    /// First in, first out, decided at arrival.
    Managed(Manager),
    /// Keeps its packets itself.
    Discipline(Box<dyn QueueDiscipline>),
}

impl Queue {
    /// First in, first out, under any `law` that decides at arrival.
    fn under(law: impl QueueManager + 'static) -> Self {
        Self::Managed(Manager::Law(Box::new(law)))
    }

    /// The queue in the form that a scheduler can hold.
    #[must_use]
    pub fn into_discipline(self) -> Box<dyn QueueDiscipline> {
        match self.into_fifo() {
            Ok(fifo) => Box::new(fifo),
            Err(law) => law,
        }
    }

    /// The queue as one that is first in, first out, or in its own form.
    fn into_fifo(self) -> Result<Fifo, Box<dyn QueueDiscipline>> {
        match self {
            Self::Managed(law) => Ok(Fifo::new(law)),
            Self::Discipline(law) => Err(law),
        }
    }
}

/// The most precedences that a queue can tell apart.
const MOST_PRECEDENCES: usize = 64;

/// Makes a queue from its section of the scenario.
pub type BuildQueue = fn(&Section<'_>, &LinkFacts) -> Result<Queue, Problem>;

/// The queue of links that name none: tail drop without limit.
pub static DEFAULT: &Entry<BuildQueue> = &droptail::ENTRY;

/// Every queue.
pub static QUEUES: &[Entry<BuildQueue>] = &[
    adaptive_red::ENTRY,
    adaptive_redn::ENTRY,
    choke::ENTRY,
    codel::ENTRY,
    droptail::ENTRY,
    partial_sharing::ENTRY,
    priority::ENTRY,
    red::ENTRY,
    redn::ENTRY,
    rio::ENTRY,
    self_configuring::ENTRY,
    sred::ENTRY,
    wred::ENTRY,
];

/// Whether a buffer of `limit` has room for an arriving packet.
#[inline(always)]
fn fits(limit: Option<Length>, arrival: &Arrival<'_>) -> bool {
    // A packet that finds the link idle goes straight to the transmitter and needs no buffer.
    arrival.idle_since.is_some()
        || match limit {
            None => true,
            Some(Length::Packets(limit)) => u64::from(arrival.backlog.packets) < limit,
            Some(Length::Bytes(limit)) => {
                arrival.backlog.bytes.saturating_add(u64::from(arrival.packet.size)) <= limit
            }
        }
}
