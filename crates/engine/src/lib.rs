//! Execution of a network by discrete-event simulation with conservative logical processes, in one
//! thread or in several.
//!
//! `forebay-network` says what a packet meets; this crate decides in which order and how far ahead
//! elements are executed, and no result depends on that. Each file is named after what it does in
//! the words of R. M. Fujimoto, *Parallel and Distributed Simulation Systems*, 2000.
#![doc = include_str!("../README.md")]

mod assignment;
mod boundary;
mod host_group;
mod lookahead;
mod message_batch;
mod network;
mod parallel;
mod partition;
mod prefetch;
mod run_loop;
mod slot;
#[cfg(test)]
mod stubs;

pub use network::{Network, Progress, Traffic};
