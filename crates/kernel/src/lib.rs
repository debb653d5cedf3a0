//! What every discrete-event simulation needs and no packet: the [`Agenda`], named random
//! [`Streams`], the trajectory [`Digest`] and one [`math`] library.
//!
//! Events are ordered by (time, target, token) and by nothing else. Every random draw comes from a
//! stream named by (root seed, replication, component path), so that adding a component shifts
//! nobody's numbers and two variants of a scenario see the same arrivals.

mod agenda;
mod digest;
mod ladder;
pub mod math;
mod memory;
mod ring;
mod streams;
mod ziggurat;
mod ziggurat_edges;

pub use agenda::{Agenda, Event, sooner};
pub use digest::Digest;
pub use memory::fetch;
pub use ring::{Passing, Ring};
pub use streams::{Stream, Streams};
