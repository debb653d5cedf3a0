//! Wrong facts of packets, routes, delays, links and flows.

use forebay_invariants::{BufferLimit, Changes, Invariant as Must, Offer};
use forebay_network::{DropReason, FlowId, Observation, Packet, RouteId};
use forebay_units::{Rate, Span};

use crate::Case;
use crate::scene::{BACK, CORE, NEXT_SPAN, SIZE, SPAN, Scene, TCP, UDP, around, at, data, places};

pub const PACKETS: &[Case] = &[
    (Must::TimeOrder, |s| {
        s.send(5, &data(UDP, 0, 5));
        s.send(4, &data(UDP, 1, 4));
    }),
    (Must::TimeEnd, |s| s.send(1_000_001, &data(UDP, 0, 1_000_001))),
    (Must::TimeCreated, |s| s.send(5, &data(UDP, 0, 4))),
    // It was never sent.
    (Must::PacketKnown, |s| s.queue(0, CORE, &data(UDP, 0, 0), 1)),
    // It was delivered before.
    (Must::PacketKnown, |s| {
        let packet = s.pass(UDP);
        s.deliver(12_000, &packet);
    }),
    (Must::PacketKept, |s| {
        let mut packet = data(UDP, 0, 0);
        s.send(0, &packet);
        packet.size += 1;
        s.queue(0, CORE, &packet, 1);
    }),
    (Must::PacketPrecedence, |s| {
        s.send(0, &data(UDP, 0, 0));
        s.queue(0, CORE, &data(UDP, 0, 0).with_precedence(64), 1);
    }),
    (Must::RouteFollowed, |s| {
        s.send(0, &data(UDP, 0, 0));
        s.enqueue(0, BACK, &data(UDP, 0, 0), 1);
    }),
    (Must::RouteComplete, |s| {
        s.begin(UDP);
        s.send(0, &data(UDP, 0, 0));
        s.deliver(20_000, &data(UDP, 0, 0));
    }),
    (Must::RouteReverse, |s| {
        let mut places = places();
        places.routes.remove(1);
        *s = Scene::of(places);
    }),
    (Must::DelayAge, |s| {
        let packet = data(UDP, 0, 0);
        s.send(0, &packet);
        s.queue(0, CORE, &packet, 1);
        s.fact(11_000, &Observation::Delivered { packet: &packet, delay: Span::from_us(10_999) });
    }),
    // Faster than light and transmitter.
    (Must::DelayFloor, |s| {
        let packet = data(UDP, 0, 0);
        s.send(0, &packet);
        s.queue(0, CORE, &packet, 1);
        s.deliver(10_999, &packet);
    }),
    // A delivery before the beginning, a second beginning, a second end, data after the end.
    (Must::FlowLife, |s| {
        s.send(0, &data(UDP, 0, 0));
        s.queue(0, CORE, &data(UDP, 0, 0), 1);
        s.deliver(11_000, &data(UDP, 0, 0));
    }),
    (Must::FlowLife, |s| {
        s.begin(UDP);
        s.begin(UDP);
    }),
    (Must::FlowLife, |s| {
        for us in [0, 1] {
            s.fact(us, &Observation::Ended { flow: FlowId::new(TCP) });
        }
    }),
    (Must::FlowLife, |s| {
        s.fact(0, &Observation::Ended { flow: FlowId::new(UDP) });
        s.send(1, &data(UDP, 0, 1));
    }),
];

/// Packets 0 and 1 are queued at the link one behind the other.
fn two(s: &mut Scene) {
    s.begin(UDP);
    for number in 0..2 {
        s.send(0, &data(UDP, number, 0));
        s.queue(0, CORE, &data(UDP, number, 0), number as u32 + 1);
    }
}

pub const LINKS: &[Case] = &[
    (Must::LinkOrder, |s| {
        two(s);
        s.deliver(11_000, &data(UDP, 1, 0));
    }),
    (Must::LinkSpacing, |s| {
        two(s);
        s.deliver(11_000, &data(UDP, 0, 0));
        s.deliver(11_999, &data(UDP, 1, 0));
    }),
    (Must::LinkWindow, |s| {
        two(s);
        s.deliver(11_000, &data(UDP, 0, 0));
        s.deliver(11_500, &data(UDP, 1, 0));
    }),
    // Queued at 100 us, it cannot be there 11,099 us later.
    (Must::LinkCausal, |s| {
        s.send(0, &data(UDP, 0, 0));
        s.queue(100, CORE, &data(UDP, 0, 0), 1);
        s.deliver(11_099, &data(UDP, 0, 0));
    }),
    // The second waits for nothing.
    (Must::LinkWorkConserving, |s| {
        two(s);
        s.deliver(11_000, &data(UDP, 0, 0));
        s.deliver(12_001, &data(UDP, 1, 0));
    }),
    // Half a packet is offered until the second should be there.
    (Must::LinkWindow, |s| {
        *s = changing(&[(0, 1_000_000), (1000, 500_000)]);
        two(s);
        s.deliver(11_000, &data(UDP, 0, 0));
        s.deliver(12_999, &data(UDP, 1, 0));
    }),
    // It would have been sent 1 us earlier.
    (Must::LinkWorkConserving, |s| {
        *s = changing(&[(0, 1_000_000), (1000, 500_000)]);
        two(s);
        s.deliver(11_000, &data(UDP, 0, 0));
        s.deliver(13_001, &data(UDP, 1, 0));
        // What crosses at one instant is judged together, when something crosses later.
        s.send(14_000, &data(UDP, 2, 0));
        s.queue(14_000, CORE, &data(UDP, 2, 0), 1);
        s.deliver(26_000, &data(UDP, 2, 0));
    }),
    (Must::LinkCausal, |s| {
        *s = changing(&[(0, 1_000_000)]);
        s.send(0, &data(UDP, 0, 0));
        s.queue(5000, CORE, &data(UDP, 0, 0), 1);
        s.deliver(14_999, &data(UDP, 0, 0));
    }),
    (Must::LinkBuffer, |s| {
        let mut places = places();
        places.links[CORE].limit = BufferLimit { packets: Some(1), bytes: None };
        *s = Scene::of(places);
        two(s);
    }),
    // Too large for the buffer, it waits for another; it waits until it is dropped.
    (Must::LinkBuffer, |s| {
        *s = narrow(SIZE - 1);
        small_and_large(s);
        s.deliver(11_000 - 8, &small());
        s.deliver(12_000 - 8, &data(UDP, 1, 0));
    }),
    (Must::LinkBuffer, |s| {
        *s = narrow(SIZE - 1);
        small_and_large(s);
        s.drop(500, CORE, &data(UDP, 1, 0), DropReason::Overflow);
    }),
    (Must::LinkBacklog, |s| {
        s.send(0, &data(UDP, 0, 0));
        s.queue(0, CORE, &data(UDP, 0, 0), 2);
    }),
    (Must::LinkReason, |s| {
        s.send(0, &data(UDP, 0, 0));
        s.drop(0, CORE, &data(UDP, 0, 0), DropReason::Shaper);
    }),
    (Must::LinkReason, |s| {
        s.send(0, &data(UDP, 0, 0));
        s.drop(0, CORE, &data(UDP, 0, 0), DropReason::Policed);
    }),
    (Must::RingTransit, |s| transit(s, 1)),
    (Must::RingHigh, |s| transit(s, 0)),
];

/// A scene in which the link there has these rates, each from a time in us on.
fn changing(rates: &[(u64, u64)]) -> Scene {
    let mut places = places();
    let rates = rates.iter().map(|(us, bps)| (at(*us), Rate::from_bps(*bps))).collect();
    let delay = Span::from_ms(10);
    let offer = Some(Offer::Rates(rates));
    places.links[CORE].changes = Some(Changes { offer, delay: Some(delay), least_delay: delay });
    Scene::of(places)
}

/// A link that changes is held to what it offers and no more: two packets of 1 ms each at first, of
/// which the second takes 2 ms from then on.
#[test]
fn right_changes_break_nothing() {
    let mut scene = changing(&[(0, 1_000_000), (1000, 500_000)]);
    two(&mut scene);
    scene.deliver(11_000, &data(UDP, 0, 0));
    scene.deliver(13_000, &data(UDP, 1, 0));
    assert!(scene.checker.report().breaches().is_empty());
}

/// A scene in which so many bytes can wait at the link there.
fn narrow(bytes: u16) -> Scene {
    let mut places = places();
    places.links[CORE].limit = BufferLimit { packets: None, bytes: Some(bytes.into()) };
    Scene::of(places)
}

/// A packet of 1 B less than others, which takes 8 us less.
fn small() -> Packet {
    let mut packet = data(UDP, 0, 0);
    packet.size -= 1;
    packet
}

/// It is in transmission when one comes that is alone in the queue.
fn small_and_large(s: &mut Scene) {
    s.begin(UDP);
    for packet in [small(), data(UDP, 1, 0)] {
        s.send(0, &packet);
        s.queue(0, CORE, &packet, 1);
    }
}

/// A packet larger than the buffer is accepted if it finds the transmitter free: it need not wait
/// there.
#[test]
fn a_packet_larger_than_the_buffer_passes_a_free_transmitter() {
    let mut scene = narrow(SIZE - 1);
    scene.begin(UDP);
    // The first is sent until 1 ms; the second comes then.
    let packets = [data(UDP, 0, 0), data(UDP, 1, 1000)];
    for (packet, us) in packets.iter().zip([0, 1000]) {
        scene.send(us, packet);
        scene.queue(us, CORE, packet, 1);
    }
    scene.deliver(11_000, &packets[0]);
    scene.deliver(12_000, &packets[1]);
    assert!(scene.checker.report().breaches().is_empty());
}

/// A packet of `precedence` is dropped between two spans of the ring.
fn transit(s: &mut Scene, precedence: u8) {
    let packet = around(0).with_precedence(precedence);
    s.send(0, &packet);
    s.queue(0, SPAN, &packet, 1);
    s.drop(11_000, NEXT_SPAN, &packet, DropReason::Overflow);
}

/// Right facts are accepted: datagrams one behind the other, a drop from the queue, and a packet
/// that goes around the ring.
#[test]
fn right_facts_break_nothing() {
    let mut s = Scene::new();
    two(&mut s);
    s.send(500, &data(UDP, 2, 500));
    s.queue(500, CORE, &data(UDP, 2, 500), 2);
    s.drop(600, CORE, &data(UDP, 2, 500), DropReason::Forced);
    s.deliver(11_000, &data(UDP, 0, 0));
    s.deliver(12_000, &data(UDP, 1, 0));
    let mut late = around(7);
    late.created = at(13_000);
    s.send(13_000, &late);
    s.queue(13_000, SPAN, &late, 1);
    s.enqueue(24_000, NEXT_SPAN, &late, 1);
    s.deliver(35_000, &late);
    assert_eq!(s.checker.report().breaches(), []);
    let checked = |must| s.checker.report().checked(must);
    assert_eq!((checked(Must::LinkOrder), checked(Must::RouteComplete)), (4, 3));
}

/// The leaky bucket behind [`Must::LinkWindow`] accepts what a link may do: packets of different
/// sizes back to back, after a pause, for any rate.
#[test]
fn a_busy_link_keeps_to_its_rate() {
    for bps in [999_999, 1_000_000, 7_777_777, 155_520_000] {
        let mut places = places();
        places.links[CORE].rate = Rate::from_bps(bps);
        places.end = at(10_000_000);
        let link = places.links[CORE].clone();
        let mut s = Scene::of(places);
        s.begin(UDP);
        let mut free = at(1000);
        let packets: Vec<_> = (0..200)
            .map(|number| {
                let mut packet = data(UDP, number, 0);
                packet.size = 40 + (number as u16 * 37) % 1400;
                packet.route = RouteId::new(0);
                packet
            })
            .collect();
        for packet in &packets {
            s.send(0, packet);
        }
        for packet in &packets {
            s.checker.received(at(1000), CORE as u32, packet);
            s.enqueue(1000, CORE, packet, 0);
        }
        for packet in &packets {
            free += link.rate.transmission_time(packet.wire_size());
            let now = free + link.delay;
            let delay = now.since(packet.created);
            s.checker.observe(now, &Observation::Delivered { packet, delay });
        }
        assert_eq!(s.checker.report().breaches(), [], "{bps}");
    }
}
