//! TCP end to end: real senders and receivers over pipes that lose and mark what they are told to.
//!
//! Unless a test says otherwise: segments of 1000 B with 40 B of headers, a pipe without
//! transmission time and 50 ms each way, so that everything happens at multiples of the round-trip
//! time of 100 ms; an acknowledgement for each segment; no limited transmit. Times are in ms,
//! windows in segments, and segments count from 0.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod ecn;
mod growth;
mod limits;
mod newreno;
mod pacing;
mod reductions;
mod sack;
mod scene;
mod soak;
mod timers;
