//! A network in several partitions, of elements that do only what the contract of elements
//! requires.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(clippy::disallowed_methods, reason = "a run that hangs is told apart from a long one")]

use std::collections::VecDeque;
use std::sync::mpsc::channel;
use std::time::Duration;

use forebay_engine::{Network, Progress};
use forebay_network::{
    Context, Counters, Element, ElementId, FlowId, LogicalProcess, Lookahead, LookaheadContext,
    OwnCount, Packet, RouteId,
};
use forebay_units::{Span, Time};

/// A link with propagation delay `delay` and a transmission time of one ps for every packet.
struct Wire {
    delay: Span,
    early: bool,
    last: Time,
    under_way: VecDeque<(Packet, Time)>,
}

fn wire(delay: u64) -> Box<Wire> {
    let (early, last, under_way) = (false, Time::ZERO, VecDeque::new());
    Box::new(Wire { delay: Span::from_ps(delay), early, last, under_way })
}

impl LogicalProcess for Wire {}

impl Element for Wire {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.early = cx.execution_mode().sends_ahead();
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        let free = if self.last > now { self.last } else { now };
        self.last = free + Span::from_ps(1);
        let out = self.last + self.delay;
        if self.early {
            cx.send_ahead(packet, out);
        } else {
            self.under_way.push_back((*packet, out));
            cx.wake_at(out, 0);
        }
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead { schedules_departures: true, span: self.delay, ..Lookahead::NONE }
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        let (packet, out) = self.under_way.pop_front().unwrap();
        assert_eq!(out, cx.now());
        cx.cross(&packet);
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::held(self.under_way.len() as u64)
    }
}

/// Sends `size` packets every `gap`, and receives those of others.
struct Host {
    flow: FlowId,
    gap: u64,
    size: u32,
    route: RouteId,
    sent: u64,
    received: u64,
    /// The number of received packets at which it panics.
    most: u64,
}

impl LogicalProcess for Host {}

impl Element for Host {
    fn start(&mut self, cx: &mut Context<'_>) {
        cx.wake_at(Time::from_ps(self.gap), 0);
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        self.received += 1;
        assert!(self.received < self.most, "too many packets");
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        for _ in 0..self.size {
            cx.send(Packet::data(cx.now(), self.flow, self.sent, 100, self.route));
            self.sent += 1;
        }
        cx.wake_at(cx.now() + Span::from_ps(self.gap), 0);
    }
}

/// A ring of `hosts`, each of which sends to the one `hop` positions downstream; wires have the
/// given delays in ps, cyclically. Hosts have the numbers 0 to `hosts`, the wires that leave them
/// the following numbers.
fn ring(hosts: u32, hop: u32, delays: &[u64], most: u64) -> Network {
    let mut network = Network::new();
    let first = network.add_flows(hosts);
    for from in 0..hosts {
        let element = |number: u32| ElementId::new(number as usize);
        let wires: Vec<ElementId> =
            (0..hop).map(|step| element(hosts + (from + step) % hosts)).collect();
        let route = network.add_route(&wires, element((from + hop) % hosts));
        let flow = first.nth(from);
        // Many events are simultaneous.
        let (gap, size) = (7 + u64::from(from % 3), 1 + from % 4);
        network.add(Box::new(Host { flow, gap, size, route, sent: 0, received: 0, most }));
    }
    for from in 0..hosts {
        network.add(wire(delays[from as usize % delays.len()]));
    }
    network
}

/// The partitions of the elements of a ring: `count` arcs of successive hosts.
fn rows(hosts: u32, count: u32) -> Vec<u32> {
    let of = |host: u32| host * count / hosts;
    (0..hosts).chain(0..hosts).map(of).collect()
}

/// Run `what`, which may not terminate, with a timeout.
fn soon<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> std::thread::Result<T> {
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || {
        let outcome = what();
        drop(sender);
        outcome
    });
    let ended = receiver.recv_timeout(Duration::from_secs(120));
    assert_eq!(ended, Err::<(), _>(std::sync::mpsc::RecvTimeoutError::Disconnected), "it hangs");
    thread.join()
}

/// All observable results of a network at `times`, run with `budget` events at a time.
fn trajectory(
    network: &mut Network,
    times: &[u64],
    budget: u64,
) -> Vec<(Progress, u64, u64, Counters)> {
    let at = |time: &u64| {
        let progress = loop {
            let progress = network.run(Time::from_ps(*time), budget);
            if progress.complete {
                break progress;
            }
        };
        let seen = (progress, network.digest(), network.held(), network.counters().clone());
        network.reset_counters();
        seen
    };
    times.iter().map(at).collect()
}

fn assert_same(one: &[(Progress, u64, u64, Counters)], other: &[(Progress, u64, u64, Counters)]) {
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(other) {
        assert_eq!((one.0, one.1, one.2), (other.0, other.1, other.2));
        assert_eq!(one.3.flows, other.3.flows);
        assert_eq!(one.3.since, other.3.since);
    }
}

/// No result depends on how a network is divided, on the number of threads, or on when counters are
/// read. A ring of twelve hosts with many simultaneous events gives the same digest, events, hops,
/// packets held and counters in every measurement window, undivided or in 2 to 12 partitions, on 1
/// to 16 threads, with or without interruptions.
#[test]
fn no_division_changes_anything() {
    let times = [0, 40, 41, 300, 1000, 1000, 5000];
    let build = || ring(12, 7, &[20, 5, 33, 1], u64::MAX);
    let alone = trajectory(&mut build(), &times, u64::MAX);
    assert!(alone.last().unwrap().0.hops > 10_000, "nothing happens");
    for (count, threads) in [(2, 2), (3, 2), (4, 4), (6, 3), (12, 1), (12, 5), (5, 16)] {
        for budget in [u64::MAX, 100] {
            let mut network = build();
            network.divide(rows(12, count), threads);
            let (regions, seen) = soon(move || {
                let seen = trajectory(&mut network, &times, budget);
                (network.partitions(), seen)
            })
            .unwrap();
            assert_eq!(regions, count as usize);
            assert_same(&alone, &seen);
        }
    }
}

/// A bug in an element ends the run instead of hanging the program: when an element panics on one
/// thread, the others stop, and the panic reaches the caller with its message.
#[test]
fn a_panic_in_one_region_ends_the_run() {
    for threads in [1, 2, 4] {
        let outcome = soon(move || {
            let mut network = ring(8, 3, &[50], 200);
            network.divide(rows(8, 4), threads);
            network.run(Time::from_ps(1_000_000), u64::MAX)
        });
        let panic = outcome.unwrap_err();
        let message = panic.downcast_ref::<&str>().copied();
        assert_eq!(message, Some("too many packets"), "{threads} threads");
    }
}

/// A boundary at a link without delay is refused: packets would be lost there, or arrive in the
/// past of their receiver.
#[test]
#[should_panic(expected = "a link without delay cannot be at a border")]
fn a_border_needs_a_delay() {
    let mut network = ring(4, 2, &[0, 10], u64::MAX);
    network.divide(rows(4, 4), 2);
    network.run(Time::from_ps(100), u64::MAX);
}

/// Only elements that schedule their packets ahead can be at a boundary: one that acts on packets
/// when they reach the far end must be in the same partition as that far end.
#[test]
#[should_panic(expected = "must act here")]
fn a_border_needs_an_element_that_books() {
    let mut network = Network::new();
    let flow = network.add_flows(1);
    let host = |route| Host { flow, gap: 9, size: 1, route, sent: 0, received: 0, most: 99 };
    let route = network.add_route(&[ElementId::new(1)], ElementId::new(2));
    for _ in 0..3 {
        network.add(Box::new(host(route)));
    }
    network.divide(vec![0, 0, 1], 2);
    network.run(Time::from_ps(100), u64::MAX);
}

/// With an observer, a network runs in one partition, with the same trajectory, so that observers
/// are notified of facts in an order that does not depend on threads.
#[test]
fn an_observer_keeps_a_network_whole() {
    struct Deaf;
    impl forebay_network::Observer for Deaf {
        fn observe(&mut self, _now: Time, _fact: &forebay_network::Observation<'_>) {}
        fn tables(&mut self) -> Vec<forebay_network::record::RecordTable> {
            Vec::new()
        }
    }
    let mut watched = ring(6, 4, &[10], u64::MAX);
    watched.attach(Box::new(Deaf));
    watched.divide(rows(6, 3), 3);
    let times = [10, 500];
    let seen = trajectory(&mut watched, &times, u64::MAX);
    assert_eq!(watched.partitions(), 1);
    assert_same(&seen, &trajectory(&mut ring(6, 4, &[10], u64::MAX), &times, u64::MAX));
}
