//! Tests of packets.

use super::*;

/// A packet is forty bytes: its size sets the memory traffic of every queue and every copy.
#[test]
fn a_packet_is_forty_bytes() {
    assert_eq!(size_of::<Packet>(), 40);
}

/// Setting one header field leaves the others as they are.
#[test]
fn fields_do_not_disturb_each_other() {
    let packet = Packet::data(Time::ZERO, FlowId::new(1), 2, 576, RouteId::new(3));
    let marked = packet.with_ecn(Ecn::Ect0).with_cwr(true).with_ecn(Ecn::Ce).as_last(true);
    assert_eq!(marked.ecn(), Ecn::Ce);
    assert!(marked.cwr() && marked.is_last() && !marked.ece() && !marked.is_feedback());
    let pushed = marked.as_pushed();
    assert!(pushed.is_pushed() && !pushed.ece() && !marked.is_pushed());
    let ack = packet.with_kind(PacketKind::Ack).with_ece(true);
    assert!(ack.ece() && !ack.is_pushed());
    assert_eq!(marked.with_cwr(false).as_last(false).with_ecn(Ecn::NotEct), packet);
    for mark in [PcnMark::Unmarked, PcnMark::Threshold, PcnMark::Excess] {
        assert_eq!(packet.with_kind(PacketKind::Probe).with_pcn(mark).pcn(), Some(mark));
    }
    assert_eq!(packet.pcn(), None);
}

/// The ACE field holds three bits: its eight values come back as they are, larger counts by
/// their lower three bits, and nothing else in the packet changes. As flags of the TCP header
/// (RFC 9768, figure 3) they are AE, CWR and ECE, from the highest: the initial 5 is AE and
/// ECE.
#[test]
fn the_ace_field_holds_three_bits() {
    let packet =
        Packet::data(Time::ZERO, FlowId::new(1), 2, 40, RouteId::new(3)).with_kind(PacketKind::Ack);
    for count in 0..=u8::MAX {
        let ack = packet.with_ace(255).with_ace(count);
        assert_eq!(ack.ace(), count % 8);
        assert_eq!((ack.kind(), ack.ecn()), (PacketKind::Ack, Ecn::NotEct));
        assert_eq!(ack.with_ace(0), packet);
    }
    let first = packet.with_ace(5);
    assert_eq!((first.is_last(), first.cwr(), first.ece()), (true, false, true));
}

/// Only a round-trip time and a slow start that the sender reports are read as such: neither a
/// timestamp echo, nor a call's number, nor an empty tag, and not one for the other.
#[test]
fn only_a_reported_round_trip_time_is_one() {
    let packet = Packet::data(Time::ZERO, FlowId::new(1), 2, 576, RouteId::new(3));
    assert_eq!(packet.srtt(), None);
    for span in [Span::ZERO, Span::from_ms(120), Span::from_s(4_000_000)] {
        let told = packet.with_srtt(span);
        assert_eq!((told.srtt(), told.is_in_slow_start()), (Some(span), false));
        let told = told.in_slow_start();
        assert_eq!((told.srtt(), told.is_in_slow_start()), (Some(span), true));
    }
    let latest = Time::from_ps(u64::MAX);
    let echo = packet.with_kind(PacketKind::Ack).with_timestamp_echo(latest);
    assert_eq!(echo.timestamp_echo(), latest);
    assert_eq!((echo.srtt(), echo.is_in_slow_start()), (None, false));
    let first = packet.in_slow_start();
    assert_eq!((first.srtt(), first.is_in_slow_start()), (None, true));
    let mut of_call = packet.with_ecn(Ecn::Ect0);
    of_call.tag = (5 << 32) | 7;
    assert_eq!((of_call.srtt(), of_call.is_in_slow_start()), (None, false));
}

/// A packet is of the kind given last and of no other, and only acknowledgements,
/// notifications, reports and resource-management cells are feedback.
#[test]
fn a_packet_is_of_the_kind_given_last_and_of_no_other() {
    use PacketKind::{Ack, Data, Notification, Poll, Probe, Report, ResourceCell, Syn};
    let kinds = [Data, Probe, Poll, Syn, Ack, Notification, Report, ResourceCell];
    let mut packet = Packet::data(Time::ZERO, FlowId::new(1), 2, 53, RouteId::new(3))
        .with_ecn(Ecn::Ect0)
        .as_last(true);
    packet.set_dscp(63);
    for (before, kind) in kinds.into_iter().flat_map(|a| kinds.map(|b| (a, b))) {
        let packet = packet.with_kind(before).with_kind(kind);
        assert_eq!(packet.kind(), kind);
        assert_eq!(packet.is_feedback(), !matches!(kind, Data | Probe | Poll | Syn));
        let requests = (packet.is_probe(), packet.is_poll(), packet.is_syn());
        assert_eq!(requests, (kind == Probe, kind == Poll, kind == Syn));
        let mut other = packet;
        other.set_dscp(0);
        assert_eq!((packet.dscp(), other.dscp(), other.kind()), (63, 0, kind));
        assert!(!packet.is_retransmission() && packet.is_last() && packet.is_ecn_capable());
    }
    let again = packet.as_retransmission();
    assert!(again.is_retransmission() && again.kind() == Data);
}
