//! Queues: who gets in, and who goes next.

mod droptail;

use forebay_network::{QueueDiscipline, QueueManager};
use forebay_parameters::{Entry, Problem, Section};

use crate::LinkFacts;

/// A queue in one of its two forms.
pub enum Queue {
    /// First in, first out, decided at arrival.
    Managed(Box<dyn QueueManager>),
    /// Keeps its packets itself.
    Discipline(Box<dyn QueueDiscipline>),
}

/// Makes a queue from its section of the scenario.
pub type BuildQueue = fn(&Section<'_>, &LinkFacts) -> Result<Queue, Problem>;

/// Every queue.
pub static QUEUES: &[Entry<BuildQueue>] = &[droptail::ENTRY];
