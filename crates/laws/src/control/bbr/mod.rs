//! BBR, version 1: sends at the bandwidth of the path, with a window of twice what it holds
//! (Cardwell and others 2016; constants of Linux, `net/ipv4/tcp_bbr.c`).
//!
//! What the kernel does for its own sake is left out: there is no segmentation offload, and a pause
//! of the application does not put off PROBE_RTT. The allowance of the window for offload stays, as
//! the kernel grants it whether a device has offload or not.

mod aggregation;
pub(super) mod filter;
mod policer;

use forebay_network::{Ack, CongestionControl, ControlNeeds, RateSample, Signal, Window};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::{BuildControl, ControlFactory, require};
use aggregation::Aggregation;
use filter::MaxFilter;
use policer::Policer;

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "bbr",
    summary: "BBR version 1: paces at the bandwidth that the path delivers, and keeps at most \
              twice what it holds in flight.",
    source: "Cardwell, Cheng, Gunn, Hassas Yeganeh and Jacobson, BBR: Congestion-based congestion \
             control, ACM Queue 14(5), 2016; Linux, net/ipv4/tcp_bbr.c",
    example: "",
    fields: BbrParameters::FIELDS,
    probes: &[
        Probe {
            name: "bandwidth_bps",
            unit: "bit/s",
            meaning: "Estimated bandwidth: the highest rate of delivery of the last ten rounds.",
        },
        Probe { name: "min_rtt_s", unit: "s", meaning: "Least round-trip time of the last 10 s." },
        Probe { name: "pacing_gain", unit: "1", meaning: "Pacing rate over the bandwidth." },
        Probe { name: "state", unit: "1", meaning: "0 STARTUP, 1 DRAIN, 2 PROBE_BW, 3 PROBE_RTT." },
    ],
    build: &build,
};

parameters! {
    /// Parameters of BBR, version 1.
    pub struct BbrParameters {
        /// Factor of rate and window in STARTUP. Above 1, at most 10.
        startup_gain: f64 = 2.885, "Linux, net/ipv4/tcp_bbr.c, bbr_high_gain: 2 / ln 2";
        /// Factor of the window in PROBE_BW. At least 1, at most 10.
        cwnd_gain: f64 = 2.0, "Linux, net/ipv4/tcp_bbr.c, bbr_cwnd_gain";
        /// Round trips of which the highest rate is the bandwidth, 1 to 100.
        bandwidth_rounds: u32 = 10, "Linux, net/ipv4/tcp_bbr.c, bbr_bw_rtts";
        /// Time of which the least round-trip time is that of the path; without a lower one,
        /// PROBE_RTT drains the queue to measure it. Above 0 s.
        min_rtt_window: Span = "10 s", "Linux, net/ipv4/tcp_bbr.c, bbr_min_rtt_win_sec";
        /// Shortest duration of PROBE_RTT.
        probe_rtt_time: Span = "200 ms", "Linux, net/ipv4/tcp_bbr.c, bbr_probe_rtt_mode_ms";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let parameters = BbrParameters::read(section)?;
    let BbrParameters { startup_gain, cwnd_gain, bandwidth_rounds, min_rtt_window, .. } =
        parameters;
    let fine = startup_gain > 1.0 && startup_gain <= 10.0;
    require(section, "startup_gain", startup_gain, fine, "above 1 and up to 10")?;
    let fine = (1.0..=10.0).contains(&cwnd_gain);
    require(section, "cwnd_gain", cwnd_gain, fine, "1 to 10")?;
    let fine = (1..=100).contains(&bandwidth_rounds);
    require(section, "bandwidth_rounds", bandwidth_rounds, fine, "1 to 100")?;
    require(section, "min_rtt_window", "0 s", min_rtt_window > Span::ZERO, "above 0 s")?;
    Ok(Box::new(move || Box::new(Bbr::new(&parameters))))
}

/// A number that looks random, of a connection and a time (the finalizer of SplitMix64; Steele, Lea
/// and Flood 2014): laws have no random stream.
pub(super) fn scatter(seed: u64, now: Time) -> u64 {
    let mut hash = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ now.ps();
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Segments that are sent at once at a pacing rate of `rate` bytes of data per second.
fn sent_at_once(rate: f64, smss: f64) -> i64 {
    let least = if rate < SLOW { 1 } else { 2 };
    (((rate * BURST_S).min(BURST_BYTES) / smss) as i64).clamp(least, BURST_SEGMENTS)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Doubling the rate each round trip.
    Startup,
    /// Letting out the queue that STARTUP has made.
    Drain,
    /// Probing for more bandwidth, and letting out what that queued, in a cycle of eight phases.
    ProbeBw,
    /// Almost nothing in flight, to measure the round-trip time of the path.
    ProbeRtt,
}

/// Pacing gains of the phases of PROBE_BW (`bbr_pacing_gain`).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The least window in segments (`bbr_cwnd_min_target`).
const MIN_WINDOW: f64 = 4.0;
/// The path is full if the bandwidth has grown by less than this in three rounds
/// (`bbr_full_bw_thresh`, `bbr_full_bw_cnt`).
const GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// The rate of pacing stays this share below the bandwidth (`bbr_pacing_margin_percent`).
const MARGIN: f64 = 0.01;
/// Part of the window that gain and path do not ask for, in units of what is sent at once: one unit
/// waits at the sender, one is being sent and one being received (`bbr_quantization_budget`).
const UNITS: i64 = 3;
/// Duration of what is sent at once: bytes that pacing sends in 1/1024 s (`sk_pacing_shift`), less
/// than a packet of 64 KiB with its headers (`GSO_LEGACY_MAX_SIZE`, `MAX_TCP_HEADER`), in whole
/// segments (`bbr_tso_segs_goal`).
const BURST_S: f64 = 1.0 / 1024.0;
const BURST_BYTES: f64 = 65_535.0 - 320.0;
const BURST_SEGMENTS: i64 = 127;
/// At least two segments, and one below this rate in bytes per second (`bbr_min_tso_segs`,
/// `bbr_min_tso_rate`).
const SLOW: f64 = 150_000.0;
/// The initial window in segments, which may always be sent (`TCP_INIT_CWND`).
const INITIAL: f64 = 10.0;

struct Bbr {
    startup_gain: f64,
    cwnd_gain: f64,
    min_rtt_window: Span,
    probe_rtt_time: Span,
    /// Seed of the place in the cycle at which a connection starts, which differs between
    /// connections.
    seed: u64,
    mode: Mode,
    pacing_gain: f64,
    /// Pacing rate in bytes per second, once known.
    pacing_rate: Option<f64>,
    /// Bandwidth in bytes per second.
    max_bw: MaxFilter,
    /// Packet-timed round trips.
    round: u32,
    round_starts: bool,
    /// C.delivered at which this round ends.
    next_round: u64,
    full_bw: f64,
    full_rounds: u32,
    full: bool,
    cycle: usize,
    cycle_start: Time,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    /// Time at which PROBE_RTT may end, once its window is reached, with `probe_round` true once a
    /// round has passed in it.
    probe_end: Option<Time>,
    probe_round: bool,
    /// Samples of segments sent at a C.delivered within this range are limited by PROBE_RTT.
    probed: Option<(u64, u64)>,
    /// The window before recovery or PROBE_RTT.
    prior_cwnd: f64,
    recovering: bool,
    /// In the first round of recovery as much is sent as is delivered.
    conserves: bool,
    policer: Policer,
    aggregation: Aggregation,
    /// The flow has restarted from idle, and nothing has arrived since.
    idle_restart: bool,
}

impl Bbr {
    fn new(parameters: &BbrParameters) -> Self {
        Self {
            startup_gain: parameters.startup_gain,
            cwnd_gain: parameters.cwnd_gain,
            min_rtt_window: parameters.min_rtt_window,
            probe_rtt_time: parameters.probe_rtt_time,
            seed: 0,
            mode: Mode::Startup,
            pacing_gain: parameters.startup_gain,
            pacing_rate: None,
            max_bw: MaxFilter::new(parameters.bandwidth_rounds),
            round: 0,
            round_starts: false,
            next_round: 0,
            full_bw: 0.0,
            full_rounds: 0,
            full: false,
            cycle: 0,
            cycle_start: Time::ZERO,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_end: None,
            probe_round: false,
            probed: None,
            prior_cwnd: 0.0,
            recovering: false,
            conserves: false,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            idle_restart: false,
        }
    }

    /// The bandwidth that it goes by: that of a policer, if there seems to be one.
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or(self.max_bw.max())
    }

    /// Returns the bytes that the path holds at bandwidth `bw`, times `gain`.
    fn held(&self, bw: f64, gain: f64, smss: f64) -> f64 {
        match self.min_rtt {
            Some(min_rtt) => gain * bw * min_rtt.seconds(),
            None => INITIAL * smss,
        }
    }

    /// The same in whole segments with what a window needs beside it: what is sent at once, three
    /// times, an even number in all, and two more where it probes for bandwidth.
    fn target(&self, bw: f64, gain: f64, smss: f64) -> f64 {
        let allowance = UNITS * sent_at_once(self.pacing_rate.unwrap_or(SLOW), smss);
        let segments = (self.held(bw, gain, smss) / smss).ceil() as i64 + allowance;
        let probes = self.mode == Mode::ProbeBw && self.cycle == 0;
        smss * (segments + (segments & 1) + if probes { 2 } else { 0 }) as f64
    }

    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.round_starts = false;
        let (Some(rate), Some(prior)) = (sample.rate, sample.prior_delivered) else { return };
        if prior >= self.next_round {
            self.next_round = sample.delivered;
            self.round += 1;
            self.round_starts = true;
            self.conserves = false;
        }
        let probes_bw = self.mode == Mode::ProbeBw;
        if self.policer.sampled(sample, self.round_starts, probes_bw) {
            self.enter_probe_bw(sample.now);
        }
        let probed = self.probed.is_some_and(|(from, to)| (from..=to).contains(&prior));
        if !(sample.app_limited || probed) || rate >= self.max_bw.max() {
            self.max_bw.note(self.round, rate);
        }
    }

    /// Returns true if the present phase of PROBE_BW has done what it is for.
    fn phase_is_over(&self, sample: &RateSample, smss: f64) -> bool {
        let elapsed = sample.now.since(self.cycle_start);
        let long = self.min_rtt.is_some_and(|min_rtt| elapsed > min_rtt);
        let in_flight = sample.prior_in_flight as f64;
        let bw = self.max_bw.max();
        if self.pacing_gain > 1.0 {
            // Until the path is as full as the gain says, or too full.
            let filled = in_flight >= self.target(bw, self.pacing_gain, smss);
            long && (sample.newly_lost > 0 || filled)
        } else if self.pacing_gain < 1.0 {
            long || in_flight <= self.target(bw, 1.0, smss)
        } else {
            long
        }
    }

    fn advance_cycle(&mut self, now: Time) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_start = now;
    }

    /// Enter PROBE_BW at any phase but that which lets out a queue, by a hash of the connection and
    /// the time: connections that probe at one time would see each other as queues.
    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - (scatter(self.seed, now) % 7) as usize;
        self.advance_cycle(now);
    }

    fn check_full(&mut self, sample: &RateSample) {
        if self.full || !self.round_starts || sample.app_limited {
            return;
        }
        if self.max_bw.max() >= self.full_bw * GROWTH {
            self.full_bw = self.max_bw.max();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    fn check_drain(&mut self, sample: &RateSample, smss: f64) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain
            && sample.in_flight as f64 <= self.target(self.max_bw.max(), 1.0, smss)
        {
            self.enter_probe_bw(sample.now);
        }
    }

    fn update_min_rtt(&mut self, window: &mut Window, sample: &RateSample) {
        let now = sample.now;
        let expired = self.min_rtt.is_some() && now.since(self.min_rtt_at) > self.min_rtt_window;
        if let Some(rtt) = sample.rtt
            && (expired || self.min_rtt.is_none_or(|min_rtt| rtt < min_rtt))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = now;
        }
        // In an idle time the queue has drained by itself.
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(window.cwnd);
            self.probe_end = None;
            self.probed = Some((sample.delivered, 0));
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(window, sample);
        }
        self.idle_restart &= sample.newly_delivered == 0;
    }

    fn probe_rtt(&mut self, window: &mut Window, sample: &RateSample) {
        let now = sample.now;
        // What the small window brings says nothing of the bandwidth.
        if let Some((_, to)) = &mut self.probed {
            *to = sample.delivered + sample.in_flight;
        }
        match self.probe_end {
            None if sample.in_flight as f64 <= MIN_WINDOW * window.smss => {
                self.probe_end = Some(now + self.probe_rtt_time);
                self.probe_round = false;
                self.next_round = sample.delivered;
            }
            None => {}
            Some(end) => {
                self.probe_round |= self.round_starts;
                if self.probe_round && now > end {
                    self.end_probe_rtt(window, now);
                }
            }
        }
    }

    fn end_probe_rtt(&mut self, window: &mut Window, now: Time) {
        self.min_rtt_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.full {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn save_window(&mut self, cwnd: f64) {
        let first = !self.recovering && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if first { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// The gains of pacing and of the window.
    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (self.startup_gain, self.startup_gain),
            Mode::Drain => (1.0 / self.startup_gain, self.startup_gain),
            Mode::ProbeBw if self.policer.rate().is_some() => (1.0, self.cwnd_gain),
            Mode::ProbeBw => (CYCLE[self.cycle], self.cwnd_gain),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    fn set_rate(&mut self, window: &Window, sample: &RateSample) {
        if self.pacing_rate.is_none()
            && let Some(srtt) = sample.srtt.filter(|srtt| *srtt > Span::ZERO)
        {
            let rate = window.cwnd / srtt.seconds();
            self.pacing_rate = Some(self.startup_gain * rate * (1.0 - MARGIN));
        }
        let rate = self.pacing_gain * self.bandwidth() * (1.0 - MARGIN);
        // Until the path is full the rate only grows: an early sample is often too low.
        if rate > 0.0 && (self.full || self.pacing_rate.is_none_or(|present| rate > present)) {
            self.pacing_rate = Some(rate);
        }
    }

    fn set_window(&mut self, window: &mut Window, sample: &RateSample, gain: f64) {
        let (smss, brought) = (window.smss, sample.newly_delivered as f64);
        let least = MIN_WINDOW * smss;
        if sample.newly_delivered > 0 && !self.recover(window, sample) {
            let extra = if self.full { self.aggregation.window(self.bandwidth()) } else { 0.0 };
            let target = self.target_with(gain, extra, smss);
            if self.full {
                window.cwnd = (window.cwnd + brought).min(target);
            } else if window.cwnd < target || sample.delivered < (INITIAL * smss) as u64 {
                window.cwnd += brought;
            }
            window.cwnd = window.cwnd.max(least);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(least);
        }
        window.cwnd = window.cwnd.max(smss);
    }

    fn target_with(&self, gain: f64, extra: f64, smss: f64) -> f64 {
        self.target(self.bandwidth(), gain, smss) + (extra / smss) as i64 as f64 * smss
    }

    /// The window while losses are repaired: less what was lost, and in the first round what is
    /// delivered; afterwards what it was before. Whether it is set by that.
    fn recover(&mut self, window: &mut Window, sample: &RateSample) -> bool {
        let smss = window.smss;
        if sample.newly_lost > 0 {
            window.cwnd = (window.cwnd - sample.newly_lost as f64).max(smss);
        }
        if self.recovering && !sample.recovering {
            self.recovering = false;
            self.conserves = false;
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        if self.conserves {
            let conserved = (sample.in_flight + sample.newly_delivered) as f64;
            window.cwnd = window.cwnd.max(conserved);
        }
        self.conserves
    }
}

impl CongestionControl for Bbr {
    fn numbered(&mut self, number: u64) {
        self.seed = number;
    }

    /// All is done with the samples, which come in every phase.
    fn acknowledged(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// Losses do not lower the estimates, but what is sent while they are repaired.
    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        self.save_window(window.cwnd);
        let smss = window.smss;
        // What Reno's and NewReno's recovery end with.
        window.ssthresh = window.cwnd.max(2.0 * smss);
        match signal {
            Signal::Ecn => {}
            Signal::Loss => {
                self.recovering = true;
                self.conserves = true;
                self.next_round = self.aggregation.delivered();
                window.cwnd = window.cwnd.min(flight.max(smss) + smss);
            }
            Signal::Timeout { .. } => {
                self.recovering = true;
                self.full_bw = 0.0;
                self.policer.lost();
                window.cwnd = smss;
            }
        }
    }

    fn needs(&self) -> ControlNeeds {
        ControlNeeds { samples: true, ..ControlNeeds::default() }
    }

    fn sampled(&mut self, window: &mut Window, sample: &RateSample) {
        self.update_bandwidth(sample);
        self.aggregation.update(sample, self.round_starts, self.bandwidth(), window.cwnd);
        if self.mode == Mode::ProbeBw && self.phase_is_over(sample, window.smss) {
            self.advance_cycle(sample.now);
        }
        self.check_full(sample);
        self.check_drain(sample, window.smss);
        self.update_min_rtt(window, sample);
        let (pacing, cwnd) = self.gains();
        self.pacing_gain = pacing;
        self.set_rate(window, sample);
        self.set_window(window, sample, cwnd);
    }

    /// `bbr_cwnd_event` with `CA_EVENT_TX_START`.
    fn restarted(&mut self, window: &mut Window, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.mode == Mode::ProbeBw {
            self.pacing_rate = Some(self.bandwidth() * (1.0 - MARGIN));
        }
        if self.mode == Mode::ProbeRtt && self.probe_end.is_some_and(|end| now > end) {
            self.end_probe_rtt(window, now);
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("pacing_gain", self.pacing_gain);
        visit("state", f64::from(self.mode as u8));
        if self.max_bw.max() > 0.0 {
            visit("bandwidth_bps", 8.0 * self.bandwidth());
        }
        if let Some(min_rtt) = self.min_rtt {
            visit("min_rtt_s", min_rtt.seconds());
        }
    }
}

#[cfg(test)]
mod tests;
