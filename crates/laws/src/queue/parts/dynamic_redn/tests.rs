use forebay_kernel::Streams;
use forebay_network::{Backlog, DropReason, FlowId, Packet, RouteId};
use forebay_parameters::Echo;
use forebay_units::Rate;

use super::*;
use crate::queue::parts::red_options::{CountConvention, Spacing};
use crate::queue::red::default_options;
use crate::queue::rio::IdleMeaning;

mod adjusted;

/// The thesis's single bottleneck: 189, 378 and 2520 packets, static 0.1, by 2 and 3.
fn thesis(middle: f64, raise_to_static: bool) -> Machine {
    Machine::new(Rule {
        min: 189.0,
        middle,
        max: 2520.0,
        start: 0.1,
        increment: 2.0,
        decrement: 3.0,
        raise_to_static,
        interval: None,
    })
}

fn near(measured: f64, expected: f64) {
    assert!((measured - expected).abs() <= 1e-12 * expected, "{measured} is not {expected}");
}

/// Self-Configuring REDn adjusts at the crossings of figure 1.2 and by its factors: divided by 3 on
/// falling below the minimum threshold, doubled on exceeding the maximum threshold, once a crossing
/// however long the average stays there.
#[test]
fn self_configuring_moves_once_a_crossing() {
    use ThresholdZone::{Above, Below, Between};
    let mut machine = thesis(f64::INFINITY, false);
    for (average, times, divided, state) in [
        (50.0, 1.0, 0, Below),
        (200.0, 1.0, 0, Between),
        (150.0, 1.0, 1, Below),
        (250.0, 1.0, 1, Between),
        (2600.0, 2.0, 1, Above),
        (2700.0, 2.0, 1, Above),
        (2000.0, 2.0, 1, Between),
        (2600.0, 4.0, 1, Above),
        (150.0, 4.0, 2, Below),
        (100.0, 4.0, 2, Below),
    ] {
        let before = machine.effective;
        let changed = machine.follow(average, Time::ZERO);
        assert_eq!(changed, machine.effective != before, "{average}");
        near(machine.effective, 0.1 * times / [1.0, 3.0, 9.0][divided]);
        assert_eq!((machine.dynamic, machine.region), (machine.effective, state), "{average}");
    }
    assert_eq!((machine.increases, machine.decreases, machine.region_changes), (2, 2, 7));
}

/// An average exactly at a threshold counts as inside: figure 1.2 calls minth <= avg <= maxth
/// between.
#[test]
fn the_thresholds_belong_to_what_lies_between() {
    let mut machine = thesis(378.0, true);
    for (average, state, above_middle) in [
        (189.0, ThresholdZone::Between, false),
        (378.0, ThresholdZone::Between, true),
        (2520.0, ThresholdZone::Between, true),
        (2520.1, ThresholdZone::Above, true),
        (188.9, ThresholdZone::Below, true),
    ] {
        machine.follow(average, Time::ZERO);
        assert_eq!((machine.region, machine.above_middle), (state, above_middle), "{average}");
    }
}

/// Every probability that table 3.1 of the thesis prints, with the weight of its last digit.
/// Digits are cut there, not rounded.
const GREEN: [(f64, f64); 22] = [
    (0.1, 0.1),
    (0.033, 1e-3),
    (0.011, 1e-3),
    (0.0037, 1e-4),
    (0.0012, 1e-4),
    (0.00041, 1e-5),
    (0.00013, 1e-5),
    (4.57e-5, 1e-7),
    (1.52e-5, 1e-7),
    (5.08e-6, 1e-8),
    (1.69e-6, 1e-8),
    (5.64e-7, 1e-9),
    (1.88e-7, 1e-9),
    (6.27e-8, 1e-10),
    (2.09e-8, 1e-10),
    (6.96e-9, 1e-11),
    (2.32e-9, 1e-11),
    (7.74e-10, 1e-12),
    (2.58e-10, 1e-12),
    (8.603e-11, 1e-14),
    (1.72e-10, 1e-12),
    (3.44e-10, 1e-12),
];
const YELLOW: [(f64, f64); 21] = [
    (0.1, 0.1),
    (0.033, 1e-3),
    (0.011, 1e-3),
    (0.0037, 1e-4),
    (0.0012, 1e-4),
    (0.00041, 1e-5),
    (0.00013, 1e-5),
    (4.57e-5, 1e-7),
    (1.52e-5, 1e-7),
    (5.08e-6, 1e-8),
    (1.69e-6, 1e-8),
    (3.38e-6, 1e-8),
    (6.77e-6, 1e-8),
    (1.35e-5, 1e-7),
    (2.709e-5, 1e-8),
    (5.41e-5, 1e-7),
    (0.000108, 1e-6),
    (0.00021, 1e-5),
    (0.00043, 1e-5),
    (0.00086, 1e-5),
    (0.0017, 1e-4),
];
const RED: [(f64, f64); 20] = [
    (0.1, 0.1),
    (0.033, 1e-3),
    (0.011, 1e-3),
    (0.0037, 1e-4),
    (0.0012, 1e-4),
    (0.00041, 1e-5),
    (0.00013, 1e-5),
    (4.57e-5, 1e-7),
    (1.52e-5, 1e-7),
    (3.04e-5, 1e-7),
    (6.09e-5, 1e-7),
    (0.00012, 1e-5),
    (0.00024, 1e-5),
    (0.00048, 1e-5),
    (0.00097, 1e-5),
    (0.0019, 1e-4),
    (0.0039, 1e-4),
    (0.0078, 1e-4),
    (0.015, 1e-3),
    (0.031, 1e-3),
];

/// The factors are those with which table 3.1 was made: a probability that falls in it does so by
/// 3, one that rises by 2, and every digit that the table prints comes out.
#[test]
fn table_3_1_is_by_three_and_by_two() {
    for column in [&GREEN[..], &YELLOW[..], &RED[..]] {
        let mut machine = thesis(f64::INFINITY, false);
        for pair in column.windows(2) {
            // A fall starts between the thresholds or above, a rise between them or below.
            machine.follow(1000.0, Time::ZERO);
            machine.follow(if pair[1].0 < pair[0].0 { 100.0 } else { 2600.0 }, Time::ZERO);
            let (printed, digit) = pair[1];
            let cut = machine.dynamic - printed;
            assert!((-1e-9 * digit..digit).contains(&cut), "{printed}: {}", machine.dynamic);
        }
        assert_eq!(machine.increases + machine.decreases, column.len() as u64 - 1);
    }
    // Ten falls, to six digits: 0.1 / 3^n.
    let mut machine = thesis(f64::INFINITY, false);
    for value in [
        0.033_333_3,
        0.011_111_1,
        0.003_703_70,
        0.001_234_57,
        4.115_23e-4,
        1.371_74e-4,
        4.572_47e-5,
        1.524_16e-5,
        5.080_53e-6,
        1.693_51e-6,
    ] {
        machine.follow(1000.0, Time::ZERO);
        machine.follow(100.0, Time::ZERO);
        assert!((machine.dynamic / value - 1.0).abs() < 5e-6, "{value}: {}", machine.dynamic);
    }
    // No other factor fits: 10 falls by 3.01 instead of 3 end at 1.64e-6, not 1.69e-6.
    let mut wrong = thesis(f64::INFINITY, false);
    wrong.rule.decrement = 3.01;
    for _ in 0..10 {
        wrong.follow(1000.0, Time::ZERO);
        wrong.follow(100.0, Time::ZERO);
    }
    assert!(wrong.dynamic < 1.69e-6);
}

/// Adaptive REDn is the algorithm of figure 3.5. Step by step from static 0.1 with thresholds 189,
/// 378 and 2520: averages, then dynamic and effective as multiples of 0.1, state and whether above
/// the middle. 400: two thirds of a third of a third, static in effect; 350: dynamic in effect;
/// 390: again doubled, 4/9; 2600: at least static, then doubled.
#[test]
fn adaptive_follows_figure_3_5() {
    use ThresholdZone::{Above, Below, Between};
    let mut machine = thesis(378.0, true);
    let third = 1.0 / 3.0;
    let ninth = 1.0 / 9.0;
    for (average, dynamic, effective, state, above) in [
        (50.0, 1.0, 1.0, Below, false),
        (200.0, 1.0, 1.0, Between, false),
        (150.0, third, third, Below, false),
        (250.0, third, third, Between, false),
        (150.0, ninth, ninth, Below, false),
        (300.0, ninth, ninth, Between, false),
        (400.0, 2.0 * ninth, 1.0, Between, true),
        (500.0, 2.0 * ninth, 1.0, Between, true),
        (350.0, 2.0 * ninth, 2.0 * ninth, Between, false),
        (390.0, 4.0 * ninth, 1.0, Between, true),
        (1000.0, 4.0 * ninth, 1.0, Between, true),
        (2600.0, 2.0, 2.0, Above, true),
        (2700.0, 2.0, 2.0, Above, true),
        (2000.0, 2.0, 2.0, Between, true),
        (150.0, 2.0 * third, 2.0 * third, Below, true),
        (100.0, 2.0 * third, 2.0 * third, Below, true),
    ] {
        machine.follow(average, Time::ZERO);
        near(machine.dynamic, 0.1 * dynamic);
        near(machine.effective, 0.1 * effective);
        assert_eq!((machine.region, machine.above_middle), (state, above), "{average}");
    }
    assert_eq!((machine.increases, machine.decreases), (3, 3));
}

/// A jump over a threshold is read as figure 3.5 reads it: prev-state-mid is touched between
/// minimum and maximum threshold alone. From above the middle below the minimum it stays above, and
/// the way back up through the lower half only takes the dynamic maximum probability over; from
/// below the middle over the maximum it stays below, and coming down into the upper half counts as
/// a crossing from below.
#[test]
fn jumps_leave_the_middle_state_alone() {
    let mut machine = thesis(378.0, true);
    machine.follow(400.0, Time::ZERO);
    assert!(machine.above_middle && machine.increases == 0, "dynamic is not below static");
    machine.follow(100.0, Time::ZERO);
    assert!(machine.above_middle);
    near(machine.effective, 0.1 / 3.0);
    machine.follow(300.0, Time::ZERO);
    assert!(!machine.above_middle && machine.increases == 0);
    near(machine.effective, 0.1 / 3.0);
    machine.follow(150.0, Time::ZERO);
    machine.follow(2600.0, Time::ZERO);
    assert!(!machine.above_middle);
    near(machine.dynamic, 0.2);
    let mut machine = thesis(378.0, false);
    for average in [200.0, 100.0, 200.0, 100.0, 2600.0] {
        machine.follow(average, Time::ZERO);
    }
    near(machine.effective, 0.2 / 9.0);
    machine.follow(1000.0, Time::ZERO);
    near(machine.dynamic, 0.4 / 9.0);
    near(machine.effective, 0.1);
}

/// The middle threshold has no effect where the dynamic maximum probability is the larger one
/// (section 3.3.1), or where there is none (green).
#[test]
fn without_need_the_middle_threshold_has_no_effect() {
    let (mut with, mut without) = (thesis(378.0, true), thesis(f64::INFINITY, true));
    for machine in [&mut with, &mut without] {
        machine.follow(2600.0, Time::ZERO);
        near(machine.dynamic, 0.2);
    }
    for average in [1000.0, 300.0, 400.0, 377.0, 379.0, 2000.0, 200.0, 2519.0] {
        with.follow(average, Time::ZERO);
        without.follow(average, Time::ZERO);
        assert_eq!((with.dynamic, with.effective), (without.dynamic, without.effective));
    }
    // The lowest precedence, which has no middle threshold, keeps its lowered probability.
    without.follow(100.0, Time::ZERO);
    without.follow(1000.0, Time::ZERO);
    near(without.effective, 0.2 / 3.0);
    assert_eq!(without.middle_changes, 0);
}

/// Both readings of figure 3.5's last branch can be chosen: from 0.1/9, exceeding the maximum
/// threshold gives 0.2, or 0.2/9 where the probability grows from where it is.
#[test]
fn growth_above_the_maximum_starts_from_static_or_not() {
    for (raise_to_static, expected) in [(true, 0.2), (false, 0.2 / 9.0)] {
        let mut machine = thesis(378.0, raise_to_static);
        for average in [200.0, 100.0, 200.0, 100.0, 2600.0] {
            machine.follow(average, Time::ZERO);
        }
        near(machine.dynamic, expected);
        near(machine.effective, expected);
    }
}

/// A maximum probability stays a probability in a long run, and above zero, from which no factor
/// leads back: 0.1 doubled 4 times is 1.6, and divided by 3 900 times below the smallest number.
#[test]
fn maximum_probabilities_stay_in_their_range() {
    let mut machine = thesis(f64::INFINITY, false);
    for _ in 0..4 {
        machine.follow(2600.0, Time::ZERO);
        machine.follow(1000.0, Time::ZERO);
    }
    assert_eq!((machine.dynamic, machine.increases), (1.0, 4));
    for _ in 0..900 {
        machine.follow(1000.0, Time::ZERO);
        machine.follow(100.0, Time::ZERO);
    }
    assert_eq!(machine.dynamic, f64::MIN_POSITIVE);
    machine.follow(2600.0, Time::ZERO);
    assert_eq!(machine.dynamic, 2.0 * f64::MIN_POSITIVE);
}

/// Settings in which the whole law under test differs from Adaptive REDn with thresholds 4, 8 and
/// 16 packets and weight 1 (averages are queues), minimum actual threshold 0.
struct Setting {
    weight: f64,
    actual_threshold: u64,
    actual_queue: Coupling,
    spared_count: SparedCount,
    static_probability: f64,
    spacing: Spacing,
    interval: Option<Span>,
}

const PLAIN: Setting = Setting {
    weight: 1.0,
    actual_threshold: 0,
    actual_queue: Coupling::Coupled,
    spared_count: SparedCount::Restart,
    static_probability: 0.1,
    spacing: Spacing::Uniform,
    interval: None,
};

fn law(setting: &Setting) -> DynamicRedn {
    let echo = Echo::default();
    let section = Section::empty("queue.adaptive_redn".to_owned(), &echo);
    let options = Options {
        weight: setting.weight,
        gentle: true,
        spacing: setting.spacing,
        count: CountConvention::Analysis,
        harddrop: true,
        gentle_ecn: false,
        ..default_options()
    };
    let shape = Shape {
        precedences: 3,
        min: Some(Length::Packets(4)),
        middle: Some(Length::Packets(8)),
        max: Some(Length::Packets(16)),
        probability: setting.static_probability,
        idle: IdleMeaning::Physical,
    };
    let dynamics = Dynamics {
        increment: 2.0,
        decrement: 3.0,
        actual_threshold: Length::Packets(setting.actual_threshold),
        actual_queue: setting.actual_queue,
        spared_count: setting.spared_count,
        middle: Some(Middle {
            threshold: 8.0,
            first: 1,
            raise_to_static: true,
            interval: setting.interval,
        }),
    };
    let facts = LinkFacts::of(Rate::from_bps(10_000_000));
    DynamicRedn::build(&section, &facts, (&shape, options), &dynamics).unwrap()
}

fn packet(precedence: u8) -> Packet {
    Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0)).with_precedence(precedence)
}

fn arrive(law: &mut DynamicRedn, precedence: u8, now: Time, stream: &mut Stream) -> Verdict {
    let packet = packet(precedence);
    let backlog = Backlog { packets: 1, bytes: 500 };
    law.admit(
        &Arrival { now, packet: &packet, backlog, idle_since: None, empty_since: None },
        stream,
    )
}

/// Put `count` packets of `precedence` into the queue, whatever the verdicts.
fn fill(law: &mut DynamicRedn, precedence: u8, count: usize) {
    let arrived = packet(precedence);
    for _ in 0..count {
        let backlog = Backlog { packets: 1, bytes: 500 };
        let arrival = Arrival {
            now: Time::ZERO,
            packet: &arrived,
            backlog,
            idle_since: None,
            empty_since: None,
        };
        law.rio.spare(usize::from(precedence), true, &arrival);
    }
}

fn probe(law: &DynamicRedn, wanted: &str) -> f64 {
    let mut found = None;
    law.probes(&mut |name, value| {
        if name == wanted {
            assert!(found.replace(value).is_none(), "{name} is told twice");
        }
    });
    found.unwrap_or_else(|| panic!("no probe {wanted}"))
}

/// Every average that moves runs its machine: precedences share no state, and miss no arrival that
/// their averages follow. Six packets of precedence 0 and three of 1 wait: cumulative 6, 9, 9. An
/// arrival of precedence 0 brings all averages to them: 0 between, 1 and 2 above the middle. One of
/// precedence 2 alone would move nothing but 2. Then all but one of precedence 2 leave: below.
#[test]
fn every_average_that_moves_runs_its_machine() {
    let mut stream = Streams::new(1, 0).named("test");
    let mut law = law(&Setting { static_probability: 1e-9, ..PLAIN });
    fill(&mut law, 0, 6);
    fill(&mut law, 1, 3);
    let states = |law: &DynamicRedn| [0, 1, 2].map(|i| probe(law, &format!("region.{i}")));
    arrive(&mut law, 2, Time::from_ps(1), &mut stream);
    assert_eq!(states(&law), [0.0, 0.0, 1.0], "the others follow no packet of precedence 2");
    arrive(&mut law, 0, Time::from_ps(2), &mut stream);
    assert_eq!(states(&law), [1.0, 1.0, 1.0]);
    let names = ["above_middle.0", "above_middle.1", "above_middle.2", "region_changes.1"];
    assert_eq!(names.map(|name| probe(&law, name)), [0.0, 1.0, 1.0, 1.0]);
    assert_eq!([0, 1, 2].map(|i| probe(&law, &format!("actual.{i}"))), [7.0, 10.0, 11.0]);
    (0..7).for_each(|_| law.departed(packet(0).queued_info(), Time::ZERO));
    (0..3).for_each(|_| law.departed(packet(1).queued_info(), Time::ZERO));
    let at = Time::from_ps(2_500_000_000_000);
    arrive(&mut law, 1, at, &mut stream);
    assert_eq!(states(&law), [1.0, 0.0, 0.0], "precedence 0 does not follow one of 1");
    let names = ["dynamic_probability.1", "decreases.1", "changed_s.1", "changed_s.0"];
    assert_eq!(names.map(|name| probe(&law, name)), [1e-9 / 3.0, 1.0, 2.5, 0.0]);
    near(probe(&law, "max_probability.1"), 1e-9 / 3.0);
}

/// A change is observed once, and as the probes show it: one arrival that finds six packets brings
/// precedences 1 and 2 between the thresholds, and only that is observed, once.
#[test]
fn a_change_is_told_once() {
    let mut stream = Streams::new(1, 0).named("test");
    let mut law = law(&Setting { static_probability: 1e-9, ..PLAIN });
    fill(&mut law, 1, 6);
    arrive(&mut law, 1, Time::from_ps(1), &mut stream);
    let mut told = Vec::new();
    law.notes(&mut |note| told.push(note.values.to_vec()));
    let expected = |precedence| {
        let adjustment = Adjustment {
            precedence,
            average: 6.0,
            region: ThresholdZone::Between,
            above_middle: false,
            dynamic_probability: 1e-9,
            max_probability: 1e-9,
        };
        adjustment.values()
    };
    assert_eq!(told, [expected(1), expected(2)]);
    law.notes(&mut |note| panic!("{note:?} is told again"));
    arrive(&mut law, 1, Time::from_ps(2), &mut stream);
    law.notes(&mut |note| panic!("{note:?}: seven packets change nothing"));
}

/// The effective maximum probability is that with which packets are dropped. Above the middle
/// threshold with average 12 of 4 to 16 the drop probability is two thirds of the effective one;
/// with geometric spacing packets are dropped independently. A frequency over n packets deviates by
/// sqrt(p (1 - p) / n); bound: five times that. The dynamic one in its place, a ninth of it after
/// two decreases and one increase, fails.
#[test]
fn the_effective_maximum_probability_decides() {
    const N: u32 = 100_000;
    let spacing = Spacing::Geometric;
    let mut law = law(&Setting { static_probability: 0.3, spacing, ..PLAIN });
    for _ in 0..2 {
        let machine = &mut law.machines[2];
        machine.follow(5.0, Time::ZERO);
        machine.follow(1.0, Time::ZERO);
    }
    fill(&mut law, 2, 12);
    let mut stream = Streams::new(2, 0).named("test");
    let mut dropped = 0;
    for _ in 0..N {
        match arrive(&mut law, 2, Time::ZERO, &mut stream) {
            Verdict::Drop(_) => dropped += 1,
            _ => law.departed(packet(2).queued_info(), Time::ZERO),
        }
    }
    near(probe(&law, "dynamic_probability.2"), 0.6 / 9.0);
    assert_eq!(probe(&law, "max_probability.2"), 0.3);
    let (p, frequency) = (0.2, f64::from(dropped) / f64::from(N));
    let bound = 5.0 * (p * (1.0 - p) / f64::from(N)).sqrt();
    assert!((frequency - p).abs() < bound, "{frequency}");
    assert!((frequency - 2.0 / 3.0 * 0.6 / 9.0).abs() > bound, "the wrong one is told apart");
}

/// Packets are not dropped while the actual queue is short (eq. 3.1, read with its text: both
/// lengths must exceed their minima), and the state machine still runs. Three packets wait, and the
/// average is 40 still, more than twice the maximum threshold, where every packet is dropped.
#[test]
fn a_short_actual_queue_rules_congestion_out() {
    let mut stream = Streams::new(3, 0).named("test");
    for (actual_threshold, precedence, verdict) in [
        (0, 2, Verdict::Drop(DropReason::Forced)),
        (3, 2, Verdict::Drop(DropReason::Forced)),
        (4, 2, Verdict::Accept),
    ] {
        let mut law = law(&Setting { weight: 0.01, actual_threshold, ..PLAIN });
        law.rio.set_average(2, 40.0);
        fill(&mut law, 2, 3);
        assert_eq!(arrive(&mut law, precedence, Time::ZERO, &mut stream), verdict);
        assert_eq!(probe(&law, "region.2"), 2.0, "the average is judged all the same");
        assert_eq!(probe(&law, "increases.2"), 1.0);
    }
}

/// The actual queue is that of the packets that the average follows, or that of one precedence
/// where this is asked for: 3 packets of precedence 0 and 2 of 2 are 5, or 2.
#[test]
fn the_actual_queue_is_that_of_the_average_or_of_one_precedence() {
    let mut stream = Streams::new(3, 0).named("test");
    let drop = Verdict::Drop(DropReason::Forced);
    for (actual_queue, threshold, verdict) in [
        (Coupling::Coupled, 5, drop),
        (Coupling::Coupled, 6, Verdict::Accept),
        (Coupling::Decoupled, 2, drop),
        (Coupling::Decoupled, 3, Verdict::Accept),
    ] {
        let setting = Setting { weight: 0.01, actual_threshold: threshold, actual_queue, ..PLAIN };
        let mut law = law(&setting);
        law.rio.set_average(2, 40.0);
        fill(&mut law, 0, 3);
        fill(&mut law, 2, 2);
        assert_eq!(arrive(&mut law, 2, Time::ZERO, &mut stream), verdict, "{threshold}");
    }
}

/// The count after a spared packet is the chosen one. With pb = 1/3 (average 12 of 4 to 16, maximum
/// 1/2), counts 0 and 1 drop with 1/3 and 1/2, count 2 with certainty. After two packets that
/// passed, one spared: with `keep` the next is dropped with certainty, with `restart` with 1/3
/// only.
#[test]
fn a_spared_packet_restarts_the_count_or_not() {
    let mut spared = [0, 0];
    for seed in 0..300 {
        for (which, spared_count) in [SparedCount::Restart, SparedCount::Keep].iter().enumerate() {
            let mut stream = Streams::new(seed, 0).named("test");
            let setting = Setting {
                actual_threshold: 12,
                spared_count: *spared_count,
                static_probability: 0.5,
                weight: f64::MIN_POSITIVE,
                ..PLAIN
            };
            let mut law = law(&setting);
            law.rio.set_average(2, 12.0);
            fill(&mut law, 2, 12);
            let passed = (0..2).all(|_| {
                let verdict = arrive(&mut law, 2, Time::ZERO, &mut stream);
                verdict == Verdict::Accept
            });
            if !passed {
                continue;
            }
            (0..3).for_each(|_| law.departed(packet(2).queued_info(), Time::ZERO));
            assert_eq!(arrive(&mut law, 2, Time::ZERO, &mut stream), Verdict::Accept, "spared");
            let verdict = arrive(&mut law, 2, Time::ZERO, &mut stream);
            spared[which] += usize::from(verdict == Verdict::Accept);
        }
    }
    assert!(spared[0] > 0, "two of three pass after a restart");
    assert_eq!(spared[1], 0, "none passes where the count stayed");
}
