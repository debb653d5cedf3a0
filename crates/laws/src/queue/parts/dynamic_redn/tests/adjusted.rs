//! The maximum probability of a middle threshold, adjusted at run time.

use forebay_units::PS_PER_S;

use super::*;

/// The single bottleneck with a middle threshold whose probability is adjusted once a second.
fn adjusted() -> Machine {
    let mut machine = thesis(378.0, true);
    machine.rule.interval = Some(Span::from_ps(PS_PER_S));
    machine
}

/// An average of so much, at a time in tenths of a second.
fn at(machine: &mut Machine, tenths: u64, average: f64) {
    machine.follow(average, Time::from_ps(tenths * PS_PER_S / 10));
}

/// The probability of the middle threshold adapts as its parameter says. Static and dynamic begin
/// at 0.1, increment 2, interval 1 s. On reaching the middle threshold it must exceed the dynamic
/// 0.1: 0.2. It doubles at 1, 2 and 3 s, but stays a probability; below it waits, not in use, and
/// halves at 5.2, 6.2 ... s down to 0.1: 0.5, 0.25, 0.125, 0.1.
#[test]
fn it_grows_while_the_average_is_above_and_shrinks_while_below() {
    let mut machine = adjusted();
    for (tenths, average, middle) in [
        (0, 400.0, 0.2),
        (9, 380.0, 0.2),
        (10, 378.0, 0.4),
        (19, 500.0, 0.4),
        (20, 500.0, 0.8),
        (30, 400.0, 1.0),
        (41, 400.0, 1.0),
        (42, 377.0, 1.0),
        (51, 200.0, 1.0),
        (52, 300.0, 0.5),
        (62, 300.0, 0.25),
        (72, 300.0, 0.125),
        (82, 300.0, 0.1),
        (99, 300.0, 0.1),
    ] {
        at(&mut machine, tenths, average);
        let effective = if average < 378.0 { 0.1 } else { middle };
        assert_eq!(
            (machine.middle, machine.effective, machine.dynamic),
            (middle, effective, 0.1),
            "{tenths}"
        );
    }
    assert_eq!(machine.due, Time::NEVER, "at rest");
}

/// An average that moves about the middle threshold, where it is meant to be, does not drive the
/// probability off: half a second above and half a second below are less than the interval of 1 s,
/// however often. Dynamic 0.1/9 doubles at each crossing from below while it is less than the
/// static 0.1: twice 0.2/9 and 0.4/9 are less than 0.1, but 0.8/9 asks for 1.6/9, 1.6/9 for 3.2/9.
#[test]
fn crossings_restart_the_interval() {
    let mut machine = adjusted();
    for average in [200.0, 100.0, 200.0, 100.0] {
        at(&mut machine, 0, average);
    }
    let expected = [(2.0, 0.1), (4.0, 0.1), (8.0, 1.6 / 9.0), (16.0, 3.2 / 9.0)];
    for (crossing, (ninths, middle)) in (0..).zip(expected) {
        at(&mut machine, 10 * crossing, 400.0);
        near(machine.dynamic, 0.1 * ninths / 9.0);
        near(machine.middle, middle);
        near(machine.effective, middle);
        at(&mut machine, 10 * crossing + 5, 350.0);
        near(machine.effective, 0.1 * ninths / 9.0);
    }
    for crossing in 4..40 {
        at(&mut machine, 10 * crossing, 400.0);
        at(&mut machine, 10 * crossing + 5, 350.0);
        near(machine.middle, 3.2 / 9.0);
    }
}

/// The thesis's one requirement holds, that the adjusted value be strictly greater than the maximum
/// probability in effect without it (but for 1, which none exceeds), and adjusting leaves the
/// dynamic one alone. Averages jump at random.
#[test]
fn it_exceeds_the_dynamic_one_and_leaves_it_alone() {
    let mut stream = Streams::new(5, 0).named("test");
    let (mut with, mut without) = (adjusted(), thesis(378.0, true));
    let mut exceeded = 0;
    for tenths in 0..20_000 {
        let highest = [250, 500, 4000][stream.below(3) as usize];
        let average = stream.below(highest) as f64;
        at(&mut with, tenths, average);
        at(&mut without, tenths, average);
        assert_eq!(
            (with.dynamic, with.region, with.above_middle),
            (without.dynamic, without.region, without.above_middle)
        );
        if average < 378.0 {
            assert_eq!(with.effective, without.dynamic);
        } else {
            assert_eq!(with.effective, with.middle);
            assert!(with.effective > with.dynamic || with.effective == 1.0);
            exceeded += u32::from(with.effective > without.effective);
        }
        assert!((0.1..=1.0).contains(&with.middle));
    }
    assert!(exceeded > 0);
}

/// The adjusted value is observed, and only where there is something to adjust: precedence 0 has no
/// middle threshold. Twelve packets wait; twice the dynamic 0.3 is 0.6, and after 2 s 1.2 would be
/// no probability. Each change is observed once.
#[test]
fn it_is_observable() {
    let mut stream = Streams::new(1, 0).named("test");
    let interval = Some(Span::from_ps(2 * PS_PER_S));
    let mut law = law(&Setting { static_probability: 0.3, interval, ..PLAIN });
    fill(&mut law, 2, 12);
    for (seconds, probability, changes) in [(0, 0.6, 1), (1, 0.6, 0), (2, 1.0, 1), (4, 1.0, 0)] {
        arrive(&mut law, 2, Time::from_ps(seconds * PS_PER_S), &mut stream);
        assert_eq!(probe(&law, "middle_probability.2"), probability);
        assert_eq!(probe(&law, "max_probability.2"), probability);
        let mut told = 0;
        law.notes(&mut |note| {
            assert_eq!(note.values.last(), Some(&probability));
            told += 1;
        });
        assert_eq!(told, changes, "{seconds} s");
    }
    assert_eq!(probe(&law, "dynamic_probability.2"), 0.3);
    assert_eq!(probe(&law, "changed_s.2"), 2.0);
    law.probes(&mut |name, _| assert_ne!(name, "middle_probability.0"));
}
