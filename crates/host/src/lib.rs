#![cfg_attr(feature = "quinn", doc = include_str!("../README.md"))]
//!
//! The congestion window of a real download by quinn through FQ-CoDel, beside that of Forebay's
//! CUBIC (`examples/host-quinn`): both flows are queued apart and get half the link, 10 Mbit/s.
#![doc = include_str!("../window.svg")]
#![cfg_attr(
    all(feature = "quinn", feature = "noq"),
    expect(clippy::duplicate_mod, reason = "two stacks with the same calls have one adapter")
)]

mod clock;
mod element;
mod endpoint;
mod error;
mod host;
mod network;
pub mod networks;
pub mod program;
#[cfg(any(feature = "quinn", feature = "noq"))]
pub mod quic;
#[cfg(any(feature = "quinn", feature = "noq"))]
mod quic_tls;
mod report;
pub mod script;
mod stack;
pub mod table;
mod transport;
mod wired;

pub use clock::Clock;
pub use endpoint::{App, Datagram, Endpoint, Progress, Transmit};
pub use error::HostError;
pub use forebay_network::Ecn;
pub use forebay_network::record::RecordTable;
pub use forebay_scenario::Limits;
pub use forebay_scenario::RunResult;
pub use forebay_units::{Span, Time};
pub use host::{MAX_AT_ONCE, MAX_IDLE_CALLS, fail};
pub use network::Network;
pub use report::{HostId, HostReport, Report};
pub use script::Script;
pub use stack::{Member, Stack, Transfer};

/// The name in the certificate for tests.
pub const SERVER_NAME: &str = "forebay.example";
/// A certificate of fixed length, valid until 2120, of which anybody has the key, as PEM.
pub const CERTIFICATE: &str = include_str!("../certificates/certificate.pem");
/// Its key, as PEM.
pub const KEY: &str = include_str!("../certificates/key.pem");
