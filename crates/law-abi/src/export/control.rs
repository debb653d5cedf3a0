//! Congestion controls.

use forebay_kernel::Stream;
use forebay_laws::control::BuildControl;
use forebay_network::{Ack, CongestionControl, LostSegment, RateSample, Signal, Window};
use forebay_parameters::{Entry, Problem};

use super::convert::{amount, known_span, span, time};
use super::{Build, Exported, Given, Guest, describe};
use crate::abi::{self, ControlFacts, NEVER, decision, flag, kind, signal};

impl Build for BuildControl {
    fn describe<L: Exported>(entry: &'static Entry<Self>) -> Result<abi::Law, String> {
        describe::<L, Control>(entry)
    }
}

/// The congestion control of a connection.
struct Control(Box<dyn CongestionControl>);

impl Guest for Control {
    type Build = BuildControl;
    type Facts = ControlFacts;
    const KIND: u32 = kind::CONTROL;

    fn make(build: BuildControl, given: &Given<'_>) -> Result<Self, Problem> {
        build(given.section).map(|factory| Self(factory()))
    }

    fn flags(&self) -> u32 {
        let needs = self.0.needs();
        let flags = [
            (needs.samples, flag::SAMPLES),
            (needs.exact_marks, flag::EXACT_MARKS),
            (needs.l4s, flag::L4S),
        ];
        flags.iter().filter(|(needed, _)| *needed).map(|(_, flag)| flag).sum()
    }

    fn decisions(&self) -> Vec<usize> {
        let mut all = vec![
            decision::OPENED,
            decision::ACKNOWLEDGED,
            decision::CONGESTED,
            decision::RESTARTED,
        ];
        if self.0.needs().samples {
            all.extend([decision::SAMPLED, decision::LOST]);
        }
        all
    }

    #[inline(always)]
    fn decide(
        &mut self,
        decision: usize,
        facts: &mut ControlFacts,
        _stream: Option<&mut Stream>,
    ) -> Result<i32, String> {
        let (law, now) = (&mut self.0, time(facts.head.now));
        let ControlFacts { cwnd, ssthresh, smss, .. } = *facts;
        let mut window = Window { cwnd, ssthresh, smss };
        match decision {
            decision::OPENED => law.opened(&window, known_span(facts.rtt)),
            decision::ACKNOWLEDGED => law.acknowledged(&mut window, &ack(facts)),
            decision::CONGESTED => {
                law.congested(&mut window, signalled(facts.signal)?, facts.flight, now);
            }
            decision::SAMPLED => law.sampled(&mut window, &sample(facts)),
            decision::LOST => law.lost(&mut window, &lost(facts), now),
            _ => law.restarted(&mut window, now),
        }
        facts.cwnd = window.cwnd;
        facts.ssthresh = window.ssthresh;
        facts.pacing_rate = law.pacing_rate().unwrap_or(0.0);
        Ok(0)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.0.probes(visit);
    }
}

fn signalled(number: i64) -> Result<Signal, String> {
    match number {
        signal::LOSS => Ok(Signal::Loss),
        signal::ECN => Ok(Signal::Ecn),
        signal::TIMEOUT => Ok(Signal::Timeout { first: true }),
        signal::TIMEOUT_AGAIN => Ok(Signal::Timeout { first: false }),
        other => Err(format!("was handed {other}, which is no signal of congestion")),
    }
}

fn ack(facts: &ControlFacts) -> Ack {
    Ack {
        now: time(facts.head.now),
        acked: facts.acked,
        slow_start_limit: facts.slow_start_limit,
        flight: facts.flight,
        rtt: known_span(facts.rtt),
        srtt: known_span(facts.srtt),
        ece: facts.ece != 0,
    }
}

fn sample(facts: &ControlFacts) -> RateSample {
    RateSample {
        now: time(facts.head.now),
        acked: amount(facts.newly_acked),
        newly_delivered: amount(facts.newly_delivered),
        newly_lost: amount(facts.newly_lost),
        delivered: amount(facts.delivered),
        prior_delivered: (facts.prior_delivered != NEVER).then(|| amount(facts.prior_delivered)),
        rate: Some(facts.delivery_rate).filter(|rate| *rate >= 0.0),
        app_limited: facts.app_limited != 0,
        rtt: known_span(facts.rtt),
        one_way: span(facts.one_way),
        srtt: known_span(facts.srtt),
        prior_in_flight: amount(facts.prior_in_flight),
        in_flight: amount(facts.in_flight),
        sent_in_flight: amount(facts.sent_in_flight),
        lost_since: amount(facts.lost_since),
        recovering: facts.recovering != 0,
        cwnd_limited: facts.cwnd_limited != 0,
        paced: facts.paced != 0,
        selective: facts.selective != 0,
        ece: facts.ece != 0,
        newly_marked: amount(facts.newly_marked),
        una: amount(facts.una),
        max: amount(facts.max),
    }
}

fn lost(facts: &ControlFacts) -> LostSegment {
    LostSegment {
        number: amount(facts.segment),
        bytes: amount(facts.bytes),
        sent_in_flight: amount(facts.sent_in_flight),
        lost_since: amount(facts.lost_since),
        app_limited: facts.app_limited != 0,
        delivered: amount(facts.delivered),
    }
}
