//! Scripts that hold TCP to its standards: packets that arrive, packets that must be sent, and what
//! must hold of the sender in between.
//!
//! The language is a subset of that of packetdrill (N. Cardwell et al., packetdrill: scriptable
//! network stack testing, from sockets to packets, *USENIX ATC*, 2013). [`Script::read`] reads any
//! text, or says where it is not of the language; [`Script::run`] drives the sender or the receiver
//! of `forebay_elements::tcp`, the same that scenarios use, under a virtual clock.
//! Nothing is tolerated: a packet is sent at the instant that the script names, or the script
//! fails.
//!
//! A script counts bytes, the first of which has number 1; the model counts segments. A connection
//! exists from the first: handshakes set parameters and are not exchanged.
#![doc = include_str!("../README.md")]

mod cursor;
mod document;
mod expression;
mod language;
mod numbering;
mod problem;
mod read;
mod report;
mod run;
mod script;
mod seen;
mod segment;
mod settings;

pub use document::run_text;
pub use expression::Assertion;
pub use language::{
    CONSTANTS, IGNORED_CALLS, IGNORED_ELSE, IGNORED_FLAGS, IGNORED_LINES, IGNORED_OPTIONS, Ignored,
    NAMES, Name, language,
};
pub use problem::Problem;
pub use report::Report;
pub use script::{Action, Claim, Event, Heading, Role, Script};
pub use segment::{EcnField, Flags, Offers, Segment};
