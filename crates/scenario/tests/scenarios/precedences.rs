//! Counts of links by precedence: each of the 64 that are allowed by itself.

use forebay_scenario::{Control, RunOptions};

use crate::support::{floats, flow, link, read, record, run_with, table};

/// Flows of the given precedences, which send packets of 250 B for 1 s over two links, the first of
/// which is too slow for them all; then both empty.
fn scenario(precedences: &[u32], queue: &str) -> String {
    let mut text = format!(
        "duration = \"2 s\"\n[links.first]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
         delay = \"20 ms\"\nqueue = {queue}\n\
         [links.second]\nfrom = \"b\"\nto = \"c\"\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\n\
         [record]\nseries = \"100 ms\"\n"
    );
    for precedence in precedences {
        text += &format!(
            "[flows.p{precedence}]\nfrom = \"a\"\nto = \"c\"\nprecedence = {precedence}\n\
             stop = \"1 s\"\nudp = {{}}\n\
             traffic = {{ poisson = {{ rate = \"30 kbit/s\", size = \"250 B\" }} }}\n"
        );
    }
    text
}

const QUEUES: [&str; 2] = [
    "{ droptail = { limit = \"20 packets\" } }",
    // A law with queues of its own, of which higher precedences share the last.
    "{ priority = { classes = [\"droptail\", { droptail = { limit = \"20 packets\" } }] } }",
];

/// Packets are conserved by precedence, high ones included: of each, what its flow sent arrived at
/// the first link, and left it or was dropped there; what left it arrived at the second and was
/// delivered, in packets and in bytes; and the series of throughputs add up to the bytes that left.
#[test]
fn packets_are_conserved_by_precedence() {
    let precedences: Vec<u32> = (0..64).collect();
    for queue in QUEUES {
        let (result, tables) = record(&scenario(&precedences, queue));
        let (first, second) = (link(&result, "first"), link(&result, "second"));
        let series = table(&tables, "series/links.first");
        assert!(first.drops > 100 && first.dropped_packets[63] > 0, "{queue}: no overload");
        assert_eq!(first.drops, first.dropped_packets.iter().sum::<u64>(), "{queue}");
        for at in 0..64 {
            let what = format!("{queue}: {at}");
            let counted = &flow(&result, &format!("p{at}")).counted;
            assert!(counted.sent_packets > 0, "{what}");
            assert_eq!(first.arrived_packets[at], counted.sent_packets, "{what}");
            assert_eq!(first.dropped_packets[at], counted.dropped_packets, "{what}");
            let left = first.arrived_packets[at] - first.dropped_packets[at];
            assert_eq!(first.departed_packets[at], left, "{what}");
            assert_eq!(second.arrived_packets[at], left, "{what}");
            assert_eq!(second.departed_packets[at], left, "{what}");
            assert_eq!(counted.delivered_packets, left, "{what}");
            for (bytes, packets) in [
                (first.arrived_bytes[at], first.arrived_packets[at]),
                (first.departed_bytes[at], left),
                (second.departed_bytes[at], left),
            ] {
                assert_eq!(bytes, 250 * packets, "{what}");
            }
            let bits: f64 =
                floats(series, &format!("throughput_bps.{at}")).iter().sum::<f64>() / 10.0;
            assert!((bits - 2000.0 * left as f64).abs() < 1e-3, "{what}: {bits}");
        }
    }
}

/// Lists reach to the highest precedence that occurred, and at least to 3, as most networks have
/// that many.
#[test]
fn lists_reach_to_the_highest_precedence() {
    for (precedences, length) in [(&[0, 1][..], 4), (&[3], 4), (&[5, 2], 6), (&[63], 64)] {
        let (result, _) = run_with(&read(&scenario(precedences, QUEUES[0])), 0, false);
        for link in ["first", "second"].map(|name| link(&result, name)) {
            let lists =
                [&link.arrived_packets, &link.departed_bytes, &link.dropped_packets].map(Vec::len);
            assert_eq!(lists, [length; 3], "{precedences:?}");
        }
    }
}

/// Counters of high precedences do not depend on how a network is divided: a run on two threads
/// counts what a run on one does.
#[test]
fn high_precedences_are_counted_on_several_threads() {
    let precedences: Vec<u32> = (0..64).collect();
    // A hundred times the load: less would not be worth dividing.
    let text = scenario(&precedences, QUEUES[0]).replace(" Mbit/s", "00 Mbit/s");
    let scenario = read(&text.replace(" kbit/s", "00 kbit/s"));
    let on = |threads: usize| {
        let options = RunOptions { threads, ..RunOptions::default() };
        let (result, _) = scenario.run(&options, &Control::default()).unwrap();
        (serde_json::to_value(&result.links).unwrap(), result.digest, result.regions)
    };
    let (alone, divided) = (on(1), on(2));
    assert_eq!((alone.0, alone.1), (divided.0, divided.1));
    assert!(alone.2 == 1 && divided.2 > 1, "{} partitions", divided.2);
}
