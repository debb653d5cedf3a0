//! Kernel of any discrete-event simulation, independent of packets: the [`EventList`], timestamped
//! channels between logical processes ([`InputChannels`]), named random [`Streams`], the trajectory
//! [`Digest`] and one [`math`] library.
//!
//! Events are ordered by (time, target, token) and by nothing else. Every random draw comes from a
//! stream named by (root seed, replication, component path), so that adding a component changes no
//! other component's numbers, and two variants of a scenario see the same arrivals (common random
//! numbers; Law, *Simulation Modeling and Analysis*, 5th edition, 2015, section 11.2).
#![doc = include_str!("../README.md")]

mod channels;
mod digest;
mod event_list;
mod ids;
mod inbox;
mod kway_merge;
mod ladder;
pub mod math;
mod memory;
mod ring_buffer;
mod streams;
mod ziggurat;
mod ziggurat_edges;

pub use channels::{ChannelTable, InputChannels, empty_queue};
pub use digest::Digest;
pub use event_list::{Event, EventList, earlier_of};
pub use ids::{ChannelId, ElementId, ReceiverId};
pub use kway_merge::{MAX_CHANNELS, Message, Receive, Timed};
pub use memory::fetch;
pub use ring_buffer::{Forward, RingBuffer};
pub use streams::{Stream, Streams};
