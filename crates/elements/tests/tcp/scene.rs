//! The network of the tests, and what it records.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use forebay_elements::FlowGroup;
use forebay_elements::tcp::{TcpParameters, TcpReceivers, TcpSenders};
use forebay_engine::Network;
use forebay_kernel::{Stream, Streams};
use forebay_laws::control::{CONTROLS, ControlFactory, build_by_rfcs};
use forebay_laws::traffic::pool_of;
use forebay_network::record::RecordTable;
use forebay_network::{
    Ack, Burst, CongestionControl, Context, DropReason, Ecn, Element, ElementId, FlowCount, FlowId,
    LinkId, LogicalProcess, Marking, Observation, Observer, OwnCount, Packet, PacketKind, RouteId,
    Signal, Traffic, Window,
};
use forebay_parameters::{Echo, Node, Problem, Section, Table, Value};
use forebay_units::{Rate, Size, Span, Time};

/// An instant in ms.
pub fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Parameters from keys and values.
pub fn parameters(entries: &[(&str, Value)]) -> Result<TcpParameters, Problem> {
    let mut table = Table::new();
    table.insert("profile".to_owned(), Node::new("rfc".into()));
    for (key, value) in entries {
        table.insert((*key).to_owned(), Node::new(value.clone()));
    }
    let node = Node::new(Value::Table(table));
    TcpParameters::from_section(&Section::root(&node, &Echo::default())?)
}

/// A fresh congestion control.
pub fn control(name: &str) -> Box<dyn CongestionControl> {
    let entry = CONTROLS.iter().find(|entry| entry.name == name).unwrap();
    let build = build_by_rfcs(entry);
    build(&Section::empty(String::new(), &Echo::default())).unwrap()()
}

/// An application that writes as told.
pub struct Writes(pub VecDeque<Burst>);

impl Writes {
    pub fn new(writes: &[(u64, u64)]) -> Self {
        let burst = |&(ms, bytes): &(u64, u64)| Burst {
            gap: Span::from_ms(ms),
            size: Size::from_bytes(bytes),
        };
        Self(writes.iter().map(burst).collect())
    }
}

impl Traffic for Writes {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        self.0.pop_front()
    }
}

/// A line with a rate and a delay that loses and marks by list, and by chance.
#[derive(Default)]
pub struct Pipe {
    pub rate: Option<Rate>,
    pub delay: Span,
    /// Segments to lose: number, and which of its transmissions.
    pub drops: Vec<(u64, usize)>,
    pub marks: Vec<u64>,
    pub loss: f64,
    pub stream: Option<Stream>,
    pub passed: Vec<u64>,
    pub busy_until: Time,
    pub under_way: VecDeque<Packet>,
}

impl LogicalProcess for Pipe {}

impl Element for Pipe {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let copy = self.passed.iter().filter(|n| **n == packet.number).count();
        if !self.drops.is_empty() {
            self.passed.push(packet.number);
        }
        let chance = self.stream.as_mut().is_some_and(|stream| stream.happens(self.loss));
        if chance || self.drops.contains(&(packet.number, copy)) {
            cx.drop(LinkId::new(0), packet, DropReason::Overflow);
            return;
        }
        let marked = packet.is_ecn_capable() && self.marks.contains(&packet.number);
        let packet = if marked { packet.with_ecn(Ecn::Ce) } else { *packet };
        let busy = self.rate.map_or(Span::ZERO, |r| r.transmission_time(packet.wire_size()));
        self.busy_until = self.busy_until.max(cx.now()) + busy;
        cx.wake_at(self.busy_until + self.delay, 0);
        self.under_way.push_back(packet);
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        let packet = self.under_way.pop_front().unwrap();
        cx.forward(&packet);
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::held(self.under_way.len() as u64)
    }
}

/// A receiver that acknowledges as told, whatever arrives: time in ms, number, ECN-Echo.
pub struct Script {
    pub acks: Vec<(u64, u64, bool)>,
    pub route: RouteId,
}

impl LogicalProcess for Script {}

impl Element for Script {
    fn start(&mut self, cx: &mut Context<'_>) {
        for (i, (ms, _, _)) in self.acks.iter().enumerate() {
            cx.wake_at(at(*ms), i as u32);
        }
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let (_, number, ece) = self.acks[token as usize];
        let ack = Packet::data(cx.now(), FlowId::new(0), number, 40, self.route)
            .with_kind(PacketKind::Ack)
            .with_ece(ece);
        cx.send(ack);
    }
}

/// A reduction of a window; sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    pub at: Time,
    pub signal: Signal,
    pub before: f64,
    pub flight: f64,
    pub cwnd: f64,
    pub ssthresh: f64,
    /// Segments sent beyond the highest acknowledgement that had arrived.
    pub outstanding: u64,
}

/// Log of the observations of a run.
#[derive(Clone)]
pub struct Log {
    pub data: Vec<(Time, Packet)>,
    pub acks: Vec<(Time, Packet)>,
    pub windows: Vec<(Time, f64, f64)>,
    pub reductions: Vec<Reduction>,
    pub timeouts: Vec<Time>,
    /// Times at which a [`Fixed`] window was told that the flow starts again from idle.
    pub restarts: Vec<Time>,
    /// Bytes that a [`Fixed`] window was told to be outstanding before each acknowledgement.
    pub flights: Vec<f64>,
    pub ended: Vec<(usize, Time)>,
    /// The highest acknowledgement that arrived, by flow.
    pub una: [u64; 64],
    /// One beyond the highest segment sent, by flow.
    pub sent: [u64; 64],
    /// The most segments ever outstanding, over all flows.
    pub outstanding: u64,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            data: Vec::new(),
            acks: Vec::new(),
            windows: Vec::new(),
            reductions: Vec::new(),
            timeouts: Vec::new(),
            restarts: Vec::new(),
            flights: Vec::new(),
            ended: Vec::new(),
            una: [0; 64],
            sent: [0; 64],
            outstanding: 0,
        }
    }
}

/// A window that stays as it is, of a law that needs nothing but acknowledgements.
struct Fixed(Arc<Mutex<Log>>);

impl CongestionControl for Fixed {
    fn acknowledged(&mut self, _window: &mut Window, ack: &Ack) {
        self.0.lock().unwrap().flights.push(ack.flight);
    }

    fn congested(&mut self, _window: &mut Window, _signal: Signal, _flight: f64, _now: Time) {}

    fn restarted(&mut self, _window: &mut Window, now: Time) {
        self.0.lock().unwrap().restarts.push(now);
    }
}

pub struct Watch(pub Arc<Mutex<Log>>);

impl Observer for Watch {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        let mut log = self.0.lock().unwrap();
        match *fact {
            Observation::Sent { packet } if packet.is_feedback() => log.acks.push((now, *packet)),
            Observation::Sent { packet } => {
                log.data.push((now, *packet));
                let una = log.una[packet.flow.index()];
                let sent = &mut log.sent[packet.flow.index()];
                *sent = (packet.number + 1).max(*sent);
                log.outstanding = log.outstanding.max(packet.number + 1 - una);
            }
            Observation::Delivered { packet, .. } if packet.is_feedback() => {
                let una = &mut log.una[packet.flow.index()];
                *una = packet.number.max(*una);
            }
            Observation::Window { cwnd, ssthresh, .. } => {
                log.windows.push((now, cwnd / 1000.0, ssthresh / 1000.0));
            }
            Observation::Reduced { flow, signal, before, flight, cwnd, ssthresh } => {
                let outstanding = log.sent[flow.index()] - log.una[flow.index()];
                let at = now;
                log.reductions.push(Reduction {
                    at,
                    signal,
                    before,
                    flight,
                    cwnd,
                    ssthresh,
                    outstanding,
                });
            }
            Observation::Timeout { .. } => log.timeouts.push(now),
            Observation::Ended { flow } => log.ended.push((flow.index(), now)),
            _ => {}
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        Vec::new()
    }
}

/// One connection over a pipe each way.
pub struct Scene {
    entries: Vec<(&'static str, Value)>,
    pub writes: Vec<(u64, u64)>,
    pub rate: Option<Rate>,
    pub drops: Vec<(u64, usize)>,
    pub marks: Vec<u64>,
    pub script: Option<Vec<(u64, u64, bool)>>,
    pub stop: Time,
    pub report_rtt: bool,
    /// True if writes of nothing are pauses.
    pub pauses: bool,
    /// The congestion control: one of the table, or `fixed`.
    pub law: &'static str,
    /// True if writes are sent on fresh connections.
    pub fresh: bool,
}

/// Outcome of a scene.
pub struct Run {
    pub log: Log,
    pub flow: FlowCount,
    pub srtt: f64,
    pub held: u64,
}

impl Scene {
    /// An endless transfer from a window of `window` segments, at which slow start is over.
    pub fn steady(window: u64) -> Self {
        Self::opening(window).with("initial_ssthresh", &*format!("{window} packets"))
    }

    /// An endless transfer that begins in slow start with `window` segments.
    pub fn opening(window: u64) -> Self {
        let scene = Self {
            entries: Vec::new(),
            writes: vec![(0, u64::MAX)],
            rate: None,
            drops: Vec::new(),
            marks: Vec::new(),
            script: None,
            stop: Time::NEVER,
            report_rtt: false,
            pauses: false,
            law: "reno",
            fresh: false,
        };
        scene
            .with("mss", "1000 B")
            .with("initial_window", &*format!("{window} packets"))
            .with("delayed_ack", false)
            .with("limited_transmit", false)
    }

    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.entries.retain(|entry| entry.0 != key);
        self.entries.push((key, value.into()));
        self
    }

    /// Lose the first transmission of each of these segments.
    pub fn losing(mut self, numbers: &[u64]) -> Self {
        self.drops.extend(numbers.iter().map(|n| (*n, 0)));
        self
    }

    /// Writes of so many bytes, each so many ms after the one before.
    pub fn writing(mut self, writes: &[(u64, u64)]) -> Self {
        self.writes = writes.to_vec();
        self
    }

    /// Have segments tell the smoothed round-trip time.
    pub fn reporting_rtt(mut self) -> Self {
        self.report_rtt = true;
        self
    }

    /// Acknowledge by script instead of by a receiver.
    pub fn scripted(mut self, acks: &[(u64, u64)]) -> Self {
        self.script = Some(acks.iter().map(|(ms, number)| (*ms, *number, false)).collect());
        self
    }

    pub fn run(self, until: u64) -> Run {
        let parameters = parameters(&self.entries).unwrap();
        let log = Arc::new(Mutex::new(Log::default()));
        let (law, told) = (self.law, Arc::clone(&log));
        let control: Arc<ControlFactory> = Arc::new(Box::new(move || match law {
            "fixed" => Box::new(Fixed(Arc::clone(&told))),
            law => control(law),
        }));
        let parameters = parameters.for_control(control().needs());
        let mut network = Network::new();
        network.attach(Box::new(Watch(Arc::clone(&log))));
        let flow = network.add_flows(1);
        network.add_link();
        let delay = Span::from_ms(50);
        let [pipe, pipe_back, senders, receivers] = [0, 1, 2, 3].map(ElementId::new);
        let there = network.add_route(&[pipe], receivers);
        let back = network.add_route(&[pipe_back], senders);
        let direct = network.add_route(&[], senders);
        let Self { rate, drops, marks, stop, fresh, .. } = self;
        network.add(Box::new(Pipe { rate, delay, drops, marks, ..Pipe::default() }));
        network.add(Box::new(Pipe { delay, ..Pipe::default() }));
        let stream = Streams::new(0, 0).named("test");
        let writes = Writes::new(&self.writes);
        let group = FlowGroup {
            path: "flows.test".to_owned(),
            first: flow,
            starts: vec![Time::ZERO],
            stop,
            route: there,
            marking: Marking::default(),
        };
        let applications = pool_of([(writes, stream)]);
        let mut senders = TcpSenders::new(group, &parameters, applications, &**control);
        if fresh {
            senders = senders.with_fresh_connections(control);
        }
        let senders = senders.pausing(self.pauses).reporting_rtt(self.report_rtt);
        let senders = network.add(Box::new(senders));
        match self.script {
            None => network.add(Box::new(TcpReceivers::new(flow, 1, &parameters, back))),
            Some(acks) => network.add(Box::new(Script { acks, route: direct })),
        };
        network.run(at(until), u64::MAX);
        let mut srtt = 0.0;
        network.probes(senders, 0, &mut |name, value| {
            if name == "mean_srtt_s" {
                srtt = value;
            }
        });
        let (counted, held) = (network.counters().flows[0], network.held());
        let log = log.lock().unwrap().clone();
        Run { log, flow: counted, srtt, held }
    }
}

impl Run {
    /// Segments sent, by time in ms.
    pub fn rounds(&self) -> Vec<(u64, Vec<u64>)> {
        let mut rounds: Vec<(u64, Vec<u64>)> = Vec::new();
        for (time, packet) in &self.log.data {
            assert_eq!(time.ps() % Span::from_ms(1).ps(), 0, "off the grid");
            let ms = time.ps() / Span::from_ms(1).ps();
            match rounds.last_mut() {
                Some(last) if last.0 == ms => last.1.push(packet.number),
                _ => rounds.push((ms, vec![packet.number])),
            }
        }
        rounds
    }

    /// Congestion windows told at `ms`.
    pub fn cwnds(&self, ms: u64) -> Vec<f64> {
        self.log.windows.iter().filter(|w| w.0 == at(ms)).map(|w| w.1).collect()
    }

    /// The slow-start threshold told last.
    pub fn ssthresh(&self) -> f64 {
        self.log.windows.last().unwrap().2
    }

    /// Acknowledgements sent: time in ms and number.
    pub fn acks(&self) -> Vec<(u64, u64)> {
        let row =
            |(time, packet): &(Time, Packet)| (time.ps() / Span::from_ms(1).ps(), packet.number);
        self.log.acks.iter().map(row).collect()
    }

    pub fn timeouts(&self) -> Vec<u64> {
        self.log.timeouts.iter().map(|t| t.ps() / Span::from_ms(1).ps()).collect()
    }
}

/// `[first, end)` as a list, behind the numbers of `before`.
pub fn after(before: &[u64], new: Range<u64>) -> Vec<u64> {
    before.iter().copied().chain(new).collect()
}
