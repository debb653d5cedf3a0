//! Recovery with SACK (RFC 2018, RFC 6675).

use crate::scene::{Scene, after};

/// SACK repairs many losses in one round trip (RFC 6675, section 5). 16 segments, 0, 4 and 8 lost;
/// ssthresh = cwnd = 8. The third duplicate (1, 2, 3 SACKed): 0 again, pipe 12 + 1. Each further
/// one lowers pipe: 5 (12), 6 (11), 7 (9, as 4 is now lost), 9 (8), 10 (7): 4 again. 11: pipe is
/// 12..15, two retransmissions = 6: 8 again, and 16. 12, 13, 14, 15 leave one segment each: 17..20.
/// At 200 ms the three retransmissions are acknowledged one after the other: 4: pipe 7, 21; 8: pipe
/// 7, 22; 16: the end, 7 outstanding, 23; then one for each of 16..20. Those five and the first
/// three at 300 ms are a window acknowledged: cwnd 9.
#[test]
fn three_losses_cost_one_round_trip() {
    let run = Scene::steady(16).losing(&[0, 4, 8]).run(350);
    let rounds = [
        (0, after(&[], 0..16)),
        (100, after(&[0, 4, 8], 16..21)),
        (200, after(&[], 21..29)),
        (300, after(&[], 29..38)),
    ];
    assert_eq!(run.rounds(), rounds);
    assert_eq!(run.cwnds(100), [8.0]);
    assert_eq!((run.cwnds(200), run.cwnds(300)), (vec![], vec![9.0]));
    assert_eq!((run.flow.retransmissions, run.flow.timeouts), (3, 0));
}

/// The rescue retransmission saves the tail of a flight that has other losses from waiting for the
/// timer (RFC 6675, NextSeg rule 4). Of 10 segments 0 and 9 are lost; the eight duplicates know
/// nothing of 9. When the retransmission of 0 is acknowledged (9 is the next expected), the one
/// rescue retransmission repairs it: all is acknowledged at 300 ms.
#[test]
fn the_rescue_retransmission_saves_the_tail() {
    let run = Scene::opening(10).writing(&[(0, 10_000)]).losing(&[0, 9]).run(2000);
    assert_eq!(run.rounds(), [(0, after(&[], 0..10)), (100, vec![0]), (200, vec![9])]);
    assert_eq!(run.log.ended, [(0, crate::scene::at(300))]);
    assert_eq!(run.flow.goodput, 10_000);
}

/// Holes that are not yet proven lost are filled when nothing else can be sent (RFC 6675, NextSeg
/// rule 3). Of 8 segments, all that there is, 0 and 5 are lost: the duplicates of 1..4, 6 and 7
/// leave only two SACKed above 5, so 5 is not lost by count. ssthresh = cwnd = 4; pipe on the last
/// duplicate: not lost 5, retransmitted 0: 2, on the last but one 3: room, and the only candidate
/// is 5, below the highest SACKed segment. At 200 ms, 0..4 are acknowledged first: pipe leaves
/// room, and rule 4 names the highest outstanding segment, 5, once more before its own
/// acknowledgement is seen.
#[test]
fn probable_holes_are_filled_when_nothing_else_is_left() {
    let run = Scene::opening(8).writing(&[(0, 8000)]).losing(&[0, 5]).run(2000);
    assert_eq!(run.rounds(), [(0, after(&[], 0..8)), (100, vec![0, 5]), (200, vec![5])]);
    assert_eq!(run.log.ended, [(0, crate::scene::at(200))]);
}

/// A timeout sends only what is missing (RFC 6675, section 5.1). Of 8 segments 0 and 4 are lost,
/// and their fast retransmissions too. The timer, started at 0 and never restarted as nothing new
/// was acknowledged, expires at 1 s. 0 again; its acknowledgement (4 expected, the rest above
/// SACKed) opens the window to 2: 4 again, and then new data: the segments in between are known to
/// have arrived.
#[test]
fn a_timeout_sends_only_what_is_missing() {
    for policy in ["clear", "keep"] {
        // Acknowledgements come every 100 ms: the timer expires between two of them.
        let mut scene = Scene::steady(8).with("sack_at_timeout", policy).losing(&[0, 4]);
        scene = scene.with("rto_initial", "1050 ms");
        scene.drops.extend([(0, 1), (4, 1)]);
        let run = scene.run(1200);
        assert_eq!(run.timeouts(), [1050]);
        assert_eq!(run.flow.retransmissions, 4, "{policy}: {:?}", run.rounds());
        let after_timeout: Vec<_> = run.rounds().into_iter().filter(|r| r.0 >= 1050).collect();
        assert_eq!(after_timeout[0], (1050, vec![0]));
        assert_eq!(after_timeout[1].1[0], 4);
        assert!(after_timeout[1].1[1] >= 8);
    }
}

/// SACK information that is kept at a timeout spares needless retransmissions (RFC 2018, section 5;
/// RFC 6675, section 5.1). Of 12 segments the even ones are lost; ssthresh = cwnd = 6, and six
/// duplicates let 0, 2, 4 and 6 go again (pipe 9, 7, 5, 4 after the third to sixth), in vain. After
/// the timeout at 1 s, 0 brings an acknowledgement (2 expected) with the four ranges reported last:
/// 11, 9, 7, 5. A sender that has forgotten the rest sends 2 and 3; one that remembers knows that 3
/// has arrived, and sends 2 and 4.
#[test]
fn kept_information_spares_needless_retransmissions() {
    for (policy, then) in [("clear", vec![2, 3]), ("keep", vec![2, 4])] {
        let mut scene = Scene::steady(12).with("sack_at_timeout", policy);
        scene = scene.losing(&[0, 2, 4, 6, 8, 10]);
        scene.drops.extend([(0, 1), (2, 1), (4, 1), (6, 1)]);
        let rounds = scene.run(1150).rounds();
        assert_eq!(rounds[1..], [(100, vec![0, 2, 4, 6]), (1000, vec![0]), (1100, then)]);
    }
}

/// A sender that goes back after a timeout does not overrun its receiver. The receiver takes 8
/// segments; 0, 2 and 4 are lost, and their fast retransmissions (cwnd 4; pipe 5, 3, 2 after the
/// third to fifth duplicate). After the timeout at 1 s, 0 gets through, and in a window of 2 go 2,
/// lost for the third time, and 4. The news of 4 leaves one segment under way and sends 8, that of
/// 8 sends 9; the news of 9 sends nothing, although cwnd allows it: 2..9 fill the receiver's
/// window. At 3.1 s, two (backed off) seconds after the last new acknowledgement, 2 goes again.
#[test]
fn the_receivers_window_also_holds_after_a_timeout() {
    let mut scene = Scene::steady(8).with("window", "8 packets").losing(&[0, 2, 4]);
    scene.drops.extend([(0, 1), (2, 1), (4, 1), (2, 2)]);
    let rounds = [
        (0, after(&[], 0..8)),
        (100, vec![0, 2, 4]),
        (1000, vec![0]),
        (1100, vec![2, 4]),
        (1200, vec![8]),
        (1300, vec![9]),
        (3100, vec![2]),
    ];
    assert_eq!(scene.run(3150).rounds(), rounds);
}

/// The loss of a retransmission does not stop a connection for good: in every kind of recovery it
/// is left to the timer, and the flow continues.
#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    for recovery in ["reno", "newreno", "sack"] {
        let mut scene = Scene::opening(8).with("recovery", recovery).writing(&[(0, 8000)]);
        scene.drops = vec![(0, 0), (0, 1)];
        let run = scene.run(5000);
        // Nothing new was acknowledged before: the timer runs since 0.
        assert_eq!(run.timeouts(), [1000], "{recovery}");
        assert_eq!(run.log.ended, [(0, crate::scene::at(1100))], "{recovery}");
    }
}

/// Acknowledgements grow with their blocks, as a slow reverse link shows: 40 B, and with SACK 4 + 8
/// B for each block (RFC 2018, section 3, padded to words), at most 4 blocks, 3 beside timestamps
/// (12 B). Every other one of 12 segments is lost: 1, 3, 5, 7, 9, 11 arrive above the gap at 0.
#[test]
fn acknowledgements_grow_with_their_blocks() {
    let sizes = |scene: Scene| -> Vec<u16> {
        let run = scene.losing(&[0, 2, 4, 6, 8, 10]).run(60);
        run.log.acks.iter().map(|(_, packet)| packet.size).collect()
    };
    assert_eq!(sizes(Scene::steady(12)), [52, 60, 68, 76, 76, 76]);
    assert_eq!(sizes(Scene::steady(12).with("timestamps", true)), [64, 72, 80, 80, 80, 80]);
    assert_eq!(sizes(Scene::steady(12).with("sack_header_bytes", false)), [40; 6]);
    assert_eq!(sizes(Scene::steady(12).with("recovery", "newreno")), [40; 6]);
}
