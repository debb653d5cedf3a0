//! An agent in TCP: a congestion control whose window or rate it decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use forebay_laws::control::{BuildControl, ControlFactory, Controls, build_by_rfcs};
use forebay_network::{
    Ack, CongestionControl, ControlNeeds, LostSegment, RateSample, Signal, Window,
};
use forebay_parameters::{Entry, Inner, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

use crate::AGENT;
use crate::hand::{Hand, hand};

/// Places of its actions in the hand: segments, and bit/s of data.
pub(crate) const CWND: usize = 0;
pub(crate) const RATE: usize = 1;
/// Number of them.
pub(crate) const ACTIONS: usize = 2;

pub(crate) const ENTRY: Entry<BuildControl> = Entry {
    name: AGENT,
    summary: "A window, a pacing rate, or both, that an agent decides; losses are repaired as \
              ever, and change neither.",
    source: "RFC 5681, section 3 (what a window is)",
    example: "",
    fields: AgentParameters::FIELDS,
    probes: &[
        Probe { name: "cwnd_packets", unit: "packets", meaning: "The window." },
        Probe { name: "rate_bps", unit: "bit/s", meaning: "The pacing rate, if it has one." },
    ],
    build: &build,
};

parameters! {
    /// Parameters of an agent in TCP.
    pub struct AgentParameters {
        /// Number of the agent in its environment.
        number: u32 = 0, "RFC 5681, section 3";
        /// The only flow of the group that it acts for, from 0. All, if left out.
        member: Option<u32>, "RFC 5681, section 3";
        /// Congestion control of the other flows. Needed where there are some.
        others: Option<Inner<Controls>>, "RFC 5681, section 3";
        /// That has the defaults of the RFCs, and not of Linux.
        by_rfcs: bool = false, "RFC 5681, section 3";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let AgentParameters { number, member, others, by_rfcs } = AgentParameters::read(section)?;
    let (hand, _) = hand(number);
    let (Some(member), Some(others)) = (member, others) else {
        return Ok(Box::new(move || Box::new(AgentControl::of(&hand))));
    };
    let entry = section.registry().entry::<Controls>(others.name());
    let others = others.build(section, |build, inner| match entry {
        Some(entry) if by_rfcs => build_by_rfcs(entry)(inner),
        _ => build(inner),
    })?;
    // The first control is asked for its needs as the scenario is read; after that one is made for
    // each flow, in their order.
    let made = AtomicU32::new(0);
    Ok(Box::new(move || {
        let number = made.fetch_add(1, Ordering::Relaxed);
        if number == 0 || number == member + 1 {
            Box::new(AgentControl::of(&hand))
        } else {
            others()
        }
    }))
}

/// A window that leaves the rate to decide: twice what a round trip takes at that rate, and not
/// less than an initial window (RFC 6928).
const WINDOW_GAIN: f64 = 2.0;
const LEAST_SEGMENTS: f64 = 10.0;

struct AgentControl {
    hand: Arc<Hand>,
    srtt: Option<Span>,
    /// Bytes that it has added to those in flight.
    in_flight: u64,
}

impl AgentControl {
    fn of(hand: &Arc<Hand>) -> Self {
        Self { hand: Arc::clone(hand), srtt: None, in_flight: 0 }
    }

    /// The pacing rate in bytes per second, if that is decided.
    fn rate(&self) -> Option<f64> {
        self.hand.actions[RATE].get().map(|bps| bps / 8.0)
    }

    /// Have `window` be what is decided.
    fn steer(&self, window: &mut Window) {
        let smss = window.smss;
        let decided = self.hand.actions[CWND].get().map(|segments| segments * smss);
        let follows = || {
            let srtt = self.srtt.map_or(0.0, Span::seconds);
            self.rate().map(|rate| (WINDOW_GAIN * rate * srtt).max(LEAST_SEGMENTS * smss))
        };
        if let Some(bytes) = decided.or_else(follows) {
            window.cwnd = bytes.max(smss);
            window.ssthresh = window.cwnd;
        }
        self.hand.seen.cwnd.set(window.cwnd);
    }

    fn measured(&mut self, rtt: Option<Span>, srtt: Option<Span>) {
        let seen = &self.hand.seen;
        if let Some(rtt) = rtt {
            seen.rtt.add(rtt.ps());
            seen.rtts.add(1);
            let least = seen.least_rtt.get();
            if least == 0 || rtt.ps() < least {
                seen.least_rtt.set(rtt.ps());
            }
        }
        if let Some(srtt) = srtt {
            self.srtt = Some(srtt);
            seen.srtt.set(srtt.ps());
        }
    }
}

impl CongestionControl for AgentControl {
    fn opened(&mut self, window: &Window, rtt: Option<Span>) {
        self.hand.seen.cwnd.set(window.cwnd);
        self.measured(rtt, rtt);
    }

    /// All is done with the samples, which come in every phase.
    fn acknowledged(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn congested(&mut self, window: &mut Window, _signal: Signal, _flight: f64, _now: Time) {
        self.steer(window);
    }

    fn needs(&self) -> ControlNeeds {
        ControlNeeds { samples: true, ..ControlNeeds::default() }
    }

    fn sampled(&mut self, window: &mut Window, sample: &RateSample) {
        let seen = &self.hand.seen;
        seen.delivered.add(sample.newly_delivered);
        seen.arrived.add(sample.newly_delivered.div_ceil(window.smss.max(1.0) as u64));
        seen.in_flight.add(sample.in_flight.wrapping_sub(self.in_flight));
        self.in_flight = sample.in_flight;
        self.measured(sample.rtt, sample.srtt);
        self.steer(window);
    }

    fn lost(&mut self, _window: &mut Window, _segment: &LostSegment, _now: Time) {
        self.hand.seen.lost.add(1);
    }

    fn restarted(&mut self, window: &mut Window, _now: Time) {
        self.steer(window);
    }

    /// A law with a rate of its own is left alone by what spreads a reduction over a round trip. A
    /// window that an agent decides is, too: it is paced by acknowledgements alone.
    fn pacing_rate(&self) -> Option<f64> {
        Some(self.rate().unwrap_or(f64::INFINITY))
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(segments) = self.hand.actions[CWND].get() {
            visit("cwnd_packets", segments);
        }
        if let Some(rate) = self.rate() {
            visit("rate_bps", 8.0 * rate);
        }
    }
}
