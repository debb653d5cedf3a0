//! Links that fail and come back, and flows that take other paths meanwhile.

use crate::bad_input::{Case, case, check_all};
use crate::support::{flow, link, read, record, run, trace};

const MS: u64 = 1_000_000_000;

/// Two nodes joined by a short link, and over a third by two links of 3 ms, all of 8 Mbit/s; the
/// short one fails.
fn triangle(failure: &str) -> String {
    let link = |name: &str, from: &str, to: &str, delay: &str| {
        format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"8 Mbit/s\"\n\
             delay = \"{delay}\"\n"
        )
    };
    link("short", "a", "b", "1 ms")
        + &format!("failure = {{ {failure} }}\n")
        + &link("one", "a", "c", "3 ms")
        + &link("two", "c", "b", "3 ms")
}

/// A packet of 1000 B, which takes 1 ms, every 2 ms from 0 to 98 ms.
const CBR: &str = "[flows.x]\nfrom = \"a\"\nto = \"b\"\nstop = \"99 ms\"\nudp = {}\n\
                   traffic = { cbr = { rate = \"4 Mbit/s\", size = \"1000 B\", \
                   random_phase = false } }\n";

/// Times in ms at which data packets were delivered, in the order of their numbers.
fn deliveries(text: &str) -> Vec<(u64, u64)> {
    let (_, tables) = record(&format!("{text}[record]\ntrace = 100000\n"));
    let rows = trace(&tables);
    let delivered = rows.iter().filter(|row| row.event == "delivered");
    let mut times: Vec<(u64, u64)> = delivered.map(|row| (row.number, row.time)).collect();
    times.sort_unstable();
    assert!(times.iter().all(|(_, time)| time % MS == 0), "{times:?}");
    times.into_iter().map(|(number, time)| (number, time / MS)).collect()
}

/// Packets leave a link that is down once that can be known, and return to it. Packet i is sent at
/// 2i ms and takes 1 + 1 ms over the short link: lost are those that would arrive from 20 ms on, as
/// long as routes have not followed at 25 ms: 9 to 12. Those sent from 26 to 64 ms take twice 1 + 3
/// ms, and those from 66 ms on the short link, which overtake others.
#[test]
fn flows_leave_a_failed_link_and_return() {
    let failure = "down = [\"20 ms\"], up = [\"60 ms\"], detection = \"5 ms\"";
    let text = format!("duration = \"200 ms\"\n{}{CBR}", triangle(failure));
    let expected: Vec<(u64, u64)> = (0..50)
        .filter(|i| !(9..=12).contains(i))
        .map(|i| (i, if (13..=32).contains(&i) { 2 * i + 8 } else { 2 * i + 2 }))
        .collect();
    assert_eq!(deliveries(&text), expected);
    let result = run(&text);
    assert_eq!(link(&result, "short").drop_reasons.outage, 4);
    assert_eq!((link(&result, "short").drops, flow(&result, "x").counted.dropped_packets), (4, 4));
    // A group that names its nodes keeps to them.
    let pinned = text.replace("[flows.x]\n", "[flows.x]\nroute = [\"a\", \"b\"]\n");
    assert_eq!(link(&run(&pinned), "short").drop_reasons.outage, 20);
}

/// Packets that wait at a link that keeps them are not lost, and leave when it is up again: those
/// sent from 20 ms on wait until 60 ms and leave one each millisecond, packet i at 51 + i ms, until
/// they catch up with the arrivals at 2i ms: from packet 50 on they would not wait.
#[test]
fn packets_wait_for_a_link_that_keeps_them() {
    let failure = "down = [\"20 ms\"], up = [\"60 ms\"], waiting = \"kept\"";
    let only = triangle(failure).split("[links.one]").next().unwrap().to_owned();
    let text = format!("duration = \"200 ms\"\n{only}{CBR}").replace("99 ms", "119 ms");
    let expected: Vec<(u64, u64)> =
        (0..60).map(|i| (i, if (10..50).contains(&i) { 52 + i } else { 2 * i + 2 })).collect();
    assert_eq!(deliveries(&text), expected);
    let result = run(&text);
    assert_eq!(link(&result, "short").drops, 0);
    // It offers 160 of 200 ms and sends for 60.
    assert!((link(&result, "short").utilization - 60.0 / 160.0).abs() < 1e-12);
}

/// Failures can overlap, and the end of one does not end another: while both paths are down packets
/// stay on the path they had.
#[test]
fn failures_can_overlap() {
    let failure = "down = [\"20 ms\"], up = [\"80 ms\"]";
    let text = format!("duration = \"200 ms\"\n{}{CBR}", triangle(failure)).replace(
        "[links.two]\n",
        "[links.two]\nfailure = { down = [\"41 ms\"], up = [\"61 ms\"] }\n",
    );
    // Over the other path packet i reaches its first node at 2i + 4 ms and the end 4 ms later: lost
    // there from 41 to 61 ms are those sent from 34 to 52 ms.
    let expected: Vec<(u64, u64)> = (0..50)
        .filter(|i| *i != 9 && !(17..=26).contains(i))
        .map(|i| (i, if (10..40).contains(&i) { 2 * i + 8 } else { 2 * i + 2 }))
        .collect();
    assert_eq!(deliveries(&text), expected);
}

/// Acknowledgements are rerouted too, a drawn failure is the same in both directions and in each
/// run, and the invariants hold where routes change.
#[test]
fn tcp_survives_drawn_failures() {
    let failure = "mean_up = \"700 ms\", mean_down = \"300 ms\", detection = \"20 ms\"";
    for waiting in ["lost", "kept"] {
        let failure = format!("{failure}, waiting = \"{waiting}\"");
        let text = format!(
            "duration = \"10 s\"\n{}[flows.t]\nfrom = \"a\"\nto = \"b\"\ncount = 2\n\
             tcp = {{ profile = \"rfc\", rto_min = \"200 ms\" }}\n",
            triangle(&failure)
        );
        let scenario = read(&text);
        let options = Default::default();
        let (result, _) = scenario.run(&options, &Default::default()).unwrap();
        for name in ["one", "two", "one.reverse", "two.reverse", "short", "short.reverse"] {
            let arrived = link(&result, name).arrived_packets[0];
            assert!(arrived > 100, "{waiting}: {name} {arrived}");
        }
        let report = scenario.check(&options, &Default::default(), &result).unwrap();
        assert!(report.breaches().is_empty(), "{waiting}: {:?}", report.breaches());
        let threads = forebay_scenario::RunOptions { threads: 2, ..options };
        let (parallel, _) = scenario.run(&threads, &Default::default()).unwrap();
        assert_eq!((result.digest, parallel.regions), (parallel.digest, 1));
    }
}

const RIGHT: &str = r#"duration = "10 s"
[links.l]
from = "a"
to = "b"
rate = "1 Mbit/s"
failure = { mean_up = "1 s", mean_down = "1 s" }

[flows.t]
from = "a"
to = "b"
tcp = { profile = "rfc" }
"#;

const CASES: &[Case] = &[
    case("mean_down = \"1 s\"", "detection = \"1 s\"", "links.l.failure", &["needs either"]),
    case("mean_up = \"1 s\"", "mean_up = \"0 s\"", "links.l.failure.mean_up", &["is zero"]),
    case(
        "1 s\" }",
        "1 s\", waiting = \"keep\" }",
        "links.l.failure.waiting",
        &["\"keep\" is not one of lost, kept"],
    ),
    case(
        "mean_up = \"1 s\", mean_down = \"1 s\"",
        "down = [\"2 s\"], up = [\"1 s\"]",
        "links.l.failure.up",
        &["1 s comes after 2 s"],
    ),
    case(
        "mean_up = \"1 s\", mean_down = \"1 s\"",
        "mean_up = \"1 us\", mean_down = \"1 us\"",
        "links.l.failure",
        &["more than 10000 times"],
    ),
    case(
        "mean_down = \"1 s\" }",
        "mean_down = \"1 s\", waiting = \"kept\" } #!\nresidual = \"500 B\"",
        "links.l.failure",
        &["fixed rate only"],
    ),
    case("failure", "failures", "links.l.failures", &["did you mean \"failure\"?"]),
];

/// Failures at times that cannot be meant are refused, without a panic.
#[test]
fn wrong_failures_are_refused() {
    read(RIGHT);
    check_all(RIGHT, CASES);
}
