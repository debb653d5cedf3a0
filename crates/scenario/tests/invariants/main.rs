//! Everything that must hold in any run, checked in runs of all kinds.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod fabrics;
mod fixed;
mod networks;
mod random;
mod scenarios;
