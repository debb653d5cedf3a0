//! Facts of the engine as the header has them.

use forebay_network::{Packet, PacketKind};
use forebay_units::Time;

use crate::abi::{NEVER, PacketFacts, packet_kind};
use crate::law::signed;

/// Facts of no packet.
pub(crate) const NO_PACKET: PacketFacts =
    PacketFacts { bytes: 0, ecn: 0, dscp: 0, precedence: 0, flow: 0, packet_kind: 0 };

/// Facts of a packet.
#[inline]
pub(crate) fn packet_facts(packet: &Packet) -> PacketFacts {
    PacketFacts {
        bytes: i64::from(packet.size),
        ecn: i64::from(packet.ecn() as u8),
        dscp: i64::from(packet.dscp()),
        precedence: i64::from(packet.precedence),
        flow: i64::from(packet.flow.number()),
        packet_kind: match packet.kind() {
            PacketKind::Data => packet_kind::DATA,
            PacketKind::Probe | PacketKind::Poll | PacketKind::Syn => packet_kind::PROBE,
            PacketKind::Ack => packet_kind::ACK,
            PacketKind::Notification => packet_kind::NOTIFICATION,
            PacketKind::Report => packet_kind::REPORT,
            PacketKind::ResourceCell => packet_kind::RESOURCE_CELL,
        },
    }
}

/// A time that may be none.
#[inline]
pub(crate) fn since(time: Option<Time>) -> i64 {
    time.map_or(NEVER, |time| signed(time.ps()))
}
