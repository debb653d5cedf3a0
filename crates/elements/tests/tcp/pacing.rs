//! Pacing, exact echoes of marks, and sets of defaults.

use forebay_elements::tcp::{Recovery, RttGain};
use forebay_parameters::{Node, Value};
use forebay_units::Span;

use crate::scene::{Run, Scene, at, parameters};

/// Returns the times at which segments were sent, in us.
fn times(run: &Run) -> Vec<u64> {
    run.log.data.iter().map(|(time, _)| time.ps() / 1_000_000).collect()
}

/// A paced window is spread over the round trip at the rate of Linux: of 20 segments all leave at
/// once, before the first measurement. Their acknowledgements arrive together at 100 ms; from then
/// on 1.2 windows leave in a round trip, as the window is not below half the threshold: with 20
/// segments a segment in 100 / 24 = 4.1667 ms, with 21, which the twentieth acknowledgement makes
/// of them, in 100 / 25.2 = 3.9683 ms. The first gap was set with 20.
#[test]
fn a_paced_window_is_spread_over_the_round_trip() {
    let run = Scene::steady(20).with("pacing", "window").run(150);
    let times = times(&run);
    assert_eq!(times[..20], [0; 20]);
    let paced: Vec<f64> = times[20..].iter().map(|us| *us as f64 / 1e3).collect();
    let after = (0..12).map(|n| 104.1667 + 3.9683 * f64::from(n));
    let expected: Vec<f64> = std::iter::once(100.0).chain(after).collect();
    assert!(paced.len() >= 13, "{paced:?}");
    for (found, expected) in paced.iter().zip(&expected) {
        assert!((found - expected).abs() < 0.01, "{paced:?}, {expected:?}");
    }
}

/// Slow start is paced at twice the window, so that it doubles: a window well below the threshold
/// leaves at twice its rate. From 4 segments the window is 8 after a round trip; of the first ten
/// segments of a connection none is paced, and the others leave 100 / (2 * 8) = 6.25 ms apart.
#[test]
fn slow_start_is_paced_at_twice_the_window() {
    let run = Scene::opening(4).with("pacing", "window").run(199);
    let times = times(&run);
    assert_eq!(times[..4], [0; 4]);
    // Eight at 100 ms, of which six are the rest of the first ten; the first that is paced leaves
    // with them.
    assert_eq!(times[4..11], [100_000; 7]);
    assert_eq!(times[11], 106_250);
    assert_eq!(times.len(), 12);
}

/// The first window of Prague is paced, so that it is no queue: ten segments leave at two windows
/// in the round trip that the handshake has measured, 100 ms, one in 5 ms; without a handshake in
/// one of the reference, 25 ms, one in 1.25 ms. Other controls that pace send the first ten at
/// once.
#[test]
fn the_first_window_of_prague_is_paced() {
    for (handshake, start, gap) in [(true, 100_000, 5000), (false, 0, 1250)] {
        let mut scene = Scene::opening(10);
        scene.law = "prague";
        let run = scene.with("ecn", true).with("handshake", handshake).run(start / 1000 + 50);
        let first = times(&run).into_iter().filter(|us| handshake.then_some(0) != Some(*us));
        let expected: Vec<u64> = (0..10).map(|n| start + gap * n).collect();
        assert_eq!(first.take(10).collect::<Vec<_>>(), expected);
    }
}

/// A receiver with exact echoes tells which segments were marked, and no others: segments 2 and 3
/// of six are marked. The first two are acknowledged together; 2 is, at once, as the first with the
/// other mark, 3 waits for another, and is acknowledged with the echo when 4 arrives without a
/// mark; 4 at once, and 5 with the timer (RFC 8257, section 3.2).
#[test]
fn exact_echoes_tell_which_segments_were_marked() {
    let mut scene = Scene::steady(6)
        .with("ecn", true)
        .with("ecn_echo", "rfc8257")
        .with("delayed_ack", true)
        .writing(&[(0, 6000)]);
    scene.marks = vec![2, 3];
    let run = scene.run(400);
    let acks: Vec<(u64, bool)> =
        run.log.acks.iter().map(|(_, ack)| (ack.number, ack.ece())).collect();
    assert_eq!(acks, [(2, false), (3, true), (4, true), (5, false), (6, false)]);
    assert_eq!(run.log.acks.last().unwrap().0, at(250));
}

/// A profile is the stack that it names, and does not overrule what a scenario says.
#[test]
fn profiles_are_defaults() {
    let linux = parameters(&[("profile", "linux".into()), ("mss", "1000 B".into())]).unwrap();
    assert_eq!((linux.mss.bytes(), linux.initial_window.bytes(1000)), (1000, 10_000));
    assert!(linux.timestamps && !linux.ecn);
    assert_eq!(linux.default_control().name, "cubic");
    assert_eq!(linux.rtt_gain, RttGain::Sample);
    let linux = parameters(&[("profile", "linux".into())]).unwrap();
    assert_eq!((linux.mss.bytes(), linux.largest_packet()), (1448, 1500));
    let rfc = parameters(&[("profile", "rfc".into())]).unwrap();
    assert_eq!((rfc.mss.bytes(), rfc.default_control().name), (536, "reno"));
    let nineties = parameters(&[("profile", "1990s".into())]).unwrap();
    assert_eq!((nineties.mss.bytes(), nineties.default_control().name), (536, "reno"));
    assert_eq!((nineties.initial_window.bytes(536), nineties.rto_tick), (536, Span::from_ms(500)));
    assert!(nineties.recovery == Recovery::Reno && !nineties.limited_transmit);
    assert_eq!([rfc.rtt_gain, nineties.rtt_gain], [RttGain::RoundTrip; 2]);
}

/// Wrong words are refused, with the key and what is allowed.
#[test]
fn wrong_words_are_refused() {
    let wrong = [
        ("profile", "windows", "linux"),
        ("pacing", "yes", "window"),
        ("ecn_echo", "accurate", "rfc8257"),
    ];
    for (key, word, allowed) in wrong {
        let found = parameters(&[(key, Value::from(word))]).unwrap_err();
        assert_eq!(found.path, key);
        assert!(found.message.contains(word) && found.message.contains(allowed), "{found:?}");
        let node = Node::new(Value::from(3));
        assert!(parameters(&[(key, node.value)]).is_err());
    }
}
