use forebay_kernel::{Stream, Streams, math};
use forebay_network::{
    Arrival, Backlog, DropPolicy, DropReason, Ecn, FlowId, Packet, RouteId, Verdict,
};
use forebay_parameters::{Node, Value};
use forebay_units::{Rate, Span, Time};

use super::*;
use crate::queue::red::default_options;
use crate::queue::{red, rio};

const RATE: Rate = Rate::from_bps(10_000_000);

type Law = Box<dyn DropPolicy>;

fn three<T: Clone + Into<Value>>(value: T) -> Value {
    Value::List(vec![Node::new(value.into()); 3])
}

fn probe_value(law: &Law, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    law.probes(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

/// Run both laws over the same 20,000 arrivals, of random precedence up to `most`, which offer 1.1
/// times the link's rate; every verdict must be the same, and so must the probe of each that
/// `averages` names. Gives the number of drops.
fn lockstep(laws: [Law; 2], least: u8, most: u8, averages: [&str; 2]) -> usize {
    let [mut left, mut right] = laws;
    let mut draws = Streams::new(5, 0).named("arrivals");
    let mut streams = [(); 2].map(|()| Streams::new(6, 0).named("queue"));
    let mut waiting = std::collections::VecDeque::new();
    let (mut now, mut free_at, mut dropped) = (Time::ZERO, Time::ZERO, 0);
    for _ in 0..20_000 {
        now += Span::from_seconds(0.4e-3 / 1.1 * draws.exponential());
        while free_at <= now && !waiting.is_empty() {
            let packet: Packet = waiting.pop_front().unwrap();
            left.departed(packet.queued_info(), free_at);
            right.departed(packet.queued_info(), free_at);
            free_at += Span::from_us(400);
        }
        let precedence = least + draws.below(u64::from(most - least) + 1) as u8;
        let packet =
            Packet::data(now, FlowId::new(0), 0, 500, RouteId::new(0)).with_precedence(precedence);
        let packets = waiting.len() as u32;
        let backlog = Backlog { packets, bytes: 500 * u64::from(packets) };
        let idle_since = (free_at <= now).then_some(free_at);
        let arrival =
            Arrival { now, packet: &packet, backlog, idle_since, empty_since: idle_since };
        let verdict = left.admit(&arrival, &mut streams[0]);
        assert_eq!(verdict, right.admit(&arrival, &mut streams[1]));
        assert_eq!(probe_value(&left, averages[0]), probe_value(&right, averages[1]));
        match (verdict, idle_since) {
            (Verdict::Drop(_), _) => dropped += 1,
            (_, None) => waiting.push_back(packet),
            (_, Some(_)) => {
                left.departed(packet.queued_info(), now);
                right.departed(packet.queued_info(), now);
                free_at = now + Span::from_us(400);
            }
        }
    }
    dropped
}

fn redn(more: &[(&str, Value)]) -> Law {
    let mut parameters: Vec<(&str, Value)> = vec![
        ("min_threshold", "5 packets".into()),
        ("max_threshold", "15 packets".into()),
        ("weight", 0.05.into()),
    ];
    parameters.extend_from_slice(more);
    built(&ENTRY, RATE, &parameters).unwrap()
}

/// REDn is RIO-C with one set of parameters for all precedences, a gentle second phase and the
/// spacing of RED's analysis.
#[test]
fn redn_is_coupled_rio_with_one_set_of_parameters() {
    for idle in ["physical", "cumulative"] {
        let rio = built(
            &rio::ENTRY,
            RATE,
            &[
                ("min_threshold", three("5 packets")),
                ("max_threshold", three("15 packets")),
                ("max_probability", three(0.1)),
                ("weight", 0.05.into()),
                ("gentle", true.into()),
                ("count", "analysis".into()),
                ("idle", idle.into()),
            ],
        );
        let redn = redn(&[("idle", idle.into())]);
        let dropped = lockstep([redn, rio.unwrap()], 0, 3, ["average.1", "average.1"]);
        assert!(dropped > 500, "the comparison covers drops: {dropped}");
    }
}

/// A gateway that sees one colour alone functions exactly as RED (Liu 2001, section 4.1), whichever
/// colour it is, and so does REDn with one precedence.
#[test]
fn one_colour_alone_is_plain_red() {
    for (precedence, precedences) in [(0, 3), (2, 3), (1, 1)] {
        let parameters: [(&str, Value); 3] =
            [("weight", 0.05.into()), ("gentle", true.into()), ("count", "analysis".into())];
        let red = built(&red::ENTRY, RATE, &parameters).unwrap();
        let redn = redn(&[("precedences", precedences.into())]);
        let own = format!("average.{}", i32::from(precedence).min(precedences - 1));
        let dropped = lockstep([redn, red], precedence, precedence, [&own, "average"]);
        assert!(dropped > 500, "the comparison covers drops: {dropped}");
    }
}

fn offer(law: &mut Law, precedence: u8, ecn: Ecn, stream: &mut Stream) -> Verdict {
    let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0))
        .with_precedence(precedence)
        .with_ecn(ecn);
    let backlog = Backlog { packets: 1, bytes: 500 };
    let arrival =
        Arrival { now: Time::ZERO, packet: &packet, backlog, idle_since: None, empty_since: None };
    law.admit(&arrival, stream)
}

/// Offer a packet that does not stay.
fn probe(law: &mut Law, precedence: u8, ecn: Ecn, stream: &mut Stream) -> Verdict {
    let verdict = offer(law, precedence, ecn, stream);
    if !matches!(verdict, Verdict::Drop(_)) {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0))
            .with_precedence(precedence);
        law.departed(packet.queued_info(), Time::ZERO);
    }
    verdict
}

/// Let `count` packets of `precedence` in.
fn fill(law: &mut Law, precedence: u8, count: usize, stream: &mut Stream) {
    let mut left = count;
    while left > 0 {
        let accepted = offer(law, precedence, Ecn::NotEct, stream) == Verdict::Accept;
        left -= usize::from(accepted);
    }
}

/// Averages are exponential ones of cumulative queues. While (4, 3, 2) packets wait, that of
/// precedence i follows Q = 4, 7, 9 at each arrival of precedence 0 to i, of which there are n:
/// from a it comes to Q + (a - Q) (1 - w)^n (Floyd and Jacobson 1993, section 4).
#[test]
fn averages_under_constant_arrivals_have_their_closed_form() {
    let mut stream = Streams::new(1, 0).named("test");
    let mut law = redn(&[("min_threshold", "10 packets".into())]);
    for (precedence, count) in [(0, 4), (1, 3), (2, 2)] {
        fill(&mut law, precedence, count, &mut stream);
    }
    let averages = |law: &Law| [0, 1, 2].map(|i| probe_value(law, &format!("average.{i}")));
    let before = averages(&law);
    // A round of 7: 4 of precedence 0, 2 of 1, 1 of 2.
    for round in [0, 1, 0, 2, 0, 1, 0].repeat(5) {
        probe(&mut law, round, Ecn::NotEct, &mut stream);
    }
    for (i, (queue, n)) in [(4.0, 20.0), (7.0, 30.0), (9.0, 35.0)].into_iter().enumerate() {
        let expected = queue + (before[i] - queue) * math::pow(0.95, n);
        assert!((averages(&law)[i] - expected).abs() < 1e-12, "precedence {i}");
        assert_eq!(probe_value(&law, &format!("actual.{i}")), queue);
    }
}

/// ECN marks in the first phase and does not drop; in the second phase it drops as in the thesis
/// ("packet drop alone"), unless marks are asked for. With weight 1 and maximum probability 1, pb
/// is 0.9 at 14 of 5 to 15, so of two packets in a row one is hit; from 15 on all are.
#[test]
fn ecn_ends_where_the_second_phase_begins() {
    let early = Verdict::Drop(DropReason::Early);
    for (waiting, gentle_ecn, hit) in [
        (14, false, Verdict::Mark),
        (15, false, Verdict::Mark),
        (16, false, early),
        (16, true, Verdict::Mark),
        (29, true, Verdict::Mark),
        (30, true, Verdict::Drop(DropReason::Forced)),
    ] {
        let mut stream = Streams::new(1, 0).named("test");
        let mut law = redn(&[
            ("weight", 1.0.into()),
            ("max_probability", 1.0.into()),
            ("ecn", true.into()),
            ("gentle_ecn", gentle_ecn.into()),
        ]);
        // Those of precedence 0 meet no drop while the averages are below the minimum threshold.
        fill(&mut law, 0, 5, &mut stream);
        (5..waiting).for_each(|_| take(&mut law));
        let verdicts = [(); 2].map(|()| probe(&mut law, 2, Ecn::Ect0, &mut stream));
        assert!(verdicts.contains(&hit), "{waiting} {gentle_ecn}: {verdicts:?}");
        assert!(verdicts.iter().all(|v| *v == hit || *v == Verdict::Accept), "{verdicts:?}");
    }
}

/// One more packet of precedence 0 waits, although the law might have dropped it: an ECN-capable
/// one is marked at most, and where even these are dropped the offer is repeated.
fn take(law: &mut Law) {
    let before = probe_value(law, "actual.0");
    let mut seed = 0;
    while probe_value(law, "actual.0") == before {
        seed += 1;
        assert!(seed < 1000, "the law lets nothing in");
        offer(law, 0, Ecn::Ect0, &mut Streams::new(seed, 0).named("fill"));
    }
}

/// Chi-square of `gaps` against `model`, the probabilities of the gaps 1, 2, ...; what is longer is
/// one more cell. Also the degrees of freedom.
fn chi_square(gaps: &[usize], model: &[f64]) -> (f64, f64) {
    let n = gaps.len() as f64;
    let mut rest = (gaps.iter().filter(|gap| **gap > model.len()).count() as f64, 1.0);
    let mut sum = 0.0;
    for (at, p) in model.iter().enumerate() {
        let count = gaps.iter().filter(|gap| **gap == at + 1).count() as f64;
        // A gap that cannot be makes the sum huge.
        let off = count - n * p;
        sum += off * off / (n * p).max(1e-9);
        rest.1 -= p;
    }
    let longer = n * rest.1.max(1e-9);
    let possible = model.iter().filter(|p| **p > 0.0).count();
    let off = rest.0 - longer;
    (sum + off * off / longer, possible as f64)
}

/// Marks of a colour are spaced evenly, 0.5/p + 0.5 packets of that colour apart (Liu 2001, section
/// 4.1), and colours share no count. Ten packets of precedence 0 wait, so every cumulative queue is
/// 10 and pb = 0.1 of a hundred; uniform: gaps of a colour are uniform on 1 to 10 with mean 5.5
/// (standard deviation sqrt(99/12)), and so are drawn ones; wait: 10 more; with the count of the
/// listing, which includes the arriving packet, pa is pb / (1 - pb) = 1/9 at first: uniform on 1 to
/// 9, mean 5; geometric: 0.1 * 0.9^(k - 1). The bounds lie five standard deviations above the mean
/// of chi-square and from that of the gaps; each model is refused by the gaps of another.
#[test]
fn gaps_between_marks_of_a_colour_have_the_published_distribution() {
    let uniform = vec![0.1; 10];
    let listing = vec![1.0 / 9.0; 9];
    let wait = [vec![0.0; 10], uniform.clone()].concat();
    let geometric: Vec<f64> = (0..40).map(|k| 0.1 * math::pow(0.9, f64::from(k))).collect();
    for ((spacing, count), model, wrong, mean) in [
        (("uniform", "analysis"), &uniform, &geometric, 5.5),
        (("uniform", "code"), &listing, &uniform, 5.0),
        (("drawn", "analysis"), &uniform, &geometric, 5.5),
        (("wait", "analysis"), &wait, &uniform, 15.5),
        (("geometric", "analysis"), &geometric, &listing, 10.0),
    ] {
        let mut stream = Streams::new(4, 0).named("test");
        let mut law = redn(&[
            ("min_threshold", "0 packets".into()),
            ("max_threshold", "100 packets".into()),
            ("max_probability", 1.0.into()),
            ("weight", 1.0.into()),
            ("spacing", spacing.into()),
            ("count", count.into()),
        ]);
        fill(&mut law, 0, 10, &mut stream);
        let mut gaps = [const { Vec::new() }; 3];
        let mut since = [None; 3];
        for turn in 0..600_000 {
            // Bursts of several lengths, so that a shared count would be seen.
            let colour = [0, 1, 1, 2, 0, 2, 2, 2][turn % 8];
            let dropped = probe(&mut law, colour as u8, Ecn::NotEct, &mut stream);
            since[colour] = since[colour].map(|count: usize| count + 1);
            if matches!(dropped, Verdict::Drop(_)) {
                gaps[colour].extend(since[colour].replace(0));
            }
        }
        for gaps in &gaps {
            let (sum, freedom) = chi_square(gaps, model);
            let bound = freedom + 5.0 * (2.0 * freedom).sqrt();
            assert!(sum < bound, "{spacing}: {sum}");
            assert!(chi_square(gaps, wrong).0 > 10.0 * bound, "{spacing}: a wrong model fits");
            // The geometric one has the largest standard deviation, sqrt(1 - p) / p = 9.5.
            let n = gaps.len() as f64;
            let deviation = if spacing == "geometric" { 9.5 } else { (99.0_f64 / 12.0).sqrt() };
            let found = gaps.iter().sum::<usize>() as f64 / n;
            let error = 5.0 * deviation / n.sqrt();
            assert!((found - mean).abs() < error && error < 0.4, "{spacing} {count}: {found}");
        }
    }
}

/// Thresholds left out are those of the thesis's guidelines. With 1000 B at 201.6 Mbit/s R is
/// 25,200 packets/s: 0.5 s * 2 * 0.1 * R = 2520, 15 ms * R = 378, half of it 189; section 4.3:
/// 34,200 packets/s give 3420, 513, 256 (half of it, cut). At 403.2 Mbit/s the rule gives 5040,
/// 756, 378; what section 4.2 prints for that link, 5544, 831, 415, is the rule at 443.52 Mbit/s:
/// 55,440 packets/s * 15 ms = 831.6.
#[test]
fn thresholds_left_out_follow_the_guidelines() {
    for (rate, expected) in [
        (201_600_000, [189, 378, 2520]),
        (273_600_000, [256, 513, 3420]),
        (403_200_000, [378, 756, 5040]),
        (443_520_000, [415, 831, 5544]),
    ] {
        let shape = Shape {
            precedences: 3,
            min: None,
            middle: None,
            max: None,
            probability: 0.1,
            idle: IdleMeaning::Physical,
        };
        let facts = LinkFacts::of(Rate::from_bps(rate));
        let thresholds = shape.thresholds(&facts, Size::from_bytes(1000));
        assert_eq!(thresholds, expected.map(Length::Packets), "{rate}");
        let given = Shape { middle: Some(Length::Bytes(3001)), ..shape };
        let [half, ..] = given.thresholds(&facts, default_options().mean_packet);
        assert_eq!(half, Length::Bytes(1500), "half of the middle threshold that is given");
    }
}

/// Parameters that cannot be are refused by their key, and not run as something else.
#[test]
fn wrong_parameters_are_refused_by_their_key() {
    let wrong = |more: &[(&str, Value)]| built(&ENTRY, RATE, more).err();
    assert_eq!(wrong(&[]), None, "everything has a default");
    // 15 ms of 2500 packets/s are 37; the minimum threshold is 18, the maximum 0.1 s, 250.
    for (key, value, path) in [
        ("precedences", Value::from(0), "precedences"),
        ("precedences", 65.into(), "precedences"),
        ("min_threshold", "250 packets".into(), "max_threshold"),
        ("max_threshold", "18 packets".into(), "max_threshold"),
        ("max_probability", 0.0.into(), "max_threshold"),
        ("max_probability", 1.01.into(), "max_probability"),
        ("max_probability", (-0.1).into(), "max_probability"),
        ("weight", 0.0.into(), "weight"),
        ("mean_packet", "0 B".into(), "mean_packet"),
        ("precedence", 3.into(), "precedence"),
    ] {
        assert_eq!(wrong(&[(key, value)]).as_deref(), Some(path), "{key}");
    }
    assert_eq!(wrong(&[("precedences", 64.into())]), None);
}
