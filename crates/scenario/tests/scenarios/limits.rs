//! Runs that are stopped, bounded and refused.

#![expect(clippy::disallowed_methods, reason = "a run is stopped from outside")]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{sleep, spawn};
use std::time::Duration;

use forebay_scenario::{Control, Limits, RunOptions, Stopped};

use super::support::{read, run};

/// One link of `link` and one group of flows of `flow`, for `duration`.
fn network(duration: &str, link: &str, flow: &str) -> String {
    format!(
        "duration = \"{duration}\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\n{link}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}

fn cbr(rate: &str) -> String {
    format!("udp = {{}}\ntraffic = {{ cbr = {{ rate = \"{rate}\", size = \"64 B\" }} }}")
}

/// Runs that would take hours or more, in each state in which the engine can be for long.
fn endless() -> Vec<(&'static str, String)> {
    let full = "rate = \"1 Mbit/s\"\ndelay = \"100 ms\"\n\
                queue = { droptail = { limit = \"10 packets\" } }";
    let held = "rate = \"1 kbit/s\"\ndelay = \"100 ms\"";
    let red = "rate = \"1 Mbit/s\"\ndelay = \"1 s\"\n\
               queue = { priority = { classes = [{ droptail = { limit = \"9 kB\" } }] } }";
    let far = "rate = \"10 Tbit/s\"\ndelay = \"100 ms\"";
    let several = format!("{}\ncount = 10", cbr("1 Tbit/s"));
    vec![
        ("a full queue", network("10 h", full, &cbr("10 Tbit/s"))),
        ("a queue without limit", network("1 h", held, &cbr("10 Tbit/s"))),
        ("a scheduler", network("10 h", red, &cbr("10 Tbit/s"))),
        ("a link that is not full", network("10 h", far, &cbr("5 Tbit/s"))),
        ("several senders", network("10 h", full, &several)),
        ("a sample every picosecond", network("10 h", far, &cbr("1 kbit/s"))),
        ("two links", {
            let next = "\n[links.m]\nfrom = \"b\"\nto = \"c\"\nrate = \"1 Gbit/s\"\n\
                        delay = \"50 ms\"\n";
            network("10 h", far, &cbr("5 Tbit/s"))
                .replace("[flows.f]", &format!("{next}[flows.f]"))
                .replace("from = \"a\"\nto = \"b\"\nudp", "from = \"a\"\nto = \"c\"\nudp")
        }),
    ]
}

/// Ctrl-C stops a run wherever it is, also where one event stands for very many packets. Without
/// it, each of these runs outlasts every test.
#[test]
fn a_run_stops_wherever_it_is() {
    for (state, mut text) in endless() {
        if state.contains("sample") {
            text.push_str("[record]\nseries = \"1 ps\"\n");
        }
        for threads in [1, 2] {
            let scenario = read(&text);
            let control = Control::default();
            let cancel = Arc::clone(&control.cancel);
            let other = spawn(move || {
                sleep(Duration::from_millis(100));
                cancel.store(true, Ordering::Relaxed);
            });
            let options = RunOptions { record: true, threads, ..RunOptions::default() };
            let stopped = scenario.run(&options, &control).expect_err("it has no end");
            assert!(matches!(stopped, Stopped::Cancelled), "{state}: {stopped}");
            other.join().unwrap();
        }
    }
}

fn limited(text: &str, limits: Limits) -> Result<u64, Stopped> {
    let options = RunOptions { limits, ..RunOptions::default() };
    let run = read(text).run(&options, &Control::default());
    run.map(|(result, _)| result.groups.iter().map(|group| group.counted.sent_packets).sum())
}

/// The limit of packets is exact: a run within it is accepted, and one packet more is not; warm-up
/// counts, and so does what is sent in the last picosecond.
#[test]
fn packets_are_bounded_exactly() {
    // 512 kbit/s of 512 bits: a packet each millisecond, from 0 to 999 ms.
    let text = network("1 s", "rate = \"1 Mbit/s\"", &cbr("512 kbit/s"));
    let limit = |packets| Limits { packets: Some(packets), ..Limits::default() };
    let sent = limited(&text, Limits::default()).unwrap();
    assert!((1000..=1001).contains(&sent), "{sent}");
    assert_eq!(limited(&text, limit(sent)).unwrap(), sent);
    assert!(matches!(limited(&text, limit(sent - 1)), Err(Stopped::Packets { .. })));
    // Half of them in the warm-up: the result has the other half, the limit is of all.
    let warm = format!("warm_up = \"500 ms\"\n{text}");
    assert!(limited(&warm, limit(sent)).unwrap() <= sent / 2 + 1);
    assert!(matches!(limited(&warm, limit(sent - 1)), Err(Stopped::Packets { .. })));
}

/// The number of packets expected that a user is told follows from rates and links.
#[test]
fn the_packets_expected_are_those_of_rates_and_links() {
    let link = "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"";
    let expected = |flow: &str| read(&network("10 s", link, flow)).expected_packets();
    // 512 kbit/s of 512 bits for 10 s.
    assert_eq!(expected(&cbr("512 kbit/s")), 10_000);
    assert_eq!(expected(&format!("{}\ncount = 3", cbr("512 kbit/s"))), 30_000);
    assert_eq!(expected(&format!("{}\nstart = \"5 s\"\nstop = \"8 s\"", cbr("512 kbit/s"))), 3_000);
    // TCP takes the link: 10 Mbit in segments with headers, and few again.
    let short = format!("{link}\nqueue = {{ droptail = {{ limit = \"20 packets\" }} }}");
    let tcp = run(&network("10 s", &short, "tcp = { profile = \"rfc\" }"));
    let sent = tcp.groups[0].counted.sent_packets as f64;
    assert!((tcp.expected_packets as f64 / sent - 1.0).abs() < 0.1, "{sent}");
}

/// A run that asks for too much memory is refused with the key that asks for it.
#[test]
fn memory_is_refused_with_the_key_that_asks_for_it() {
    let small = Limits { memory: Some(100_000_000), ..Limits::default() };
    let full = "rate = \"1 Mbit/s\"\nqueue = { droptail = { limit = \"10 packets\" } }";
    let cases = [
        (network("1 h", "rate = \"1 kbit/s\"", &cbr("1 Gbit/s")), "links.l.queue"),
        (
            network("1 h", "rate = \"1 Tbit/s\"\ndelay = \"30 min\"", &cbr("1 Gbit/s")),
            "links.l.delay",
        ),
        (network("1 s", full, &format!("{}\ncount = 2000000", cbr("1 bit/s"))), "flows.f.count"),
        (
            network("1 s", full, &format!("{}\n[record]\nseries = \"1 ps\"", cbr("1 kbit/s"))),
            "record.series",
        ),
        (
            network("1 s", full, &format!("{}\n[record]\ntrace = 4000000000", cbr("1 kbit/s"))),
            "record.trace",
        ),
        (
            network(
                "1 s",
                full,
                "calls = { initial = 100000000 }\n\
                 traffic = { cbr = { rate = \"1 kbit/s\", size = \"64 B\" } }",
            ),
            "flows.f.calls.initial",
        ),
    ];
    for (text, path) in cases {
        let options = RunOptions { record: true, limits: small, ..RunOptions::default() };
        match read(&text).run(&options, &Control::default()).expect_err(path) {
            Stopped::Memory { limit, needed, most } => {
                assert_eq!((limit, most.path.as_str()), (100_000_000, path));
                assert!(needed >= most.bytes && most.bytes > limit);
            }
            other => panic!("{path}: {other}"),
        }
    }
}

/// Memory is bounded while a run lasts, where no estimate foresees how a queue grows: TCP has no
/// rate of its own. 10 Mbit/s are sent in 8 s at most, so most of ten windows of 4 MB wait: some
/// 28,000 segments of 1500 B, 1.8 MB in memory.
#[test]
fn memory_is_bounded_while_a_run_lasts() {
    let flow = "tcp = { profile = \"rfc\", window = \"4 MB\" }\ncount = 10";
    let text = network("8 s", "rate = \"10 Mbit/s\"\ndelay = \"1 ms\"", flow);
    let limits = |memory| Limits { memory: Some(memory), ..Limits::default() };
    assert!(limited(&text, limits(10_000_000)).is_ok());
    match limited(&text, limits(500_000)) {
        Err(Stopped::Memory { most, .. }) => assert_eq!(most.path, "links"),
        other => panic!("{other:?}"),
    }
}
