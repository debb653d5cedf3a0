//! Probing for bandwidth: DOWN, CRUISE, REFILL and UP (draft-ietf-ccwg-bbr, section 5.3.3).

use forebay_network::{RateSample, Window};
use forebay_units::{Span, Time};

use super::{Bbr3, State};
use crate::control::bbr::scatter;

/// Meaning of acknowledgements for a probe (BBR.ack_phase).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// The state of the cycle.
#[derive(Default)]
pub(super) struct Probing {
    pub(super) phase: AckPhase,
    /// BBR.is_bw_probe_sample.
    pub(super) samples: bool,
    /// BBR.prev_probe_too_high and BBR.prev_probe_precautionary.
    pub(super) too_high: bool,
    pub(super) precautionary: bool,
    /// BBR.rounds_since_probe_up.
    pub(super) rounds: u32,
    /// BBR.bw_probe_wait and BBR.cycle_stamp.
    wait: Span,
    since: Time,
    /// BBR.bw_probe_up_rounds, BBR.bw_probe_up_acked and BBR.probe_up_acked_per_inc.
    up_rounds: u32,
    up_acked: f64,
    per_segment: f64,
}

/// Round trips after which Reno would probe, at most (section 5.3.3.8).
const RENO_ROUNDS: f64 = 63.0;

impl Bbr3 {
    /// StartProbeBW_DOWN().
    pub(super) fn start_down(&mut self, now: Time) {
        self.losses.reset();
        self.probing.per_segment = f64::INFINITY;
        // PickProbeWait(): 0 or 1 rounds, and 2 to 3 s.
        let drawn = scatter(self.seed, now);
        self.probing.rounds = (drawn & 1) as u32;
        let share = (drawn >> 12) as f64 / (1_u64 << 52) as f64;
        self.probing.wait = Span::from_seconds(2.0 + share);
        self.probing.since = now;
        self.probing.phase = AckPhase::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL().
    fn start_refill(&mut self) {
        self.bounds.reset_short();
        self.probing.up_rounds = 0;
        self.probing.up_acked = 0.0;
        self.probing.precautionary = false;
        self.probing.phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    /// StartProbeBW_UP().
    fn start_up(&mut self, window: &Window, sample: &RateSample) {
        self.probing.phase = AckPhase::Starting;
        self.start_round();
        self.reset_full_bw(sample.rate.unwrap_or(0.0));
        self.state = State::Up;
        self.raise_slope(window);
    }

    /// RaiseInflightLongtermSlope().
    fn raise_slope(&mut self, window: &Window) {
        let growth = f64::from(1_u32 << self.probing.up_rounds);
        self.probing.up_rounds = (self.probing.up_rounds + 1).min(30);
        self.probing.per_segment = (window.cwnd / growth).max(window.smss);
    }

    /// UpdateProbeBWCyclePhase().
    pub(super) fn update_cycle(&mut self, window: &Window, sample: &RateSample) {
        if !self.full_bw_reached || self.adapt_long_term(window, sample) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if self.is_time_to_probe(window, sample.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(window, sample) => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(window, sample.now) => self.start_refill(),
            State::Refill if self.round_start => {
                self.probing.samples = true;
                self.start_up(window, sample);
            }
            State::Up if self.is_time_to_go_down(window, sample) => {
                self.probing.too_high = false;
                self.start_down(sample.now);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW().
    fn is_time_to_probe(&self, window: &Window, now: Time) -> bool {
        let segments = self.target(window) / window.smss;
        let reno = f64::from(self.probing.rounds) >= segments.min(RENO_ROUNDS);
        now.since(self.probing.since) > self.probing.wait || reno
    }

    /// IsTimeToCruise().
    fn is_time_to_cruise(&self, window: &Window, sample: &RateSample) -> bool {
        let in_flight = sample.in_flight as f64;
        in_flight <= self.with_headroom(window.smss)
            && in_flight <= self.inflight(self.max_bw.max(), 1.0, window.smss)
    }

    /// IsTimeToGoDown().
    fn is_time_to_go_down(&mut self, window: &Window, sample: &RateSample) -> bool {
        if self.probing.too_high && sample.in_flight as f64 >= self.bounds.long {
            self.probing.precautionary = true;
            return true;
        }
        if sample.cwnd_limited && window.cwnd >= self.bounds.long {
            self.reset_full_bw(sample.rate.unwrap_or(0.0));
            return false;
        }
        self.full_bw_now
    }

    /// AdaptLongTermModel(): whether it has decided on a transition.
    fn adapt_long_term(&mut self, window: &Window, sample: &RateSample) -> bool {
        if self.probing.phase == AckPhase::Starting && self.round_start {
            self.probing.phase = AckPhase::Feedback;
        }
        if self.probing.phase == AckPhase::Stopping && self.round_start {
            self.probing.samples = false;
            self.probing.phase = AckPhase::Init;
            let probes = self.state.is_probe_bw();
            if probes && !self.is_app_limited(sample) {
                self.cycle += 1;
            }
            if probes && self.probing.precautionary && !self.probing.too_high {
                self.start_refill();
                return true;
            }
        }
        if self.is_too_high(sample) || self.bounds.long == f64::INFINITY {
            return false;
        }
        self.bounds.long = self.bounds.long.max(sample.sent_in_flight as f64);
        if self.state == State::Up {
            self.probe_upward(window, sample);
        }
        false
    }

    /// ProbeInflightLongtermUpward().
    fn probe_upward(&mut self, window: &Window, sample: &RateSample) {
        if !sample.cwnd_limited || window.cwnd < self.bounds.long {
            return;
        }
        self.probing.up_acked += sample.newly_delivered as f64;
        if self.probing.up_acked >= self.probing.per_segment {
            let times = (self.probing.up_acked / self.probing.per_segment).floor();
            self.probing.up_acked -= times * self.probing.per_segment;
            self.bounds.long += times * window.smss;
        }
        if self.round_start {
            self.raise_slope(window);
        }
    }
}
