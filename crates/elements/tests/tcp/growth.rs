//! Growth of the window.

use forebay_units::{Rate, Time};

use crate::scene::{Scene, after, at};

/// Slow start doubles the window each round trip (RFC 5681, equation 2): each acknowledgement of a
/// segment adds a segment, so from one segment the rounds are 1, 2, 4, 8.
#[test]
fn slow_start_doubles_each_round_trip() {
    let run = Scene::opening(1).run(350);
    let rounds = [
        (0, after(&[], 0..1)),
        (100, after(&[], 1..3)),
        (200, after(&[], 3..7)),
        (300, after(&[], 7..15)),
    ];
    assert_eq!(run.rounds(), rounds);
}

/// Delayed acknowledgements slow the opening to a factor of 1.5: each one for two segments adds
/// one. 4 segments bring 2 acknowledgements: window 6, which sends 6; those bring 3: window 9, 9
/// sent; of those, 8 are acknowledged by 4: window 13, and with one outstanding 12 are sent.
#[test]
fn delayed_acknowledgements_open_by_half() {
    let run = Scene::opening(4).with("delayed_ack", true).run(350);
    let rounds = [
        (0, after(&[], 0..4)),
        (100, after(&[], 4..10)),
        (200, after(&[], 10..19)),
        (300, after(&[], 19..31)),
    ];
    assert_eq!(run.rounds(), rounds);
}

/// Slow start doubles the window where acknowledgements are delayed but all that they acknowledge
/// counts (RFC 3465, section 2.2, with L = 2): two of two segments each make 4 to 8.
#[test]
fn with_a_limit_of_two_delayed_acknowledgements_double() {
    let scene = Scene::opening(4).with("delayed_ack", true).with("slow_start_limit", 2);
    let rounds = [(0, after(&[], 0..4)), (100, after(&[], 4..12)), (200, after(&[], 12..28))];
    assert_eq!(scene.run(250).rounds(), rounds);
}

/// The first acknowledgements are not delayed, and later ones are: of the first four segments three
/// are acknowledged at once, the fourth with the fifth, and so on by twos.
#[test]
fn quick_acknowledgements_come_first() {
    let scene = Scene::opening(4).with("delayed_ack", true).with("quick_acks", 3);
    let numbers: Vec<u64> = scene.run(190).acks().iter().map(|(_, number)| *number).collect();
    assert_eq!(numbers, [1, 2, 3, 5, 7, 9]);
}

/// Segments that leave together are acknowledged together, so that the last of a flight does not
/// wait for the timer: two segments that leave together are one to Linux's sender, which pushes
/// them (net/ipv4/tcp_output.c: __tcp_transmit_skb), and what is pushed is acknowledged as it is
/// read (tcp.c: __tcp_cleanup_rbuf). Of four segments the first has an acknowledgement of its own
/// (`quick_acks`), so that the second is the first of two to acknowledge, and the fourth waits for
/// the fifth, unless they are pushed: (0, 1) and (2, 3).
#[test]
fn what_leaves_together_is_acknowledged_together() {
    for (prompt, first_four) in [(true, vec![1, 2, 4]), (false, vec![1, 3])] {
        let scene = Scene::opening(4).with("delayed_ack", true).with("quick_acks", 1);
        let run = scene.with("prompt_acks", prompt).run(99);
        let numbers: Vec<u64> = run.acks().iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers, first_four);
        let pushed = run.log.data.iter().filter(|(_, p)| p.is_pushed()).map(|(_, p)| p.number);
        assert!(pushed.eq(if prompt { vec![1, 3] } else { vec![] }));
    }
}

/// A segment waits for a second one where the acknowledgement that makes room for that is near, as
/// with Linux's sender (net/ipv4/tcp_output.c: tcp_tso_should_defer), so that a segment whose
/// acknowledgement comes alone is not followed by one alone for ever. A fixed window of eight
/// segments, 0.5 ms apart on the wire; the first has an acknowledgement of its own (`quick_acks`),
/// and so the second, which is pushed. The first makes room for one segment 100 ms after the last
/// was sent: it goes. The second does 0.5 ms later, when the next acknowledgement is due: that
/// segment waits, and goes with one of the two for which the third makes room; one of those waits
/// likewise. The last makes room for two, and all three go: the next acknowledgement is that of the
/// segment sent at 100.5 ms. What waits counts as sent where a law asks whether the window is full
/// (tcp_is_cwnd_limited), without which it does not open it.
#[test]
fn a_segment_waits_for_a_second_where_that_is_near() {
    let scene = Scene::opening(8).with("delayed_ack", true).with("prompt_acks", true);
    let scene = scene.with("loss_detection", "rack").with("sack_at_timeout", "keep");
    let mut scene = scene.with("timestamps", true).with("quick_acks", 1);
    scene.law = "fixed";
    scene.rate = Some(Rate::from_bps(16_000_000));
    let mut groups: Vec<(Time, usize)> = Vec::new();
    let log = scene.run(150).log;
    assert_eq!(log.flights, [8000.0; 5]);
    for (time, _) in log.data {
        match groups.last_mut() {
            Some((last, count)) if *last == time => *count += 1,
            _ => groups.push((time, 1)),
        }
    }
    let counts: Vec<usize> = groups.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [8, 1, 2, 2, 3], "{groups:?}");
}

/// The end of a write is acknowledged at once, not after the timer of 200 ms, as Linux's last
/// segment of a write is pushed (net/ipv4/tcp.c: tcp_push): the fifth of five, at 50 ms. The second
/// write, of one segment, is pushed as well.
#[test]
fn the_end_of_a_write_is_acknowledged_at_once() {
    for (prompt, acks) in [
        (true, vec![(50, 2), (50, 4), (50, 5), (1050, 6)]),
        (false, vec![(50, 2), (50, 4), (250, 5), (1250, 6)]),
    ] {
        let scene = Scene::opening(10).with("delayed_ack", true).with("prompt_acks", prompt);
        let run = scene.writing(&[(0, 5000), (1000, 1000)]).run(2000);
        assert_eq!(run.acks(), acks);
    }
}

/// Congestion avoidance adds one segment a round trip (RFC 5681, section 3.1; RFC 3465, section
/// 2.1): from 4, the fourth segment acknowledged makes the window 5 and lets two go, the next five
/// make it 6, the next six 7.
#[test]
fn congestion_avoidance_adds_a_segment_each_round_trip() {
    let run = Scene::steady(4).run(350);
    let rounds = [
        (0, after(&[], 0..4)),
        (100, after(&[], 4..9)),
        (200, after(&[], 9..15)),
        (300, after(&[], 15..22)),
    ];
    assert_eq!(run.rounds(), rounds);
    assert_eq!([100, 200, 300].map(|ms| run.cwnds(ms)), [[5.0], [6.0], [7.0]]);
}

/// Delayed acknowledgements halve the growth of congestion avoidance where acknowledgements are
/// counted, and not where bytes are (RFC 3465, section 2.1). From 8 segments, each acknowledgement
/// is for two: four of them make a window, so that it is 9 after one round trip. Counted as one
/// segment each, eight of them are needed, which takes two round trips.
#[test]
fn bytes_count_whatever_acknowledgements_are() {
    for (byte_counting, windows) in [(true, [8.0, 9.0]), (false, [8.0, 8.0])] {
        let scene = Scene::steady(8).with("delayed_ack", true);
        let run = scene.with("byte_counting", byte_counting).run(250);
        let told = [50, 150].map(|until| {
            let before = run.log.windows.iter().take_while(|w| w.0 <= at(until));
            before.last().map_or(8.0, |w| w.1)
        });
        assert_eq!(told, windows);
        // Eight acknowledgements have come at 200 ms at the latest.
        assert_eq!(run.log.windows.last().map(|w| w.1 >= 9.0), Some(true));
    }
}

/// One acknowledgement for much more than a window opens it by one segment at most (RFC 5681): in
/// slow start an acknowledgement adds at most one segment (equation 2), and congestion avoidance at
/// most one a round trip. The timer at 1 s leaves a window of 1 and a threshold of 4 with 8
/// segments outstanding, all of which the acknowledgement at 1.1 s covers: 2. With a window of 8 in
/// congestion avoidance, one acknowledgement for the 8 gives 9, and the 9 outstanding then must all
/// be acknowledged before it is 10.
#[test]
fn one_acknowledgement_adds_at_most_one_segment() {
    let scene = Scene::steady(8).with("recovery", "newreno");
    assert_eq!(scene.scripted(&[(1100, 8)]).run(1150).cwnds(1100), [2.0]);
    let run = Scene::steady(8).scripted(&[(100, 8), (200, 16), (210, 17)]).run(250);
    assert_eq!([100, 200, 210].map(|ms| run.cwnds(ms)), [vec![9.0], vec![], vec![10.0]]);
}

/// Slow start hands over to congestion avoidance at the threshold: from 2 with ssthresh 4, two
/// acknowledgements give 4; the next four, a window, give 5.
#[test]
fn slow_start_ends_at_the_threshold() {
    let run = Scene::opening(2).with("initial_ssthresh", "4 packets").run(250);
    assert_eq!(run.cwnds(100), [3.0, 4.0]);
    assert_eq!(run.cwnds(200), [5.0]);
}

/// A sender does not overrun its receiver: with a window of 5 segments, 5 are outstanding in every
/// round trip however large cwnd is.
#[test]
fn the_receivers_window_limits_what_is_outstanding() {
    let run = Scene::opening(10).with("window", "5 packets").run(250);
    let rounds = [(0, after(&[], 0..5)), (100, after(&[], 5..10)), (200, after(&[], 10..15))];
    assert_eq!(run.rounds(), rounds);
    // 5999 B are not enough for a sixth segment.
    let run = Scene::opening(10).with("window", "5999 B").run(50);
    assert_eq!(run.rounds(), [(0, after(&[], 0..5))]);
}

/// A window grown long ago is not thrown into the network at once (RFC 5681, section 4.1): 20
/// segments open the window from 2 to 22; 4.7 s after the last was sent, with an RTO of 1 s, a
/// second write starts from the initial window again. 0.9 s after, it does not.
#[test]
fn a_long_pause_starts_over_from_the_initial_window() {
    let second = |gap, restart| {
        let scene = Scene::opening(2).writing(&[(0, 20_000), (gap, 20_000)]);
        let run = scene.with("idle_restart", restart).run(gap + 50);
        run.rounds().last().cloned().unwrap()
    };
    assert_eq!(second(5000, true), (5000, after(&[], 20..22)));
    assert_eq!(second(5000, false), (5000, after(&[], 20..40)));
    assert_eq!(second(1200, true), (1200, after(&[], 20..40)));
}

/// A flow that is disabled for a while sends nothing, keeps its threshold, and starts again from
/// the initial window. From 2 segments with a threshold of 4, the third round has 5; from 250 ms on
/// there is nothing to send, and at 2250 ms, more than an RTO of 1 s later, all again: from the
/// initial window up to the threshold, and not beyond it in slow start. What was not sent is not
/// missing: segments are numbered on.
#[test]
fn a_paused_transfer_resumes_on_its_connection() {
    let rounds = |restart| {
        let mut scene = Scene::opening(2).writing(&[(0, u64::MAX), (250, 0), (2000, u64::MAX)]);
        scene.pauses = true;
        let scene = scene.with("initial_ssthresh", "4 packets").with("idle_restart", restart);
        scene.run(2480).rounds()
    };
    let before = [(0, after(&[], 0..2)), (100, after(&[], 2..6)), (200, after(&[], 6..11))];
    let again =
        [(2250, after(&[], 11..13)), (2350, after(&[], 13..17)), (2450, after(&[], 17..22))];
    assert_eq!(rounds(true), [before.clone(), again].concat());
    assert_eq!(rounds(false)[3], (2250, after(&[], 11..17)));
    assert_eq!(rounds(false)[..3], before);
}

/// A congestion control that needs nothing but acknowledgements learns that the flow starts again
/// from idle, but not where nothing has been sent, where data is outstanding, or of a fresh
/// connection, which has nothing to restart: writes at 0, 50, 450 and 1450 ms, of which all but the
/// second find everything acknowledged.
#[test]
fn a_restart_from_idle_is_told_to_every_control() {
    let restarts = |fresh| {
        let mut scene = Scene::steady(8);
        (scene.law, scene.fresh) = ("fixed", fresh);
        let run = scene.writing(&[(0, 2000), (50, 2000), (400, 2000), (1000, 2000)]).run(1600);
        assert_eq!(run.flow.delivered.packets, 8);
        run.log.restarts
    };
    assert_eq!(restarts(false), [at(450), at(1450)]);
    assert_eq!(restarts(true), []);
}

/// Initial windows are the published ones. RFC 2414 (section 1, equation 1) and RFC 3390: min(4
/// MSS, max(2 MSS, 4380 B)); RFC 5681 (section 3.1): 4, 3 or 2 segments of up to 1095, up to 2190
/// or more bytes; RFC 6928: min(10 MSS, max(2 MSS, 14600 B)).
#[test]
fn initial_windows_are_the_published_ones() {
    use forebay_elements::tcp::InitialWindow as Iw;
    let rfc3390 =
        [(536, 2144), (1000, 4000), (1095, 4380), (1460, 4380), (2190, 4380), (4380, 8760)];
    for window in [Iw::Rfc2414, Iw::Rfc3390] {
        assert!(rfc3390.iter().all(|(mss, bytes)| window.bytes(*mss) == *bytes));
    }
    let rfc5681 =
        [(536, 2144), (1095, 4380), (1096, 3288), (1500, 4500), (2190, 6570), (2191, 4382)];
    assert!(rfc5681.iter().all(|(mss, bytes)| Iw::Rfc5681.bytes(*mss) == *bytes));
    let rfc6928 = [(536, 5360), (1460, 14_600), (7300, 14_600), (9000, 18_000)];
    assert!(rfc6928.iter().all(|(mss, bytes)| Iw::Rfc6928.bytes(*mss) == *bytes));
    assert_eq!((Iw::Rfc2001.bytes(536), Iw::Rfc2581.bytes(536)), (536, 1072));
    assert_eq!(Iw::Segments(3).bytes(536), 1608);
}
