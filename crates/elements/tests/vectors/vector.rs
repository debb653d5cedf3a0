//! A vector: what arrives at a link, and what its queue must do with it.
//!
//! `validation/vectors/README.md` defines the fields.

use std::collections::BTreeMap;

use forebay_kernel::{Stream, Streams};
use forebay_laws::queue::QUEUES;
use forebay_laws::{FlowGroups, LinkFacts};
use forebay_network::{
    Departure, DropReason, Ecn, FlowId, Packet, PacketKind, QueueDisc, RouteId, Verdict,
};
use forebay_parameters::{Table, Value};
use forebay_units::{Rate, Time};

use crate::support::{build, parameters};

/// A state that is neither a whole number nor exact to so many digits would be another.
const RELATIVE: f64 = 1e-9;
const ABSOLUTE: f64 = 1e-12;

/// A packet and a time in nanoseconds.
type Happened = (u64, u64);

/// The same, with a reason if it is a drop.
type Row = (u64, u64, Option<String>);

/// Actions of a queue.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    departures: Vec<Happened>,
    drops: Vec<(u64, u64, String)>,
    marks: Vec<Happened>,
}

/// The state that the queue must be in after all that happens at an instant.
pub struct State {
    pub at_ns: u64,
    values: BTreeMap<String, f64>,
}

/// A vector as its file has it.
pub struct Vector {
    pub name: String,
    pub title: String,
    pub mechanism: String,
    pub source: String,
    link: Rate,
    parameters: Value,
    arrivals: Vec<(u64, Packet)>,
    flows: FlowGroups,
    departures: Option<Vec<Happened>>,
    drops: Vec<(u64, u64, String)>,
    marks: Vec<Happened>,
    states: Vec<State>,
}

/// A table of which every key must be read.
pub struct Keys {
    path: String,
    table: Table,
}

impl Keys {
    pub fn of(path: &str, value: Value) -> Result<Self, String> {
        match value {
            Value::Table(table) => Ok(Self { path: path.to_owned(), table }),
            other => Err(format!("{path}: expected a table, found {}", other.show())),
        }
    }

    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.table.remove(key).map(|node| node.value)
    }

    pub fn must(&mut self, key: &str) -> Result<Value, String> {
        self.take(key).ok_or_else(|| format!("{}: {key} is missing", self.path))
    }

    pub fn text(&mut self, key: &str) -> Result<String, String> {
        match self.must(key)? {
            Value::Text(text) => Ok(text),
            other => Err(format!("{}.{key}: {} is no text", self.path, other.show())),
        }
    }

    pub fn number(&mut self, key: &str) -> Result<u64, String> {
        let value = self.must(key)?;
        whole(&value).ok_or_else(|| format!("{}.{key}: {}", self.path, value.show()))
    }

    pub fn number_or(&mut self, key: &str, default: u64) -> Result<u64, String> {
        if self.table.contains_key(key) { self.number(key) } else { Ok(default) }
    }

    /// The items of a list, or nothing.
    pub fn list(&mut self, key: &str) -> Result<Option<Vec<Value>>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::List(items)) => {
                Ok(Some(items.into_iter().map(|node| node.value).collect()))
            }
            Some(other) => Err(format!("{}.{key}: {} is no list", self.path, other.show())),
        }
    }

    pub fn end(self) -> Result<(), String> {
        match self.table.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("{}: unknown key {key}", self.path)),
        }
    }
}

fn whole(value: &Value) -> Option<u64> {
    if let Value::Integer(number) = value { u64::try_from(*number).ok() } else { None }
}

/// A row such as `[3, 1000000, "overflow"]`.
fn row(value: &Value) -> Result<Row, String> {
    let wrong = || format!("{} is not [packet, at_ns] or [packet, at_ns, reason]", value.show());
    let Value::List(items) = value else { return Err(wrong()) };
    let number = |place: usize| items.get(place).and_then(|item| whole(&item.value));
    let reason = match items.get(2).map(|item| &item.value) {
        None => None,
        Some(Value::Text(reason)) => Some(reason.clone()),
        Some(_) => return Err(wrong()),
    };
    Ok((number(0).ok_or_else(wrong)?, number(1).ok_or_else(wrong)?, reason))
}

impl Vector {
    /// Read the vector called `name`.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut file = Keys::of(name, parameters(text))?;
        let (arrivals, flows) = arrivals(file.list("arrivals")?.unwrap_or_default())?;
        let mut expected = Keys::of("expected", file.must("expected")?)?;
        let mut rows = |key: &str| -> Result<Option<Vec<Row>>, String> {
            let list = expected.list(key)?;
            list.map(|list| list.iter().map(row).collect()).transpose()
        };
        let pairs = |rows: Vec<Row>| -> Vec<Happened> {
            rows.into_iter().map(|(packet, at, _)| (packet, at)).collect()
        };
        let departures = rows("departures")?.map(pairs);
        let marks = pairs(rows("marks")?.unwrap_or_default());
        let drops = rows("drops")?.unwrap_or_default();
        let drops =
            drops.into_iter().map(|(packet, at, why)| (packet, at, why.unwrap_or_default()));
        let states = expected.list("state")?.unwrap_or_default();
        let vector = Self {
            name: name.to_owned(),
            title: file.text("title")?,
            mechanism: file.text("mechanism")?,
            source: file.text("source")?,
            link: Rate::from_bps(file.number("link_bps")?),
            parameters: file.must("parameters")?,
            arrivals,
            flows,
            departures,
            drops: drops.collect(),
            marks,
            states: states.into_iter().map(state).collect::<Result<_, _>>()?,
        };
        expected.end()?;
        file.end()?;
        Ok(vector)
    }

    /// Runs the vector; the error says what is not as the vector says.
    pub fn run(&self) -> Result<(), String> {
        let name = &self.mechanism;
        let entry = QUEUES.iter().find(|entry| entry.name == *name);
        let entry = entry.ok_or_else(|| format!("no queue is called {name}"))?;
        let facts = LinkFacts { flows: self.flows.clone(), ..LinkFacts::of(self.link) };
        let queue = build(&self.parameters, |section| (entry.build)(section, &facts))
            .map_err(|problem| problem.to_string())?;
        let mut bench = Bench::new(self.link, queue.into_discipline());
        let (mut arrivals, mut states) = (self.arrivals.iter().peekable(), self.states.iter());
        let mut state = states.next();
        let mut last = None;
        loop {
            let arrival = arrivals.peek().map(|(at, _)| Time::from_ps(at * 1000));
            let next = match (bench.next_start(), arrival) {
                (Some(start), Some(arrival)) => Some(start.min(arrival)),
                (start, arrival) => start.or(arrival),
            };
            while let Some(expected) =
                state.filter(|state| next.is_none_or(|at| ns(at) > state.at_ns))
            {
                if last != Some(expected.at_ns) {
                    return Err(format!(
                        "expected.state: nothing happens at {} ns",
                        expected.at_ns
                    ));
                }
                compare_state(expected, bench.queue.as_ref())?;
                state = states.next();
            }
            let Some(next) = next else { break };
            // A transmission that ends at the instant of an arrival ends first.
            if bench.next_start() == Some(next) {
                bench.start(next);
            } else if let Some((_, packet)) = arrivals.next() {
                bench.arrive(packet, next);
            }
            last = Some(ns(next));
        }
        self.compare(&bench.outcome)
    }

    fn compare(&self, found: &Outcome) -> Result<(), String> {
        let departures = self.departures.as_ref().unwrap_or(&found.departures);
        compare_lists("departures", departures, &found.departures)?;
        compare_lists("drops", &self.drops, &found.drops)?;
        compare_lists("marks", &self.marks, &found.marks)
    }
}

fn compare_lists<T: PartialEq + std::fmt::Debug>(
    what: &str,
    expected: &[T],
    found: &[T],
) -> Result<(), String> {
    let same = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    if same == expected.len().max(found.len()) {
        return Ok(());
    }
    let show = |list: &[T]| list.get(same).map_or("no more".to_owned(), |item| format!("{item:?}"));
    Err(format!("{what}: row {same} is {}, expected {}", show(found), show(expected)))
}

fn compare_state(expected: &State, queue: &dyn QueueDisc) -> Result<(), String> {
    let backlog = queue.backlog();
    let mut found = BTreeMap::from([
        ("backlog_packets".to_owned(), f64::from(backlog.packets)),
        ("backlog_bytes".to_owned(), backlog.bytes as f64),
    ]);
    queue.probes(&mut |name, value| {
        found.insert(name.to_owned(), value);
    });
    compare_values(expected, &found)
}

/// Checks that `found` has the values of a state.
pub fn compare_values(expected: &State, found: &BTreeMap<String, f64>) -> Result<(), String> {
    let at = expected.at_ns;
    for (name, value) in &expected.values {
        let Some(found) = found.get(name) else {
            let known: Vec<&String> = found.keys().collect();
            return Err(format!("state at {at} ns: {name} is not stated; there are {known:?}"));
        };
        if (found - value).abs() > ABSOLUTE + RELATIVE * value.abs() {
            return Err(format!("state at {at} ns: {name} is {found}, expected {value}"));
        }
    }
    Ok(())
}

/// The packets that arrive, in order and numbered, with their times, and what is known of the hosts
/// of their flows.
fn arrivals(rows: Vec<Value>) -> Result<(Vec<(u64, Packet)>, FlowGroups), String> {
    let (mut all, mut hosts) = (Vec::new(), BTreeMap::new());
    for (index, value) in rows.into_iter().enumerate() {
        let mut keys = Keys::of(&format!("arrivals[{index}]"), value)?;
        let (at, count) = (keys.number("at_ns")?, keys.number_or("count", 1)?);
        let every = keys.number_or("every_ns", 0)?;
        let packet = packet(&mut keys)?;
        if keys.table.contains_key("from") {
            let ends = [keys.number("from")?, keys.number("to")?];
            if hosts.insert(packet.flow.index(), ends).is_some_and(|other| other != ends) {
                return Err(format!("arrivals[{index}]: the flow has other hosts elsewhere"));
            }
        }
        keys.end()?;
        all.extend((0..count).map(|n| (at + n * every, packet)));
    }
    all.sort_by_key(|(at, _)| *at);
    for (number, (at, packet)) in all.iter_mut().enumerate() {
        packet.number = number as u64;
        packet.created = Time::from_ps(*at * 1000);
    }
    Ok((all, groups(&hosts)?))
}

/// The flows with their hosts as a network knows them: a group each. Hosts are numbered there by
/// their first mention, so the first groups, which no packet is of, mention all in order.
fn groups(hosts: &BTreeMap<usize, [u64; 2]>) -> Result<FlowGroups, String> {
    let Some((last, _)) = hosts.last_key_value() else { return Ok(FlowGroups::NONE) };
    let most = hosts.values().flatten().max().copied().unwrap_or(0);
    let group = |ends: [u64; 2]| (String::new(), ends.map(|host| host.to_string()));
    let mentions = (0..=most).map(|host| (group([host, host]), 0));
    let flows = (0..=*last).map(|flow| (group(hosts.get(&flow).copied().unwrap_or([0; 2])), 1));
    let (groups, counts): (Vec<_>, Vec<u32>) = mentions.chain(flows).unzip();
    let groups = FlowGroups::new(groups);
    groups.place(counts);
    Ok(groups)
}

fn packet(keys: &mut Keys) -> Result<Packet, String> {
    let narrow = |key: &str, value: u64, most: u64| -> Result<u64, String> {
        if value <= most { Ok(value) } else { Err(format!("{key}: {value} is above {most}")) }
    };
    let size = narrow("size_bytes", keys.number("size_bytes")?, 65_535)? as u16;
    let flow = narrow("flow", keys.number_or("flow", 0)?, u64::from(u32::MAX))? as usize;
    let precedence = narrow("precedence", keys.number_or("precedence", 0)?, 255)? as u8;
    let dscp = narrow("dscp", keys.number_or("dscp", 0)?, 63)? as u8;
    let ecn = if keys.table.contains_key("ecn") { keys.text("ecn")? } else { "not-ect".to_owned() };
    let ecn = match ecn.as_str() {
        "not-ect" => Ecn::NotEct,
        "ect0" => Ecn::Ect0,
        "ect1" => Ecn::Ect1,
        "ce" => Ecn::Ce,
        other => return Err(format!("ecn: {other}; allowed are not-ect, ect0, ect1, ce")),
    };
    let kind = match keys.take("ack") {
        None | Some(Value::Bool(false)) => PacketKind::Data,
        Some(Value::Bool(true)) => PacketKind::Ack,
        Some(other) => return Err(format!("ack: {}", other.show())),
    };
    let mut packet = Packet::data(Time::ZERO, FlowId::new(flow), 0, size, RouteId::new(0));
    packet.set_dscp(dscp);
    Ok(packet.with_ecn(ecn).with_precedence(precedence).with_kind(kind))
}

pub fn state(value: Value) -> Result<State, String> {
    let mut keys = Keys::of("expected.state", value)?;
    let at_ns = keys.number("at_ns")?;
    let number = |(name, node): (String, forebay_parameters::Node)| match node.value {
        Value::Integer(n) => Ok((name, n as f64)),
        Value::Float(x) => Ok((name, x)),
        other => Err(format!("expected.state.{name}: {} is no number", other.show())),
    };
    Ok(State { at_ns, values: keys.table.into_iter().map(number).collect::<Result<_, _>>()? })
}

/// A time to the nearest nanosecond.
fn ns(at: Time) -> u64 {
    at.ps().saturating_add(500) / 1000
}

/// A link with the queue in front of it.
struct Bench {
    rate: Rate,
    queue: Box<dyn QueueDisc>,
    stream: Stream,
    free_at: Time,
    /// Time from which the queue has a packet to send, if it gave none when asked last.
    held_until: Time,
    outcome: Outcome,
}

impl Bench {
    fn new(rate: Rate, queue: Box<dyn QueueDisc>) -> Self {
        let stream = Streams::new(0, 0).named("vector");
        let (free_at, held_until) = (Time::ZERO, Time::ZERO);
        Self { rate, queue, stream, free_at, held_until, outcome: Outcome::default() }
    }

    /// Returns the time at which the next transmission begins, if packets wait.
    fn next_start(&self) -> Option<Time> {
        (self.queue.backlog().packets > 0).then_some(self.free_at.max(self.held_until))
    }

    fn arrive(&mut self, packet: &Packet, now: Time) {
        let idle = self.free_at <= now && self.queue.backlog().packets == 0;
        let (idle_since, drops) = (idle.then_some(self.free_at), &mut self.outcome.drops);
        let mut dropped = |packet: Packet, reason: DropReason| {
            drops.push((packet.number, ns(now), reason.name().to_owned()));
        };
        match self.queue.enqueue(packet, idle_since, now, &mut self.stream, &mut dropped) {
            Verdict::Accept => {}
            Verdict::Mark => self.outcome.marks.push((packet.number, ns(now))),
            Verdict::Drop(reason) => dropped(*packet, reason),
        }
        if idle {
            self.free_at = now;
        }
        if self.free_at <= now {
            // What arrived may leave before what is held back.
            self.held_until = now;
        }
    }

    fn start(&mut self, now: Time) {
        let drops = &mut self.outcome.drops;
        let mut dropped = |packet: Packet, reason: DropReason| {
            drops.push((packet.number, ns(now), reason.name().to_owned()));
        };
        let Some(Departure { packet, marked }) =
            self.queue.dequeue(now, &mut self.stream, &mut dropped)
        else {
            if self.queue.backlog().packets > 0 {
                self.held_until = self.queue.ready_at(now);
                assert!(self.held_until > now, "packets wait and none is served");
            }
            return;
        };
        if marked {
            self.outcome.marks.push((packet.number, ns(now)));
        }
        self.outcome.departures.push((packet.number, ns(now)));
        self.free_at = now + self.rate.transmission_time(packet.wire_size());
    }
}
