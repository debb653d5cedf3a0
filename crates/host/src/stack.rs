//! Stacks as tables know them: what makes the two ends of a connection.

use std::net::SocketAddr;

use crate::endpoint::{App, Both, Endpoint, Party};

/// A stack with its application, which becomes a host where it is attached.
pub struct Member {
    party: Box<dyn Party>,
    /// True if its datagrams are whole IP packets.
    pub(crate) bare: bool,
}

impl Member {
    /// `endpoint`, on which `app` runs.
    #[must_use]
    pub fn new<E: Endpoint + 'static, A: App<E> + 'static>(endpoint: E, app: A) -> Self {
        Self { party: Box::new(Both { endpoint, app }), bare: false }
    }

    /// The same, whose datagrams are whole IP packets, as those of a kernel: the network gives them
    /// no headers of UDP and IP.
    #[must_use]
    pub fn bare(self) -> Self {
        Self { bare: true, ..self }
    }

    pub(crate) fn party(self) -> Box<dyn Party> {
        self.party
    }
}

/// A stack with a configuration, such as its congestion control: it makes the two ends of a
/// connection over which data are transferred.
pub trait Stack: Send + Sync {
    /// Its name in tables: `quinn cubic`.
    fn name(&self) -> &str;

    /// The library and its version: `quinn-proto 0.11.19`.
    fn version(&self) -> &str;

    /// Reason why two runs of the same seed differ, if they do: random numbers that cannot be
    /// seeded. Then no run is compared with another digit by digit.
    fn unseeded(&self) -> Option<&str> {
        None
    }

    /// The two ends of a connection: the server, which sends, and the client, which connects to it
    /// and reads.
    fn pair(&self, transfer: &Transfer) -> [Member; 2];
}

/// Data that are transferred over a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Bytes; without end if absent.
    pub bytes: Option<u64>,
    /// The address of the server.
    pub server: SocketAddr,
    /// The address of the client.
    pub client: SocketAddr,
    /// Seed of what random numbers of the stack can be seeded, another for each connection and
    /// replication.
    pub seed: u64,
}
