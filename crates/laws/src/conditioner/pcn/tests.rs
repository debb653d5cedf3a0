//! Common properties of all PCN meters, and the marks that theory predicts.

use forebay_kernel::{Stream, Streams};
use forebay_network::{Conditioner, Ecn, FlowId, Packet, PcnMark, RouteId, Verdict};
use forebay_parameters::{Echo, Node, Problem, Section, Table, Value};
use forebay_units::{Rate, Span, Time};
use proptest::prelude::*;

use super::super::CONDITIONERS;
use crate::LinkFacts;

/// Not marked.
pub(in super::super) const NM: PcnMark = PcnMark::Unmarked;
/// "Admission-stop", or threshold-marked.
pub(in super::super) const AS: PcnMark = PcnMark::Threshold;
/// Excess-traffic-marked.
pub(in super::super) const ET: PcnMark = PcnMark::Excess;

/// A packet of 200 B: when (ms), its mark before and after, and the tokens left (bytes).
pub(in super::super) type Step = (u64, PcnMark, PcnMark, i32);

/// Fail unless `law` treats packets of 200 B as the steps say.
pub(in super::super) fn check_steps(law: &str, parameters: &[(&str, &str)], steps: &[Step]) {
    let parameters: Vec<_> = parameters.iter().map(|&(key, text)| (key, text.into())).collect();
    let mut meter = make(law, &parameters).unwrap();
    for (number, &(ms, before, after, tokens)) in steps.iter().enumerate() {
        let now = Time::ZERO + Span::from_ms(ms);
        let mut packet =
            Packet::data(now, FlowId::new(0), 0, 200, RouteId::new(0)).with_pcn(before);
        assert_eq!(meter.condition(&mut packet, now, &mut stream()), Verdict::Accept);
        let got = (packet.pcn(), level(meter.as_ref()));
        assert_eq!(got, (Some(after), f64::from(tokens)), "{law}, step {number}");
    }
}

/// The conditioner `law` on a link of 100 Mbit/s. The text "true" stands for the truth value.
fn make(law: &str, parameters: &[(&str, Value)]) -> Result<Box<dyn Conditioner>, Problem> {
    let entry = CONDITIONERS.iter().find(|entry| entry.name == law).expect("it is in the table");
    let value = |value: &Value| match value {
        Value::Text(text) if text == "true" => Value::from(true),
        other => other.clone(),
    };
    let node = |(key, text): &(&str, Value)| ((*key).to_owned(), Node::new(value(text)));
    let table = Node::new(Value::Table(parameters.iter().map(node).collect::<Table>()));
    let facts = LinkFacts::of(Rate::from_bps(100_000_000));
    let echo = Echo::default();
    (entry.build)(&Section::root(&table, &echo)?, &facts)
}

fn stream() -> Stream {
    Streams::new(0, 0).named("test")
}

/// The probe `tokens`.
fn level(law: &dyn Conditioner) -> f64 {
    let mut told = None;
    law.probes(&mut |name, value| {
        assert_eq!((name, told), ("tokens", None));
        told = Some(value);
    });
    told.expect("the meter tells its tokens")
}

/// Offer `count` packets of `size` bytes at `rate` bit/s, and return which are marked `mark`, and
/// when they came.
fn steady(
    law: &mut dyn Conditioner,
    (size, rate): (u16, u64),
    count: u64,
    mark: PcnMark,
) -> Vec<(u64, Time)> {
    let bits = u128::from(size) * 8;
    let at = |number: u64| {
        let ps = u128::from(number) * bits * 1_000_000_000_000 / u128::from(rate);
        Time::from_ps(u64::try_from(ps).unwrap())
    };
    let mut stream = stream();
    let mut marked = |number: &u64| {
        let mut packet =
            Packet::data(at(*number), FlowId::new(0), *number, size, RouteId::new(0)).with_pcn(NM);
        law.condition(&mut packet, at(*number), &mut stream);
        packet.pcn() == Some(mark)
    };
    (0..count).filter(&mut marked).map(|number| (number, at(number))).collect()
}

/// Admission stops neither too early nor too late. In excess of e B/s the bucket falls from its
/// size to its threshold in (size - threshold) / e: for 60 flows of 80 kbit/s against an admissible
/// rate of 3.92 Mbit/s (49 of 50 flows), 20 kB and 10 kB, 10000 B / 110000 B/s = 90.9 ms. Packets
/// of n bytes take their tokens at once instead of during the time to the next one: after the
/// packet at t, size - n - e t are left, so the first mark falls in the one interval between
/// packets that ends n / e before the fluid's time or later.
#[test]
fn admission_stops_when_the_excess_has_drained_the_bucket() {
    for law in ["ar_meter", "threshold_meter"] {
        let profile = [("rate", "3.92 Mbit/s"), ("size", "20 kB"), ("threshold", "10 kB")];
        let mut meter = make(law, &profile.map(|(key, text)| (key, text.into()))).unwrap();
        let marked = steady(meter.as_mut(), (200, 4_800_000), 1000, AS);
        let (first, at) = marked[0];
        let (fluid, early, gap) = (10_000.0 / 110_000.0, 200.0 / 110_000.0, 1_600.0 / 4.8e6);
        assert!((fluid - 0.0909_f64).abs() < 5e-5);
        let at = at.seconds();
        assert!(fluid - early < at && at <= fluid - early + gap, "{law}: {at} s");
        // While the rate is exceeded all packets are marked (RFC 5670, section 1).
        assert_eq!(marked.len() as u64, 1000 - first, "{law}");
    }
}

/// Marks are as frequent as the excess says, so flows are terminated at the announced pace. Tokens
/// are conserved: in excess of E = 5 10^6 B/s (80 against 40 Mbit/s), M marks in time T, once the
/// bucket has been drained, obey M px = E T (Figure 14) or M (s + n) = E T (section 1.2) but for
/// what the bucket gains or loses, which is less than px or s + n: 4699.2 and 3955.7 marks a
/// second, to the mark.
#[test]
fn marks_are_as_frequent_as_the_excess_says() {
    const EXCESS: f64 = 5e6;
    for (law, key, each, per_second) in
        [("px_meter", "px", 1064.0, 4699.2), ("sr_meter", "slow_down", 1264.0, 3955.7)]
    {
        let profile = [("rate", "40 Mbit/s"), ("size", "50 kB"), (key, "1064 B")];
        let mut meter = make(law, &profile.map(|(key, text)| (key, text.into()))).unwrap();
        // 200 B at 80 Mbit/s are 20 us; 50 kB last 10 ms. Of 10.1 s the first 0.1 s do not count.
        let marked = steady(meter.as_mut(), (200, 80_000_000), 505_000, ET);
        let marks = marked.iter().filter(|(number, _)| *number >= 5_000).count() as f64;
        let expected = EXCESS * 10.0 / each;
        assert!((expected / 10.0 - per_second).abs() < 0.05, "{law}");
        assert!((marks - expected).abs() <= 1.0, "{law}: {marks} of {expected}");
    }
}

/// Unmarked traffic is the supportable rate that the standard's egress measures: what the
/// size-independent meter leaves unmarked are the tokens, size + rate T, and a debt of one packet
/// at most, however large packets are: it is in debt after each packet, marked (as it was in debt)
/// or not (as less than half a packet was left). 80 against 40 Mbit/s for 10 s.
#[test]
fn unmarked_traffic_is_the_supportable_rate() {
    let profile = [("rate", "40 Mbit/s".into()), ("size", "50 kB".into())];
    for size in [50, 200, 1500_u16] {
        let mut meter = make("excess_meter", &profile).unwrap();
        let count = 100_000_000 / u64::from(size);
        let marked = steady(meter.as_mut(), (size, 80_000_000), count, ET).len() as u64;
        let unmarked = (count - marked) * u64::from(size);
        // Half of the bytes that came since the first packet.
        let tokens = 50_000 + (count - 1) * u64::from(size) / 2;
        let debt = unmarked.checked_sub(tokens).expect("the bucket was drained");
        assert!(0 < debt && debt <= u64::from(size), "{size} B: {unmarked} of {tokens}");
    }
}

/// Rates too high for their link, thresholds too high for their bucket and negative slow-downs are
/// refused; the message says what was read and what is allowed.
#[test]
fn wrong_profiles_are_refused_with_what_was_read_and_what_is_allowed() {
    let refused = |law: &str, changes: &[(&str, &'static str)]| {
        let mut profile = parameters(law, 8_000_000, [4000, 1000]);
        for (key, text) in changes {
            profile.retain(|(known, _)| known != key);
            profile.push((key, (*text).into()));
        }
        make(law, &profile).err().map(|problem| (problem.path, problem.message))
    };
    for (law, _) in LAWS {
        let (path, message) = refused(law, &[("rate", "101 Mbit/s")]).unwrap();
        assert_eq!(path, "rate");
        assert!(
            message.contains("\"101 Mbit/s\"") && message.contains("\"100 Mbit/s\""),
            "{message}"
        );
        assert_eq!(refused(law, &[("rate", "100 Mbit/s")]), None);
        assert_eq!(refused(law, &[("rate", "0 bit/s")]).unwrap().0, "rate");
        assert_eq!(refused(law, &[("size", "19 B")]).unwrap().0, "size");
    }
    for law in ["ar_meter", "threshold_meter"] {
        let (path, message) = refused(law, &[("threshold", "5 kB")]).unwrap();
        assert_eq!(path, "threshold");
        assert!(message.contains("\"5 kB\"") && message.contains("\"4 kB\""), "{message}");
        assert_eq!(refused(law, &[("threshold", "4 kB")]), None);
    }
    assert_eq!(refused("ar_meter", &[("threshold", "0 B")]), None);
    assert_eq!(refused("threshold_meter", &[("threshold", "0 B")]).unwrap().0, "threshold");
    assert_eq!(refused("px_meter", &[("px", "19 B")]).unwrap().0, "px");
    assert_eq!(refused("sr_meter", &[("slow_down", "0 B")]), None);
    let (path, message) = refused("sr_meter", &[("slow_down", "-1 B")]).unwrap();
    assert_eq!(path, "slow_down");
    assert!(message.contains("negative"), "{message}");
}

/// Every meter, and an option that it is tried with as well.
const LAWS: [(&str, Option<(&str, &str)>); 5] = [
    ("ar_meter", None),
    ("excess_meter", Some(("form", "classic"))),
    ("px_meter", None),
    ("sr_meter", Some(("preferential", "true"))),
    ("threshold_meter", Some(("excess_marked", "skip"))),
];

/// Parameters: rate in bit/s, size, and the third quantity where there is one, in bytes.
fn parameters(law: &str, rate: u64, [size, third]: [u64; 2]) -> Vec<(&'static str, Value)> {
    let text = |amount: u64, unit: &str| Value::Text(format!("{amount} {unit}"));
    let mut all = vec![("rate", text(rate, "bit/s")), ("size", text(size, "B"))];
    match law {
        "ar_meter" | "threshold_meter" => all.push(("threshold", text(third, "B"))),
        "px_meter" => all.push(("px", text(third, "B"))),
        "sr_meter" => all.push(("slow_down", text(third, "B"))),
        _ => {}
    }
    all
}

/// Range that the level of a bucket never leaves, in bytes, if no packet exceeds 1500 B.
fn bounds(law: &str, option: bool, [size, third]: [u64; 2]) -> (f64, f64) {
    let (size, third) = (size as f64, third as f64);
    match law {
        // What is paid for was there, and s comes on top of no more than a full bucket.
        "sr_meter" => (0.0, size + third),
        // A packet that leaves nothing is made good by px, so a debt needs larger packets; and a
        // mark leaves px at the most.
        "px_meter" if third >= 1500.0 => (0.0, size.max(third)),
        "px_meter" => (f64::NEG_INFINITY, size.max(third)),
        // One packet may pass that an almost empty bucket cannot pay for.
        "excess_meter" if !option => (-1500.0, size),
        _ => (0.0, size),
    }
}

/// A packet: gap (ps), setback of its clock (ps), size, ECN field and precedence.
type Arrival = (u64, u64, u16, u8, u8);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![Just(0), 0..500_000_000_u64, 0..100_000_000_000_u64];
    let setback = prop_oneof![Just(0), 0..10_000_000_000_u64];
    prop::collection::vec((gap, setback, 20..1501_u16, 0..4_u8, 0..3_u8), 1..80)
}

fn packet(&(_, _, size, ecn, precedence): &Arrival) -> Packet {
    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(ecn)];
    Packet::data(Time::ZERO, FlowId::new(3), 5, size, RouteId::new(7))
        .with_ecn(ecn)
        .with_precedence(precedence)
}

/// The marks and the levels after each packet; clocks are set back, or wait instead.
fn run(law: &mut dyn Conditioner, arrivals: &[Arrival], set_back: bool) -> Vec<(Packet, f64)> {
    let (mut clock, mut latest, mut stream) = (Time::ZERO, Time::ZERO, stream());
    let mut pass = |arrival: &Arrival| {
        clock += Span::from_ps(arrival.0);
        let now = Time::from_ps(clock.ps().saturating_sub(arrival.1));
        // Non-PCN packets do not read the clock.
        if packet(arrival).pcn().is_some() {
            latest = latest.max(now);
        }
        let mut packet = packet(arrival);
        let now = if set_back { now } else { latest };
        assert_eq!(law.condition(&mut packet, now, &mut stream), Verdict::Accept);
        (packet, level(law))
    };
    arrivals.iter().map(&mut pass).collect()
}

proptest! {
    /// Meters mark and do nothing else: no mark is taken back or forged, traffic that is not PCN is
    /// not metered, nothing besides the mark changes, no tokens come from nowhere, and a clock that
    /// goes backwards counts as time that stands still.
    #[test]
    fn meters_mark_and_do_nothing_else(
        arrivals in arrivals(),
        rate in 1..100_000_000_u64,
        size in 20..20_000_u64,
        third in 20..5_000_u64,
        option in any::<bool>(),
    ) {
        for (law, key) in LAWS {
            let (own, third) = match law {
                "ar_meter" | "threshold_meter" => (AS, third.min(size)),
                _ => (ET, third),
            };
            let mut profile = parameters(law, rate, [size, third]);
            if option && let Some((key, text)) = key {
                profile.push((key, text.into()));
            }
            let out = run(make(law, &profile).unwrap().as_mut(), &arrivals, true);
            let (least, most) = bounds(law, option, [size, third]);
            let mut before = size as f64;
            for (arrival, (after, level)) in arrivals.iter().zip(&out) {
                let given = packet(arrival);
                prop_assert_eq!(after.with_ecn(given.ecn()), given, "{}", law);
                match given.pcn() {
                    None => prop_assert_eq!((after.pcn(), *level), (None, before), "{}", law),
                    Some(mark) => {
                        let marked = after.pcn().unwrap();
                        prop_assert!(marked == mark || marked == own && own > mark, "{}", law);
                    }
                }
                prop_assert!(least <= *level && *level <= most, "{}: {}", law, level);
                before = *level;
            }
            let waited = run(make(law, &profile).unwrap().as_mut(), &arrivals, false);
            prop_assert_eq!(&out, &waited, "{}", law);
        }
    }
}
