//! What every queue, conditioner and shaper must keep, whatever it decides: no packet is lost or
//! made, no link is faster than its rate, and flows stay in order.
//!
//! The tables of the mechanisms drive the battery, each entry with its own example.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use forebay_mechanisms::conditioner::CONDITIONERS;
use forebay_mechanisms::queue::QUEUES;
use forebay_mechanisms::shaper::SHAPERS;
use forebay_network::record::RecordTable;
use forebay_scenario::RunResult;

use crate::support::{Row, choice, example, floats, link, record, run, table, trace};

const UDP: &str = "[flows.u]\nfrom = \"a\"\nto = \"b\"\ncount = 2\nudp = {}\nstop = \"4 s\"\n\
     traffic = { poisson = { rate = \"800 kbit/s\", size = \"400 B\" } }\n\
     [flows.v]\nfrom = \"a\"\nto = \"b\"\nprecedence = 1\nudp = {}\nstop = \"4 s\"\n\
     traffic = { cbr = { rate = \"300 kbit/s\", size = \"150 B\", jitter = 0.5 } }\n";
const TCP: &str = "[flows.s]\nfrom = \"a\"\nto = \"b\"\ncount = 3\nstop = \"4 s\"\n\
     start = { uniform = [\"0 s\", \"500 ms\"] }\ntcp = { ecn = true }\n\
     [flows.t]\nfrom = \"a\"\nto = \"b\"\nprecedence = 1\ncount = 2\n\
     tcp = { recovery = \"newreno\", ecn = true, mss = \"900 B\" }\n\
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

/// Packets would vanish or be made from nothing: when all sources have stopped and the network has
/// run empty, every packet sent was delivered or dropped; every link's arrivals departed or were
/// dropped, precedence by precedence; and the drops of the links are the drops of the flows.
#[test]
fn an_emptied_network_has_lost_nothing() {
    for (name, mechanism) in every_mechanism() {
        for (load, flows) in every_load() {
            let (result, tables) = record(&network("400 s", &mechanism, &flows));
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
            check_marks(&what, &result, &trace(&tables));
            // ECN-capable packets of TCP are PCN traffic to a meter; datagrams are neither.
            let any = |names: &[&str]| names.iter().any(|name| mechanism.contains(name));
            let core = link(&result, "core");
            let ce = any(&["ecn = true", "excess_meter", "px_meter", "sr_meter"]);
            assert_eq!(core.marks > 0, ce && load != "udp", "{what}");
            let threshold = any(&["ar_meter", "threshold_meter"]);
            assert_eq!(core.threshold_marks > 0, threshold && load != "udp", "{what}");
            let departed = result.links.iter().flat_map(|link| &link.departed_packets);
            assert_eq!(departed.sum::<u64>(), result.packet_hops, "{what}");
            assert!(link(&result, "core").drops > 0, "{what}: the load is no overload");
            check_trace(&what, &result, &trace(&tables));
        }
    }
}

/// Only the last link marks. What its queue marks arrives; what its conditioners mark, the queue
/// may still drop, at the same instant: every CE mark arrived, or was dropped there.
fn check_marks(what: &str, result: &RunResult, rows: &[Row]) {
    let core = link(result, "core");
    let is_mark = |row: &&Row| row.event == "marked";
    assert!(rows.iter().filter(is_mark).all(|row| row.link == "core"), "{what}");
    let marks = rows.iter().filter(is_mark).count() as u64;
    assert_eq!(marks, core.marks + core.threshold_marks, "{what}");
    let dropped = |kind: &str| {
        let rows = rows.iter().filter(|row| row.link == "core" && row.kind == kind);
        rows.filter(|row| row.event.starts_with("dropped")).collect::<Vec<_>>()
    };
    // Of a retransmission the trace does not tell the mark: one that was marked at the instant of
    // its drop was CE-marked, if there are no other marks.
    let again = dropped("retransmission").into_iter().filter(|drop| {
        let visits = rows.iter().filter(|row| row.time == drop.time && row.event == "marked");
        visits.filter(|row| (&row.flow, row.number) == (&drop.flow, drop.number)).count() > 0
    });
    let least = dropped("data, CE").len() as u64;
    let most = least + again.count() as u64;
    let least = if core.threshold_marks == 0 { most } else { least };
    let marked: u64 = result.flows.iter().map(|flow| flow.counted.marked_packets).sum();
    assert!((least..=most).contains(&(core.marks - marked)), "{what}: {least} to {most}");
}

/// The trace tells the same story as the counters, and in order.
pub fn check_trace(what: &str, result: &RunResult, rows: &[Row]) {
    for flow in &result.flows {
        let count = |event: &str, data: bool| {
            let of_flow = rows.iter().filter(|row| row.flow == flow.name);
            let alike = of_flow.filter(|row| row.event.starts_with(event) && row.is_data() == data);
            alike.count() as u64
        };
        let counted = &flow.counted;
        assert_eq!(count("sent", true), counted.sent_packets, "{what}: {}", flow.name);
        assert_eq!(count("delivered", true), counted.delivered_packets, "{what}: {}", flow.name);
        assert_eq!(count("dropped", true), counted.dropped_packets, "{what}: {}", flow.name);
        assert_eq!(count("sent", false), counted.sent_acks, "{what}: {}", flow.name);
        let acks = count("delivered", false) + count("dropped", false);
        assert_eq!(acks, counted.sent_acks, "{what}: {}", flow.name);
    }
    for link in &result.links {
        let at_link = |event: &str| {
            let rows = rows.iter().filter(|row| row.link == link.name);
            rows.filter(|row| row.event == event).count() as u64
        };
        let departed: u64 = link.departed_packets.iter().sum();
        let (surely, perhaps) = dropped_after_enqueued(&link.name, rows);
        let from_queue = at_link("enqueued") - departed;
        let possible = surely..=surely + perhaps;
        assert!(possible.contains(&from_queue), "{what}: {}: {from_queue}", link.name);
    }
    check_order(what, rows);
}

/// How many packets `link` dropped that its queue had let in: those of which that is sure, and
/// those that may be copies of what it had let in, as their flow sent their number twice.
fn dropped_after_enqueued(link: &str, rows: &[Row]) -> (u64, u64) {
    let key = |row: &Row| (row.flow.clone(), row.is_data(), row.number);
    let mut copies = BTreeMap::new();
    for row in rows.iter().filter(|row| row.event == "sent") {
        *copies.entry(key(row)).or_insert(0) += 1;
    }
    let (mut enqueued, mut surely, mut perhaps) = (BTreeSet::new(), 0, 0);
    for row in rows.iter().filter(|row| row.link == link) {
        if row.event == "enqueued" {
            enqueued.insert(key(row));
        } else if row.event.starts_with("dropped") && enqueued.contains(&key(row)) {
            let count = if copies[&key(row)] == 1 { &mut surely } else { &mut perhaps };
            *count += 1;
        }
    }
    (surely, perhaps)
}

/// Packets of a flow are delivered in the order in which they were sent: every law here is first
/// in, first out within a flow of one precedence.
fn check_order(what: &str, rows: &[Row]) {
    let mut under_way: BTreeMap<(&str, bool), VecDeque<u64>> = BTreeMap::new();
    for row in rows {
        let queue = under_way.entry((&row.flow, row.is_data())).or_default();
        if row.event == "sent" {
            queue.push_back(row.number);
        } else if row.event == "delivered" {
            assert_eq!(queue.pop_front(), Some(row.number), "{what}: {row:?} overtook another");
        } else if row.event.starts_with("dropped") {
            let at = queue.iter().rposition(|number| *number == row.number);
            queue.remove(at.unwrap_or_else(|| panic!("{what}: {row:?} was not under way")));
        }
    }
    assert!(under_way.values().all(VecDeque::is_empty), "{what}: packets are still under way");
}

/// A link would be faster than its rate: of any two packets delivered one after the other behind
/// it, the second comes at least its own transmission time later (so the bytes of any window fit
/// it), no link is busy for more than the time, and no sampled throughput exceeds the rate by more
/// than the one packet whose transmission begins within the sample.
#[test]
fn no_link_exceeds_its_rate() {
    for (name, mechanism) in every_mechanism() {
        for (load, flows) in every_load() {
            let (result, tables) = record(&network("6 s", &mechanism, &flows));
            let what = format!("{name}, {load}");
            for link in &result.links {
                assert!(link.utilization <= 1.0, "{what}: {}", link.name);
            }
            let rows = trace(&tables);
            let arrivals: Vec<&Row> =
                rows.iter().filter(|row| row.event == "delivered" && row.is_data()).collect();
            assert!(arrivals.len() > 100, "{what}");
            for pair in arrivals.windows(2) {
                let needed = (pair[1].size * 8 * 1_000_000_000_000).div_ceil(RATE);
                assert!(pair[1].time - pair[0].time >= needed, "{what}: {pair:?}");
            }
            let series = table(&tables, "series/links.core");
            for sample in floats(series, "throughput_bps") {
                // The largest packet has 940 B; samples are 50 ms long.
                assert!(*sample <= RATE as f64 + 940.0 * 8.0 / 0.05, "{what}: {sample}");
            }
        }
    }
}

/// Packets would hide while the network runs: at any moment those that arrived at a link and
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

/// The battery could not tell a network that loses packets: a window of measurement that opens
/// while packets are under way delivers some that it has not seen sent, and the sum must show it.
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
