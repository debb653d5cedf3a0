//! Order of packets by the rules of RFC 2892, section 5.1 and figure 17, to the microsecond.

use std::sync::{Arc, Mutex};

use forebay_network::record::RecordTable;
use forebay_network::{Observation, Observer};
use forebay_units::{Span, Time};

use super::scene::{Scene, Source, buffers};

/// A byte takes a microsecond.
const RATE: u64 = 8_000_000;

/// Arrivals of packets: number of the flow, and time in us.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(u32, u64)>>>);

impl Observer for Log {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        if let Observation::Delivered { packet, .. } = fact {
            self.0.lock().unwrap().push((packet.flow.number(), now.ps() / 1_000_000));
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        Vec::new()
    }
}

/// One packet to station 2.
fn one(from: usize, precedence: u8, us: u64, size: u16) -> Source {
    let burst = Some((Span::from_ps(1), Span::from_s(1000)));
    let start = Span::from_us(us);
    Source { from, to: 2, ringlet: 0, precedence, rate: RATE, start, burst, size }
}

const FIRST: u32 = 0;
const TRANSIT_LOW: u32 = 1;
const TRANSIT_HIGH: u32 = 2;
const HOST_LOW: u32 = 3;
const HOST_HIGH: u32 = 4;

/// Station 1 sends 1500 B from 0 on; meanwhile a packet of 100 B of each kind comes, low priority
/// first.
fn crossing() -> Scene {
    let mut scene = Scene::new(RATE, 3, Span::ZERO);
    scene.law = "none";
    scene.buffers = buffers(320_000);
    scene.sources = vec![
        one(1, 1, 0, 1500),
        one(0, 1, 0, 100),
        one(0, 0, 100, 100),
        one(1, 1, 300, 100),
        one(1, 0, 400, 100),
    ];
    scene
}

fn arrivals(scene: &Scene) -> Vec<(u32, u64)> {
    let log = Log::default();
    let mut built = scene.build();
    built.network.attach(Box::new(log.clone()));
    built.run_to(1.0);
    let seen = log.0.lock().unwrap();
    seen.clone()
}

fn in_order(kinds: [u32; 4]) -> Vec<(u32, u64)> {
    let times = [1600, 1700, 1800, 1900];
    std::iter::once((FIRST, 1500)).chain(kinds.into_iter().zip(times)).collect()
}

/// With two buffers the host goes ahead of low-priority transit, as in the RFC: high priority in
/// transit, then of the host, then low priority of the host, ahead of low priority in transit.
#[test]
fn with_two_buffers_the_host_goes_ahead_of_low_priority_transit() {
    let order = in_order([TRANSIT_HIGH, HOST_HIGH, HOST_LOW, TRANSIT_LOW]);
    assert_eq!(arrivals(&crossing()), order);
}

/// Above TB_HI_THRESHOLD low priority of the host waits, and high priority does not.
#[test]
fn above_the_high_threshold_low_priority_of_the_host_waits() {
    let mut scene = crossing();
    scene.buffers.stop = 99;
    let order = in_order([TRANSIT_HIGH, HOST_HIGH, TRANSIT_LOW, HOST_LOW]);
    assert_eq!(arrivals(&scene), order);
    scene.buffers.stop = 100;
    let order = in_order([TRANSIT_HIGH, HOST_HIGH, HOST_LOW, TRANSIT_LOW]);
    assert_eq!(arrivals(&scene), order, "at the threshold it does not");
}

/// With a full transit buffer the host waits, with both of its classes.
#[test]
fn with_a_full_buffer_the_host_waits() {
    let mut scene = crossing();
    scene.buffers.low_limit = scene.buffers.reserve + 99;
    let order = in_order([TRANSIT_HIGH, TRANSIT_LOW, HOST_HIGH, HOST_LOW]);
    assert_eq!(arrivals(&scene), order);
}

/// With one buffer transit goes ahead of the host, and in order.
#[test]
fn with_one_buffer_transit_goes_first_and_in_order() {
    let mut scene = crossing();
    scene.buffers.dual = false;
    let order = in_order([TRANSIT_LOW, TRANSIT_HIGH, HOST_HIGH, HOST_LOW]);
    assert_eq!(arrivals(&scene), order);
}

/// A packet takes a transmission and a propagation delay each hop: 100 B and 5 us, twice.
#[test]
fn a_packet_takes_a_transmission_and_a_delay_each_hop() {
    let mut scene = Scene::new(RATE, 3, Span::from_us(5));
    scene.law = "none";
    scene.sources = vec![one(0, 1, 1000, 100)];
    assert_eq!(arrivals(&scene), [(0, 1210)]);
    // The other way round it is one hop, at the delay of the span between stations 0 and 2.
    scene.delays[2] = Span::from_us(7);
    scene.sources[0].ringlet = 1;
    assert_eq!(arrivals(&scene), [(0, 1107)]);
}

/// Each queue has room of its own: frames for one destination do not take that of others. While a
/// frame of 300 B is sent, three of 100 B for the same station fill their queue of 300 B; one for
/// another station comes after them.
#[test]
fn each_queue_has_room_of_its_own() {
    let mut scene = Scene::new(RATE, 4, Span::ZERO);
    scene.law = "none";
    scene.buffers.host_limit = 300;
    let burst = Some((Span::from_us(300), Span::from_s(1000)));
    let first = Source { to: 1, ..one(0, 1, 0, 300) };
    let near = Source { to: 1, burst, ..one(0, 1, 50, 100) };
    let far = Source { to: 3, ..one(0, 1, 260, 100) };
    scene.sources = vec![first, near, far];
    let count = |scene: &Scene, flow: u32| arrivals(scene).iter().filter(|a| a.0 == flow).count();
    assert_eq!([count(&scene, 1), count(&scene, 2)], [3, 1]);
    scene.buffers.by_destination = false;
    assert_eq!([count(&scene, 1), count(&scene, 2)], [3, 0]);
}

/// Queues of destinations take turns: one destination does not hold up the host's frames for
/// another. While a frame of 1000 B is sent, three for the next station come, then three for the
/// one after two more; with a queue for each destination they take turns, and the far ones need 200
/// us more.
#[test]
fn queues_of_destinations_take_turns() {
    let mut scene = Scene::new(RATE, 4, Span::ZERO);
    scene.law = "none";
    let burst = Some((Span::from_us(300), Span::from_s(1000)));
    let first = Source { to: 1, ..one(0, 1, 0, 1000) };
    let near = Source { to: 1, burst, ..one(0, 1, 0, 100) };
    let far = Source { to: 3, burst, ..one(0, 1, 500, 100) };
    scene.sources = vec![first, near, far];
    let turns = [(0, 1000), (1, 1200), (2, 1300), (1, 1400), (2, 1500), (1, 1600), (2, 1700)];
    assert_eq!(arrivals(&scene), turns);
    scene.buffers.by_destination = false;
    let line = [(0, 1000), (1, 1100), (1, 1200), (1, 1300), (2, 1600), (2, 1700), (2, 1800)];
    assert_eq!(arrivals(&scene), line);
}
