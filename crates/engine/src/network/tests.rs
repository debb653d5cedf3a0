//! Tests of a network as its builders see it: numbers, digests, measurement windows, errors.

use super::*;
use crate::stubs::{Call, Log, Logged, Stub, idle, packet, transmits, wire};
use forebay_network::record::RecordTable;
use forebay_network::{ElementId, FlowId, LinkId, Lookahead, Observation, OwnCount, RouteId};
use forebay_units::Span;

const NONE: Lookahead<'static> = Lookahead::NONE;

fn at(ps: u64) -> Time {
    Time::from_ps(ps)
}

/// Counts packets, as an element or as a meter of deliveries.
#[derive(Default)]
struct Tally {
    packets: u64,
    since: Time,
}

impl ElementCounters for Tally {
    fn reset(&mut self, now: Time) {
        *self = Self { packets: 0, since: now };
    }
}

impl DeliveryMeter for Tally {
    fn delivered(&mut self, _delay: Span) {
        self.packets += 1;
    }

    fn fresh(&self) -> Box<dyn DeliveryMeter> {
        Box::new(Self::default())
    }
}

/// A destination that counts what it receives.
struct Destination(Tally);

impl LogicalProcess for Destination {}

impl Element for Destination {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        self.0.packets += 1;
        cx.deliver(packet);
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {}

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::of(&mut self.0)
    }
}

/// Element 0 sends a packet at each of `times` (ps, number), those of even numbers by link 1
/// (10 ps) to element 2, the others to a sink.
fn network(times: &[(u64, u32)]) -> (Network, Log) {
    let (mut network, log) = (Network::new(), Log::default());
    let mut set = crate::stubs::timers(times);
    network.add(Stub::new(0, NONE, &log, move |call, cx| {
        set(call, cx);
        if let Call::Wake(number) = call {
            let mut packet = packet(number.into(), RouteId::new(number as usize % 2));
            packet.created = cx.now();
            cx.send(packet);
        }
    }));
    let link = network.add(Stub::new(1, wire(10), &log, transmits(10)));
    let host = network.add(Box::new(Destination(Tally::default())));
    network.add_flows(1);
    let sink = network.add_sink(40);
    network.add_route(&[link], host);
    network.add_route(&[link], sink);
    (network, log)
}

/// A reserved number is that of the element placed there, and numbers are given in order: elements
/// can be wired to others before these are made.
#[test]
fn a_reserved_number_is_that_of_the_element_placed_there() {
    let (mut network, log) = (Network::new(), Log::default());
    let reserved = network.reserve();
    assert_eq!((reserved, network.next_element()), (ElementId::new(0), ElementId::new(1)));
    assert_eq!(network.add(Stub::new(1, NONE, &log, idle)), ElementId::new(1));
    network.place(reserved, Stub::new(0, NONE, &log, crate::stubs::timers(&[(3, 8)])));
    let progress = network.run(at(3), u64::MAX);
    let woken: Vec<Logged> = log.take().into_iter().filter(|entry| entry.2 == "wake").collect();
    assert_eq!((woken, progress.events), (vec![(0, 3, "wake", 8)], 1));
    // Flows and links have numbers of their own, and so have sinks and routes.
    assert_eq!([network.add_flows(3), network.add_flows(1)], [0, 3].map(FlowId::new));
    assert_eq!([network.add_link(), network.add_link()], [0, 1].map(LinkId::new));
}

/// A run panics if a reserved number was never used: packets for that element cannot vanish.
#[test]
#[should_panic(expected = "an element was reserved and never made")]
fn a_reserved_number_must_be_used() {
    let (mut network, log) = (Network::new(), Log::default());
    let reserved = network.reserve();
    let mut set = crate::stubs::timers(&[(3, 0)]);
    network.add(Stub::new(1, NONE, &log, move |call, cx| {
        set(call, cx);
        if call == Call::Wake(0) {
            cx.send(packet(0, RouteId::new(0)));
        }
    }));
    network.add_flows(1);
    network.add_route(&[], reserved);
    network.run(at(3), u64::MAX);
}

/// The digest changes with times, packets and their order at elements and sinks, and is the same in
/// any number of partitions.
#[test]
fn the_digest_is_of_the_trajectory_alone() {
    let times = [(5, 2), (6, 1), (15, 4), (16, 3)];
    let run = |times: &[(u64, u32)], partitions: Option<usize>| {
        let (mut network, _) = network(times);
        if let Some(threads) = partitions {
            network.divide(vec![0, 0, 1], threads);
        }
        let progress = network.run(at(26), u64::MAX);
        assert_eq!(network.partitions(), if partitions.is_some() { 2 } else { 1 });
        let goodput = network.counters().flows[0].goodput;
        (network.digest(), progress, goodput)
    };
    let alone = run(&times, None);
    // Four timers and four arrivals, of which two are payload of 60 B at the sink.
    let expected = Progress { now: at(26), events: 8, hops: 4, complete: true };
    assert_eq!((alone.1, alone.2), (expected, 120));
    assert_eq!(run(&times, Some(1)), alone);
    assert_eq!(run(&times, Some(2)), alone);
    // Another time, another packet, another order at the destination or at the sink.
    for other in [
        [(5, 2), (6, 1), (14, 4), (16, 3)],
        [(5, 2), (6, 1), (15, 6), (16, 3)],
        [(5, 4), (6, 1), (15, 2), (16, 3)],
        [(5, 2), (6, 3), (15, 4), (16, 1)],
    ] {
        assert_ne!(run(&other, None).0, alone.0, "{other:?}");
    }
}

/// Counters begin at zero with a measurement window, except for the hops of the whole run and the
/// start of a flow: results of a window contain nothing that happened before it.
#[test]
fn counters_begin_anew_with_a_measurement_window() {
    for divided in [false, true] {
        let (mut network, _) = network(&[(5, 0), (15, 2), (25, 4)]);
        network.meter_deliveries(FlowId::new(0), 1, &Tally { packets: 7, since: at(0) });
        if divided {
            network.divide(vec![0, 0, 1], 1);
        }
        network.run(at(20), u64::MAX);
        let tally = |network: &mut Network| {
            let flow = network.counters().flows[0];
            let own = network
                .element_counters::<Tally>(ElementId::new(2))
                .map(|at| (at.packets, at.since));
            let meter = network.delivery_meter::<Tally>(FlowId::new(0)).map(|at| at.packets);
            (flow.sent.packets, flow.delivered.packets, flow.started, own, meter)
        };
        // Sent at 5 and 15, delivered at 15. The meter is a fresh one.
        let expected = (2, 1, Some(at(5)), Some((1, at(0))), Some(1));
        assert_eq!(tally(&mut network), expected);
        network.reset_counters();
        assert_eq!(network.counters().since, at(20));
        assert_eq!(tally(&mut network), (0, 0, Some(at(5)), Some((0, at(20))), Some(0)));
        network.run(at(30), u64::MAX);
        assert_eq!(tally(&mut network), (1, 1, Some(at(5)), Some((1, at(20))), Some(1)));
        // Hops are those of the whole run, and the next packet is under way.
        assert_eq!(network.counters().hops, 2);
        assert!(network.element_counters::<Vec<Tally>>(ElementId::new(2)).is_none());
        assert!(network.element_counters::<Tally>(ElementId::new(1)).is_none());
    }
}

/// A run that has spent its budget of events continues where it ended.
#[test]
fn a_run_continues_after_its_budget() {
    let (mut network, _) = network(&[(5, 0), (15, 2)]);
    let progress = |now, events, hops, complete| Progress { now: at(now), events, hops, complete };
    assert_eq!(network.run(at(100), 1), progress(5, 1, 0, false));
    assert_eq!(network.run(at(100), 2), progress(15, 3, 1, false));
    assert_eq!(network.run(at(100), 9), progress(100, 4, 2, true));
}

/// Packets in elements and in channels are held, once each, also between partitions: they do not
/// count as lost.
#[test]
fn packets_in_elements_and_channels_are_held() {
    let (mut network, _) = network(&[(5, 0), (6, 2)]);
    network.divide(vec![0, 0, 1], 1);
    network.run(at(4), u64::MAX);
    // Each stub says that it holds one packet.
    assert_eq!(network.held(), 2);
    network.run(at(7), u64::MAX);
    assert_eq!(network.held(), 4);
    network.run(at(15), u64::MAX);
    assert_eq!(network.held(), 3);
}

/// Probes show the part of an element that was asked for, at the current time: the end of the run
/// has brought it there, and no look does so again.
#[test]
fn probes_show_an_element_at_the_current_time() {
    let (mut network, log) = network(&[(5, 0)]);
    network.run(at(9), u64::MAX);
    let mut seen = Vec::new();
    network.probes(ElementId::new(1), 3, &mut |name, value| seen.push((name.to_owned(), value)));
    assert_eq!(seen, [("part".to_owned(), 3.0)]);
    let counts = log.take().into_iter().filter(|(me, _, what, _)| (*me, *what) == (1, "count"));
    assert_eq!(counts.collect::<Vec<_>>(), [(1, 9, "count", 0)]);
}

struct Deaf;

impl Observer for Deaf {
    fn observe(&mut self, _now: Time, _fact: &Observation<'_>) {}

    fn tables(&mut self) -> Vec<RecordTable> {
        Vec::new()
    }
}

/// An observer that is attached after the run has begun is refused with a panic, since it has
/// missed what happened before.
#[test]
#[should_panic(expected = "observers must be attached before the run begins")]
fn observers_come_before_the_run() {
    let (mut network, _) = network(&[]);
    network.attach(Box::new(Deaf));
    assert_eq!(network.detach().len(), 1);
    network.run(at(1), u64::MAX);
    network.attach(Box::new(Deaf));
}

/// A network that is divided after the run has begun is refused with a panic.
#[test]
#[should_panic(expected = "a network must be divided before the run begins")]
fn a_network_is_divided_before_the_run() {
    let (mut network, _) = network(&[]);
    network.run(at(1), u64::MAX);
    network.divide(vec![0, 0, 1], 1);
}

/// A division that leaves out an element is refused with a panic: an element of no partition is
/// never executed.
#[test]
#[should_panic(expected = "each element lies in one partition")]
fn each_element_has_a_partition() {
    let (mut network, _) = network(&[]);
    network.divide(vec![0, 1], 1);
    network.run(at(1), u64::MAX);
}
