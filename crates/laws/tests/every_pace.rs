//! Properties of every detector, law of explicit rates, activity, rate control and rate adaptation
//! in the tables.

mod support;

use forebay_kernel::Streams;
use forebay_laws::LinkFacts;
use forebay_laws::activity::ACTIVITIES;
use forebay_laws::activity::{Activity, Lasts, Session};
use forebay_laws::adaptation::{
    ADAPTATIONS, Arrival, BuildAdaptation, EncoderFacts, MediaRates, Report,
};
use forebay_laws::detector::DETECTORS;
use forebay_laws::detector::{CongestionDetector, CongestionNotification};
use forebay_laws::explicit_rate::EXPLICIT_RATES;
use forebay_laws::explicit_rate::ExplicitRate;
use forebay_laws::pace::PACES;
use forebay_laws::pace::{Pace, PaceControl};
use forebay_network::{FlowId, Packet, RouteId};
use forebay_parameters::Entry;
use forebay_units::{Rate, Span, Time};
use support::{build, example, strange};

const FACTS: LinkFacts = LinkFacts::of(Rate::from_bps(6_000_000));
const RTT: Span = Span::from_ms(560);

/// Returns the notifications of a detector of cells of 20 flows and all classes at 1.2 times the
/// link's rate, one in 50 of them dropped: time, flow and notice.
fn told(law: &mut dyn CongestionDetector) -> Vec<(Time, FlowId, CongestionNotification)> {
    let mut draws = Streams::new(5, 0).named("cells");
    let mut now = Time::ZERO;
    let mut told = Vec::new();
    for number in 0..20_000 {
        now += Span::from_seconds(draws.exponential() * 424.0 / 7.2e6);
        let flow = FlowId::new(draws.below(20) as usize);
        let packet = Packet::data(now, flow, number, 53, RouteId::new(0))
            .with_precedence(draws.below(5) as u8);
        law.arrives(&packet, now);
        if let Some(notice) = law.judge(&packet, draws.happens(0.02), now) {
            told.push((now, flow, notice));
        }
    }
    told
}

/// Detectors tell each source once in a hold-off, so that none drowns in notifications: under
/// overload each detector tells sources, none within its hold-off of 50 ms, and equal runs alike.
#[test]
fn detectors_tell_each_source_once_in_a_hold_off() {
    for entry in DETECTORS {
        let make = || build(&example(entry), |section| (entry.build)(section, &FACTS));
        let all = told(&mut *make().unwrap());
        assert_eq!(all, told(&mut *make().unwrap()), "{}", entry.name);
        assert!(all.len() > 100, "{} tells {}", entry.name, all.len());
        for flow in FlowId::all(20) {
            let times: Vec<Time> =
                all.iter().filter(|(_, of, _)| *of == flow).map(|(at, ..)| *at).collect();
            let close = times.windows(2).any(|pair| pair[1].since(pair[0]) <= Span::from_ms(50));
            assert!(!close && !times.is_empty(), "{}: {flow:?}", entry.name);
        }
    }
}

/// Returns the rates that a law of explicit rates gives 20 flows that send at 1.2 times the link's
/// rate beside others, with a pause in between, checked: never less than nothing, nor more than the
/// link.
fn given(law: &mut dyn ExplicitRate, name: &str) -> Vec<f64> {
    let mut draws = Streams::new(5, 0).named("cells");
    let mut now = Time::ZERO;
    let mut all = Vec::new();
    for number in 0..20_000 {
        now += Span::from_seconds(draws.exponential() * 424.0 / 7.2e6);
        if number == 10_000 {
            now += Span::from_s(5);
        }
        let packet =
            Packet::data(now, FlowId::new(draws.below(20) as usize), number, 53, RouteId::new(0));
        if draws.happens(0.3) {
            law.passes(&packet, now);
            continue;
        }
        let current = draws.happens(0.03).then(|| draws.uniform() * 6e6);
        law.arrives(&packet, current, now);
        let rate = law.allows(packet.flow, now);
        assert!((0.0..=6e6).contains(&rate), "{name} gives {rate}");
        all.push(rate);
    }
    all
}

/// Explicit rates stay within the link and follow what has passed: under overload rates differ, and
/// equal runs are alike.
#[test]
fn explicit_rates_stay_within_the_link() {
    for entry in EXPLICIT_RATES {
        let make = || build(&example(entry), |section| (entry.build)(section, &FACTS));
        let all = given(&mut *make().unwrap(), entry.name);
        assert_eq!(all, given(&mut *make().unwrap(), entry.name), "{}", entry.name);
        assert!(all.iter().any(|rate| *rate != all[0]), "{}", entry.name);
    }
}

/// The first phases of an activity, checked: sessions begin before they continue, nothing is sent
/// between them, and time passes.
fn phases(law: &mut dyn Activity, name: &str) -> u64 {
    let mut draws = Streams::new(6, 0).named("activity");
    let (mut took, mut all, mut open) = (Span::ZERO, Span::ZERO, false);
    for _ in 0..300 {
        let phase = law.next(took, &mut draws);
        assert!(open || phase.session != Session::GoesOn, "{name}: continues no session");
        open = phase.session != Session::Idle;
        assert!(open || phase.rate.bps() == 0, "{name} sends between sessions");
        took = match phase.lasts {
            Lasts::For(span) => span,
            Lasts::Volume(bytes) => {
                assert!(phase.rate.bps() > 0 && bytes > 0, "{name}: a volume takes for ever");
                Span::from_s(20)
            }
        };
        all = all + took;
    }
    all.ps()
}

/// Returns the paces of a source under a rate control while it hears notifications, checked: rates
/// are finite and not negative, and a timer is never set for the past or the present.
fn paces(law: &mut dyn PaceControl, name: &str) -> Vec<Pace> {
    let mut draws = Streams::new(7, 0).named("notices");
    let mut now = Time::ZERO;
    let mut all = vec![law.begin(now)];
    for _ in 0..2000 {
        let due = all[all.len() - 1].next;
        let heard = now + Span::from_ms(draws.below(2000));
        let notice = if draws.happens(0.3) {
            CongestionNotification::Discard
        } else {
            CongestionNotification::Rate
        };
        let pace = if due <= heard {
            now = due;
            Some(law.expired(now))
        } else {
            now = heard;
            if draws.happens(0.02) { Some(law.begin(now)) } else { law.notified(notice, now) }
        };
        // Only who goes by explicit rates answers these.
        let pace = law.resource_cell(notice == CongestionNotification::Rate, now).or(pace);
        let pace = law.allowed(heard.seconds() % 1.5, now).or(pace);
        if let Some(pace) = pace {
            assert!(pace.scale.is_finite() && pace.scale >= 0.0, "{name}: {pace:?}");
            assert!(pace.next > now, "{name}: {pace:?} at {now:?}");
            all.push(pace);
        }
    }
    all
}

/// Activities and rate controls make progress: a source neither goes backwards in time nor sends
/// between its sessions.
#[test]
fn activities_and_rate_controls_make_progress() {
    for entry in ACTIVITIES {
        let kind = build(&example(entry), entry.build).unwrap();
        assert!(phases(&mut *(kind.make)(), entry.name) > 0);
        assert!(kind.mean_rate.bps() > 0, "{}", entry.name);
    }
    for entry in PACES {
        let kind = build(&example(entry), entry.build).unwrap();
        let all = paces(&mut *(kind.make)(RTT), entry.name);
        assert_eq!(all, paces(&mut *(kind.make)(RTT), entry.name), "{}", entry.name);
    }
}

/// Strange values of every kind are refused, or survived: a slip in a parameter neither panics nor
/// hangs, nor sends rates to infinity.
#[test]
fn strange_parameters_are_refused_or_survived() {
    let mut survived = 0;
    for entry in DETECTORS {
        for (_, parameters) in strange(&example(entry), entry.fields) {
            if let Ok(mut law) = build(&parameters, |section| (entry.build)(section, &FACTS)) {
                told(&mut *law);
                survived += 1;
            }
        }
    }
    for entry in EXPLICIT_RATES {
        for (what, parameters) in strange(&example(entry), entry.fields) {
            let make = build(&parameters, |section| (entry.build)(section, &FACTS));
            if let Ok(mut law) = make {
                given(&mut *law, &what);
                survived += 1;
            }
        }
    }
    for entry in ACTIVITIES {
        for (what, parameters) in strange(&example(entry), entry.fields) {
            if let Ok(kind) = build(&parameters, entry.build) {
                phases(&mut *(kind.make)(), &what);
                survived += 1;
            }
        }
    }
    for entry in PACES {
        for (what, parameters) in strange(&example(entry), entry.fields) {
            if let Ok(kind) = build(&parameters, entry.build) {
                paces(&mut *(kind.make)(kind.rtt.unwrap_or(RTT)), &what);
                survived += 1;
            }
        }
    }
    assert!(survived > 50, "{survived}");
}

const MIN_RATE: f64 = 150e3;
const MAX_RATE: f64 = 1.5e6;

/// The rates that the law `entry` gives, report by report: of a receiver that sees what was sent
/// late, lost, marked and out of order, or of reports at random.
fn rates(entry: &Entry<BuildAdaptation>, random: bool) -> Vec<MediaRates> {
    let kind = build(&example(entry), |section| (entry.build)(section));
    let kind = kind.expect("its example is right");
    let encoder = EncoderFacts {
        range: (Rate::from_bps(MIN_RATE as u64), Rate::from_bps(MAX_RATE as u64)),
        start: Rate::from_bps(300_000),
        frame_rate: 30.0,
    };
    let (mut sender, mut receiver) =
        ((kind.make)(&encoder), kind.reports.as_ref().map(|reports| (reports.make)()));
    let mut draws = Streams::new(7, 0).named("reports");
    let (mut now, mut sent, mut number) = (Time::ZERO, 0_u64, 0_u64);
    let mut all = vec![sender.rates(0.0)];
    for _ in 0..500 {
        now += Span::from_seconds(0.1 * draws.exponential());
        sender.on_frame(1e5 * draws.uniform(), 1e6 * draws.uniform(), now);
        for _ in 0..draws.below(40) {
            if sender.may_send(1000) {
                sender.on_sent(sent, 1000, now);
                sent += 1;
            }
        }
        for _ in 0..draws.below(20) {
            number = (number + draws.below(4)).saturating_sub(draws.below(2)).min(sent);
            let delay = Span::from_seconds(0.05 * draws.exponential());
            let marked = draws.happens(0.05);
            let arrival = Arrival { now, delay, number, size: 1000, marked };
            if number < sent {
                receiver.iter_mut().for_each(|receiver| receiver.on_packet(&arrival));
            }
        }
        if let Some(receiver) = &mut receiver {
            let mut report = receiver.report(now);
            if random {
                report = Report { word: draws.below(u64::MAX), ..Report::default() };
                (0..draws.below(5)).for_each(|_| {
                    let first = draws.below(sent + 2);
                    report.arrived.push(first, first + draws.below(9));
                });
            }
            let rtt = Span::from_seconds(draws.exponential());
            sender.on_report(&report, rtt, now);
        }
        all.push(sender.rates(1e6 * draws.uniform()));
    }
    // Where no report comes any more, and nothing leaves, a packet may in the end.
    (0..3000).for_each(|ms| {
        sender.on_frame(1e5, 1e6, now + Span::from_ms(100 * ms));
    });
    assert!(sender.may_send(1000), "{}", entry.name);
    all
}

/// Rates are those of the encoder whatever is reported: none that it does not have, none at which
/// packets wait for ever, and equal runs are equal. A law without a window sends no slower than the
/// encoder, and no faster than it can.
#[test]
fn rates_are_those_of_the_encoder_whatever_is_reported() {
    for entry in ADAPTATIONS {
        let window = entry.name == "scream";
        for random in [false, true] {
            let all = rates(entry, random);
            for MediaRates { encoder, sending } in &all {
                assert!((MIN_RATE..=MAX_RATE).contains(encoder), "{}", entry.name);
                let (least, most) = if window { (50e3, f64::MAX) } else { (*encoder, MAX_RATE) };
                assert!((least..=most).contains(sending), "{}: {sending}", entry.name);
            }
            assert_eq!(all, rates(entry, random));
        }
    }
}
