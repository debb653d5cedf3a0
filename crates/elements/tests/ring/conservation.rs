//! Nothing is lost on a ring, nothing overtakes its own kind, and runs repeat.

use std::sync::{Arc, Mutex};

use forebay_kernel::{Stream, Streams};
use forebay_network::record::RecordTable;
use forebay_network::{Observation, Observer};
use forebay_units::{Span, Time};

use super::scene::{OC12, Scene, Source, buffers};

const LAWS: [&str; 5] = ["none", "srp_fa", "voq", "aggressive", "conservative"];

/// The numbers of packets delivered, by flow.
#[derive(Clone, Default)]
struct Delivered(Arc<Mutex<Vec<Vec<u64>>>>);

impl Observer for Delivered {
    fn observe(&mut self, _now: Time, fact: &Observation<'_>) {
        if let Observation::Delivered { packet, .. } = fact {
            let mut flows = self.0.lock().unwrap();
            let flow = packet.flow.index();
            if flows.len() <= flow {
                flows.resize(flow + 1, Vec::new());
            }
            flows[flow].push(packet.number);
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        Vec::new()
    }
}

fn any_source(stations: usize, draw: &mut Stream) -> Source {
    let from = draw.below(stations as u64) as usize;
    let to = (from + 1 + draw.below(stations as u64 - 1) as usize) % stations;
    let burst = draw.happens(0.5).then(|| {
        let on = Span::from_us(100 + draw.below(2000));
        (on, on.times(2 + draw.below(4)))
    });
    Source {
        from,
        to,
        ringlet: draw.below(2) as usize,
        precedence: u8::from(draw.happens(0.7)),
        rate: OC12 / (1 + draw.below(4)),
        start: Span::from_us(draw.below(1000)),
        burst,
        size: 64 + draw.below(1437) as u16,
    }
}

/// A ring of three to eight stations that is asked for more than it can carry.
fn any_scene(seed: u64, law: &'static str, dual: bool) -> Scene {
    let mut draw = Streams::new(seed, 0).named("scene");
    let stations = 3 + draw.below(6) as usize;
    let mut scene = Scene::new(OC12, stations, Span::from_us(draw.below(100)));
    scene.law = law;
    scene.seed = seed;
    scene.buffers = buffers(20_000);
    scene.buffers.dual = dual;
    scene.buffers.host_limit = u64::MAX;
    if law == "srp_fa" {
        scene.parameters = vec![("low_threshold", "20 kB".into())];
    }
    scene.committed = vec![[OC12 / 10, 0]; stations];
    scene.sources = (0..2 * stations).map(|_| any_source(stations, &mut draw)).collect();
    scene
}

fn every_scene() -> impl Iterator<Item = Scene> {
    let kinds = LAWS.into_iter().flat_map(|law| [(law, true), (law, false)]);
    kinds.flat_map(|(law, dual)| (0..6).map(move |seed| any_scene(seed, law, dual)))
}

/// A ring loses no packet in transit, as insertion buffers are to ensure, and none vanishes or
/// appears. Hosts have room for everything, so that whatever is dropped was in transit.
#[test]
fn nothing_is_lost_in_transit() {
    for scene in every_scene() {
        let mut built = scene.build();
        built.run_to(0.05);
        let held = built.network.held();
        let counters = built.network.counters();
        let sum = |part: fn(&forebay_network::FlowCount) -> u64| -> u64 {
            counters.flows.iter().map(part).sum()
        };
        let what = format!("{} seed {} dual {}", scene.law, scene.seed, scene.buffers.dual);
        assert_eq!(sum(|flow| flow.dropped.packets), 0, "{what}");
        let (sent, delivered) = (sum(|f| f.sent.packets), sum(|f| f.delivered.packets));
        assert!(delivered > 1000, "{what}: {delivered}");
        assert_eq!(sent, delivered + held, "{what}");
    }
}

/// Packets of a flow stay in order under every law and with every buffer.
#[test]
fn packets_of_a_flow_stay_in_order() {
    for scene in every_scene() {
        let log = Delivered::default();
        let mut built = scene.build();
        built.network.attach(Box::new(log.clone()));
        built.run_to(0.02);
        for numbers in log.0.lock().unwrap().iter() {
            assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{}", scene.law);
        }
    }
}

/// Equal runs are equal, whether they are watched, stopped in between, or neither.
#[test]
fn equal_runs_are_equal_watched_or_not() {
    for scene in every_scene().step_by(3) {
        let (mut plain, mut watched, mut halting) = (scene.build(), scene.build(), scene.build());
        watched.network.attach(Box::new(Delivered::default()));
        plain.run_to(0.02);
        watched.run_to(0.02);
        for step in 1..=20 {
            halting.run_to(f64::from(step) * 1e-3);
            for part in 0..2 * scene.delays.len() as u32 {
                halting.network.probes(halting.ring, part, &mut |_, _| ());
            }
        }
        let digest = plain.network.digest();
        assert_eq!(digest, watched.network.digest(), "{}", scene.law);
        assert_eq!(digest, halting.network.digest(), "{}", scene.law);
    }
}

/// No span carries more than its rate.
#[test]
fn no_span_carries_more_than_its_rate() {
    for scene in every_scene().step_by(2) {
        let counts = scene.build().measure(0.0, 0.03);
        let most = OC12 as f64 * (1.0 + 1500.0 * 8.0 / (0.03 * OC12 as f64));
        for span in counts.spans {
            assert!(span <= most, "{}: {span}", scene.law);
        }
    }
}
