//! Properties of every fairness law, whatever it decides.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod support;

use forebay_kernel::{Stream, Streams};
use forebay_laws::fairness::{BuildFairness, FAIRNESS, RingFacts, StationFacts};
use forebay_laws::fairness::{
    RingAccess, RingClass, RingDemand, RingFairness, RingFrame, RingMessage, RingNotice, RingState,
};
use forebay_parameters::Entry;
use forebay_units::{Rate, Span, Time};
use support::{build, example, strange};

const STATIONS: u16 = 6;

fn facts(dual: bool) -> RingFacts {
    RingFacts { rate: Rate::from_bps(622_080_000), transit_limit: 522_000, dual }
}

fn station() -> StationFacts {
    StationFacts {
        upstream: vec![Span::from_us(50); usize::from(STATIONS) - 1],
        weights: vec![1.0, 2.0, 1.0, 3.0, 1.0, 1.0],
        committed: [Rate::from_bps(50_000_000), Rate::from_bps(0)],
        max_rate: None,
    }
}

fn default_law(entry: &Entry<BuildFairness>, dual: bool) -> Box<dyn RingFairness> {
    let factory = build(&example(entry), |section| (entry.build)(section, &facts(dual))).unwrap();
    factory(&station())
}

fn any_frame(draw: &mut Stream, behind: u16) -> RingFrame {
    RingFrame {
        size: 1 + draw.below(9216) as u16,
        class: if draw.happens(0.3) { RingClass::High } else { RingClass::Low },
        ahead: 1 + draw.below(u64::from(STATIONS) - 1) as u16,
        behind,
    }
}

fn any_message(draw: &mut Stream) -> RingMessage {
    let origin = 1 + draw.below(u64::from(STATIONS)) as u16;
    let notice = match draw.below(3) {
        0 => RingNotice::Limit(None),
        1 => RingNotice::Limit(Some(40_000.0 * draw.uniform())),
        _ => {
            let demand =
                RingDemand { ahead: 1 + draw.below(5) as u16, committed: 1e8, weight: 2.0 };
            RingNotice::Demands { share: 6e8 * draw.uniform(), active: Box::new([demand]) }
        }
    };
    RingMessage { origin, notice }
}

/// Lead a law through a thousand events; all that it answered, in words.
fn drive(law: &mut dyn RingFairness, seed: u64) -> Vec<String> {
    let mut draw = Streams::new(seed, 0).named("events");
    let (mut now, mut answers) = (Time::ZERO, Vec::new());
    for _ in 0..1000 {
        now += Span::from_us(draw.below(30));
        let waiting_since = draw.happens(0.5).then_some(now);
        let state = RingState { transit: draw.below(522_000), waiting_since };
        let (own, behind) = (any_frame(&mut draw, 0), 1 + draw.below(5) as u16);
        let other = any_frame(&mut draw, behind);
        law.queued(&own, now);
        let access = law.access(&own, &state, now);
        if let RingAccess::Until(time) = access {
            assert!(time > now, "a time to wait for lies ahead");
        }
        if access == RingAccess::Open {
            law.sent(&own, now);
        }
        law.entered(&other, now);
        law.forwarded(&other, now);
        let told = law.interval_ended(&state, now);
        if let Some(RingMessage { notice: RingNotice::Limit(Some(rate)), .. }) = &told {
            assert!(rate.is_finite() && *rate >= 0.0, "told a rate of {rate}");
        }
        let relayed = law.heard(&any_message(&mut draw), now);
        let mut probes = Vec::new();
        law.probes(&mut |name, value| {
            assert!(value.is_finite() && value >= 0.0, "{name} {value}");
            probes.push(value);
        });
        answers.push(format!("{access:?} {told:?} {relayed} {probes:?}"));
    }
    answers
}

/// Equal events get equal answers, so that a run can be repeated.
#[test]
fn equal_events_get_equal_answers() {
    for entry in FAIRNESS {
        for dual in [true, false] {
            let answers = drive(default_law(entry, dual).as_mut(), 1);
            assert_eq!(answers, drive(default_law(entry, dual).as_mut(), 1), "{}", entry.name);
        }
    }
}

/// Strange parameters are refused or survived: a slip in a scenario neither crashes a run nor makes
/// it continue with numbers that are none.
#[test]
fn strange_parameters_are_refused_or_survived() {
    for entry in FAIRNESS {
        for (label, parameters) in strange(&example(entry), entry.fields) {
            let made = build(&parameters, |section| (entry.build)(section, &facts(true)));
            match made {
                Ok(factory) => drop(drive(factory(&station()).as_mut(), 2)),
                Err(problem) => assert!(!problem.message.is_empty(), "{} {label}", entry.name),
            }
        }
    }
}

/// A station alone may send: after ten seconds without others, without congestion and without
/// messages, its frames may go, one after the other.
#[test]
fn a_station_alone_may_send() {
    let calm = RingState::default();
    for entry in FAIRNESS {
        let mut law = default_law(entry, true);
        let frame = RingFrame { size: 1500, class: RingClass::Low, ahead: 2, behind: 0 };
        let mut now = Time::ZERO;
        for _ in 0..100_000 {
            now += Span::from_us(100);
            law.interval_ended(&calm, now);
        }
        for _ in 0..100 {
            law.queued(&frame, now);
            assert_eq!(law.access(&frame, &calm, now), RingAccess::Open, "{}", entry.name);
            law.sent(&frame, now);
            // 1500 B at the line rate take 19.3 us.
            now += Span::from_us(20);
            law.interval_ended(&calm, now);
        }
    }
}
