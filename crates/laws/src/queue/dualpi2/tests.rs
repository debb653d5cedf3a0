//! Tests of DualPI2's decisions.

use super::*;
use forebay_kernel::Streams;
use forebay_network::{FlowId, RouteId};
use forebay_parameters::{Echo, Node, Table, Value};

fn law(given: &[(&str, Value)]) -> DualPi2 {
    let nodes = given.iter().map(|(key, value)| ((*key).to_owned(), Node::new(value.clone())));
    let (node, echo) = (Node::new(Value::Table(nodes.collect::<Table>())), Echo::default());
    DualPi2::new(DualPi2Parameters::read(&Section::root(&node, &echo).unwrap()).unwrap())
}

/// Decisions do not depend on when they are read: a law that is woken at every update is, after
/// every packet, in the state of one that makes up for them, with long waits at the head, with
/// probabilities at their limits, and over silences of minutes.
#[test]
fn updates_that_are_made_up_for_are_those_in_time() {
    for (alpha, drop_overload) in [(0.16, true), (50.0, true), (50.0, false)] {
        let given = [("alpha", alpha.into()), ("drop_overload", drop_overload.into())];
        let (mut lazy, mut woken) = (law(&given), law(&given));
        let draws = &mut Streams::new(4, 0).named("arrivals");
        let (first, second) =
            (&mut Streams::new(5, 0).named("a"), &mut Streams::new(5, 0).named("a"));
        let (mut now, mut largest) = (Time::ZERO, 0.0_f64);
        for number in 0..3000_u64 {
            let pause = if number % 500 == 499 { 100.0 } else { 0.02 * draws.exponential() };
            let until = now + Span::from_seconds(pause);
            while woken.updates.due() <= until {
                let due = woken.updates.due();
                woken.catch_up(due);
            }
            now = until;
            if draws.happens(0.45) {
                let next = lazy.dequeue(now, first, &mut |_, _| {});
                assert_eq!(next, woken.dequeue(now, second, &mut |_, _| {}), "{number}");
            } else {
                let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][draws.below(3) as usize];
                let packet = Packet::data(now, FlowId::new(0), number, 1000, RouteId::new(0));
                let packet = packet.with_ecn(ecn);
                let verdict = lazy.enqueue(&packet, None, now, first, &mut |_, _| {});
                let other = woken.enqueue(&packet, None, now, second, &mut |_, _| {});
                assert_eq!(verdict, other, "{number}");
            }
            assert_eq!(lazy.controller, woken.controller, "{number}");
            assert_eq!(lazy.updates.due(), woken.updates.due(), "{number}");
            largest = largest.max(lazy.controller.probability);
        }
        assert!(largest > 0.1, "the law has acted: {largest}");
    }
}

/// The classic queue has the square of p', not that of k p' nor of a draw with itself: 100,000
/// classic packets at p' = 0.2 meet an event with 0.04, which deviates by sqrt(0.04 * 0.96 /
/// 100,000) = 0.00062, and 100,000 others with 2 * 0.2 = 0.4, by 0.00155; bounds: five times these.
#[test]
fn the_classic_queue_has_the_square() {
    let stream = &mut Streams::new(6, 0).named("draws");
    let mut dual = law(&[]);
    dual.controller.probability = 0.2;
    dual.classic.backlog = Backlog { packets: 3, bytes: 3000 };
    let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0));
    let count = 100_000;
    let drops = (0..count).filter(|_| dual.decide_classic(&packet, stream) == Fate::Drop);
    let share = drops.count() as f64 / f64::from(count);
    assert!((share - 0.04).abs() < 5.0 * 0.000_62, "{share}");
    let marks = (0..count).filter(|_| dual.decide_low(0.0, true, stream) == Fate::Mark);
    let share = marks.count() as f64 / f64::from(count);
    assert!((share - 0.4).abs() < 5.0 * 0.001_55, "{share}");
}
