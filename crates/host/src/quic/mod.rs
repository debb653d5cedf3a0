//! Adapter of two QUIC stacks that have the same calls, quinn and its descendant noq: the file
//! `adapter.rs`, once for each, over what differs.

#![expect(clippy::disallowed_types, reason = "these stacks take an Instant; see Clock")]

#[cfg(feature = "noq")]
#[path = "noq.rs"]
pub mod noq;

#[cfg(feature = "quinn")]
#[path = "quinn.rs"]
pub mod quinn;
