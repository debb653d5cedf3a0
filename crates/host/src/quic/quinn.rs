//! quinn (quinn-proto), as released.

/// Calls that are other ones in its descendant.
mod own {
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::Instant;

    use bytes::BytesMut;
    pub(super) use quinn_proto as proto;
    use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};

    use crate::Datagram;

    /// The library that is adapted, with its version.
    pub(super) const VERSION: &str = "quinn-proto 0.11";

    /// Its congestion controls, by name, and how they are made.
    pub(super) fn control(name: &str) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
        Some(match name {
            "cubic" => Arc::new(CubicConfig::default()),
            "newreno" => Arc::new(NewRenoConfig::default()),
            "bbr" => Arc::new(BbrConfig::default()),
            _ => return None,
        })
    }

    /// Reason why runs with a congestion control differ, if they do.
    pub(super) fn unseeded(control: &str) -> Option<&'static str> {
        (control == "bbr")
            .then_some("BBR of quinn draws its phase from random numbers of the operating system")
    }

    /// Their names.
    pub(super) const CONTROLS: [&str; 3] = ["cubic", "newreno", "bbr"];

    pub(super) fn endpoint(
        config: proto::EndpointConfig,
        server: Option<Arc<proto::ServerConfig>>,
    ) -> proto::Endpoint {
        proto::Endpoint::new(Arc::new(config), server, false, None)
    }

    pub(super) fn handle(
        endpoint: &mut proto::Endpoint,
        now: Instant,
        datagram: &Datagram<'_>,
        bytes: &mut Vec<u8>,
    ) -> Option<proto::DatagramEvent> {
        let data = BytesMut::from(datagram.bytes);
        let ecn = super::adapter::codepoint(datagram.ecn);
        endpoint.handle(now, datagram.from, Some(datagram.to.ip()), ecn, data, bytes)
    }

    pub(super) fn poll_transmit(
        connection: &mut proto::Connection,
        now: Instant,
        bytes: &mut Vec<u8>,
    ) -> Option<proto::Transmit> {
        connection.poll_transmit(now, NonZeroUsize::MIN.get(), bytes)
    }

    pub(super) fn moved(connection: &mut proto::Connection, _now: Instant) {
        connection.local_address_changed();
    }

    /// Congestion window and smoothed round-trip time in seconds.
    pub(super) fn path(connection: &proto::Connection) -> Option<(u64, f64)> {
        Some((connection.congestion_state().window(), connection.rtt().as_secs_f64()))
    }

    /// Datagrams that the connection declared lost.
    pub(super) fn lost(connection: &mut proto::Connection) -> u64 {
        connection.stats().path.lost_packets
    }
}

#[path = "adapter.rs"]
mod adapter;

pub use adapter::*;
/// The library that is adapted.
pub use quinn_proto as proto;
