//! Queues: admission of packets (drop policies) and the order of service (queue disciplines).

mod adaptive_red;
mod adaptive_redn;
mod cake;
mod choke;
mod cobalt;
mod codel;
mod droptail;
mod drr;
mod dualpi2;
mod ets;
mod fq_codel;
mod fq_pie;
mod gred;
mod htb;
mod partial_sharing;
mod parts;
mod pie;
mod priority;
mod push_out;
mod red;
mod redn;
mod rio;
mod scfq;
mod self_configuring;
mod sfq;
mod sred;
mod steered;
mod step;
mod stfq;
mod tbf;
mod wf2q_plus;
mod wfq;
mod wred;
mod wrr;

use forebay_network::{Arrival, Backlog, DropPolicy, NoteKind, QueueDisc};
use forebay_parameters::{Category, Entry, Length, Problem, Section};

use crate::LinkFacts;

pub use droptail::DropTail;
pub use parts::any_drop_policy::AnyDropPolicy;
pub use parts::classful::{ClassOptions, Heads, PROBES as SCHEDULER_PROBES, Scheduler};
pub use parts::fifo::Fifo;
pub use steered::steered;

/// Kinds of the notes that laws of queues take: a record of notes has a table for each.
pub static NOTES: &[&NoteKind] = &[&parts::adjustment::ADJUSTMENTS];

/// A queue in one of its forms.
pub enum Queue {
    /// First in, first out, under a drop policy that decides at arrival.
    Fifo(AnyDropPolicy),
    /// A queue discipline, which keeps its packets itself.
    Disc(Box<dyn QueueDisc>),
}

impl Queue {
    /// First in, first out, under any drop policy `law`.
    pub fn under(law: impl DropPolicy + 'static) -> Self {
        Self::Fifo(AnyDropPolicy::Law(Box::new(law)))
    }

    /// Returns true if it holds whatever comes: tail drop without limit.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        matches!(self, Self::Fifo(AnyDropPolicy::Tail(law)) if law.is_unlimited())
    }

    /// Returns true if a packet leaves it whenever one waits ([`QueueDisc::is_work_conserving`]).
    #[must_use]
    pub fn is_work_conserving(&self) -> bool {
        match self {
            Self::Fifo(_) => true,
            Self::Disc(law) => law.is_work_conserving(),
        }
    }

    /// Returns true if it tells how full it is, whatever the precedence ([`QueueDisc::fullness`]).
    #[must_use]
    pub fn tells_fullness(&self) -> bool {
        match self {
            Self::Fifo(law) => law.limit().is_some(),
            Self::Disc(law) => {
                (0..MAX_PRECEDENCES as u8).all(|precedence| law.fullness(precedence).is_some())
            }
        }
    }

    /// The queue as a queue discipline, which a scheduler can hold.
    #[must_use]
    pub fn into_discipline(self) -> Box<dyn QueueDisc> {
        match self.into_fifo() {
            Ok(fifo) => Box::new(fifo),
            Err(law) => law,
        }
    }

    /// The queue as a FIFO, or as the queue discipline that it is.
    fn into_fifo(self) -> Result<Fifo, Box<dyn QueueDisc>> {
        match self {
            Self::Fifo(law) => Ok(Fifo::new(law)),
            Self::Disc(law) => Err(law),
        }
    }
}

/// The maximum number of precedences that a queue distinguishes.
const MAX_PRECEDENCES: usize = 64;

/// Builds a queue from its section of the scenario.
pub type BuildQueue =
    &'static (dyn Fn(&Section<'_>, &LinkFacts) -> Result<Queue, Problem> + Send + Sync);

/// The category of queues.
pub enum Queues {}

impl Category for Queues {
    const NAME: &'static str = "queue";
    const CONTRACT: &'static str = "Who gets into a link's queue, and who goes next.";
    const PLACE: &'static str = "links.NAME";
    const KIND: &'static str = "queue such as \"droptail\" or { red = {} }";
    type Build = BuildQueue;
}

/// The queue of links that name none: tail drop without limit.
pub static DEFAULT: &Entry<BuildQueue> = &droptail::ENTRY;

/// Every queue.
pub static QUEUES: &[Entry<BuildQueue>] = &[
    adaptive_red::ENTRY,
    adaptive_redn::ENTRY,
    cake::ENTRY,
    choke::ENTRY,
    cobalt::ENTRY,
    codel::ENTRY,
    droptail::ENTRY,
    drr::ENTRY,
    dualpi2::ENTRY,
    ets::ENTRY,
    fq_codel::ENTRY,
    fq_pie::ENTRY,
    gred::ENTRY,
    htb::ENTRY,
    partial_sharing::ENTRY,
    pie::ENTRY,
    priority::ENTRY,
    push_out::ENTRY,
    red::ENTRY,
    redn::ENTRY,
    rio::ENTRY,
    scfq::ENTRY,
    self_configuring::ENTRY,
    sfq::ENTRY,
    sred::ENTRY,
    step::ENTRY,
    stfq::ENTRY,
    tbf::ENTRY,
    wf2q_plus::ENTRY,
    wfq::ENTRY,
    wred::ENTRY,
    wrr::ENTRY,
];

/// Returns true if a buffer of `limit` has room for an arriving packet.
#[inline(always)]
#[must_use]
pub fn fits(limit: Option<Length>, arrival: &Arrival<'_>) -> bool {
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

/// The part of a buffer of `limit` that `backlog` takes; `None` if it has no limit.
#[must_use]
pub fn fullness(limit: Option<Length>, backlog: Backlog) -> Option<f64> {
    let (taken, limit) = match limit? {
        Length::Packets(limit) => (u64::from(backlog.packets), limit),
        Length::Bytes(limit) => (backlog.bytes, limit),
    };
    Some(if limit == 0 { 1.0 } else { taken as f64 / limit as f64 })
}
