//! A ring with sources and sinks at its stations, and what came of it.

use forebay_elements::ring::{Buffers, Leg, PortParts, Ring, RingParts};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::fairness::{FAIRNESS, RingFacts, StationFacts};
use forebay_network::{
    Context, Element, ElementId, FlowId, LinkCount, LinkId, LogicalProcess, Packet, RouteId,
};
use forebay_parameters::{Echo, Node, Section, Table, Value};
use forebay_units::{Rate, Size, Span, Time};

pub const OC12: u64 = 622_080_000;
pub const OC48: u64 = 2_488_320_000;

/// A ring; its stations are numbered in the order of the data on ringlet 0.
pub struct Scene {
    pub rate: u64,
    /// Propagation delay of the span that leaves each station on ringlet 0.
    pub delays: Vec<Span>,
    pub buffers: Buffers,
    pub law: &'static str,
    pub parameters: Vec<(&'static str, Value)>,
    /// Committed rate in bit/s of high and low priority, by station.
    pub committed: Vec<[u64; 2]>,
    pub sources: Vec<Source>,
    pub seed: u64,
}

/// Frames of one size at constant rate, at all times or in bursts.
#[derive(Clone, Copy)]
pub struct Source {
    pub from: usize,
    pub to: usize,
    pub ringlet: usize,
    pub precedence: u8,
    pub rate: u64,
    pub start: Span,
    /// Time for which it sends, and time after which it sends again.
    pub burst: Option<(Span, Span)>,
    pub size: u16,
}

/// Always backlogged: 1.3 times the rate of the ring, at low priority on ringlet 0.
pub fn greedy(rate: u64, from: usize, to: usize) -> Source {
    Source {
        from,
        to,
        ringlet: 0,
        precedence: 1,
        rate: rate * 13 / 10,
        start: Span::ZERO,
        burst: None,
        size: 1500,
    }
}

pub fn buffers(low_threshold: u64) -> Buffers {
    // TB_HI_THRESHOLD over TB_LO_THRESHOLD as 458 over 320 (RFC 2892, section 6.1).
    let stop = low_threshold * 458 / 320;
    Buffers {
        dual: true,
        high_limit: 30_000,
        low_limit: stop + 64_000,
        reserve: 3000,
        stop,
        host_limit: 4_000_000,
        by_destination: true,
    }
}

impl Scene {
    /// A ring of `stations` with the same delay between any two, and SRP-fa.
    pub fn new(rate: u64, stations: usize, delay: Span) -> Self {
        Self {
            rate,
            delays: vec![delay; stations],
            buffers: buffers(320_000),
            law: "srp_fa",
            parameters: Vec::new(),
            committed: vec![[0, 0]; stations],
            sources: Vec::new(),
            seed: 1,
        }
    }

    fn ports(&self, ringlet: usize, links: &[LinkId], streams: &Streams) -> Vec<PortParts> {
        let n = self.delays.len();
        // The station at each place of the ringlet, and the span that leaves it.
        let station = |place: usize| if ringlet == 0 { place } else { n - 1 - place };
        let span = |place: usize| {
            if ringlet == 0 { place } else { (station(place) + n - 1) % n }
        };
        let (rate, limit) = (Rate::from_bps(self.rate), self.buffers.low_limit);
        let facts = RingFacts { rate, transit_limit: limit, dual: self.buffers.dual };
        let entry = FAIRNESS.iter().find(|entry| entry.name == self.law).unwrap();
        let nodes = self.parameters.iter().map(|(k, v)| ((*k).to_owned(), Node::new(v.clone())));
        let (node, echo) = (Node::new(Value::Table(nodes.collect::<Table>())), Echo::default());
        let factory = (entry.build)(&Section::root(&node, &echo).unwrap(), &facts)
            .unwrap_or_else(|problem| panic!("{problem:?}"));
        (0..n)
            .map(|place| {
                let upstream = (1..n).map(|back| self.delays[span((place + n - back) % n)]);
                let law = factory(&StationFacts {
                    upstream: upstream.collect(),
                    weights: vec![1.0; n],
                    committed: self.committed[station(place)].map(Rate::from_bps),
                    max_rate: None,
                });
                let interval = law.interval().unwrap_or(Span::ZERO);
                let name = format!("{ringlet}.{}", station(place));
                let phase = interval.scaled(streams.named(&name).uniform());
                PortParts { link: links[place], delay: self.delays[span(place)], law, phase }
            })
            .collect()
    }

    /// The network, its ring, and the numbers of the links of ringlet 0.
    pub fn build(&self) -> Built {
        let mut network = Network::new();
        let n = self.delays.len();
        let links: Vec<LinkId> = (0..2 * n).map(|_| network.add_link()).collect();
        let streams = Streams::new(self.seed, 0);
        let ring = network.next_element();
        let mut legs = Vec::new();
        for source in &self.sources {
            let sink = network.add_sink(0);
            let route = network.add_route(&[ring], sink);
            legs.resize(route.index() + 1, None);
            let (from, spans) = if source.ringlet == 0 {
                (source.from, (source.to + n - source.from) % n)
            } else {
                (n - 1 - source.from, (source.from + n - source.to) % n)
            };
            let (from, spans) = (from as u16, spans as u16);
            legs[route.index()] = Some(Leg { ringlet: source.ringlet as u8, from, spans });
        }
        let ports = [0, 1].map(|r| self.ports(r, &links[r * n..][..n], &streams));
        let parts = RingParts {
            rate: Rate::from_bps(self.rate),
            buffers: self.buffers,
            high: Some(0),
            message: Size::from_bytes(16),
            ports,
            legs,
        };
        network.add(Box::new(Ring::new(parts)));
        for (route, source) in RouteId::all(self.sources.len()).zip(&self.sources) {
            let flow = network.add_flows(1);
            let sent = 0;
            network.add(Box::new(Sender { source: *source, flow, route, sent }));
        }
        Built { network, ring }
    }
}

/// A scene that runs.
pub struct Built {
    pub network: Network,
    pub ring: ElementId,
}

impl Built {
    pub fn run_to(&mut self, seconds: f64) {
        let end = Time::ZERO + Span::from_seconds(seconds);
        assert!(self.network.run(end, u64::MAX).complete);
    }

    /// Run from `from` to `to` seconds and count.
    pub fn measure(&mut self, from: f64, to: f64) -> Counts {
        self.run_to(from);
        self.network.reset_counters();
        self.run_to(to);
        let counters = self.network.counters();
        let bps = |bytes: u64| bytes as f64 * 8.0 / (to - from);
        Counts {
            flows: counters.flows.iter().map(|flow| bps(flow.delivered.bytes)).collect(),
            spans: counters.links.iter().map(carried).map(bps).collect(),
        }
    }

    /// The value of one probe of a station on ringlet 0 at this instant.
    pub fn probe(&mut self, station: u32, wanted: &str) -> f64 {
        let mut found = None;
        self.network.probes(self.ring, station, &mut |name, value| {
            if name == wanted {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no probe {wanted}"))
    }
}

fn carried(link: &LinkCount) -> u64 {
    link.total(|packets| packets.departed.bytes)
}

/// Rates in bit/s, by flow and by span.
pub struct Counts {
    pub flows: Vec<f64>,
    pub spans: Vec<f64>,
}

struct Sender {
    source: Source,
    flow: FlowId,
    route: RouteId,
    sent: u64,
}

impl Sender {
    /// Returns the time at which frame `number` leaves.
    fn time(&self, number: u64) -> Time {
        let Source { rate, size, start, burst, .. } = self.source;
        let gap = Rate::from_bps(rate).transmission_time(Size::from_bytes(u64::from(size)));
        let start = Time::ZERO + start;
        match burst {
            None => start + gap.times(number),
            Some((on, period)) => {
                let each = on.ps() / gap.ps() + u64::from(!on.ps().is_multiple_of(gap.ps()));
                start + period.times(number / each) + gap.times(number % each)
            }
        }
    }
}

impl LogicalProcess for Sender {}

impl Element for Sender {
    fn start(&mut self, cx: &mut Context<'_>) {
        cx.wake_at(self.time(0), 0);
    }

    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("nothing is routed to a sender");
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        let Source { size, precedence, .. } = self.source;
        let packet = Packet::data(cx.now(), self.flow, self.sent, size, self.route);
        cx.send(packet.with_precedence(precedence));
        self.sent += 1;
        cx.wake_at(self.time(self.sent), 0);
    }
}
