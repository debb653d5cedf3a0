//! Calls that come with a reroute, calls of several flows, and extreme numbers of calls.

use std::collections::BTreeMap;

use crate::support::{call_log, calls, floats, flow, read, record, run, run_with, table, trace};

const S: u64 = 1_000_000_000_000;
const SILENT: &str = "traffic = { cbr = { rate = \"8 bit/s\", size = \"65535 B\" } }\n";

/// One class of calls on a fast link.
fn network(duration: &str, aggregate: &str, flow: &str, more: &str) -> String {
    format!(
        "duration = \"{duration}\"\n\
         [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\nduplex = false\n\
         [aggregates.ab]\n{aggregate}\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\naggregate = \"ab\"\n{flow}\n{more}"
    )
}

/// Times of one kind of event.
fn times(log: &[(u64, &'static str, String, u64)], event: &str) -> Vec<u64> {
    log.iter().filter(|row| row.1 == event).map(|row| row.0).collect()
}

/// The largest distance between the shares of `values` and of the uniform law on `from` to `to`,
/// times the root of their number (Kolmogorov's statistic).
fn kolmogorov(values: &[u64], from: u64, to: u64) -> f64 {
    let n = values.len() as f64;
    let theory = |value: u64| ((value - from) as f64 / (to - from) as f64).min(1.0);
    let distance = values.iter().enumerate().map(|(i, value)| {
        let (below, above) = (i as f64 / n, (i + 1) as f64 / n);
        (theory(*value) - below).abs().max((above - theory(*value)).abs())
    });
    distance.fold(0.0, f64::max) * n.sqrt()
}

/// A surge without a duration comes at one instant.
#[test]
fn a_surge_without_duration_comes_at_once() {
    let class =
        format!("calls = {{ initial = 7, surges = [{{ at = \"2 s\", calls = 300 }}] }}\n{SILENT}");
    let text = network("5 s", &lines(1), &class, "[record]\ncalls = true\n");
    let (result, tables) = record(&text);
    let log = call_log(&tables);
    assert_eq!(times(&log, "initial"), [0; 7]);
    assert_eq!(times(&log, "rerouted"), [2 * S; 300]);
    // They do not ask for admission, so that the one line is taken 307 times.
    let counted = calls(&result, "x");
    assert_eq!((counted.rerouted, counted.present, counted.blocked), (307, 307, 0));
    // 7 for 2 s and 307 for 3 s of 5 s.
    assert!((counted.mean_present - (7.0 + 300.0 * 0.6)).abs() < 1e-9);
}

fn lines(calls: u32) -> String {
    format!("admission = {{ capacity = {{ calls = {calls} }} }}")
}

/// A slow reroute is that of draft-babiarz-pcn-explicit-marking-02, section 4.1: 80 % of the calls
/// come within 1 s and 20 % in the 5 s after it, uniform over each (Kolmogorov's statistic stays
/// below 2.2 with probability 0.9999). A uniform law over all 6 s is rejected.
#[test]
fn a_ramp_is_uniform_over_its_parts() {
    let class = format!(
        "calls = {{ surges = [{{ at = \"3 s\", calls = 1600, over = \"1 s\" }}, \
         {{ at = \"4 s\", calls = 400, over = \"5 s\" }}] }}\n{SILENT}"
    );
    let log = call_log(&record(&network("10 s", "", &class, "[record]\ncalls = true\n")).1);
    let times = times(&log, "rerouted");
    assert!(times.is_sorted());
    let (fast, slow) = times.split_at(times.partition_point(|time| *time < 4 * S));
    assert_eq!((fast.len(), slow.len()), (1600, 400));
    assert!(fast[0] >= 3 * S && slow[399] < 9 * S);
    assert!(kolmogorov(fast, 3 * S, 4 * S) < 2.2);
    assert!(kolmogorov(slow, 4 * S, 9 * S) < 2.2);
    assert!(kolmogorov(&times, 3 * S, 9 * S) > 2.2);
}

const LINKED: &str = "linked = [{ voice = { codec = \"g711_20ms\" } }, \
     { cbr = { rate = \"400 kbit/s\", size = \"1000 B\" } }]\n";

/// The flows of one call share its life: they arrive at one instant, whether initial, new or
/// rerouted, end at one instant, and are blocked together; each is counted and sends under its own
/// name.
#[test]
fn linked_flows_start_and_end_together() {
    let class = format!(
        "calls = {{ rate = \"4 /s\", holding = \"2 s\", media_delay = \"1 s\", initial = 3, \
         surges = [{{ at = \"5 s\", calls = 9, over = \"3 s\" }}] }}\n{LINKED}"
    );
    let text = network("20 s", &lines(10), &class, "[record]\ncalls = true\n");
    let (result, tables) = record(&text);
    let log = call_log(&tables);
    for event in ["initial", "admitted", "rerouted", "ended"] {
        let of = |name: &str| {
            let mine = log.iter().filter(|row| row.1 == event && row.2 == name);
            let mut times: Vec<u64> = mine.map(|row| row.0).collect();
            times.sort_unstable();
            times
        };
        assert_eq!(of("x[0]"), of("x[1]"), "{event}");
        assert!(!of("x[0]").is_empty(), "{event}");
    }
    let (voice, video) = (calls(&result, "x[0]"), calls(&result, "x[1]"));
    assert_eq!(
        (voice.admitted, voice.blocked, voice.rerouted, voice.ended, voice.present),
        (video.admitted, video.blocked, video.rerouted, video.ended, video.present)
    );
    assert!(voice.blocked > 0);
    // 20 of 200 B and 50 of 1000 B a second, for the same time.
    let sent = |name: &str| flow(&result, name).counted.sent_packets as f64;
    let ratio = sent("x[1]") / sent("x[0]");
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

/// A loss system takes a call of two flows for one call: 10 lines carry 10 calls of any number of
/// flows.
#[test]
fn a_call_of_two_flows_takes_one_line() {
    for media in [SILENT, LINKED] {
        let class = format!("calls = {{ rate = \"200 /s\" }}\n{media}");
        let result = run(&network("2 s", &lines(10), &class, ""));
        assert!(
            result
                .rows::<forebay_scenario::CallResult>()
                .iter()
                .all(|class| class.present == 10 && class.blocked > 100)
        );
    }
}

/// Only calls that are present send: of calls of 8 packets a second without pause, `sent` lies
/// within one packet of 8 times the call seconds, and each packet left while calls were present.
#[test]
fn only_calls_that_are_there_send() {
    let class = "calls = { rate = \"2 /s\", holding = \"1 s\" }\n\
         traffic = { cbr = { rate = \"12.8 kbit/s\", size = \"200 B\", random_phase = false } }";
    let text = network("200 s", &lines(1), class, "[record]\ncalls = true\ntrace = 100000\n");
    let (result, tables) = record(&text);
    let counted = calls(&result, "x");
    assert!(counted.blocked > 100 && counted.admitted > 60);
    let log = call_log(&tables);
    let (starts, ends) = (times(&log, "admitted"), times(&log, "ended"));
    let mut expected = Vec::new();
    for (at, start) in starts.iter().enumerate() {
        let end = ends.get(at).copied().unwrap_or(200 * S);
        // The packet that is due when the call ends is not sent.
        expected.extend((0..).map(|n| start + n * S / 8).take_while(|time| *time < end));
    }
    let rows = trace(&tables).into_iter().filter(|row| row.event == "sent");
    let sent: Vec<u64> = rows.map(|row| row.time).collect();
    assert_eq!(sent.len(), expected.len());
    // The log is in seconds as doubles: exact to a picosecond below 1000 s.
    assert!(sent.iter().zip(&expected).all(|(sent, time)| sent.abs_diff(*time) <= 1));
}

/// Calls balance, and recording changes nothing, with many calls at once, huge batches, endless or
/// very short calls, instant signals and a single source.
#[test]
fn extreme_numbers_of_calls_balance() {
    for (aggregate, class) in [
        ("", "surges = [{ at = \"10 ms\", calls = 100000 }], holding = \"1 h\""),
        ("", "rate = \"100 /s\", batch = 1e4, holding = \"1 ms\""),
        ("", "rate = \"100 /s\", batch = 1e4, batch_law = \"fixed\", holding = \"5124 h\""),
        ("", "rate = \"1000 /s\", sources = 1, holding = \"1 ms\""),
        ("", "rate = \"1000000 /s\", holding = \"1 ps\""),
        ("rtt = \"0 s\"\ntermination = \"per_packet\"", "initial = 5000, media_delay = \"5124 h\""),
        ("rtt = \"0 s\"\nprobing = {}", "rate = \"5000 /s\", holding = \"20 ms\""),
        ("rtt = \"5124 h\"\nprobing = {}", "rate = \"5000 /s\", holding = \"20 ms\""),
    ] {
        let text = network("100 ms", aggregate, &format!("calls = {{ {class} }}\n{SILENT}"), "");
        let scenario = read(&text);
        let (result, _) = run_with(&scenario, 0, false);
        let counted = calls(&result, "x");
        let begun = counted.admitted + counted.rerouted;
        let over = counted.ended + counted.terminated + counted.refused;
        assert_eq!(begun - over, u64::from(counted.present), "{class}");
        assert!(begun > 10, "{class}: {begun}");
        assert_eq!(run_with(&scenario, 0, true).0.digest, result.digest, "{class}");
    }
}

/// An aggregate's table reports the calls that the counters have: the probe of flows present is the
/// running sum of the log.
#[test]
fn the_gauge_of_present_flows_follows_the_log() {
    let class = format!("calls = {{ rate = \"30 /s\", holding = \"1 s\", initial = 9 }}\n{SILENT}");
    let text = network("10 s", &lines(25), &class, "[record]\ncalls = true\nseries = \"70 ms\"\n");
    let (_, tables) = record(&text);
    let mut balance: BTreeMap<u64, i64> = BTreeMap::new();
    for (time, event, ..) in call_log(&tables) {
        *balance.entry(time).or_default() += match event {
            "initial" | "admitted" => 1,
            "ended" => -1,
            other => i64::from(other != "blocked") * 1000,
        };
    }
    let series = table(&tables, "series/aggregates.ab");
    for (at, present) in floats(series, "time_s").iter().zip(floats(series, "present_flows")) {
        let until = crate::support::ps(*at);
        let expected: i64 = balance.range(..=until).map(|(_, change)| change).sum();
        assert_eq!(*present, expected as f64, "{at}");
    }
}
