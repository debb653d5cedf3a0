//! Tables of laws that are wrong, and laws that do what is not allowed: each is told in words that
//! name the law, what it was, and what is allowed.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(unsafe_code, reason = "a C interface: what is called reads what it is handed by pointer")]

mod decisions;
mod parameters;
mod support;
mod tables;
