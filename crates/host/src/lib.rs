//! Real protocol stacks on simulated networks, in virtual time.

mod clock;
mod difference;
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
mod stack;
mod transport;

pub use clock::Clock;
pub use endpoint::{App, Datagram, Endpoint, Progress, Transmit};
pub use error::HostError;
pub use forebay_network::Ecn;
pub use forebay_scenario::Limits;
pub use forebay_units::{Span, Time};
pub use host::{MAX_AT_ONCE, MAX_IDLE_CALLS, fail};
pub use network::{HostId, Member, Network};
pub use report::{HostReport, Report};
pub use stack::{Stack, Transfer};

/// The name in the certificate for tests.
pub const SERVER_NAME: &str = "forebay.example";
/// A certificate of fixed length, valid until 2120, of which anybody has the key, as PEM.
pub const CERTIFICATE: &str = include_str!("../certificates/certificate.pem");
/// Its key, as PEM.
pub const KEY: &str = include_str!("../certificates/key.pem");
