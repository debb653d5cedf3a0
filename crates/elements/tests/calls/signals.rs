//! Signals of the control loop: whom they end, and when.

use forebay_elements::calls::EdgePlan;
use forebay_network::{CallEvent, PcnMark};
use forebay_parameters::Spread;
use forebay_units::{Span, Time};

use crate::scene::{
    Between, Class, Fact, Life, Scene, WAY, at, edge, lives, steady, surge, termination,
};

const RTT: u64 = 50;

/// Calls of a packet every 20 ms that start at once and last for ever, of which the packet with
/// each of these numbers comes excess-traffic-marked, in every call.
fn marked(initial: i32, numbers: &'static [u64], plan: EdgePlan) -> Vec<Life> {
    let class = Class::new(&[("initial", initial.into())], vec![steady(200, 20, false)]);
    let marking = Box::new(|packet: &forebay_network::Packet, _now| {
        if numbers.contains(&packet.number) { PcnMark::Excess } else { PcnMark::Unmarked }
    });
    let mut scene = Scene::new(vec![class], plan, Between::Wire(marking), 1);
    scene.run(at(1000));
    lives(&scene.log()).into_values().collect()
}

fn per_packet(ms: u64) -> EdgePlan {
    EdgePlan { termination: termination("per_packet"), ..edge(ms) }
}

/// A marked call ends one round trip after the egress node sees the mark: its packet 3 leaves at 60
/// ms and is at the egress node at 70 ms, so the source hears of it at 120 ms. By then it has sent
/// packets 0 to 6 (6 at the instant of the signal), and nothing comes after. Without a law nothing
/// ends.
#[test]
fn a_marked_call_ends_one_round_trip_after_the_egress_node_sees_the_mark() {
    for life in marked(5, &[3], per_packet(RTT)) {
        assert_eq!(life.over, [(at(120), CallEvent::Terminated)]);
        let sent: Vec<Time> = life.sent.iter().map(|(now, _)| *now).collect();
        let due: Vec<Time> = (0..=5).map(|n| at(20 * n)).collect();
        // Which of two events at 120 ms comes first is not the signal's business.
        assert!(sent == due || sent == [&due[..], &[at(120)]].concat(), "{sent:?}");
        assert_eq!(life.delivered.len(), life.sent.len(), "what was under way arrives");
    }
    assert!(marked(5, &[3], edge(RTT)).iter().all(|life| life.over.is_empty()));
}

/// Further signals of a terminated call are ignored, also by its successor in the same place of the
/// table: packets 3, 4 and 5 are marked, three signals are under way, one call ends.
#[test]
fn further_signals_of_a_terminated_call_are_ignored() {
    let lives = marked(3, &[3, 4, 5], per_packet(RTT));
    assert_eq!(lives.len(), 3);
    assert!(lives.iter().all(|life| life.over == [(at(120), CallEvent::Terminated)]));
}

/// A late signal does not end the successor of the marked call: the first call's packets 3 and 4
/// are marked; it ends at 120 ms, a new call takes its place in the table at 125 ms, and the signal
/// of packet 4 arrives at 140 ms.
#[test]
fn a_late_signal_does_not_end_the_successor() {
    let mut class = Class::new(&[("initial", 1.into())], vec![steady(200, 20, false)]);
    class.surges.push(surge(&[("at", "125 ms".into()), ("calls", 1.into())]));
    let marking = Box::new(|packet: &forebay_network::Packet, now: Time| {
        let first = now < at(100) && [3, 4].contains(&packet.number);
        if first { PcnMark::Excess } else { PcnMark::Unmarked }
    });
    let mut scene = Scene::new(vec![class], per_packet(RTT), Between::Wire(marking), 1);
    scene.run(at(1000));
    let log = scene.log();
    let signals = log.iter().filter(|(_, fact)| {
        matches!(fact, Fact::Delivered(packet) if packet.pcn() == Some(PcnMark::Excess))
    });
    assert_eq!(signals.count(), 2);
    let lives = lives(&log);
    let places: Vec<u64> = lives.keys().map(|call| call & 0xffff_ffff).collect();
    assert_eq!(places, [0, 0], "the second call has the first one's place");
    let over: Vec<_> = lives.values().map(|life| life.over.clone()).collect();
    assert_eq!(over, [vec![(at(120), CallEvent::Terminated)], vec![]]);
}

/// Signals are instant with a round-trip time of 0: the call ends when the mark is seen.
#[test]
fn without_a_round_trip_the_call_ends_at_the_mark() {
    for life in marked(4, &[3], per_packet(0)) {
        assert_eq!(life.over, [(at(60) + WAY, CallEvent::Terminated)]);
        assert_eq!(life.sent.len(), 4);
    }
}

/// A random round-trip time is drawn for each call: between 20 and 80 ms, spread over all of it (of
/// 400 uniform times, none below 21 ms has probability 0.001).
#[test]
fn a_random_round_trip_is_drawn_for_each_call() {
    let rtt = Spread::Uniform(Span::from_ms(20), Span::from_ms(80));
    let lives = marked(400, &[3], EdgePlan { rtt, ..per_packet(0) });
    let mut delays: Vec<u64> =
        lives.iter().map(|life| life.over[0].0.since(at(60) + WAY).ps()).collect();
    delays.sort_unstable();
    let ms = |n: u64| Span::from_ms(n).ps();
    assert!(delays[0] >= ms(20) && delays[399] < ms(80));
    assert!(delays[0] < ms(21) && delays[399] > ms(79));
    let mean = delays.iter().sum::<u64>() as f64 / 400.0 / ms(1) as f64;
    // Standard error 60 / sqrt(12 * 400) = 0.87 ms.
    assert!((mean - 50.0).abs() < 3.5, "{mean}");
}

/// Threshold marks end no call: only excess-traffic marks do.
#[test]
fn threshold_marks_end_nothing() {
    let class = Class::new(&[("initial", 4.into())], vec![steady(200, 20, true)]);
    let marking = Box::new(|_: &forebay_network::Packet, _| PcnMark::Threshold);
    let mut scene = Scene::new(vec![class], per_packet(RTT), Between::Wire(marking), 1);
    scene.run(at(1000));
    assert_eq!(scene.counts()[0].present, 4);
}
