//! Invariants of any run of calls, whatever its meters mark: over a tandem of three links, with
//! calls that come in all ways and end in all ways.

use std::collections::BTreeMap;

use forebay_elements::calls::CallCount;
use forebay_elements::calls::EdgePlan;
use forebay_network::{CallEvent, Packet, PcnMark};
use forebay_parameters::Value;
use forebay_units::{Span, Time};

use crate::scene::{
    Between, Class, Fact, Law, Life, Log, Scene, admission, at, edge, lives, probing, steady,
    surge, termination,
};

const RTT: Span = Span::from_ms(50);

/// Meters of a link: an AR meter, then one that marks for termination.
fn meters(ar: &str, (name, slow): (&'static str, &'static str), sr: &str) -> Vec<Law> {
    let sizes = [("size", Value::from("10 kB"))];
    let with = |rate: &str, more: (&'static str, &str)| {
        let own = [("rate", Value::from(rate)), (more.0, Value::from(more.1))];
        [&own[..], &sizes[..]].concat()
    };
    vec![("ar_meter", with(ar, ("threshold", "5 kB"))), (name, with(sr, (slow, "1064 B")))]
}

/// Calls of 80 kbit/s and of two flows of 80 and 200 kbit/s, by arrival, from the start and by
/// reroute, over links whose meters mark: about 1.6 Mbit/s at first, 4 Mbit/s after the reroute.
fn scene(seed: u64) -> Scene {
    let number: fn(i32) -> Value = Value::from;
    let mut single = Class::new(
        &[
            ("initial", number(10)),
            ("rate", "4 /s".into()),
            ("holding", "3 s".into()),
            ("media_delay", "300 ms".into()),
        ],
        vec![steady(200, 20, true)],
    );
    single.surges.push(surge(&[("at", "4 s".into()), ("calls", number(25))]));
    let mut linked = Class::new(
        &[("rate", "1 /s".into()), ("batch", 2.0.into()), ("holding", "4 s".into())],
        vec![steady(200, 20, true), steady(1000, 40, true)],
    );
    let over = ("over", "1 s".into());
    linked.surges.push(surge(&[("at", "7 s".into()), ("calls", number(6)), over]));
    let links = vec![
        meters("2.2 Mbit/s", ("sr_meter", "slow_down"), "2.6 Mbit/s"),
        meters("2.4 Mbit/s", ("px_meter", "px"), "2.5 Mbit/s"),
        meters("2.3 Mbit/s", ("sr_meter", "slow_down"), "2.7 Mbit/s"),
    ];
    let plan = EdgePlan {
        admission: admission("stop_timer"),
        termination: termination("per_packet"),
        probing: probing(&[("window", "150 ms".into())]),
        ..edge(50)
    };
    Scene::new(vec![single, linked], plan, Between::Links(links), seed)
}

fn run(seed: u64) -> (Log, BTreeMap<u64, Life>, Vec<CallCount>) {
    let mut scene = scene(seed);
    scene.run(at(12_000));
    let log = scene.log();
    let lives = lives(&log);
    (log, lives, scene.counts())
}

const SEEDS: std::ops::Range<u64> = 1..6;

fn is_marked(packet: &Packet) -> bool {
    packet.pcn() == Some(PcnMark::Excess)
}

/// Calls begin and end in every way there is, and some are blocked: the invariants below are not
/// those of a run in which nothing happens.
#[test]
fn everything_happens() {
    let mut total = CallCount::default();
    for seed in SEEDS {
        for count in run(seed).2 {
            total.admitted += count.admitted;
            total.blocked += count.blocked;
            total.rerouted += count.rerouted;
            total.refused += count.refused;
            total.terminated += count.terminated;
            total.ended += count.ended;
        }
    }
    let least = [total.admitted, total.blocked, total.rerouted, total.terminated, total.ended];
    assert!(least.iter().all(|count| *count > 50) && total.refused > 0, "{total:?}");
}

/// Every call begins once, ends at most once, and sends only between the two: not if it was
/// blocked.
#[test]
fn calls_send_only_while_they_live() {
    for seed in SEEDS {
        for life in run(seed).1.into_values() {
            assert_eq!(life.begun.len(), 1, "{life:?}");
            assert!(life.over.len() <= 1, "{life:?}");
            let (begun, over) = (life.begun[0].0, life.over.first().map_or(Time::NEVER, |o| o.0));
            assert!(life.sent.iter().all(|(now, _)| *now >= begun && *now <= over), "{life:?}");
        }
    }
}

/// Termination strikes the marked after a round trip and no other call: a call that is terminated
/// was marked first exactly 50 ms before, and one marked more than 50 ms ago is no longer there.
#[test]
fn termination_strikes_the_marked_after_a_round_trip() {
    for seed in SEEDS {
        for life in run(seed).1.into_values() {
            let first = life.delivered.iter().find(|(_, packet)| is_marked(packet));
            let due = first.map(|(seen, _)| *seen + RTT);
            match life.over.first() {
                Some((over, CallEvent::Terminated)) => assert_eq!(Some(*over), due, "{life:?}"),
                Some((over, _)) => assert!(due.is_none_or(|due| *over <= due), "{life:?}"),
                None => assert!(due.is_none_or(|due| due >= at(12_000)), "{life:?}"),
            }
        }
    }
}

/// Marks stay and packets keep their order: no node takes back what another has marked, no packet
/// of a call overtakes another or comes twice, and the egress node sees what the last meter left.
#[test]
fn marks_stay_and_packets_keep_their_order() {
    for seed in SEEDS {
        let (log, lives, _) = run(seed);
        let mut marks: BTreeMap<(u64, u64), PcnMark> = BTreeMap::new();
        let mut graver = 0;
        for (_, fact) in &log {
            let packet = match fact {
                Fact::Sent(packet) | Fact::Coloured(packet) | Fact::Delivered(packet) => packet,
                _ => continue,
            };
            let mark = packet.pcn().unwrap();
            let before = marks.insert((packet.tag, packet.number), mark);
            assert!(before.is_none_or(|before| before <= mark), "{packet:?} was {before:?}");
            graver += u32::from(before.is_some_and(|before| before < mark));
            if matches!(fact, Fact::Delivered(_)) {
                assert_eq!(before, Some(mark), "the wire marks nothing");
            }
        }
        assert!(graver > 100, "nothing was marked");
        for life in lives.values() {
            let numbers = |of: &[(Time, Packet)]| -> Vec<u64> {
                of.iter().map(|(_, packet)| packet.number).collect()
            };
            let sent = numbers(&life.sent);
            assert_eq!(sent, (0..sent.len() as u64).collect::<Vec<_>>());
            let delivered = numbers(&life.delivered);
            assert_eq!(delivered, sent[..delivered.len()], "first in, first out, nothing lost");
        }
    }
}

/// Calls balance at any time: at any moment, and across the reset at the end of the warm-up, those
/// present are those that came less those that went, which is what the facts say.
#[test]
fn calls_balance_at_any_time() {
    for seed in SEEDS {
        let mut scene = scene(seed);
        let mut before = [0_u64; 3];
        for ms in [0, 1_500, 4_020, 4_500, 7_300, 12_000] {
            scene.run(at(ms));
            let lives = lives(&scene.log());
            for (flow, count) in scene.counts().iter().enumerate() {
                let came = count.admitted + count.rerouted;
                let went = count.ended + count.terminated + count.refused;
                assert_eq!(before[flow] + came - went, u64::from(count.present), "{ms} ms");
                before[flow] = u64::from(count.present);
            }
            let alive = lives.values().filter(|life| life.over.is_empty()).count() as u64;
            assert_eq!(before.iter().sum::<u64>(), alive, "{ms} ms");
            scene.reset();
        }
    }
}

/// New calls come in only while they are not blocked, and are blocked only while they are.
#[test]
fn the_gate_is_what_it_says() {
    for seed in SEEDS {
        let (mut blocking, mut changes) = (false, 0);
        for (now, fact) in run(seed).0 {
            match fact {
                Fact::Blocking(now_blocking) => {
                    assert_ne!(blocking, now_blocking, "told twice at {now:?}");
                    (blocking, changes) = (now_blocking, changes + 1);
                }
                Fact::Call(CallEvent::Admitted, ..) => assert!(!blocking, "{now:?}"),
                Fact::Call(CallEvent::Blocked, ..) => assert!(blocking, "{now:?}"),
                _ => {}
            }
        }
        assert!(changes >= 2);
    }
}

/// Linked flows begin in pairs at one instant.
#[test]
fn linked_flows_begin_together() {
    for seed in SEEDS {
        let begun: Vec<(Time, usize)> = run(seed)
            .0
            .into_iter()
            .filter_map(|(now, fact)| match fact {
                Fact::Call(CallEvent::Admitted | CallEvent::Rerouted, _, flow)
                    if flow.index() > 0 =>
                {
                    Some((now, flow.index()))
                }
                _ => None,
            })
            .collect();
        assert!(begun.len() > 10);
        for pair in begun.chunks(2) {
            assert_eq!((pair[0].0, pair[0].1, pair[1].1), (pair[1].0, 1, 2));
        }
    }
}

/// A seed decides everything: a run can be repeated, and another seed gives another run.
#[test]
fn a_seed_decides_everything() {
    let digest = |seed| {
        let mut scene = scene(seed);
        scene.run(at(12_000));
        scene.digest()
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}
