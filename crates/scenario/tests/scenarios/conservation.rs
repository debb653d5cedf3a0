//! Conservation in every queue, conditioner and shaper, whatever it decides: no packet is lost or
//! made, no link is faster than its rate, and flows stay in order.
//!
//! The tables of the mechanisms drive the battery, each entry with its own example.

use std::collections::BTreeMap;

use forebay_laws::conditioner::CONDITIONERS;
use forebay_laws::queue::QUEUES;
use forebay_laws::shaper::SHAPERS;
use forebay_network::record::RecordTable;
use forebay_scenario::{Control, Invariant, RunOptions, RunResult, Scenario};

use crate::support::{choice, example, floats, link, read, record, run, run_with, table};

const UDP: &str = "[flows.u]\nfrom = \"a\"\nto = \"b\"\ncount = 2\nudp = {}\nstop = \"4 s\"\n\
     traffic = { poisson = { rate = \"800 kbit/s\", size = \"400 B\" } }\n\
     [flows.v]\nfrom = \"a\"\nto = \"b\"\nprecedence = 1\nudp = {}\nstop = \"4 s\"\n\
     traffic = { cbr = { rate = \"300 kbit/s\", size = \"150 B\", jitter = 0.5 } }\n";
const TCP: &str = "[flows.s]\nfrom = \"a\"\nto = \"b\"\ncount = 3\nstop = \"4 s\"\n\
     start = { uniform = [\"0 s\", \"500 ms\"] }\ntcp = { ecn = true }\n\
     [flows.t]\nfrom = \"a\"\nto = \"b\"\nprecedence = 1\ncount = 2\n\
     tcp = { profile = \"rfc\", recovery = \"newreno\", ecn = true, mss = \"900 B\" }\n\
     traffic = { file = { size = \"40 kB\", count = 3, interval = \"1 s\" } }\n";
/// Rate of the link under test, in bit/s.
const RATE: u64 = 1_000_000;

/// `mechanisms` on the second of two links; sources stop after 4 s, and `duration` decides whether
/// the network has run empty.
fn network(duration: &str, mechanisms: &str, flows: &str) -> String {
    format!(
        "duration = \"{duration}\"\n\
         [links.access]\nfrom = \"a\"\nto = \"r\"\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\"\n\
         [links.core]\nfrom = \"r\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n\
         {mechanisms}\n{flows}\
         [record]\ntrace = 1000000\nseries = \"50 ms\"\n"
    )
}

/// Every example on a link, by name; those without a queue of their own share a small tail drop.
fn every_mechanism() -> BTreeMap<String, String> {
    let droptail = "queue = { droptail = { limit = \"15 packets\" } }";
    let mut all = BTreeMap::new();
    for entry in QUEUES {
        all.insert(format!("queue {}", entry.name), format!("queue = {}", choice(entry)));
    }
    for entry in CONDITIONERS {
        let text = format!("conditioner = {}\n{droptail}", choice(entry));
        all.insert(format!("conditioner {}", entry.name), text);
    }
    for entry in SHAPERS {
        let text = format!("shaper = {}\n{droptail}", choice(entry));
        all.insert(format!("shaper {}", entry.name), text);
    }
    let meters: Vec<String> = CONDITIONERS.iter().map(choice).collect();
    let ras = SHAPERS.iter().find(|entry| entry.name == "ras").expect("it is in the table");
    let rio = QUEUES.iter().find(|entry| entry.name == "rio").expect("it is in the table");
    all.insert(
        "everything at once".to_owned(),
        format!(
            "conditioners = [{}]\nshaper = {{ ras = {{ {}, green = true }} }}\nqueue = {}",
            meters.join(", "),
            example(ras),
            choice(rio)
        ),
    );
    all
}

fn every_load() -> [(&'static str, String); 3] {
    [("udp", UDP.to_owned()), ("tcp", TCP.to_owned()), ("mixed", format!("{UDP}{TCP}"))]
}

/// An emptied network has lost and made no packet: when all sources have stopped and the network
/// has run empty, every packet sent was delivered or dropped; every link's arrivals departed or
/// were dropped, precedence by precedence; and the drops of the links are the drops of the flows.
#[test]
fn an_emptied_network_has_lost_nothing() {
    for (name, mechanism) in every_mechanism() {
        for (load, flows) in every_load() {
            let scenario = read(&network("400 s", &mechanism, &flows));
            let (result, _) = run_with(&scenario, 0, false);
            let what = format!("{name}, {load}");
            let mut dropped = 0;
            for flow in &result.flows {
                let counted = &flow.counted;
                let out = counted.delivered_packets + counted.dropped_packets;
                assert_eq!(counted.sent_packets, out, "{what}: {}", flow.name);
                dropped += counted.dropped_packets + counted.dropped_acks;
            }
            for link in &result.links {
                for at in 0..link.arrived_packets.len() {
                    let out = link.departed_packets[at] + link.dropped_packets[at];
                    let place = format!("{what}: {} precedence {at}", link.name);
                    assert_eq!(link.arrived_packets[at], out, "{place}");
                }
                let reasons = &link.drop_reasons;
                let by_reason = reasons.overflow + reasons.early + reasons.forced;
                let others = reasons.policed + reasons.shaper + reasons.selective;
                assert_eq!(by_reason + others, link.drops, "{what}");
            }
            let on_links: u64 = result.links.iter().map(|link| link.drops).sum();
            assert_eq!(on_links, dropped, "{what}");
            // ECN-capable packets of TCP are PCN traffic to a meter; datagrams are neither.
            let any = |names: &[&str]| names.iter().any(|name| mechanism.contains(name));
            let core = link(&result, "core");
            let ce = any(&["ecn = true", "fq_codel", "cake", "efci", "step ="])
                || any(&["excess_meter", "px_meter", "sr_meter"]);
            // Of a packet whose ECN field is cleared before, none of these marks any.
            let ce = ce && !any(&["ecn_bleaching"]);
            // Classic packets of DualPI2 have the square of a probability, which can be too small.
            if !any(&["dualpi2"]) {
                assert_eq!(core.marks > 0, ce && load != "udp", "{what}");
            }
            let threshold = any(&["ar_meter", "threshold_meter"]);
            assert_eq!(core.threshold_marks > 0, threshold && load != "udp", "{what}");
            let departed = result.links.iter().flat_map(|link| &link.departed_packets);
            assert_eq!(departed.sum::<u64>(), result.packet_hops, "{what}");
            assert!(core.drops + core.marks > 0, "{what}: the load is no overload");
            check(&what, &scenario, &result);
        }
    }
}

/// Everything that must hold in any run holds in that which gave `result`: marks and drops are
/// those that were seen, flows stay in order, links keep to their rates, and more.
pub fn check(what: &str, scenario: &Scenario, result: &RunResult) {
    let report = scenario.check(&RunOptions::default(), &Control::default(), result);
    let report = report.expect("this run is never cancelled");
    assert_eq!(report.breaches(), [], "{what}");
    assert!(report.checked(Invariant::LinkOrder) > 100, "{what}");
}

/// No sampled throughput exceeds the rate by more than the one packet whose transmission begins
/// within the sample, though sources keep the link busy: or a link would be faster than its rate.
#[test]
fn no_link_exceeds_its_rate() {
    for (name, mechanism) in every_mechanism() {
        for (load, flows) in every_load() {
            let (_, tables) = record(&network("6 s", &mechanism, &flows));
            let series = table(&tables, "series/links.core");
            for sample in floats(series, "throughput_bps") {
                // The largest packet has 940 B; samples are 50 ms long.
                let most = RATE as f64 + 940.0 * 8.0 / 0.05;
                assert!(*sample <= most, "{name}, {load}: {sample}");
            }
        }
    }
}

/// A running network accounts for every packet: at any moment those that arrived at a link and
/// neither departed nor were dropped are those that its queue reports, and no flow has had more
/// packets out than in.
#[test]
fn a_running_network_accounts_for_every_packet() {
    let last = |tables: &[RecordTable], name: &str| {
        *floats(table(tables, "series/links.core"), name).last().unwrap()
    };
    for (name, mechanism) in every_mechanism() {
        for (load, flows) in every_load() {
            for duration in ["500 ms", "2 s", "4 s", "4.05 s"] {
                let (result, tables) = record(&network(duration, &mechanism, &flows));
                let what = format!("{name}, {load}, {duration}");
                let core = link(&result, "core");
                let arrived: u64 = core.arrived_packets.iter().sum();
                let departed: u64 = core.departed_packets.iter().sum();
                let waiting = arrived - departed - core.drops;
                assert_eq!(waiting as f64, last(&tables, "queue_packets"), "{what}");
                assert!(waiting <= u64::from(core.max_queue_packets), "{what}");
                for flow in &result.flows {
                    let counted = &flow.counted;
                    let out = counted.delivered_packets + counted.dropped_packets;
                    assert!(counted.sent_packets >= out, "{what}: {}", flow.name);
                }
            }
        }
    }
}

/// The battery notices missing packets: a window of measurement that opens while packets are under
/// way delivers some that it has not seen sent, and the sum must show it.
#[test]
fn the_battery_would_notice_a_missing_packet() {
    let text = network("400 s", "queue = { droptail = { limit = \"15 packets\" } }", UDP);
    let result = run(&format!("warm_up = \"2 s\"\n{text}"));
    let balance = |counted: &forebay_scenario::Counted| {
        counted.delivered_packets + counted.dropped_packets - counted.sent_packets
    };
    assert!(result.flows.iter().any(|flow| balance(&flow.counted) > 0));
    let core = link(&result, "core");
    let out: u64 = core.departed_packets.iter().sum::<u64>() + core.drops;
    assert!(out > core.arrived_packets.iter().sum::<u64>());
}
