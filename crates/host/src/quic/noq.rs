//! noq (noq-proto), as released.

/// Calls that are other ones in its ancestor.
mod own {
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::Instant;

    use bytes::BytesMut;
    pub(super) use noq_proto as proto;
    use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};

    use crate::Datagram;

    /// The library that is adapted, with its version.
    pub(super) const VERSION: &str = "noq-proto 1.4";

    /// Its congestion controls, by name, and how they are made.
    pub(super) fn control(name: &str) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
        Some(match name {
            "cubic" => Arc::new(CubicConfig::default()),
            "newreno" => Arc::new(NewRenoConfig::default()),
            "bbr3" => Arc::new(Bbr3Config::default()),
            _ => return None,
        })
    }

    /// Reason why runs with a congestion control differ, if they do.
    pub(super) fn unseeded(control: &str) -> Option<&'static str> {
        (control == "bbr3").then_some(
            "BBRv3 of noq draws when it probes from random numbers of the operating system: \
             Bbr3Config has a seed, and no method that sets it",
        )
    }

    /// Their names.
    pub(super) const CONTROLS: [&str; 3] = ["cubic", "newreno", "bbr3"];

    pub(super) fn endpoint(
        config: proto::EndpointConfig,
        server: Option<Arc<proto::ServerConfig>>,
    ) -> proto::Endpoint {
        proto::Endpoint::new(Arc::new(config), server, false)
    }

    pub(super) fn handle(
        endpoint: &mut proto::Endpoint,
        now: Instant,
        datagram: &Datagram<'_>,
        bytes: &mut Vec<u8>,
    ) -> Option<proto::DatagramEvent> {
        let data = BytesMut::from(datagram.bytes);
        let ecn = super::adapter::codepoint(datagram.ecn);
        let path = proto::FourTuple::new(datagram.from, Some(datagram.to.ip()));
        endpoint.handle(now, path, ecn, data, bytes)
    }

    pub(super) fn poll_transmit(
        connection: &mut proto::Connection,
        now: Instant,
        bytes: &mut Vec<u8>,
    ) -> Option<proto::Transmit> {
        connection.poll_transmit(now, NonZeroUsize::MIN, bytes)
    }

    pub(super) fn moved(connection: &mut proto::Connection, now: Instant) {
        connection.handle_network_change(None, now);
    }

    /// Congestion window and smoothed round-trip time in seconds.
    pub(super) fn path(connection: &proto::Connection) -> Option<(u64, f64)> {
        let window = connection.congestion_state(proto::PathId::ZERO)?.window();
        Some((window, connection.rtt(proto::PathId::ZERO)?.as_secs_f64()))
    }

    /// Datagrams that the connection declared lost.
    pub(super) fn lost(connection: &mut proto::Connection) -> u64 {
        connection.path_stats(proto::PathId::ZERO).map_or(0, |path| path.lost_packets)
    }
}

#[path = "adapter.rs"]
mod adapter;

pub use adapter::*;
/// The library that is adapted.
pub use noq_proto as proto;
