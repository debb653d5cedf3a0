//! ERICA against the formulas of its paper: rates are in Mbit/s.

use forebay_kernel::Streams;
use forebay_parameters::{Echo, Node, Table, Value};

use super::*;
use forebay_network::{FlowId, RouteId};

const INTERVAL: Span = Span::from_ms(3);

fn parameters(entries: &[(&str, Value)]) -> Result<EricaParameters, Problem> {
    let entry = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
    let table: Table = entries.iter().map(entry).collect();
    let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
    let section = Section::root(&node, &echo).unwrap();
    build(&section, &LinkFacts::of(Rate::from_bps(1_000_000)))?;
    EricaParameters::read(&section)
}

/// A port with intervals of 3 ms.
struct Port {
    law: Erica,
    now: Time,
}

impl Port {
    fn new(mbps: u64, entries: &[(&str, Value)]) -> Self {
        let mut all = vec![("interval", Value::from("3 ms")), ("target", Value::Float(1.0))];
        all.extend_from_slice(entries);
        // The last of two values of a key holds.
        let rate = Rate::from_bps(mbps * 1_000_000);
        Self { law: Erica::new(parameters(&all).unwrap(), rate), now: Time::ZERO }
    }

    /// An interval in which `sources` send at the rates that they report, beside `others`; what
    /// they are given after it.
    fn interval(&mut self, sources: &[(usize, f64)], others: f64) -> Vec<f64> {
        let middle = self.now + Span::from_ms(1);
        // 3 ms of 1 Mbit/s are 375 B.
        let packet = |flow: usize, mbps: f64| {
            Packet::data(
                middle,
                FlowId::new(flow),
                0,
                (mbps * 375.0).round() as u16,
                RouteId::new(0),
            )
        };
        for (flow, mbps) in sources {
            self.law.arrives(&packet(*flow, *mbps), Some(mbps * 1e6), middle);
        }
        self.law.passes(&packet(9999, others), middle);
        self.now += INTERVAL;
        sources
            .iter()
            .map(|(flow, _)| self.law.allows(FlowId::new(*flow), self.now) / 1e6)
            .collect()
    }

    /// Returns the rates that `sources` are given in turn if they always follow them.
    fn follow(&mut self, mut sources: Vec<(usize, f64)>, rounds: usize) -> Vec<Vec<f64>> {
        let round = |_| {
            let told = self.interval(&sources, 0.0);
            sources.iter_mut().zip(&told).for_each(|(source, rate)| source.1 = *rate);
            told
        };
        (0..rounds).map(round).collect()
    }
}

/// Rates are whole bytes in 3 ms: 2.7 kbit/s, and each round may double what that is off.
fn assert_close(told: &[f64], right: &[f64]) {
    let close = told.iter().zip(right).all(|(told, right)| (told - right).abs() < 0.02);
    assert!(close && told.len() == right.len(), "{told:?} instead of {right:?}");
}

/// Two slow sources come to equal shares of their link at once: of 100 Mbit/s with a target of 1,
/// FairShare is 50. From 30 and 10 z = 0.4 and CCR/z = 75 and 25; both CCRs are below FairShare and
/// go there first: 50 and 50, with z = 1.
#[test]
fn two_slow_sources_come_to_equal_shares_at_once() {
    let told = Port::new(100, &[]).follow(vec![(0, 30.0), (1, 10.0)], 4);
    told.iter().for_each(|told| assert_close(told, &[50.0, 50.0]));
}

/// A link above its target is brought back to it, and shared equally. From 80 and 40 on 100 Mbit/s:
/// z = 1.2, so max(50, 80/1.2) = 66.67 and max(50, 33.3) = 50; z = 1.167, so 57.14 and 50; z =
/// 1.071 is no more than 1 + delta: both get the highest of the interval before, 57.14; z = 1.143,
/// so 50 and 50; and there they stay.
#[test]
fn an_overload_is_cut_to_equal_shares() {
    let told = Port::new(100, &[]).follow(vec![(0, 80.0), (1, 40.0)], 8);
    let right = [
        [66.667, 50.0],
        [57.143, 50.0],
        [57.143, 57.143],
        [50.0, 50.0],
        [50.0, 50.0],
        [50.0, 50.0],
    ];
    told.iter().zip(&right).for_each(|(told, right)| assert_close(told, right));
    assert_close(&told[7], &[50.0, 50.0]);
}

/// The paper's configuration with an upstream bottleneck: 15 sources share the first link of 150
/// Mbit/s, the last of them shares the second with two others, which begin at 85 and 55. What the
/// 17 send after 40 intervals.
fn upstream(delta: f64) -> Vec<f64> {
    let port = || {
        let mut port = Port::new(150, &[]);
        port.law.parameters.delta = delta;
        port
    };
    let (mut first, mut second) = (port(), port());
    let mut rates = vec![10.0; 15];
    rates.extend([85.0, 55.0]);
    for _ in 0..40 {
        let sources: Vec<(usize, f64)> = (0..).zip(rates.iter().copied()).collect();
        let (here, there) =
            (first.interval(&sources[..15], 0.0), second.interval(&sources[14..], 0.0));
        rates[..15].copy_from_slice(&here);
        rates[14] = rates[14].min(there[0]);
        rates[15..].copy_from_slice(&there[1..]);
    }
    rates
}

/// A source that is slowed elsewhere leaves the rest of a link to the others in equal shares.
/// Max-min fair are 150/15 = 10 for each of the first link and (150 - 10)/2 = 70 for both others.
/// At 10, 85 and 55 z = 1; the highest given is 85, which both get: z = 1.2; both get 85/1.2 =
/// 70.83, which is 1.2 % above 70: z = 151.67/150 = 1.011 is within delta, and stays.
#[test]
fn an_upstream_bottleneck_leaves_the_rest_in_equal_shares() {
    let rates = upstream(0.1);
    assert_close(&rates[..15], &[10.0; 15]);
    assert_close(&rates[15..], &[85.0 / 1.2, 85.0 / 1.2]);
}

/// The test of the upstream bottleneck depends on the rule for max-min fairness: with
/// max(FairShare, CCR/z) alone z = 1 keeps 85 and 55, both above the fair share of 50, for ever
/// (section IV of the paper).
#[test]
fn without_the_highest_allocation_the_upstream_bottleneck_is_unfair() {
    let rates = upstream(-1.0);
    assert_close(&rates[14..], &[10.0, 85.0, 55.0]);
}

/// Sources are given only what voice and video leave: of 100 Mbit/s with a target of 0.9 traffic of
/// 40 leaves 50, 25 for each of two; of 95 it leaves nothing, and sources may send nothing; without
/// it there are 45 for each.
#[test]
fn other_traffic_goes_first() {
    let mut port = Port::new(100, &[("target", Value::Float(0.9))]);
    let both = [(0, 25.0), (1, 25.0)];
    assert_close(&port.interval(&both, 40.0), &[25.0, 25.0]);
    assert_close(&port.interval(&both, 95.0), &[0.0, 0.0]);
    assert_close(&port.interval(&both, 0.0), &[45.0, 45.0]);
}

/// A source is given one rate for one load: what it reported since counts only after the next
/// interval.
#[test]
fn a_source_is_told_one_rate_in_an_interval() {
    let mut port = Port::new(100, &[]);
    let told = port.interval(&[(0, 80.0), (1, 40.0)], 0.0);
    let cell = Packet::data(port.now, FlowId::new(0), 0, 53, RouteId::new(0));
    port.law.arrives(&cell, Some(10e6), port.now);
    assert_eq!(port.law.allows(FlowId::new(0), port.now) / 1e6, told[0]);
    // Another that has not asked yet is given what its own cell says: max(50, 30/1.2).
    port.law.arrives(
        &Packet::data(port.now, FlowId::new(2), 0, 53, RouteId::new(0)),
        Some(90e6),
        port.now,
    );
    assert_close(&[port.law.allows(FlowId::new(2), port.now) / 1e6], &[75.0]);
}

/// A busy port reacts faster than an idle one: with `packets` an interval ends with so many of the
/// port's flows, others do not count. Four packets of 375 B in 1 ms are 12 Mbit/s, twice the link
/// of 6.
#[test]
fn an_interval_ends_with_its_packets() {
    let mut port = Port::new(6, &[("packets", Value::Integer(4))]);
    let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 375, RouteId::new(0));
    for quarter in 1..=4 {
        assert_eq!(port.law.load, 0.0);
        port.law.arrives(&packet, None, Time::ZERO + Span::from_us(250 * quarter));
    }
    assert!((port.law.load - 2.0).abs() < 1e-9, "{}", port.law.load);
    assert_eq!(port.law.end, Time::ZERO + Span::from_ms(1) + INTERVAL);
}

/// Bursty sources are forgotten gradually: with a decay of 0.5 one that was silent for an interval
/// counts half, for two a quarter.
#[test]
fn silent_sources_fade_from_the_number_of_active_ones() {
    let mut port = Port::new(100, &[("decay", Value::Float(0.5))]);
    let mut active = |sources: &[(usize, f64)]| {
        port.interval(sources, 0.0);
        port.law.active
    };
    assert_eq!(active(&[(0, 10.0), (1, 10.0)]), 2.0);
    assert_eq!(active(&[(0, 10.0)]), 1.5);
    assert_eq!(active(&[(0, 10.0)]), 1.25);
    assert_eq!(active(&[(0, 10.0), (1, 10.0)]), 2.0);
}

/// Averages follow by their weight, neither every burst nor their own past alone: with a weight of
/// 0.25 the averages of input and capacity take a quarter of each step. From 0 and 100 with input
/// 80 beside 40 of others, which leave 60: 20 and 90, z = 20/90; then 35 and 82.5.
#[test]
fn averages_follow_by_their_weight() {
    let mut port = Port::new(100, &[("weight", Value::Float(0.25))]);
    for right in [20.0 / 90.0, 35.0 / 82.5] {
        port.interval(&[(0, 80.0)], 40.0);
        assert!((port.law.load - right).abs() < 1e-6, "{} {right}", port.law.load);
    }
}

/// A port that was not asked for a while does not judge by an old interval: closing intervals when
/// they are read gives what closing each in its time does, also after silences.
#[test]
fn intervals_closed_late_are_those_closed_in_time() {
    let mut stream = Streams::new(9, 0).named("cells");
    let port = || Port::new(6, &[("decay", Value::Float(0.9)), ("weight", Value::Float(0.5))]);
    let (mut lazy, mut eager) = (port().law, port().law);
    let (mut now, mut tick) = (Time::ZERO, Time::ZERO + INTERVAL);
    for number in 0..40_000 {
        let silence = if number % 4000 == 0 { 3e5 } else { 1.0 };
        now += Span::from_seconds(stream.exponential() * silence * 6e-5);
        while tick <= now {
            eager.advance(tick);
            tick += INTERVAL;
        }
        let cell =
            Packet::data(now, FlowId::new(stream.below(30) as usize), 0, 53, RouteId::new(0));
        let current = stream.happens(0.1).then(|| stream.uniform() * 6e6);
        let other = stream.happens(0.4);
        for law in [&mut lazy, &mut eager] {
            if other { law.passes(&cell, now) } else { law.arrives(&cell, current, now) }
        }
        let (told, right) = (lazy.allows(cell.flow, now), eager.allows(cell.flow, now));
        assert!((told - right).abs() <= 1e-5 * right, "{told} {right} at {now:?}");
        assert_eq!(lazy.end, eager.end);
    }
}

/// Parameters that turn the law off, or allow sources what is not there, are refused.
#[test]
fn impossible_parameters_are_refused() {
    for (key, value) in [
        ("interval", Value::from("0 s")),
        ("packets", Value::Integer(0)),
        ("target", Value::Float(0.0)),
        ("target", Value::Float(1.1)),
        ("delta", Value::Float(-0.1)),
        ("delta", Value::Float(1.5)),
        ("decay", Value::Float(1.0)),
        ("decay", Value::Float(-0.5)),
        ("weight", Value::Float(0.0)),
        ("weight", Value::Float(1.5)),
    ] {
        assert_eq!(parameters(&[(key, value)]).err().unwrap().path, key);
    }
}
