//! The network of the tests, and what it records.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use forebay_elements::calls::{
    CallCount, CallParameters, Calls, ClassPlan, EdgePlan, ProbingParameters, SurgeParameters,
};
use forebay_elements::link::{Fixed, Link, LinkParts};
use forebay_engine::Network;
use forebay_kernel::{Stream, Streams};
use forebay_laws::LinkFacts;
use forebay_laws::admission::ADMISSIONS;
use forebay_laws::conditioner::CONDITIONERS;
use forebay_laws::pcn_edge::{AdmissionControl, FlowTermination};
use forebay_laws::queue;
use forebay_laws::termination::TERMINATIONS;
use forebay_laws::traffic::TrafficKind;
use forebay_network::record::RecordTable;
use forebay_network::{
    Burst, CallEvent, Context, Element, ElementId, FlowId, LinkId, LogicalProcess, Observation,
    Observer, Packet, PcnMark, Traffic,
};
use forebay_parameters::{Echo, Node, Parameters, Problem, Section, Spread, Table, Value};
use forebay_units::{Rate, Size, Span, Time};

/// An instant in ms.
pub fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Builds what `build` makes of the section with these keys and values.
pub fn section<T>(
    entries: &[(&str, Value)],
    build: impl FnOnce(&Section<'_>) -> Result<T, Problem>,
) -> T {
    let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
    let node = Node::new(Value::Table(entries.iter().map(node).collect::<Table>()));
    build(&Section::root(&node, &Echo::default()).unwrap()).unwrap()
}

pub fn class_parameters(entries: &[(&str, Value)]) -> CallParameters {
    section(entries, CallParameters::read)
}

pub fn surge(entries: &[(&str, Value)]) -> SurgeParameters {
    section(entries, SurgeParameters::read)
}

pub fn probing(entries: &[(&str, Value)]) -> Option<ProbingParameters> {
    Some(section(entries, ProbingParameters::read))
}

pub fn admission(name: &str) -> Option<Box<dyn AdmissionControl>> {
    let entry = ADMISSIONS.iter().find(|entry| entry.name == name).unwrap();
    Some(section(&[], |section| (entry.build)(section)))
}

pub fn termination(name: &str) -> Option<Box<dyn FlowTermination>> {
    let entry = TERMINATIONS.iter().find(|entry| entry.name == name).unwrap();
    Some(section(&[], |section| (entry.build)(section)))
}

/// Packets of one size at one interval; the first at once, or after a random part of the interval.
struct Steady {
    gap: Span,
    first: Option<Span>,
    size: Size,
}

impl Traffic for Steady {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        Some(Burst { gap: self.first.take().unwrap_or(self.gap), size: self.size })
    }
}

/// A traffic of packets of `bytes` every `ms`.
pub fn steady(bytes: u64, ms: u64, random_phase: bool) -> TrafficKind {
    let (size, gap) = (Size::from_bytes(bytes), Span::from_ms(ms));
    let make = move |stream: &mut Stream| {
        let first = if random_phase { gap.scaled(stream.uniform()) } else { Span::ZERO };
        Steady { gap, first: Some(first), size }
    };
    let mean_rate = Some(Rate::from_bps(size.bits() * 1000 / ms));
    TrafficKind::new(make, Some(size), mean_rate)
}

/// Rule by which a wire marks a packet that enters it.
pub type Marking = Box<dyn FnMut(&Packet, Time) -> PcnMark + Send>;

/// A way of 10 ms that marks as told.
pub struct Wire {
    pub marking: Marking,
    under_way: VecDeque<Packet>,
}

/// Time that packets are on the wire.
pub const WAY: Span = Span::from_ms(10);

impl LogicalProcess for Wire {}

impl Element for Wire {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let mark = (self.marking)(packet, cx.now());
        self.under_way.push_back(packet.with_pcn(mark));
        cx.wake_at(cx.now() + WAY, 0);
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        let packet = self.under_way.pop_front().unwrap();
        cx.forward(&packet);
    }
}

/// Observed fact of a run.
#[derive(Clone, Debug)]
pub enum Fact {
    Call(CallEvent, u64, FlowId),
    Sent(Packet),
    Coloured(Packet),
    Delivered(Packet),
    Blocking(bool),
}

struct Watch(Arc<Mutex<Log>>);

impl Observer for Watch {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        let fact = match *fact {
            Observation::Call { flow, call, event } => Fact::Call(event, call, flow),
            Observation::Sent { packet } => Fact::Sent(*packet),
            Observation::Coloured { packet, .. } => Fact::Coloured(*packet),
            Observation::Delivered { packet, .. } => Fact::Delivered(*packet),
            Observation::Admission { blocking, .. } => Fact::Blocking(blocking),
            _ => return,
        };
        self.0.lock().unwrap().push((now, fact));
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        Vec::new()
    }
}

/// A class of calls before it has its place in the network.
pub struct Class {
    pub parameters: CallParameters,
    pub surges: Vec<SurgeParameters>,
    pub media: Vec<TrafficKind>,
    pub stop: Time,
}

impl Class {
    pub fn new(entries: &[(&str, Value)], media: Vec<TrafficKind>) -> Self {
        let parameters = class_parameters(entries);
        Self { parameters, surges: Vec::new(), media, stop: Time::NEVER }
    }
}

/// A law by name, with its parameters.
pub type Law = (&'static str, Vec<(&'static str, Value)>);

/// Observed facts in order, with their times.
pub type Log = Vec<(Time, Fact)>;

/// Between the ingress and the egress node.
pub enum Between {
    Wire(Marking),
    /// Links of 10 Mbit/s with these conditioners each.
    Links(Vec<Vec<Law>>),
}

/// An aggregate in a network of its own.
pub struct Scene {
    network: Network,
    calls: ElementId,
    log: Arc<Mutex<Log>>,
}

impl Scene {
    pub fn new(classes: Vec<Class>, edge: EdgePlan, between: Between, seed: u64) -> Self {
        let (streams, log) = (Streams::new(seed, 0), Arc::new(Mutex::new(Vec::new())));
        let mut network = Network::new();
        network.attach(Box::new(Watch(Arc::clone(&log))));
        let mut elements = Vec::new();
        match between {
            Between::Wire(marking) => {
                let wire = Wire { marking, under_way: VecDeque::new() };
                elements.push(network.add(Box::new(wire)));
            }
            Between::Links(links) => {
                for laws in links {
                    let number = network.add_link();
                    elements.push(network.add(metered(number, &laws, &streams)));
                }
            }
        }
        let calls = network.next_element();
        let route = network.add_route(&elements, calls);
        let classes = classes.into_iter().zip(0..).map(|(class, number)| {
            let media = class.media.len() as u32;
            let flow = network.add_flows(media);
            ClassPlan {
                path: format!("flows.{number}"),
                flow,
                route,
                marking: forebay_network::Marking::default(),
                start: Time::ZERO,
                stop: class.stop,
                parameters: class.parameters,
                surges: class.surges,
                media: class.media.into(),
            }
        });
        let classes = classes.collect();
        network.add(Box::new(Calls::new(classes, edge, "aggregates.ab", &streams)));
        Self { network, calls, log }
    }

    pub fn run(&mut self, until: Time) {
        assert!(self.network.run(until, u64::MAX).complete);
    }

    pub fn reset(&mut self) {
        self.network.reset_counters();
    }

    pub fn counts(&mut self) -> Vec<CallCount> {
        self.network.element_counters::<Vec<CallCount>>(self.calls).unwrap().clone()
    }

    pub fn digest(&mut self) -> u64 {
        self.network.digest()
    }

    pub fn log(&self) -> Log {
        self.log.lock().unwrap().clone()
    }
}

fn metered(id: LinkId, laws: &[Law], streams: &Streams) -> Box<dyn Element> {
    let rate = Rate::from_bps(10_000_000);
    let facts = LinkFacts::of(rate);
    let conditioning = laws.iter().map(|(name, entries)| {
        let entry = CONDITIONERS.iter().find(|entry| entry.name == *name).unwrap();
        let law = section(entries, |section| (entry.build)(section, &facts));
        (law, streams.named(name))
    });
    let queue = section(&[], |section| (queue::DEFAULT.build)(section, &facts));
    let fixed = Fixed { rate, delay: Span::from_ms(3) };
    fixed.element(LinkParts {
        link: id,
        conditioning: conditioning.collect(),
        queue: (queue, streams.named("queue")),
        background: None,
        notifier: None,
        share: None,
    })
}

/// The life of one flow of a call, as the facts tell it.
#[derive(Clone, Debug, Default)]
pub struct Life {
    pub begun: Vec<(Time, CallEvent)>,
    pub over: Vec<(Time, CallEvent)>,
    pub sent: Vec<(Time, Packet)>,
    pub delivered: Vec<(Time, Packet)>,
}

/// Lives by the number that packets carry; calls that were blocked have none.
pub fn lives(log: &[(Time, Fact)]) -> BTreeMap<u64, Life> {
    let mut lives: BTreeMap<u64, Life> = BTreeMap::new();
    for (now, fact) in log {
        match fact {
            Fact::Call(CallEvent::Blocked, ..) => {}
            Fact::Call(event, call, _) => {
                let life = lives.entry(*call).or_default();
                match event {
                    CallEvent::Initial | CallEvent::Admitted | CallEvent::Rerouted => {
                        life.begun.push((*now, *event));
                    }
                    _ => life.over.push((*now, *event)),
                }
            }
            Fact::Sent(packet) => lives.entry(packet.tag).or_default().sent.push((*now, *packet)),
            Fact::Delivered(packet) => {
                lives.entry(packet.tag).or_default().delivered.push((*now, *packet));
            }
            _ => {}
        }
    }
    lives
}

/// An edge without laws, whose signals take `ms`.
pub fn edge(ms: u64) -> EdgePlan {
    EdgePlan { rtt: Spread::At(Span::from_ms(ms)), ..EdgePlan::default() }
}
