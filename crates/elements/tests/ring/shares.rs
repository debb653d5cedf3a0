//! Shares that stations get of a ring, against those that fairness with spatial reuse (RIAS, which
//! is max-min over stations) gives them.

use forebay_units::Span;

use super::scene::{OC12, OC48, Scene, Source, greedy};

/// Laws that share a ring.
const FAIR: [&str; 4] = ["srp_fa", "voq", "aggressive", "conservative"];

fn ring(stations: usize, law: &'static str, sources: Vec<Source>) -> Scene {
    let mut scene = Scene::new(OC12, stations, Span::from_us(50));
    scene.law = law;
    scene.buffers.dual = law != "voq";
    scene.sources = sources;
    scene
}

fn near(measured: f64, expected: f64, what: &str) {
    let error = (measured / expected - 1.0).abs();
    assert!(error < 0.02, "{what}: {measured:.4e} bit/s, expected {expected:.4e}");
}

/// A station alone fills the ring: it is not throttled while no other station wants it.
#[test]
fn a_station_alone_fills_the_ring() {
    for law in FAIR {
        for rate in [OC12, OC48] {
            let mut scene = ring(6, law, vec![greedy(rate, 0, 5)]);
            scene.rate = rate;
            let share = scene.build().measure(0.1, 0.3).flows[0] / rate as f64;
            assert!((0.998..=1.0001).contains(&share), "{law}: {share}");
        }
    }
}

/// Each of the sources gets the same, and together they get the line. The conservative mode leaves
/// some of it: it lowers rates above 0.95 of the line and raises them below 0.9 of that.
fn share_evenly(stations: usize, law: &'static str, sources: Vec<Source>) {
    let count = sources.len() as f64;
    let flows = ring(stations, law, sources).build().measure(0.62, 1.46).flows;
    let sum: f64 = flows.iter().sum();
    for flow in &flows {
        near(*flow, sum / count, law);
    }
    if law == "conservative" {
        let carried = sum / OC12 as f64;
        assert!((0.855..=0.95).contains(&carried), "{law}: {carried}");
    } else {
        near(sum, OC12 as f64, law);
    }
}

/// Two backlogged stations get half each, near the hub or farther away.
#[test]
fn two_backlogged_stations_share_evenly() {
    for law in FAIR {
        share_evenly(6, law, vec![greedy(OC12, 0, 5), greedy(OC12, 2, 5)]);
    }
}

/// A parking lot shares evenly, whatever the place: four stations that send to one hub get a
/// quarter each.
#[test]
fn a_parking_lot_shares_evenly() {
    for law in FAIR {
        share_evenly(5, law, (0..4).map(|from| greedy(OC12, from, 4)).collect());
    }
}

/// Without a law the station upstream takes all, which is what fairness is for: a host frame goes
/// ahead of transit until the transit buffer passes its high threshold; from then on F's frames
/// keep it there, and D, downstream, gets nothing.
#[test]
fn without_a_law_the_station_upstream_takes_all() {
    let scene = ring(6, "none", vec![greedy(OC12, 0, 5), greedy(OC12, 2, 5)]);
    let counts = scene.build().measure(0.62, 1.46);
    near(counts.flows[0], OC12 as f64, "F");
    assert!(counts.flows[1] < 0.01 * OC12 as f64, "D: {}", counts.flows[1]);
}

/// Disjoint segments carry the whole rate each, as destinations strip their packets: on disjoint
/// segments, and on the two ringlets, each flow has the whole rate. Messages of the laws take 16 B
/// in 102.88 us, 0.2 %.
#[test]
fn disjoint_segments_carry_the_whole_rate_each() {
    for law in FAIR {
        let back = Source { ringlet: 1, ..greedy(OC12, 5, 3) };
        let sources = vec![greedy(OC12, 0, 2), greedy(OC12, 2, 5), greedy(OC12, 5, 0), back];
        let counts = ring(6, law, sources).build().measure(0.1, 0.5);
        for flow in counts.flows {
            assert!(flow > 0.997 * OC12 as f64, "{law}: {flow}");
        }
    }
}

/// A station is not held to what another does not use: a light one, with 20 Mbit/s, gets what it
/// sends, and the other more than the half that it has against a backlogged one.
#[test]
fn a_light_station_gets_what_it_sends() {
    for law in FAIR {
        let light = Source { rate: 20_000_000, ..greedy(OC12, 2, 5) };
        let counts = ring(6, law, vec![greedy(OC12, 0, 5), light]).build().measure(0.62, 1.46);
        near(counts.flows[1], 20e6, law);
        assert!(counts.flows[0] > 0.5 * OC12 as f64, "{law}: {}", counts.flows[0]);
    }
}
