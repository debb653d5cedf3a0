//! Reductions of the window of a sender when congestion is signalled, whatever happened before.

use std::sync::{Arc, Mutex};

use forebay_kernel::Streams;
use forebay_laws::control::CONTROLS;
use forebay_network::Signal;
use forebay_parameters::Value;

use crate::scene::{Log, Reduction, Scene, Watch, at};
use crate::soak::{FLOWS, files, network};

/// One loss whose retransmission is lost, too, of 16 segments.
fn lost_retransmission(recovery: &str, law: &'static str) -> Vec<Reduction> {
    let mut scene = Scene::steady(16).with("recovery", recovery).with("rto_initial", "1050 ms");
    scene.drops = vec![(0, 0), (0, 1)];
    scene.law = law;
    scene.run(1100).log.reductions
}

/// A lost retransmission does not let the threshold rise above the window that failed. Of 16
/// segments 0 is lost, twice.
///
/// SACK (RFC 6675): on the third duplicate FlightSize is 16, ssthresh = cwnd = 8, and after the
/// retransmission pipe is 12 + 1. The sixth to twelfth of the twelve further duplicates each leave
/// room for one new segment, and so do the seven that these bring in each of the nine round trips
/// that follow: SND.NXT - SND.UNA is 16 + 7 * 10 = 86 when the timer expires at 1050 ms. Of them 78
/// have been SACKed; pipe is the last seven and the retransmission, 8 = cwnd: ssthresh 4 (RFC 5681,
/// equation 4). Half of SND.NXT - SND.UNA would be 43.
///
/// NewReno (RFC 6582): the same duplicates inflate cwnd from 8 to 8 + 15 + 9 * 7 = 86, and as many
/// segments are between SND.UNA and SND.NXT; but the window is 8 (RFC 5681, section 3.2: inflation
/// stands for segments that have left the network).
#[test]
fn a_lost_retransmission_does_not_raise_the_threshold() {
    for recovery in ["newreno", "sack"] {
        let seen: Vec<_> = lost_retransmission(recovery, "reno")
            .iter()
            .map(|r| (r.at, r.outstanding, r.before / 1e3, r.flight / 1e3, r.ssthresh / 1e3))
            .collect();
        let expected = [(at(100), 16, 16.0, 16.0, 8.0), (at(1050), 86, 8.0, 8.0, 4.0)];
        assert_eq!(seen, expected, "{recovery}");
    }
}

/// The same for CUBIC (RFC 9438, section 4.6), which keeps 0.7: 16 segments leave 11.2, of which 11
/// whole ones are in the network when the timer expires: 7.7.
#[test]
fn cubic_keeps_its_share_of_what_is_in_the_network() {
    let seen = lost_retransmission("sack", "cubic");
    let thresholds: Vec<f64> = seen.iter().map(|r| r.ssthresh / 1e3).collect();
    assert!((thresholds[0] - 11.2).abs() < 1e-9 && (thresholds[1] - 7.7).abs() < 1e-9);
}

/// A segment that times out again does not shrink the threshold again (RFC 5681, section 3.1), and
/// one that follows it is judged by what was sent since the first timeout. 0 and 1 of 16 are lost,
/// 0 also at the first timeout at 1 s, which halves 16 to 8 as no duplicate may count (the
/// threshold of duplicates is 16 here). At 3 s 0 goes again and brings an acknowledgement of 0 (1
/// expected) at 3.1 s; the window of 2 sends 1 and 2. 1 is lost for the second time: at its own
/// timeout two segments were sent since, the window is 2: ssthresh = max(1, 2).
#[test]
fn later_timeouts_count_what_was_sent_since() {
    let mut scene = Scene::steady(16).with("recovery", "newreno").with("dupack_threshold", 16);
    scene.drops = vec![(0, 0), (1, 0), (0, 1), (1, 1)];
    let seen: Vec<_> = scene
        .run(8000)
        .log
        .reductions
        .iter()
        .map(|r| (r.signal, r.flight / 1e3, r.ssthresh / 1e3))
        .collect();
    let timeout = |first| Signal::Timeout { first };
    let expected =
        [(timeout(true), 16.0, 8.0), (timeout(false), 1.0, 8.0), (timeout(true), 2.0, 2.0)];
    assert_eq!(seen, expected);
}

/// Counts of [`check`]: losses, timeouts, marks, and reductions with more outstanding than the
/// window.
type Seen = [u64; 4];

/// A congestion event never raises the window, nor sets the threshold above the window before or
/// above what was in flight, unless the law sets that by what it knows `of_the_path`; what is in
/// flight is never more than what lay between SND.UNA and SND.NXT. All but for the floor of two
/// segments (RFC 5681, equation 4).
fn check(reductions: &[Reduction], smss: f64, what: &str, of_the_path: bool, seen: &mut Seen) {
    let floor = 2.0 * smss;
    for r in reductions {
        let told = format!("{what}: {r:?}");
        assert!(r.flight <= r.before, "{told}");
        assert!(r.flight <= r.outstanding as f64 * smss, "{told}");
        assert!(r.cwnd <= r.before.max(floor), "{told}");
        match r.signal {
            Signal::Loss => assert!(r.ssthresh <= r.flight.max(floor) || of_the_path, "{told}"),
            Signal::Timeout { first: true } => {
                assert!(r.ssthresh <= r.flight.max(floor) || of_the_path, "{told}");
                assert!(r.cwnd <= smss, "{told}");
            }
            // The threshold of the first timeout of that segment stays.
            Signal::Timeout { first: false } => assert!(r.cwnd <= smss, "{told}"),
            Signal::Ecn => {}
        }
        if r.signal != (Signal::Timeout { first: false }) && !of_the_path {
            assert!(r.ssthresh <= r.before.max(floor), "{told}");
        }
        let kind = match r.signal {
            Signal::Loss => 0,
            Signal::Timeout { .. } => 1,
            Signal::Ecn => 2,
        };
        seen[kind] += 1;
        seen[3] += u64::from(r.outstanding as f64 * smss > r.before + floor);
    }
}

/// No law in any state answers congestion by a larger window: every congestion control, every
/// recovery, with and without timestamps, delayed acknowledgements, limited transmit and marks, at
/// losses both ways that lose retransmissions and repeat timeouts, with writes that let connections
/// idle in between.
#[test]
fn congestion_never_raises_a_window() {
    let recoveries: [&[(&str, &str)]; 4] = [
        &[("recovery", "reno")],
        &[("recovery", "newreno")],
        &[("recovery", "sack")],
        &[("recovery", "sack"), ("sack_at_timeout", "keep")],
    ];
    for entry in CONTROLS {
        for words in recoveries {
            let mut seen = Seen::default();
            for case in 0..12_u64 {
                let loss = [0.01, 0.05, 0.25][case as usize % 3];
                let streams = Streams::new(29, case);
                let mut entries: Vec<(&str, Value)> =
                    words.iter().map(|(key, word)| (*key, Value::from(*word))).collect();
                for (bit, key) in ["timestamps", "delayed_ack", "ecn"].into_iter().enumerate() {
                    entries.push((key, (case >> bit & 1 == 1).into()));
                }
                entries.push(("limited_transmit", (case % 5 != 0).into()));
                entries.push(("initial_window", "10 packets".into()));
                let files = files(&streams);
                let mut network = network(&entries, entry.name, loss, &files, &streams);
                let log = Arc::new(Mutex::new(Log::default()));
                network.attach(Box::new(Watch(Arc::clone(&log))));
                network.run(at(10_000_000), 10_000_000);
                let log = log.lock().unwrap();
                let what = format!("{} {words:?}, case {case}", entry.name);
                let of_the_path = ["bbr", "bbr3", "westwood"].contains(&entry.name);
                check(&log.reductions, 536.0, &what, of_the_path, &mut seen);
            }
            let least = u64::from(FLOWS);
            assert!(seen.iter().all(|n| *n >= least), "{} {words:?}: {seen:?}", entry.name);
        }
    }
}
