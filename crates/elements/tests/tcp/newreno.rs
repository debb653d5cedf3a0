//! Recovery without SACK: Reno and NewReno.

use crate::scene::{Scene, after};

/// Fast retransmit and fast recovery repair a single loss in one round trip (RFC 5681, section
/// 3.2). Of 8 segments the first is lost: 7 duplicates. The third: ssthresh 8/2 = 4,
/// retransmission, cwnd 4 + 3 = 7; four more inflate it to 11, and as 8 are outstanding the last
/// three of them send 8, 9, 10. A round trip later everything up to 8 is acknowledged: cwnd 4, and
/// with 3 outstanding one goes; three more acknowledgements send one each. Reno and NewReno agree
/// on a single loss (NewReno's min(4, 3 + 1) = 4), and so does SACK: pipe = 5 after the
/// retransmission, 3 after the fifth duplicate.
#[test]
fn a_single_loss_costs_one_round_trip() {
    for recovery in ["reno", "newreno", "sack"] {
        let run = Scene::steady(8).with("recovery", recovery).losing(&[0]).run(250);
        let rounds = [(0, after(&[], 0..8)), (100, after(&[0], 8..11)), (200, after(&[], 11..15))];
        assert_eq!(run.rounds(), rounds, "{recovery}");
        assert_eq!(run.ssthresh(), 4.0);
        assert_eq!(run.flow.retransmissions, 1);
        if recovery != "sack" {
            assert_eq!(run.cwnds(100), [7.0, 8.0, 9.0, 10.0, 11.0]);
            assert_eq!(run.cwnds(200), [4.0]);
        }
    }
}

/// Reno needs a timeout for three losses, as it is known to (RFC 6582, section 1). 16 segments, 0,
/// 4 and 8 lost: 13 duplicates inflate cwnd to 8 + 13 = 21 and send 16..20. The acknowledgement of
/// 0..3 ends the recovery: cwnd 8 with 17 outstanding. The five duplicates of 16..20 start another:
/// FlightSize is no more than the window of 8, ssthresh 4, retransmission of 4, cwnd 4 + 5 = 9 of
/// 17. The acknowledgement of 4..7 ends that at 300 ms: 13 outstanding, cwnd 4, nothing under way.
/// Only the timer is left: 300 ms + 1 s (no segment could be timed: all that were timed were sent
/// twice or lie behind a hole). Then the last hole is filled: ssthresh 4/2, and in slow start 21
/// and 22 follow.
#[test]
fn reno_needs_a_timeout_for_three_losses() {
    let run = Scene::steady(16).with("recovery", "reno").losing(&[0, 4, 8]).run(1450);
    let rounds = [
        (0, after(&[], 0..16)),
        (100, after(&[0], 16..21)),
        (200, vec![4]),
        (1300, vec![8]),
        (1400, after(&[], 21..23)),
    ];
    assert_eq!(run.rounds(), rounds);
    assert_eq!(run.timeouts(), [1300]);
    assert_eq!(run.cwnds(200), [8.0, 7.0, 8.0, 9.0]);
    assert_eq!(run.ssthresh(), 2.0);
}

/// NewReno repairs one loss each round trip (RFC 6582, section 3.2). As above until 200 ms; the
/// acknowledgement of 0..3 is partial: 4 is retransmitted, cwnd 21 - 4 + 1 = 18 against 17
/// outstanding sends 21, and the five duplicates send one each, up to 26, cwnd 23. 300 ms, 4..7
/// acknowledged: 8 is retransmitted, cwnd 23 - 4 + 1 = 20 against 19 sends 27, six duplicates send
/// 28..33, cwnd 26. 400 ms: everything up to 26 is acknowledged, which is beyond recover (15): 7
/// are outstanding, cwnd = min(8, 7 + 1), 34 goes, and 7 more acknowledgements send one each.
#[test]
fn newreno_repairs_three_losses_in_three_round_trips() {
    let run = Scene::steady(16).with("recovery", "newreno").losing(&[0, 4, 8]).run(450);
    let rounds = [
        (0, after(&[], 0..16)),
        (100, after(&[0], 16..21)),
        (200, after(&[4], 21..27)),
        (300, after(&[8], 27..34)),
        (400, after(&[], 34..42)),
    ];
    assert_eq!(run.rounds(), rounds);
    assert_eq!(run.cwnds(200), [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]);
    assert_eq!(run.cwnds(300), [20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0]);
    assert_eq!(run.cwnds(400), [8.0]);
    assert!(run.timeouts().is_empty());
}

/// Two neighbouring losses take two round trips: of 8 segments 0 and 1 are lost, six duplicates.
/// ssthresh 4; cwnd 7, 8, 9, 10 sends 8 and 9. Partial acknowledgement of 0 at 200 ms: 1 again,
/// cwnd 10 - 1 + 1 = 10 with 9 outstanding sends 10; duplicates of 8 and 9 send 11 and 12. 300 ms:
/// all up to 9 acknowledged, 3 outstanding, cwnd = min(4, 3 + 1): 13, then three more.
#[test]
fn newreno_repairs_neighbouring_losses() {
    let run = Scene::steady(8).with("recovery", "newreno").losing(&[0, 1]).run(350);
    let rounds = [
        (0, after(&[], 0..8)),
        (100, after(&[0], 8..10)),
        (200, after(&[1], 10..13)),
        (300, after(&[], 13..17)),
    ];
    assert_eq!(run.rounds(), rounds);
}

/// The acknowledgements of the published example: 13 duplicates, then partial ones up to 4 and 8.
fn example(mut more: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut acks = vec![(100, 0); 13];
    acks.extend([(200, 4), (300, 8)]);
    acks.append(&mut more);
    acks
}

/// The window is inflated and deflated as in RFC 6582, section 3.2: fed with exactly these
/// acknowledgements, cwnd goes 11 (third duplicate), 21 (ten more; 16..20 sent), 21 - 4 + 1 = 18
/// (17 outstanding: 21 sent), 18 - 4 + 1 = 15 (14 outstanding: 22 sent), and with everything up to
/// recover acknowledged (7 outstanding) min(8, 7 + 1) = 8.
#[test]
fn the_window_follows_the_published_example() {
    let acks = example(vec![(400, 16)]);
    let run = Scene::steady(16).with("recovery", "newreno").scripted(&acks).run(450);
    assert_eq!(run.cwnds(100)[0], 11.0);
    assert_eq!(run.cwnds(100).last(), Some(&21.0));
    assert_eq!(
        (run.cwnds(200), run.cwnds(300), run.cwnds(400)),
        (vec![18.0], vec![15.0], vec![8.0])
    );
    let rounds = [
        (0, after(&[], 0..16)),
        (100, after(&[0], 16..21)),
        (200, vec![4, 21]),
        (300, vec![8, 22]),
        (400, vec![23]),
    ];
    assert_eq!(run.rounds(), rounds);
}

/// The two timer variants differ (RFC 6582, section 3.2; RFC 3782, section 4): with no further
/// acknowledgement, Impatient times out 1 s after the first partial one (200 ms), Slow-but-Steady 1
/// s after the last (300 ms).
#[test]
fn impatient_restarts_the_timer_once() {
    let acks = example(Vec::new());
    for (variant, timeout) in [("impatient", 1200), ("slow-but-steady", 1300)] {
        let scene = Scene::steady(16).with("recovery", "newreno").with("newreno_timer", variant);
        assert_eq!(scene.scripted(&acks).run(1350).timeouts(), [timeout], "{variant}");
    }
}

/// Segments sent twice after a timeout are not taken for new losses by NewReno (RFC 6582, section
/// 3.2, steps 2 and 4): four segments time out at 1 s, recover is 3. 0 is acknowledged together
/// with 1, and in slow start 2 and 3 are sent again. Three duplicates for 2 make Reno retransmit it
/// once more; NewReno stays calm, as 2 is not beyond recover.
#[test]
fn duplicates_after_a_timeout_do_not_count() {
    let acks = [(1100, 2), (1200, 2), (1200, 2), (1200, 2)];
    let rounds = |recovery| {
        let scene = Scene::steady(4).with("recovery", recovery);
        scene.scripted(&acks).run(1250).rounds()
    };
    let until_then = [(0, after(&[], 0..4)), (1000, vec![0]), (1100, vec![2, 3])];
    assert_eq!(rounds("newreno"), until_then);
    assert_eq!(rounds("reno")[..3], until_then);
    assert_eq!(rounds("reno")[3].1[0], 2);
}

/// Limited transmit saves small windows the wait for the timer (RFC 3042). Of 3 segments the first
/// is lost: two duplicates are too few for fast retransmit, and without limited transmit the timer
/// expires at 1 s. With it, each sends a new segment; at 200 ms their duplicates make the third
/// (retransmission; the two extra segments do not count, so ssthresh = max(3/2, 2)) and the fourth:
/// cwnd 2 + 3 + 1 = 6 with 5 outstanding sends 5. With SACK: pipe = 2 and 2 on the duplicates
/// leaves one each; at 200 ms the third leaves pipe 2 = cwnd, the fourth 1.
#[test]
fn limited_transmit_saves_the_timeout() {
    for recovery in ["reno", "newreno", "sack"] {
        let scene = || Scene::steady(3).with("recovery", recovery).losing(&[0]);
        assert_eq!(scene().run(1050).rounds(), [(0, vec![0, 1, 2]), (1000, vec![0])]);
        let run = scene().with("limited_transmit", true).run(250);
        let rounds = [(0, vec![0, 1, 2]), (100, vec![3, 4]), (200, vec![0, 5])];
        assert_eq!(run.rounds(), rounds, "{recovery}");
        assert_eq!(run.ssthresh(), 2.0, "{recovery}");
    }
}

/// A window does not go out back to back where a limit is set (RFC 6582, section 3.2): a window of
/// 16 goes out at once without one, and each acknowledgement then allows one more. With a limit of
/// 4, the write sends 4, and so does each acknowledgement while there is room.
#[test]
fn bursts_are_limited_where_asked() {
    let acks = [(100, 1), (100, 2)];
    let rounds = |scene: Scene| scene.scripted(&acks).run(150).rounds();
    assert_eq!(rounds(Scene::steady(16)), [(0, after(&[], 0..16)), (100, after(&[], 16..18))]);
    let limited = Scene::steady(16).with("max_burst", 4);
    assert_eq!(rounds(limited), [(0, after(&[], 0..4)), (100, after(&[], 4..12))]);
}
