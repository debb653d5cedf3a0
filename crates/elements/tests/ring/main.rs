//! Packet rings end to end.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod conservation;
mod order;
mod scene;
mod shares;
mod slides;
