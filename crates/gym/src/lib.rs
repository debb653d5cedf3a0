//! Environments for agents that learn: a run in which laws do what was decided outside.
//!
//! An *agent* is a law whose decision is held from step to step: a queue that drops with a given
//! probability, a congestion control with a given window or rate, a scheduler with given weights, a
//! shaper with a given rate, an admission with a given probability. An [`Environment`] puts agents
//! in the places of a scenario that a [`Template`] names, and advances the run step by step: the
//! actions are written, the run continues to the end of the step and stops between events, and what
//! is observed is read. The reading changes nothing, and what is decided is a function of actions,
//! seed and replication: the same give the same digest, wherever and however many run side by side.
#![doc = include_str!("../README.md")]

mod acting;
mod admission;
mod control;
mod environment;
mod error;
mod hand;
mod observing;
mod places;
mod queue;
mod scale;
mod shaper;
mod template;

use forebay_laws::admission::Admissions;
use forebay_laws::control::Controls;
use forebay_laws::queue::Queues;
use forebay_laws::shaper::Shapers;
use forebay_parameters::Registry;

pub use acting::{Action, Acts};
pub use environment::{Environment, State};
pub use error::GymError;
pub use scale::Normalization;
pub use template::{Every, Template, series};

/// The name of agents among the mechanisms of their category.
const AGENT: &str = "agent";

/// The mechanisms of `registry`, and an agent in each category in which there is one.
///
/// # Errors
/// If there is a mechanism of that name already.
fn with_agents(registry: &Registry) -> Result<Registry, String> {
    let mut all = registry.clone();
    all.add::<Queues>(&[queue::ENTRY, queue::SCHEDULER])?;
    all.add::<Controls>(&[control::ENTRY])?;
    all.add::<Shapers>(&[shaper::ENTRY])?;
    all.add::<Admissions>(&[admission::ENTRY])?;
    Ok(all)
}
