//! A vector of a congestion control: what acknowledgements report, and the windows that follow.
//!
//! `validation/vectors/README.md` defines the fields.

use std::collections::BTreeMap;

use forebay_laws::control::CONTROLS;
use forebay_network::{Ack, CongestionControl, RateSample, Signal, Window};
use forebay_parameters::Value;
use forebay_units::{Span, Time};

use crate::support::{build, parameters};
use crate::vector::{Keys, State, compare_values, state};

/// Fact that a control is told.
enum Fact {
    Acknowledged { acked: u64, marked: u64, outstanding: u64, rtt: Option<Span> },
    Signalled { signal: Signal, flight: f64 },
}

/// A vector as its file has it.
pub struct ControlVector {
    pub name: String,
    pub title: String,
    pub mechanism: String,
    pub source: String,
    mss: u64,
    rtt: Span,
    window: Window,
    parameters: Value,
    facts: Vec<(u64, Fact)>,
    states: Vec<State>,
}

impl ControlVector {
    /// Returns true if `text` is one, and not a vector of a queue.
    pub fn is_one(text: &str) -> bool {
        text.lines().any(|line| line.starts_with("acks ="))
    }

    /// Read the vector called `name`.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut file = Keys::of(name, parameters(text))?;
        let mss = file.number("mss_bytes")?;
        let mut facts = acknowledgements(file.list("acks")?.unwrap_or_default(), mss)?;
        facts.extend(signals(file.list("signals")?.unwrap_or_default())?);
        // A stable sort: of one instant acknowledgements come first, and rows in their order.
        facts.sort_by_key(|(at, _)| *at);
        let mut expected = Keys::of("expected", file.must("expected")?)?;
        let states = expected.list("state")?.unwrap_or_default();
        let unlimited = u64::MAX;
        let threshold = match file.number_or("ssthresh_bytes", unlimited)? {
            bytes if bytes == unlimited => f64::INFINITY,
            bytes => bytes as f64,
        };
        let cwnd = file.number("window_bytes")? as f64;
        let vector = Self {
            name: name.to_owned(),
            title: file.text("title")?,
            mechanism: file.text("mechanism")?,
            source: file.text("source")?,
            mss,
            rtt: Span::from_ps(file.number("rtt_ns")? * 1000),
            window: Window { cwnd, ssthresh: threshold, smss: mss as f64 },
            parameters: file.must("parameters")?,
            facts,
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
        let (mut control, mut window, mut una) = (factory(), self.window, 0);
        let mut states = self.states.iter().peekable();
        for (place, (at, fact)) in self.facts.iter().enumerate() {
            let now = Time::from_ps(at * 1000);
            match *fact {
                Fact::Acknowledged { acked, marked, outstanding, rtt } => {
                    una += acked.div_ceil(self.mss);
                    let (max, rtt) = (una + outstanding, rtt.or(Some(self.rtt)));
                    let sample = self.sample(now, acked, marked);
                    let sample = RateSample { una, max, rtt, srtt: rtt, ..sample };
                    acknowledge(control.as_mut(), &mut window, &sample);
                }
                Fact::Signalled { signal, flight } => {
                    control.congested(&mut window, signal, flight, now);
                }
            }
            let over = self.facts.get(place + 1).is_none_or(|next| next.0 > *at);
            while let Some(state) = states.next_if(|state| over && state.at_ns == *at) {
                let mut found = BTreeMap::from([
                    ("cwnd_bytes".to_owned(), window.cwnd),
                    ("ssthresh_bytes".to_owned(), window.ssthresh),
                ]);
                control.probes(&mut |name, value| {
                    found.insert(name.to_owned(), value);
                });
                compare_values(state, &found)?;
            }
        }
        match states.next() {
            None => Ok(()),
            Some(state) => Err(format!("expected.state: nothing happens at {} ns", state.at_ns)),
        }
    }

    fn sample(&self, now: Time, acked: u64, marked: u64) -> RateSample {
        RateSample {
            now,
            acked,
            newly_delivered: acked,
            newly_lost: 0,
            delivered: acked,
            prior_delivered: None,
            rate: None,
            app_limited: false,
            rtt: Some(self.rtt),
            one_way: Span::ZERO,
            srtt: Some(self.rtt),
            prior_in_flight: 0,
            in_flight: 0,
            sent_in_flight: 0,
            lost_since: 0,
            recovering: false,
            paced: false,
            cwnd_limited: true,
            selective: true,
            ece: marked > 0,
            newly_marked: marked,
            una: 0,
            max: 0,
        }
    }
}

/// Have `control` learn of an acknowledgement as a sender does.
fn acknowledge(control: &mut dyn CongestionControl, window: &mut Window, sample: &RateSample) {
    let flight = window.cwnd;
    control.sampled(window, sample);
    let ack = Ack {
        now: sample.now,
        acked: (sample.acked as f64).min(window.cwnd),
        slow_start_limit: window.smss,
        flight,
        rtt: sample.rtt,
        srtt: sample.srtt,
        ece: sample.ece,
    };
    control.acknowledged(window, &ack);
    if sample.ece {
        control.congested(window, Signal::Ecn, flight, sample.now);
    }
}

fn acknowledgements(rows: Vec<Value>, mss: u64) -> Result<Vec<(u64, Fact)>, String> {
    let mut facts = Vec::new();
    for (index, value) in rows.into_iter().enumerate() {
        let mut keys = Keys::of(&format!("acks[{index}]"), value)?;
        let (at, count) = (keys.number("at_ns")?, keys.number_or("count", 1)?);
        let every = keys.number_or("every_ns", 0)?;
        let (acked, marked) =
            (keys.number_or("acked_bytes", mss)?, keys.number_or("marked_bytes", 0)?);
        let outstanding = keys.number("outstanding")?;
        let rtt = match keys.number_or("rtt_ns", 0)? {
            0 => None,
            ns => Some(Span::from_ps(ns * 1000)),
        };
        keys.end()?;
        let fact = |n| (at + n * every, Fact::Acknowledged { acked, marked, outstanding, rtt });
        facts.extend((0..count).map(fact));
    }
    Ok(facts)
}

fn signals(rows: Vec<Value>) -> Result<Vec<(u64, Fact)>, String> {
    let mut facts = Vec::new();
    for (index, value) in rows.into_iter().enumerate() {
        let mut keys = Keys::of(&format!("signals[{index}]"), value)?;
        let (at, kind) = (keys.number("at_ns")?, keys.text("kind")?);
        let signal = match kind.as_str() {
            "loss" => Signal::Loss,
            "timeout" => Signal::Timeout { first: true },
            other => return Err(format!("signals[{index}].kind: {other}")),
        };
        let flight = keys.number("flight_bytes")? as f64;
        keys.end()?;
        facts.push((at, Fact::Signalled { signal, flight }));
    }
    Ok(facts)
}
