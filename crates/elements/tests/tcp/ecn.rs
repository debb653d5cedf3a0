//! Explicit congestion notification (RFC 3168, section 6.1).

use forebay_network::Ecn;
use forebay_units::Span;

use crate::scene::{Scene, after, at};

fn scene(window: u64) -> Scene {
    Scene::steady(window).with("ecn", true)
}

/// A mark halves the window exactly once. 20 segments, the first marked: all 20 acknowledgements
/// carry ECN-Echo, the first halves cwnd to 10, none opens it; from the eleventh on (9 outstanding)
/// one segment goes for each: 20..29. Only the first of them carries CWR; when it arrives the echo
/// ends.
#[test]
fn a_mark_halves_the_window_once() {
    let mut scene = scene(20);
    scene.marks = vec![0];
    let run = scene.run(260);
    assert_eq!(run.rounds()[1], (100, after(&[], 20..30)));
    assert_eq!(run.cwnds(100), [10.0]);
    let cwr: Vec<u64> =
        run.log.data.iter().filter(|(_, p)| p.cwr()).map(|(_, p)| p.number).collect();
    assert_eq!(cwr, [20]);
    let echoes = run.log.acks.iter().filter(|(_, p)| p.ece()).count();
    assert_eq!(echoes, 20);
    assert!(run.log.acks.iter().all(|(time, p)| p.ece() == (*time == at(50))));
    // The ten segments of a window were acknowledged.
    assert_eq!(run.cwnds(200), [11.0]);
}

/// Repeated echoes count once for each window. Echoes on 1..20, all outstanding at the reduction:
/// 20 to 10 once. The acknowledgement of 20..24, sent afterwards, carries one too: 10 to 5.
#[test]
fn echoes_count_once_for_each_window() {
    let mut scene = scene(20);
    scene.script = Some((1..=20).map(|n| (100, n, true)).chain([(200, 25, true)]).collect());
    let run = scene.run(250);
    assert_eq!((run.cwnds(100), run.cwnds(200)), (vec![10.0], vec![5.0]));
}

/// A loss in a window that a mark has already halved does not halve it again. As above, with 5
/// lost: the recovery keeps ssthresh and cwnd at 10 (for a loss alone it is (20 - 5)/2).
#[test]
fn a_loss_in_a_marked_window_does_not_count_again() {
    let mut marked = scene(20).losing(&[5]);
    marked.marks = vec![0];
    let run = marked.run(150);
    assert_eq!(run.flow.retransmissions, 1);
    assert_eq!(run.cwnds(100), [10.0]);
    assert_eq!(run.ssthresh(), 10.0);
}

/// Retransmissions and acknowledgements are not ECN-capable, so that they are dropped and not
/// marked (RFC 3168, sections 6.1.4 and 6.1.5), and a reduction after a loss is reported: the first
/// new segment after the fast retransmission carries CWR.
#[test]
fn only_new_data_is_ecn_capable() {
    let run = scene(8).losing(&[0]).run(150);
    assert!(run.log.data.iter().all(|(_, p)| p.is_ecn_capable() != p.is_retransmission()));
    assert!(run.log.acks.iter().all(|(_, p)| p.ecn() == Ecn::NotEct));
    let cwr: Vec<u64> =
        run.log.data.iter().filter(|(_, p)| p.cwr()).map(|(_, p)| p.number).collect();
    assert_eq!(cwr, [8]);
}

/// A mark reduces a window of one segment, too (RFC 3168, section 6.1.2): the next segment waits
/// until the timer expires, 1 s after the echo at 100 ms, without counting as a timeout.
#[test]
fn a_single_segment_waits_for_the_timer() {
    let mut scene = scene(1);
    scene.marks = vec![0];
    let run = scene.run(1150);
    assert_eq!(run.rounds(), [(0, vec![0]), (1100, vec![1])]);
    assert!(run.log.data[1].1.cwr());
    assert_eq!(run.flow.timeouts, 0);
}

/// A sender that did not agree to ECN neither sends nor obeys it.
#[test]
fn without_ecn_nothing_is_capable() {
    let mut scene = Scene::steady(4);
    scene.marks = vec![0];
    let run = scene.run(250);
    assert!(run.log.data.iter().all(|(_, p)| p.ecn() == Ecn::NotEct && !p.cwr()));
    assert!(run.log.acks.iter().all(|(_, p)| !p.ece()));
}

/// A fresh connection sets CWR where marks are echoed, which stops the echo of marks that were of
/// the connection before, but not where marks are counted and its bit is of the ACE field (RFC
/// 9768, section 3.2.1): the mark of segment 1 is echoed until CWR.
#[test]
fn fresh_connections_stop_echoes_but_not_counters() {
    for (law, reported) in [("reno", &[2][..]), ("prague", &[])] {
        let mut scene = scene(8).writing(&[(0, 2000), (1000, 2000)]);
        (scene.law, scene.fresh, scene.marks) = (law, true, vec![1]);
        let run = scene.run(1300);
        let cwr = run.log.data.iter().filter(|(_, p)| p.cwr()).map(|(_, p)| p.number);
        assert_eq!(cwr.collect::<Vec<_>>(), reported, "{law}");
        if law == "reno" {
            let echoes: Vec<bool> = run.log.acks.iter().map(|(_, p)| p.ece()).collect();
            assert_eq!(echoes, [false, true, false, false]);
        }
    }
}

/// Segments of Prague are ECT(1), sent again or not (RFC 9331, section 4.1), so that they have the
/// L4S queue and are not dropped where others are marked; none carries CWR, as its bit is of the
/// ACE field (RFC 9768, section 3.1.5). Of 20 segments the first, third and fifth are marked: the
/// field counts 5 + 1, 5 + 2 and, modulo 8, 5 + 3. The first halves the window, and the others of
/// this round trip take nothing; four segments that are not marked add a tenth each to ten, rounded
/// up to eleven. Of those, with the ten that marks took, the loss of the eighth leaves half.
#[test]
fn prague_is_ect1_throughout_and_its_marks_are_counted() {
    let mut scene = scene(20).losing(&[7]);
    scene.law = "prague";
    scene.marks = vec![0, 2, 4];
    let run = scene.run(300);
    assert!(run.log.data.iter().all(|(_, p)| p.ecn() == Ecn::Ect1 && !p.cwr()));
    assert_eq!(run.flow.retransmissions, 1);
    let fields: Vec<u8> = run.log.acks.iter().take(8).map(|(_, p)| p.ace()).collect();
    assert_eq!(fields, [6, 6, 7, 7, 0, 0, 0, 0]);
    let windows: Vec<f64> = run.log.windows.iter().map(|told| told.1).collect();
    assert_eq!(windows[..2], [10.0, 11.0]);
    assert_eq!(run.ssthresh(), (11.0 + 10.0) / 2.0);
}

/// Marks and their answer are acknowledged at once, so that a sender whose window a mark has made
/// small does not wait for the timer of the receiver, as Linux's does not (net/ipv4/tcp_input.c:
/// __tcp_ecn_check_ce, tcp_ecn_accept_cwr): the first mark has two acknowledgements sent at once,
/// so those of segments 2 and 3 of six come apart, and so does that of the segment with CWR. A mark
/// before CWR hastens nothing more: that of segment 4 does not.
#[test]
fn marks_and_their_answer_are_acknowledged_at_once() {
    for (prompt, first) in [(true, vec![2, 3, 4, 6]), (false, vec![2, 4, 6])] {
        let scene = Scene::steady(6).with("delayed_ack", true).with("ecn", true);
        let mut scene = scene.with("prompt_acks", prompt);
        scene.marks = vec![2, 4];
        let run = scene.run(400);
        let acks = run.acks();
        let numbers: Vec<u64> = acks.iter().filter(|ack| ack.0 == 50).map(|ack| ack.1).collect();
        assert_eq!(numbers, first);
        let (sent, answer) = run.log.data.iter().find(|(_, p)| p.cwr()).expect("a mark came");
        let arrival = (*sent + Span::from_ms(50)).ps() / Span::from_ms(1).ps();
        let at_once = acks.contains(&(arrival, answer.number + 1));
        assert!(at_once || !prompt, "{answer:?} at {arrival} ms: {acks:?}");
    }
}
