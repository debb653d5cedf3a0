//! A vector of a congestion control that works with samples of delivery rates: what a sender sent
//! and learned, and the state that follows.
//!
//! `validation/vectors/README.md` defines the fields.

use std::collections::{BTreeMap, BTreeSet};

use forebay_elements::tcp::segments::{Cause, Segments};
use forebay_laws::control::CONTROLS;
use forebay_network::{CongestionControl, RateSample, Signal, Window};
use forebay_parameters::Value;
use forebay_units::{Span, Time};

use crate::support::{build, parameters};
use crate::vector::{Keys, State, compare_values, state};

/// Events at one time, in this order.
#[derive(Default)]
struct Events {
    limited: bool,
    ack: Option<Acknowledgement>,
    losses: Vec<u64>,
    recovery: Option<Signal>,
    sends: u64,
}

/// An acknowledgement of so many segments.
#[derive(Clone, Copy)]
struct Acknowledgement {
    segments: u64,
    cwnd_limited: bool,
}

/// A vector as its file has it.
pub struct SampledVector {
    pub name: String,
    pub title: String,
    pub mechanism: String,
    pub source: String,
    mss: u16,
    window: Window,
    parameters: Value,
    instants: BTreeMap<u64, Events>,
    /// Times at which recoveries begin and end.
    recoveries: Vec<(u64, u64)>,
    states: Vec<State>,
}

impl SampledVector {
    /// Returns true if `text` is one.
    pub fn is_one(text: &str) -> bool {
        text.lines().any(|line| line.starts_with("sends ="))
    }

    /// Read the vector called `name`.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut file = Keys::of(name, parameters(text))?;
        let mss = file.number("mss_bytes")?;
        let mss = u16::try_from(mss).map_err(|_| format!("mss_bytes: {mss}"))?;
        let mut instants = BTreeMap::new();
        for key in ["sends", "acks", "limits", "losses"] {
            for (index, row) in file.list(key)?.unwrap_or_default().into_iter().enumerate() {
                let keys = Keys::of(&format!("{key}[{index}]"), row)?;
                events(key, keys, &mut instants)?;
            }
        }
        let rows = file.list("recoveries")?.unwrap_or_default();
        let recoveries = recoveries(rows, &mut instants)?;
        let mut expected = Keys::of("expected", file.must("expected")?)?;
        let states = expected.list("state")?.unwrap_or_default();
        let cwnd = file.number("window_bytes")? as f64;
        let vector = Self {
            name: name.to_owned(),
            title: file.text("title")?,
            mechanism: file.text("mechanism")?,
            source: file.text("source")?,
            mss,
            window: Window { cwnd, ssthresh: f64::INFINITY, smss: f64::from(mss) },
            parameters: file.must("parameters")?,
            instants,
            recoveries,
            states: states.into_iter().map(state).collect::<Result<_, _>>()?,
        };
        expected.end()?;
        file.end()?;
        Ok(vector)
    }

    /// Runs the vector; the error says what is not as the vector says.
    pub fn run(&self) -> Result<(), String> {
        let name = &self.mechanism;
        let entry = CONTROLS.iter().find(|entry| entry.name == *name);
        let entry = entry.ok_or_else(|| format!("no control is called {name}"))?;
        let factory =
            build(&self.parameters, entry.build).map_err(|problem| problem.to_string())?;
        let mut sender = Sender::new(factory(), self.window, self.mss);
        let mut states = self.states.iter().peekable();
        for (&at, instant) in &self.instants {
            let recovering = self.recoveries.iter().any(|(from, to)| *from < at && at < *to);
            sender.live(Time::from_ps(at * 1000), instant, recovering);
            while let Some(state) = states.next_if(|state| state.at_ns == at) {
                compare_values(state, &sender.quantities())?;
            }
        }
        match states.next() {
            None => Ok(()),
            Some(state) => Err(format!("expected.state: nothing happens at {} ns", state.at_ns)),
        }
    }
}

/// A connection that sends what the vector says, whatever its window.
struct Sender {
    control: Box<dyn CongestionControl>,
    window: Window,
    mss: u16,
    segments: Segments,
    /// Segments sent, and those neither delivered nor lost.
    next: u64,
    outstanding: BTreeSet<u64>,
    srtt: Option<Span>,
}

impl Sender {
    fn new(control: Box<dyn CongestionControl>, window: Window, mss: u16) -> Self {
        let outstanding = BTreeSet::new();
        let segments = Segments::new(0, true, false);
        Self { control, window, mss, segments, next: 0, outstanding, srtt: None }
    }

    fn live(&mut self, now: Time, instant: &Events, recovering: bool) {
        if instant.limited {
            self.segments.check_app_limited(false, f64::INFINITY);
        }
        for number in &instant.losses {
            self.outstanding.remove(number);
        }
        if let Some(ack) = instant.ack {
            self.segments.begin_sample(true, self.window.cwnd, self.window.smss);
            for _ in 0..ack.segments {
                let number = self.outstanding.pop_first().expect("so many are outstanding");
                self.segments.deliver(number, now, |_, _| {});
            }
        }
        for &number in &instant.losses {
            self.segments.lose(number);
        }
        while let Some(lost) = self.segments.next_loss() {
            self.control.lost(&mut self.window, &lost, now);
        }
        if let Some(ack) = instant.ack {
            let sample = self.sample(now, recovering);
            self.srtt = self.srtt.or(sample.rtt);
            let sample = RateSample { srtt: self.srtt, cwnd_limited: ack.cwnd_limited, ..sample };
            self.control.sampled(&mut self.window, &sample);
        }
        if let Some(signal) = instant.recovery {
            let flight = self.segments.in_flight() as f64;
            self.control.congested(&mut self.window, signal, flight, now);
        }
        let idle = self.segments.in_flight() == 0;
        if instant.sends > 0 && instant.limited && idle {
            self.control.restarted(&mut self.window, now);
        }
        for _ in 0..instant.sends {
            self.segments.sent(self.next, self.mss, Cause::New, now);
            self.outstanding.insert(self.next);
            self.next += 1;
        }
    }

    fn sample(&mut self, now: Time, recovering: bool) -> RateSample {
        let una = self.outstanding.first().copied().unwrap_or(self.next);
        let sample = self.segments.sample(now);
        let (acked, srtt, max) = (u64::from(self.mss), self.srtt, self.next);
        RateSample { acked, srtt, recovering, una, max, ..sample }
    }

    fn quantities(&self) -> BTreeMap<String, f64> {
        let mut found = BTreeMap::from([("cwnd_bytes".to_owned(), self.window.cwnd)]);
        if let Some(rate) = self.control.pacing_rate() {
            found.insert("pacing_rate_bps".to_owned(), 8.0 * rate);
        }
        self.control.probes(&mut |name, value| {
            found.insert(name.to_owned(), value);
        });
        found
    }
}

/// A row of one of the lists of events.
fn events(kind: &str, mut keys: Keys, instants: &mut BTreeMap<u64, Events>) -> Result<(), String> {
    let at = keys.number("at_ns")?;
    let count = keys.number_or("count", 1)?;
    if kind == "losses" {
        let (first, step) = (keys.number("first")?, keys.number_or("step", 1)?);
        keys.end()?;
        let losses = &mut instants.entry(at).or_default().losses;
        losses.extend((0..count).map(|n| first + n * step));
        return Ok(());
    }
    let every = keys.number_or("every_ns", 0)?;
    let segments = if kind == "limits" { 0 } else { keys.number_or("segments", 1)? };
    let cwnd_limited = match (kind, keys.take("cwnd_limited")) {
        (_, None) => false,
        ("acks", Some(Value::Bool(limited))) => limited,
        (_, Some(other)) => return Err(format!("{kind}.cwnd_limited: {}", other.show())),
    };
    keys.end()?;
    for n in 0..count {
        let instant = instants.entry(at + n * every).or_default();
        match kind {
            "sends" => instant.sends += segments,
            "limits" => instant.limited = true,
            _ if instant.ack.is_some() => return Err(format!("two acknowledgements: {at} ns")),
            _ => instant.ack = Some(Acknowledgement { segments, cwnd_limited }),
        }
    }
    Ok(())
}

fn recoveries(
    rows: Vec<Value>,
    instants: &mut BTreeMap<u64, Events>,
) -> Result<Vec<(u64, u64)>, String> {
    let mut found = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        let mut keys = Keys::of(&format!("recoveries[{index}]"), row)?;
        let (from, to, kind) = (keys.number("from_ns")?, keys.number("to_ns")?, keys.text("kind")?);
        keys.end()?;
        let signal = match kind.as_str() {
            "loss" => Signal::Loss,
            "timeout" => Signal::Timeout { first: true },
            other => return Err(format!("recoveries[{index}].kind: {other}")),
        };
        instants.entry(from).or_default().recovery = Some(signal);
        found.push((from, to));
    }
    Ok(found)
}
