//! Congestion controls whose law is from outside.

use forebay_laws::control::{BuildControl, ControlFactory};
use forebay_network::{
    Ack, CongestionControl, ControlNeeds, LostSegment, RateSample, Signal, Window,
};
use forebay_parameters::{Entry, Problem, Section};
use forebay_units::{Span, Time};

use crate::abi::{ControlFacts, NEVER, decision, flag, signal};
use crate::law::{CreateFacts, OuterLaw, again, signed};
use crate::raw::{HEAD, Instance};

/// The entry of a congestion control.
pub(crate) fn entry(law: &'static OuterLaw) -> Entry<BuildControl> {
    let build: BuildControl = Box::leak(Box::new(move |section: &Section<'_>| {
        let words = law.words(section, &[])?;
        law.create(section, std::sync::Arc::clone(&words), &CreateFacts::default())?;
        let (raw, label) = (law.raw, law.label(section));
        let make = move || {
            let instance = again(raw, &words, label);
            let outer = Outer { instance, facts: NO_FACTS, rate: None, was_congested: false };
            Box::new(outer) as Box<dyn CongestionControl>
        };
        Ok::<ControlFactory, Problem>(Box::new(make))
    }));
    law.entry(law.fields, build)
}

const NO_FACTS: ControlFacts = ControlFacts {
    head: HEAD,
    cwnd: 0.0,
    ssthresh: 0.0,
    smss: 0.0,
    pacing_rate: 0.0,
    rtt: NEVER,
    srtt: NEVER,
    ece: 0,
    acked: 0.0,
    slow_start_limit: 0.0,
    flight: 0.0,
    signal: 0,
    newly_acked: 0,
    newly_delivered: 0,
    newly_lost: 0,
    delivered: 0,
    prior_delivered: NEVER,
    delivery_rate: -1.0,
    app_limited: 0,
    one_way: NEVER,
    prior_in_flight: 0,
    in_flight: 0,
    sent_in_flight: 0,
    lost_since: 0,
    recovering: 0,
    cwnd_limited: 0,
    paced: 0,
    selective: 0,
    newly_marked: 0,
    una: 0,
    max: 0,
    segment: 0,
    bytes: 0,
};

struct Outer {
    instance: Instance,
    facts: ControlFacts,
    rate: Option<f64>,
    /// True from the first signal of congestion on.
    was_congested: bool,
}

/// Largest window, in bytes: four times the largest of TCP (RFC 7323, section 2.3). A window is
/// sent at once unless it is paced, so that one without bounds has no end.
const MAX_WINDOW: f64 = 4_294_967_296.0;

impl Outer {
    /// Have the law decide on the facts at `now`, and change the window and the rate as it says.
    fn decide(&mut self, decision: usize, window: &mut Window, now: i64) {
        let decides = self.instance.law().decides(decision);
        // Not to decide on congestion leaves the window as it is, which is looked at all the same.
        if !decides && decision != decision::CONGESTED {
            return;
        }
        let facts = &mut self.facts;
        facts.head.now = now;
        (facts.cwnd, facts.ssthresh, facts.smss) = (window.cwnd, window.ssthresh, window.smss);
        facts.pacing_rate = self.rate.unwrap_or(0.0);
        if decides {
            self.instance.decide(decision, facts, None);
        }
        let refuse = |name: &str, written: f64, allowed: &str| {
            let told = format!("wrote {name} {written}; allowed are {allowed}");
            self.instance.end_run(decision, now, &told)
        };
        let fits = |bytes: f64| bytes > 0.0 && bytes <= MAX_WINDOW;
        if !fits(facts.cwnd) {
            refuse("cwnd", facts.cwnd, "numbers above 0 up to 2^32");
        }
        // A threshold that has not been set yet is infinite. Loss recovery ends with that window.
        if self.was_congested && !fits(facts.ssthresh) {
            let allowed = "numbers above 0 up to 2^32, from the first signal of congestion on";
            refuse("ssthresh", facts.ssthresh, allowed);
        }
        if facts.ssthresh.is_nan() || facts.ssthresh <= 0.0 {
            refuse("ssthresh", facts.ssthresh, "numbers above 0");
        }
        if facts.pacing_rate < 0.0 || !facts.pacing_rate.is_finite() {
            refuse("pacing_rate", facts.pacing_rate, "finite numbers above 0, and 0 for none");
        }
        (window.cwnd, window.ssthresh) = (facts.cwnd, facts.ssthresh);
        self.rate = (facts.pacing_rate > 0.0).then_some(facts.pacing_rate);
    }
}

fn spans(span: Option<Span>) -> i64 {
    span.map_or(NEVER, |span| signed(span.ps()))
}

impl CongestionControl for Outer {
    fn opened(&mut self, window: &Window, rtt: Option<Span>) {
        self.facts.rtt = spans(rtt);
        self.facts.srtt = spans(rtt);
        // The window is the sender's until data is acknowledged.
        let mut kept = *window;
        self.decide(decision::OPENED, &mut kept, NEVER);
    }

    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        let facts = &mut self.facts;
        facts.acked = ack.acked;
        facts.slow_start_limit = ack.slow_start_limit;
        facts.flight = ack.flight;
        facts.rtt = spans(ack.rtt);
        facts.srtt = spans(ack.srtt);
        facts.ece = i64::from(ack.ece);
        self.decide(decision::ACKNOWLEDGED, window, signed(ack.now.ps()));
    }

    fn congested(&mut self, window: &mut Window, told: Signal, flight: f64, now: Time) {
        self.facts.flight = flight;
        self.facts.signal = match told {
            Signal::Loss => signal::LOSS,
            Signal::Ecn => signal::ECN,
            Signal::Timeout { first: true } => signal::TIMEOUT,
            Signal::Timeout { first: false } => signal::TIMEOUT_AGAIN,
        };
        self.was_congested = true;
        self.decide(decision::CONGESTED, window, signed(now.ps()));
    }

    fn needs(&self) -> ControlNeeds {
        let law = self.instance.law();
        ControlNeeds {
            samples: law.has(flag::SAMPLES),
            without_rates: false,
            exact_marks: law.has(flag::EXACT_MARKS),
            l4s: law.has(flag::L4S),
        }
    }

    fn sampled(&mut self, window: &mut Window, sample: &RateSample) {
        let facts = &mut self.facts;
        facts.rtt = spans(sample.rtt);
        facts.srtt = spans(sample.srtt);
        facts.ece = i64::from(sample.ece);
        facts.newly_acked = signed(sample.acked);
        facts.newly_delivered = signed(sample.newly_delivered);
        facts.newly_lost = signed(sample.newly_lost);
        facts.delivered = signed(sample.delivered);
        facts.prior_delivered = sample.prior_delivered.map_or(NEVER, signed);
        facts.delivery_rate = sample.rate.unwrap_or(-1.0);
        facts.app_limited = i64::from(sample.app_limited);
        facts.one_way = signed(sample.one_way.ps());
        facts.prior_in_flight = signed(sample.prior_in_flight);
        facts.in_flight = signed(sample.in_flight);
        facts.sent_in_flight = signed(sample.sent_in_flight);
        facts.lost_since = signed(sample.lost_since);
        facts.recovering = i64::from(sample.recovering);
        facts.cwnd_limited = i64::from(sample.cwnd_limited);
        facts.paced = i64::from(sample.paced);
        facts.selective = i64::from(sample.selective);
        facts.newly_marked = signed(sample.newly_marked);
        facts.una = signed(sample.una);
        facts.max = signed(sample.max);
        self.decide(decision::SAMPLED, window, signed(sample.now.ps()));
    }

    fn lost(&mut self, window: &mut Window, segment: &LostSegment, now: Time) {
        let facts = &mut self.facts;
        facts.segment = signed(segment.number);
        facts.bytes = signed(segment.bytes);
        facts.sent_in_flight = signed(segment.sent_in_flight);
        facts.lost_since = signed(segment.lost_since);
        facts.app_limited = i64::from(segment.app_limited);
        facts.delivered = signed(segment.delivered);
        self.decide(decision::LOST, window, signed(now.ps()));
    }

    fn restarted(&mut self, window: &mut Window, now: Time) {
        self.decide(decision::RESTARTED, window, signed(now.ps()));
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.rate
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.instance.probes(visit);
    }
}
