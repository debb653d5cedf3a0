//! Real protocol stacks on simulated networks, in virtual time.

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
mod transport;

pub use clock::Clock;
pub use endpoint::{App, Datagram, Endpoint, Progress, Transmit};
pub use error::HostError;
pub use forebay_network::Ecn;
pub use forebay_scenario::Limits;
pub use forebay_units::{Span, Time};
pub use host::{MAX_AT_ONCE, MAX_IDLE_CALLS};
pub use network::{Member, Network};
pub use report::{HostId, HostReport, Report};
pub use script::Script;
pub use stack::{Stack, Transfer};
