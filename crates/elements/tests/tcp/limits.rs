//! Finite transfers, stop times, and wrong parameters.

use forebay_parameters::Value;
use forebay_units::{Rate, Size, Span, Time};

use crate::scene::{Scene, after, at, parameters};

/// The duration of a transfer is the sum of its parts, to the picosecond. 13 full segments and one
/// of 300 B from a window of 2 over a line of rate R and delay D each way, nothing else on it:
/// rounds of 2, 4 and 8 segments. A round trip is tx + 2D with tx = 1040 B / R; the second round
/// starts one after the first and takes 4 tx on the line, less than a round trip; the third starts
/// after two. Its last segment leaves 7 tx + tx' later (tx' = 340 B / R), arrives after D and is
/// acknowledged after D: 2 (tx + 2D) + 7 tx + tx' + 2D.
#[test]
fn an_unloaded_transfer_takes_its_closed_form() {
    let rate = Rate::from_bps(9_700_000);
    let mut scene = Scene::opening(2).writing(&[(0, 13_300)]);
    scene.rate = Some(rate);
    let run = scene.run(1000);
    let tx = |bytes| rate.transmission_time(Size::from_bytes(bytes)).ps();
    let delay = Span::from_ms(50).ps();
    let expected = 2 * (tx(1040) + 2 * delay) + 7 * tx(1040) + tx(340) + 2 * delay;
    assert_eq!(run.log.ended, [(0, Time::from_ps(expected))]);
    assert_eq!(run.flow.goodput, 13_300);
    assert_eq!(run.flow.sent.packets, 14);
    assert_eq!(run.flow.sent.bytes, 13_300 + 14 * 40);
    let last: Vec<u64> =
        run.log.data.iter().filter(|(_, p)| p.is_last()).map(|(_, p)| p.number).collect();
    assert_eq!(last, [13]);
}

/// Opening a connection takes a round trip: as above, but after a SYN of 40 B and its answer, which
/// take 40 B / R + 2D. The FIN comes with the last segment.
#[test]
fn a_handshake_takes_a_round_trip() {
    let rate = Rate::from_bps(9_700_000);
    let mut scene = Scene::opening(2).writing(&[(0, 13_300)]).with("handshake", true);
    scene.rate = Some(rate);
    let run = scene.run(1000);
    let tx = |bytes| rate.transmission_time(Size::from_bytes(bytes)).ps();
    let delay = Span::from_ms(50).ps();
    let transfer = 2 * (tx(1040) + 2 * delay) + 7 * tx(1040) + tx(340) + 2 * delay;
    let opening = tx(40) + 2 * delay;
    assert_eq!(run.log.ended, [(0, Time::from_ps(opening + transfer))]);
    assert_eq!((run.flow.goodput, run.flow.sent.packets), (13_300, 15));
    assert_eq!(run.flow.sent.bytes, 13_300 + 15 * 40);
}

/// A stopped flow sends nothing new, and ends when all is acknowledged: from the stop at 150 ms on
/// nothing new is sent; what is outstanding then (4..9, sent at 100 ms) is acknowledged at 200 ms.
#[test]
fn a_stopped_flow_ends_when_all_is_acknowledged() {
    let mut scene = Scene::steady(4);
    scene.stop = at(150);
    let run = scene.run(1000);
    assert_eq!(run.rounds(), [(0, after(&[], 0..4)), (100, after(&[], 4..9))]);
    assert_eq!(run.log.ended, [(0, at(200))]);
    assert_eq!((run.flow.goodput, run.held), (9000, 0));
}

/// A loss before the stop is still repaired: segment 7 is lost; the timer restarts with the last
/// acknowledgement at 200 ms.
#[test]
fn a_stopped_flow_still_repairs_its_losses() {
    let mut scene = Scene::steady(4).losing(&[7]);
    scene.stop = at(150);
    let run = scene.run(5000);
    assert_eq!(run.timeouts(), [1200]);
    assert_eq!(run.log.ended, [(0, at(1300))]);
    assert_eq!(run.flow.goodput, 9000);
}

/// A flow does not stay open for data that it will never send: the write due at 10 s lies after the
/// stop, so that all is over with the acknowledgement of the first.
#[test]
fn writes_after_the_stop_are_not_made() {
    let mut scene = Scene::steady(4).writing(&[(0, 4000), (10_000, 1000)]);
    scene.stop = at(5000);
    let run = scene.run(20_000);
    assert_eq!(run.log.ended, [(0, at(100))]);
    assert_eq!(run.flow.goodput, 4000);
}

/// Several writes are one transfer, and do not wait for each other: 1500 B and 100 ms later 1500 B
/// more in segments of 1000 B are 1000 + 500 and 1000 + 500 (the first short segment has been sent
/// and cannot be filled any more), and the end comes with the last.
#[test]
fn writes_follow_each_other_in_one_connection() {
    let run = Scene::opening(4).writing(&[(0, 1500), (100, 1500)]).run(1000);
    let sizes: Vec<u16> = run.log.data.iter().map(|(_, p)| p.size - 40).collect();
    assert_eq!(sizes, [1000, 500, 1000, 500]);
    assert_eq!(run.log.ended, [(0, at(200))]);
    assert_eq!(run.flow.goodput, 3000);
    // The window is bytes: with 1500 B allowed, a full segment and the short one fit.
    let run = Scene::opening(4).with("window", "1500 B").writing(&[(0, 2500)]).run(1000);
    assert_eq!(run.rounds(), [(0, vec![0]), (100, vec![1, 2])]);
}

/// Wrong parameters are refused, with their key and what is allowed.
#[test]
fn wrong_parameters_are_refused() {
    let cases: [(&'static str, Value, &'static str); 16] = [
        ("mss", "0 B".into(), "at least 1 B"),
        ("mss", "65500 B".into(), "65535 B"),
        ("mss", "18446744073709551615 B".into(), "65535 B"),
        ("header", "0 B".into(), "no size"),
        ("dupack_threshold", 0.into(), "at least 1"),
        ("initial_window", "0 packets".into(), "at least 1"),
        ("initial_window", "rfc1".into(), "rfc3390"),
        ("initial_window", "4000 B".into(), "rfc3390"),
        ("window", "500 B".into(), "one segment"),
        ("max_burst", 0.into(), "at least 1"),
        ("slow_start_limit", 0.into(), "at least 1"),
        ("quick_acks", 256.into(), "at most 255"),
        ("delayed_ack_timeout", "501 ms".into(), "500 ms"),
        ("rto_max", "500 ms".into(), "rto_min"),
        ("rto_initial", "0 s".into(), "above 0"),
        ("recovery", "nreno".into(), "did you mean"),
    ];
    for (key, value, reason) in cases {
        let problem = parameters(&[(key, value.clone())]).unwrap_err();
        assert_eq!(problem.path, key);
        assert!(problem.message.contains(reason), "{key} = {value:?}: {}", problem.message);
    }
    let clock: [(&str, Value); 2] = [("rto_tick", "0 s".into()), ("rto_min", "0 s".into())];
    assert_eq!(parameters(&clock).unwrap_err().path, "rto_min");
    assert!(parameters(&[("initial_window", "rfc6928".into())]).is_ok());
}
