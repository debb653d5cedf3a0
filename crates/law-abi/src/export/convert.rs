//! Facts and decisions of the interface, as the traits of laws have them.

use forebay_network::{DropReason, Ecn, FlowId, Packet, PacketKind, RouteId, Verdict};
use forebay_units::{Span, Time};

use crate::abi::{NEVER, PacketFacts, packet_kind, verdict};

/// A time that is never or known.
pub(super) fn time(ps: i64) -> Time {
    if ps == NEVER { Time::NEVER } else { Time::from_ps(amount(ps)) }
}

/// The picoseconds of a time; one that no run reaches is never.
pub(super) fn ps(time: Time) -> i64 {
    i64::try_from(time.ps()).unwrap_or(NEVER)
}

/// The picoseconds of a span.
pub(super) fn span_ps(span: Span) -> i64 {
    i64::try_from(span.ps()).unwrap_or(NEVER)
}

/// A time, if it is known.
pub(super) fn known(ps: i64) -> Option<Time> {
    (ps != NEVER).then(|| time(ps))
}

/// A span, if it is known.
pub(super) fn known_span(ps: i64) -> Option<Span> {
    (ps != NEVER).then(|| span(ps))
}

/// A span.
pub(super) fn span(ps: i64) -> Span {
    Span::from_ps(amount(ps))
}

/// An amount: none is below 0.
#[inline]
pub(super) fn amount(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// The packet of these facts; what they lack of it is that of an arrival just now.
#[inline]
pub(super) fn packet(facts: &PacketFacts, now: Time) -> Packet {
    let flow = FlowId::new(amount(facts.flow) as usize);
    let size = u16::try_from(facts.bytes).unwrap_or(u16::MAX);
    let mut packet = Packet::data(now, flow, 0, size, RouteId::new(0))
        .with_kind(kind(facts.packet_kind))
        .with_ecn(ecn(facts.ecn))
        .with_precedence(facts.precedence as u8);
    packet.set_dscp(facts.dscp as u8);
    packet
}

fn kind(kind: i64) -> PacketKind {
    match kind {
        packet_kind::PROBE => PacketKind::Probe,
        packet_kind::ACK => PacketKind::Ack,
        packet_kind::NOTIFICATION => PacketKind::Notification,
        packet_kind::REPORT => PacketKind::Report,
        packet_kind::RESOURCE_CELL => PacketKind::ResourceCell,
        _ => PacketKind::Data,
    }
}

fn ecn(field: i64) -> Ecn {
    match field {
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        3 => Ecn::Ce,
        _ => Ecn::NotEct,
    }
}

/// The code of a verdict.
pub(super) fn code(decided: Verdict) -> Result<i32, String> {
    match decided {
        Verdict::Accept => Ok(verdict::PASS),
        Verdict::Mark => Ok(verdict::MARK),
        Verdict::Drop(reason) => drop_code(reason),
    }
}

/// The code of a drop for this reason.
pub(super) fn drop_code(reason: DropReason) -> Result<i32, String> {
    match reason {
        DropReason::Early => Ok(verdict::DROP_EARLY),
        DropReason::Forced => Ok(verdict::DROP_FORCED),
        DropReason::Overflow => Ok(verdict::DROP_OVERFLOW),
        DropReason::Policed => Ok(verdict::POLICE),
        other => Err(format!(
            "drops a packet for the reason \"{}\"; a library can give early, forced, overflow and \
             policed",
            other.name()
        )),
    }
}
