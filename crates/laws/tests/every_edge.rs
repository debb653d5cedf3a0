//! Properties of every admission and termination law of PCN edge nodes in the tables.

mod support;

use std::collections::VecDeque;

use forebay_kernel::Streams;
use forebay_laws::admission::ADMISSIONS;
use forebay_laws::pcn_edge::{
    AdmissionControl, AdmissionSignal, FlowTermination, Leaving, Termination, TerminationSignal,
};
use forebay_laws::termination::TERMINATIONS;
use forebay_network::PcnMark;
use forebay_parameters::Value;
use forebay_units::{Span, Time};
use support::{build, example, strange, with};

/// The example of the law called `name`.
fn minimal(name: &str) -> Value {
    let admission = ADMISSIONS.iter().find(|entry| entry.name == name).map(example);
    let termination = || TERMINATIONS.iter().find(|entry| entry.name == name).map(example);
    admission.or_else(termination).expect("it is in a table")
}

fn admissions() -> impl Iterator<Item = (&'static str, Box<dyn AdmissionControl>)> {
    ADMISSIONS.iter().map(|entry| {
        let law = build(&example(entry), |section| (entry.build)(section));
        (entry.name, law.expect("what a law needs is enough"))
    })
}

fn terminations() -> impl Iterator<Item = (&'static str, Box<dyn FlowTermination>)> {
    TERMINATIONS.iter().map(|entry| {
        let law = build(&example(entry), |section| (entry.build)(section));
        (entry.name, law.expect("what a law needs is enough"))
    })
}

/// Marking of the packets of a run.
#[derive(Clone, Copy, PartialEq)]
enum Marking {
    /// None is, and some are no PCN traffic.
    Never,
    /// In turns of 1000 packets: never, mostly threshold, mostly excess.
    InTurns,
}

/// Time that a signal takes from the egress to the ingress node.
const DELAY: Span = Span::from_ms(25);

/// `count` packets of 20 calls, 40 to 1500 B, every 2 ms on average.
fn packets(marking: Marking, count: u64) -> Vec<Leaving> {
    let mut draws = Streams::new(5, 0).named("packets");
    let mut now = Time::ZERO;
    let mut next = |number: u64| {
        now += Span::from_us(draws.below(4001));
        let turn = if marking == Marking::Never { 0 } else { number / 1000 % 3 };
        let mark = match (turn, draws.below(10)) {
            (_, 0) => None,
            (0, _) | (_, 1) => Some(PcnMark::Unmarked),
            (1, _) | (_, 2) => Some(PcnMark::Threshold),
            _ => Some(PcnMark::Excess),
        };
        Leaving { now, mark, size: 40 + draws.below(1461) as u16, call: draws.below(20) }
    };
    (0..count).map(&mut next).collect()
}

/// The ends of intervals up to `until`, after those before `from`.
fn interval_ends(interval: Option<Span>, from: Time, until: Time) -> Vec<Time> {
    let Some(interval) = interval else { return Vec::new() };
    let (first, last) = (from.ps() / interval.ps() + 1, until.ps() / interval.ps());
    (first..=last).map(|n| Time::ZERO + interval.times(n)).collect()
}

/// A change at the ingress node, or a signal on its way there.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Event {
    Sent(AdmissionSignal),
    Arrived(AdmissionSignal),
    Expired,
    Admits(bool),
}

/// Both edge nodes of an aggregate under an admission law.
struct Admission {
    name: &'static str,
    law: Box<dyn AdmissionControl>,
    wire: VecDeque<(Time, AdmissionSignal)>,
    timer: Option<Time>,
    now: Time,
    log: Vec<(Time, Event)>,
}

impl Admission {
    fn run(name: &'static str, law: Box<dyn AdmissionControl>, packets: &[Leaving]) -> Self {
        let (wire, log) = (VecDeque::new(), Vec::new());
        let mut edge = Self { name, law, wire, timer: None, now: Time::ZERO, log };
        for packet in packets {
            edge.advance(packet.now);
            let signal = edge.law.leaves(packet);
            edge.send(signal);
        }
        edge
    }

    fn note(&mut self, event: Event) {
        self.log.push((self.now, event));
    }

    fn send(&mut self, signal: Option<AdmissionSignal>) {
        if let Some(signal) = signal {
            self.wire.push_back((self.now + DELAY, signal));
            self.note(Event::Sent(signal));
        }
    }

    /// Everything that is due up to `until`.
    fn advance(&mut self, until: Time) {
        for end in interval_ends(self.law.interval(), self.now, until) {
            self.ingress(end);
            self.now = end;
            let signal = self.law.interval_ended(end);
            self.send(signal);
        }
        self.ingress(until);
        self.now = until;
    }

    /// Signals and timers at the ingress node up to `until`.
    fn ingress(&mut self, until: Time) {
        loop {
            let arrival = self.wire.front().map_or(Time::NEVER, |(at, _)| *at);
            let timer = self.timer.unwrap_or(Time::NEVER);
            let due = arrival.min(timer);
            if due > until {
                return;
            }
            self.now = due;
            let set = if timer <= arrival {
                self.timer = None;
                self.note(Event::Expired);
                self.law.expired(due)
            } else {
                let (_, signal) = self.wire.pop_front().expect("it is due");
                self.note(Event::Arrived(signal));
                let set = self.law.signalled(signal, due);
                if signal == AdmissionSignal::Stop {
                    assert!(!self.law.admits(0), "{} admits right after a Stop", self.name);
                }
                set
            };
            if let Some(at) = set {
                assert!(self.timer.is_none(), "{} sets a second timer", self.name);
                assert!(at > due, "{} sets a timer for the past", self.name);
                self.timer = Some(at);
            }
            let admits = self.law.admits(0);
            self.note(Event::Admits(admits));
        }
    }

    fn count(&self, wanted: Event) -> usize {
        self.log.iter().filter(|(_, event)| *event == wanted).count()
    }
}

/// Under marks every law that signals blocks (no call is admitted at the instant of any Stop, which
/// the run itself asserts), and reopens when they end; two equal runs are equal.
#[test]
fn marks_block_and_their_end_reopens() {
    let marked = packets(Marking::InTurns, 9_000);
    let mut signalling = Vec::new();
    for ((name, law), (_, again)) in admissions().zip(admissions()) {
        let mut edge = Admission::run(name, law, &marked);
        assert_eq!(edge.log, Admission::run(name, again, &marked).log, "{name}");
        if edge.count(Event::Sent(AdmissionSignal::Stop)) > 0 {
            assert!(edge.count(Event::Admits(false)) > 0, "{name} never blocks");
            assert!(edge.count(Event::Admits(true)) > 0, "{name} never reopens");
            signalling.push(name);
        }
        // The run ends under marks; without them every law is open again after a while.
        let end = edge.now;
        let mut rest = packets(Marking::Never, 3_000);
        for packet in &mut rest {
            packet.now = end + packet.now.since(Time::ZERO);
            edge.advance(packet.now);
            let signal = edge.law.leaves(packet);
            edge.send(signal);
        }
        assert!(edge.law.admits(0), "{name} stays blocked");
        assert!(edge.wire.is_empty() && edge.timer.is_none(), "{name} does not come to rest");
    }
    for name in ["congestion_level", "marking_change", "stop_timer"] {
        assert!(signalling.contains(&name), "{name} never signals");
    }
}

/// Defaults are those of the sources: the timeout of the draft's section 3.2, and intervals within
/// the 100 to 500 ms of RFC 6661, the same for both laws.
#[test]
fn defaults_are_those_of_the_sources() {
    let admission = |wanted| admissions().find(|(name, _)| *name == wanted).unwrap().1;
    let timer = admission("stop_timer").signalled(AdmissionSignal::Stop, Time::ZERO);
    assert_eq!(timer, Some(Time::ZERO + Span::from_s(1)));
    let interval = admission("congestion_level").interval().unwrap();
    assert!((Span::from_ms(100)..=Span::from_ms(500)).contains(&interval));
    let (_, termination) = terminations().find(|(name, _)| *name == "sustainable_rate").unwrap();
    assert_eq!(termination.interval(), Some(interval));
}

/// Without marks nothing is signalled: no call is blocked in a network that is not congested.
#[test]
fn without_marks_nothing_is_signalled() {
    let clean = packets(Marking::Never, 5_000);
    for (name, law) in admissions() {
        let edge = Admission::run(name, law, &clean);
        assert_eq!(edge.log, [], "{name}");
        assert!(edge.law.admits(0), "{name}");
    }
}

/// More calls never help a new one: a fuller aggregate is no easier to enter than an emptier one,
/// in any state.
#[test]
fn more_calls_never_help_a_new_one() {
    for (name, law) in admissions() {
        let mut edge = Admission::run(name, law, &[]);
        for packet in packets(Marking::InTurns, 4_000) {
            edge.advance(packet.now);
            let signal = edge.law.leaves(&packet);
            edge.send(signal);
            let answers = [0, 1, 9, 10, 11, u32::MAX].map(|present| edge.law.admits(present));
            assert!(answers.is_sorted_by(|fewer, more| fewer >= more), "{name}: {answers:?}");
        }
    }
}

/// Returns the actions of an ingress node on signals, in order.
fn terminate(
    name: &str,
    law: &mut dyn FlowTermination,
    packets: &[Leaving],
) -> Vec<(TerminationSignal, f64, Termination)> {
    let mut draws = Streams::new(6, 0).named("sent");
    let (mut last, mut marked) = (Time::ZERO, [false; 20]);
    let mut log = Vec::new();
    for packet in packets {
        let ends = interval_ends(law.interval(), last, packet.now);
        let mut signals: Vec<_> = ends.iter().filter_map(|end| law.interval_ended(*end)).collect();
        last = packet.now;
        marked[packet.call as usize] |= packet.mark == Some(PcnMark::Excess);
        signals.extend(law.leaves(packet));
        for signal in signals {
            // Around the 3 Mbit/s that the packets make, and at times nothing.
            let sent = if draws.happens(0.1) { 0.0 } else { 6e6 * draws.uniform() };
            let done = law.signalled(signal, sent, packet.now + DELAY);
            match done {
                Termination::Nothing => {}
                Termination::Call(call) => {
                    assert!(marked[call as usize], "{name} ends an unmarked call");
                }
                Termination::Amount(amount) => {
                    assert!(amount > 0.0 && amount <= sent, "{name}: {amount} of {sent}");
                }
            }
            log.push((signal, sent, done));
        }
    }
    log
}

/// Every law acts, and terminates marked calls, or rates that are numbers, not negative and no more
/// than there is; two equal runs are equal.
#[test]
fn terminations_are_of_marked_calls_and_of_rates_sent() {
    let marked = packets(Marking::InTurns, 9_000);
    for ((name, mut law), (_, mut again)) in terminations().zip(terminations()) {
        let log = terminate(name, law.as_mut(), &marked);
        assert!(log.iter().any(|(.., done)| *done != Termination::Nothing), "{name} never acts");
        assert_eq!(log, terminate(name, again.as_mut(), &marked), "{name}");
        for (signal, ..) in log {
            if let TerminationSignal::Report { sustainable, .. } = signal {
                assert!(sustainable.is_finite() && sustainable >= 0.0, "{name}: {sustainable}");
            }
        }
    }
}

/// Without marks no call ends: the network is not congested.
#[test]
fn without_marks_no_call_ends() {
    let clean = packets(Marking::Never, 5_000);
    for (name, mut law) in terminations() {
        for (signal, _, done) in terminate(name, law.as_mut(), &clean) {
            assert_eq!(done, Termination::Nothing, "{name}");
            assert!(matches!(signal, TerminationSignal::Report { excess: false, .. }), "{name}");
        }
    }
}

/// Wrong values are refused with their key and what is allowed there.
#[test]
fn wrong_values_name_their_key_and_what_is_allowed() {
    let cases: [(&str, &str, Value); 14] = [
        ("capacity", "calls", 0.into()),
        ("capacity", "call", 10.into()),
        ("congestion_level", "limit", 1.000_001.into()),
        ("congestion_level", "limit", (-0.1).into()),
        ("congestion_level", "interval", "0 s".into()),
        ("congestion_level", "marks", "al".into()),
        ("marking_change", "timeout", "1 s".into()),
        ("stop_timer", "timeout", "0 ms".into()),
        ("per_packet", "interval", "1 s".into()),
        ("sustainable_rate", "factor", 0.999.into()),
        ("sustainable_rate", "factor", (-1).into()),
        ("sustainable_rate", "interval", "0 s".into()),
        ("sustainable_rate", "limit", 2.into()),
        ("sustainable_rate", "limit", (-1e-9).into()),
    ];
    for (name, key, value) in cases {
        let parameters = with(&minimal(name), key, value);
        let admission = ADMISSIONS.iter().find(|entry| entry.name == name);
        let termination = TERMINATIONS.iter().find(|entry| entry.name == name);
        let problem = match (admission, termination) {
            (Some(entry), None) => build(&parameters, |s| (entry.build)(s)).err(),
            (None, Some(entry)) => build(&parameters, |s| (entry.build)(s)).err(),
            _ => panic!("{name} is in one table"),
        };
        let problem = problem.unwrap_or_else(|| panic!("{name}.{key} is accepted"));
        assert_eq!(problem.path, key, "{name}");
        let says = |word| problem.message.contains(word);
        assert!(says("allowed") || says("is not one of"), "{name}.{key}: {}", problem.message);
    }
}

/// Strange parameters are refused or survived: they crash no run.
#[test]
fn strange_parameters_are_refused_or_survived() {
    let ends = [Time::ZERO, Time::from_ps(u64::MAX - 1)];
    let leaving =
        |now| Leaving { now, mark: Some(PcnMark::Excess), size: u16::MAX, call: u64::MAX };
    for entry in ADMISSIONS {
        for (label, parameters) in strange(&example(entry), entry.fields) {
            let made = build(&parameters, |section| (entry.build)(section));
            let Ok(mut law) = made else {
                let problem = made.err().expect("it is refused");
                assert!(!problem.path.is_empty() && !problem.message.is_empty(), "{label}");
                continue;
            };
            assert!(law.interval() != Some(Span::ZERO), "{}: {label}", entry.name);
            for now in ends {
                law.leaves(&leaving(now));
                law.interval_ended(now);
                law.signalled(AdmissionSignal::Stop, now);
                law.expired(now);
                law.admits(u32::MAX);
            }
        }
    }
    for entry in TERMINATIONS {
        for (label, parameters) in strange(&example(entry), entry.fields) {
            let made = build(&parameters, |section| (entry.build)(section));
            let Ok(mut law) = made else {
                let problem = made.err().expect("it is refused");
                assert!(!problem.path.is_empty() && !problem.message.is_empty(), "{label}");
                continue;
            };
            assert!(law.interval() != Some(Span::ZERO), "{}: {label}", entry.name);
            for now in ends {
                let signals = [law.leaves(&leaving(now)), law.interval_ended(now)];
                for signal in signals.into_iter().flatten() {
                    if let Termination::Amount(amount) = law.signalled(signal, 1e9, now) {
                        assert!(amount > 0.0 && amount <= 1e9, "{}: {label}", entry.name);
                    }
                }
            }
        }
    }
}
