//! Timers: retransmission, delayed acknowledgement, and what is measured for them.

use forebay_units::{Rate, Span};

use crate::scene::{Scene, after, at};

/// A dead path is probed at the pace of RFC 6298 (section 5.5): 1 s, doubled each time up to 60 s:
/// transmissions at 0, 1, 3, 7, 15, 31, 63, 63 + 60 and 183 s. The ninth gets through.
#[test]
fn the_timeout_backs_off_to_its_cap() {
    let mut scene = Scene::opening(1).writing(&[(0, 1000)]);
    scene.drops = (0..8).map(|copy| (0, copy)).collect();
    let run = scene.run(200_000);
    let times: Vec<u64> = run.rounds().iter().map(|round| round.0 / 1000).collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    assert_eq!((run.flow.timeouts, run.flow.retransmissions, run.flow.goodput), (8, 8, 1000));
    assert_eq!(run.log.ended, [(0, at(183_100))]);
}

/// Further timeouts of the same segment do not shrink the threshold (RFC 5681, section 3.1): 16
/// segments outstanding at the first give 8; at the second it stays, though only one was sent
/// since.
#[test]
fn the_threshold_is_held_when_a_segment_times_out_again() {
    let run = Scene::steady(16).scripted(&[]).run(3500);
    assert_eq!(run.timeouts(), [1000, 3000]);
    assert_eq!(run.rounds()[1..], [(1000, vec![0]), (3000, vec![0])]);
    assert_eq!(run.ssthresh(), 8.0);
}

/// The timer for the last segment runs from the last new acknowledgement (RFC 6298, section 5.3):
/// each of the nine acknowledgements at 100 ms restarts the timer, and with the one round-trip time
/// measured (100 ms) it stands at its minimum, 1 s.
#[test]
fn the_timer_runs_from_the_last_new_acknowledgement() {
    for recovery in ["reno", "newreno", "sack"] {
        let scene = Scene::opening(10).with("recovery", recovery).writing(&[(0, 10_000)]);
        let run = scene.losing(&[9]).run(3000);
        assert_eq!(run.rounds(), [(0, after(&[], 0..10)), (1100, vec![9])]);
        assert_eq!(run.log.ended, [(0, at(1200))]);
        // ssthresh = max(1/2, 2) segments.
        assert_eq!(run.ssthresh(), 2.0);
    }
}

/// The timeout follows the measured round trip above a smaller minimum: with rto_min 200 ms, one
/// measurement of 100 ms gives SRTT + 4 RTTVAR = 100 + 4 * 50 = 300 ms after the acknowledgements
/// at 100 ms.
#[test]
fn the_timeout_follows_the_measured_round_trip() {
    let scene = Scene::opening(10).with("rto_min", "200 ms").writing(&[(0, 10_000)]);
    assert_eq!(scene.losing(&[9]).run(3000).timeouts(), [400]);
}

/// Coarse clocks wait at least two ticks: a stack with ticks of 500 ms counts no tick in a round
/// trip of 100 ms from the start of a tick; SRTT = RTTVAR = 0, RTO = max(G, 0) = 1 tick, and at
/// least two: 1 s after the acknowledgements at 100 ms, even with rto_min 0.
#[test]
fn coarse_clocks_wait_at_least_two_ticks() {
    let scene = Scene::opening(10).with("rto_min", "0 s").with("rto_tick", "500 ms");
    let run = scene.writing(&[(0, 10_000)]).losing(&[9]).run(3000);
    assert_eq!(run.timeouts(), [1100]);
}

/// A segment sent twice is not measured (Karn; RFC 6298, section 3), except by timestamps. 0 times
/// out at 1 s, doubling the timeout to 2 s, and is acknowledged at 1.1 s. 1 and 2 are lost then.
/// Without timestamps nothing can be measured: the timer stays at 2 s and expires at 3.1 s. With
/// them the retransmission was: 100 ms, RTO 1 s, 2.1 s.
#[test]
fn timestamps_measure_what_was_sent_twice() {
    for (timestamps, second) in [(false, 3100), (true, 2100)] {
        let run = Scene::opening(1).with("timestamps", timestamps).losing(&[0, 1, 2]).run(3150);
        assert_eq!(run.timeouts()[..2], [1000, second]);
    }
}

/// Samples of one round trip share their weight, so that timestamps do not push out all memory (RFC
/// 7323, appendix G). All acknowledgements of the script echo 0, so that they measure 100 and 140
/// ms; with 10 segments outstanding, 5 samples are expected in a round trip: SRTT = 100 + 40 / (8 *
/// 5) = 101 ms.
#[test]
fn samples_of_one_round_trip_share_their_weight() {
    let scene = Scene::steady(10).with("timestamps", true);
    let run = scene.scripted(&[(100, 1), (140, 2)]).run(150);
    assert!((run.srtt - 0.101).abs() < 1e-9, "{}", run.srtt);
}

/// The earliest unacknowledged segment is echoed, so that delayed acknowledgements do not flatter
/// the round-trip time (RFC 7323, section 4.3). 0 is sent at 0, 1 at 80 ms; both are acknowledged
/// when 1 arrives at 130 ms: the echo is 0, and the round trip measured 180 ms. When 3 arrives
/// above the gap at 2, the segment that last advanced the left edge is echoed: 1.
#[test]
fn the_earliest_segment_is_echoed() {
    let scene = Scene::opening(4).with("timestamps", true).with("delayed_ack", true);
    let writes = [(0, 1000), (80, 1000), (120, 1000), (10, 1000), (9000, 1000)];
    let run = scene.writing(&writes).losing(&[2]).run(400);
    let echoes: Vec<(u64, u64)> =
        run.log.acks.iter().map(|(_, p)| (p.number, p.timestamp_echo().ps())).collect();
    assert_eq!(echoes, [(2, 0), (2, 0)]);
    assert!((run.srtt - 0.180).abs() < 1e-9);
}

/// Segments tell a conditioner at the sender the smoothed round-trip time of the sender, and none
/// where it should hear of none. A line of 50 ms each way that takes 10 ms for a full segment; from
/// a window of one, each round is timed by its first segment. The first takes 110 ms: SRTT = 110
/// ms. Of the second round (2 segments at 110 ms), the first takes 110 ms again; of the third (4
/// segments, sent in pairs at 220 and 230 ms), the first takes 110 ms too, so all tell 110 ms. With
/// a clock of 100 ms ticks TCP's own variable is 100 ms. Retransmissions tell it as well.
#[test]
fn segments_tell_the_smoothed_round_trip_time() {
    for tick in ["0 s", "100 ms"] {
        let mut scene = Scene::opening(1).reporting_rtt().with("rto_tick", tick);
        // 1040 B in 10 ms.
        scene.rate = Some(Rate::from_bps(832_000));
        let run = scene.losing(&[6]).run(2000);
        let told = |number| {
            let of = run.log.data.iter().filter(|(_, packet)| packet.number == number);
            of.map(|(_, packet)| packet.srtt()).collect::<Vec<_>>()
        };
        assert_eq!(told(0), [None]);
        let measured = Some(Span::from_ms(110));
        assert!((1..7).all(|number| told(number)[0] == measured), "tick {tick}");
        assert!(told(6).len() > 1 && told(6).iter().all(Option::is_some), "it was sent again");
        let acks = run.log.acks.iter().all(|(_, ack)| ack.srtt().is_none());
        assert!(acks, "acknowledgements echo timestamps there");
    }
    let run = Scene::opening(1).run(500);
    assert!(run.log.data.iter().all(|(_, packet)| packet.srtt().is_none() && packet.tag == 0));
}

/// Segments tell ticks where the clock of ns-2 is asked for, so that buckets are as deep as there:
/// 110 ms are one tick of 100 ms, to the nearest one. A sender that has measured nothing tells that
/// it is in slow start, which it is up to its threshold of 4 segments.
#[test]
fn segments_tell_ticks_and_slow_start() {
    let mut scene = Scene::opening(1).reporting_rtt().with("rto_tick", "100 ms");
    scene.rate = Some(Rate::from_bps(832_000));
    let scene = scene.with("reported_rtt", "ticks").with("initial_ssthresh", "4 packets");
    let run = scene.run(2000);
    let tick = Some(Span::from_ms(100));
    assert!(run.log.data[1..].iter().all(|(_, packet)| packet.srtt() == tick));
    let told: Vec<bool> = run.log.data.iter().map(|(_, p)| p.is_in_slow_start()).collect();
    // A window of 1, then 2 and 4: the acknowledgements of 0 and 1 each open it by one as two
    // segments are sent, the last of them at the threshold.
    assert_eq!(told[..8], [true, true, true, true, true, false, false, false]);
}

/// Segments tell the smoothed round-trip time, not the last measurement: the script acknowledges 0
/// and 1 after 100 and 140 ms, timed one after the other. The first acknowledgement opens the
/// window to two segments: 1 and 2 are sent at 100 ms and tell 100 ms. That of 1, 40 ms later,
/// makes SRTT = 100 + (40 - 100) / 8 = 92.5 ms, told by 3, which is sent then.
#[test]
fn what_segments_tell_is_smoothed() {
    let scene = Scene::steady(1).reporting_rtt();
    let run = scene.scripted(&[(100, 1), (140, 2)]).run(150);
    let told: Vec<_> = run.log.data.iter().map(|(_, packet)| packet.srtt()).collect();
    let first = Some(Span::from_ms(100));
    assert_eq!(told, [None, first, first, Some(Span::from_us(92_500))]);
}

/// Timestamps add 12 bytes on the wire, in segments and acknowledgements.
#[test]
fn timestamps_add_twelve_bytes() {
    let run = Scene::steady(1).with("timestamps", true).run(60);
    assert_eq!((run.log.data[0].1.size, run.log.acks[0].1.size), (1052, 52));
    let run = Scene::steady(1).run(60);
    assert_eq!((run.log.data[0].1.size, run.log.acks[0].1.size), (1040, 40));
}

/// Receivers delay acknowledgements only where that is allowed (RFC 5681, section 4.2). A single
/// segment waits for the timer: 50 + 200 ms. Of three, two are acknowledged at once, the third
/// after 200 ms. Segments above a gap at once; the one that fills the gap (after the timeout at 1
/// s) at once, too.
#[test]
fn acknowledgements_are_delayed_where_allowed() {
    let acks = |bytes: u64, lost: &[u64]| {
        let scene = Scene::opening(3).with("delayed_ack", true).writing(&[(0, bytes)]);
        scene.losing(lost).run(2000).acks()
    };
    assert_eq!(acks(1000, &[]), [(250, 1)]);
    assert_eq!(acks(3000, &[]), [(50, 2), (250, 3)]);
    assert_eq!(acks(3000, &[0]), [(50, 0), (50, 0), (1050, 3)]);
    let scene = Scene::opening(1).with("delayed_ack", true).writing(&[(0, 1000)]);
    assert_eq!(scene.with("delayed_ack_timeout", "500 ms").run(2000).acks(), [(550, 1)]);
}
