//! BBR, version 3 (draft-ietf-ccwg-bbr): bandwidth is probed for seldom, and losses bound both what
//! is sent and how fast. Names in brackets are the draft's.
//!
//! Not modelled: offload (the budget for it is three segments) and spurious recoveries.

mod model;
mod probe;

use forebay_network::{
    Ack, CongestionControl, ControlNeeds, LostSegment, RateSample, Signal, Window,
};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::bbr::filter::MaxFilter;
use super::{BuildControl, ControlFactory, require};
use model::{Bounds, Losses};
use probe::{AckPhase, Probing};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "bbr3",
    summary: "BBR version 3: paces at the bandwidth that the path delivers, probes for more every \
              few seconds, and keeps losses below two percent.",
    source: "draft-ietf-ccwg-bbr",
    example: "",
    fields: Bbr3Parameters::FIELDS,
    probes: &[
        Probe {
            name: "bandwidth_bps",
            unit: "bit/s",
            meaning: "Estimated bandwidth: the highest rate of delivery of two cycles, or what \
                      losses leave of it.",
        },
        Probe { name: "min_rtt_s", unit: "s", meaning: "Least round-trip time of the last 10 s." },
        Probe { name: "pacing_gain", unit: "1", meaning: "Pacing rate over the bandwidth." },
        Probe {
            name: "state",
            unit: "1",
            meaning: "0 Startup, 1 Drain, 2 DOWN, 3 CRUISE, 4 REFILL and 5 UP of ProbeBW, 6 \
                      ProbeRTT.",
        },
        Probe {
            name: "max_bandwidth_bps",
            unit: "bit/s",
            meaning: "Highest rate of delivery of two cycles (BBR.max_bw).",
        },
        Probe {
            name: "full_bandwidth",
            unit: "1",
            meaning: "1 from when on the path has been found full (BBR.full_bw_reached), else 0.",
        },
        Probe {
            name: "inflight_bytes",
            unit: "B",
            meaning: "Data neither delivered nor found to be lost, at the last acknowledgement \
                      (C.inflight).",
        },
        Probe {
            name: "extra_acked_bytes",
            unit: "B",
            meaning: "Excess of acknowledged data that aggregation brings (BBR.extra_acked).",
        },
        Probe {
            name: "inflight_longterm_bytes",
            unit: "B",
            meaning: "Bound of what is in flight by earlier losses; absent if there is none.",
        },
        Probe {
            name: "inflight_shortterm_bytes",
            unit: "B",
            meaning: "Bound of what is in flight by losses since the last probe; absent if there \
                      is none.",
        },
        Probe {
            name: "bandwidth_shortterm_bps",
            unit: "bit/s",
            meaning: "Bound of the bandwidth by losses since the last probe; absent if there is \
                      none.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of BBR, version 3.
    pub struct Bbr3Parameters {
        /// Share of losses in a round trip that it tolerates while it probes (LossThresh), 0 to 1.
        loss_threshold: f64 = 0.02, "draft-ietf-ccwg-bbr, section 2.8";
        /// Factor by which a round trip with losses shrinks the model at most (Beta). Above 0,
        /// below 1.
        beta: f64 = 0.7, "draft-ietf-ccwg-bbr, section 2.8";
        /// Share of what may be in flight that it leaves to others (Headroom), 0 to below 1.
        headroom: f64 = 0.15, "draft-ietf-ccwg-bbr, section 2.8";
        /// Time between two measurements of the least round-trip time (ProbeRTTInterval). Above
        /// 0 s.
        probe_rtt_interval: Span = "5 s", "draft-ietf-ccwg-bbr, section 2.16.2";
        /// Shortest duration of these (ProbeRTTDuration).
        probe_rtt_time: Span = "200 ms", "draft-ietf-ccwg-bbr, section 2.16.2";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let parameters = Bbr3Parameters::read(section)?;
    let Bbr3Parameters { loss_threshold, beta, headroom, probe_rtt_interval, .. } = parameters;
    let fine = (0.0..=1.0).contains(&loss_threshold);
    require(section, "loss_threshold", loss_threshold, fine, "0 to 1")?;
    require(section, "beta", beta, beta > 0.0 && beta < 1.0, "above 0 and below 1")?;
    require(section, "headroom", headroom, (0.0..1.0).contains(&headroom), "0 to below 1")?;
    let fine = probe_rtt_interval > Span::ZERO;
    require(section, "probe_rtt_interval", "0 s", fine, "above 0 s")?;
    Ok(Box::new(move || Box::new(Bbr3::new(&parameters))))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// IsInAProbeBWState().
    fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// IsProbingBW().
    fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// Gains of pacing and of the window (section 5.6.1).
    fn gains(self) -> (f64, f64) {
        match self {
            Self::Startup => (2.77, 2.0),
            Self::Drain => (0.5, 2.0),
            Self::Down => (0.9, 2.0),
            Self::Cruise | Self::Refill => (1.0, 2.0),
            Self::Up => (1.25, 2.25),
            Self::ProbeRtt => (1.0, 0.5),
        }
    }
}

/// The least window in segments (MinPipeCwnd).
const MIN_WINDOW: f64 = 4.0;
/// The budget for offload in segments.
const BUDGET: f64 = 3.0;
/// The rate of pacing stays this share below the bandwidth (PacingMarginPercent).
const MARGIN: f64 = 0.01;
/// Memory of the least round-trip time (MinRTTFilterLen).
const MIN_RTT_MEMORY: Span = Span::from_s(10);
/// Rounds before the present one of which the highest excess of acknowledgements counts: ten with
/// it (ExtraAckedFilterLen).
const EXTRA_ROUNDS: u32 = 9;
/// Rounds of less growth than this that tell a full path (5.3.1.2).
const FULL_ROUNDS: u32 = 3;
const GROWTH: f64 = 1.25;
/// Ranges of lost segments in a round that end Startup (BBRStartupFullLossCnt).
const STARTUP_LOSSES: u32 = 6;
/// Drain ends after so many rounds, whatever is in flight.
const DRAIN_ROUNDS: u32 = 3;

struct Bbr3 {
    loss_threshold: f64,
    beta: f64,
    headroom: f64,
    probe_rtt_interval: Span,
    probe_rtt_time: Span,
    seed: u64,
    state: State,
    /// C.InitialCwnd in bytes: the window at the first acknowledgement or loss.
    initial: Option<f64>,
    pacing_rate: Option<f64>,
    /// BBR.max_bw_filter by cycle, and BBR.bw.
    max_bw: MaxFilter,
    cycle: u32,
    bw: f64,
    round: u32,
    round_start: bool,
    next_round: u64,
    delivered: u64,
    full_bw: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start: u32,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    probe_min: Option<Span>,
    probe_min_at: Time,
    probe_rtt_end: Option<Time>,
    probe_rtt_round: bool,
    /// Samples of segments sent at a C.delivered within this range are limited by ProbeRTT.
    probed: Option<(u64, u64)>,
    extra_acked: MaxFilter,
    extra_since: Time,
    extra_delivered: f64,
    prior_cwnd: f64,
    recovering: bool,
    /// The window was saved for the recovery that a loss begins.
    saved: bool,
    losses: Losses,
    bounds: Bounds,
    probing: Probing,
    /// The flow has restarted from idle, and nothing has arrived since (BBR.idle_restart).
    idle_restart: bool,
    /// C.inflight at the last acknowledgement, to be shown.
    in_flight: u64,
}

impl Bbr3 {
    fn new(parameters: &Bbr3Parameters) -> Self {
        Self {
            loss_threshold: parameters.loss_threshold,
            beta: parameters.beta,
            headroom: parameters.headroom,
            probe_rtt_interval: parameters.probe_rtt_interval,
            probe_rtt_time: parameters.probe_rtt_time,
            seed: 0,
            state: State::Startup,
            initial: None,
            pacing_rate: None,
            max_bw: MaxFilter::new(1),
            cycle: 0,
            bw: 0.0,
            round: 0,
            round_start: false,
            next_round: 0,
            delivered: 0,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_start: 0,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_min: None,
            probe_min_at: Time::ZERO,
            probe_rtt_end: None,
            probe_rtt_round: false,
            probed: None,
            extra_acked: MaxFilter::new(EXTRA_ROUNDS),
            extra_since: Time::ZERO,
            extra_delivered: 0.0,
            prior_cwnd: 0.0,
            recovering: false,
            saved: false,
            losses: Losses::default(),
            bounds: Bounds::default(),
            probing: Probing::default(),
            idle_restart: false,
            in_flight: 0,
        }
    }

    /// BDPMultiple() at bandwidth `bw`.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        let initial = self.initial.unwrap_or(0.0);
        self.min_rtt.map_or(initial, |min_rtt| gain * bw * min_rtt.seconds())
    }

    /// QuantizationBudget().
    fn quantized(&self, cap: f64, smss: f64) -> f64 {
        let cap = cap.max(BUDGET * smss).max(MIN_WINDOW * smss);
        if self.state == State::Up { cap + 2.0 * smss } else { cap }
    }

    /// Inflight() at bandwidth `bw`.
    fn inflight(&self, bw: f64, gain: f64, smss: f64) -> f64 {
        self.quantized(self.bdp(bw, gain), smss)
    }

    /// TargetInflight().
    fn target(&self, window: &Window) -> f64 {
        self.bdp(self.bw, 1.0).min(window.cwnd)
    }

    fn start_round(&mut self) {
        self.next_round = self.delivered;
    }

    fn is_app_limited(&self, sample: &RateSample) -> bool {
        let prior = sample.prior_delivered.unwrap_or(0);
        sample.app_limited || self.probed.is_some_and(|(from, to)| (from..=to).contains(&prior))
    }

    /// UpdateRound() and UpdateMaxBw().
    fn update_max_bw(&mut self, sample: &RateSample, prior: u64) {
        self.round_start = prior >= self.next_round;
        if self.round_start {
            self.start_round();
            self.round += 1;
            self.probing.rounds += 1;
        }
        if let Some(rate) = sample.rate
            && (rate >= self.max_bw.max() || !self.is_app_limited(sample))
        {
            self.max_bw.note(self.cycle, rate);
        }
    }

    /// UpdateACKAggregation().
    fn update_extra_acked(&mut self, sample: &RateSample, cwnd: f64) {
        let mut expected = self.bw * sample.now.since(self.extra_since).seconds();
        if self.extra_delivered <= expected {
            (self.extra_delivered, self.extra_since, expected) = (0.0, sample.now, 0.0);
        }
        self.extra_delivered += sample.newly_delivered as f64;
        let extra = (self.extra_delivered - expected).min(cwnd);
        if !self.full_bw_reached && self.round_start {
            // In Startup one round is remembered.
            self.extra_acked = MaxFilter::new(EXTRA_ROUNDS);
        }
        self.extra_acked.note(self.round, extra);
    }

    fn reset_full_bw(&mut self, full_bw: f64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }

    /// CheckFullBWReached().
    fn check_full_bw(&mut self, sample: &RateSample) {
        if self.full_bw_now || !self.round_start || self.is_app_limited(sample) {
            return;
        }
        let rate = sample.rate.unwrap_or(0.0);
        if rate >= self.full_bw * GROWTH {
            self.reset_full_bw(rate);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// CheckStartupDone() and CheckDrainDone().
    fn check_startup(&mut self, window: &Window, sample: &RateSample) {
        if self.state == State::Startup && !self.full_bw_reached && self.too_many_losses(sample) {
            self.full_bw_reached = true;
            let bdp = self.bdp(self.bw, 1.0);
            self.bounds.long = bdp.max(self.losses.inflight_latest as f64);
        }
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start = self.round;
        }
        let drained = sample.in_flight as f64 <= self.inflight(self.bw, 1.0, window.smss);
        let late = self.round > self.drain_start + DRAIN_ROUNDS;
        if self.state == State::Drain && (drained || late) {
            self.start_down(sample.now);
        }
    }

    /// CheckStartupHighLoss().
    fn too_many_losses(&self, sample: &RateSample) -> bool {
        let losses = self.losses.ranges;
        let enough = losses >= STARTUP_LOSSES || losses > 0 && !sample.selective;
        sample.recovering && self.losses.round_start && enough && self.is_too_high(sample)
    }

    /// UpdateMinRTT() and CheckProbeRTT().
    fn update_min_rtt(&mut self, window: &mut Window, sample: &RateSample) {
        let now = sample.now;
        let expired =
            self.probe_min.is_some() && now.since(self.probe_min_at) > self.probe_rtt_interval;
        if let Some(rtt) = sample.rtt
            && (expired || self.probe_min.is_none_or(|least| rtt < least))
        {
            (self.probe_min, self.probe_min_at) = (Some(rtt), now);
        }
        let old = now.since(self.min_rtt_at) > MIN_RTT_MEMORY;
        if let Some(least) = self.probe_min
            && (old || self.min_rtt.is_none_or(|min_rtt| least < min_rtt))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(least), self.probe_min_at);
        }
        // In an idle time the queue has drained by itself.
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            // EnterProbeRTT() comes before SaveCwnd(), which therefore keeps what losses left to be
            // restored.
            self.state = State::ProbeRtt;
            self.save_cwnd(window.cwnd);
            self.probe_rtt_end = None;
            self.probing.phase = AckPhase::Stopping;
            self.probed = Some((sample.delivered, 0));
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(window, sample);
        }
        self.idle_restart &= sample.newly_delivered == 0;
    }

    fn probe_rtt_cwnd(&self, smss: f64) -> f64 {
        self.bdp(self.bw, State::ProbeRtt.gains().1).max(MIN_WINDOW * smss)
    }

    /// HandleProbeRTT().
    fn probe_rtt(&mut self, window: &mut Window, sample: &RateSample) {
        if let Some((_, to)) = &mut self.probed {
            *to = sample.delivered + sample.in_flight;
        }
        let now = sample.now;
        match self.probe_rtt_end {
            None if sample.in_flight as f64 <= self.probe_rtt_cwnd(window.smss) => {
                self.probe_rtt_end = Some(now + self.probe_rtt_time);
                self.probe_rtt_round = false;
                self.start_round();
            }
            None => {}
            Some(end) => {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round && now > end {
                    self.end_probe_rtt(window, now);
                }
            }
        }
    }

    /// The end of CheckProbeRTTDone(), and ExitProbeRTT().
    fn end_probe_rtt(&mut self, window: &mut Window, now: Time) {
        self.probe_min_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.bounds.reset_short();
        if self.full_bw_reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn save_cwnd(&mut self, cwnd: f64) {
        let first = !self.recovering && self.state != State::ProbeRtt;
        self.prior_cwnd = if first { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// SetPacingRate().
    fn set_rate(&mut self, window: &Window, sample: &RateSample) {
        let gain = self.state.gains().0;
        if self.pacing_rate.is_none()
            && let Some(srtt) = sample.srtt.filter(|srtt| *srtt > Span::ZERO)
        {
            let initial = self.initial.unwrap_or(window.cwnd);
            self.pacing_rate = Some(gain * initial / srtt.seconds());
        }
        let rate = gain * self.bw * (1.0 - MARGIN);
        let grows = self.pacing_rate.is_none_or(|present| rate > present);
        if rate > 0.0 && (self.full_bw_reached || grows) {
            self.pacing_rate = Some(rate);
        }
    }

    /// SetCwnd(), with what the end of recovery restores.
    fn set_cwnd(&mut self, window: &mut Window, sample: &RateSample) {
        let smss = window.smss;
        if self.recovering && !sample.recovering {
            self.recovering = false;
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        let brought = sample.newly_delivered as f64;
        let cap = self.bdp(self.bw, self.state.gains().1) + self.extra_acked.max();
        let most = self.quantized(cap, smss);
        if self.full_bw_reached {
            window.cwnd = (window.cwnd + brought).min(most);
        } else if window.cwnd < most || (sample.delivered as f64) < self.initial.unwrap_or(0.0) {
            window.cwnd += brought;
        }
        window.cwnd = window.cwnd.max(MIN_WINDOW * smss);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_cwnd(smss));
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.long,
            State::Cruise | State::ProbeRtt => self.with_headroom(smss),
            State::Startup | State::Drain => f64::INFINITY,
        };
        window.cwnd = window.cwnd.min(cap.min(self.bounds.short).max(MIN_WINDOW * smss));
    }
}

impl CongestionControl for Bbr3 {
    fn numbered(&mut self, number: u64) {
        self.seed = number;
    }

    /// All is done with the samples, which come in every phase.
    fn acknowledged(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// Losses act on the model; a timeout leaves one segment. Where the sender finds a loss before
    /// it repairs it, the window to be restored was saved then.
    fn congested(&mut self, window: &mut Window, signal: Signal, _flight: f64, _now: Time) {
        if !std::mem::take(&mut self.saved) {
            self.save_cwnd(window.cwnd);
        }
        // What Reno's and NewReno's recovery end with.
        window.ssthresh = window.cwnd.max(2.0 * window.smss);
        self.recovering |= signal != Signal::Ecn;
        if matches!(signal, Signal::Timeout { .. }) {
            window.cwnd = window.smss;
        }
    }

    fn needs(&self) -> ControlNeeds {
        ControlNeeds { samples: true, ..ControlNeeds::default() }
    }

    fn lost(&mut self, window: &mut Window, segment: &LostSegment, now: Time) {
        self.initial.get_or_insert(window.cwnd);
        self.delivered = segment.delivered;
        self.handle_lost(window, segment, now);
    }

    fn sampled(&mut self, window: &mut Window, sample: &RateSample) {
        self.initial.get_or_insert(window.cwnd);
        self.delivered = sample.delivered;
        self.in_flight = sample.in_flight;
        let Some(prior) = sample.prior_delivered else { return };
        self.losses.update(sample, prior);
        self.update_max_bw(sample, prior);
        if self.losses.round_start {
            self.adapt_lower_bounds(window);
        }
        self.update_extra_acked(sample, window.cwnd);
        self.check_full_bw(sample);
        self.check_startup(window, sample);
        if self.losses.round_start {
            self.losses.in_round = false;
            self.losses.ranges = 0;
        }
        self.update_cycle(window, sample);
        self.update_min_rtt(window, sample);
        self.losses.advance(sample, prior);
        self.bw = self.max_bw.max().min(self.bounds.bw);
        self.set_rate(window, sample);
        self.set_cwnd(window, sample);
    }

    /// HandleRestartFromIdle().
    fn restarted(&mut self, window: &mut Window, now: Time) {
        self.idle_restart = true;
        self.extra_since = now;
        if self.state.is_probe_bw() && self.bw > 0.0 {
            self.pacing_rate = Some(self.bw * (1.0 - MARGIN));
        }
        if self.state == State::ProbeRtt && self.probe_rtt_end.is_some_and(|end| now > end) {
            self.end_probe_rtt(window, now);
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("pacing_gain", self.state.gains().0);
        visit("state", f64::from(self.state as u8));
        visit("full_bandwidth", f64::from(u8::from(self.full_bw_reached)));
        visit("inflight_bytes", self.in_flight as f64);
        visit("extra_acked_bytes", self.extra_acked.max());
        if self.bw > 0.0 {
            visit("bandwidth_bps", 8.0 * self.bw);
            visit("max_bandwidth_bps", 8.0 * self.max_bw.max());
        }
        let Bounds { long, short, bw } = self.bounds;
        let bounds = [
            ("inflight_longterm_bytes", long),
            ("inflight_shortterm_bytes", short),
            ("bandwidth_shortterm_bps", 8.0 * bw),
        ];
        for (name, bound) in bounds {
            if bound.is_finite() {
                visit(name, bound);
            }
        }
        if let Some(min_rtt) = self.min_rtt {
            visit("min_rtt_s", min_rtt.seconds());
        }
    }
}

#[cfg(test)]
mod tests;
