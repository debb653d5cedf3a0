//! Sharing of a buffer: how much of the memory of a switch each of its queues may hold.

mod complete;
mod contract;
mod dynamic;
mod fixed;

use forebay_parameters::{Category, Entry, Probe, Problem, Section};

pub use contract::{BufferSharing, MemoryFacts};

/// Facts that a sharing law may know of its memory.
#[derive(Clone, Copy, Debug)]
pub struct SharingFacts {
    /// Bytes of the shared part of the memory: all but what is reserved for queues.
    pub shared: u64,
    /// Queues of each port.
    pub queues: usize,
}

/// Makes a sharing law from its section of the scenario.
pub type BuildSharing = &'static (
             dyn Fn(&Section<'_>, &SharingFacts) -> Result<Box<dyn BufferSharing>, Problem>
                 + Send
                 + Sync
         );

/// The category of sharing laws.
pub enum Sharings {}

impl Category for Sharings {
    const NAME: &'static str = "sharing";
    const CONTRACT: &'static str = "How much of the memory of a switch a queue may hold.";
    const PLACE: &'static str = "switches.NAME";
    const KIND: &'static str = "sharing law such as \"dynamic\"";
    type Build = BuildSharing;
}

/// The sharing of a memory of which nothing else is said.
pub static DEFAULT: &Entry<BuildSharing> = &dynamic::ENTRY;

/// Every sharing law.
pub static SHARINGS: &[Entry<BuildSharing>] = &[complete::ENTRY, dynamic::ENTRY, fixed::ENTRY];

/// Quantities of every port with a shared memory.
const PROBES: &[Probe] = &[
    Probe {
        name: "memory_bytes",
        unit: "B",
        meaning: "What waits in the memory that the port shares, of all ports.",
    },
    Probe {
        name: "memory_threshold_bytes",
        unit: "B",
        meaning: "What queue 0 of the port could hold beyond its reservation when it was asked \
                  last.",
    },
];
