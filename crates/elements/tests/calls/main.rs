//! An ingress-egress aggregate of calls end to end: over wires that mark what they are told to, and
//! over a tandem of three links with meters.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod invariants;
mod probing;
mod scene;
mod signals;
