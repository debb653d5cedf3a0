//! Bodies of the fuzz targets. Each takes bytes and panics when what it holds against a plain model
//! differs from it, or when text that a user could write brings a panic instead of an error.
//!
//! The same bodies run twice: over kept corpora and seeded random bytes (`tests/bodies.rs`), on any
//! tool chain, and under coverage-guided search in `validation/fuzz/` of the repository (`make
//! validate ONLY=fuzz`).

mod capture;
mod event_list;
mod kway_merge;
mod ring_buffer;
mod scoreboard;
mod text;

pub use capture::capture;
pub use event_list::event_list;
pub use kway_merge::kway_merge;
pub use ring_buffer::ring_buffer;
pub use scoreboard::scoreboard;
pub use text::{assignment, quantity, scenario_text, tcp_script};

/// Function that is run on bytes.
pub type Body = fn(&[u8]);

/// The bodies by the names of their targets.
pub const BODIES: &[(&str, Body)] = &[
    ("assignment", assignment),
    ("capture", capture),
    ("event_list", event_list),
    ("kway_merge", kway_merge),
    ("quantity", quantity),
    ("ring_buffer", ring_buffer),
    ("scenario_text", scenario_text),
    ("scoreboard", scoreboard),
    ("tcp_script", tcp_script),
];

/// The body of a target.
///
/// # Panics
/// If there is no such target.
#[must_use]
pub fn body(name: &str) -> Body {
    BODIES.iter().find(|(known, _)| *known == name).expect("a target in the table").1
}
