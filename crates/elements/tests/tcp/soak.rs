//! Every variant under random loss, in both directions.

use std::sync::{Arc, Mutex};

use forebay_elements::FlowGroup;
use forebay_elements::tcp::{TcpReceivers, TcpSenders};
use forebay_engine::{Network, Progress};
use forebay_kernel::Streams;
use forebay_laws::traffic::pool_of;
use forebay_parameters::Value;
use forebay_units::{Rate, Span, Time};

use crate::scene::{Log, Pipe, Watch, Writes, at, control, parameters};
use forebay_network::{ElementId, Marking};

pub const FLOWS: u32 = 40;

/// Files of 0 to 200 segments and a bit, in one to three writes.
pub fn files(streams: &Streams) -> Vec<Vec<(u64, u64)>> {
    let mut stream = streams.named("files");
    (0..FLOWS)
        .map(|_| {
            (0..1 + stream.below(3)).map(|_| (stream.below(3000), stream.below(70_000))).collect()
        })
        .collect()
}

pub fn network(
    entries: &[(&str, Value)],
    law: &str,
    loss: f64,
    files: &[Vec<(u64, u64)>],
    streams: &Streams,
) -> Network {
    let parameters = parameters(entries).unwrap();
    let mut network = Network::new();
    let first = network.add_flows(FLOWS);
    network.add_link();
    let [pipe, pipe_back, senders, receivers] = [0, 1, 2, 3].map(ElementId::new);
    let there = network.add_route(&[pipe], receivers);
    let back = network.add_route(&[pipe_back], senders);
    for way in ["there", "back"] {
        network.add(Box::new(Pipe {
            rate: Some(Rate::from_bps(20_000_000)),
            delay: Span::from_ms(10),
            loss,
            stream: Some(streams.named(way)),
            marks: (0..400).step_by(7).collect(),
            ..Pipe::default()
        }));
    }
    let flow = |index: u32| {
        (Writes::new(&files[index as usize]), streams.numbered("traffic", index.into()))
    };
    let applications = pool_of((0..FLOWS).map(flow));
    let group = FlowGroup {
        path: "flows.soak".to_owned(),
        first,
        starts: (0..FLOWS).map(|n| at(u64::from(n) * 13)).collect(),
        stop: Time::NEVER,
        route: there,
        marking: Marking::default(),
    };
    let control = || control(law);
    network.add(Box::new(TcpSenders::new(group, &parameters, applications, &control)));
    network.add(Box::new(TcpReceivers::new(first, FLOWS as usize, &parameters, back)));
    network
}

fn check(network: &mut Network, progress: Progress, files: &[Vec<(u64, u64)>], what: &str) {
    assert!(progress.complete, "{what}");
    assert_eq!(network.held(), 0, "{what}");
    let mut lost = 0;
    for (flow, file) in network.counters().flows.iter().zip(files) {
        let written: u64 = file.iter().map(|write| write.1).sum();
        assert_eq!(flow.goodput, written, "{what}");
        assert!(flow.ended.is_some(), "{what}: unfinished");
        assert_eq!(flow.sent.packets, flow.delivered.packets + flow.dropped.packets, "{what}");
        assert_eq!(flow.sent.bytes, flow.delivered.bytes + flow.dropped.bytes, "{what}");
        assert_eq!(flow.acks[0], flow.acks[1] + flow.acks[2], "{what}");
        assert!(flow.retransmissions >= flow.dropped.packets, "{what}");
        lost += flow.dropped.packets;
    }
    // 40 flows of 2 writes of 35 kB on average are 5200 segments, of which 3 % are 157.
    assert!(lost > 100, "{what}: only {lost} lost, the test shows little");
}

/// No sequence of losses hangs a connection, loses or repeats data, or leaks packets: in every
/// variant, at losses of 3 % and 20 % both ways, all files arrive whole, every packet is accounted
/// for, and nothing is left in the network.
#[test]
fn every_file_arrives_whole_through_any_loss() {
    let words: [&[(&str, &str)]; 6] = [
        &[("recovery", "reno")],
        &[("recovery", "newreno")],
        &[("recovery", "newreno"), ("newreno_timer", "slow-but-steady")],
        &[("recovery", "sack")],
        &[("recovery", "sack"), ("sack_at_timeout", "keep")],
        &[("recovery", "sack"), ("rto_tick", "500 ms"), ("window", "9 kB")],
    ];
    for (number, words) in words.iter().enumerate() {
        for (loss, switches, law) in
            [(0.03, false, "reno"), (0.2, true, "reno"), (0.1, true, "cubic")]
        {
            let streams = Streams::new(11, number as u64);
            let files = files(&streams);
            let mut entries: Vec<(&str, Value)> =
                words.iter().map(|(key, word)| (*key, Value::from(*word))).collect();
            for key in ["ecn", "timestamps", "limited_transmit", "delayed_ack"] {
                entries.push((key, switches.into()));
            }
            entries.push(("initial_window", "8 packets".into()));
            let mut network = network(&entries, law, loss, &files, &streams);
            let log = Arc::new(Mutex::new(Log::default()));
            network.attach(Box::new(Watch(Arc::clone(&log))));
            let progress = network.run(at(100_000_000), 10_000_000);
            check(&mut network, progress, &files, &format!("{words:?}, {loss}, {law}"));
            let log = log.lock().unwrap();
            assert_eq!(log.ended.len(), FLOWS as usize, "each flow ends once");
            assert!(log.windows.iter().all(|w| w.1 >= 0.536), "a window below one segment");
            if words.contains(&("window", "9 kB")) {
                // 9000 B hold 16 segments of 536 B, but one more where some are short: those ending
                // a write, of which three at most belong to a file.
                assert!((16..=19).contains(&log.outstanding), "{}", log.outstanding);
            }
        }
    }
}

/// The same seed gives the same run, and another replication gives another.
#[test]
fn the_same_seed_gives_the_same_run() {
    let digest = |replication| {
        let streams = Streams::new(3, replication);
        let mut network = network(&[], "reno", 0.05, &files(&streams), &streams);
        network.run(at(100_000), u64::MAX);
        network.digest()
    };
    assert_eq!(digest(0), digest(0));
    assert_ne!(digest(0), digest(1));
}
